"""Arrays with the state of a world or of many; values written into them are used."""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as np

from ._core import ffi


def live_array(count: int) -> Tuple[np.ndarray, Any]:
    """An array whose memory nobody can move or free while the array or the pointer lives."""
    memory = bytearray(8 * count)
    array = np.frombuffer(memory, dtype=np.float64)
    return array, ffi.from_buffer("double[]", memory, require_writable=True)


class LiveArrays:
    """The arrays that `World` has, and `Batch` with one row per world."""

    _arrays: List[np.ndarray]

    def _assign(self, index: int, name: str, value: Any) -> None:
        raise NotImplementedError

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,): angles [rad], lengths [m], free joints as position and quaternion w x y z."""
        return self._arrays[0]

    @q.setter
    def q(self, value: Any) -> None:
        self._assign(0, "q", value)

    @property
    def v(self) -> np.ndarray:
        """Velocity (nv,): free joints linear, then angular, both in the body frame."""
        return self._arrays[1]

    @v.setter
    def v(self, value: Any) -> None:
        self._assign(1, "v", value)

    @property
    def ctrl(self) -> np.ndarray:
        """One control per actuator (nu,); stays until changed."""
        return self._arrays[2]

    @ctrl.setter
    def ctrl(self, value: Any) -> None:
        self._assign(2, "ctrl", value)

    @property
    def force(self) -> np.ndarray:
        """Generalized forces beside the actuators (nv,) [N, N m], in the conventions of v."""
        return self._arrays[3]

    @force.setter
    def force(self, value: Any) -> None:
        self._assign(3, "force", value)
