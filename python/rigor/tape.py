"""Rollouts of a world or a batch that gradients go back through: `World.tape()`, `Batch.tape()`."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from ._core import ArgumentError, check, ffi, floats, lib, numbers, pointer, refuse_pickle, whole
from .derivatives import By, Columns, _bar, _to

__all__ = ["Tape"]


class Tape:
    """A rollout, and gradients through all its steps.

    `q` and `v` are the states before the first and after every step: (steps + 1, nq) and (steps + 1, nv), with
    the worlds of a batch in front. Gradients are those of the exact contact law
    (docs/theory/step_derivatives.md). The world has to stay as it is, but for its state.
    """

    def __init__(self, of: Any, ctrl: Any, steps: Optional[int], every: int, by: By, held_gaps: bool,
                 smoothing: float) -> None:
        model, self._of = of.model, of
        self._lead: Tuple[int, ...] = (of.count,) if hasattr(of, "count") else ()
        names = (by,) if isinstance(by, str) else tuple(by)
        columns = Columns(model, names)
        if columns.c.by & ~lib.rg_byParameters:
            raise ArgumentError(f"by={names!r}: gradients by starts and controls are always there; name numbers "
                                "of the model")
        c = ffi.new("rgTapeDef*", lib.rgDefaultTapeDef())
        if ctrl is not None:
            controls = floats(ctrl, "ctrl")
            if controls.ndim != len(self._lead) + 2:
                raise ArgumentError(f"ctrl of shape {controls.shape}: {self._lead + ('steps', model.nu)} is needed")
            count = controls.shape[-2] if steps is None else whole(steps, "steps")
            shape = self._lead + (count, model.nu)
            if controls.shape != shape:
                raise ArgumentError(f"ctrl must have shape {shape}, not {controls.shape}")
            if not np.isfinite(controls).all():
                raise ArgumentError("ctrl is not finite")
            controls = np.ascontiguousarray(controls)
            c.controls, c.controlCount = pointer(controls), controls.size
        elif steps is None:
            raise ArgumentError("tape() needs ctrl or steps")
        else:
            count = whole(steps, "steps")
        if count < 0 or whole(every, "every") < 1:
            raise ArgumentError(f"steps ({count}) must be 0 or more, and every ({every}) 1 or more")
        c.stepCount, c.stateInterval = count, every
        c.heldGaps, c.smoothing = held_gaps, smoothing
        c.parameters, c.parameterCount = columns.c.parameters, columns.c.parameterCount
        self.steps, self._columns = count, columns
        out = ffi.new("rgTape**")
        with of._guard as inner:
            if self._lead:
                result = lib.rgBatch_Record(inner, c, ffi.NULL, out)
            else:
                result = lib.rgWorld_Record(inner, c, out)
            check(result, "tape")
        self._c = ffi.gc(out[0], lib.rgDestroyTape)
        self.q = self._states(lib.rgTape_Positions, model.nq)  #: (steps + 1, nq)
        self.v = self._states(lib.rgTape_Velocities, model.nv)  #: (steps + 1, nv)

    __reduce_ex__ = refuse_pickle

    def __repr__(self) -> str:
        return f"<rigor.Tape of {self.steps} steps, {self.nbytes} bytes>"

    def _states(self, read: Any, width: int) -> np.ndarray:
        rows = [numbers(read(self._c, i), (self.steps + 1) * width).reshape(self.steps + 1, width)
                for i in range(self._lead[0] if self._lead else 1)]
        return np.stack(rows) if self._lead else rows[0]

    @property
    def nbytes(self) -> int:
        """Memory of the tape [bytes]."""
        return lib.rgTape_MemoryUse(self._c)

    def vjp(self, q_bar: Any = None, v_bar: Any = None) -> Dict[str, np.ndarray]:
        """From a gradient by the states after every step, q_bar (steps, nv) by small velocities and v_bar
        (steps, nv), to gradients by the start, "q" and "v" (nv,), by "ctrl" (steps, nu), and by the numbers of
        the model that were named. The state stays."""
        model, lead = self._of.model, self._lead
        bars = [_bar(b, lead + (self.steps, model.nv), name) for b, name in ((q_bar, "q_bar"), (v_bar, "v_bar"))]
        start = np.zeros(lead + (2 * model.nv,))
        ctrl = np.zeros(lead + (self.steps, model.nu))
        parameters = np.zeros(lead + (self._columns.count,))
        c = ffi.new("rgTapeGradient*")
        c.qBar, c.vBar = (pointer(b) for b in bars)
        c.start, c.controls, c.parameters = _to(start), _to(ctrl), _to(parameters)
        with self._of._guard as inner:
            call = lib.rgTape_BatchGradient if lead else lib.rgTape_WorldGradient
            check(call(self._c, inner, c), "gradient")
        out = {"q": start[..., :model.nv], "v": start[..., model.nv:], "ctrl": ctrl}
        out.update((name, parameters[..., place]) for name, place in self._columns.slices.items())
        return out
