"""Tasks of the ready environments. Rewards of the ten classic ones follow the formulas that Gymnasium
documents for its environments of the same name, on models of our own: returns are alike, not equal."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from ..gym import State, Task
from ..model import Model


def _wrapped(angle: Any) -> Any:
    return (angle + np.pi) % (2 * np.pi) - np.pi


def _turned(q: np.ndarray, x: Any) -> np.ndarray:
    """x in the axes of the world; q (..., 4) is w x y z."""
    x = np.broadcast_to(np.asarray(x, float), q.shape[:-1] + (3,))
    t = 2 * np.cross(q[..., 1:], x)
    return x + q[..., :1] * t + np.cross(q[..., 1:], t)


def _turned_back(q: np.ndarray, x: Any) -> np.ndarray:
    return _turned(q * np.array([1.0, -1, -1, -1]), x)


class Pendulum(Task):
    """Swing up a rod with a torque that is too weak to lift it at once."""

    camera = {"eye": (0, -5, 1.3), "target": (0, 0, 1.3)}

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        return rng.uniform(-np.pi, np.pi, 1), rng.uniform(-1, 1, 1)

    def observe(self, s: State) -> np.ndarray:
        return np.concatenate([np.cos(s.q), np.sin(s.q), s.v], axis=-1)

    def reward(self, s: State) -> Any:
        angle = _wrapped(s.q_before[..., 0])
        return -(angle**2 + 0.1 * s.v_before[..., 0] ** 2 + 0.001 * s.ctrl[..., 0] ** 2)


class CartPole(Task):
    """Keep a pole upright by pushing its cart."""

    unit_actions = True
    camera = {"eye": (0, -3, 1.0), "target": (0, 0, 0.6)}

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        return q + rng.uniform(-0.01, 0.01, 2), v + rng.uniform(-0.01, 0.01, 2)

    def reward(self, s: State) -> Any:
        return np.where(self.terminated(s), 0.0, 1.0)

    def terminated(self, s: State) -> Any:
        return np.abs(s.q[..., 1]) > 0.2


class Reacher(Task):
    """Bring the tip of two links to a target in the plane."""

    camera = {"eye": (0, -0.05, 0.7), "target": (0, 0, 0)}

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        q[:2], v[:2] = rng.uniform(-0.1, 0.1, 2), rng.uniform(-0.005, 0.005, 2)
        angle, radius = rng.uniform(-np.pi, np.pi), 0.2 * np.sqrt(rng.uniform())
        q[2:] = radius * np.cos(angle), radius * np.sin(angle)
        v[2:] = 0
        return q, v

    def _missing(self, s: State) -> np.ndarray:
        """From the tip to the target."""
        a, b = s.q[..., 0], s.q[..., 0] + s.q[..., 1]
        tip = np.stack([0.1 * np.cos(a) + 0.11 * np.cos(b), 0.1 * np.sin(a) + 0.11 * np.sin(b)], -1)
        return s.q[..., 2:4] - tip

    def observe(self, s: State) -> np.ndarray:
        angles = s.q[..., :2]
        return np.concatenate([np.cos(angles), np.sin(angles), s.q[..., 2:4], s.v[..., :2],
                               self._missing(s)], axis=-1)

    def reward(self, s: State) -> Any:
        distance = np.linalg.norm(self._missing(s), axis=-1)
        return -distance - 0.1 * np.square(s.action).sum(-1)


class Pusher(Task):
    """Push a puck over a table to a goal."""

    camera = {"eye": (-0.2, -1.2, 1.0), "target": (0, 0, 0)}

    def goal(self, rng: np.random.Generator) -> Any:
        return rng.uniform((0.2, -0.25), (0.35, 0.05))

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        q[3:5] += rng.uniform((-0.15, -0.1), (0.0, 0.1))
        return q, v + np.concatenate([rng.uniform(-0.005, 0.005, 3), np.zeros(4)])

    def _places(self, s: State) -> Tuple[np.ndarray, np.ndarray]:
        """Of the finger and of the puck."""
        a, b = s.q[..., 0], s.q[..., 0] + s.q[..., 1]
        c = b + s.q[..., 2]
        x = -0.45 + 0.3 * np.cos(a) + 0.25 * np.cos(b) + 0.1 * np.cos(c)
        y = 0.3 * np.sin(a) + 0.25 * np.sin(b) + 0.1 * np.sin(c)
        return np.stack([x, y], -1), s.q[..., 3:5] + np.array([0.15, 0])

    def observe(self, s: State) -> np.ndarray:
        finger, puck = self._places(s)
        return np.concatenate([s.q[..., :3], s.v[..., :5], finger, puck, s.goal], axis=-1)

    def reward(self, s: State) -> Any:
        finger, puck = self._places(s)
        far, near = (np.linalg.norm(x, axis=-1) for x in (s.goal - puck, puck - finger))
        return -far - 0.5 * near - 0.1 * np.square(s.action).sum(-1)


class _Runner(Task):
    """Planar robots that run along x: reward for speed and for being upright, a cost of control."""

    cost, healthy, noise = 1e-3, 1.0, 5e-3
    camera = {"eye": (0, -4, 1.2), "target": (0, 0, 0.8), "follow": "torso"}

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        return (q + rng.uniform(-self.noise, self.noise, q.size),
                v + rng.uniform(-self.noise, self.noise, v.size))

    def observe(self, s: State) -> np.ndarray:
        return np.concatenate([s.q[..., 1:], np.clip(s.v, -10, 10)], axis=-1)

    def reward(self, s: State) -> Any:
        speed = (s.q[..., 0] - s.q_before[..., 0]) / s.dt
        upright = np.where(self.terminated(s), 0.0, self.healthy)
        return upright + speed - self.cost * np.square(s.action).sum(-1)


class Hopper(_Runner):
    """Hop forward on one leg."""

    def terminated(self, s: State) -> Any:
        wild = (np.abs(s.q[..., 2:]) > 100).any(-1) | (np.abs(s.v) > 100).any(-1)
        return (s.q[..., 1] + 1.25 < 0.7) | (np.abs(s.q[..., 2]) > 0.2) | wild


class Walker(_Runner):
    """Walk forward on two legs."""

    def terminated(self, s: State) -> Any:
        height = s.q[..., 1] + 1.25
        return (height < 0.8) | (height > 2) | (np.abs(s.q[..., 2]) > 1)


class HalfCheetah(_Runner):
    """Run forward on two sprung legs; it never ends early."""

    cost, healthy, noise = 0.1, 0.0, 0.1

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        q = q + rng.uniform(-self.noise, self.noise, q.size)
        q[1] = abs(q[1])  # above the floor
        return q, self.noise * rng.normal(size=v.size)


class Ant(Task):
    """Walk forward on four legs."""

    camera = {"eye": (2.5, -4, 2.5), "target": (0, 0, 0.5), "follow": "torso"}

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        q = q + rng.uniform(-0.1, 0.1, q.size)
        return q, 0.1 * rng.normal(size=v.size)

    def observe(self, s: State) -> np.ndarray:
        return np.concatenate([s.q[..., 2:], s.v], axis=-1)

    def reward(self, s: State) -> Any:
        speed = (s.q[..., 0] - s.q_before[..., 0]) / s.dt
        upright = np.where(self.terminated(s), 0.0, 1.0)
        return upright + speed - 0.5 * np.square(s.action).sum(-1)

    def terminated(self, s: State) -> Any:
        return (s.q[..., 2] < 0.2) | (s.q[..., 2] > 1)


class Humanoid(Task):
    """Walk forward on two legs with 23 joints."""

    unit_actions = True
    camera = {"eye": (2.5, -3.5, 1.6), "target": (0, 0, 0.9), "follow": "pelvis"}

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        q[7:] += rng.uniform(-0.01, 0.01, q.size - 7)
        return q, v + rng.uniform(-0.01, 0.01, v.size)

    def observe(self, s: State) -> np.ndarray:
        return np.concatenate([s.q[..., 2:], s.v, s.sensors], axis=-1)

    def reward(self, s: State) -> Any:
        speed = (s.q[..., 0] - s.q_before[..., 0]) / s.dt
        upright = np.where(self.terminated(s), 0.0, 5.0)
        return upright + 1.25 * speed - 0.1 * np.square(s.action).sum(-1)

    def terminated(self, s: State) -> Any:
        return (s.q[..., 2] < 0.7) | (s.q[..., 2] > 1.5)


class HumanoidStandup(Humanoid):
    """Stand up from the floor."""

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        q, v = super().start(rng, q, v)
        q[2], q[3:7] = 0.2, (np.sqrt(0.5), 0, -np.sqrt(0.5), 0)  # on its back
        return q, v

    def reward(self, s: State) -> Any:
        return s.q[..., 2] / s.dt - 0.1 * np.square(s.action).sum(-1) + 1

    def terminated(self, s: State) -> Any:
        return np.zeros(s.q.shape[:-1], bool)


class Follow(Task):
    """A legged robot with servos follows a commanded velocity (x, y [m/s], yaw [rad/s]).

    Actions shift the joint positions from those of the key "stand" by at most `reach` [rad].
    """

    reach = 0.5
    high = np.array([1.0, 0.4, 0.8])  # largest command

    def __init__(self, model: Model) -> None:
        key = model.key("stand")
        ids = [model.actuator(i).joint for i in range(model.nu)]
        self.rows = np.array([model.joint(j).q.start for j in ids])
        self.rates = np.array([model.joint(j).v.start for j in ids])
        self.pose, self.height = key.q[self.rows], key.q[2]
        h = self.height
        self.camera = {"eye": (2.2 * h, -2.8 * h, 1.6 * h), "target": (0, 0, 0.6 * h), "follow": 0}

    unit_actions = True

    def goal(self, rng: np.random.Generator) -> Any:
        return rng.uniform(-1, 1, 3) * self.high

    def control(self, s: State, action: np.ndarray) -> np.ndarray:
        return self.pose + self.reach * action

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        q[self.rows] += rng.uniform(-0.02, 0.02, self.rows.size)
        return q, v

    def observe(self, s: State) -> np.ndarray:
        down = _turned_back(s.q[..., 3:7], (0, 0, -1))
        return np.concatenate([s.v[..., :6], down, s.goal, s.q[..., self.rows] - self.pose,
                               0.1 * s.v[..., self.rates], s.action], axis=-1)

    def reward(self, s: State) -> Any:
        error = np.square(s.v[..., :2] - s.goal[..., :2]).sum(-1)
        turn = np.square(s.v[..., 5] - s.goal[..., 2])
        down = _turned_back(s.q[..., 3:7], (0, 0, -1))
        tilt = np.square(down[..., :2]).sum(-1)
        rates = np.square(s.v[..., 3:5]).sum(-1)
        return s.dt * (np.exp(-4 * error) + 0.5 * np.exp(-4 * turn) - 0.5 * tilt - 0.05 * rates
                       - 0.01 * np.square(s.action).sum(-1) - 0.5 * s.v[..., 2] ** 2)

    def terminated(self, s: State) -> Any:
        down = _turned_back(s.q[..., 3:7], (0, 0, -1))
        return (s.q[..., 2] < 0.5 * self.height) | (down[..., 2] > -0.5)


class HandCube(Task):
    """A hand turns a cube about the vertical and does not drop it."""

    unit_actions = True
    camera = {"eye": (0.25, -0.25, 0.35), "target": (0.0, 0, 0.12)}

    def __init__(self, model: Model) -> None:
        joint = model.joint("cube_1")
        self.q, self.v = joint.q, joint.v

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        q[self.q][:2] += rng.uniform(-0.005, 0.005, 2)
        angle = rng.uniform(-np.pi, np.pi)
        q[self.q][3:] = np.cos(angle / 2), 0, 0, np.sin(angle / 2)
        return q, v

    def observe(self, s: State) -> np.ndarray:
        return np.concatenate([s.q, s.v, s.action], axis=-1)

    def reward(self, s: State) -> Any:
        turn = _turned(s.q[..., self.q][..., 3:], s.v[..., self.v][..., 3:])[..., 2]
        dropped = np.where(self.terminated(s), 10.0, 0.0)
        return np.clip(turn, -1, 1) - 0.05 * np.square(s.action).sum(-1) / s.action.shape[-1] - dropped

    def terminated(self, s: State) -> Any:
        return s.q[..., self.q][..., 2] < 0.1


class Peg(Task):
    """Put a square peg into a square hole with half a millimetre of play on each side."""

    unit_actions = True
    camera = {"eye": (0.25, -0.3, 0.3), "target": (0, 0, 0.08)}
    step = 0.02  # a full action moves the wanted place by so much from where the hand is [m]

    def start(self, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> Any:
        q[:2] = rng.uniform(-0.01, 0.01, 2)
        q[2:4] = rng.uniform(-0.03, 0.03, 2)
        return q, v

    def control(self, s: State, action: np.ndarray) -> np.ndarray:
        return s.q[..., 2:5] + self.step * action

    def _missing(self, s: State) -> np.ndarray:
        """From the tip of the peg to the bottom of the hole."""
        x = s.q[..., 0] - (s.q[..., 2] - 0.06 * np.sin(s.q[..., 6]))
        y = s.q[..., 1] - (s.q[..., 3] + 0.06 * np.sin(s.q[..., 5]))
        return np.stack([x, y, 0.01 - (s.q[..., 4] + 0.085)], -1)

    def observe(self, s: State) -> np.ndarray:
        return np.concatenate([10 * self._missing(s), s.q[..., 5:], s.v[..., 2:]], axis=-1)

    def reward(self, s: State) -> Any:
        missing = self._missing(s)
        aside, above = np.linalg.norm(missing[..., :2], axis=-1), np.abs(missing[..., 2])
        return -10 * aside - 5 * above + np.where(self._is_in(s), 2.0, 0.0)

    def _is_in(self, s: State) -> np.ndarray:
        missing = self._missing(s)
        return (np.abs(missing[..., 2]) < 0.02) & (np.abs(missing[..., :2]) < 0.004).all(-1)
