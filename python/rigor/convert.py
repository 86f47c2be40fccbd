"""States in the conventions of MuJoCo and Pinocchio, both ways.

| | rigor | MuJoCo | Pinocchio |
|---|---|---|---|
| quaternion in q | w x y z | w x y z | x y z w |
| free joint, linear velocity | body axes | world axes | body axes |
| free joint, angular velocity | body axes | body axes | body axes |
| joint without limits (URDF continuous) | angle | angle | cos, sin |
| planar joint, q | x, y, angle | (none) | x, y, cos, sin |
| planar joint, v | rates of x, y, angle | (none) | body axes |
| order of joints | depth first, as in the file | depth first, as in the file | children by name (URDF) |
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ._core import ArgumentError, Record, lib, pointer, vector, writable_pointer
from .model import Model

State = Tuple[np.ndarray, np.ndarray]


# ---- MuJoCo


def to_mujoco(model: Model, q: Any, v: Any) -> State:
    """qpos (nq,) and qvel (nv,) of a MuJoCo model of the same MJCF file."""
    q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
    qvel = np.zeros(model.nv)
    lib.rgModel_StepVelocity(model._model, pointer(q), pointer(v), writable_pointer(qvel))
    return q.copy(), qvel


def from_mujoco(model: Model, qpos: Any, qvel: Any) -> State:
    """q (nq,) and v (nv,) from MuJoCo's qpos and qvel; quaternions are normalized."""
    q = vector(qpos, model.nq, "qpos").copy()
    _normalize(model, q)
    qvel = vector(qvel, model.nv, "qvel")
    v = np.zeros(model.nv)
    lib.rgModel_BodyVelocity(model._model, pointer(q), pointer(qvel), writable_pointer(v))
    return q, v


def _quaternion(joint: Record) -> Optional[slice]:
    """Place of a joint's quaternion in q."""
    if joint.kind == "free":
        return slice(joint.q.start + 3, joint.q.start + 7)
    return joint.q if joint.kind == "spherical" else None


def _normalize(model: Model, q: np.ndarray) -> None:
    for joint in _joints(model):
        place = _quaternion(joint)
        if place is not None:
            length = np.linalg.norm(q[place])
            if length == 0:
                raise ArgumentError(f"the quaternion of joint '{joint.name}' has no length")
            q[place] /= length


# ---- Pinocchio


def _joints(model: Model, names: Optional[Sequence[str]] = None) -> List[Record]:
    found = [model.joint(i) for i in range(len(model.joint_names))]
    found = [j for j in found if j.kind != "fixed"]
    if names is None:
        return sorted(found, key=lambda j: j.q.start)
    named = {j.name: j for j in found}
    # Pinocchio calls the root's joint so, whatever the file does.
    free = [j for j in found if j.kind in ("free", "planar") and j.name not in names]
    if "root_joint" in names and "root_joint" not in named and len(free) == 1:
        named["root_joint"] = free[0]
    missing = [n for n in names if n not in named]
    if missing or len(names) != len(found):
        raise ArgumentError(f"joints must name all {len(found)} moving joints of '{model.name}' once"
                            + (f"; it has no joint '{missing[0]}'" if missing else ""))
    return [named[n] for n in names]


def _is_unbounded(joint: Record) -> bool:
    return joint.kind == "revolute" and not joint.has_limits


def to_pinocchio(model: Model, q: Any, v: Any, joints: Optional[Sequence[str]] = None,
                 cos_sin: bool = True) -> State:
    """q and v of a Pinocchio model of the same robot.

    joints: names in Pinocchio's order, `list(pin_model.names)[1:]`; None: the order is the same.
    cos_sin: revolute joints without limits have two coordinates there, as URDF's continuous joints do;
    False for models that Pinocchio built with plain revolute joints.
    """
    q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
    positions: List[Any] = []
    velocities: List[Any] = []
    for joint in _joints(model, joints):
        here, rate = q[joint.q], v[joint.v].copy()
        if joint.kind == "free":
            here = np.r_[here[:3], here[4:], here[3]]
        elif joint.kind == "spherical":
            here = np.r_[here[1:], here[0]]
        elif joint.kind == "planar":
            c, s = np.cos(here[2]), np.sin(here[2])
            rate[:2] = c * rate[0] + s * rate[1], c * rate[1] - s * rate[0]
            here = np.r_[here[:2], c, s]
        elif cos_sin and _is_unbounded(joint):
            here = np.r_[np.cos(here), np.sin(here)]
        positions.append(here)
        velocities.append(rate)
    return np.concatenate(positions or [np.zeros(0)]), np.concatenate(velocities or [np.zeros(0)])


def from_pinocchio(model: Model, q: Any, v: Any, joints: Optional[Sequence[str]] = None,
                   cos_sin: bool = True) -> State:
    """q (nq,) and v (nv,) from Pinocchio's; the inverse of `to_pinocchio()`. Angles of joints without
    limits come back within half a turn."""
    order = _joints(model, joints)
    sizes = [_pinocchio_size(j, cos_sin) for j in order]
    given, rates = vector(q, sum(sizes), "q"), vector(v, model.nv, "v")
    out, out_v = np.zeros(model.nq), np.zeros(model.nv)
    at = at_v = 0
    for joint, size in zip(order, sizes):
        here = given[at:at + size]
        rate = rates[at_v:at_v + joint.v.stop - joint.v.start].copy()
        at, at_v = at + size, at_v + rate.size
        if joint.kind == "free":
            here = np.r_[here[:3], here[6], here[3:6]]
        elif joint.kind == "spherical":
            here = np.r_[here[3], here[:3]]
        elif joint.kind == "planar":
            c, s = here[2:] / np.hypot(here[2], here[3])
            rate[:2] = c * rate[0] - s * rate[1], s * rate[0] + c * rate[1]
            here = np.r_[here[:2], np.arctan2(s, c)]
        elif size == 2:
            here = np.arctan2(here[1], here[0])
        out[joint.q], out_v[joint.v] = here, rate
    _normalize(model, out)
    return out, out_v


def _pinocchio_size(joint: Record, cos_sin: bool) -> int:
    own = joint.q.stop - joint.q.start
    return own + (joint.kind == "planar" or (cos_sin and _is_unbounded(joint)))
