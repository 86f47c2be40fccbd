"""Parameters of a model from recorded motions: `rigor.identify`."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from ._core import (ArgumentError, Diagnostics, Record, check, ffi, fill, floats, lib, numbers, pointer,
                    read, string)
from .model import Model, ModelDef
from .world import Threads, world_def


class Motion:
    """A recorded motion, from arrays: measurements at `times` (n,), and the start state.

    poses: (n, 7) arrays x y z qw qx qy qz by body; coordinates: (n,) arrays by joint. NaN: not measured.
    q, v: the start (nq,), (nv,). ctrl: (n, nu), each row until the next.
    """

    def __init__(self, model: Model, times: Any, q: Any, v: Any = None, *,
                 poses: Optional[Mapping[Union[str, int], Any]] = None,
                 coordinates: Optional[Mapping[Union[str, int], Any]] = None, ctrl: Any = None,
                 name: str = "motion") -> None:
        self.name = name
        self._times = floats(times, "times").ravel()
        count = len(self._times)
        columns, channels = [], []
        for body, values in (poses or {}).items():
            columns.append(_rows(values, f"poses[{body!r}]", count, 7))
            channels.append(("pose", model.body(body).id if isinstance(body, str) else body))
        for joint, values in (coordinates or {}).items():
            columns.append(_rows(values, f"coordinates[{joint!r}]", count, 1))
            place = model.joint(joint).q if isinstance(joint, str) else slice(joint, joint + 1)
            if place.stop - place.start != 1:
                raise ArgumentError(f"coordinates: joint {joint!r} has more than one; give its pose")
            channels.append(("coordinate", place.start))
        if not columns:
            raise ArgumentError("a motion needs measurements: give poses or coordinates")
        self._values = np.ascontiguousarray(np.hstack(columns))
        self._q = _rows(q, "q", 1, model.nq).ravel()
        self._v = np.zeros(model.nv) if v is None else _rows(v, "v", 1, model.nv).ravel()
        self._ctrl = None if ctrl is None else _rows(ctrl, "ctrl", count, model.nu)
        self._channels = ffi.new("rgChannel[]", len(channels))
        for c, (kind, index) in zip(self._channels, channels):
            if kind == "pose":
                c.kind, c.body.index1 = lib.rg_channelPose, index + 1
            else:
                c.kind, c.coordinate = lib.rg_channelCoordinate, index
        self._name = ffi.new("char[]", name.encode())

    def _fill(self, c: Any) -> None:
        c.name, c.sampleCount = self._name, len(self._times)
        c.times = pointer(self._times, "double[]")
        c.channelCount, c.channels = len(self._channels), self._channels
        c.valueCount, c.values = self._values.shape[1], pointer(self._values, "double[]")
        c.q, c.v = pointer(self._q, "double[]"), pointer(self._v, "double[]")
        c.controls = ffi.NULL if self._ctrl is None else pointer(self._ctrl, "double[]")


class _Loaded:
    """A motion from a file."""

    def __init__(self, path: str, model: Model, backward: bool) -> None:
        c = ffi.new("rgMotionDef*", lib.rgDefaultMotionDef())
        c.backwardVelocities = backward
        out, diagnostics = ffi.new("rgMotion**"), Diagnostics()
        result = lib.rgLoadMotion(os.fsencode(path), model._model, c, diagnostics.c, out)
        diagnostics.done(result, path, stacklevel=5)
        self._c = ffi.gc(out[0], lib.rgDestroyMotion)

    def _fill(self, c: Any) -> None:
        ffi.memmove(ffi.addressof(c), self._c, ffi.sizeof("rgMotion"))


def _rows(values: Any, what: str, count: int, width: int) -> np.ndarray:
    array = np.array(floats(values, what))  # a copy: C reads it later
    if array.size != count * width:
        raise ArgumentError(f"{what} must have shape ({count}, {width}), not {array.shape}")
    return np.ascontiguousarray(array.reshape(count, width))


def _parameter(c: Any, name: str, value: Any, keep: List[Any]) -> None:
    given = dict(value) if isinstance(value, Mapping) else {"bounds": value}
    bounds = given.pop("bounds", None)
    try:
        c.lower, c.upper = bounds
    except TypeError:
        raise ArgumentError(f"fit['{name}'] must be (low, high), or a dict with 'bounds'") from None
    c.start = given.pop("start", float("nan"))
    c.prior, c.deviation = given.pop("prior", (0.0, 0.0))
    c.logarithmic = given.pop("log", False)
    if given:
        raise ArgumentError(f"fit['{name}']: there is no {sorted(given)[0]!r}; there are bounds, start, "
                            "prior (mean, deviation), log")
    keep.append(ffi.new("char[]", name.encode()))
    c.name = keep[-1]


class Identification:
    """What was found.

    `values` (by name), `parameters` (records with value, deviation, lower, upper, determined, at_bound,
    folds), `motions` (records with before, after, adapted, held_out), `directions` (p, p) with
    `strengths` (p,), and the means over the motions `before`, `after`, `adapted`, `held_out`.
    """

    def __init__(self, c: Any) -> None:
        self._c = ffi.gc(c, lib.rgDestroyIdentification)
        info = read(lib.rgIdentification_Info(c))
        self.info = info
        self.before, self.after, self.adapted = info.before, info.after, info.adapted
        self.held_out = info.held_out
        self.converged: bool = bool(info.converged)
        self.parameters: Dict[str, Record] = {}
        for i in range(info.parameter_count):
            record = read(lib.rgIdentification_Parameter(c, i))
            record.folds = np.array([lib.rgIdentification_FoldValue(c, f, i)
                                     for f in range(info.fold_count)])
            self.parameters[record.name] = record
        self.values: Dict[str, float] = {k: r.value for k, r in self.parameters.items()}
        self.motions: List[Record] = [read(lib.rgIdentification_Motion(c, i))
                                      for i in range(info.motion_count)]
        strength, rows, strengths = ffi.new("double*"), [], []
        for j in range(info.parameter_count):
            rows.append(numbers(lib.rgIdentification_Direction(c, j, strength), info.parameter_count))
            strengths.append(strength[0])
        self.directions, self.strengths = np.array(rows), np.array(strengths)

    def apply(self, definition: ModelDef) -> ModelDef:
        """Set the fitted values in a definition."""
        with definition._lock:
            check(lib.rgIdentification_Apply(self._c, definition._c), "apply")
        return definition

    def __repr__(self) -> str:
        found = ", ".join(f"{k} {v:.4g}" for k, v in self.values.items())
        return f"<rigor.Identification of {found}>"


def identify(definition: ModelDef, motions: Sequence[Any], fit: Mapping[str, Any], *,
             dt: Optional[float] = None, folds: int = 0, threads: Optional[int] = 1, seed: int = 0,
             backward_velocities: bool = False, world: Optional[Mapping[str, Any]] = None,
             **settings: Any) -> Identification:
    """Fit parameters of a definition to recorded motions.

    motions: paths of CSV files or recordings, or `Motion`s. fit: by name ("body/cube/com.z",
    "shape/*/friction", "gravity", ...), (low, high) or {"bounds": (low, high), "start": x, "prior":
    (mean, deviation), "log": True}. settings: fields of rgIdentifyDef in snake_case, such as
    generations, refinements, position_noise, start_window, loss="huber". See docs/howto/identify.md.
    """
    if not isinstance(definition, ModelDef):
        raise TypeError(f"identify takes a rigor.ModelDef, not {type(definition).__name__}")
    keep: List[Any] = []
    c = ffi.new("rgIdentifyDef*", lib.rgDefaultIdentifyDef())
    fill(c, settings, "identify", keep,
         also=("folds", "dt", "seed", "threads", "backward_velocities"))
    c.foldCount, c.seed = folds, seed
    each = world_def(keep, dt, None, None, None, None, dict(world or {}))
    c.world = each[0]
    pool = Threads(threads or os.cpu_count() or 1) if threads != 1 else None
    if pool is not None:
        c.tasks = pool.tasks
    model = definition.compile()
    loaded = [m if isinstance(m, Motion) else _Loaded(os.fspath(m), model, backward_velocities)
              for m in motions]
    array = ffi.new("rgMotion[]", max(len(loaded), 1))
    for item, motion in zip(array, loaded):
        motion._fill(item)
    parameters = ffi.new("rgParameterDef[]", [lib.rgDefaultParameterDef()] * max(len(fit), 1))
    for item, (name, value) in zip(parameters, fit.items()):
        _parameter(item, name, value, keep)
    c.parameterCount, c.parameters = len(fit), parameters
    c.motionCount, c.motions = len(loaded), array
    out, diagnostics = ffi.new("rgIdentification**"), Diagnostics()
    with definition._lock:
        result = lib.rgIdentify(definition._c, c, diagnostics.c, out)
    diagnostics.done(result, "identify")
    return Identification(out[0])


def parameter_fields() -> List[Record]:
    """Parameters that can be fitted: records with kind, field, unit and meaning."""
    found, field = [], ffi.new("rgParameterField*")
    while lib.rgParameterFieldAt(len(found), field):
        found.append(Record(kind=string(field.kind), field=string(field.field),
                            unit=string(field.unit), meaning=string(field.meaning)))
    return found
