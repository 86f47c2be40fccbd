"""A quadruped that comes with the library collapses, and the floor carries its weight."""

import rigor

model = rigor.load("quadruped")
world = rigor.World(model, dt=1e-3, key="stand")
world.step(2000)

contacts = world.contacts
on_floor = contacts["body_a"] == -1  # -1 is the world, always A; forces act on B
carried = contacts["force"][on_floor, 2].sum()
print(f"after {world.time:.0f} s the floor carries {carried:.2f} N; "
      f"the robot weighs {9.81 * model.mass:.2f} N")
print(f"{len(contacts)} contact points, residual {world.report.residual:.1e}")
