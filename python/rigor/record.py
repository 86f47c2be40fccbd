"""Recordings of worlds: HDF5 files that `rigor view` and `rigor replay` read."""

from __future__ import annotations

import os
import weakref
from typing import Any, List, Optional, Union

import numpy as np

from ._core import (ArgumentError, Diagnostics, Record, check, ffi, fill, lib, numbers,
                    read, refuse_pickle, structs, word)
from ._hdf5 import hdf5

Path = Union[str, "os.PathLike[str]"]

_active: "weakref.WeakSet[Recorder]" = weakref.WeakSet()  # one at most


class Recorder:
    """Writes the steps of a world into a file; made by `World.record()`, closed by `close()` or `with`.

    The file is written while `world.step()` runs and is whole in between, so that other HDF5 files can be
    used then. There is one recorder at a time.
    """

    _instead_of_pickle = "it belongs to an open file"

    def __init__(self, world: Any, path: Path, **settings: Any) -> None:
        self._c: Any = None
        for other in _active:
            raise ArgumentError(f"another recording is open: {other.path}; close() it first")
        self.path = os.fspath(path)
        self._world = world
        self._diagnostics = Diagnostics()
        keep: List[Any] = []
        c = ffi.new("rgRecorderDef*", lib.rgDefaultRecorderDef())
        fill(c, dict(settings, path=str(self.path)), "recorder", keep)
        definition = world.model._definition
        out = ffi.new("rgRecorder**")
        with hdf5(), definition._lock, world._guard as w:
            setattr(c, "def", definition._c)
            result = lib.rgCreateRecorder(c, w, self._diagnostics.c, out)
            if result == lib.rg_ok:
                self._c = out[0]
                result = lib.rgRecorder_Add(self._c, w, ffi.NULL)
        if result != lib.rg_ok:
            self._free()
        self._diagnostics.done(result, str(self.path), 4)
        _active.add(self)

    __reduce_ex__ = refuse_pickle

    def _free(self) -> None:
        c, self._c = self._c, None
        if c is not None:
            with hdf5():
                lib.rgDestroyRecorder(c)

    def _add(self) -> None:
        """The step just made. The caller holds the lock of HDF5."""
        with self._world._guard as w:
            report = lib.rgPyWorld_Report(self._world._c)
            self._check(lib.rgRecorder_Add(self._c, w, report))

    def _flush(self) -> None:
        self._check(lib.rgRecorder_Flush(self._c))

    def _check(self, result: int) -> None:
        if result != lib.rg_ok:
            self._diagnostics.done(result, str(self.path), 4)

    def close(self) -> None:
        """Finish the file."""
        if self._c is None:
            return
        _active.discard(self)
        if self._world._recorder is self:
            self._world._recorder = None
        with hdf5():
            result = lib.rgRecorder_Finish(self._c)
        self._free()
        self._diagnostics.done(result, str(self.path))

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self._free()


def load_recording(path: Path) -> Record:
    """A recording as arrays: time (n,), q (n, nq), v (n, nv), ctrl (n, nu), act (n, nu or 0), sensors (n, s),
    kinematic (n, bodies, 7) poses of kinematic bodies, residual (n,), iterations (n,), status [n],
    kinetic_energy, potential_energy (n,) [J], contacts [n], each a structured array with body_a, body_b, shape_a,
    shape_b, point, normal, force on B [N], gap, mu, state (`rigor.OPEN`, `rigor.STICK`, `rigor.SLIP`), and `info`."""
    diagnostics = Diagnostics()
    out = ffi.new("rgRecording**")
    frame = ffi.new("rgRecordedFrame*")
    with hdf5():
        result = lib.rgLoadRecording(os.fsencode(path), ffi.NULL, diagnostics.c, out)
        diagnostics.done(result, str(path))
        try:
            c = lib.rgRecording_Info(out[0])
            info = read(c)
            count = int(c.frameCount)
            made = Record(info=info, time=np.zeros(count), q=np.zeros((count, c.qCount)),
                          v=np.zeros((count, c.vCount)), ctrl=np.zeros((count, c.controlCount)),
                          act=np.zeros((count, c.activationCount)),
                          sensors=np.zeros((count, c.sensorCount)),
                          kinematic=np.zeros((count, c.kinematicCount, 7)), residual=np.zeros(count),
                          iterations=np.zeros(count, int), status=[], contacts=[],
                          kinetic_energy=np.zeros(count), potential_energy=np.zeros(count))
            for i in range(count):
                check(lib.rgRecording_Frame(out[0], i, frame), f"{path}: frame {i}")
                _take(made, i, frame)
        finally:
            lib.rgDestroyRecording(out[0])
    return made


def _take(made: Record, i: int, frame: Any) -> None:
    made.time[i], made.residual[i] = frame.time, frame.residual
    made.iterations[i] = frame.iterationCount
    made.kinetic_energy[i], made.potential_energy[i] = frame.kineticEnergy, frame.potentialEnergy
    made.status.append(word("rgContactStatus", frame.status))
    made.contacts.append(structs("rgRecordedContact", frame.contacts, frame.contactCount))
    for name, source in (("q", frame.q), ("v", frame.v), ("ctrl", frame.control), ("act", frame.activation),
                         ("sensors", frame.sensors)):
        rows = getattr(made, name)
        rows[i] = numbers(source, rows.shape[1])
    made.kinematic[i] = numbers(frame.kinematic, made.kinematic[i].size).reshape(-1, 7)


def save_page(recording: Path, page: Path, frames_per_second: Optional[float] = None,
              ghost: Optional[Path] = None) -> None:
    """Write one HTML file that plays a recording in any browser, offline; `ghost`: a second recording
    that is drawn see-through, at the same time."""
    c = ffi.new("rgPageDef*", lib.rgDefaultPageDef())
    fill(c, {"frames_per_second": frames_per_second}, "page", [])
    diagnostics = Diagnostics()
    out, second = ffi.new("rgRecording**"), ffi.new("rgRecording**")
    with hdf5():
        result = lib.rgLoadRecording(os.fsencode(recording), ffi.NULL, diagnostics.c, out)
        if result == lib.rg_ok and ghost is not None:
            result = lib.rgLoadRecording(os.fsencode(ghost), ffi.NULL, diagnostics.c, second)
            c.ghost = second[0]
        if result == lib.rg_ok:
            result = lib.rgRecording_SavePage(out[0], c, os.fsencode(page), diagnostics.c)
        lib.rgDestroyRecording(out[0])
        lib.rgDestroyRecording(second[0])
    diagnostics.done(result, str(page))
