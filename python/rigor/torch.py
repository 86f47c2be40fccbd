"""Steps and rollouts of rigor for PyTorch: nodes of autograd, in float64 on the CPU.

    from rigor.torch import step, rollout
    q, v = step(world, q, v, ctrl)
    qs, vs = rollout(world, q, v, controls)   # controls: (steps, nu)

Gradients are those of the exact contact law (docs/theory/step_derivatives.md). q is what `world.q` is; its
gradient has no part along the length of quaternions. Worlds keep their state, as impulses of the last
step are where the next solve starts: one world, one chain of steps at a time.
"""

from __future__ import annotations

from typing import Any, List, Tuple

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


def _linear(world: Any) -> Tuple[np.ndarray, np.ndarray]:
    d = world.derivatives(by=_BY)
    return d.q, d.v


def _through(matrices: Tuple[np.ndarray, np.ndarray], q_bar: np.ndarray, v_bar: np.ndarray) -> np.ndarray:
    return (np.einsum("...ij,...i->...j", matrices[0], q_bar)
            + np.einsum("...ij,...i->...j", matrices[1], v_bar))


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, world: Any, q: Any, v: Any, ctrl: Any) -> Any:
        q, v = _array(q), _array(v)
        _set(world, q, v)
        world.ctrl[:] = _array(ctrl)
        ctx.matrices = _linear(world)
        world.step()
        ctx.world, ctx.ends = world, (q, world.q.copy())
        return torch.from_numpy(ctx.ends[1].copy()), torch.from_numpy(world.v.copy())

    @staticmethod
    def backward(ctx: Any, q_bar: Any, v_bar: Any) -> Any:
        model, (q, q_next) = ctx.world.model, ctx.ends
        g = _through(ctx.matrices, _pull(model, q_next, _array(q_bar)), _array(v_bar))
        nv = model.nv
        return (None, torch.from_numpy(_push(model, q, g[..., :nv])),
                torch.from_numpy(g[..., nv:2 * nv].copy()), torch.from_numpy(g[..., 2 * nv:].copy()))


def step(world: Any, q: Any, v: Any, ctrl: Any) -> Tuple[Any, Any]:
    """One step of a World or a Batch from q, v with ctrl: the new q and v."""
    if not isinstance(world, (World, Batch)):
        raise TypeError(f"step() takes a rigor.World or a rigor.Batch, not {type(world).__name__}")
    return _Step.apply(world, q, v, ctrl)


class _Rollout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, world: Any, every: int, q: Any, v: Any, controls: Any) -> Any:
        q, v, controls = _array(q), _array(v), _array(controls)
        _set(world, q, v)
        qs, vs = [q.copy()], [v.copy()]
        tape: List[Any] = []
        for i, ctrl in enumerate(controls):
            world.ctrl[:] = ctrl
            if isinstance(world, Batch):
                tape.append(_linear(world))
            elif i % every == 0:
                tape.append(world.save())
            world.step()
            qs.append(world.q.copy())
            vs.append(world.v.copy())
        ctx.world, ctx.every, ctx.tape, ctx.controls = world, every, tape, controls
        ctx.qs = qs
        return torch.from_numpy(np.stack(qs)), torch.from_numpy(np.stack(vs))

    @staticmethod
    def backward(ctx: Any, qs_bar: Any, vs_bar: Any) -> Any:
        world, model, nv = ctx.world, ctx.world.model, ctx.world.model.nv
        qs_bar, vs_bar = _array(qs_bar), _array(vs_bar)
        count = len(ctx.controls)
        out = np.zeros_like(ctx.controls)
        g_q = _pull(model, ctx.qs[count], qs_bar[count])
        g_v = vs_bar[count].copy()
        end = None if isinstance(world, Batch) else world.save()
        for first in reversed(range(0, count, ctx.every)):
            last = min(first + ctx.every, count)
            states = [] if end is None else _replay(ctx, first, last)
            for i in reversed(range(first, last)):
                if end is None:
                    g = _through(ctx.tape[i], g_q, g_v)
                    parts = (g[..., :nv], g[..., nv:2 * nv], g[..., 2 * nv:])
                else:
                    world.restore(states[i - first])
                    made = world.vjp(g_q, g_v, by=_BY)
                    parts = tuple(made[name] for name in _BY)
                out[i] = parts[2]
                g_q = parts[0] + _pull(model, ctx.qs[i], qs_bar[i])
                g_v = parts[1] + vs_bar[i]
        if end is not None:
            world.restore(end)
        return (None, None, torch.from_numpy(_push(model, ctx.qs[0], g_q)), torch.from_numpy(g_v.copy()),
                torch.from_numpy(out))


def _replay(ctx: Any, first: int, last: int) -> List[bytes]:
    """States of a segment of the tape, from the one that was kept."""
    states = [ctx.tape[first // ctx.every]]
    if last - first > 1:
        ctx.world.restore(states[0])
        for i in range(first, last - 1):
            ctx.world.step()
            ctx.world.ctrl[:] = ctx.controls[i + 1]
            states.append(ctx.world.save())
    return states


def rollout(world: Any, q: Any, v: Any, controls: Any, every: int = 1) -> Tuple[Any, Any]:
    """Steps with one row of controls each: q and v of the start and after every step, (steps + 1, ...).

    One node of autograd. A World keeps its state at every `every`-th step and steps again between them when
    gradients are asked for; a Batch keeps the linear model of every step.
    """
    if not isinstance(world, (World, Batch)):
        raise TypeError(f"rollout() takes a rigor.World or a rigor.Batch, not {type(world).__name__}")
    if every < 1:
        raise ValueError(f"every={every}: at least 1")
    return _Rollout.apply(world, int(every), q, v, controls)
