"""Many worlds of one model, stepped on several threads; rollouts."""

from __future__ import annotations

import operator
import os
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from ._core import (ArgumentError, BusyError, Diagnostics, Fixed, check, enum_value, ffi, floats, lib, pointer,
                    refuse_pickle, structs, whole, word, writable_pointer)
from ._live import LiveArrays, live_array
from .derivatives import By, Columns, Derivatives, batch_derivatives, batch_vjp
from .device import DeviceBatch
from .model import Model, Part
from .tape import Tape
from .world import Threads, world_def


class _States(NamedTuple):

    q: np.ndarray  #: (batch, time, nq)
    v: np.ndarray  #: (batch, time, nv)
    status: np.ndarray  #: (batch,), fields of rgWorldStatus: fault, step_count, residual, ...
    sensors: Optional[np.ndarray]  #: (batch, time, sensors), or None


class Rollout(_States):
    """States after each step, as `q, v, status, sensors`, and where they come from: `q0` and `v0` at the start,
    (batch, nq) and (batch, nv), `time` (batch, time) [s] and `ctrl` (batch, time, nu), the controls of the step that
    ends at the row. Rows of a world after its fault are NaN."""

    q0: np.ndarray
    v0: np.ndarray
    time: np.ndarray
    ctrl: np.ndarray

    @property
    def ok(self) -> np.ndarray:
        """Worlds that reached the end, (batch,)."""
        return self.status["fault"] == 0

    @property
    def faults(self) -> List[str]:
        """The reason why each world stopped: "none", "state", "control", "diverged", "memory"."""
        return [word("rgWorldFault", int(f)) for f in self.status["fault"]]


class _Guard:
    __slots__ = ("batch",)

    def __init__(self, batch: "Batch") -> None:
        self.batch = batch

    def __enter__(self) -> Any:
        batch = self.batch
        if not lib.rgPyBatch_Enter(batch._c):
            raise BusyError("another thread is using this batch: one caller at a time")
        result = lib.rgPyBatch_Push(batch._c)
        if result != lib.rg_ok:
            lib.rgPyBatch_Leave(batch._c)
            check(result, "batch")
        return batch._batch

    def __exit__(self, *_: Any) -> None:
        lib.rgPyBatch_Leave(self.batch._c)


class Batch(LiveArrays):
    """`count` worlds of one model. Each has the bits of a `World` with the same settings.

    threads: None means one per CPU. seed: of `seeds`. keep_sensors, keep_contacts: read them after every
    call that steps. Other settings as in `World`. device: "cuda:0" or "host" makes a `DeviceBatch`.

    `q` (count, nq), `v` (count, nv), `ctrl` (count, nu) and `force` (count, nv) show the current values;
    values written into them are used from the next call on. A world with refused or diverging numbers stops (see
    `status`) until it is reset or restored; the others continue.
    """

    _instead_of_pickle = "make one there of the same model"

    model = Fixed[Model]()
    count = Fixed[int]()  #: worlds

    def __new__(cls, *arguments: Any, device: Optional[str] = None, **settings: Any) -> Any:
        if device is not None:
            return DeviceBatch(*arguments, device=device, **settings)
        return super().__new__(cls)

    def __init__(self, model: Model, count: int, dt: Optional[float] = None, *, gravity: Any = None,
                 solver: Optional[str] = None, tolerance: Optional[float] = None,
                 accuracy: Optional[float] = None, threads: Optional[int] = None, seed: int = 0, keep_sensors: bool = False,
                 keep_contacts: bool = False, key: Optional[Part] = None, **settings: Any) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"a batch is made of a rigor.Model, not of {type(model).__name__}")
        count = operator.index(count)
        if count < 1:
            raise ArgumentError(f"a batch has at least one world, not {count}")
        self.model = model
        self.count = count
        keep: List[Any] = []
        c = ffi.new("rgBatchDef*", lib.rgDefaultBatchDef())
        each = world_def(keep, dt, gravity, solver, tolerance, accuracy, settings)
        c.world = each[0]
        c.worldCount, c.seed = count, seed
        c.keepSensors, c.keepContacts = keep_sensors, keep_contacts
        self._keeps_sensors, self._keeps_contacts = bool(keep_sensors), bool(keep_contacts)
        workers = min(_threads(threads), count)
        self._threads = Threads(workers) if workers != 1 else None
        if self._threads is not None:
            c.tasks = self._threads.tasks
        widths = (model.nq, model.nv, model.nu, model.nv)
        arrays = [live_array(count * n) for n in widths]
        self._arrays = [a.reshape(count, n) for (a, _), n in zip(arrays, widths)]
        self._pointers = [memory for _, memory in arrays]
        diagnostics = Diagnostics()
        out = ffi.new("rgPyBatch**")
        result = lib.rgPyCreateBatch(model._c, c, self._pointers, diagnostics.c, out)
        diagnostics.done(result, "batch")
        self._c = ffi.gc(out[0], lib.rgPyReleaseBatch)
        self._batch = lib.rgPyBatch_Batch(self._c)
        self._guard = _Guard(self)
        self.dt: float = lib.rgBatch_TimeStep(self._batch)  #: [s]
        if key is not None:
            self.reset(key)

    __reduce_ex__ = refuse_pickle

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"<rigor.Batch of {self.count} '{self.model.name}', dt {self.dt:g} s>"

    def _assign(self, index: int, name: str, value: Any) -> None:
        array = floats(value, name)
        try:
            self._arrays[index][:] = array
        except ValueError:
            raise ArgumentError(f"{name} must have shape {self._arrays[index].shape}, "
                                f"not {array.shape}") from None

    def _mask(self, mask: Any) -> Tuple[Any, Any]:
        if mask is None:
            return ffi.NULL, None
        chosen = np.asarray(mask)
        if chosen.dtype != np.bool_:  # numbers of worlds
            flags = np.zeros(self.count, np.bool_)
            flags[chosen] = True
            chosen = flags
        if chosen.shape != (self.count,):
            raise ArgumentError(f"mask must have shape ({self.count},), not {chosen.shape}")
        on = np.ascontiguousarray(chosen).view(np.uint8)
        c = ffi.new("rgWorldMask*", {"on": pointer(on, "uint8_t[]"), "count": self.count})
        return c, on

    def step(self, count: int = 1, ctrl: Any = None, mask: Any = None) -> None:
        """Advance all worlds, or those of a mask, by `count` steps."""
        if ctrl is not None:
            self.ctrl = ctrl
        c, keep = self._mask(mask)
        with self._guard as batch:
            check(lib.rgBatch_Step(batch, whole(count, "count"), c), "step")
        del keep

    def forward(self, mask: Any = None) -> None:
        """Contacts and sensors at the current state, without moving."""
        c, keep = self._mask(mask)
        with self._guard as batch:
            check(lib.rgBatch_Forward(batch, c), "forward")
        del keep

    def derivatives(self, by: By = ("q", "v", "ctrl"), mask: Any = None, *, held_gaps: bool = False,
                    smoothing: float = 0, sensors: bool = False) -> Derivatives:
        """`World.derivatives()` of all worlds, or those of a mask, on all threads: (count, nv, columns)."""
        columns = Columns(self.model, by, heldGaps=held_gaps, smoothing=smoothing, sensors=sensors)
        return batch_derivatives(self, columns, mask)

    def vjp(self, q_bar: Any = None, v_bar: Any = None, by: By = ("q", "v", "ctrl"), mask: Any = None, *,
            trend_bar: Any = None, sensor_bar: Any = None, held_gaps: bool = False,
            smoothing: float = 0) -> Dict[str, np.ndarray]:
        """`World.vjp()` of all worlds: q_bar and v_bar (count, nv), trend_bar and sensor_bar likewise."""
        columns = Columns(self.model, by, heldGaps=held_gaps, smoothing=smoothing)
        return batch_vjp(self, columns, (q_bar, v_bar, trend_bar, sensor_bar), mask)

    def tape(self, ctrl: Any = None, steps: Optional[int] = None, every: int = 1, by: By = (), *,
             held_gaps: bool = False, smoothing: float = 0) -> Tape:
        """`World.tape()` of all worlds, on all threads: ctrl (count, steps, nu)."""
        return Tape(self, ctrl, steps, every, by, held_gaps, smoothing)

    def reset(self, key: Optional[Part] = None, mask: Any = None) -> None:
        """Set worlds to a key or to the start, and clear their status."""
        index = 0 if key is None else self.model.id("key", key) + 1
        c, keep = self._mask(mask)
        with self._guard as batch:
            check(lib.rgBatch_Reset(batch, {"index1": index}, c), "reset")
        del keep

    def set_parameter(self, name: str, values: Any, mask: Any = None) -> None:
        """Set parameters of each world, which stay through resets: "gravity" (count, 3) [m/s^2], "mass"
        (count, bodies) factors, "friction" (or "mu"), "restitution", "stiffness" (count, 1), "gain" (count, nu) and
        "damping" (count, joints) factors. NaN is the model's value. Values broadcast."""
        kind = enum_value(ffi.typeof("rgBatchParameter"), "friction" if name == "mu" else name, "parameter")
        c, keep = self._mask(mask)
        diagnostics = Diagnostics()
        with self._guard as batch:
            width = lib.rgBatch_ParameterSize(batch, kind)
            given = floats(values, name)
            given = given[:, None] if width == 1 and given.ndim == 1 else given
            try:
                rows = np.array(np.broadcast_to(given, (self.count, width)), order="C")
            except ValueError:
                raise ArgumentError(f"{name} of shape {given.shape} does not broadcast to "
                                    f"{(self.count, width)}") from None
            result = lib.rgBatch_SetParameter(batch, kind, pointer(rows), rows.size, c, diagnostics.c)
        diagnostics.done(result, name)
        del keep

    def save(self, world: int) -> bytes:
        """State of one world; `World.restore()` takes it as well."""
        index = self._index(world)
        with self._guard as batch:
            size = lib.rgBatch_StateSize(batch, index)
            data = bytearray(size)
            check(lib.rgBatch_Save(batch, index, ffi.from_buffer(data), size), "save")
        return bytes(data)

    def restore(self, state: bytes, mask: Any = None) -> None:
        """Set worlds to a state from `save()` of a batch or a world."""
        data = ffi.from_buffer(state)
        c, keep = self._mask(mask)
        with self._guard as batch:
            result = lib.rgBatch_Restore(batch, data, len(data), c)
            check(result, "these bytes are no saved state of a world of this model")
        del keep

    def _index(self, world: int) -> int:
        index = operator.index(world)
        if not 0 <= index < self.count:
            raise IndexError(f"world {index} of a batch of {self.count}")
        return index

    def rollout(self, ctrl: Any = None, steps: Optional[int] = None, every: int = 1,
                sensors: bool = False) -> Rollout:
        """Steps with ctrl (count, time, nu), or any shape that broadcasts to it; without ctrl so many
        `steps`. Keeps the state after every `every` steps."""
        nu = self.model.nu
        controls = None
        if ctrl is not None:
            controls = floats(ctrl, "ctrl")
            if controls.ndim not in (2, 3) or controls.shape[-1] != nu:
                raise ArgumentError(f"ctrl must have shape (batch, time, {nu}) or (time, {nu}), "
                                    f"not {controls.shape}")
            steps = controls.shape[-2] if steps is None else operator.index(steps)
            try:
                controls = np.ascontiguousarray(np.broadcast_to(controls, (self.count, steps, nu)))
            except ValueError:
                raise ArgumentError(f"ctrl of shape {controls.shape} does not broadcast to "
                                    f"{(self.count, steps, nu)}") from None
        if steps is None:
            raise ArgumentError("give ctrl or steps")
        steps, every = operator.index(steps), operator.index(every)
        if steps < 0 or every < 1:
            raise ArgumentError(f"steps is {steps} and every is {every}")
        return self._rollout(controls, steps, every, sensors)

    def _rollout(self, controls: Optional[np.ndarray], steps: int, every: int,
                 sensors: bool) -> Rollout:
        kept = steps // every
        q = np.full((self.count, kept, self.model.nq), np.nan)
        v = np.full((self.count, kept, self.model.nv), np.nan)
        inputs = np.full((self.count, kept, self.model.nu), np.nan)
        times = np.full((self.count, kept), np.nan)
        s = None
        c = ffi.new("rgRolloutDef*", lib.rgDefaultRolloutDef())
        c.stepCount, c.recordInterval = steps, every
        if controls is not None and controls.size:
            c.controls, c.controlCount = pointer(controls), controls.size
        for array, plural, size in ((q, "positions", "positionCount"), (v, "velocities", "velocityCount"),
                                    (inputs, "inputs", "inputCount"), (times, "times", "timeCount")):
            if array.size:
                setattr(c, plural, writable_pointer(array))
                setattr(c, size, array.size)
        diagnostics = Diagnostics()
        q0, v0 = self.q.copy(), self.v.copy()
        with self._guard as batch:
            if sensors:
                width = lib.rgBatch_View(batch, lib.rg_batchSensors).columnCount
                s = np.full((self.count, kept, width), np.nan)
                if s.size:
                    c.sensors, c.sensorCount = writable_pointer(s), s.size
            result = lib.rgBatch_Rollout(batch, c, ffi.NULL, diagnostics.c)
            status = self._status(batch)
        diagnostics.done(result, "rollout", 4)
        made = Rollout(q, v, status, s)
        made.q0, made.v0, made.time, made.ctrl = q0, v0, times, inputs
        return made

    def _status(self, batch: Any) -> np.ndarray:
        return structs("rgWorldStatus", lib.rgBatch_Status(batch), self.count)

    @property
    def status(self) -> np.ndarray:
        """Report of each world (count,): fault, fault_time, step_count, unconverged_count,
        regularized_count, anomalies, contact_count, residual, penetration."""
        with self._guard as batch:
            return self._status(batch)

    @property
    def faults(self) -> List[str]:
        """The reason why each world stopped; "none" for the others."""
        return [word("rgWorldFault", int(f)) for f in self.status["fault"]]

    def _read(self, array: int) -> np.ndarray:
        with self._guard as batch:
            view = lib.rgBatch_View(batch, array)
            out = np.zeros((view.rowCount, view.columnCount))
            if out.size:
                check(lib.rgBatch_Read(batch, array, writable_pointer(out), out.size), "read")
            return out

    @property
    def time(self) -> np.ndarray:
        """(count,) [s]."""
        return self._read(lib.rg_batchTime)[:, 0]

    @property
    def sensors(self) -> np.ndarray:
        """(count, sensors), with keep_sensors=True."""
        if not self._keeps_sensors:
            raise ArgumentError("this batch keeps no sensors: make it with keep_sensors=True")
        return self._read(lib.rg_batchSensors)

    @property
    def act(self) -> np.ndarray:
        """(count, nu) activations; (count, 0) if no actuator of the model has one."""
        return self._read(lib.rg_batchActivations)

    @act.setter
    def act(self, value: Any) -> None:
        shape = self.act.shape
        rows = np.ascontiguousarray(np.broadcast_to(floats(value, "act"), shape))
        with self._guard as batch:
            check(lib.rgBatch_Write(batch, lib.rg_batchActivations, pointer(rows), rows.size,
                                    ffi.NULL, ffi.NULL), "act")

    def contacts(self, world: int) -> np.ndarray:
        """As `World.contacts`, with keep_contacts=True."""
        if not self._keeps_contacts:
            raise ArgumentError("this batch keeps no contacts: make it with keep_contacts=True")
        index, count = self._index(world), ffi.new("int*")
        with self._guard as batch:
            found = lib.rgBatch_Contacts(batch, index, count)
            return structs("rgContact", found, count[0])

    def hash(self, world: int) -> int:
        """Equal to `World.hash()` of the same state."""
        index = self._index(world)
        with self._guard as batch:
            return lib.rgBatch_Hash(batch, index)

    @property
    def seeds(self) -> np.ndarray:
        """One random seed per world, from `seed` and its number (count,)."""
        with self._guard as batch:
            return np.array([lib.rgBatch_Seed(batch, i) for i in range(self.count)], np.uint64)


def _threads(threads: Optional[int]) -> int:
    if threads is None:
        return max(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else
                   os.cpu_count() or 1, 1)
    threads = operator.index(threads)
    if threads < 1:
        raise ArgumentError(f"threads is {threads}")
    return threads


def rollout(model: Model, q0: Any, v0: Any = None, ctrl: Any = None, *, steps: Optional[int] = None,
            threads: Optional[int] = None, every: int = 1, sensors: bool = False,
            **settings: Any) -> Rollout:
    """Simulate many starts at once: `q, v, status, _ = rigor.rollout(model, q0, v0, ctrl, threads=8)`.

    q0 (batch, nq) or (nq,), v0 likewise with nv (None: rest), ctrl (batch, time, nu) or (time, nu), or
    `steps`. The result has the states after each step, (batch, time, n), a status per row, and start, times and
    controls as attributes: the same
    bits as stepping a `World` of the same settings, for any number of threads.
    """
    q0 = np.atleast_2d(floats(q0, "q0"))
    v0 = np.zeros(model.nv) if v0 is None else floats(v0, "v0")
    counts = {a.shape[0] for a, d in ((q0, 2), (np.atleast_2d(v0), 2)) if a.shape[0] != 1}
    if ctrl is not None and np.ndim(ctrl) == 3 and np.shape(ctrl)[0] != 1:
        counts.add(np.shape(ctrl)[0])
    if len(counts) > 1:
        raise ArgumentError(f"q0, v0 and ctrl disagree about the batch: {sorted(counts)}")
    batch = Batch(model, counts.pop() if counts else 1, threads=threads, keep_sensors=sensors,
                  **settings)
    batch.q, batch.v = q0, v0
    return batch.rollout(ctrl, steps, every, sensors)
