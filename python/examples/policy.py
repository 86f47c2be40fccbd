"""A policy that pushes a block to any goal, learned by gradients of whole rollouts, beside evolution strategies.

    python policy.py [FIGURE.svg] [--rounds 60]

A network of 2 x 32 neurons sees the block, the finger and the goal, and moves the finger every 20 ms. Sixteen
pushes of 0.8 s are a round. By gradients: autograd goes back through the network and the steps (rigor.torch) of
all of them, through contact, sliding and turning, and Adam takes a step. Without gradients: evolution strategies
try eight changes of the weights both ways for each step, each on the same sixteen pushes.
"""

import argparse

import numpy as np
import torch

import rigor
from rigor.torch import rollout

SCENE = b"""<mujoco model='policy'><option timestep='0.005'/><worldbody>
<geom name='floor' type='plane' size='0 0 1' friction='0.3'/>
<body name='block' pos='0 0 0.03'><freejoint/>
<geom type='box' size='0.06 0.05 0.03' mass='0.4' friction='0.3'/></body>
<body name='finger' pos='-0.08 0 0.03'><joint name='x' type='slide' axis='1 0 0'/>
<joint name='y' type='slide' axis='0 1 0'/>
<geom type='sphere' size='0.015' mass='0.2' friction='0.3'/></body></worldbody>
<actuator><position joint='x' kp='300' kv='20'/><position joint='y' kp='300' kv='20'/></actuator></mujoco>"""
WORLDS, DECISIONS, HOLD = 16, 40, 4  # pushes of a round, decisions of one, steps of one
FASTEST = 0.03  # how far ahead of itself a finger is sent [m]
SMOOTHING = 0.02  # [m/s], of gradients: fingers that miss feel the block
LR = 5e-3
SPREAD, PAIRS = 0.05, 8  # of evolution strategies

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def make_policy():
    torch.manual_seed(1)
    policy = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 32), torch.nn.Tanh(),
                                 torch.nn.Linear(32, 2))
    with torch.no_grad():
        policy[-1].weight *= 0.1
        policy[-1].bias[:] = torch.tensor([0.5, 0.0])  # forward: it touches the block
    return policy


def goals(seed, count=WORLDS):
    """Places of the block's centre, ahead and to both sides [m]."""
    random = np.random.default_rng(seed)
    return torch.tensor(np.stack([random.uniform(0.08, 0.2, count), random.uniform(-0.05, 0.05, count)], axis=1))


class Pushes:
    """A batch of pushes, from the same start."""

    def __init__(self, count=WORLDS):
        self.batch = rigor.Batch(rigor.parse(SCENE, "policy.xml"), count, threads=1)
        self.batch.step(50)  # the block settles
        self.state = self.batch.save(0)
        self.steps = 0

    def run(self, policy, wanted):
        """Mean cost of the pushes, and where the blocks go: (decisions + 1, pushes, 2)."""
        self.batch.restore(self.state)
        q, v = torch.tensor(self.batch.q), torch.tensor(self.batch.v)
        way, cost = [q[:, :2]], 0
        for k in range(DECISIONS):
            finger = q[:, 7:9] + torch.tensor([-0.08, 0.0])
            turn = torch.stack([q[:, 3], q[:, 6]], dim=1)
            seen = torch.cat([10 * (wanted - q[:, :2]), 10 * (finger - q[:, :2]), turn, 5 * v[:, :2]], dim=1)
            target = q[:, 7:9] + FASTEST * torch.tanh(policy(seen))
            q, v = (x[-1] for x in rollout(self.batch, q, v, target.expand(HOLD, -1, -1), smoothing=SMOOTHING))
            way.append(q[:, :2])
            cost = cost + 10 * ((q[:, :2] - wanted) ** 2).sum(dim=1).mean() / DECISIONS
        self.steps += len(wanted) * DECISIONS * HOLD
        off = ((q[:, :2] - wanted) ** 2).sum(dim=1)
        return 100 * off.mean() + cost, torch.stack(way)


def judge(policy):
    """Mean distance from goals that were not trained on [mm], and the ways there."""
    wanted = goals(10_000)
    with torch.no_grad():
        _, way = Pushes().run(policy, wanted)
    return 1e3 * torch.linalg.norm(way[-1] - wanted, dim=1).mean().item(), way, wanted


def by_gradients(rounds):
    policy, pushes = make_policy(), Pushes()
    adam = torch.optim.Adam(policy.parameters(), LR)
    curve = [(0, judge(policy)[0])]
    for k in range(rounds):
        adam.zero_grad()
        cost, _ = pushes.run(policy, goals(k))
        cost.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        adam.step()
        if k % 5 == 4 or k + 1 == rounds:
            curve.append((pushes.steps, judge(policy)[0]))
    return policy, curve


def by_evolution(steps):
    policy, pushes = make_policy(), Pushes()
    adam = torch.optim.Adam(policy.parameters(), 1e-2)
    curve, k = [(0, judge(policy)[0])], 0
    weights = torch.nn.utils.parameters_to_vector(policy.parameters()).detach()
    while pushes.steps < steps:
        random = torch.tensor(np.random.default_rng(k).normal(size=(PAIRS, len(weights))))
        gradient = torch.zeros_like(weights)
        with torch.no_grad():
            for row in random:
                costs = []
                for sign in (1, -1):
                    torch.nn.utils.vector_to_parameters(weights + sign * SPREAD * row, policy.parameters())
                    costs.append(pushes.run(policy, goals(k))[0])
                gradient += (costs[0] - costs[1]) / (2 * SPREAD * PAIRS) * row
            torch.nn.utils.vector_to_parameters(weights, policy.parameters())
        torch.nn.utils.vector_to_parameters(weights, policy.parameters())
        at = 0
        for p in policy.parameters():
            p.grad = gradient[at:at + p.numel()].view_as(p).clone()
            at += p.numel()
        adam.step()
        weights = torch.nn.utils.parameters_to_vector(policy.parameters()).detach()
        k += 1
        curve.append((pushes.steps, judge(policy)[0]))
    return curve


def figure(path, ways, curves):
    """Ways of blocks to their goals, and the distance that is left by steps of the simulation."""
    colors = ("#2a6f97", "#c9a227")
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 250" width="840" height="300" '
             'font-family="sans-serif" font-size="11">', '<rect width="700" height="250" fill="white"/>']
    way, wanted = ways
    for i in range(way.shape[1]):
        points = " ".join(f"{30 + 1400 * x:.1f},{115 - 1400 * y:.1f}" for x, y in way[:, i].tolist())
        parts.append(f'<polyline points="{points}" fill="none" stroke="#2a6f97" stroke-width="1"/>')
        x, y = wanted[i].tolist()
        parts.append(f'<circle cx="{30 + 1400 * x:.1f}" cy="{115 - 1400 * y:.1f}" r="4" fill="none" stroke="#d1495b"/>')
    most = max(curve[-1][0] for curve in curves)
    for color, curve in zip(colors, curves):
        points = " ".join(f"{410 + 270 * s / most:.1f},{205 - 1.6 * mm:.1f}" for s, mm in curve)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.6"/>')
    for mm in (0, 50, 100):
        parts.append(f'<text x="380" y="{209 - 1.6 * mm:.0f}" fill="#555">{mm}</text>')
    for x, color, text in ((20, "#d1495b", "goals"), (60, colors[0], "ways of the block"),
                           (400, "#555", f"mm left, in {most / 1e6:.2f} million steps:"), (575, colors[0], "gradients"),
                           (635, colors[1], "evolution")):
        parts.append(f'<text x="{x}" y="235" fill="{color}">{text}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*parts, "</svg>", ""]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figure", nargs="?")
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    trained, learned = by_gradients(options.rounds)
    left, *ways = judge(trained)
    evolved = by_evolution(learned[-1][0])
    print(f"at first the blocks end {learned[0][1]:.1f} mm from their goals")
    print(f"gradients: {left:.1f} mm after {learned[-1][0]} steps")
    print(f"evolution: {evolved[-1][1]:.1f} mm after {evolved[-1][0]} steps")
    if options.figure:
        figure(options.figure, ways, (learned, evolved))
