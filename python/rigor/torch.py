"""Steps and rollouts of rigor for PyTorch: nodes of autograd, in float64 on the CPU.

    from rigor.torch import step, rollout
    q, v = step(world, q, v, ctrl)
    qs, vs = rollout(world, q, v, controls)   # controls: (steps, nu)

Gradients are those of the exact contact law (docs/theory/step_derivatives.md). q is what `world.q` is; its
gradient has no part along the length of quaternions. Worlds keep their state, because a solve starts from the impulses
of the last step: one world, one chain of steps at a time.
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np
import torch

from .batch import Batch
from .derivatives import from_tangent, tangent
from .world import World

__all__ = ["rollout", "step"]

_BY = ("q", "v", "ctrl")


def _array(x: Any) -> np.ndarray:
    return np.ascontiguousarray(x.detach().to(dtype=torch.float64, device="cpu").numpy())


def _set(world: Any, q: np.ndarray, v: np.ndarray) -> None:
    """Setting what is there already changes nothing."""
    if not (np.array_equal(world.q, q) and np.array_equal(world.v, v)):
        world.q[:] = q
        world.v[:] = v


def _pull(model: Any, q: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """From gradients by numbers of q to those by small velocities, of one world or all of a batch."""
    if q.ndim == 1:
        return tangent(model, q).T @ gradient
    return np.stack([tangent(model, a).T @ b for a, b in zip(q, gradient)])


def _push(model: Any, q: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    if q.ndim == 1:
        return from_tangent(model, q, gradient)
    return np.stack([from_tangent(model, a, b) for a, b in zip(q, gradient)])


def _linear(world: Any, smoothing: float) -> Tuple[np.ndarray, np.ndarray]:
    d = world.derivatives(by=_BY, smoothing=smoothing)
    return d.q, d.v


def _through(matrices: Tuple[np.ndarray, np.ndarray], q_bar: np.ndarray, v_bar: np.ndarray) -> np.ndarray:
    return (np.einsum("...ij,...i->...j", matrices[0], q_bar)
            + np.einsum("...ij,...i->...j", matrices[1], v_bar))


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, world: Any, smoothing: float, q: Any, v: Any, ctrl: Any) -> Any:
        q, v = _array(q), _array(v)
        _set(world, q, v)
        world.ctrl[:] = _array(ctrl)
        ctx.matrices = _linear(world, smoothing)
        world.step()
        ctx.world, ctx.ends = world, (q, world.q.copy())
        return torch.from_numpy(ctx.ends[1].copy()), torch.from_numpy(world.v.copy())

    @staticmethod
    def backward(ctx: Any, q_bar: Any, v_bar: Any) -> Any:
        model, (q, q_next) = ctx.world.model, ctx.ends
        g = _through(ctx.matrices, _pull(model, q_next, _array(q_bar)), _array(v_bar))
        nv = model.nv
        return (None, None, torch.from_numpy(_push(model, q, g[..., :nv])),
                torch.from_numpy(g[..., nv:2 * nv].copy()), torch.from_numpy(g[..., 2 * nv:].copy()))


def step(world: Any, q: Any, v: Any, ctrl: Any, smoothing: float = 0) -> Tuple[Any, Any]:
    """One step of a World or a Batch from q, v with ctrl: the new q and v. smoothing: as in `World.derivatives()`."""
    if not isinstance(world, (World, Batch)):
        raise TypeError(f"step() takes a rigor.World or a rigor.Batch, not {type(world).__name__}")
    return _Step.apply(world, float(smoothing), q, v, ctrl)


class _Rollout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, world: Any, every: int, smoothing: float, q: Any, v: Any, controls: Any) -> Any:
        q, v, controls = _array(q), _array(v), _array(controls)
        _set(world, q, v)
        ctx.world = world
        ctx.tape = world.tape(_turned(world, controls), len(controls), every, smoothing=smoothing)
        ctx.qs = _turned(world, ctx.tape.q)
        return torch.from_numpy(ctx.qs.copy()), torch.from_numpy(_turned(world, ctx.tape.v).copy())

    @staticmethod
    def backward(ctx: Any, qs_bar: Any, vs_bar: Any) -> Any:
        world, model = ctx.world, ctx.world.model
        vs_bar = _array(vs_bar)
        bars = np.stack([_pull(model, q, bar) for q, bar in zip(ctx.qs, _array(qs_bar))])
        g = ctx.tape.vjp(_turned(world, bars[1:]), _turned(world, vs_bar[1:]))
        return (None, None, None, torch.from_numpy(_push(model, ctx.qs[0], g["q"] + bars[0])),
                torch.from_numpy(g["v"] + vs_bar[0]), torch.from_numpy(_turned(world, g["ctrl"]).copy()))


def _turned(world: Any, array: np.ndarray) -> np.ndarray:
    """Steps in front here, worlds of a batch in front there."""
    return array if isinstance(world, World) else np.swapaxes(array, 0, 1)


def rollout(world: Any, q: Any, v: Any, controls: Any, every: int = 1, smoothing: float = 0) -> Tuple[Any, Any]:
    """Steps with one row of controls each: q and v of the start and after every step, (steps + 1, ...).

    One node of autograd, on a tape (`World.tape()`): states are kept at every `every`-th step, and steps
    between them taken again when gradients are computed.
    """
    if not isinstance(world, (World, Batch)):
        raise TypeError(f"rollout() takes a rigor.World or a rigor.Batch, not {type(world).__name__}")
    if every < 1:
        raise ValueError(f"every={every}: at least 1")
    return _Rollout.apply(world, int(every), float(smoothing), q, v, controls)
