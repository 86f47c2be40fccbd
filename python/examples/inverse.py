"""Inverse dynamics on the wall: which forces hold it, and what the cubes press on each other with."""

import numpy as np

import rigor

model = rigor.scene("wall")
world = rigor.World(model)
world.step(200)  # it has settled

tau, lam = result = world.inverse(np.zeros(model.nv), start="last", feasible=True)
print(f"{len(lam)} contact points; status: {result.status}")
print(f"the wall stands by itself: largest force from outside {np.abs(tau).max():.1e} N")

contacts = world.contacts
ground = contacts["body_a"] == -1
pressed = lam[ground, 2].sum() / world.dt
print(f"the ground carries {pressed:.0f} N")
