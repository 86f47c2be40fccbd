"""The verb convert as a user meets it: test_convert.py RIGOR"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

RIGOR = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([RIGOR, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def check(path):
    return json.loads(run("check", path, "--json").stdout)


class Convert(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_there_and_back(self):
        urdf, mjcf = self.path("q.urdf"), self.path("q.xml")
        done = run("convert", "quadruped", urdf)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("URDF has no actuators; left out: abad_fl, hip_fl, knee_fl", done.stderr)
        self.assertIn("left out: floor", done.stderr)
        self.assertEqual(run("convert", urdf, mjcf).returncode, 0)
        for path in (urdf, mjcf):
            found = check(path)
            self.assertTrue(found["ok"])
            self.assertEqual((found["nq"], found["nv"]), (19, 18))
            self.assertAlmostEqual(found["mass"], 8.252, 9)

    def test_what_is_left_out_as_json(self):
        done = run("convert", "quadruped", self.path("q.urdf"), "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        self.assertTrue(found["ok"])
        self.assertTrue(any("no actuators" in m["text"] for m in found["messages"]), found)

    def test_refusals(self):
        self.assertEqual(run("convert", "quadruped").returncode, 2)
        self.assertEqual(run("convert", "nothing.urdf", self.path("a.xml")).returncode, 1)
        done = run("convert", "arm", self.path("a.stl"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("neither .urdf nor .xml", done.stderr)

    # Options of a file behind the output hold for all files, and are read.
    def test_options_behind_the_output(self):
        one, two = self.path("one.xml"), self.path("two.xml")
        for options in ["--at", "1,2,3"], ["--prefix", "left_", "--rpy", "0,0,0.5"]:
            for order in ["quadruped", *options, one], ["quadruped", two, *options]:
                self.assertEqual(run("convert", *order).returncode, 0)
            with open(one, encoding="utf-8") as a, open(two, encoding="utf-8") as b:
                self.assertEqual(a.read(), b.read())
        done = run("convert", "quadruped", two, "--at", "abc")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--at: 'abc' is not a number", done.stderr)

    def test_check_builtin(self):
        found = check("humanoid")
        self.assertTrue(found["ok"])
        self.assertEqual((found["nq"], found["nv"], found["mass"]), (30, 29, 75))
        self.assertEqual(found["messages"], [])
        self.assertGreater(found["pairs"], 50)
        self.assertEqual(found["frictionRule"], "maximum")
        self.assertEqual(check("humanoid.urdf")["frictionRule"], "geometric")


if __name__ == "__main__":
    unittest.main()
