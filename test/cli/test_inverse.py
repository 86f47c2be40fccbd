"""The verbs inverse and bench inverse as a user meets them: test_inverse.py RIGOR"""
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

RIGOR = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([RIGOR, *map(str, arguments)], capture_output=True, text=True, timeout=500)


class Inverse(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def report(self, *arguments, code=0):
        done = run("inverse", *arguments, "--json")
        self.assertEqual(done.returncode, code, done)
        return json.loads(done.stdout)

    def refused(self, text, *arguments):
        done = run("inverse", *arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_velocities(self):
        rows = "".join(f"{0.001 * k},{0.002 * k}\n" for k in range(40))
        ref = self.write("v.csv", "time,v:pan\n" + rows)
        out = self.path("out.csv")
        report = self.report("arm_wall", "--key", "home", "--ref", ref, "--csv", out)
        self.assertEqual(report["steps"], 40)
        self.assertEqual(report["unsolved_steps"], 0)
        self.assertLess(report["velocity_error_max"], 1e-8)
        with open(out, encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        self.assertEqual(len(table), 40)
        # the pan axis starts with 2 rad/s^2; the others carry the arm
        self.assertLess(abs(float(table[0]["force:pan"])), 1e-9)
        self.assertGreater(float(table[1]["force:pan"]), 3)
        self.assertGreater(abs(float(table[0]["force:lift"])), 10)

    def test_states(self):
        states = self.path("states.csv")
        done = run("simulate", "quadruped", "--time", "0.1", "--tol", "1e-10", "--csv", states)
        self.assertEqual(done.returncode, 0, done)
        held = self.report("quadruped", "--ref", states, code=1)
        spared = self.report("quadruped", "--ref", states, "--feasible")
        # nothing but the servos acted: contact forces can carry the robot, and without them the
        # base would have to be held
        self.assertGreater(held["missing_force_max"], 50)
        self.assertGreater(held["unheld_steps"], 90)  # all but the fall at the start
        self.assertEqual(spared["missing_force_max"], 0)
        self.assertEqual(spared["missing_torque_max"], 0)
        text = run("inverse", "quadruped", "--ref", states).stdout
        self.assertIn("steps are not possible: the base lacks up to", text)
        self.assertIn("--feasible", text)
        self.assertGreater(spared["normal_force_max"], 50)
        self.assertEqual(spared["unsolved_steps"], 0)

    def test_convex(self):
        rows = "".join(f"{0.001 * k},0.1\n" for k in range(3))
        ref = self.write("v.csv", "time,v:wrist_2\n" + rows)  # moves the tool along the wall
        force = ("arm_wall", "--key", "home", "--ref", ref, "--normal-force", 20)
        exact = self.report(*force)
        convex = self.report(*force, "--model", "ccp", code=1)
        self.assertAlmostEqual(exact["normal_force_max"], 20, places=6)
        self.assertGreater(convex["force_max"], 1e6)
        self.assertGreater(convex["infeasible_steps"], 0)

    def test_into_the_wall(self):
        ref = self.write("v.csv", "time,v:lift,v:elbow\n0,0.5,0.5\n")
        report = self.report("arm_wall", "--key", "home", "--ref", ref, code=1)
        self.assertEqual(report["infeasible_steps"], 1)
        self.assertGreater(report["violation_max"], 0.05)

    def test_refusals(self):
        good = self.write("v.csv", "time,v:pan\n0,0\n0.001,0\n")
        self.refused("--ref", "arm_wall")
        self.refused("neither a scene nor a file", "nonsense", "--ref", good)
        self.refused("nothing.csv", "arm_wall", "--ref", self.path("nothing.csv"))
        cases = {
            "time,v:nose\n0,0\n": "no column 'v:nose'",
            "v:pan\n0\n": "must be 'time'",
            "time,v:pan,v:pan\n0,0,0\n": "two columns",
            "time,q:pan,v:pan\n0,0,0\n": "give all or none",
            "time\n0\n": "no velocity",
            "time,v:pan\n0,x\n": ":2: 'x' is not a number",
            "time,v:pan\n0,nan\n": "is not a number",
            "time,v:pan\n0\n": ":2: 1 numbers, not 2",
            "time,v:pan\n0,0,0\n": ":2: more than 2",
            "time,v:pan\n": "0 rows",
            "time,v:pan\n0,0\n0.5,0\n": "apart",
            "": "",
        }
        for text, message in cases.items():
            self.refused(message, "arm_wall", "--ref", self.write("bad.csv", text))

    def test_bench(self):
        out = self.path("curves")
        done = run("bench", "inverse", "--time", "0.05", "--calls", "20", "--repeat", "1",
                   "--no-peer", "--out", out, "--json")
        self.assertEqual(done.returncode, 0, done)
        report = json.loads(done.stdout)
        arm = report["wall"][0]
        self.assertEqual(arm["steps"], 50)
        self.assertLessEqual(arm["iterations_max_from_normal"], 2)
        self.assertEqual(arm["unsolved"], 0)
        self.assertEqual(arm["convex_unsolved"], 50)
        self.assertGreater(arm["convex_torque_max"], 1e3 * arm["torque_max"])
        self.assertLess(arm["contact_force_error_max"], 1e-4)
        self.assertEqual(report["calls"][-1]["contacts"], 8)
        with open(os.path.join(out, "inverse_arm_wall.csv"), encoding="utf-8") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 50)


if __name__ == "__main__":
    unittest.main()
