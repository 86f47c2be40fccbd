"""An arm with the links of a UR5 wipes a wall along a figure of eight and presses on it with 20 N.

    python wipe.py [FIGURE.svg]

The arm has position servos and no force control of its own. A planner looks 0.08 s ahead: derivatives of 40 steps
say how the place of the tool and the force on the wall, an impulse of the contact problem, follow from the servo
targets, through friction that turns with the way. Every 8 ms it takes a step of Gauss and Newton for all of them.
Beside it: servos that follow the same way a few millimetres behind the wall.
"""

import sys

import numpy as np

import rigor

DT, HORIZON, EVERY = 0.002, 40, 4  # step [s], steps of a plan, steps between plans
FORCE, PERIOD, SECONDS = 20.0, 3.0, 4.5  # [N], [s], [s]
FRICTION = 0.5
FACE, RADIUS = 0.75, 0.03  # x of the wall's face, radius of the tool [m]
PRESS = 0.0005  # how far behind the wall the servos without a plan aim [m]
PLACE, LOAD, POSTURE, RATE = 1e3, 1.0, 1.0, 0.1  # what errors count: per m, N, rad, rad/s
CONTROL = 1e4  # squares of changes of the targets [1/rad^2]
SERVOS = {"pan": (2000, 100, 150), "lift": (2000, 100, 150), "elbow": (2000, 100, 150),
          "wrist_1": (400, 10, 28), "wrist_2": (400, 10, 28), "wrist_3": (400, 10, 28)}  # kp, kd, most torque
KP, KD = (np.array([servo[i] for servo in SERVOS.values()]) for i in range(2))


def build():
    definition = rigor.load_def("arm_wall")
    for name in definition.names("actuator"):
        definition.remove("actuator", name)
    for joint, (kp, kd, most) in SERVOS.items():
        definition.add_actuator(joint, name=joint, gain=kp, kp=kp, kd=kd, has_force_range=True, force_lower=-most,
                                force_upper=most)
    return definition.compile()


def way(times):
    """Where the tool is to be, (n, 3): it settles, then goes around the eight."""
    late = np.maximum(np.asarray(times) - 0.5, 0)
    phase = 2 * np.pi * (late - 0.5 * np.tanh(2 * late)) / PERIOD  # it starts slowly
    eight = np.stack([0 * phase, 0.15 * np.sin(phase), 0.08 * np.sin(2 * phase)], axis=-1)
    return eight + [FACE - RADIUS, 0.1091, 1.25]


class Arm:
    """Kinematics of the tool."""

    def __init__(self, model):
        self.dynamics, self.home = rigor.Dynamics(model), model.key("home").q
        self.axes = self._pose(self.home).q

    def _pose(self, q):
        self.dynamics.set_state(q)
        return self.dynamics.frame_pose("tool")

    def tool(self, q):
        """Place of the tool, and its derivative by the angles."""
        return np.array(self._pose(q).p), self.dynamics.frame_jacobian("tool", "aligned")[:3]

    def reach(self, place, q):
        """Angles near q that put the tool there, with its axes as they are at home."""
        for _ in range(10):
            pose = self._pose(q)
            J = self.dynamics.frame_jacobian("tool", "aligned")
            a, b = np.array(self.axes), np.array(pose.q)
            turn = 2 * (b[0] * a[1:] - a[0] * b[1:] - np.cross(a[1:], b[1:]))
            q = q + np.linalg.lstsq(J, np.concatenate([place - pose.p, turn]), rcond=1e-6)[0]
        return q

    def follow(self, places):
        """Angles along a way."""
        angles = [self.reach(places[0], self.home)]
        for place in places[1:]:
            angles.append(self.reach(place, angles[-1]))
        return np.array(angles)

    def targets(self, angles):
        """Of servos that are to follow angles: against gravity, and their own damping."""
        rates = np.gradient(angles, DT, axis=0)
        return np.array([q + (self.dynamics.set_state(q).gravity_torque() + KD * v) / KP for q, v in zip(angles, rates)])


def load(world):
    """The force on the wall [N], and the row of its impulse; None: the tool does not touch."""
    touching = world.contacts
    row = None if len(touching) == 0 else touching["first_row"][0] + 2
    return touching["impulse"][:, 2].sum() / world.dt, row


class Planner:
    """Plans of servo targets `u` along a way of the tool, given as places and angles at every step."""

    def __init__(self, model, arm, places, angles, targets):
        self.arm, self.places, self.angles, self.targets, self.n = arm, places, angles, targets, model.nv
        self.world = rigor.World(model, dt=DT, friction=FRICTION)
        self.u = targets[:HORIZON].copy()

    def _errors(self, q, v, force, at):
        """Weighted errors of a state after a step, and their derivatives by it; forces come apart."""
        n = self.n
        p, J = self.arm.tool(q)
        e = np.concatenate([PLACE * (p - self.places[at])[1:], POSTURE * (q - self.angles[at]), RATE * v,
                            [LOAD * (force - FORCE)]])
        D = np.zeros((2 + 2 * n, 2 * n))
        D[:2, :n], D[2:2 + n, :n], D[2 + n:, n:] = PLACE * J[1:], POSTURE * np.eye(n), RATE * np.eye(n)
        return e, D

    def _linearize(self, state, at):
        """Along the plan, per step: derivatives of the state by (q, v, u) before it, errors, their derivatives."""
        world, n = self.world, self.n
        world.restore(state)
        steps = []
        for k, row in enumerate(self.u):
            world.ctrl[:] = row
            d = world.derivatives(advance=True, impulses=True)
            force, normal = load(world)
            A = np.concatenate([d.q, d.v])
            e, D = self._errors(world.q.copy(), world.v.copy(), force, at + k + 1)
            by_force = np.zeros((1, 3 * n)) if normal is None else LOAD / DT * d.impulse[normal][None]
            steps.append((A, e, np.concatenate([D @ A, by_force])))
        return steps

    def plan(self, state, at):
        """A step of Gauss and Newton for all targets: Riccati's recursion over linearized errors."""
        n = self.n
        if at > 0:
            new = self.targets[at + HORIZON - EVERY - 1:at + HORIZON]
            self.u = np.concatenate([self.u[EVERY:], self.u[-1] + new[1:] - new[0]])
        steps = self._linearize(state, at)
        P, p = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
        K, more = np.zeros((HORIZON, n, 2 * n)), np.zeros((HORIZON, n))
        for k in range(HORIZON - 1, -1, -1):
            A, e, D = steps[k]
            W, g = A.T @ P @ A + D.T @ D, A.T @ p + D.T @ e
            both = -np.linalg.solve(W[2 * n:, 2 * n:] + CONTROL * np.eye(n), np.column_stack([W[2 * n:, :2 * n], g[2 * n:]]))
            K[k], more[k] = both[:, :-1], both[:, -1]
            P = W[:2 * n, :2 * n] + W[:2 * n, 2 * n:] @ K[k]
            P, p = 0.5 * (P + P.T), g[:2 * n] + W[:2 * n, 2 * n:] @ more[k]
        x = np.zeros(2 * n)
        for k in range(HORIZON):
            u = more[k] + K[k] @ x
            x = steps[k][0] @ np.concatenate([x, u])
            self.u[k] += u


def wipe(planned, friction=FRICTION):
    """Time, place of the tool and force after every step, on a wall whose friction plans take for FRICTION."""
    model = build()
    arm = Arm(model)
    steps = int(round(SECONDS / DT))
    places = way(DT * np.arange(steps + HORIZON + 2))
    angles = arm.follow(places)
    behind = arm.targets(arm.follow(places + [PRESS, 0, 0]))
    world = rigor.World(model, dt=DT, friction=friction)
    world.q[:] = angles[0]
    world.step(300, behind[0])  # it touches
    world.time = 0
    planner, rows = Planner(model, arm, places, angles, behind), []
    for at in range(0, steps, EVERY):
        if planned:
            planner.plan(world.save(), at)
        for k in range(EVERY):
            world.ctrl[:] = planner.u[k] if planned else behind[at + k]
            world.step()
            rows.append((world.time, arm.tool(world.q)[0], load(world)[0]))
    return rows


def report(name, rows):
    late = [r for r in rows if r[0] > 0.5]
    force = np.array([r[2] for r in late])
    off = np.array([np.linalg.norm((r[1] - way([r[0]])[0])[1:]) for r in late])
    print(f"{name}: {force.mean():.2f} N, off by {np.sqrt(np.mean((force - FORCE) ** 2)):.3f} N (rms), at most "
          f"{abs(force - FORCE).max():.2f} N; off the way by {1e3 * off.mean():.2f} mm")


def figure(path, runs):
    """The way of the tool on the wall, and the force over time."""
    colors = ("#c9a227", "#2a6f97")

    def line(points, style):
        return f'<polyline points="{" ".join(points)}" fill="none" {style}/>'

    def at(p):
        return f"{170 + 900 * (p[1] - 0.1091):.1f},{120 - 900 * (p[2] - 1.25):.1f}"

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 260" width="840" height="312" '
             'font-family="sans-serif" font-size="11">', '<rect width="700" height="260" fill="white"/>']
    parts.append(line([at(p) for p in way(np.linspace(0, SECONDS, 300))],
                      'stroke="#d1495b" stroke-width="3" stroke-opacity="0.4"'))
    for color, (name, rows) in zip(colors, runs):
        parts.append(line([at(r[1]) for r in rows[::10]], f'stroke="{color}" stroke-width="1"'))
        parts.append(line([f"{370 + 310 * r[0] / SECONDS:.1f},{210 - 3 * r[2]:.1f}" for r in rows[::5]],
                          f'stroke="{color}" stroke-width="1"'))
    for force in (0, 20, 40):
        parts.append(f'<text x="345" y="{214 - 3 * force}" fill="#555">{force}</text>')
    for x, color, text in ((20, "#d1495b", "wanted"), (80, colors[0], "servos alone"), (165, colors[1], "planned"),
                           (370, "#555", f"force on the wall [N] in {SECONDS:g} s")):
        parts.append(f'<text x="{x}" y="245" fill="{color}">{text}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*parts, "</svg>", ""]))


if __name__ == "__main__":
    runs = [(name, wipe(planned)) for name, planned in (("servos alone", False), ("planned", True))]
    for name, rows in runs:
        report(name, rows)
    report("planned for friction 0.5 on a wall with 0.4", wipe(True, 0.4))
    if len(sys.argv) > 1:
        figure(sys.argv[1], runs)
