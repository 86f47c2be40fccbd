"""Throw a cube so that it lands, slides, spins and comes to rest on a target, turned as it is to lie.

    python throw.py [FIGURE.svg]

Eight guesses of the velocity are worlds of one batch. A tape gives, for all of them at once, the derivatives of
where each cube lies after 1.8 s by how it was thrown, through the impact and through sliding and spinning to
rest; Gauss and Newton's steps follow them. A cube that tumbles would land on another side if it were thrown a
little differently, and no slope tells of that: it is thrown flat.
"""

import sys

import numpy as np

import rigor
from rigor.derivatives import to_tangent

SCENE = b"""<mujoco model='throw'><option timestep='0.002'/><worldbody>
<geom name='floor' type='plane' size='0 0 1' friction='0.12'/>
<body name='cube' pos='0 0 0.2'><freejoint/>
<geom type='box' size='0.05 0.05 0.05' mass='0.3' friction='0.12'/></body></worldbody></mujoco>"""

STEPS, GUESSES, ROUNDS = 900, 8, 16
GOAL = np.array([1.5, 0.4, 1.0])  # x, y [m] and turn [rad]
FREE = [0, 1, 2, 5]  # velocity, and spin about the vertical

model = rigor.parse(SCENE, "throw.xml")
batch = rigor.Batch(model, GUESSES)
start = batch.q[0].copy()
draw = np.random.default_rng(5)


def throw(v):
    """The tape of all guesses, and where the cubes lie."""
    batch.reset()
    batch.q[:], batch.v[:] = start, v
    tape = batch.tape(steps=STEPS, every=20)
    q = tape.q[:, -1]
    return tape, np.stack([q[:, 0], q[:, 1], 2 * np.arctan2(q[:, 6], q[:, 3])], axis=1)


def slopes(tape):
    """Derivatives of x, y and turn at the end by the velocity at the start: guesses x 3 x 4."""
    rows = []
    for k in range(3):
        bar = np.zeros((GUESSES, STEPS, 6))
        if k < 2:
            bar[:, -1] = [to_tangent(model, q, np.eye(7)[k]) for q in tape.q[:, -1]]
        else:
            bar[:, -1, 5] = 1  # a turn about the vertical, which is the cube's z axis
        rows.append(tape.vjp(q_bar=bar)["v"][:, FREE])
    return np.stack(rows, axis=1)


def solve():
    v = np.zeros((GUESSES, 6))
    v[:, :3] = [1.5, 0.2, 0.5]
    v[:, 0] += draw.uniform(-0.3, 0.3, GUESSES)
    v[:, 5] = draw.uniform(-2, 2, GUESSES)
    tape, place = throw(v)
    first = tape
    errors = [np.linalg.norm(place - GOAL, axis=1)]
    damping = np.full(GUESSES, 1e-3)
    for _ in range(ROUNDS):
        J = slopes(tape)
        tried = v.copy()
        for i in range(GUESSES):
            square = J[i] @ J[i].T
            step = -J[i].T @ np.linalg.solve(square + damping[i] * np.trace(square) * np.eye(3), place[i] - GOAL)
            tried[i, FREE] += step * min(1, 1 / abs(step).max())
        reached = throw(tried)[1]
        better = np.linalg.norm(reached - GOAL, axis=1) < errors[-1]
        v[better] = tried[better]
        damping = np.where(better, damping / 4, damping * 8)
        tape, place = throw(v)
        errors.append(np.linalg.norm(place - GOAL, axis=1))
    return np.array(errors), first, tape


def figure(path, first, tape, best):
    """Paths from above and from the side, of all first guesses and of the best throw."""
    def line(points, color, width):
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        return f'<polyline points="{text}" fill="none" stroke="{color}" stroke-width="{width}"/>'

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="-20 60 460 225" width="920" height="450" '
             'font-family="sans-serif" font-size="9">', '<rect x="-20" y="60" width="460" height="225" fill="white"/>']
    for one, color, width in [*((first.q[i], "#c9a227", 0.6) for i in range(GUESSES)), (tape.q[best], "#2a6f97", 1.6)]:
        parts.append(line(((250 * q[0], 110 - 100 * q[2]) for q in one[::5]), color, width))
        parts.append(line(((250 * q[0], 240 - 150 * q[1]) for q in one[::5]), color, width))
    x, y = 250 * GOAL[0], 240 - 150 * GOAL[1]
    parts += [line([(-10, 110), (430, 110)], "#444444", 0.8),
              f'<circle cx="{x}" cy="{y}" r="5" fill="none" stroke="#d1495b" stroke-width="1.6"/>',
              f'<path d="M {x} 110 l -5 9 l 10 0 z" fill="#d1495b"/>',
              '<text x="-10" y="75">from the side</text>', '<text x="-10" y="150">from above</text>',
              '<text x="-10" y="268" fill="#c9a227">first guesses</text>',
              '<text x="-10" y="280" fill="#2a6f97">the best throw found</text>']
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*parts, "</svg>", ""]))


if __name__ == "__main__":
    errors, first, tape = solve()
    best = int(errors[-1].argmin())
    print(f"first guesses miss by {errors[0].min():.2f} to {errors[0].max():.2f} (m and rad)")
    print(f"after {ROUNDS} rounds {(errors[-1] < 1e-3).sum()} of {GUESSES} miss by less than 1e-3, the best by "
          f"{errors[-1][best]:.1e}")
    if len(sys.argv) > 1:
        figure(sys.argv[1], first, tape, best)
