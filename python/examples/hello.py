"""A quadruped that comes with the library collapses, and the floor carries its weight."""

import rigor

model = rigor.load("quadruped")
world = rigor.World(model, dt=1e-3, key="stand")
world.step(2000)

contacts = world.contacts
above = (contacts["body_a"] == -1) * 1 - (contacts["body_b"] == -1)  # forces act on B; -1 is the world
carried = (above @ contacts["force"])[2]
print(f"after {world.time:.0f} s the floor carries {carried:.2f} N; "
      f"the robot weighs {9.81 * model.mass:.2f} N")
print(f"{len(contacts)} contact points, residual {world.report.residual:.1e}")
