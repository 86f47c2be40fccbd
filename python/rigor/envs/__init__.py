"""Ready environments: ten classic ones, a quadruped and a biped that follow commands, a hand that turns
a cube, a peg in a hole.

    env = rigor.envs.make("Ant", render_mode="rgb_array")
    many = rigor.envs.make("Ant", num_envs=64)

With Gymnasium installed, importing this module registers them: `gymnasium.make("rigor/Ant-v0")` and
`gymnasium.make_vec("rigor/Ant-v0", num_envs=64)`.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, NamedTuple, Optional, Union

from .. import gym as _gym
from .._core import ArgumentError
from ..model import Model, ModelDef, load, load_def
from . import tasks

__all__ = ["kinds", "make", "tasks"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))


class _Kind(NamedTuple):
    model: Callable[[], Model]
    task: Callable[[Model], _gym.Task]
    frame_skip: int
    episode_steps: int
    settings: Dict[str, Any]


def _file(name: str) -> Callable[[], Model]:
    return lambda: load(os.path.join(_FOLDER, name + ".xml"))


def _with_servos(name: str, kp: float, kd: float) -> Callable[[], Model]:
    """The built-in model with position servos in place of its motors; their torques stay limited."""

    def make() -> Model:
        definition: ModelDef = load_def(name)
        model = definition.compile()
        for actuator in model.actuator_names:
            motor = model.actuator(actuator)
            limit = max(abs(motor.control_lower), abs(motor.control_upper)) * motor.gain
            definition.change("actuator", actuator, gain=kp, kp=kp, kd=kd, has_control_range=True,
                              control_lower=-7, control_upper=7, has_force_range=True,
                              force_lower=-limit, force_upper=limit)
        return definition.compile()

    return make


def _hand() -> Model:
    """The hand with one cube; controls are within the limits of the joints."""
    definition = load_def("hand")
    for cube in ("cube_2", "cube_3"):
        definition.remove("body", cube)
    model = definition.compile()
    for actuator in model.actuator_names:
        joint = model.joint(model.actuator(actuator).joint)
        definition.change("actuator", actuator, has_control_range=True, control_lower=joint.lower,
                          control_upper=joint.upper)
    return definition.compile()


def _plain(kind: Callable[[], _gym.Task]) -> Callable[[Model], _gym.Task]:
    return lambda model: kind()


_KINDS: Dict[str, _Kind] = {
    "Pendulum": _Kind(_file("pendulum"), _plain(tasks.Pendulum), 10, 200, {}),
    "CartPole": _Kind(_file("cartpole"), _plain(tasks.CartPole), 2, 1000, {}),
    "Reacher": _Kind(_file("reacher"), _plain(tasks.Reacher), 2, 50, {}),
    "Pusher": _Kind(_file("pusher"), _plain(tasks.Pusher), 5, 100, {"key": "start"}),
    "Hopper": _Kind(_file("hopper"), _plain(tasks.Hopper), 4, 1000, {}),
    "Walker": _Kind(_file("walker"), _plain(tasks.Walker), 4, 1000, {}),
    "HalfCheetah": _Kind(_file("half_cheetah"), _plain(tasks.HalfCheetah), 10, 1000, {}),
    "Ant": _Kind(_file("ant"), _plain(tasks.Ant), 5, 1000, {"key": "stand"}),
    "Humanoid": _Kind(lambda: load("humanoid"), _plain(tasks.Humanoid), 5, 1000,
                      {"key": "stand", "dt": 3e-3}),
    "HumanoidStandup": _Kind(lambda: load("humanoid"), _plain(tasks.HumanoidStandup), 5, 1000,
                             {"key": "stand", "dt": 3e-3}),
    "Quadruped": _Kind(_with_servos("quadruped", 30, 0.8), tasks.Follow, 10, 1000,
                       {"key": "stand", "dt": 2e-3}),
    "Biped": _Kind(_with_servos("biped", 200, 5), tasks.Follow, 10, 1000,
                   {"key": "stand", "dt": 2e-3}),
    "HandCube": _Kind(_hand, tasks.HandCube, 20, 200, {"key": "open", "dt": 2e-3}),
    "Peg": _Kind(_file("peg"), _plain(tasks.Peg), 20, 100, {}),
}

kinds = tuple(_KINDS)  #: names that `make` knows


def make(name: str, num_envs: Optional[int] = None,
         **settings: Any) -> Union[_gym.Env, _gym.VectorEnv]:
    """An environment, or with `num_envs` so many at once. Settings are those of `rigor.gym.Env` and
    `rigor.gym.VectorEnv`, such as render_mode, dtype, frame_skip, episode_steps."""
    if name not in _KINDS:
        raise ArgumentError(f"'{name}' is none of " + ", ".join(kinds))
    kind = _KINDS[name]
    model = kind.model()
    chosen = dict(kind.settings, frame_skip=kind.frame_skip, episode_steps=kind.episode_steps)
    chosen.update(settings)
    if num_envs is None:
        return _gym.Env(model, kind.task(model), **chosen)
    return _gym.VectorEnv(model, kind.task(model), num_envs, **chosen)


def _register() -> None:
    try:
        from gymnasium.envs.registration import register, registry
    except ImportError:
        return
    for name in kinds:
        key = f"rigor/{name}-v0"
        if key not in registry:
            register(key, entry_point="rigor.envs:make", kwargs={"name": name},
                     vector_entry_point="rigor.envs:make")


_register()
