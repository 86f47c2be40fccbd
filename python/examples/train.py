"""Train a policy on a ready environment with stable-baselines3 (PPO), and write the learning curve.

    python train.py Hopper --steps 1000000 --seed 0 --out hopper.csv

The file has a row per finished rollout: environment steps, mean return and mean length of the last
100 episodes. Needs gymnasium, torch and stable-baselines3.
"""

import argparse
import csv

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

import rigor.envs  # registers the environments


class Curve(BaseCallback):
    """Writes the mean return after every rollout, so that a run that is stopped leaves its curve."""

    def __init__(self, file):
        super().__init__()
        self.file = file
        self.writer = csv.writer(file)
        self.writer.writerow(("steps", "return", "length"))
        self.last = None

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        episodes = self.model.ep_info_buffer
        if episodes:
            mean = [sum(e[k] for e in episodes) / len(episodes) for k in ("r", "l")]
            self.last = (self.num_timesteps, *mean)
            self.writer.writerow(self.last)
            self.file.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=rigor.envs.kinds)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--out", default="curve.csv")
    parser.add_argument("--save", help="where to keep the policy and the normalization")
    options = parser.parse_args()

    torch.set_num_threads(1)
    many = make_vec_env(f"rigor/{options.name}-v0", options.envs, options.seed)
    many = VecNormalize(many, gamma=0.99)
    model = PPO("MlpPolicy", many, seed=options.seed, n_steps=2048 // options.envs * 2, batch_size=256,
                n_epochs=10, gamma=0.99, gae_lambda=0.95, ent_coef=0.0, learning_rate=3e-4,
                policy_kwargs={"net_arch": [64, 64]}, device="cpu")
    with open(options.out, "w", newline="", encoding="utf-8") as file:
        curve = Curve(file)
        model.learn(options.steps, callback=curve)
    if options.save:
        model.save(options.save)
        many.save(options.save + ".normalization")
    if curve.last is not None:
        print("{}: {} steps, return {:.1f}, length {:.0f}".format(options.name, *curve.last))


if __name__ == "__main__":
    main()
