"""Environments for reinforcement learning in the interface of Gymnasium, which need not be installed.

A `Task` defines observation, reward and end, from stacked arrays; `Env` plays it in one
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

from ._core import ArgumentError, floats, word
from .batch import Batch
from .camera import Camera, look_at
from .model import Model, Part
from .world import World

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
    """Replacement of gymnasium.spaces.Box if Gymnasium is not installed."""

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


def _box(low: Any, high: Any, dtype: Any) -> Any:
    kind = Box if _spaces is None else _spaces.Box
    return kind(low=np.asarray(low, dtype), high=np.asarray(high, dtype), dtype=dtype)


def _next_step() -> Any:
    """Gymnasium's name for: a world whose episode is over starts anew in the next step."""
    try:
        from gymnasium.vector import AutoresetMode
        return AutoresetMode.NEXT_STEP
    except ImportError:
        return "NextStep"


class State(NamedTuple):
    """State after a step. Arrays have the worlds in front: (..., n); `Env` gives them without."""

    q: np.ndarray  #: (..., nq)
    v: np.ndarray  #: (..., nv)
    ctrl: np.ndarray  #: (..., nu), in the units of the actuators
    time: np.ndarray  #: (...) [s]
    sensors: np.ndarray  #: (..., sensors)
    action: np.ndarray  #: (..., actions), the last one as the agent gave it, within its limits
    goal: np.ndarray  #: (..., goal), from `Task.goal()`
    q_before: np.ndarray  #: (..., nq), before the action
    v_before: np.ndarray  #: (..., nv)
    dt: float  #: time between two actions [s]
    contacts: Any = None  #: with `Task.reads_contacts`: as `World.contacts`; a list of them for many worlds


class Task:
    """Subclass it. Arrays may have any number of axes in front; index with `...`."""

    unit_actions = False  #: actions are from -1 to 1 and are scaled to the control ranges
    reads_contacts = False  #: `State.contacts` is filled
    camera: Dict[str, Any] = {}  #: of pictures: eye, target, and the `follow`ed body; as rigor.Camera

    def goal(self, rng: np.random.Generator) -> Any:
        """The goal of the episode, such as a target or a command: numbers, stored in `State.goal`."""
        return ()

    def control(self, s: State, action: np.ndarray) -> np.ndarray:
        """Controls (..., nu) from the action, which is within its limits. Default: the action, scaled
        if `unit_actions`; s is the state before it."""
        return action

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        """Start of an episode, from the key's or the neutral state q (nq,), v (nv,)."""
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
    """Base of both environments: a batch, its spaces, episodes and pictures."""

    def __init__(self, model: Model, task: Task, count: int, key: Optional[Part], frame_skip: int,
                 episode_steps: int, threads: Optional[int], dtype: Any, render_mode: Optional[str],
                 size: Tuple[int, int], settings: Dict[str, Any]) -> None:
        if frame_skip < 1 or episode_steps < 1:
            raise ArgumentError("frame_skip and episode_steps must be at least 1")
        if render_mode not in (None, *_MODES):
            raise ArgumentError(f"render_mode '{render_mode}' is none of " + ", ".join(_MODES))
        self.model, self.task, self.frame_skip = model, task, frame_skip
        self.episode_steps = episode_steps
        self.key = key
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise ArgumentError(f"dtype is float32 or float64, not {self.dtype}")
        self.batch = Batch(model, count, threads=threads, keep_sensors=bool(model.sensor_names),
                           keep_contacts=task.reads_contacts, **settings)
        self.dt = self.batch.dt * frame_skip
        self.steps = np.zeros(count, int)
        low, high = np.full(model.nu, -np.inf), np.full(model.nu, np.inf)
        for i in range(model.nu):
            actuator = model.actuator(i)
            if actuator.has_control_range:
                low[i], high[i] = actuator.control_lower, actuator.control_upper
        self.low, self.high = low, high
        if task.unit_actions:
            if not np.isfinite(high - low).all():
                name = model.actuator_names[int(np.flatnonzero(~np.isfinite(high - low))[0])]
                raise ArgumentError(f"actuator '{name}' has no control range that unit_actions could scale")
            low, high = np.full(model.nu, -1.0), np.full(model.nu, 1.0)
        self.action_low, self.action_high = low, high
        self.action = np.zeros((count, model.nu))
        self.q_before, self.v_before = self.batch.q.copy(), self.batch.v.copy()
        self.goals = np.zeros((count, np.size(task.goal(np.random.default_rng(0)))))
        self.painter = None if render_mode is None else _Painter(model, task, render_mode, size)

    def state(self) -> State:
        batch = self.batch
        contacts = None
        if self.task.reads_contacts:
            contacts = [batch.contacts(i) for i in range(batch.count)]
        sensors = batch.sensors if self.model.sensor_names else np.zeros((batch.count, 0))
        return State(batch.q.copy(), batch.v.copy(), batch.ctrl.copy(), batch.time, sensors,
                     self.action.copy(), self.goals.copy(), self.q_before.copy(), self.v_before.copy(),
                     self.dt, contacts)

    def spaces(self) -> Tuple[Any, Any]:
        """Of the action and of the observation of one world."""
        return (_box(self.action_low, self.action_high, self.dtype), self.observation_box())

    def observation_box(self) -> Any:
        shape = self.observe(self.state()).shape[1:]
        return _box(np.full(shape, -np.inf), np.full(shape, np.inf), self.dtype)

    def observe(self, s: State) -> np.ndarray:
        return np.asarray(self.task.observe(s), self.dtype)

    def begin(self, which: np.ndarray, random: Any) -> None:
        """New episodes in the worlds `which`, with one generator per world."""
        batch = self.batch
        batch.reset(self.key, mask=which)
        for i in which:
            rng = random(i)
            q, v = self.task.start(rng, batch.q[i].copy(), batch.v[i].copy())
            batch.q[i], batch.v[i] = q, v
            self.goals[i] = self.task.goal(rng)
        if self.model.sensor_names or self.task.reads_contacts:
            batch.forward(mask=which)
        self.steps[which] = 0
        self.action[which] = 0
        self.q_before[which], self.v_before[which] = batch.q[which], batch.v[which]

    def act(self, action: np.ndarray, which: Optional[np.ndarray]) -> None:
        batch = self.batch
        action = np.clip(np.asarray(action, np.float64), self.action_low, self.action_high)
        rows = slice(None) if which is None else which
        self.action[rows] = action[rows]
        if type(self.task).control is not Task.control:
            wanted = self.task.control(self.state(), action)
        elif self.task.unit_actions:
            wanted = self.low + 0.5 * (action + 1) * (self.high - self.low)
        else:
            wanted = action
        self.q_before[rows], self.v_before[rows] = batch.q[rows], batch.v[rows]
        batch.ctrl[:] = np.clip(wanted, self.low, self.high)
        batch.step(self.frame_skip, mask=which)
        self.steps += 1

    def judge(self, s: State) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        faults = self.batch.status["fault"]
        rewards = np.broadcast_to(np.asarray(self.task.reward(s), float), self.steps.shape).copy()
        over = np.broadcast_to(np.asarray(self.task.terminated(s), bool), self.steps.shape).copy()
        over |= faults != 0
        rewards[faults != 0] = 0
        return rewards, over, ~over & (self.steps >= self.episode_steps), faults


_MODES = ("human", "rgb_array")


class _Painter:
    """Pictures of states: arrays, or a page of the viewer that shows the first world."""

    def __init__(self, model: Model, task: Task, mode: str, size: Tuple[int, int]) -> None:
        view = dict({"eye": (2.5, -2.5, 1.5), "target": (0, 0, 0.5), "shadows": True}, **task.camera)
        self.follow = view.pop("follow", None)
        self.eye, self.target = np.array(view.pop("eye"), float), np.array(view.pop("target"), float)
        self.mode = mode
        self.world = World(model)  # for the place of the body that is followed, and for the viewer
        self.viewer: Any = None
        if mode == "rgb_array":
            self.camera = Camera(model, size[0], size[1], channels="color",
                                 pose=look_at(self.eye, self.target), **view)

    def show(self, q: np.ndarray) -> Any:
        """(height, width, 3); None for the viewer."""
        self.world.q = q
        if self.mode == "rgb_array":
            shift = np.zeros(3)
            if self.follow is not None:
                shift[:2] = self.world.body_pose(self.follow).p[:2] - self.target[:2]
            self.camera.move(eye=self.eye + shift, target=self.target + shift)
            return self.camera.draw_states(q).color
        self.world.forward()
        if self.viewer is None:
            self.viewer = self.world.view()
            print(f"rigor: {self.viewer.url}")
        self.viewer.update()
        return None

    def close(self) -> None:
        if self.viewer is not None:
            self.viewer.close()
            self.viewer = None


class Env(_Base):  # type: ignore[misc,valid-type]
    """One world, in the interface of gymnasium.Env.

    key: where episodes start (None: neutral). frame_skip: steps of the simulation per step of the
    environment. episode_steps: after which an episode is truncated. dtype: of actions and observations.
    render_mode: "rgb_array" (render() gives an image of `size`), "human" (a page of the viewer).
    Other settings as in `World`.
    """

    metadata: Dict[str, Any] = {"render_modes": list(_MODES), "render_fps": 50}

    def __init__(self, model: Model, task: Optional[Task] = None, *, key: Optional[Part] = None,
                 frame_skip: int = 10, episode_steps: int = 1000, dtype: Any = np.float64,
                 render_mode: Optional[str] = None, size: Tuple[int, int] = (480, 360),
                 **settings: Any) -> None:
        self._player = _Player(model, task or Task(), 1, key, frame_skip, episode_steps, 1, dtype,
                               render_mode, size, settings)
        self._generator: Optional[np.random.Generator] = None
        self.render_mode = render_mode
        self.metadata = dict(self.metadata, render_fps=max(round(1 / self.dt), 1))
        self.action_space, self.observation_space = self._player.spaces()

    @property
    def model(self) -> Model:
        return self._player.model

    @property
    def dt(self) -> float:
        """Time between two actions [s]."""
        return self._player.dt

    @property
    def state(self) -> State:
        """The state that a task receives."""
        many = self._player.state()
        return State(*(part if name == "dt" or part is None else part[0]
                       for name, part in zip(State._fields, many)))

    def _observe(self, s: State) -> np.ndarray:
        return np.asarray(self._player.task.observe(s), self._player.dtype)

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
        if self.render_mode == "human":
            self.render()
        return self._observe(self.state), {}

    def step(self, action: Any) -> Tuple[np.ndarray, float, bool, bool, Dict[str, Any]]:
        """observation, reward, terminated, truncated, info. A world that diverges is terminated, and info["fault"] has
        the reason."""
        action = floats(action, "action")
        if action.shape != self.action_space.shape:
            raise ArgumentError(f"the action must have shape {self.action_space.shape}, "
                                f"not {action.shape}")
        self._player.act(action[None], None)
        rewards, over, cut, faults = self._player.judge(self._player.state())
        info = {"fault": word("rgWorldFault", int(faults[0]))} if faults[0] else {}
        if self.render_mode == "human":
            self.render()
        return self._observe(self.state), float(rewards[0]), bool(over[0]), bool(cut[0]), info

    def render(self) -> Any:
        """An image (height, width, 3) with render_mode="rgb_array"; with "human" the page is updated."""
        painter = self._player.painter
        return None if painter is None else painter.show(self._player.batch.q[0].copy())

    def close(self) -> None:
        """End the viewer, if there is one."""
        if self._player.painter is not None:
            self._player.painter.close()


class VectorEnv(_VectorBase):  # type: ignore[misc,valid-type]
    """`num_envs` worlds at once on several threads, in the interface of gymnasium.vector.VectorEnv.

    A world whose episode is over starts anew in the next step, which ignores its action and gives
    reward 0 (Gymnasium's NEXT_STEP mode). Settings as in `Env`.
    """

    metadata: Dict[str, Any] = {"render_modes": list(_MODES), "render_fps": 50,
                                "autoreset_mode": _next_step()}
    closed = False

    def __init__(self, model: Model, task: Optional[Task] = None, num_envs: int = 1, *,
                 key: Optional[Part] = None, frame_skip: int = 10, episode_steps: int = 1000,
                 threads: Optional[int] = None, dtype: Any = np.float64,
                 render_mode: Optional[str] = None, size: Tuple[int, int] = (480, 360),
                 **settings: Any) -> None:
        self._player = _Player(model, task or Task(), num_envs, key, frame_skip, episode_steps, threads,
                               dtype, render_mode, size, settings)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.metadata = dict(self.metadata, render_fps=max(round(1 / self._player.dt), 1))
        self.single_action_space, self.single_observation_space = self._player.spaces()
        self.action_space, self.observation_space = (
            _box(np.broadcast_to(one.low, (num_envs, *one.shape)),
                 np.broadcast_to(one.high, (num_envs, *one.shape)), self._player.dtype)
            for one in (self.single_action_space, self.single_observation_space))
        self._done = np.ones(num_envs, bool)
        self._random = [np.random.default_rng(i) for i in range(num_envs)]

    @property
    def model(self) -> Model:
        return self._player.model

    @property
    def dt(self) -> float:
        """Time between two actions [s]."""
        return self._player.dt

    @property
    def state(self) -> State:
        """The state that a task receives."""
        return self._player.state()

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
        return self._player.observe(self._player.state()), {}

    def step(self, actions: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray,
                                          Dict[str, Any]]:
        """observations, rewards, terminations, truncations, infos."""
        actions = floats(actions, "actions")
        if actions.shape != self.action_space.shape:
            raise ArgumentError(f"actions must have shape {self.action_space.shape}, "
                                f"not {actions.shape}")
        fresh = self._done.copy()
        going = np.flatnonzero(~fresh)
        if going.size:
            self._player.act(np.where(fresh[:, None], 0, actions), going)
        if fresh.any():
            self._player.begin(np.flatnonzero(fresh), lambda i: self._random[i])
        state = self._player.state()
        rewards, over, cut, faults = self._player.judge(state)
        for array in (rewards, over, cut):
            array[fresh] = 0
        self._done = over | cut
        infos = {"fault": [word("rgWorldFault", int(f)) for f in faults]} if faults.any() else {}
        if self.render_mode == "human":
            self.render()
        return self._player.observe(state), rewards, over, cut, infos

    def render(self) -> Any:
        """One image per world with render_mode="rgb_array"; with "human" the page shows the first."""
        painter = self._player.painter
        if painter is None:
            return None
        if painter.mode == "human":
            return painter.show(self._player.batch.q[0].copy())
        return tuple(painter.show(q) for q in self._player.batch.q.copy())

    def close(self, **_: Any) -> None:
        """End the viewer, if there is one."""
        self.closed = True
        if self._player.painter is not None:
            self._player.painter.close()
