"""Derivatives of a step: linear models, gradients, and the tangents of configurations."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._core import ArgumentError, check, ffi, lib, numbers, pointer

__all__ = ["Derivatives", "tangent", "to_tangent", "from_tangent"]

_BLOCKS = (("q", "rg_byPosition"), ("v", "rg_byVelocity"), ("ctrl", "rg_byControl"), ("force", "rg_byForce"))
_QUANTITIES = {
    "friction": ("rg_quantityFriction", "shape"), "restitution": ("rg_quantityRestitution", "shape"),
    "mass": ("rg_quantityMass", "body"), "inertia": ("rg_quantityInertia", "body"),
    "damping": ("rg_quantityDamping", "joint"), "stiffness": ("rg_quantityStiffness", "joint"),
    "armature": ("rg_quantityArmature", "joint"), "dry_friction": ("rg_quantityDryFriction", "joint"),
    "kp": ("rg_quantityPositionGain", "actuator"), "kd": ("rg_quantityVelocityGain", "actuator"),
    "gain": ("rg_quantityGain", "actuator"),
}
By = Union[str, Sequence[str]]


class Derivatives:
    """The linear model of a step.

    `q` and `v` are the changes of the new position (as a small velocity, `Model.difference()`) and of the
    new velocity, (nv, columns) or (count, nv, columns) of a batch; `sensor` those of `World.sensors` after the
    step, (sensor numbers, columns); `trend` (2 nv, columns) and `impulse` on request. `columns` has the columns
    of each block: `d.v[:, d.columns["ctrl"]]`. Counts, per world of a batch: `between_modes`, `touching`,
    `inconsistent`, `redundant`, `frozen`; `frozen_why` names the first term that was left out, `margin` is the
    relative distance of the nearest contact from another mode.
    """

    def __init__(self, columns: Dict[str, slice], q: np.ndarray, v: np.ndarray, answers: List[Any],
                 stacked: bool) -> None:
        self.columns, self.q, self.v = columns, q, v
        for ours, theirs in (("between_modes", "betweenModes"), ("touching", "touching"),
                             ("inconsistent", "inconsistent"), ("redundant", "redundant"),
                             ("frozen", "frozen"), ("margin", "margin")):
            values = [getattr(a, theirs) for a in answers]
            setattr(self, ours, np.array(values) if stacked else values[0])
        why = [ffi.string(a.frozenWhy).decode() if a.frozenWhy != ffi.NULL else None for a in answers]
        self.frozen_why: Any = why if stacked else why[0]
        self.impulse: Optional[np.ndarray] = None
        self.sensor: Optional[np.ndarray] = None
        self.trend: Optional[np.ndarray] = None

    def __repr__(self) -> str:
        return f"<rigor.Derivatives by {', '.join(self.columns)}, {self.v.shape}>"


class Columns:
    """Variables to differentiate by, as rgDerivativeDef: blocks "q", "v", "ctrl", "force", numbers of the
    model, then "trend": the part of the state from earlier steps. Numbers are "KIND:PART": mass:BODY,
    inertia:BODY:0 to :9, friction:SHAPE, restitution:SHAPE, damping:JOINT, stiffness:JOINT, armature:JOINT,
    dry_friction:JOINT, kp:ACTUATOR, kd:ACTUATOR, gain:ACTUATOR; friction and restitution alone are those of all
    pairs."""

    def __init__(self, model: Any, by: By, **options: Any) -> None:
        names = (by,) if isinstance(by, str) else tuple(by)
        self.c = ffi.new("rgDerivativeDef*", lib.rgDefaultDerivativeDef())
        self.c.by = 0
        for name, flag in _BLOCKS:
            if name in names:
                self.c.by |= getattr(lib, flag)
        trend = ["trend"] if "trend" in names else []
        self.c.by |= lib.rg_byTrend if trend else 0
        quantities = [name for name in names if name not in dict(_BLOCKS) and name not in trend]
        if len(set(names)) != len(names):
            raise ArgumentError(f"by={names!r} has a name twice")
        if quantities:
            self.c.by |= lib.rg_byParameters
            self._parameters = ffi.new("rgQuantity[]", [self._quantity(model, name) for name in quantities])
            self.c.parameters, self.c.parameterCount = self._parameters, len(quantities)
        for name, value in options.items():
            setattr(self.c, name, value)
        widths = {"q": model.nv, "v": model.nv, "ctrl": model.nu, "force": model.nv, "trend": 2 * model.nv}
        self.slices: Dict[str, slice] = {}
        self.count = 0
        for name in [n for n, _ in _BLOCKS if n in names] + quantities + trend:
            width = widths.get(name, 1)
            self.slices[name] = slice(self.count, self.count + width)
            self.count += width

    @staticmethod
    def _quantity(model: Any, name: str) -> Dict[str, int]:
        kind, *rest = name.split(":")
        if kind not in _QUANTITIES:
            known = [n for n, _ in _BLOCKS] + sorted(_QUANTITIES) + ["trend"]
            raise ArgumentError(f"by: '{name}' is none of " + ", ".join(known))
        flag, part = _QUANTITIES[kind]
        element = 0
        if kind == "inertia":
            if len(rest) < 2 or not rest[-1].isdigit():
                raise ArgumentError(f"by: '{name}' needs a body and an element: inertia:BODY:0 to inertia:BODY:9")
            element = int(rest.pop())
        if not rest and kind in ("friction", "restitution"):
            index = -1
        elif not rest:
            raise ArgumentError(f"by: '{name}' needs a {part}: {kind}:NAME")
        else:
            index = model.id(part, ":".join(rest))
        return {"kind": getattr(lib, flag), "index": index, "element": element}


def world_derivatives(world: Any, columns: Columns) -> Derivatives:
    model, out = world.model, ffi.new("rgDerivatives*")
    with world._guard as c:
        check(lib.rgWorld_Derivatives(c, columns.c, out), "derivatives")
        shape = (model.nv, out.columnCount)
        count = shape[0] * shape[1]
        d = Derivatives(columns.slices, numbers(out.nextQ, count).reshape(shape),
                        numbers(out.nextV, count).reshape(shape), [out[0]], False)
        if out.impulse != ffi.NULL:
            d.impulse = numbers(out.impulse, out.rowCount * shape[1]).reshape(out.rowCount, shape[1])
        if columns.c.sensors:
            d.sensor = numbers(out.sensor, out.sensorCount * shape[1]).reshape(out.sensorCount, shape[1])
        if out.nextTrend != ffi.NULL:
            d.trend = numbers(out.nextTrend, 2 * count).reshape(2 * model.nv, shape[1])
    return d


def _gradient(shape: Tuple[int, ...], nv: int, sensors: int, bars: Sequence[Any]) -> Tuple[Any, List[np.ndarray]]:
    """rgStepGradient, and what it points to."""
    c, keep = ffi.new("rgStepGradient*"), []
    for name, value, count in zip(("q_bar", "v_bar", "trend_bar", "sensor_bar"), bars, (nv, nv, 2 * nv, sensors)):
        if value is not None:
            keep.append(_bar(value, shape + (count,), name))
            field = name.replace("_b", "B")
            setattr(c, field, pointer(keep[-1]) if keep[-1].size else ffi.new("double[1]"))
    return c, keep


def world_vjp(world: Any, columns: Columns, bars: Sequence[Any]) -> Dict[str, np.ndarray]:
    gradient, keep = _gradient((), world.model.nv, world.model.sensor_size, bars)
    out = np.zeros(columns.count)
    with world._guard as c:
        check(lib.rgWorld_Adjoint(c, columns.c, gradient, _to(out), ffi.NULL), "gradient")
    del keep
    return {name: out[place] for name, place in columns.slices.items()}


def world_jvp(world: Any, directions: Dict[str, Any]) -> Tuple[np.ndarray, np.ndarray]:
    columns = Columns(world.model, tuple(directions))
    direction = np.zeros(columns.count)
    for name, value in directions.items():
        direction[columns.slices[name]] = value
    q, v = np.zeros(world.model.nv), np.zeros(world.model.nv)
    with world._guard as c:
        check(lib.rgWorld_DirectionalDerivative(c, columns.c, _to(direction), _to(q), _to(v), ffi.NULL), "direction")
    return q, v


def batch_derivatives(batch: Any, columns: Columns, mask: Any) -> Derivatives:
    shape = (batch.count, batch.model.nv, columns.count)
    q, v = np.zeros(shape), np.zeros(shape)
    sensor = np.zeros((batch.count, batch.model.sensor_size if columns.c.sensors else 0, columns.count))
    trend = np.zeros((batch.count, 2 * batch.model.nv if "trend" in columns.slices else 0, columns.count))
    matrices = ffi.new("rgBatchMatrices*", {"nextQ": _to(q), "nextV": _to(v), "nextTrend": _to(trend),
                                            "sensor": _to(sensor)})
    answers = ffi.new("rgDerivatives[]", batch.count)
    c_mask, keep = batch._mask(mask)
    with batch._guard as c:
        check(lib.rgBatch_Derivatives(c, columns.c, matrices, answers, c_mask), "derivatives")
    del keep
    d = Derivatives(columns.slices, q, v, list(answers), True)
    d.sensor = sensor if columns.c.sensors else None
    d.trend = trend if "trend" in columns.slices else None
    return d


def batch_vjp(batch: Any, columns: Columns, bars: Sequence[Any], mask: Any) -> Dict[str, np.ndarray]:
    gradient, kept = _gradient((batch.count,), batch.model.nv, batch.model.sensor_size, bars)
    out = np.zeros((batch.count, columns.count))
    c_mask, keep = batch._mask(mask)
    with batch._guard as c:
        check(lib.rgBatch_Adjoint(c, columns.c, gradient, _to(out), ffi.NULL, c_mask), "gradient")
    del keep, kept
    return {name: out[:, place] for name, place in columns.slices.items()}


def _to(array: np.ndarray) -> Any:
    return ffi.from_buffer("double[]", array, require_writable=True) if array.size else ffi.new("double[1]")


def _bar(value: Any, shape: Tuple[int, ...], name: str) -> np.ndarray:
    array = np.zeros(shape) if value is None else np.ascontiguousarray(value, dtype=np.float64)
    if array.shape != shape:
        raise ArgumentError(f"{name} must have shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise ArgumentError(f"{name} is not finite")
    return array


# ---- tangents of configurations: what gradients by the numbers of q have to do with small velocities

def _joints(model: Any) -> List[Tuple[slice, slice]]:
    places = []
    for j in range(len(model.joint_names)):
        place = lib.rgModel_JointRange(model._model, {"index1": j + 1})
        if place.vCount > 0:
            places.append((slice(place.q, place.q + place.qCount), slice(place.v, place.v + place.vCount)))
    return places


def _rotation(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def _spin(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q
    return 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])


def tangent(model: Any, q: Any) -> np.ndarray:
    """dq/d(small velocity), (nq, nv): the derivative of `model.integrate(q, x, 1)` at x = 0."""
    q = np.asarray(q, dtype=np.float64)
    T = np.zeros((model.nq, model.nv))
    for at, to in _joints(model):
        if at.stop - at.start == 7:
            T[at.start:at.start + 3, to.start:to.start + 3] = _rotation(q[at.start + 3:at.stop])
            T[at.start + 3:at.stop, to.start + 3:to.stop] = _spin(q[at.start + 3:at.stop])
        elif at.stop - at.start == 4:
            T[at, to] = _spin(q[at])
        else:
            T[at, to] = np.eye(at.stop - at.start)
    return T


def to_tangent(model: Any, q: Any, gradient: Any) -> np.ndarray:
    """A gradient by the numbers of q, (nq,), as one by a small velocity, (nv,)."""
    return tangent(model, q).T @ np.asarray(gradient, dtype=np.float64)


def from_tangent(model: Any, q: Any, gradient: Any) -> np.ndarray:
    """A gradient by a small velocity as one by the numbers of q; none along the length of quaternions."""
    T = tangent(model, q)
    return T @ (np.asarray(gradient, dtype=np.float64) / np.sum(T * T, axis=0))
