"""Steps per second of rigor's environments beside Gymnasium's own MuJoCo environments, at equal time
steps, frame skips and random actions, interleaved in one run.

    python compare_gymnasium.py [--envs 16] [--seconds 5]

Needs gymnasium[mujoco].
"""

import argparse
import time

import gymnasium
import numpy as np

import rigor.envs

PAIRS = {"Hopper": "Hopper-v5", "Walker": "Walker2d-v5", "HalfCheetah": "HalfCheetah-v5", "Ant": "Ant-v5"}


def rate(env, actions, seconds, clock):
    """Steps of all worlds per second of the clock, or of this process where it works alone."""
    env.reset(seed=0)
    start, count = clock(), 0
    while clock() - start < seconds:
        for action in actions:
            env.step(action)
        count += len(actions)
    return count * actions.shape[1] / (clock() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="of rigor; more than 1: Gymnasium runs a process per world")
    options = parser.parse_args()
    print(f"{options.envs} worlds, {options.threads} thread(s), best of {options.rounds} rounds")
    print("| environment | time step [ms] x skip | rigor [1/s] | gymnasium, MuJoCo [1/s] | ratio |")
    print("|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    clock = time.process_time if options.threads == 1 else time.perf_counter
    for ours, theirs in PAIRS.items():
        other = gymnasium.make_vec(theirs, options.envs, vectorization_mode="sync" if options.threads == 1 else "async")
        model = gymnasium.make(theirs).unwrapped
        dt, skip = model.model.opt.timestep, model.frame_skip
        mine = rigor.envs.make(ours, options.envs, threads=options.threads, dt=dt, frame_skip=skip)
        best = [0.0, 0.0]
        shape = (20, options.envs, mine.single_action_space.shape[0])
        assert mine.single_action_space.shape == other.single_action_space.shape
        actions = rng.uniform(-1, 1, shape)
        for _ in range(options.rounds):
            for i, env in enumerate((mine, other)):
                best[i] = max(best[i], rate(env, actions, options.seconds, clock))
        print(f"| {ours} | {1e3 * dt:g} x {skip} | {best[0]:.0f} | {best[1]:.0f} | {best[0] / best[1]:.2f} |")
        other.close()


if __name__ == "__main__":
    main()
