"""Random search for a policy that lets the quadruped stand up, over rollouts on all cores.

search.py [GENERATIONS] [CANDIDATES]
"""

import sys

import numpy as np

import rigor

generations = int(sys.argv[1]) if len(sys.argv) > 1 else 10
candidates = int(sys.argv[2]) if len(sys.argv) > 2 else 64
model = rigor.load("quadruped")
steps, skip = 400, 20
rng = np.random.default_rng(1)
start = model.key("stand").q
joints = [model.joint(model.actuator(i).joint) for i in range(model.nu)]
places = [j.q.start for j in joints]
rates = [j.v.start for j in joints]

SIZE = 3 * model.nu  # target, stiffness and damping of each actuator


def returns(parameters: np.ndarray) -> np.ndarray:
    """Mean height of the trunk for each candidate: one batch, closed loop."""
    count = len(parameters)
    target, stiffness, damping = np.split(parameters, 3, axis=1)
    batch = rigor.Batch(model, count)
    batch.q[:] = start
    height = np.zeros(count)
    for _ in range(steps // skip):
        batch.ctrl[:] = np.exp(stiffness) * (start[places] + target - batch.q[:, places]) \
            - np.exp(damping) * batch.v[:, rates]
        batch.step(skip)
        height += np.where(batch.status["fault"] == 0, batch.q[:, 2], 0)
    return height / (steps // skip)


best = np.concatenate([np.zeros(model.nu), np.full(model.nu, 1.0), np.full(model.nu, -2.0)])
first = score = returns(best[None])[0]
for generation in range(generations):
    tries = best + 0.3 * rng.normal(size=(candidates, SIZE))
    results = returns(tries)
    if results.max() > score:
        best, score = tries[results.argmax()], results.max()
    print(f"generation {generation}: trunk at {score:.4f} m on average")
print(f"from {first:.4f} m to {score:.4f} m in {generations * candidates} tries")
assert score >= first
