"""Environments for reinforcement learning in the interface of Gymnasium, which need not be installed.

A `Task` says what is seen, what is good and when it is over, from stacked arrays; `Env` plays it in one
world, `VectorEnv` in many at once.

    class Stand(rigor.gym.Task):
        def reward(self, s):
            return s.q[..., 2]
        def terminated(self, s):
            return s.q[..., 2] < 0.15

    env = rigor.gym.Env(rigor.load("quadruped"), Stand(), key="stand")
    observation, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from ._core import ArgumentError, word
from .batch import Batch
from .model import Model, Part

try:
    import gymnasium as _gymnasium
    from gymnasium import spaces as _spaces
    from gymnasium.vector import VectorEnv as _VectorBase

    _Base = _gymnasium.Env
except ImportError:
    _gymnasium = None
    _spaces = None
    _Base = object
    _VectorBase = object


class Box:
    """Stands in for gymnasium.spaces.Box where that is not installed."""

    def __init__(self, low: Any, high: Any, shape: Any = None, dtype: Any = np.float64) -> None:
        self.shape = tuple(shape) if shape is not None else np.shape(low)
        self.dtype = np.dtype(dtype)
        self.low = np.array(np.broadcast_to(low, self.shape), self.dtype)
        self.high = np.array(np.broadcast_to(high, self.shape), self.dtype)
        self._random = np.random.default_rng()

    def seed(self, seed: Optional[int] = None) -> None:
        self._random = np.random.default_rng(seed)

    def sample(self) -> np.ndarray:
        bounded = np.isfinite(self.low) & np.isfinite(self.high)
        low, high = np.where(bounded, self.low, 0), np.where(bounded, self.high, 1)
        uniform = self._random.uniform(low, high)
        return np.where(bounded, uniform, self._random.normal(size=self.shape)).astype(self.dtype)

    def contains(self, x: Any) -> bool:
        x = np.asarray(x)
        return x.shape == self.shape and bool(((x >= self.low) & (x <= self.high)).all())

    __contains__ = contains


def _box(low: Any, high: Any) -> Any:
    kind = Box if _spaces is None else _spaces.Box
    return kind(low=np.asarray(low, np.float64), high=np.asarray(high, np.float64), dtype=np.float64)


class State(NamedTuple):
    """What a task sees. Arrays have the worlds in front: (..., n); `Env` gives them without."""

    q: np.ndarray  #: (..., nq)
    v: np.ndarray  #: (..., nv)
    ctrl: np.ndarray  #: (..., nu)
    time: np.ndarray  #: (...) [s]
    sensors: np.ndarray  #: (..., sensors)


class Task:
    """Subclass it. Arrays may have any number of axes in front; index with `...`."""

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        """Where an episode begins, from the key's or the neutral state q (nq,), v (nv,)."""
        return q, v

    def observe(self, s: State) -> np.ndarray:
        """(..., m). Default: q, v."""
        return np.concatenate([s.q, s.v], axis=-1)

    def reward(self, s: State) -> Any:
        """(...)."""
        return np.zeros(s.q.shape[:-1])

    def terminated(self, s: State) -> Any:
        """(...): the episode is over for good."""
        return np.zeros(s.q.shape[:-1], bool)


class _Player:
    """What both environments share: a batch, its spaces, and episodes."""

    def __init__(self, model: Model, task: Task, count: int, key: Optional[Part], frame_skip: int,
                 episode_steps: int, threads: Optional[int], settings: Dict[str, Any]) -> None:
        if frame_skip < 1 or episode_steps < 1:
            raise ArgumentError("frame_skip and episode_steps are at least 1")
        self.model, self.task, self.frame_skip = model, task, frame_skip
        self.episode_steps = episode_steps
        self.key = key
        self.batch = Batch(model, count, threads=threads, keep_sensors=bool(model.sensor_names),
                           **settings)
        self.steps = np.zeros(count, int)
        low, high = np.full(model.nu, -np.inf), np.full(model.nu, np.inf)
        for i in range(model.nu):
            actuator = model.actuator(i)
            if actuator.has_control_range:
                low[i], high[i] = actuator.control_lower, actuator.control_upper
        self.low, self.high = low, high

    def state(self) -> State:
        batch = self.batch
        return State(batch.q.copy(), batch.v.copy(), batch.ctrl.copy(), batch.time, batch.sensors)

    def begin(self, which: np.ndarray, random: Any) -> None:
        """New episodes in the worlds `which`, with one generator per world."""
        batch = self.batch
        batch.reset(self.key, mask=which)
        for i in which:
            q, v = self.task.start(random(i), batch.q[i].copy(), batch.v[i].copy())
            batch.q[i], batch.v[i] = q, v
        if batch.sensors.size:
            batch.forward(mask=which)
        self.steps[which] = 0

    def act(self, action: np.ndarray, which: Optional[np.ndarray]) -> None:
        batch = self.batch
        batch.ctrl[:] = np.clip(action, self.low, self.high)
        batch.step(self.frame_skip, mask=which)
        self.steps += 1

    def judge(self, s: State) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        faults = self.batch.status["fault"]
        rewards = np.broadcast_to(np.asarray(self.task.reward(s), float), self.steps.shape).copy()
        over = np.broadcast_to(np.asarray(self.task.terminated(s), bool), self.steps.shape).copy()
        over |= faults != 0
        rewards[faults != 0] = 0
        return rewards, over, ~over & (self.steps >= self.episode_steps), faults


class Env(_Base):  # type: ignore[misc,valid-type]
    """One world, in the interface of gymnasium.Env.

    key: where episodes start (None: neutral). frame_skip: steps of the simulation per step of the
    environment. episode_steps: after which an episode is truncated. Other settings as in `World`.
    """

    metadata: Dict[str, Any] = {"render_modes": []}
    render_mode = None

    def __init__(self, model: Model, task: Optional[Task] = None, *, key: Optional[Part] = None,
                 frame_skip: int = 10, episode_steps: int = 1000, **settings: Any) -> None:
        self._player = _Player(model, task or Task(), 1, key, frame_skip, episode_steps, 1, settings)
        self._generator: Optional[np.random.Generator] = None
        self.action_space = _box(self._player.low, self._player.high)
        shape = np.shape(self._observe())
        self.observation_space = _box(np.full(shape, -np.inf), np.full(shape, np.inf))

    @property
    def model(self) -> Model:
        return self._player.model

    @property
    def dt(self) -> float:
        """Time between two actions [s]."""
        return self._player.batch.dt * self._player.frame_skip

    def _state(self) -> State:
        return State(*(part[0] for part in self._player.state()))

    def _observe(self) -> np.ndarray:
        return np.asarray(self._player.task.observe(self._state()), np.float64)

    def reset(self, *, seed: Optional[int] = None,
              options: Optional[Dict[str, Any]] = None) -> Tuple[np.ndarray, Dict[str, Any]]:
        """Start an episode; the same seed gives the same one."""
        if _gymnasium is not None:
            super().reset(seed=seed)
            generator = self.np_random
        else:
            if seed is not None or self._generator is None:
                self._generator = np.random.default_rng(seed)
            generator = self._generator
        self._player.begin(np.array([0]), lambda _: generator)
        return self._observe(), {}

    def step(self, action: Any) -> Tuple[np.ndarray, float, bool, bool, Dict[str, Any]]:
        """observation, reward, terminated, truncated, info. A world that diverges is terminated, and
        info["fault"] says so."""
        action = np.asarray(action, np.float64)
        if action.shape != self.action_space.shape:
            raise ArgumentError(f"the action must have shape {self.action_space.shape}, "
                                f"not {action.shape}")
        self._player.act(action[None], None)
        rewards, over, cut, faults = self._player.judge(self._player.state())
        info = {"fault": word("rgWorldFault", int(faults[0]))} if faults[0] else {}
        return self._observe(), float(rewards[0]), bool(over[0]), bool(cut[0]), info

    def render(self) -> None:
        """Nothing to draw here; `rigor view` shows recordings."""

    def close(self) -> None:
        """Nothing is left open."""


class VectorEnv(_VectorBase):  # type: ignore[misc,valid-type]
    """`num_envs` worlds at once on several threads, in the interface of gymnasium.vector.VectorEnv.

    A world whose episode is over starts anew in the next step, which ignores its action and gives
    reward 0 (Gymnasium's NEXT_STEP mode).
    """

    metadata: Dict[str, Any] = {"render_modes": [], "autoreset_mode": "NextStep"}
    render_mode = None
    closed = False

    def __init__(self, model: Model, task: Optional[Task] = None, num_envs: int = 1, *,
                 key: Optional[Part] = None, frame_skip: int = 10, episode_steps: int = 1000,
                 threads: Optional[int] = None, **settings: Any) -> None:
        self._player = _Player(model, task or Task(), num_envs, key, frame_skip, episode_steps, threads,
                               settings)
        self.num_envs = num_envs
        low, high = self._player.low, self._player.high
        self.single_action_space = _box(low, high)
        self.action_space = _box(np.tile(low, (num_envs, 1)), np.tile(high, (num_envs, 1)))
        shape = np.shape(self._observe())
        self.single_observation_space = _box(np.full(shape[1:], -np.inf), np.full(shape[1:], np.inf))
        self.observation_space = _box(np.full(shape, -np.inf), np.full(shape, np.inf))
        self._done = np.ones(num_envs, bool)
        self._random = [np.random.default_rng(i) for i in range(num_envs)]

    def _observe(self) -> np.ndarray:
        return np.asarray(self._player.task.observe(self._player.state()), np.float64)

    def reset(self, *, seed: Any = None,
              options: Optional[Dict[str, Any]] = None) -> Tuple[np.ndarray, Dict[str, Any]]:
        """Start an episode in every world. seed: one number, or one per world."""
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if np.ndim(seed) == 0 else list(seed)
            if len(seeds) != self.num_envs:
                raise ArgumentError(f"{self.num_envs} seeds are needed, not {len(seeds)}")
            self._random = [np.random.default_rng(s) for s in seeds]
        self._player.begin(np.arange(self.num_envs), lambda i: self._random[i])
        self._done[:] = False
        return self._observe(), {}

    def step(self, actions: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray,
                                          Dict[str, Any]]:
        """observations, rewards, terminations, truncations, infos."""
        actions = np.asarray(actions, np.float64)
        if actions.shape != self.action_space.shape:
            raise ArgumentError(f"actions must have shape {self.action_space.shape}, "
                                f"not {actions.shape}")
        fresh = self._done.copy()
        going = np.flatnonzero(~fresh)
        if going.size:
            self._player.act(np.where(fresh[:, None], 0, actions), going)
        if fresh.any():
            self._player.begin(np.flatnonzero(fresh), lambda i: self._random[i])
        rewards, over, cut, faults = self._player.judge(self._player.state())
        for array in (rewards, over, cut):
            array[fresh] = 0
        self._done = over | cut
        infos = {"fault": [word("rgWorldFault", int(f)) for f in faults]} if faults.any() else {}
        return self._observe(), rewards, over, cut, infos

    def render(self) -> None:
        """Nothing to draw here."""

    def close(self, **_: Any) -> None:
        """Nothing is left open."""
        self.closed = True
