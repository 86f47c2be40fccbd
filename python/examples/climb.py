"""A quadruped trots up a slope of 20 degrees, is pushed, and goes on: model predictive control at 50 Hz.

    python climb.py [FIGURE.svg] [--seconds 5] [--push 120] [--pattern]

Every 20 ms the planner looks 0.3 s ahead: it linearizes 30 steps of the exact contact law around the plan that it
has, takes one step of iLQR (Riccati's recursion backwards, the plan with feedback forwards), and hands over two
rows of servo targets. Wanted are a speed along the slope, a height, no turn, and near to a pattern of trotting
legs; how feet push, where they land and what a push asks of them is the planner's.
With --pattern the legs move without a plan, which is slower.
"""

import argparse
import time

import numpy as np

import rigor

SLOPE = np.radians(20)
SPEED, HEIGHT, LIFT, PERIOD = 0.4, 0.28, 0.06, 0.4  # [m/s], of the hips above the feet [m], of the feet [m], [s]
UPPER, LOWER, FOOT = 0.209, 0.195, 0.0175  # of the legs [m]
DT, HORIZON, EVERY = 0.01, 30, 2  # step of the plan [s], steps of it, steps between plans
FINE = 5  # steps of the simulation in one of the plan
PUSH_AT, PUSH_LASTS = 2.0, 0.1  # [s]
GRAVITY = 9.81 * np.array([-np.sin(SLOPE), 0, -np.cos(SLOPE)])  # the floor is the slope, and down is aslant
LEGS = ("fl", "fr", "hl", "hr")

# What counts: place, turn, joints, and their rates.
STATE = np.concatenate([[0, 20, 400], [60, 60, 60], np.full(12, 4.0), [20, 20, 5], [1, 1, 1], np.full(12, 0.01)])
CONTROL, END = 2.0, 5.0


def build():
    """The built-in quadruped with servos of limited torque in place of its motors."""
    definition = rigor.load_def("quadruped")
    for name in definition.names("actuator"):
        definition.remove("actuator", name)
    for leg in LEGS:
        for part, most in (("abad", 17), ("hip", 17), ("knee", 26)):
            definition.add_actuator(f"{part}_{leg}", name=f"{part}_{leg}", gain=60, kp=60, kd=1.5,
                                    has_force_range=True, force_lower=-most, force_upper=most)
    return definition.compile()


def pattern(times):
    """Angles of the joints of a trot, (len(times), 12): diagonal legs stand and swing in turns."""
    times, stride = np.atleast_1d(times), 0.25 * PERIOD * SPEED
    angles = np.zeros((len(times), 12))
    for leg in range(4):
        phase = np.mod(times / PERIOD + (0 if leg in (0, 3) else 0.5), 1)
        swings, share = phase >= 0.5, np.mod(2 * phase, 1)
        x = stride * np.where(swings, 2 * share - 1, 1 - 2 * share) - HEIGHT * np.tan(SLOPE)  # below, along gravity
        z = np.where(swings, LIFT * np.sin(np.pi * share), 0) - HEIGHT
        reach = np.minimum(np.hypot(x, z), 0.99 * (UPPER + LOWER))
        knee = np.arccos(np.clip((reach**2 - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER), -1, 1))
        angles[:, 3 * leg + 2] = knee
        angles[:, 3 * leg + 1] = np.arctan2(-x, -z) - np.arctan2(LOWER * np.sin(knee), UPPER + LOWER * np.cos(knee))
    return angles


class Planner:
    """Plans of servo targets: states `q`, `v`, targets `u` and gains `K` around them."""

    def __init__(self, model):
        self.model = model
        self.world = rigor.World(model, dt=DT, gravity=GRAVITY)
        self.u = None

    def _start(self, q, v):
        self.world.reset()
        self.world.q[:], self.world.v[:] = q, v

    def _linearize(self, q, v, u):
        """States along the targets, and the derivatives of every step by q, v and u, (2 nv, 2 nv + nu)."""
        self._start(q, v)
        states, slopes = [(q, v)], []
        for row in u:
            self.world.ctrl[:] = row
            d = self.world.derivatives(advance=True)
            slopes.append(np.concatenate([d.q, d.v]))
            states.append((self.world.q.copy(), self.world.v.copy()))
        return states, slopes

    def _follow(self, states, u, K, more):
        """States and targets with feedback to a plan."""
        self._start(*states[0])
        new, targets = [states[0]], []
        for k, (q, v) in enumerate(states[:-1]):
            off = np.concatenate([self.model.difference(q, new[-1][0]), new[-1][1] - v])
            targets.append(u[k] + more[k] + K[k] @ off)
            self.world.step(1, targets[-1])
            new.append((self.world.q.copy(), self.world.v.copy()))
        return new, np.array(targets)

    def _errors(self, states, wanted):
        """What the states are off by, (steps + 1, 2 nv)."""
        q, v = (np.array(x) for x in zip(*states))
        n = self.model.nv
        e = np.concatenate([np.zeros((len(q), n)), v], axis=1)
        e[:, 1] = 0
        e[:, 2] = q[:, 2] - HEIGHT - FOOT
        e[:, 3:6] = 2 * np.sign(q[:, 3:4]) * q[:, 4:7]
        e[:, 6:n] = q[:, 7:] - wanted
        e[:, n] -= SPEED
        return e

    def _cost(self, states, u, wanted):
        e = self._errors(states, wanted)
        return (e**2 @ STATE).sum() + (END - 1) * e[-1] ** 2 @ STATE + CONTROL * ((u - wanted[:-1]) ** 2).sum()

    def _riccati(self, states, slopes, u, wanted):
        """Gains and changes of the targets, from the end of the horizon to its start."""
        n, e = 2 * self.model.nv, self._errors(states, wanted)
        P, p = np.diag(END * STATE), END * STATE * e[-1]
        K, more = np.zeros((len(u), self.model.nu, n)), np.zeros(u.shape)
        for k in range(len(u) - 1, -1, -1):
            W, g = slopes[k].T @ P @ slopes[k], slopes[k].T @ p
            by_u = g[n:] + CONTROL * (u[k] - wanted[k])
            both = -np.linalg.solve(W[n:, n:] + CONTROL * np.eye(self.model.nu), np.column_stack([W[n:, :n], by_u]))
            K[k], more[k] = both[:, :-1], both[:, -1]
            P = W[:n, :n] + W[:n, n:] @ K[k] + np.diag(STATE)
            P = 0.5 * (P + P.T)
            p = g[:n] + STATE * e[k] + W[:n, n:] @ more[k]
        return K, more

    def plan(self, q, v, now, rounds=1):
        """One step of iLQR, from the last plan moved on in time."""
        wanted = pattern(now + DT * np.arange(HORIZON + 1))
        self.u = wanted[:-1] if self.u is None else np.concatenate([self.u[EVERY:], wanted[-1 - EVERY:-1]])
        for _ in range(rounds):
            states, slopes = self._linearize(q, v, self.u)
            before = self._cost(states, self.u, wanted)
            self.K, more = self._riccati(states, slopes, self.u, wanted)
            for share in (1, 0.4, 0.1):
                new, u = self._follow(states, self.u, self.K, share * more)
                if self._cost(new, u, wanted) < before:
                    states, self.u = new, u
                    break
        self.states = states

    def targets(self, k, q, v):
        """Of the plan's k-th step, from a state that may be another."""
        off = np.concatenate([self.model.difference(self.states[k][0], q), v - self.states[k][1]])
        return self.u[k] + self.K[k] @ off


def climb(seconds, push, planned):
    """Rows of time, q, v and feet, and the CPU time of the plans."""
    model = build()
    world = rigor.World(model, dt=DT / FINE, gravity=GRAVITY)
    world.q[2] = HEIGHT + FOOT
    world.q[7:] = pattern(0)[0]
    planner, rows, times = Planner(model), [], []
    for tick in range(int(round(seconds / (DT * EVERY)))):
        if planned:
            begin = time.process_time()
            planner.plan(world.q.copy(), world.v.copy(), tick * EVERY * DT, 1 if tick else 5)
            times.append(time.process_time() - begin)
        for k in range(EVERY):
            now = (tick * EVERY + k) * DT
            world.ctrl[:] = planner.targets(k, world.q, world.v) if planned else pattern(now)[0]
            world.clear_wrenches()
            if PUSH_AT <= now < PUSH_AT + PUSH_LASTS - 1e-9:
                world.apply_wrench("trunk", force=(0, push, 0))
            feet = np.array([world.shape_pose(f"foot_{leg}").p for leg in LEGS])
            hips = np.array([world.body_pose(f"thigh_{leg}").p for leg in LEGS])
            knees = np.array([world.body_pose(f"shank_{leg}").p for leg in LEGS])
            rows.append((now, world.q.copy(), world.v.copy(), hips, knees, feet))
            world.step(FINE)
    return rows, times[1:]


def figure(path, rows, push):
    """The robot from the side every 0.8 s, and its speed along the slope and aside over time."""
    c, s = np.cos(SLOPE), np.sin(SLOPE)

    def at(p):  # tilted, in units of the picture
        return f"{130 + 280 * (c * p[0] - s * p[2]):.1f},{300 - 280 * (s * p[0] + c * p[2]):.1f}"

    def line(points, style):
        return f'<polyline points="{" ".join(points)}" fill="none" {style}/>'

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 520" width="840" height="624" '
             'font-family="sans-serif" font-size="11">', '<rect width="700" height="520" fill="white"/>']
    end = rows[-1][1][0] + 0.3
    parts.append(line([at((-0.4, 0, 0)), at((end, 0, 0))], 'stroke="#555" stroke-width="1.5"'))
    for leg in (0, 3):
        parts.append(line([at(r[5][leg] - [0, 0, FOOT]) for r in rows[::2]],
                          f'stroke="{("#c9a227", "", "", "#d1495b")[leg]}" stroke-width="0.8"'))
    for r in rows[::80]:
        fade = 0.35 + 0.65 * r[0] / rows[-1][0]
        for leg in range(4):
            parts.append(line([at(x[leg]) for x in r[3:]],
                              f'stroke="#2a6f97" stroke-width="{2 if leg % 2 else 1.2}" stroke-opacity="{fade:.2f}"'))
        parts.append(line([at(r[3][0]), at(r[3][2])], f'stroke="#2a6f97" stroke-width="5" stroke-opacity="{fade:.2f}"'))
    seconds = rows[-1][0]

    def plot(t, speed):
        return f"{60 + 620 * t / seconds:.1f},{440 - 60 * speed:.1f}"

    parts.append(f'<rect x="{60 + 620 * PUSH_AT / seconds:.1f}" y="362" width="{620 * PUSH_LASTS / seconds:.1f}" '
                 'height="128" fill="#eee"/>')
    parts.append(line([plot(0, 0), plot(seconds, 0)], 'stroke="#999" stroke-width="0.6"'))
    for axis, color, text, x in ((0, "#2a6f97", "along the slope [m/s]", 60), (1, "#d1495b", "aside", 200)):
        parts.append(line([plot(r[0], r[2][axis]) for r in rows], f'stroke="{color}" stroke-width="1.3"'))
        parts.append(f'<text x="{x}" y="510" fill="{color}">{text}</text>')
    for value in (0, 0.4, 0.8):
        parts.append(f'<text x="34" y="{444 - 60 * value:.0f}" fill="#555">{value:g}</text>')
    parts.append(f'<text x="260" y="510" fill="#555">grey: {push:g} N from the side; feet of one diagonal above'
                 f'</text><text x="640" y="510" fill="#555">{seconds:.1f} s</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*parts, "</svg>", ""]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figure", nargs="?")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--push", type=float, default=120)
    parser.add_argument("--pattern", action="store_true")
    options = parser.parse_args()
    rows, times = climb(options.seconds, options.push, not options.pattern)
    x, y = rows[-1][1][:2]
    tilt = max(np.linalg.norm(2 * r[1][4:6]) for r in rows)
    late = [r for r in rows if r[0] > options.seconds - 1]
    speed = (late[-1][1][0] - late[0][1][0]) / (late[-1][0] - late[0][0])
    print(f"{x:.2f} m up the slope and {y:.2f} m aside after {options.seconds:g} s; tilted by at most "
          f"{np.degrees(tilt):.0f} degrees; {speed:.2f} m/s in the last second")
    if times:
        print(f"a plan takes {1e3 * np.median(times):.1f} ms of one core (95 % within "
              f"{1e3 * np.percentile(times, 95):.1f}); there are {1e3 * DT * EVERY:.0f}")
    if options.figure:
        figure(options.figure, rows, options.push)


if __name__ == "__main__":
    main()
