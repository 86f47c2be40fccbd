"""Steps of rigor for JAX: a function with a custom gradient around a call back into the world.

    step = rigor.jax.step(world)
    q, v = step(q, v, ctrl)

Gradients are those of the exact contact law (docs/theory/step_derivatives.md), in float64: enable it with
`jax.config.update("jax_enable_x64", True)`. One world, one chain of steps at a time: a scan is in order.
"""

from __future__ import annotations

from typing import Any, Callable, Tuple

import jax
import jax.numpy as jnp
import numpy as np

from .derivatives import tangent
from .world import World

__all__ = ["step"]


def step(world: World) -> Callable[[Any, Any, Any], Tuple[Any, Any]]:
    """A function of (q, v, ctrl) that steps the world and gives the new q and v."""
    if not isinstance(world, World):
        raise TypeError(f"rigor.jax.step() takes a rigor.World, not {type(world).__name__}")
    if not jax.config.jax_enable_x64:
        raise ValueError('rigor.jax needs float64: jax.config.update("jax_enable_x64", True)')
    model = world.model
    nq, nv, nu = model.nq, model.nv, model.nu
    number = jnp.float64
    state = (jax.ShapeDtypeStruct((nq,), number), jax.ShapeDtypeStruct((nv,), number))
    columns = 2 * nv + nu
    slopes = (jax.ShapeDtypeStruct((nq + nv, nq + nv + nu), number),)

    def enter(q: Any, v: Any, ctrl: Any) -> None:
        q, v = np.asarray(q), np.asarray(v)
        if not (np.array_equal(world.q, q) and np.array_equal(world.v, v)):
            world.q[:] = q
            world.v[:] = v
        world.ctrl[:] = np.asarray(ctrl)

    def plain(q: Any, v: Any, ctrl: Any) -> Any:
        enter(q, v, ctrl)
        world.step()
        return world.q.copy(), world.v.copy()

    def linear(q: Any, v: Any, ctrl: Any) -> Any:
        """The new state, and the derivatives of its numbers by those of the old one."""
        enter(q, v, ctrl)
        d = world.derivatives(by=("q", "v", "ctrl"))
        world.step()
        ends = tangent(model, world.q)
        starts = np.zeros((nq, nv))
        T = tangent(model, np.asarray(q))
        starts[:] = T / np.sum(T * T, axis=0)
        J = np.zeros((nq + nv, nq + nv + nu))
        rows = np.concatenate([ends @ d.q, d.v])
        J[:, :nq] = rows[:, :nv] @ starts.T
        J[:, nq:] = rows[:, nv:columns]
        return world.q.copy(), world.v.copy(), J

    @jax.custom_vjp
    def advance(q: Any, v: Any, ctrl: Any) -> Any:
        return jax.pure_callback(plain, state, q, v, ctrl, vmap_method="sequential")

    def forward(q: Any, v: Any, ctrl: Any) -> Any:
        q_next, v_next, J = jax.pure_callback(linear, state + slopes, q, v, ctrl, vmap_method="sequential")
        return (q_next, v_next), J

    def backward(J: Any, bars: Any) -> Any:
        g = jnp.concatenate(bars) @ J
        return g[:nq], g[nq:nq + nv], g[nq + nv:]

    advance.defvjp(forward, backward)
    return advance
