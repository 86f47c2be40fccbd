"""The verb derive as a user meets it: test_derive.py RIGOR"""
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

RIGOR = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([RIGOR, "derive", *map(str, arguments)], capture_output=True, text=True, timeout=500)


class Derive(unittest.TestCase):
    def test_agrees(self):
        done = run("arm_wall", "--steps", 20, "--check", "--forces", "--json")
        self.assertEqual(done.returncode, 0, done)
        report = json.loads(done.stdout)
        self.assertEqual(report["states"], 3)
        self.assertEqual(report["compared"], 3)
        for block in ("position", "velocity", "control", "force"):
            self.assertLess(report[f"by_{block}_v"], 1e-6)

    def test_differs(self):
        done = run("arm_wall", "--steps", 20, "--check", "--most", 1e-300)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("DIFFERS", done.stdout)

    def test_smoothed(self):
        done = run("quadruped", "--key", "stand", "--steps", 5, "--smoothing", 0.1)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn(" 0 with redundant rows", done.stdout)  # as no contact is rigid then
        done = run("quadruped", "--check", "--smoothing", 0.1)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("--smoothing", done.stderr)

    def test_matrices(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "AB.csv")
            done = run("arm_wall", "--steps", 3, "--csv", path)
            self.assertEqual(done.returncode, 0, done)
            with open(path, encoding="utf-8") as file:
                rows = list(csv.reader(file))
        self.assertEqual(rows[0][:3], ["of", "row", "position 0"])
        self.assertEqual([row[0] for row in rows[1:]], ["q"] * 6 + ["v"] * 6)
        self.assertEqual(len(rows[1]), 2 + 3 * 6)
        self.assertAlmostEqual(float(rows[1][2]), 1, places=4)

    def test_wrong(self):
        self.assertEqual(run("arm_wall", "--every", 0).returncode, 2)
        self.assertEqual(run("no_such_scene").returncode, 2)


if __name__ == "__main__":
    unittest.main()
