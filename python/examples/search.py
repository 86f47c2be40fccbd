"""Random search (the cross-entropy method) for a jump of the quadruped, over rollouts on all cores.

search.py [GENERATIONS] [CANDIDATES]
"""

import sys

import numpy as np

import rigor

generations = int(sys.argv[1]) if len(sys.argv) > 1 else 12
candidates = int(sys.argv[2]) if len(sys.argv) > 2 else 64
model = rigor.load("quadruped")
steps, skip = 600, 5
rng = np.random.default_rng(1)
start = model.key("stand").q
names = model.actuator_names
joints = [model.joint(model.actuator(i).joint) for i in range(model.nu)]
places = [j.q.start for j in joints]
rates = [j.v.start for j in joints]
# Hips and knees, in front and behind, have an angle beside that of standing to crouch to and one to push to.
angle = np.array([-1 if "abad" in n else 2 * ("knee" in n) + n.endswith(("rl", "rr")) for n in names])

#                crouch, push           stiffness, damping [N m, log]   time of the push [s]
mean = np.concatenate([np.zeros(8), [np.log(20), np.log(0.5)], [0.2]])
spread = np.concatenate([np.full(8, 0.5), [0.5, 0.5], [0.05]])


def jump(parameters: np.ndarray) -> tuple:
    """How high each candidate's trunk comes, and how long it has no contact [s]: one batch, closed loop."""
    count = len(parameters)
    targets = np.concatenate([parameters[:, :8].reshape(count, 2, 4), np.zeros((count, 2, 1))], axis=2)[:, :, angle]
    stiffness, damping = np.exp(parameters[:, 8:9]), np.exp(parameters[:, 9:10])
    batch = rigor.Batch(model, count, key="stand")
    height, flight = np.full(count, start[2]), np.zeros(count)
    for _ in range(steps // skip):
        phase = (batch.time >= parameters[:, 10]).astype(int)
        wanted = start[places] + targets[np.arange(count), phase]
        batch.ctrl[:] = np.clip(stiffness * (wanted - batch.q[:, places]) - damping * batch.v[:, rates], -17, 17)
        batch.step(skip)
        well = batch.status["fault"] == 0
        height = np.maximum(height, np.where(well, batch.q[:, 2], 0))
        flight += skip * batch.dt * (well & (batch.status["contact_count"] == 0))
    return height, flight


first = best = jump(mean[None])[0][0]
chosen = mean
for generation in range(generations):
    tries = mean + spread * rng.normal(size=(candidates, len(mean)))
    height, flight = jump(tries)
    good = tries[np.argsort(height)[-max(candidates // 8, 2):]]
    mean, spread = good.mean(axis=0), good.std(axis=0) + 0.02 * spread
    if height.max() > best:
        best, chosen = height.max(), tries[height.argmax()]
    print(f"generation {generation}: trunk at {height.max():.3f} m, {flight[height.argmax()]:.3f} s in the air")
flight = jump(chosen[None])[1][0]
print(f"from {first:.3f} m to {best:.3f} m, {flight:.3f} s in the air, in {generations * candidates} tries")
assert best >= first
