"""Tasks of a newcomer, a function each; prints their lines of code, as docs/tasks.md has them."""

import inspect
import tempfile
from pathlib import Path

import numpy as np

import rigor
import rigor.envs


def arm_with_forces():
    world = rigor.World(rigor.load("arm_wall"), key="home")
    world.step(50)
    return world.contact_force(world.contacts["body_b"][0]), world.actuator_force


def learning_loop():
    env = rigor.envs.make("Hopper", num_envs=4)
    total, _ = np.zeros(4), env.reset(seed=0)
    for _ in range(50):
        total += env.step(env.action_space.sample())[1]
    return total


def predictive_control():
    model, rng = rigor.load("quadruped"), np.random.default_rng(0)
    world = rigor.World(model, key="stand")
    for _ in range(2):
        plans = world.ctrl + 0.1 * rng.normal(size=(8, 20, model.nu))
        out = rigor.rollout(model, world.q, world.v, plans)
        best = np.argmax(out.q[:, -1, 2])
        world.step(1, ctrl=plans[best, 0])
    return world.q[2]


def grasp():
    world = rigor.World(rigor.scene("grasp"))
    world.step(500)
    return world.contacts["force"], world.report.residual


def record():
    with tempfile.TemporaryDirectory() as folder:
        world, path = rigor.World(rigor.scene("domino")), Path(folder) / "run.h5"
        with world.record(path, interval=10):
            world.step(200)
        rigor.save_page(path, Path(folder) / "run.html")
        return rigor.load_recording(path).contacts[-1]["force"]


def randomised_rollouts():
    batch = rigor.Batch(rigor.load("quadruped"), 8, key="stand")
    batch.set_parameter("friction", np.linspace(0.2, 1, 8))
    batch.step(100)
    return batch.q[:, 2]


def sensors_and_cameras():
    model = rigor.load("humanoid")
    world = rigor.World(model, key="stand")
    camera = rigor.Camera(model, 32, 24, eye=(2, -2, 1.4), target=(0, 0, 0.9), channels="depth")
    return camera.draw(world).depth, world.sensors, world.ray_cast((2, 0, 1), (-1, 0, 0))


TASKS = (arm_with_forces, learning_loop, predictive_control, grasp, record, randomised_rollouts,
         sensors_and_cameras)

if __name__ == "__main__":
    for task in TASKS:
        result = task()
        assert result is not None
        print(f"| {task.__name__.replace('_', ' ')} | {len(inspect.getsource(task).splitlines()) - 1} |")
