#!/usr/bin/env python3
"""Draws the figures of the book and the tutorials: docs/images/figures.py, with the package rigor and matplotlib.

Curves and pictures are simulated.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, FancyBboxPatch, Polygon, Rectangle

import rigor

OUT = Path(__file__).resolve().parent
BLUE, RED, GRAY, GREEN = "#2060a8", "#c04028", "#707070", "#2f8050"
plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none",
                     "svg.hashsalt": "rigor", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"],
                     "lines.linewidth": 1.6, "legend.frameon": False, "figure.facecolor": "white"})


def save(figure, name, folder="book"):
    figure.tight_layout()
    figure.savefig(OUT / folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)


def sheet(width, height, x, y):
    figure, axes = plt.subplots(figsize=(width, height))
    axes.set_xlim(*x)
    axes.set_ylim(*y)
    axes.set_aspect("equal")
    axes.axis("off")
    return figure, axes


def arrow(axes, start, end, color="black", bend=0.0, width=1.3):
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "lw": width,
                                              "connectionstyle": f"arc3,rad={bend}", "shrinkA": 0, "shrinkB": 0})


def step():
    figure, axes = sheet(7.2, 2.3, (0, 14.6), (0, 4.4))
    names = [("kinematics", "q, v -> Q"), ("collide", "points, gaps"), ("dynamics", "v_free"), ("assemble", "rows"),
             ("solve", "impulses"), ("velocity", "v+"), ("position", "q+"), ("project", "no depth")]
    for k, (name, what) in enumerate(names):
        x = 0.15 + 1.8 * k
        color = "#dce8f5" if k < 3 else "#f8e3dc" if k < 6 else "#e0f0e4"
        axes.add_patch(FancyBboxPatch((x, 1.2), 1.5, 1.2, boxstyle="round,pad=0,rounding_size=0.15", fc=color, ec=GRAY))
        axes.text(x + 0.75, 1.95, name, ha="center", va="center", fontsize=8)
        axes.text(x + 0.75, 1.5, what, ha="center", va="center", fontsize=7, color=GRAY)
        if k:
            arrow(axes, (x - 0.3, 1.8), (x, 1.8))
    arrow(axes, (0.15 + 1.8 * 5 + 0.75, 2.4), (0.15 + 1.8 * 3 + 0.75, 2.4), RED, 0.35)
    axes.text(0.15 + 1.8 * 4 + 0.75, 3.75, "again, if v+ closes further contacts", ha="center", fontsize=8, color=RED)
    axes.text(2.7, 0.6, "first half of the step", ha="center", fontsize=8, color=BLUE)
    axes.text(12.7, 0.6, "second half", ha="center", fontsize=8, color=GREEN)
    save(figure, "step")


def tree():
    figure, axes = sheet(5.4, 2.8, (-0.6, 7.4), (-0.3, 4.0))
    joints = {"base": (1, 2.2), "a": (2.6, 2.9), "b": (4.2, 2.5), "c": (2.6, 1.4), "d": (4.2, 0.8), "e": (5.6, 0.4)}
    for first, second in (("base", "a"), ("a", "b"), ("base", "c"), ("c", "d"), ("d", "e")):
        axes.plot(*zip(joints[first], joints[second]), color=BLUE, lw=9, solid_capstyle="round", alpha=0.35)
    for k, (name, place) in enumerate(joints.items()):
        if name == "base":
            axes.add_patch(Circle(place, 0.32, fc="#f8e3dc", ec=RED))
            axes.text(place[0] - 0.1, place[1] + 0.5, "free joint: 7 positions,\n6 velocities", ha="center", fontsize=8)
        else:
            axes.add_patch(Circle(place, 0.13, fc="white", ec="black"))
            axes.text(place[0] + 0.05, place[1] + 0.27, f"q{k + 6}", fontsize=8, ha="center")
    axes.text(5.7, 3.2, "blocks of M that are not zero:", fontsize=8, ha="center")
    parent = [-1, 0, 1, 0, 3, 4]
    above = [{k} for k in range(6)]
    for k in range(1, 6):
        above[k] |= above[parent[k]]
    for i in range(6):
        for j in range(6):
            on = i in above[j] or j in above[i]
            axes.add_patch(Rectangle((5.1 + 0.2 * j, 2.9 - 0.2 * i), 0.18, 0.18, fc=BLUE if on else "#eeeeee"))
    save(figure, "tree")


def collision():
    figure, axes = sheet(5.6, 2.6, (0, 9), (0, 4.2))
    axes.add_patch(Rectangle((0, 0), 9, 0.8, fc="#e4e4e4", ec=GRAY))
    turn = np.radians(8)
    corners = np.array([(-1.5, -0.8), (1.5, -0.8), (1.5, 0.8), (-1.5, 0.8)])
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    box = corners @ R.T + (4.0, 2.25)
    axes.add_patch(Polygon(box, fc="#dce8f5", ec=BLUE))
    grown = np.array([box.min(0) - 0.3, box.max(0) + 0.3])
    axes.add_patch(Rectangle(grown[0], *(grown[1] - grown[0]), fill=False, ec=GRAY, ls="--"))
    axes.text(grown[1][0] + 0.1, grown[1][1] - 0.3, "box of the broad phase,\ngrown by the margin", fontsize=8, color=GRAY)
    for k in (0, 1):
        x, y = box[k]
        axes.plot([x, x], [0.8, y], color=RED, lw=1.2)
        axes.plot([x], [0.8], "o", ms=4, color=RED)
        axes.text(x + 0.12, (0.8 + y) / 2 - 0.08, f"phi{k + 1}", fontsize=8, color=RED)
    arrow(axes, (7.6, 0.8), (7.6, 1.7))
    axes.text(7.75, 1.35, "normal", fontsize=8)
    save(figure, "collision")


def pendulum():
    """Two rods of one metre on hinges, and where the second one ends."""
    arm = rigor.ModelDef()
    for name, parent, z in (("upper", None, 3.0), ("lower", "upper", -1.0)):
        arm.add_body(name, parent=parent, pose=([0, 0, z], [1, 0, 0, 0]), mass=1.0, center=(0, 0, -0.5),
                     moment=(1 / 12, 1 / 12, 1e-3))
        arm.add_joint(name, "revolute", axis=(0, 1, 0))
    return arm.compile()


def order():
    model, steps = pendulum(), np.array([8e-3, 4e-3, 2e-3, 1e-3, 5e-4])

    def end(dt, integrator):
        world = rigor.World(model, dt, integrator=integrator)
        world.q = [1.2, 0.8]
        world.step(round(1 / dt))
        return np.array(world.q)

    exact = end(1 / 64000, "midpoint")
    figure, axes = plt.subplots(figsize=(4.8, 3.1))
    errors = {}
    for integrator, color in (("euler", RED), ("midpoint", BLUE)):
        errors[integrator] = [np.abs(end(dt, integrator) - exact).max() for dt in steps]
        axes.loglog(1e3 * steps, errors[integrator], "o-", color=color, ms=4, label=integrator)
    axes.set_xticks(1e3 * steps, [f"{1e3 * dt:g}" for dt in steps])
    axes.minorticks_off()
    axes.set_xlabel("time step [ms]")
    axes.set_ylabel("error after 1 s [rad]")
    axes.legend()
    save(figure, "order")
    ratio = errors["euler"][3] / errors["midpoint"][3]
    slopes = {k: np.log2(e[0] / e[-1]) / 4 for k, e in errors.items()}
    print(f"order: euler/midpoint at 1 ms {ratio:.0f}; slopes {slopes}")


def sets():
    figure, places = plt.subplots(1, 4, figsize=(7.2, 2.0))
    titles = ("half line", "cone", "interval", "all")
    for axes, name in zip(places, titles):
        axes.set_title(name, fontsize=9)
        axes.set_xlim(-1.2, 1.2)
        axes.set_ylim(-0.6, 1.3)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(False)
        axes.axhline(0, color=GRAY, lw=0.7)
        axes.axvline(0, color=GRAY, lw=0.7)
    places[0].plot([0, 0], [0, 1.3], color=BLUE, lw=4)
    places[1].fill([0, -0.9, 0.9], [0, 1.3, 1.3], color=BLUE, alpha=0.35)
    places[1].text(0.35, 1.05, "mu", fontsize=9)
    places[2].plot([-0.7, 0.7], [0, 0], color=BLUE, lw=4)
    places[3].fill_between([-1.2, 1.2], -0.6, 1.3, color=BLUE, alpha=0.35)
    places[0].set_xlabel("a contact pushes", fontsize=8)
    places[1].set_xlabel("contact with friction", fontsize=8)
    places[2].set_xlabel("limited motor", fontsize=8)
    places[3].set_xlabel("closed loop", fontsize=8)
    save(figure, "sets")


def relaxed():
    figure, axes = plt.subplots(figsize=(4.8, 2.8))
    for law, color, label in (("ncp", BLUE, "exact law"), ("ccp", RED, "convex relaxation")):
        world = rigor.World(rigor.scene("sliding"), contact={"model": law})
        rest, t, z = world.body_pose("cube").p[2], [], []
        for _ in range(260):
            world.step()
            t.append(world.time)
            z.append(1e3 * (world.body_pose("cube").p[2] - rest))
        axes.plot(t, z, color=color, label=label)
        print(f"relaxed: {law} lifts by {max(z):.3f} mm")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("height above the floor [mm]")
    axes.legend()
    save(figure, "relaxed")


def residual():
    world = rigor.World(rigor.scene("wall"))
    world.step(50)
    problem = world.problem
    exact = problem.solve(tolerance=1e-12).lam
    errors = np.logspace(-8, 0, 17)
    values = [problem.judge((1 + e) * exact).total for e in errors]
    figure, axes = plt.subplots(figsize=(4.6, 2.9))
    axes.loglog(errors, values, "o-", color=BLUE, ms=4)
    axes.axhline(1e-6, color=RED, lw=1, ls="--")
    axes.text(1e-8, 1.4e-6, "default tolerance", color=RED, fontsize=8)
    axes.set_xlabel("relative error of the impulses")
    axes.set_ylabel("residual")
    save(figure, "residual")


def solver():
    world = rigor.World(rigor.scene("wall"))
    world.step(50)
    problem = world.problem
    figure, axes = plt.subplots(figsize=(5.0, 3.1))
    for method, color in (("newton", BLUE), ("admm", GREEN), ("pgs", RED)):
        report = problem.solve(method=method, tolerance=1e-9, record_history=True, max_iterations=2000).report
        history = np.maximum(report.history["residual"], 1e-16)
        axes.loglog(1 + np.arange(len(history)), history, color=color, label=method)
        print(f"solver: {method} {report.iterations} iterations, {report.residual:.1e}")
    axes.set_xlabel("iteration")
    axes.set_ylabel("residual")
    axes.legend()
    save(figure, "solver")


def bounce():
    world = rigor.World(rigor.scene("bouncing"))
    t, z = [], []
    while world.time < 3:
        world.step()
        t.append(world.time)
        z.append(world.body_pose("ball").p[2])
    floor = min(z)
    figure, axes = plt.subplots(figsize=(5.0, 2.6))
    axes.plot(t, np.array(z) - floor, color=BLUE)
    height = 1.0
    for _ in range(4):
        height *= 0.64
        axes.axhline(height, color=GRAY, lw=0.7, ls=":")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("height [m]")
    save(figure, "bounce")


def box_on_floor():
    scene = rigor.ModelDef()
    scene.add_shape("plane")
    scene.add_body("box", mass=1, moment=[0.01, 0.01, 0.01])
    scene.add_joint("box", "free")
    scene.add_shape("box", [0.1, 0.1, 0.1], body="box")
    return scene.compile()


def projection():
    world = rigor.World(box_on_floor())
    world.set_body_pose("box", ([0, 0, 0.099], [1, 0, 0, 0]))
    depth = [1.0]
    for _ in range(12):
        world.step()
        depth.append(1e3 * (0.1 - world.body_pose("box").p[2]))
    figure, axes = plt.subplots(figsize=(4.6, 2.6))
    axes.plot(range(len(depth)), depth, "o-", color=BLUE, ms=4)
    axes.set_xlabel("step")
    axes.set_ylabel("depth [mm]")
    save(figure, "projection")


def energy():
    world = rigor.World(rigor.scene("humanoid"))
    rows = []
    while world.time < 2:
        rows.append((world.time, world.kinetic_energy, world.potential_energy))
        world.step(5)
    t, kinetic, potential = np.array(rows).T
    figure, axes = plt.subplots(figsize=(5.0, 2.9))
    axes.plot(t, kinetic + potential, color="black", label="sum")
    axes.plot(t, potential, color=BLUE, label="potential")
    axes.plot(t, kinetic, color=RED, label="kinetic")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("energy [J]")
    axes.legend()
    save(figure, "energy")
    print(f"energy: largest rise of the sum {np.diff(kinetic + potential).max():.2e} J")


def derivative():
    def distance(mu):
        world = rigor.World(rigor.scene("sliding"), friction=mu)
        start = world.body_pose("cube").p[0]
        world.step(1500)
        return world.body_pose("cube").p[0] - start

    mus = np.linspace(0.3, 0.9, 13)
    values = [1e3 * distance(mu) for mu in mus]
    slope = -values[4] / mus[4]  # v^2/(2 mu g), differentiated
    figure, axes = plt.subplots(figsize=(4.8, 2.8))
    axes.plot(mus, values, "o", color=BLUE, ms=4, label="simulated")
    line = np.array([0.35, 0.65])
    axes.plot(line, values[4] + slope * (line - mus[4]), color=RED, label="derivative at 0.5")
    axes.set_xlabel("friction coefficient")
    axes.set_ylabel("stopping distance [mm]")
    axes.legend()
    save(figure, "derivative")


# ---- tutorials


def arm():
    """The arm of hello.md at q = (0.5, -1)."""
    figure, axes = sheet(3.2, 2.6, (-0.75, 0.55), (0.05, 1.15))
    upper, lower = 0.5, -0.5
    shoulder = np.array([0.0, 1.0])
    elbow = shoulder + 0.5 * np.array([-np.sin(upper), -np.cos(upper)])
    hand = elbow + 0.5 * np.array([-np.sin(lower), -np.cos(lower)])
    axes.plot([-0.25, 0.25], [1.03, 1.03], color=GRAY, lw=5)
    for a, b in ((shoulder, elbow), (elbow, hand)):
        axes.plot(*zip(a, b), color=BLUE, lw=12, alpha=0.35, solid_capstyle="round")
        axes.plot([a[0], a[0]], [a[1], a[1] - 0.3], color=GRAY, lw=0.8, ls="--")
        axes.add_patch(Circle(a, 0.025, fc="white", ec="black"))
    axes.text(shoulder[0] + 0.06, shoulder[1] - 0.12, "q1 = 0.5, 'upper'", fontsize=8)
    axes.text(elbow[0] + 0.1, elbow[1] + 0.02, "q2 = -1, 'lower'", fontsize=8)
    axes.text(elbow[0] - 0.42, elbow[1] + 0.06, "the elbow", fontsize=8, color=RED)
    save(figure, "arm", "tutorials")


def throw():
    half = [0.1, 0.075, 0.05]
    scene = rigor.ModelDef()
    scene.add_shape("plane", mu=0.5)
    scene.add_body("box", mass=0.5, moment=[0.5 / 3 * (half[1]**2 + half[2]**2), 0.5 / 3 * (half[0]**2 + half[2]**2),
                                            0.5 / 3 * (half[0]**2 + half[1]**2)])
    scene.add_joint("box", "free")
    scene.add_shape("box", half, body="box", mu=0.5)
    world = rigor.World(scene.compile())
    world.set_body_pose("box", ([0, 0, 1], [0.98877, 0, 0, 0.14944]))
    world.set_body_velocity("box", linear=[3, 0, 2], angular=[0, 0, 4])
    rows = []
    while world.time < 1.6:
        rows.append((*world.body_pose("box").p, world.contact_force("box")[2]))
        world.step()
    x, _, z, force = np.array(rows).T
    figure, axes = plt.subplots(figsize=(5.4, 2.6))
    axes.axhline(0, color=GRAY, lw=3)
    axes.plot(x, z, color=BLUE)
    for k in range(0, len(x), 150):
        axes.add_patch(Rectangle((x[k] - 0.1, z[k] - 0.05), 0.2, 0.1, fc="#dce8f5", ec=BLUE, lw=0.8))
    landed = int(np.argmax(force > 0))
    axes.annotate("lands after 0.69 s, 2.1 m away", (x[landed], z[landed]), (0.05, 0.3), fontsize=8, color=RED,
                  arrowprops={"arrowstyle": "-|>", "color": RED})
    axes.set_aspect("equal")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("z [m]")
    save(figure, "throw", "tutorials")


def photographs():
    folder = OUT / "tutorials"
    wall = rigor.World(rigor.load("arm_wall"), key="home")
    rigor.picture(wall, 560, 360, eye=(-0.9, -1.9, 1.9), target=(0.45, 0.1, 1.05)).save(folder / "arm_wall.png")
    dog = rigor.World(rigor.scene("quadruped"))
    dog.step(500)
    rigor.picture(dog, 560, 360).save(folder / "quadruped.png")


for draw in (step, tree, collision, order, sets, relaxed, residual, solver, bounce, projection, energy, derivative, arm,
             throw, photographs):
    draw()
