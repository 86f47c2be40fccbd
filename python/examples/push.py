"""Push a block to where it is to lie, with a finger that slides along its side.

    python push.py [FIGURE.svg]

The unknowns are the ways of the finger: knots that its servos follow. The block's place after the last step
depends on them through friction under the block and at the finger; a tape gives its derivatives by all knots,
one way back for each of the three numbers that are asked for. Gauss and Newton's steps do the rest.
"""

import sys

import numpy as np

import rigor
from rigor.derivatives import to_tangent

SCENE = b"""<mujoco model='push'><option timestep='0.002'/><worldbody>
<geom name='floor' type='plane' size='0 0 1' friction='0.3'/>
<body name='block' pos='0 0 0.03'><freejoint/>
<geom type='box' size='0.06 0.04 0.03' mass='0.4' friction='0.3'/></body>
<body name='finger' pos='-0.08 -0.012 0.03'><joint name='x' type='slide' axis='1 0 0'/>
<joint name='y' type='slide' axis='0 1 0'/>
<geom type='sphere' size='0.015' mass='0.2' friction='0.3'/></body></worldbody>
<actuator><position joint='x' kp='300' kv='20'/><position joint='y' kp='300' kv='20'/></actuator></mujoco>"""

STEPS, KNOTS = 600, 6
GOAL = np.array([0.2, 0.05, 0.6])  # x, y [m] and turn [rad] of the block
SIZES = np.array([0.1, 0.1, 1.0])  # what counts as much as what

model = rigor.parse(SCENE, "push.xml")
start = rigor.World(model)
start.step(50)  # the block settles
state = start.save()

# Controls of every step from the knots: straight lines between them, the first at the start.
times = np.linspace(0, KNOTS, STEPS)
shares = np.array([np.interp(times, np.arange(KNOTS + 1), row) for row in np.eye(KNOTS + 1)]).T[:, 1:]


def push(world, knots):
    """Roll out a way of the finger: the tape, and where the block lies after it."""
    world.restore(state)
    tape = world.tape(shares @ knots, every=8)
    x, y, _, w, _, _, z = tape.q[-1, :7]
    return tape, np.array([x, y, 2 * np.arctan2(z, w)])


def slopes(tape):
    """Derivatives of the block's place by the knots, 3 x 2 KNOTS."""
    rows = []
    for k in range(3):
        bar = np.zeros((STEPS, model.nv))
        by_q = np.zeros(model.nq)
        if k < 2:
            by_q[k] = 1
            bar[-1] = to_tangent(model, tape.q[-1], by_q)
        else:
            bar[-1, 5] = 1  # a turn about the vertical, which is the block's z axis
        rows.append((shares.T @ tape.vjp(q_bar=bar)["ctrl"]).ravel())
    return np.array(rows)


def solve():
    """Knots, places on the way, and the paths of the block and the finger at the end."""
    world = rigor.World(model)
    knots = np.linspace(0, 1, KNOTS + 1)[1:, None] * np.array([0.15, 0.0])
    tape, place = push(world, knots)
    first, places, damping, runs = tape, [place], 1e-3, 1
    while len(places) < 40 and abs((place - GOAL) / SIZES).max() > 1e-5:
        J = slopes(tape) / SIZES[:, None]
        r = (place - GOAL) / SIZES
        step = -J.T @ np.linalg.solve(J @ J.T + damping * np.trace(J @ J.T) * np.eye(3), r)
        step *= min(1, 0.03 / abs(step).max())
        tried, reached = push(world, knots + step.reshape(KNOTS, 2))
        runs += 1
        better = ((reached - GOAL) / SIZES) @ ((reached - GOAL) / SIZES) < r @ r
        damping = max(damping / 4, 1e-9) if better else damping * 8
        if better:
            knots, tape, place = knots + step.reshape(KNOTS, 2), tried, reached
        elif damping > 1e3:
            break
        places.append(place)
    return knots, np.array(places), first, tape, runs


def figure(path, first, last):
    """The block before, after, and on the way; the finger's path; the goal."""
    def box(x, y, turn, style):
        c, s = np.cos(turn), np.sin(turn)
        corners = [(x + c * a - s * b, y + s * a + c * b) for a, b in ((.06, .04), (-.06, .04), (-.06, -.04), (.06, -.04))]
        points = " ".join(f"{1000 * a:.1f},{-1000 * b:.1f}" for a, b in corners)
        return f'<polygon points="{points}" {style}/>'

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="-110 -140 400 240" width="800" height="480" '
             'font-family="sans-serif" font-size="9">', '<rect x="-110" y="-140" width="400" height="240" fill="white"/>']
    for tape, color in ((first, "#c9a227"), (last, "#2a6f97")):
        for i in range(0, STEPS + 1, 60):
            q = tape.q[i]
            parts.append(box(q[0], q[1], 2 * np.arctan2(q[6], q[3]), f'fill="none" stroke="{color}" stroke-width="0.7"'))
        way = " ".join(f"{1000 * (q[7] - 0.08):.1f},{-1000 * (q[8] - 0.012):.1f}" for q in tape.q[::5])
        parts.append(f'<polyline points="{way}" fill="none" stroke="{color}" stroke-width="1.6"/>')
    parts.append(box(*GOAL, 'fill="none" stroke="#d1495b" stroke-width="1.6" stroke-dasharray="5 3"'))
    for y, color, text in ((75, "#c9a227", "first guess: straight on"), (86, "#2a6f97", "found: block every 0.12 s, finger"),
                           (97, "#d1495b", "goal")):
        parts.append(f'<text x="-100" y="{y}" fill="{color}">{text}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*parts, "</svg>", ""]))


if __name__ == "__main__":
    knots, places, first, last, runs = solve()
    error = abs(places[-1] - GOAL)
    print(f"straight on, the block is {1e3 * np.hypot(*(places[0] - GOAL)[:2]):.0f} mm and "
          f"{np.degrees(abs(places[0] - GOAL)[2]):.0f} degrees off")
    print(f"after {runs} pushes: {1e3 * np.hypot(*error[:2]):.4f} mm and {np.degrees(error[2]):.4f} degrees off")
    if len(sys.argv) > 1:
        figure(sys.argv[1], first, last)
