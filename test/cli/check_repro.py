"""The small scenes of RIGOR_DATA/repro, each of which once showed a fault, against the value that is right.

    check_repro.py RIGOR CC INCLUDE LIBRARY

Values come from mechanics; a tolerance is what the time step explains, and is said where it is not rounding. Of the
programs there, mu0.c (test/contact/test_judge.c) and lu_nan.c (test/math/test_kernels.c) use calls inside the
library, and rolling_on_kinematic.py is test/world/test_galilei.c.
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

LIBRARY, INCLUDE, CC, RIGOR = (sys.argv.pop() for _ in range(4))
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("RIGOR_DATA", os.path.join(HERE, "..", "..", "..", "shared", "data"))
REPRO = os.path.join(os.path.abspath(ROOT), "repro")
G = 9.81


def turn(q, x):
    """x in world axes, from those of a body with quaternion q (w first)."""
    u = np.asarray(q[1:])
    return x + 2 * np.cross(u, np.cross(u, x) + q[0] * np.asarray(x))


def numbers(values):
    return ",".join(f"{value:.17g}" for value in values)


class Repro(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_program(self, *command):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def simulate(self, scene, *options):
        """The summary of a run all of whose steps are solved, and the quantities of every step by name."""
        table = os.path.join(self.folder.name, "steps.csv")
        options = ["--csv", table, *options] if "--columns" in options else list(options)
        summary = json.loads(self.run_program(RIGOR, "simulate", os.path.join(REPRO, scene), "--json", *options))
        self.assertEqual(summary["unconverged_steps"], 0)
        self.assertIsNone(summary["error"])
        if "--columns" not in options:
            return summary, None
        with open(table, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return summary, {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


class Contacts(Repro):
    def test_train(self):
        """The middle ball gets half of the push of the first, and never touches the third."""
        _, steps = self.simulate("train.xml", "--key", "k", "--time", 0.4, "--columns", "v")
        for name, speed in (("a", 0.5), ("b", 0.5), ("c", 0.6)):
            self.assertAlmostEqual(steps["v:" + name][-1], speed, delta=1e-9)

    def test_welds_that_cannot_hold(self):
        """No crash; b stays at the push-out speed of 1 m/s and the fall of 0.2 s."""
        summary, _ = self.simulate("crash_weld.xml", "--time", 0.2)
        self.assertLess(summary["drift_max"], 0.2 + 0.5 * G * 0.2 ** 2)

    def test_limb_in_cylinder(self):
        """A limb that starts 20 mm deep, with its joint inside: no speed comes from the overlap."""
        summary, steps = self.simulate("limb_in_cylinder.xml", "--time", 0.2, "--columns", "q,v,energy")
        rates = [steps[name] for name in steps if name.startswith("v:")]
        self.assertEqual(len(rates), 1)
        self.assertLess(np.abs(rates[0]).max(), 1.5 * G / 0.1 * 0.2)  # a rod of 0.12 m that falls about its end
        self.assertLessEqual(summary["energy_rise"], 1e-9)

    def test_rod_beside_mesh(self):
        summary, _ = self.simulate("rod.urdf", "--time", 0.2)
        self.assertLess(summary["penetration_max"], 1e-4)

    def test_ten_thousand_tonnes_on_a_kilogram(self):
        summary, steps = self.simulate("ratio.xml", "--time", 0.2, "--columns", "q,contact")
        self.assertLess(summary["drift_max"], 1e-9)
        # The largest sum of the normal forces is that of both interfaces.
        self.assertAlmostEqual(steps["contact.normal"][-1] / (G * (2 * 1e7 + 1)), 1, delta=1e-6)

    def test_gaps_that_close(self):
        """Four balls on each other: the floor and three contacts bear 4, 3, 2 and 1 weights."""
        summary, steps = self.simulate("slide.xml", "--time", 0.2, "--columns", "contact")
        self.assertLess(summary["residual_max"], 1e-6)
        self.assertAlmostEqual(steps["contact.normal"][-1], 10 * G, delta=1e-5)

    def test_spring_rebounds(self):
        """Heights of a bounce on a spring do not depend on its phase: each is within (w dt)^2 of the start."""
        for dt in (1e-3, 5e-4):
            for height in (0.15, 0.153, 0.1571):
                _, steps = self.simulate("cli_bounce.xml", "--stiffness", 1e4, "--damping", 0, "--dt", dt,
                                         "--time", 0.6, "--q", f"0,0,{height},1,0,0,0", "--columns", "q,contact")
                z = steps["q:b.z"]
                bottom = z[:len(z) // 2].argmin()
                loss = (height - z[bottom:].max()) / (height - 0.05)
                self.assertLess(abs(loss), 1e4 * dt ** 2 + 1e-6)
                # The largest force of the spring: m w sqrt(v^2 + (g/w)^2) + m g. A step samples it near the top.
                v2 = 2 * G * (height - 0.05)
                self.assertAlmostEqual(steps["contact.normal"].max() / (G + math.sqrt(1e4 * v2 + G * G)), 1,
                                       delta=0.5 * (100 * dt) ** 2 + 2 * dt / 0.1)

    def test_leg_lands(self):
        """A leg that turns at 1 rad/s lifts 5.2 kg by a spring of 1e4 N/m, which compresses."""
        with open(os.path.join(REPRO, "l_leg.xml"), encoding="utf-8") as file:
            scene = self.write("leg.xml", file.read().replace("<velocity ", '<velocity name="turn" '))
        control = self.write("control.csv", "time,turn\n0,1\n")
        _, steps = self.simulate(scene, "--ctrl", control, "--q", "-0.03,-0.5", "--stiffness", 1e4, "--damping", 0,
                                 "--time", 0.4, "--columns", "q,v,contact")
        touching = steps["contact.normal"] > 0
        self.assertTrue(touching.any())
        dt = 1e-3
        momentum = 5 * steps["v:z"] + 0.2 * (steps["v:z"] + 0.15 * np.sin(steps["q:h"]) * steps["v:h"])
        impulse = np.cumsum(steps["contact.normal"]) * dt
        np.testing.assert_allclose(momentum - momentum[0], impulse - impulse[0], atol=2e-3)
        depth = -(0.32 + steps["q:z"] - 0.3 * np.cos(steps["q:h"]) - 0.02)
        force = steps["contact.normal"]
        middle = slice(int(touching.argmax()) + 2, int(touching.argmax()) + 20)
        np.testing.assert_allclose(force[middle], 1e4 * 0.5 * (depth[middle] + depth[middle.start - 1:middle.stop - 1]),
                                   rtol=0.02, atol=1)

    def test_grasp(self):
        """Plates that press with 1.05 times what friction needs hold the disc."""
        _, steps = self.simulate("cli_grasp.xml", "--ctrl", os.path.join(REPRO, "cli_grasp.csv"), "--time", 1,
                                 "--columns", "q")
        self.assertLess(np.ptp(steps["q:o.z"]), 1e-8)

    def test_table(self):
        """Four legs bear 12 kg and a box of 5 kg off the centre: no force jumps from step to step."""
        with open(os.path.join(REPRO, "o_table.xml"), encoding="utf-8") as file:
            parts = file.read().split('<geom type="sphere"')
        self.assertEqual(len(parts), 5)
        text = parts[0] + "".join(f'<geom name="leg{i}" type="sphere"' + part for i, part in enumerate(parts[1:]))
        sensors = "".join(f'<contact name="on{i}" geom1="leg{i}" data="force" num="1" reduce="netforce"/>'
                          for i in range(4))
        scene = self.write("table.xml", text.replace("</mujoco>", f"<sensor>{sensors}</sensor></mujoco>"))
        _, steps = self.simulate(scene, "--time", 1, "--columns", "sensor")
        forces = np.array([np.linalg.norm([steps[name] for name in steps if name.startswith(f"sensor:on{i}")], axis=0)
                           for i in range(4)])
        self.assertEqual(forces.shape[0], 4)
        np.testing.assert_allclose(forces[:, 10:].sum(axis=0), 17 * G, rtol=1e-5)
        self.assertTrue((forces[:, 10:] > 1).all())
        self.assertLess(np.abs(np.diff(forces[:, 10:])).max(), 1e-3)

    def test_rolling_friction(self):
        """The way of a ball that rolls to a stop is v^2/(2 (5/7) g mu_r / r), in every direction."""
        radius, mu_r, speed = 0.05, 0.002, 1.0
        ways = []
        for angle in np.linspace(0, 2 * math.pi, 9)[:-1]:
            v = speed * np.array([math.cos(angle), math.sin(angle)])
            start = numbers([*v, 0, -v[1] / radius, v[0] / radius, 0])
            _, steps = self.simulate("p_roll.xml", "--v", start, "--time", 4, "--columns", "q,v")
            x, y = (steps[name][-1] for name in steps if name.endswith((".x", ".y")) and name[0] == "q")
            ways.append(math.hypot(x, y))
        self.assertLess(np.ptp(ways), 1e-6)
        self.assertAlmostEqual(ways[0], speed ** 2 / (2 * 5 / 7 * G * mu_r / radius), delta=1e-3)

    def test_cards(self):
        """Two cards lean at 30 degrees where mu is 1.3 times what is needed."""
        summary, _ = self.simulate("n_cards.xml", "--time", 1)
        self.assertLess(summary["drift_max"], 1e-9)

    def test_soft_rest(self):
        """MuJoCo's sphere of 1 kg with the default solref and solimp rests 0.37 mm deep."""
        _, steps = self.simulate("soft_rest.xml", "--contact", "file", "--time", 1, "--columns", "q")
        z = [steps[name][-1] for name in steps if name.endswith(".z")][0]
        self.assertAlmostEqual(0.1 - z, 0.37e-3, delta=0.01e-3)


class Motion(Repro):
    def energy(self, steps):
        return steps["energy.kinetic"] + steps["energy.potential"]

    def test_chains(self):
        """Energy of a double pendulum and of ten links, as a share of its range; second order."""
        for scene, q, seconds, share in (("d_double.xml", "2,1", 20, 2e-4), ("i_short10.xml", None, 20, 3e-3)):
            start = ["--q", q] if q else []
            _, steps = self.simulate(scene, "--time", seconds, "--columns", "energy", *start)
            energy = self.energy(steps)
            spread = np.abs(energy - energy[0]).max() / np.ptp(steps["energy.kinetic"])
            self.assertLess(spread, share, scene)

    def test_floating_chain(self):
        v = [0.1, 0.2, -0.1, 0.5, 1.0, 0.7, 2.0, -1.5]
        _, steps = self.simulate("d_float.xml", "--v", numbers(v), "--time", 10, "--columns", "energy")
        energy = steps["energy.kinetic"]
        self.assertLess(np.abs(energy / energy[0] - 1).max(), 1e-8)

    def test_motor_of_a_free_joint(self):
        """It pushes along the axes of the world: x = t^2/2 of a body that is turned."""
        control = self.write("control.csv", "time,m\n0,1\n")
        _, steps = self.simulate("free_motor.xml", "--ctrl", control, "--time", 1, "--columns", "q")
        mass, at = 1, [steps["q:f." + axis][-1] for axis in "xyz"]
        np.testing.assert_allclose(at, [0.5 / mass, 0, 0], atol=1e-9)

    def test_light_roots(self):
        """Passive trees fall and hit the floor: energy rises by no more than the step's order explains."""
        for scene, seconds in (("light_root_ball.xml", 1), ("tree_energy.xml", 2)):
            summary, steps = self.simulate(scene, "--key", "k", "--mu", 1, "--time", seconds, "--columns", "energy")
            start = self.energy(steps)[0]
            self.assertLess(self.energy(steps).max() - start, 5e-3 * steps["energy.kinetic"].max(), scene)
            self.assertEqual(summary["anomalies"], [], scene)

    def test_coin(self):
        """A thin disc at 70 degrees rolls around once in steady motion: where its centre ends, from its start."""
        radius, half, tilt, precession = 0.1, 0.002, math.radians(70), 2.0
        s, c = math.sin(tilt), math.cos(tilt)
        # Steady rolling: the contact at (0, -r, -h) of the disc's axes rests. Spin and radius follow from
        # the balance of moments about the centre, with the moments of the file.
        A, C, mass = 0.0025013333333333337, 0.005000000000000001, 1.0
        lever = np.array([0, -radius * c + half * s, -radius * s - half * c])  # centre to contact, in the world
        axis = np.array([0, -s, c])

        def imbalance(spin):
            w = np.array([0, 0, precession]) + (spin - precession * c) * axis
            v = -np.cross(w, lever)
            momentum = A * (w - (w @ axis) * axis) + C * (w @ axis) * axis
            force = mass * (np.cross([0, 0, precession], v) + [0, 0, G])
            return (np.cross([0, 0, precession], momentum) - np.cross(lever, force))[0]

        a, b = imbalance(0.0), imbalance(1.0)
        spin = -a / (b - a)
        self.assertLess(abs(imbalance(spin)), 1e-12)  # linear in the spin
        w = np.array([0, 0, precession]) + (spin - precession * c) * axis
        v = -np.cross(w, lever)
        q = [math.cos(tilt / 2), math.sin(tilt / 2), 0, 0]
        back = [q[0], -q[1], 0, 0]
        start = numbers([0, 0, radius * s + half * c, *q])
        _, steps = self.simulate("coin.xml", "--mu", 10, "--tol", 1e-10, "--dt", 1e-3, "--time", 3.142, "--q", start,
                                 "--v", numbers([*turn(back, v), *turn(back, w)]), "--columns", "q")
        around = v[0] / precession
        angle = precession * steps["time"][-1]
        names = [name for name in steps if name.startswith("q:")]
        off = math.hypot(steps[names[0]][-1] - around * math.sin(angle),
                         steps[names[1]][-1] - around * (1 - math.cos(angle)))
        self.assertLess(off, 5e-4)

    def test_peg_top(self):
        """A top at 300 rad/s rolls on a tip for 2 s from a tilt of 0.8: energy, and how far it nods.

        With u the cosine of the tilt, from rest: 2 m g l (1 - u^2) = I (L/I)^2 (u0 - u) where it turns back."""
        tilt, tip, spin, weight, arm = 0.8, 1e-5, 300, 0.5 * G, 0.06
        moment, momentum = 0.0003 + 0.5 * arm ** 2, 0.0002 * spin
        a, b, u0 = (momentum / moment) ** 2, 2 * weight * arm / moment, math.cos(tilt)
        lowest = math.acos((a - math.sqrt(a * a - 4 * b * (a * u0 - b))) / (2 * b))
        q = [math.cos(tilt / 2), math.sin(tilt / 2), 0, 0]
        _, steps = self.simulate("peg_top.xml", "--mu", 2, "--tol", 1e-10, "--dt", 1e-3, "--q", numbers([0, 0, tip, *q]),
                                 "--v", numbers([-spin * tip * math.sin(tilt), 0, 0, 0, 0, spin]), "--time", 2,
                                 "--columns", "q,energy")
        energy = self.energy(steps)
        self.assertLess(np.abs(energy / energy[0] - 1).max(), 5e-4)
        quat = [steps[name] for name in steps if ".q" in name]
        tilts = np.arccos(1 - 2 * (quat[1] ** 2 + quat[2] ** 2))
        self.assertAlmostEqual(tilts.max(), lowest, delta=0.03 * (lowest - tilt))
        self.assertGreater(tilts.min(), tilt - 0.03 * (lowest - tilt))

    def test_space_gripper(self):
        """A floating gripper tumbles with a box for 10 s: energy and angular momentum."""
        control = os.path.join(self.folder.name, "control.csv")
        with open(os.path.join(REPRO, "space_gripper.xml"), encoding="utf-8") as file:
            text = file.read().replace("<position ", '<position name="p" ').replace("<motor ", '<motor name="m" ')
        scene = self.write("gripper.xml", text)
        self.write("control.csv", "time,p,m\n0,0.01,50\n")
        _, steps = self.simulate(scene, "--mu", 1, "--tol", 1e-9, "--dt", 1e-3, "--ctrl", control, "--time", 0.5,
                                 "--columns", "q")
        q = [steps[name][-1] for name in steps if name.startswith("q:")]
        w = np.array([3.0, 2.0, 1.0])
        base, fingers, box = q[:7], q[7:9], q[9:]
        back = [base[3], *(-np.array(base[4:7]))]
        boxback = [box[3], *(-np.array(box[4:7]))]
        v = [*turn(back, np.cross(w, base[:3])), *turn(back, w), 0, 0, *turn(boxback, np.cross(w, box[:3])),
             *turn(boxback, w)]
        _, steps = self.simulate(scene, "--mu", 1, "--tol", 1e-9, "--dt", 1e-3, "--ctrl", control, "--time", 10,
                                 "--q", numbers(q), "--v", numbers(v), "--columns", "q,v,energy")
        state = np.array([steps[name] for name in steps if name[:2] in ("q:", "v:")]).T

        def momentum(row):
            q, v = row[:16], row[16:]
            spin = turn(q[3:7], v[3:6])
            total = np.zeros(3)

            def add(mass, half, p, velocity, quat, rate):
                moment = mass / 3 * (half @ half - half ** 2)
                body = turn([quat[0], *(-quat[1:])], rate)
                return mass * np.cross(p, velocity) + turn(quat, moment * body)

            linear = turn(q[3:7], v[0:3])
            total += add(5, np.full(3, 0.1), q[:3], linear, q[3:7], spin)
            for k, sign in ((0, 1), (1, -1)):
                arm = turn(q[3:7], np.array([sign * (-0.03 + q[7 + k]), 0, 0.3]))
                slide = turn(q[3:7], np.array([sign * v[6 + k], 0, 0]))
                total += add(0.2, np.array([0.01, 0.05, 0.05]), q[:3] + arm, linear + np.cross(spin, arm) + slide,
                             q[3:7], spin)
            total += add(1, np.full(3, 0.02), q[9:12], turn(q[12:16], v[8:11]), q[12:16], turn(q[12:16], v[11:14]))
            return total

        first = momentum(state[1])
        self.assertLess(np.linalg.norm(momentum(state[-1]) - first) / np.linalg.norm(first), 1e-4)
        energy = steps["energy.kinetic"]
        self.assertLess(abs(energy[-1] / energy[1] - 1), 1e-4)


class Programs(Repro):
    def compile(self, name):
        program = os.path.join(self.folder.name, "program")
        self.run_program(CC, "-std=c17", "-w", "-I" + INCLUDE, os.path.join(REPRO, name), "-o", program, LIBRARY,
                         "-lm", "-Wl,-rpath," + os.path.dirname(LIBRARY))
        return self.run_program(program)

    def test_damped_loops(self):
        """Loops in one world close like each alone, and a damper does not slow the projection."""
        opening = [float(line.split()[-2]) for line in self.compile("loops_damped.c").splitlines()]
        self.assertEqual(len(opening), 12)
        self.assertLess(max(opening) / min(opening) - 1, 1e-3)

    def test_reaction_of_the_last_step(self):
        before, after = (line.split(" fx ")[1].split()[0] for line in self.compile("reaction_wrench.c").splitlines())
        self.assertEqual(before, after)
        self.assertAlmostEqual(float(before), -100, delta=1e-2)

    def test_feasible_stacks(self):
        for name in ("stack_13888.hdf5", "stack_27579.hdf5"):
            report = json.loads(self.run_program(RIGOR, "solve", os.path.join(REPRO, name), "--json"))
            self.assertEqual(report["problems"][0]["status"], "solved", name)
            self.assertLess(report["problems"][0]["residual"], 1e-6)


if __name__ == "__main__":
    if not os.path.isdir(REPRO):
        sys.exit(77)
    unittest.main()
