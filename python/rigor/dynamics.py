"""Rigid-body algorithms on a model, without contacts: kinematics, Jacobians, mass matrix, RNEA, ABA."""

from __future__ import annotations

import threading
from typing import Any, Tuple

import numpy as np

from ._core import (ArgumentError, BusyError, Fixed, Pose, Record, Spatial, check, enum_value, ffi, fill,
                    lib, pointer, read, refuse_pickle, vector, writable_pointer)
from .model import Model, Part

_BUSY = "another thread is using this Dynamics; give each thread its own"


class _Lock:
    """Not reentrant, never blocks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(False):
            raise BusyError(_BUSY)

    def __exit__(self, *_: Any) -> None:
        self._lock.release()


class Dynamics:
    """Workspace of one thread for one model. Set a state, then call methods; shared intermediate results are computed
    once. gravity [m/s^2]: the model's own unless given."""

    _instead_of_pickle = "make one there of the same model"

    model = Fixed[Model]()

    def __init__(self, model: Model, gravity: Any = None) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"Dynamics is made of a rigor.Model, not of {type(model).__name__}")
        self.model = model
        c = ffi.new("rgDynamicsDef*", lib.rgDefaultDynamicsDef(model._model))
        fill(c, {"gravity": gravity}, "dynamics", [])
        out = ffi.new("rgPyDynamics**")
        check(lib.rgPyCreateDynamics(model._c, c, out), "dynamics")
        self._owner = ffi.gc(out[0], lib.rgPyReleaseDynamics)
        self._c = lib.rgPyDynamics_Dynamics(self._owner)
        self._lock = _Lock()
        self.set_state(model.neutral())

    __reduce_ex__ = refuse_pickle

    def set_state(self, q: Any, v: Any = None) -> "Dynamics":
        """Forward kinematics from q (nq,) and v (nv,; None: rest)."""
        q = vector(q, self.model.nq, "q")
        v = np.zeros(self.model.nv) if v is None else vector(v, self.model.nv, "v")
        with self._lock:
            lib.rgDynamics_SetState(self._c, pointer(q), pointer(v))
        return self

    def set_accelerations(self, a: Any) -> "Dynamics":
        """Rate of v (nv,), which `frame_acceleration()` needs."""
        a = vector(a, self.model.nv, "a")
        with self._lock:
            lib.rgDynamics_SetAccelerations(self._c, pointer(a))
        return self

    def body_pose(self, body: Part) -> Pose:
        with self._lock:
            return read(lib.rgDynamics_BodyPose(self._c, self.model._cid("body", body)))

    def frame_pose(self, frame: Part) -> Pose:
        with self._lock:
            return read(lib.rgDynamics_FramePose(self._c, self.model._cid("frame", frame)))

    def _reference(self, reference: str) -> int:
        return enum_value(ffi.typeof("rgReference"), reference, "reference")

    def frame_velocity(self, frame: Part, reference: str = "local") -> Spatial:
        """Velocity of a frame in "local", "world" or "aligned" (at the frame, in world axes) form."""
        kind = self._reference(reference)
        with self._lock:
            return read(lib.rgDynamics_FrameVelocity(self._c, self.model._cid("frame", frame), kind))

    def frame_acceleration(self, frame: Part, reference: str = "local") -> Spatial:
        """Rate of that velocity, without gravity."""
        kind = self._reference(reference)
        with self._lock:
            return read(lib.rgDynamics_FrameAcceleration(self._c, self.model._cid("frame", frame),
                                                         kind))

    def frame_jacobian(self, frame: Part, reference: str = "local") -> np.ndarray:
        """(6, nv): three rows for the linear velocity, three for the angular one."""
        jacobian = np.zeros((6, self.model.nv))
        kind = self._reference(reference)
        with self._lock:
            lib.rgDynamics_FrameJacobian(self._c, self.model._cid("frame", frame), kind,
                                         writable_pointer(jacobian))
        return jacobian

    def _vector(self, function: Any, *arguments: Any) -> np.ndarray:
        out = np.zeros(self.model.nv)
        with self._lock:
            function(self._c, *arguments, writable_pointer(out))
        return out

    def inverse_dynamics(self, a: Any) -> np.ndarray:
        """RNEA: tau = M a + b, (nv,)."""
        a = vector(a, self.model.nv, "a")
        return self._vector(lib.rgDynamics_InverseDynamics, pointer(a), ffi.NULL)

    def bias(self) -> np.ndarray:
        """b(q, v): Coriolis, centrifugal and gravity terms, (nv,)."""
        return self._vector(lib.rgDynamics_Bias)

    def gravity_torque(self) -> np.ndarray:
        """b(q, 0), (nv,)."""
        return self._vector(lib.rgDynamics_GravityTorque)

    def forward_dynamics(self, tau: Any = None) -> np.ndarray:
        """ABA: a = M^-1 (tau - b), (nv,)."""
        tau = np.zeros(self.model.nv) if tau is None else vector(tau, self.model.nv, "tau")
        out = np.zeros(self.model.nv)
        with self._lock:
            check(lib.rgDynamics_ForwardDynamics(self._c, pointer(tau), ffi.NULL,
                                                 writable_pointer(out)), "forward dynamics")
        return out

    def inverse_dynamics_derivatives(self, a: Any) -> Tuple[np.ndarray, np.ndarray]:
        """Derivatives of `inverse_dynamics(a)` by q, a small velocity as in `Model.integrate()`, and by v: (nv, nv)
        each. By a it is the mass matrix."""
        a = vector(a, self.model.nv, "a")
        by_q, by_v = (np.zeros((self.model.nv, self.model.nv)) for _ in range(2))
        with self._lock:
            check(lib.rgDynamics_InverseDynamicsDerivatives(self._c, pointer(a), ffi.NULL, writable_pointer(by_q),
                                                            writable_pointer(by_v)), "derivatives")
        return by_q, by_v

    def forward_dynamics_derivatives(self, tau: Any = None) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Derivatives of `forward_dynamics(tau)` by q, by v and by tau: (nv, nv) each."""
        tau = np.zeros(self.model.nv) if tau is None else vector(tau, self.model.nv, "tau")
        by_q, by_v, by_tau = (np.zeros((self.model.nv, self.model.nv)) for _ in range(3))
        with self._lock:
            check(lib.rgDynamics_ForwardDynamicsDerivatives(
                self._c, pointer(tau), ffi.NULL, writable_pointer(by_q), writable_pointer(by_v),
                writable_pointer(by_tau)), "derivatives")
        return by_q, by_v, by_tau

    def mass_matrix(self) -> np.ndarray:
        """CRBA: M with armature, (nv, nv)."""
        out = np.zeros((self.model.nv, self.model.nv))
        with self._lock:
            lib.rgDynamics_MassMatrix(self._c, writable_pointer(out))
        return out

    @property
    def center(self) -> np.ndarray:
        """Center of mass [m], (3,)."""
        with self._lock:
            return read(lib.rgDynamics_Center(self._c))

    @property
    def center_velocity(self) -> np.ndarray:
        """[m/s], (3,)."""
        with self._lock:
            return read(lib.rgDynamics_CenterVelocity(self._c))

    def center_jacobian(self) -> np.ndarray:
        """(3, nv)."""
        out = np.zeros((3, self.model.nv))
        with self._lock:
            lib.rgDynamics_CenterJacobian(self._c, writable_pointer(out))
        return out

    @property
    def momentum(self) -> Spatial:
        """Linear [N s], and angular about the center of mass [N m s]."""
        with self._lock:
            return read(lib.rgDynamics_Momentum(self._c))

    def momentum_matrix(self) -> np.ndarray:
        """Centroidal momentum matrix (6, nv): that momentum is the matrix times v."""
        out = np.zeros((6, self.model.nv))
        if out.size:
            with self._lock:
                lib.rgDynamics_MomentumMatrix(self._c, writable_pointer(out))
        return out

    def operational_inertia(self, jacobian: Any) -> np.ndarray:
        """(J M^-1 J')^-1 of a task with the Jacobian (rows, nv)."""
        J = np.ascontiguousarray(jacobian, dtype=np.float64)
        if J.ndim != 2 or J.shape[1] != self.model.nv:
            raise ArgumentError(f"the Jacobian must have shape (rows, {self.model.nv}), not {J.shape}")
        out = np.zeros((J.shape[0], J.shape[0]))
        if out.size:
            with self._lock:
                check(lib.rgDynamics_OperationalInertia(self._c, J.shape[0], pointer(J),
                                                        writable_pointer(out)),
                      "a direction of the task cannot move by itself")
        return out

    def point_jacobian(self, body: Part, point: Any) -> np.ndarray:
        """(6, nv) of a point of a body that is at `point` in the world now; world axes."""
        place = dict(zip("xyz", vector(point, 3, "point")))
        out = np.zeros((6, self.model.nv))
        with self._lock:
            if out.size:
                lib.rgDynamics_PointJacobian(self._c, self.model._cid("body", body), place,
                                             writable_pointer(out))
        return out

    def point_velocity(self, body: Part, point: Any) -> Spatial:
        """Velocity of that point, and the body's angular one; world axes."""
        place = dict(zip("xyz", vector(point, 3, "point")))
        with self._lock:
            return read(lib.rgDynamics_PointVelocity(self._c, self.model._cid("body", body), place))

    def tendon_length(self, tendon: Part) -> float:
        """[m]"""
        with self._lock:
            return lib.rgDynamics_TendonLength(self._c, self.model._cid("tendon", tendon))

    def tendon_jacobian(self, tendon: Part) -> np.ndarray:
        """Moment arms (nv,): the length's rate is their product with v."""
        return self._vector(lib.rgDynamics_TendonJacobian, self.model._cid("tendon", tendon))

    @property
    def energy(self) -> Record:
        """kinetic, potential, spring [J]."""
        with self._lock:
            return read(lib.rgDynamics_Energy(self._c))
