"""Environments: Gymnasium's interface, with and without Gymnasium; many worlds equal one."""

import importlib
import sys
import types
import warnings

import numpy as np
import pytest

import rigor
import rigor.gym


class Stand(rigor.gym.Task):
    def start(self, rng, q, v):
        q[7:] += 0.05 * rng.normal(size=12)
        return q, v

    def observe(self, s):
        return np.concatenate([s.q[..., 2:], s.v, s.ctrl], axis=-1)

    def reward(self, s):
        return s.q[..., 2] - 1e-3 * np.square(s.ctrl).sum(-1)

    def terminated(self, s):
        return s.q[..., 2] < 0.12


def play(env, seed, steps):
    rng = np.random.default_rng(9)
    observation, info = env.reset(seed=seed)
    assert observation.shape == env.observation_space.shape and info == {}
    seen = [observation]
    for _ in range(steps):
        result = env.step(0.3 * rng.normal(size=env.action_space.shape))
        assert len(result) == 5
        seen.append(result[0])
        if np.all(result[2]) or np.all(result[3]):
            break
    return np.array(seen), result


def check_env(quadruped, gym):
    env = gym.Env(quadruped, Stand(), key="stand", frame_skip=5, episode_steps=30)
    assert env.action_space.shape == (12,) and env.observation_space.shape == (17 + 18 + 12,)
    assert env.dt == pytest.approx(5e-3)
    a, end = play(env, 3, 100)
    b, _ = play(env, 3, 100)
    c, _ = play(env, 4, 100)
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a[0], c[0])
    _, reward, terminated, truncated, _ = end
    assert isinstance(reward, float) and (terminated or truncated)
    assert len(a) == 31 and truncated
    with pytest.raises(ValueError, match=r"action must have shape \(12,\)"):
        env.step(np.zeros(3))
    with pytest.raises(ValueError, match="action is a masked array"):
        env.step(np.ma.masked_equal(np.zeros(12), 0))
    assert env.action_space.sample().shape == (12,)
    env.close()
    return env


def check_vector(quadruped, gym):
    env = gym.VectorEnv(quadruped, Stand(), 3, key="stand", frame_skip=5, episode_steps=30, threads=2)
    single = [gym.Env(quadruped, Stand(), key="stand", frame_skip=5, episode_steps=30)
              for _ in range(3)]
    observations, _ = env.reset(seed=7)
    for i, one in enumerate(single):
        np.testing.assert_array_equal(observations[i], one.reset(seed=7 + i)[0])
    rng = np.random.default_rng(1)
    for t in range(30):
        actions = 0.3 * rng.normal(size=(3, 12))
        observations, rewards, over, cut, infos = env.step(actions)
        for i, one in enumerate(single):
            observation, reward, *_ = one.step(actions[i])
            np.testing.assert_array_equal(observations[i], observation)
            assert rewards[i] == reward
        assert cut.all() == (t == 29) and not over.any() and infos == {}
    observations, rewards, over, cut, _ = env.step(np.ones((3, 12)))  # all start anew
    assert not over.any() and not cut.any() and (rewards == 0).all()
    np.testing.assert_allclose(observations[:, 0], quadruped.key("stand").q[2])
    with pytest.raises(ValueError, match=r"actions must have shape \(3, 12\)"):
        env.step(np.zeros(12))
    env.close()
    return env


def test_without_gymnasium(quadruped, monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    gym = importlib.reload(rigor.gym)
    check_env(quadruped, gym)
    check_vector(quadruped, gym)


def stand_in():
    """As much of Gymnasium as its interface asks of an environment."""
    gymnasium, spaces = types.ModuleType("gymnasium"), types.ModuleType("gymnasium.spaces")
    vector = types.ModuleType("gymnasium.vector")

    class Env:
        np_random = None

        def reset(self, *, seed=None, options=None):
            if seed is not None or self.np_random is None:
                self.np_random = np.random.default_rng(seed)

        @property
        def unwrapped(self):
            return self

    class VectorEnv:
        pass

    class SpaceBox(rigor.gym.Box):
        pass

    gymnasium.Env, vector.VectorEnv, spaces.Box = Env, VectorEnv, SpaceBox
    gymnasium.spaces, gymnasium.vector = spaces, vector
    return {"gymnasium": gymnasium, "gymnasium.spaces": spaces, "gymnasium.vector": vector}


def test_with_a_stand_in_for_gymnasium(quadruped, monkeypatch):
    modules = stand_in()
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    gym = importlib.reload(rigor.gym)
    env = check_env(quadruped, gym)
    assert isinstance(env, modules["gymnasium"].Env) and env.unwrapped is env
    assert isinstance(env.observation_space, modules["gymnasium.spaces"].Box)
    assert isinstance(check_vector(quadruped, gym), modules["gymnasium.vector"].VectorEnv)


def test_with_gymnasium_itself(quadruped):
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env as official

    class Unit(Stand):
        unit_actions = True

    gym = importlib.reload(rigor.gym)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*Box observation space")  # it has no bounds
        official(gym.Env(quadruped, Unit(), key="stand"), skip_render_check=True)
    assert issubclass(gym.Env, gymnasium.Env)


def test_divergence_ends_an_episode(quadruped):
    env = rigor.gym.VectorEnv(quadruped, Stand(), 2, key="stand", frame_skip=1)
    env.reset(seed=0)
    env._player.batch.v[1] = np.nan
    _, rewards, over, cut, infos = env.step(np.zeros((2, 12)))
    np.testing.assert_array_equal(over, [False, True])
    assert infos["fault"] == ["none", "state"] and rewards[1] == 0
    _, _, over, _, infos = env.step(np.zeros((2, 12)))
    assert not over.any() and infos == {}


def test_box():
    box = rigor.gym.Box(np.array([-1.0, -np.inf]), np.array([1.0, np.inf]))
    box.seed(1)
    for _ in range(20):
        assert box.sample() in box
    assert np.zeros(3) not in box and np.array([2.0, 0.0]) not in box
