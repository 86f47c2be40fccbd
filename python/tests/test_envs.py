"""Ready environments: Gymnasium's own checker, one world equals many, images, rewards by hand."""

import warnings

import numpy as np
import pytest

import rigor.envs


@pytest.mark.parametrize("name", rigor.envs.kinds)
def test_single_equals_vector(name):
    one = rigor.envs.make(name)
    many = rigor.envs.make(name, num_envs=2, threads=1)
    a, _ = one.reset(seed=4)
    b, _ = many.reset(seed=[4, 5])
    np.testing.assert_array_equal(a, b[0])
    assert not np.array_equal(b[0], b[1])
    one.action_space.seed(0)
    for _ in range(10):
        action = one.action_space.sample()
        a, reward, over, cut, _ = one.step(action)
        b, rewards, overs, cuts, _ = many.step(np.stack([action, action]))
        np.testing.assert_array_equal(a, b[0])
        assert (reward, over, cut) == (rewards[0], overs[0], cuts[0])
        assert np.isfinite(a).all() and np.isfinite(reward)
        if over or overs.any():
            break
    assert not one.state.q.flags.writeable or one.state.q is not one._player.batch.q


@pytest.mark.parametrize("name", rigor.envs.kinds)
def test_gymnasium_accepts_it(name):
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        # Observations have no bounds, as in Gymnasium's own environments; Pendulum's torque is -2 to 2.
        warnings.filterwarnings("ignore", "(?s).*(Box observation space|symmetric and normalized)")
        env = gymnasium.make(f"rigor/{name}-v0", render_mode="rgb_array", size=(48, 32))
        check_env(env.unwrapped)
    env.reset(seed=1)
    image = env.render()
    assert image.shape == (32, 48, 3) and image.dtype == np.uint8 and image.std() > 3
    env.close()


def test_vector_is_registered():
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make_vec("rigor/Hopper-v0", num_envs=3)
    assert isinstance(env.unwrapped, rigor.gym.VectorEnv)
    assert env.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP
    observations, _ = env.reset(seed=1)
    assert observations.shape == (3, 11)
    env.close()


def test_images_follow_the_robot():
    env = rigor.envs.make("Ant", num_envs=2, render_mode="rgb_array", size=(40, 30))
    env.reset(seed=0)
    before = env.render()
    assert len(before) == 2 and before[0].shape == (30, 40, 3)
    env._player.batch.q[:, 0] += 7 * 1.0  # whole fields of the floor: the same picture
    after = env.render()
    assert np.abs(after[0].astype(int) - before[0]).mean() < 1
    env.close()


def test_dtype_and_limits():
    env = rigor.envs.make("Hopper", dtype=np.float32)
    observation, _ = env.reset(seed=0)
    assert observation.dtype == np.float32 == env.observation_space.dtype
    assert env.step(np.full(3, 5, np.float32))[0].dtype == np.float32
    np.testing.assert_array_equal(env.state.ctrl, np.ones(3))
    with pytest.raises(rigor.ArgumentError, match="float32 or float64"):
        rigor.envs.make("Hopper", dtype=np.int32)
    with pytest.raises(rigor.ArgumentError, match="none of human, rgb_array"):
        rigor.envs.make("Hopper", render_mode="ansi")
    with pytest.raises(rigor.ArgumentError, match="'Hoper' is none of Pendulum, "):
        rigor.envs.make("Hoper")


def test_rewards_by_hand():
    env = rigor.envs.make("Hopper")
    env.reset(seed=3)
    x = env.state.q[0]
    _, reward, over, _, _ = env.step(np.array([0.5, -1.0, 0.25]))
    s = env.state
    assert not over and s.dt == pytest.approx(8e-3)
    assert reward == pytest.approx(1 + (s.q[0] - x) / 8e-3 - 1e-3 * (0.25 + 1 + 0.0625))
    env = rigor.envs.make("Pendulum")
    env.reset(seed=3)
    angle, rate = env.state.q[0], env.state.v[0]
    _, reward, *_ = env.step(np.array([1.5]))
    angle = np.arctan2(np.sin(angle), np.cos(angle))
    assert reward == pytest.approx(-(angle**2 + 0.1 * rate**2 + 0.001 * 1.5**2))


def test_quadruped_stands_and_sees_its_command():
    env = rigor.envs.make("Quadruped")
    observation, _ = env.reset(seed=2)
    np.testing.assert_array_equal(observation[9:12], env.state.goal)
    for _ in range(100):
        _, _, over, _, _ = env.step(np.zeros(12))
        assert not over
    assert env.state.q[2] > 0.25


def test_peg_goes_in():
    env = rigor.envs.make("Peg")
    env.reset(seed=1)
    reward = 0
    for i in range(100):
        missing = env._player.task._missing(env.state)
        aside = np.linalg.norm(missing[:2])
        wanted = np.array([missing[0], missing[1], -0.02 if aside < 5e-4 or i > 40 else 0.0]) / 0.02
        _, reward, *_ = env.step(np.clip(3 * wanted, -1, 1))
    assert env._player.task._is_in(env.state) and reward > 1


def test_contacts_reach_the_task():
    class Feel(rigor.gym.Task):
        reads_contacts = True

        def reward(self, s):
            contacts = s.contacts if isinstance(s.contacts, list) else [s.contacts]
            return np.array([c["force"][:, 2].sum() if len(c) else 0.0 for c in contacts])

    model = rigor.load("quadruped")
    env = rigor.gym.VectorEnv(model, Feel(), 2, key="stand", frame_skip=200)
    env.reset(seed=0)
    rewards = env.step(np.zeros((2, 12)))[1]
    assert (rewards > 0).all()
