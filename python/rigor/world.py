"""Worlds: one moving instance of a model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from ._core import (ArgumentError, BusyError, ClosedError, Diagnostics, Fixed, NumericError, Pose, Record,
                    Spatial, check, ffi, fill, floats, lib, numbers, pointer, pose, read,
                    refuse_pickle, structs, vector, whole, word, writable_pointer)
from ._hdf5 import hdf5
from ._live import LiveArrays, live_array
from .derivatives import By, Columns, Derivatives, world_derivatives, world_jvp, world_vjp
from .model import Model, Part
from .problem import Problem, Report, problem_from_c, report_from_c
from .tape import Tape

if TYPE_CHECKING:
    from .record import Recorder
    from .view import Viewer

_CHUNK = 1000  # steps between two looks at Ctrl-C


class Threads:
    """Threads that share the work of one call."""

    def __init__(self, count: int) -> None:
        out = ffi.new("rgThreadPool**")
        check(lib.rgCreateThreadPool(count, ffi.NULL, out), f"{count} threads")
        self._c = ffi.gc(out[0], lib.rgDestroyThreadPool)
        self.tasks = lib.rgThreadPool_Tasks(self._c)


def world_def(keep: List[Any], dt: Optional[float], gravity: Any, solver: Optional[str],
              tolerance: Optional[float], accuracy: Optional[float],
              settings: Dict[str, Any]) -> Any:
    """rgWorldDef from Python's settings."""
    c = ffi.new("rgWorldDef*", lib.rgDefaultWorldDef())
    contact = dict(settings.pop("contact", None) or {})
    contact.update({k: v for k, v in (("method", solver), ("tolerance", tolerance),
                                        ("accuracy", accuracy)) if v is not None})
    if gravity is not None:
        settings["has_gravity"] = True
    step = settings.pop("time_step", None)
    if dt is not None and step is not None:
        raise TypeError("world: 'dt' and 'time_step' are names of one setting: give one of them")
    dt = step if dt is None else dt
    for name, value in dict(settings, dt=dt, tolerance=tolerance, accuracy=accuracy).items():
        if isinstance(value, (float, np.floating)) and math.isnan(value):
            raise ArgumentError(f"world: {name} is NaN; leave it out, or give None, for the model's value")
    fill(c, dict(settings, time_step=dt, gravity=gravity, contact=contact), "world", keep,
         also=("accuracy", "dt", "key", "solver", "threads", "tolerance"))
    return c


class StepReport(Record):
    """Report of a step: `residual`, `status`, `iterations`, `contact_count`, `stage_seconds`, ..."""

    residual: float  #: of the contact problem, as a share of what zero impulses leave wrong
    status: str  #: "solved", or what came first: "stalled", "limit", "infeasible"
    iterations: int
    contact_count: int
    row_count: int
    penetration: float  #: deepest at the start of the step [m]
    contact: Report  #: of the solver


class Inverse(tuple):
    """Result of `World.inverse()`; unpacks as (tau, lam).

    tau (nv,): value of `world.force` for the step [N, N m]; lam (contacts, 6): impulses [N s] in
    the order of `world.contacts`. Also `status` ("solved", "forbidden", "unheld", "overload",
    "unsolved"), `violation`, `missing_force`, `missing_torque`, `effort_excess`, `contact_force` (nv,).
    """

    tau: np.ndarray
    lam: np.ndarray
    status: str

    def __new__(cls, tau: np.ndarray, lam: np.ndarray, details: Record) -> "Inverse":
        made = super().__new__(cls, (tau, lam))
        made.tau, made.lam = tau, lam
        made.__dict__.update(vars(details))
        return made


class _Guard:
    """Lets one thread in at a time, and gives the world what was written into its arrays."""

    __slots__ = ("world",)

    def __init__(self, world: "World") -> None:
        self.world = world

    def __enter__(self) -> Any:
        world = self.world
        c = world._open()
        if not lib.rgPyWorld_Enter(c):
            raise BusyError(_BUSY)
        if lib.rgPyWorld_Push(c) != lib.rg_ok:
            refusal = lib.rgPyWorld_Refusal(c)
            lib.rgPyWorld_Leave(c)
            world._refuse(refusal)
        return world._world

    def __exit__(self, *_: Any) -> None:
        lib.rgPyWorld_Leave(self.world._c)


_BUSY = ("another thread is using this world: a world belongs to one thread at a time. "
         "Give each thread its own, or use rigor.rollout() or rigor.Batch")


class World(LiveArrays):
    """State of a model, with controls and forces. One thread at a time.

    dt: time step [s]; 0: that of the model, else 1 ms. gravity: [m/s^2], else the model's. solver: "auto",
    "newton", "admm", "pgs", "interior". tolerance: of the contact residual. accuracy: a residual above it
    that is enough for bodies that move, such as 1e-3: piles of hundreds of bodies take a fraction of the
    time. threads: that share a step. key: where to start. Other settings are the fields of rgWorldDef in snake_case,
    such as friction=0.5, restitution=0.2, stiffness=1e5 [N/m], contact={"max_iterations": 100}.

    before_step and after_step are called with the world around every step.

    `q`, `v`, `ctrl` and `force` are arrays that always show the current values and keep their memory for
    as long as they are referenced. Values written into them are used from the next call on; numbers that are
    not finite are refused then, and the arrays go back to what they were.
    """

    _instead_of_pickle = "send world.save() and restore() it into a world of the same model there"

    model = Fixed[Model]()

    def __init__(self, model: Model, dt: Optional[float] = None, *, gravity: Any = None,
                 solver: Optional[str] = None, tolerance: Optional[float] = None,
                 accuracy: Optional[float] = None, threads: int = 1, key: Optional[Part] = None,
                 before_step: Optional[Callable[["World"], Any]] = None,
                 after_step: Optional[Callable[["World"], Any]] = None, **settings: Any) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"a world is made of a rigor.Model, not of {type(model).__name__}")
        self._c: Any = None
        self.model = model
        self.before_step = before_step
        self.after_step = after_step
        self._recorder: Any = None
        self._viewer: Any = None
        self._settings = dict(settings, dt=dt, gravity=gravity, solver=solver, tolerance=tolerance,
                              accuracy=accuracy, threads=threads)
        keep: List[Any] = []
        c = world_def(keep, dt, gravity, solver, tolerance, accuracy, settings)
        self._threads = Threads(threads) if threads != 1 else None
        if self._threads is not None:
            c.tasks = self._threads.tasks
        arrays = [live_array(n) for n in (model.nq, model.nv, model.nu, model.nv)]
        self._arrays = [array for array, _ in arrays]
        self._pointers = [memory for _, memory in arrays]
        diagnostics = Diagnostics()
        out = ffi.new("rgPyWorld**")
        scene = ffi.NULL if model._scene is None else model._scene
        result = lib.rgPyCreateWorld(model._c, c, scene, self._pointers, diagnostics.c, out)
        diagnostics.done(result, "world")
        self._c = ffi.gc(out[0], lib.rgPyReleaseWorld)
        self._world = lib.rgPyWorld_World(self._c)
        self._guard = _Guard(self)
        self.dt: float = lib.rgWorld_TimeStep(self._world)  #: time step [s]
        if key is not None:
            self.reset(key)

    def __repr__(self) -> str:
        if self._c is None:
            return "<rigor.World, closed>"
        return f"<rigor.World of '{self.model.name}', dt {self.dt:g} s>"

    def _repr_html_(self) -> Optional[str]:
        """Display in a notebook: a picture and a few numbers."""
        if self._c is None:
            return None
        from .show import world_html
        return world_html(self)

    __reduce_ex__ = refuse_pickle

    def _open(self) -> Any:
        if self._c is None:
            raise ClosedError("this world was closed")
        return self._c

    def close(self) -> None:
        """Free the memory of the library now. The arrays q, v, ctrl, force stay as they are."""
        if self._c is not None:
            for watcher in (self._recorder, self._viewer):
                if watcher is not None:
                    watcher.close()
            if not lib.rgPyWorld_Enter(self._c):
                raise BusyError(_BUSY)
            # Never left again: a thread that still holds the C object finds it busy.
            self._c, self._world = None, None

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _refuse(self, refusal: Any) -> None:
        names = ("q", "v", "ctrl", "force")
        name = names[refusal.array]
        if refusal.index < 0:
            raise ArgumentError(f"{name} was refused: it contains a quaternion of length 0; "
                                f"{name} is as before")
        where = self._coordinate(refusal.array, refusal.index)
        raise ArgumentError(f"{name}[{refusal.index}]{where} is {refusal.value}: finite numbers are "
                            f"needed; {name} is as before")

    def _coordinate(self, array: int, index: int) -> str:
        if array == lib.rg_pyControl:
            return f" (actuator '{self.model.actuator_names[index]}')"
        for joint in range(len(self.model.joint_names)):
            record = self.model.joint(joint)
            place = record.q if array == lib.rg_pyPositions else record.v
            if place.start <= index < place.stop:
                return f" (joint '{record.name}')"
        return ""

    # ---- state

    def _assign(self, index: int, name: str, value: Any) -> None:
        self._arrays[index][:] = vector(value, self._arrays[index].size, name)

    @property
    def time(self) -> float:
        """[s]"""
        with self._guard as world:
            return lib.rgWorld_Time(world)

    @time.setter
    def time(self, value: float) -> None:
        with self._guard as world:
            check(lib.rgWorld_SetTime(world, value), f"time {value}")

    @property
    def act(self) -> np.ndarray:
        """Activations of the actuators (nu,), or none (0,) if no actuator has one; a copy."""
        count = ffi.new("int*")
        with self._guard as world:
            values = lib.rgWorld_Activation(world, count)
            return numbers(values, count[0])

    @act.setter
    def act(self, value: Any) -> None:
        given = vector(value, self.act.size, "act")
        with self._guard as world:
            check(lib.rgWorld_SetActivation(world, pointer(given)), "act")

    def reset(self, key: Optional[Part] = None) -> None:
        """Go to a key, or to the start: neutral with joints in their limits, or where the scene starts. Clears the warm
        start, controls, forces and wrenches."""
        index = 0 if key is None else self.model.id("key", key) + 1
        self._drop_writes()
        with self._guard as world:
            check(lib.rgWorld_Reset(world, {"index1": index}), "reset")
            if key is None and self.model._scene is not None:
                check(lib.rgScene_Start(self.model._scene, world), "reset")

    def _drop_writes(self) -> None:
        """Discard values in the arrays that no call has used."""
        c = self._open()
        if not lib.rgPyWorld_Enter(c):
            raise BusyError(_BUSY)
        lib.rgPyWorld_Leave(c)

    def save(self) -> bytes:
        """The complete state, with controls and warm start."""
        with self._guard as world:
            size = lib.rgWorld_StateSize(world)
            data = bytearray(size)
            check(lib.rgWorld_Save(world, ffi.from_buffer(data), size), "save")
            return bytes(data)

    def restore(self, state: bytes) -> None:
        """Restore a state from `save()`; the steps after it repeat to the bit."""
        self._drop_writes()
        with self._guard as world:
            data = ffi.from_buffer(state)
            result = lib.rgWorld_Restore(world, data, len(data))
            check(result, "these bytes are no saved state of a world of this model")

    def hash(self) -> int:
        """64 bits of the state: same bits in, same hash out."""
        with self._guard as world:
            return lib.rgWorld_Hash(world)

    def copy(self) -> "World":
        """Another world of the same model and settings in the same state."""
        other = World(self.model, before_step=self.before_step, after_step=self.after_step,
                      **self._settings)
        other.restore(self.save())
        return other

    # ---- motion

    def step(self, count: int = 1, ctrl: Any = None) -> None:
        """Advance by `count` steps of `dt`, with `ctrl` (nu,) from now on if given.

        Other Python threads run meanwhile. On error the state is that before the step that failed.
        """
        if ctrl is not None:
            self.ctrl = ctrl
        if (self.before_step is None and self.after_step is None and self._recorder is None
                and self._viewer is None and type(count) is int and 0 <= count <= _CHUNK):
            result = lib.rgPyWorld_Step(self._c or self._open(), count)
            if result:
                self._step_failed(result)
            return
        self._step_many(whole(count, "count"))

    def _step_many(self, count: int) -> None:
        if count < 0:
            raise ArgumentError(f"count is {count}: steps go forward")
        hooks = self.before_step is not None or self.after_step is not None
        chunk = 1 if hooks else _CHUNK if self._viewer is None else 10
        while count > 0:
            if self.before_step is not None:
                self.before_step(self)
            now = min(count, chunk)
            if self._recorder is None:
                self._step_plain(now)
            else:
                self._step_recorded(now)
            if self._viewer is not None:
                self._viewer._stepped()
            if self.after_step is not None:
                self.after_step(self)
            count -= now

    def _step_plain(self, count: int) -> None:
        result = lib.rgPyWorld_Step(self._open(), count)
        if result:
            self._step_failed(result)

    def _step_recorded(self, count: int) -> None:
        with hdf5():
            try:
                for _ in range(count):
                    self._step_plain(1)
                    self._recorder._add()
            finally:
                self._recorder._flush()

    def record(self, path: Any, **settings: Any) -> "Recorder":
        """Record the world in an HDF5 file, from now until the recorder is closed.

        Settings are the fields of rgRecorderDef: interval (steps of which one is kept), title, ...
        """
        from .record import Recorder

        made = Recorder(self, path, **settings)
        self._recorder = made
        return made

    def view(self, **settings: Any) -> "Viewer":
        """Show this world in a browser at the viewer's `url`; settings: port, address, title."""
        from .view import Viewer

        if self._viewer is not None:
            self._viewer.close()
        self._viewer = Viewer(self, **settings)
        return self._viewer

    def _step_failed(self, result: int) -> None:
        if result == lib.RG_PY_BUSY:
            raise BusyError(_BUSY)
        if result == lib.RG_PY_REFUSED:
            self._refuse(lib.rgPyWorld_Refusal(self._c))
        if result == lib.rg_errorNumeric:
            speed = ffi.new("double*")
            body = lib.rgWorld_FastestBody(self._world, speed).index1
            fastest = (f"body '{self.model.body_names[body - 1]}' is fastest ({speed[0]:.3g} m/s or rad/s)"
                       if body > 0 else "nothing moves")
            raise NumericError("the step made numbers that are not finite or speeds that the energy does not "
                               "allow: forces, velocities or gains are too large for this time step; the state "
                               f"is that before it, and {fastest}")
        check(result, "step")

    def forward(self) -> None:
        """Poses, contacts and forces at the current state, without moving."""
        with self._guard:
            check(lib.rgPyWorld_Forward(self._c), "forward")

    @property
    def report(self) -> StepReport:
        """Report of the last step or forward call."""
        with self._guard:
            c = lib.rgPyWorld_Report(self._c)
            record = StepReport(**vars(read(c)))
            record.contact = report_from_c(ffi.addressof(c, "contact"))
            record.residual = record.contact.residual
            record.status = record.contact.status
            record.iterations = record.contact.iterations
            record.stage_seconds = {
                word("rgStage", i): c.stageSeconds[i] for i in range(lib.rg_stageCount)}
            return record

    def inverse(self, v_ref: Any, **options: Any) -> Inverse:
        """Forces that make the next step end with velocity v_ref (nv,), and the impulses that go with it.

        Options are the fields of rgInverseDef, such as start="last", feasible=True, penalty=1e-8.
        """
        reference = vector(v_ref, self.model.nv, "v_ref")
        keep: List[Any] = []
        c = ffi.new("rgInverseDef*", lib.rgDefaultInverseDef())
        self._fill_inverse(c, options, keep)
        out = ffi.new("rgInverseResult*")
        with self._guard as world:
            result = lib.rgWorld_Inverse(world, c, pointer(reference), out)
            check(result, "inverse dynamics")
            details = read(out[0])
            details.contact = report_from_c(ffi.addressof(out[0], "contact"))
            details.contact_force = numbers(out.contactForce, self.model.nv)
            details.contacts = structs("rgInverseContact", out.contacts, out.contactCount)
            tau = numbers(out.force, self.model.nv)
            lam = self._contacts(world)["impulse"].copy()
        return Inverse(tau, lam, details)

    def _fill_inverse(self, c: Any, options: Dict[str, Any], keep: List[Any]) -> None:
        actuated = options.pop("actuated", None)
        impulses = options.pop("impulses", None)
        for name in ("constraints", "constraint_count", "impulse_count"):
            if name in options:
                raise TypeError(f"inverse has no setting '{name}'")
        fill(c, options, "inverse", keep)
        if actuated is not None:
            flags = np.ascontiguousarray(actuated, dtype=np.bool_)
            if flags.shape != (self.model.nv,):
                raise ArgumentError(f"actuated must have shape ({self.model.nv},)")
            keep.append(flags)
            c.actuated = ffi.from_buffer("bool[]", flags.view(np.uint8)) if flags.size else ffi.NULL
        if impulses is not None:
            rows = np.ascontiguousarray(impulses, dtype=np.float64)
            if rows.ndim != 2 or rows.shape[1] != 6:
                raise ArgumentError(f"impulses must have shape (contacts, 6), not {rows.shape}")
            keep.append(rows)
            c.impulses, c.impulseCount = pointer(rows), len(rows)
            c.start = lib.rg_startGiven

    # ---- derivatives of the next step

    def derivatives(self, by: By = ("q", "v", "ctrl"), *, held_gaps: bool = False, smoothing: float = 0,
                    impulses: bool = False, sensors: bool = False, advance: bool = False,
                    differences: bool = False, increment: float = 1e-6) -> Derivatives:
        """Derivatives of the position and velocity after the next step, through the exact contact law.

        by: "q", "v", "ctrl", "force", and numbers of the model such as "mass:trunk", "friction",
        "friction:floor", "inertia:trunk:0" to ":9", "damping:hip", "stiffness:hip", "armature:hip",
        "dry_friction:hip", "kp:servo", "kd:servo", "gain:servo"; "trend" for the part of the state from earlier
        steps (rg_byTrend), which products over several steps need. sensors: those of `sensors` as well.
        held_gaps: touching contacts have the slope of gaps that open. smoothing: a speed [m/s] over which
        contacts go from one mode to another, so that contacts act before they touch; 0: the exact law.
        advance: take that step as well. differences: central differences of whole steps instead, for comparison.
        """
        columns = Columns(self.model, by, heldGaps=held_gaps, smoothing=smoothing, impulses=impulses,
                          sensors=sensors, advance=advance, differences=differences, increment=increment)
        return world_derivatives(self, columns)

    def linearize(self, trend: bool = False, **options: Any) -> Tuple[np.ndarray, np.ndarray]:
        """A (2 nv, 2 nv) and B (2 nv, nu): the change of (q, v) after the next step by that before and by ctrl.
        trend: (4 nv, 4 nv) and (4 nv, nu), of (q, v, trend), whose products over several steps are exact. Options
        as in `derivatives()`."""
        d = self.derivatives(("q", "v", "ctrl") + (("trend",) if trend else ()), **options)
        rows = np.concatenate([d.q, d.v] + ([d.trend] if trend else []))
        names = ("q", "v", "trend") if trend else ("q", "v")
        return np.concatenate([rows[:, d.columns[name]] for name in names], axis=1), rows[:, d.columns["ctrl"]]

    def vjp(self, q_bar: Any = None, v_bar: Any = None, by: By = ("q", "v", "ctrl"), *, trend_bar: Any = None,
            sensor_bar: Any = None, held_gaps: bool = False, smoothing: float = 0,
            advance: bool = False) -> Dict[str, np.ndarray]:
        """Gradients by the state before the next step, and by ctrl, of a number with gradient q_bar (nv,), by a
        small velocity, v_bar (nv,), trend_bar (2 nv,) and sensor_bar, as long as `sensors`, after it: one per name
        in `by`."""
        columns = Columns(self.model, by, heldGaps=held_gaps, smoothing=smoothing, advance=advance)
        return world_vjp(self, columns, (q_bar, v_bar, trend_bar, sensor_bar))

    def jvp(self, **directions: Any) -> Tuple[np.ndarray, np.ndarray]:
        """Changes of the new position, as a small velocity, and of the new velocity along one direction:
        `world.jvp(q=dq, ctrl=du)`. Where a contact is about to open, close, stick or slip, they are those of the
        side that the direction leads to; the matrices of `derivatives()` have one of two answers there."""
        return world_jvp(self, directions)

    def tape(self, ctrl: Any = None, steps: Optional[int] = None, every: int = 1, by: By = (), *,
             held_gaps: bool = False, smoothing: float = 0) -> Tape:
        """Take a step for each row of ctrl (steps, nu), or `steps` of them, and store the data of gradients: the
        state before every `every`-th step, from which they step again. by: numbers of the model, as in
        `derivatives()`."""
        return Tape(self, ctrl, steps, every, by, held_gaps, smoothing)

    # ---- changes while running

    def change(self, kind: str, part: Part, /, **fields: Any) -> None:
        """Change a part of this world: `world.change("shape", "foot", material={"mu": 0.3})`.

        kind: "body", "joint", "shape", "tendon", "actuator" or "equality"; fields as in `ModelDef`. What
        cannot change while running is refused; other worlds of the model stay as they are.
        """
        if kind not in ("body", "joint", "shape", "tendon", "actuator", "equality"):
            raise ArgumentError(f"a '{kind}' cannot be changed while running")
        index = self.model._cid(kind, part)
        title = kind.capitalize()
        keep: List[Any] = []
        diagnostics = Diagnostics()
        with self._guard as world:
            now = getattr(lib, "rgModel_" + title)(lib.rgWorld_Model(world), index)
            c = ffi.new(f"rg{title}Def*", now[0])
            fill(c, fields, f"{kind} '{part}'", keep)
            result = getattr(lib, "rgWorld_Change" + title)(world, index, c, diagnostics.c)
        diagnostics.done(result, f"{kind} '{part}'")

    def change_settings(self, gravity: Any = None, **settings: Any) -> None:
        """Change gravity [m/s^2], friction, restitution, stiffness [N/m], ... of this world."""
        diagnostics = Diagnostics()
        with self._guard as world:
            c = ffi.new("rgWorldDef*", lib.rgWorld_Settings(world))
            if gravity is not None:
                settings["has_gravity"] = True
            fill(c, dict(settings, gravity=gravity), "world", [])
            result = lib.rgWorld_ChangeSettings(world, c, diagnostics.c)
        diagnostics.done(result, "settings")

    # ---- what acts from outside

    def apply_wrench(self, body: Part, force: Any = (0, 0, 0), torque: Any = (0, 0, 0)) -> None:
        """Add a force [N] and a torque [N m] at a body's center of mass, in world axes, until cleared."""
        force, torque = vector(force, 3, "force"), vector(torque, 3, "torque")
        with self._guard as world:
            check(lib.rgWorld_ApplyWrench(world, self.model._cid("body", body), tuple(force),
                                          tuple(torque)), "wrench")

    def clear_wrenches(self) -> None:
        with self._guard as world:
            lib.rgWorld_ClearWrenches(world)

    def apply_force_at(self, body: Part, force: Any, point: Any) -> None:
        """Likewise a force [N] at a point of space that the body has there now [m]."""
        force, point = vector(force, 3, "force"), vector(point, 3, "point")
        with self._guard as world:
            check(lib.rgWorld_ApplyForceAt(world, self.model._cid("body", body), tuple(force),
                                           tuple(point)), "force")

    def enable_body(self, body: Part, enabled: bool = True) -> None:
        """Enable or disable a body with its whole tree. Disabled bodies do not move or collide."""
        with self._guard as world:
            check(lib.rgWorld_EnableBody(world, self.model._cid("body", body), enabled), "enable")

    def project(self) -> None:
        """Close the rigid loops and couplings of the present configuration, by little motion."""
        with self._guard as world:
            check(lib.rgWorld_Project(world), "no configuration that closes all loops was found")

    def set_body_pose(self, body: Part, place: Any) -> None:
        """Set the pose of a free body; its velocity stays, in world axes."""
        made = pose(place)
        with self._guard as world:
            result = lib.rgWorld_SetBodyPose(world, self.model._cid("body", body), made)
            check(result, f"pose of body '{body}'")

    def move_body(self, body: Part, place: Any) -> None:
        """Move a kinematic body to this pose by the end of the next step; it pushes bodies in its way."""
        made = pose(place)
        with self._guard as world:
            result = lib.rgWorld_MoveBody(world, self.model._cid("body", body), made)
            check(result, f"motion of body '{body}' (only kinematic bodies are moved)")

    def set_body_velocity(self, body: Part, linear: Any = (0, 0, 0),
                          angular: Any = (0, 0, 0)) -> None:
        """Velocity of a free body at its origin [m/s, rad/s], in world axes."""
        velocity = (tuple(vector(linear, 3, "linear")), tuple(vector(angular, 3, "angular")))
        with self._guard as world:
            result = lib.rgWorld_SetBodyVelocity(world, self.model._cid("body", body), velocity)
            check(result, f"velocity of body '{body}'")

    def set_impulses(self, impulses: Any) -> None:
        """Start the next solve from these impulses (contacts, 6) of the contacts of the last step.

        Rows are as in `contacts["impulse"]`. Useful if the solution is not unique."""
        made = np.ascontiguousarray(impulses, dtype=float)
        if made.ndim != 2 or made.shape[1] != 6:
            raise ValueError(f"impulses are (contacts, 6), not {made.shape}")
        with self._guard as world:
            check(lib.rgWorld_SetImpulses(world, pointer(made), made.shape[0]),
                  "impulses of all contacts of the last step, all finite")

    # ---- readout

    def body_pose(self, body: Part) -> Pose:
        """Pose of a body in the world."""
        with self._guard as world:
            return read(lib.rgWorld_BodyPose(world, self.model._cid("body", body)))

    def body_velocity(self, body: Part) -> Spatial:
        """Velocity at the body's origin, in world axes."""
        with self._guard as world:
            return read(lib.rgWorld_BodyVelocity(world, self.model._cid("body", body)))

    def frame_pose(self, frame: Part) -> Pose:
        """Pose of a frame (also: a body, by name) in the world."""
        with self._guard as world:
            return read(lib.rgWorld_FramePose(world, self.model._cid("frame", frame)))

    def shape_pose(self, shape: Part) -> Pose:
        with self._guard as world:
            return read(lib.rgWorld_ShapePose(world, self.model._cid("shape", shape)))

    def body_poses(self) -> Tuple[np.ndarray, np.ndarray]:
        """Positions (bodies, 3) and quaternions (bodies, 4) of all bodies."""
        count = self.model.info.body_count
        rows = np.zeros((count, 7))
        with self._guard as world:
            target = ffi.from_buffer("rgPose[]", rows, require_writable=True) if count else None
            for i in range(count):
                target[i] = lib.rgWorld_BodyPose(world, {"index1": i + 1})
        return rows[:, :3], rows[:, 3:]

    def _contacts(self, world: Any) -> np.ndarray:
        count = ffi.new("int*")
        found = lib.rgWorld_Contacts(world, count)
        return structs("rgContact", found, count[0])

    @property
    def contacts(self) -> np.ndarray:
        """Contact points of the last step or forward call: a structured array of its own.

        Fields: body_a, body_b (numbers; -1: the world, which is never B), shape_a, shape_b, point, normal
        (from A to B), tangent1, tangent2, gap [m], mu, force on B [N], impulse (t1, t2, n, torsion, rolling) [N s],
        slip [m/s], state (`rigor.OPEN`, `rigor.STICK`, `rigor.SLIP`), feature, regularized, and others.
        """
        with self._guard as world:
            return self._contacts(world)

    @property
    def constraints(self) -> np.ndarray:
        """Rows other than contacts: kind, index, row, regularized, gap, impulse, force, as rgConstraintForce."""
        count = ffi.new("int*")
        with self._guard as world:
            found = lib.rgWorld_Constraints(world, count)
            return structs("rgConstraintForce", found, count[0])

    @property
    def touches(self) -> np.ndarray:
        """Pairs of shapes that press on each other, or have just stopped to: body_a, body_b, shape_a,
        shape_b, state (0 begins, 1 persists, 2 has ended), first_contact, contact_count, force on B."""
        count = ffi.new("int*")
        with self._guard as world:
            found = lib.rgWorld_Touches(world, count)
            return structs("rgTouch", found, count[0])

    def contact_wrench(self, body: Part, other: Optional[Part] = None) -> Spatial:
        """Net contact wrench on a body at its center of mass, world axes; of one other body if given
        (-1: the world)."""
        with self._guard as world:
            mine = self.model._cid("body", body)
            if other is None:
                return read(lib.rgWorld_ContactWrench(world, mine))
            index = -1 if other == -1 else self.model.id("body", other)
            return read(lib.rgWorld_PairWrench(world, mine, {"index1": index + 1}))

    def ray_cast(self, origin: Any, direction: Any, max_distance: float = np.inf,
                 ignore: Optional[Part] = None, **filters: Any) -> Optional[Record]:
        """The first shape that a ray meets: shape, body, point, normal, distance [m]; None: none.

        ignore: a body that the ray passes by. Other filters are the fields of rgQueryFilter.
        """
        start, way = vector(origin, 3, "origin"), vector(direction, 3, "direction")
        length = float(np.linalg.norm(way))
        if not length > 0 or not max_distance >= 0:
            raise ArgumentError("a ray needs a direction, and a distance that is not negative")
        ray = ffi.new("rgRay*", {"origin": tuple(start), "direction": tuple(way / length),
                                 "maxFraction": min(max_distance, 1e6)})
        c = self._filter(dict(filters, ignore=ignore), "ray")
        hit = ffi.new("rgWorldHit*")
        with self._guard as world:
            return read(hit[0]) if lib.rgWorld_RayCast(world, ray, c, hit) else None

    def _filter(self, filters: Dict[str, Any], what: str) -> Any:
        c = ffi.new("rgQueryFilter*")
        if filters.get("ignore") is not None:
            filters["ignore"] = self.model.id("body", filters["ignore"])
        fill(c, filters, what, [])
        return c

    def ray_casts(self, origins: Any, directions: Any, max_distance: float = np.inf,
                  **filters: Any) -> np.ndarray:
        """Many rays at once, such as those of a lidar: a structured array (n,) with shape, body (-1: none),
        point, normal, distance [m] (inf: nothing was met). origins and directions (n, 3), or (3,) for all;
        filters as in `ray_cast()`."""
        starts, ways = floats(origins, "origins"), floats(directions, "directions")
        try:
            rays = np.concatenate(np.broadcast_arrays(np.atleast_2d(starts), np.atleast_2d(ways)), axis=-1)
        except ValueError:
            rays = np.zeros((0, 0))
        if rays.ndim != 2 or rays.shape[1] != 6:
            raise ArgumentError(f"origins and directions must have shape (n, 3) or (3,), not {starts.shape} "
                                f"and {ways.shape}")
        lengths = np.linalg.norm(rays[:, 3:], axis=-1)
        if not (lengths > 0).all() or not np.isfinite(rays).all() or not max_distance >= 0:
            raise ArgumentError("rays need finite numbers, a direction, and a distance that is not negative")
        packed = np.empty((len(rays), 7))
        packed[:, :3], packed[:, 3:6] = rays[:, :3], rays[:, 3:] / lengths[:, None]
        packed[:, 6] = min(max_distance, 1e6)
        c = self._filter(filters, "rays")
        hits = ffi.new("rgWorldHit[]", max(len(rays), 1))
        with self._guard as world:
            lib.rgWorld_CastRays(world, pointer(packed, "rgRay[]"), len(rays), c, hits)
        return structs("rgWorldHit", hits, len(rays))

    def _geometry(self, kind: str, size: Any, rounding: float) -> Any:
        c = ffi.new("rgGeometryDef*", lib.rgDefaultGeometryDef())
        keep: List[Any] = []
        padded = np.zeros(3)
        given = np.atleast_1d(floats(size, "size"))
        padded[:given.size] = given[:3]
        fill(c, {"kind": kind, "size": padded, "rounding": rounding}, "geometry", keep)
        diagnostics = Diagnostics()
        out = ffi.new("rgGeometry**")
        diagnostics.done(lib.rgCreateGeometry(c, diagnostics.c, out), f"a {kind}")
        return ffi.gc(out[0], lib.rgDestroyGeometry)

    def shape_cast(self, kind: str, size: Any, place: Any, direction: Any, max_distance: float = 1e6, *,
                   rounding: float = 0.0, **filters: Any) -> Optional[Record]:
        """The first shape that a moving "sphere", "capsule", "box", ... meets on its path from `place` along
        `direction`, without turning: as `ray_cast()`. size as in `ModelDef.add_shape()`."""
        way = vector(direction, 3, "direction")
        length = float(np.linalg.norm(way))
        if not length > 0 or not max_distance >= 0:
            raise ArgumentError("a cast needs a direction, and a distance that is not negative")
        geometry, c = self._geometry(kind, size, rounding), self._filter(filters, "cast")
        unit = dict(zip("xyz", way / length))
        hit = ffi.new("rgWorldHit*")
        with self._guard as world:
            met = lib.rgWorld_ShapeCast(world, geometry, pose(place), unit, min(max_distance, 1e6), c, hit)
            return read(hit[0]) if met else None

    def overlaps(self, kind: str, size: Any, place: Any, *, rounding: float = 0.0,
                 **filters: Any) -> np.ndarray:
        """Numbers of the shapes that share a point with a "sphere", "capsule", "box", ... at a pose."""
        geometry, c = self._geometry(kind, size, rounding), self._filter(filters, "overlaps")
        room = self.model.info.shape_count
        found = ffi.new("rgShapeId[]", max(room, 1))
        with self._guard as world:
            count = lib.rgWorld_Overlaps(world, geometry, pose(place), c, found, room)
            return np.array([found[i].index1 - 1 for i in range(count)], int)

    @property
    def actuator_force(self) -> np.ndarray:
        """Forces of the actuators in the last step or `forward()` (nu,) [N] or [N m]."""
        count = ffi.new("int*")
        with self._guard as world:
            return numbers(lib.rgWorld_ActuatorForces(world, count), count[0])

    @property
    def actuator_torque(self) -> np.ndarray:
        """Forces of the actuators on the joints, through gears, tendons and frames (nv,)."""
        out = np.zeros(self.model.nv)
        if out.size:
            with self._guard as world:
                check(lib.rgWorld_ActuatorTorques(world, writable_pointer(out)), "actuator_torque")
        return out

    def shape_distance(self, a: Part, b: Part) -> Record:
        """Signed distance of two shapes: distance [m], point_a, point_b, normal from A to B."""
        out = ffi.new("rgProximity*")
        with self._guard as world:
            result = lib.rgWorld_ShapeDistance(world, self.model._cid("shape", a),
                                               self.model._cid("shape", b), out)
            check(result, f"distance of shapes '{a}' and '{b}'")
            return read(out[0])

    def contact_force(self, body: Part) -> np.ndarray:
        """Net contact force on a body [N], world axes, (3,)."""
        with self._guard as world:
            return read(lib.rgWorld_ContactForce(world, self.model._cid("body", body)))

    def joint_reaction(self, joint: Part) -> Spatial:
        """Force and torque of the parent on the child at the joint, world axes."""
        with self._guard as world:
            return read(lib.rgWorld_JointReaction(world, self.model._cid("joint", joint)))

    def body_reaction(self, body: Part) -> Spatial:
        """Supporting wrench of a body, from its parent or its prescribed motion, at its origin, world axes."""
        with self._guard as world:
            return read(lib.rgWorld_BodyReaction(world, self.model._cid("body", body)))

    @property
    def sensors(self) -> np.ndarray:
        """All sensor values, one after the other."""
        count = ffi.new("int*")
        with self._guard as world:
            found = lib.rgWorld_Sensors(world, count)
            return numbers(found, count[0])

    def sensor(self, sensor: Part) -> np.ndarray:
        """The values of one sensor."""
        index = self.model.id("sensor", sensor)
        values = self.sensors
        with self._guard as world:
            start = lib.rgWorld_SensorStart(world, {"index1": index + 1})
            last = index + 1 == self.model.info.sensor_count
            stop = values.size if last else lib.rgWorld_SensorStart(world, {"index1": index + 2})
        return values[start:stop]

    @property
    def kinetic_energy(self) -> float:
        """[J]"""
        with self._guard as world:
            return lib.rgWorld_KineticEnergy(world)

    @property
    def potential_energy(self) -> float:
        """Of gravity and springs [J]."""
        with self._guard as world:
            return lib.rgWorld_PotentialEnergy(world)

    @property
    def health(self) -> Record:
        """Bounds of energy, force and depth: `anomalies` is empty while none was passed."""
        with self._guard as world:
            record = read(lib.rgWorld_Health(world))
        bits = record.anomalies
        record.anomalies = tuple(name for bit, name in ((lib.rg_anomalyEnergy, "energy"),
                                                     (lib.rg_anomalyForce, "force"),
                                                     (lib.rg_anomalyDepth, "depth")) if bits & bit)
        return record

    @property
    def problem(self) -> Problem:
        """A copy of the contact problem of the last step, with the impulses found as `lam`."""
        out = ffi.new("const double**")
        with self._guard as world:
            found = lib.rgWorld_Problem(world, out)
            if found == ffi.NULL or found.rowCount == 0:
                raise ArgumentError("the last call left no contact problem: step() first")
            made = problem_from_c(found)
            made.lam = numbers(out[0], found.rowCount)
            return made

    def find_answers(self, starts: int = 8, tolerance: float = 1e-9, apart: float = 1e-4,
                     seed: int = 0) -> Record:
        """Search for other answers of the last step: `motion_differs`, `impulses_differ`, how far apart.

        `impulses` (contacts, 6) are those of the farthest answer, for set_impulses(). No other answer
        from these starts is no proof. `contact` is where it differs most, or None."""
        settings = lib.rgDefaultAnswerDef()
        settings.starts, settings.tolerance = starts, tolerance
        settings.apart, settings.seed = apart, seed
        out, count = ffi.new("rgAnswers*"), ffi.new("int*")
        with self._guard as world:
            contacts = lib.rgWorld_Contacts(world, count)
            impulses = np.zeros((count[0], 6))
            check(lib.rgWorld_FindAnswers(world, ffi.new("rgAnswerDef*", settings), pointer(impulses), out),
                  "starts from 0 on, and a tolerance above 0 and below apart")
            block, place = out.block, None
            if block >= 0:
                row = lib.rgWorld_Problem(world, ffi.NULL).blocks[block].firstRow
                place = next((i for i in range(count[0]) if contacts[i].firstRow == row), None)
        found = read(out[0])
        found.impulses, found.contact = impulses, place
        return found

    @property
    def unconverged_steps(self) -> int:
        """Steps since creation whose solve did not reach the tolerance."""
        with self._guard as world:
            return lib.rgWorld_UnconvergedSteps(world)

    @property
    def regularized_steps(self) -> int:
        """Steps since creation in which contacts or loops were regularized."""
        with self._guard as world:
            return lib.rgWorld_RegularizedSteps(world)

    @property
    def memory_use(self) -> int:
        """Bytes of the library's world."""
        with self._guard as world:
            return lib.rgWorld_MemoryUse(world)
