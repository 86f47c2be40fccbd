"""The verb identify as a user meets it: test_identify.py RIGOR"""
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

RIGOR = os.path.abspath(sys.argv.pop(1))
ARM = """<mujoco><option timestep="0.002"/><worldbody><body name="arm" pos="0 0 1">
<joint name="hinge" axis="0 1 0" damping="%g"/>
<geom name="rod" type="capsule" fromto="0 0 0 0.3 0 0" size="0.01" mass="0.2"/></body></worldbody>
</mujoco>"""
BALL = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.3"/>
<body name="box" pos="0 0 0.05"><freejoint name="free"/>
<geom name="box" type="box" size="0.05 0.05 0.05" mass="0.5" friction="0.3"/></body></worldbody>
</mujoco>"""


def run(*arguments):
    return subprocess.run([RIGOR, *map(str, arguments)], capture_output=True, text=True,
                          timeout=300)


class Identify(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name, text in (("true.xml", ARM % 0.03), ("arm.xml", ARM % 0.01), ("box.xml", BALL)):
            self.write(name, text)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def record(self):
        for name in ("a", "b"):
            made = run("simulate", self.path("true.xml"), "--q", "0.4" if name == "a" else "-1",
                       "--time", "0.6", "--csv", self.path(name + ".csv"), "--record",
                       self.path(name + ".h5"))
            self.assertEqual(made.returncode, 0, made.stderr)
        return [self.path("a.csv"), self.path("b.h5")]

    def test_damping(self):
        files = self.record()
        arguments = ["identify", self.path("arm.xml"), *files, "--fit",
                     "joint/hinge/damping=0:0.1", "--generations", "5", "--folds", "2"]
        made = run(*arguments, "--json", "--out", self.path("found.xml"), "--csv",
                   self.path("errors.csv"))
        self.assertEqual(made.returncode, 0, made.stderr)
        answer = json.loads(made.stdout)
        damping = answer["parameters"][0]
        self.assertAlmostEqual(damping["value"], 0.03, delta=3e-4)
        self.assertAlmostEqual(damping["start"], 0.01)
        self.assertEqual(len(damping["folds"]), 2)
        self.assertGreater(damping["determined"], 0.9)
        self.assertLess(answer["errors"]["held_out"]["coordinate"], 1e-3)
        self.assertIsNone(answer["errors"]["after"]["position"])
        with open(self.path("found.xml")) as file:
            written = re.search(r'damping="([^"]*)"', file.read()).group(1)
        self.assertEqual(float(written), damping["value"])
        with open(self.path("errors.csv")) as file:
            rows = file.read().splitlines()
        self.assertEqual(len(rows), 3)
        self.assertEqual(rows[1].split(",")[1:3], ["0", "301"])
        self.assertEqual(run(*arguments, "--threads", "2", "--json").stdout,
                         run(*arguments, "--json").stdout)
        table = run(*arguments).stdout
        self.assertIn("joint/hinge/damping", table)
        self.assertIn("held out", table)

    def test_plan(self):
        files = self.record()
        plan = self.write("plan.txt", "# damping alone\njoint/hinge/damping=0.001:0.1, log "
                                      "start=0.01  # equal ratios\n\n")
        made = run("identify", self.path("arm.xml"), *files, "--plan", plan, "--generations", "3",
                   "--json")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertAlmostEqual(json.loads(made.stdout)["parameters"][0]["value"], 0.03, delta=1e-3)

    def test_mass_is_open(self):
        self.record()
        for upper in ("0.1", "0.5"):  # however wide the bounds beside what is found
            with self.subTest(upper):
                made = run("identify", self.path("arm.xml"), self.path("a.csv"), "--fit",
                           f"joint/hinge/damping=0:{upper}", "--fit", "body/arm/scale=0.5:2,start=1",
                           "--fit", "gravity=5:15", "--generations", "3")
                self.assertEqual(made.returncode, 1, made.stderr)
                # damping and inertia alone leave their ratio: neither is called determined
                self.assertRegex(made.stdout, r"open: .*joint/hinge/damping.*body/arm/scale")
                self.assertRegex(made.stdout, r"joint/hinge/damping +N m s/rad .* together\n")
                self.assertRegex(made.stdout, r"body/arm/scale .* no\n")
                self.assertRegex(made.stdout, r"gravity .* yes\n")

    # Positions alone, with noise: the start's velocity is wrong, and no answer is called sure.
    def test_noise_without_velocities(self):
        self.record()
        source = random.Random(1)
        with open(self.path("a.csv")) as file:
            rows = [line.split(",") for line in file.read().splitlines()]
        text = "time,q:hinge\n" + "".join(f"{r[0]},{float(r[1]) + source.gauss(0, 0.02):.6f}\n" for r in rows[1:])
        noisy = self.write("noisy.csv", text)
        arguments = ["identify", self.path("arm.xml"), noisy, "--fit", "joint/hinge/damping=0:0.1", "--generations",
                     "3", "--noise", "0.01,0.02,0.02"]
        made = run(*arguments)
        self.assertEqual(made.returncode, 1, made)
        self.assertNotIn(" yes", made.stdout)
        self.assertRegex(made.stdout, r"times those of --noise.*--start-noise")
        self.assertGreater(json.loads(run(*arguments, "--json").stdout)["misfit"], 3)
        made = run(*arguments, "--start-noise", "0.05,0.05,5,5")
        self.assertEqual(made.returncode, 0, made)
        self.assertRegex(made.stdout, r"damping .* yes\n")

    def test_not_converged(self):
        files = self.record()
        made = run("identify", self.path("arm.xml"), *files, "--fit", "joint/hinge/damping=0:0.1,start=0.09",
                   "--generations", "0", "--refine", "1")
        self.assertEqual(made.returncode, 1, made)
        self.assertIn("not converged", made.stdout)
        self.assertRegex(made.stdout, r"damping .* not known\n")

    def test_bare_columns(self):
        """A body that falls and turns, with columns as in recordings of others."""
        rows = ["t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx_body,wy_body,wz_body,extra,q:gone.x,v:gone.wx"]
        for i in range(15):
            t = 0.01 * i
            angle = 2 * t  # about x
            rows.append(f"{t},{0.3 * t},0,{0.5 - 4.8 * t * t},{math.cos(angle / 2)},"
                        f"{math.sin(angle / 2)},0,0,0.3,0,{-9.6 * (t - 0.005)},2,0,0,1,2,3")
        path = self.write("fall.csv", "\n".join(rows) + "\n")
        made = run("identify", self.path("box.xml"), path, "--fit", "gravity=8:11",
                   "--velocities", "backward", "--generations", "0", "--json")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("the model has no column 'extra'; it is not used (and 2 more like it)", made.stderr)
        # The start is corrected with the model's 9.81 m/s^2: 1 mm/s too fast.
        self.assertAlmostEqual(json.loads(made.stdout)["parameters"][0]["value"], 9.6, delta=0.03)

    def test_columns_of_simulate(self):
        """Every column that the program writes for a free body is one that it reads."""
        path = self.path("box.csv")
        done = run("simulate", self.path("box.xml"), "--time", "0.1", "--csv", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = run("identify", self.path("box.xml"), path, "--fit", "gravity=8:11", "--generations", "0", "--json")
        self.assertIn(made.returncode, (0, 1), made.stderr)  # however well it is determined
        self.assertEqual(made.stderr, "")
        self.assertAlmostEqual(json.loads(made.stdout)["parameters"][0]["value"], 9.81, delta=1e-6)

    def test_messages(self):
        self.record()
        fit = ["--fit", "joint/hinge/damping=0:0.1"]
        model, good = self.path("arm.xml"), self.path("a.csv")
        cases = [
            ([model, good], "no parameter to fit"),
            ([model], "needs a model and at least one recording"),
            ([model, good, "--fit", "joint/hinge/damping"], "is not NAME=LOW:HIGH"),
            ([model, good, "--fit", "joint/hinge/damping=0:0.1,prior=3"], "is not NAME=LOW:HIGH"),
            ([model, good, "--fit", "joint/hing/damping=0:1"], "did you mean 'hinge'?"),
            ([model, good, "--fit", "joint/hinge/dumping=0:1"], "there are damping, friction"),
            ([model, good, "--plan", self.path("none.txt")], "No such file"),
            ([model, good, *fit, "--folds", "2"], "more folds than motions"),
            ([model, good, *fit, "--noise", "1,2"], "--noise"),
            ([model, self.path("none.csv"), *fit], "none.csv"),
            ([model, self.write("x.csv", "time,q:hinge\n0,1\n0.1,x\n"), *fit], "x.csv:3"),
            ([model, self.write("y.csv", "time,q:hinge\n0,1\n0.1\n"), *fit],
             "1 numbers for 2 column names"),
            ([model, self.write("z.csv", "time,q:hinge\n0,1\n0,1\n"), *fit], "times must increase"),
            ([model, self.write("u.csv", "time,q:other\n0,1\n1,1\n"), *fit],
             "measures nothing of this model"),
            ([model, self.write("v.csv", "q:hinge\n1\n1\n"), *fit], "no column 'time'"),
            ([model, self.write("w.csv", "time,t\n1,2\n"), *fit], "means the same"),
            ([self.path("box.xml"), self.write("p.csv", "t,px,py,pz\n0,0,0,1\n1,0,0,1\n"), "--fit",
              "gravity=9:10"], "must have all of x y z qw"),
            ([self.path("box.xml"), self.path("a.h5"), "--fit", "gravity=9:10"],
             "a recording of another model"),
        ]
        for arguments, text in cases:
            made = run("identify", *arguments)
            self.assertEqual(made.returncode, 2, (arguments, made.stderr))
            self.assertIn(text, made.stderr)
            self.assertEqual(made.stdout, "")

    def test_fields(self):
        made = run("identify", "--fields")
        self.assertEqual(made.returncode, 0)
        for name in ("body/NAME/mass", "shape/NAME/friction", "joint/NAME/armature", "gravity"):
            self.assertIn(name, made.stdout)


if __name__ == "__main__":
    unittest.main()
