"""`rigor new`: the project loads, its C program builds and runs, and nothing is overwritten.

    test_new.py RIGOR CC INCLUDE LIBRARY
"""
import os
import subprocess
import sys
import tempfile
import unittest

LIBRARY, INCLUDE, CC, RIGOR = (sys.argv.pop() for _ in range(4))


class New(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def run_in(self, place, *command):
        return subprocess.run(command, cwd=os.path.join(self.folder.name, place), capture_output=True,
                              text=True, timeout=300)

    def test_project_runs(self):
        done = self.run_in(".", RIGOR, "new", "my_arm-2")
        self.assertEqual(done.returncode, 0, done)
        files = sorted(os.listdir(os.path.join(self.folder.name, "my_arm-2")))
        self.assertEqual(files, ["CMakeLists.txt", "README.md", "main.c", "run.py", "scene.xml"])
        check = self.run_in("my_arm-2", RIGOR, "check", "scene.xml")
        self.assertEqual(check.returncode, 0, check)
        self.assertIn("my_arm-2", check.stdout)
        self.assertIn("warnings     0", check.stdout)
        built = self.run_in("my_arm-2", CC, "-std=c17", "-Wall", "-Wextra", "-Werror", "-I" + INCLUDE, "main.c",
                            "-o", "program", LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY))
        self.assertEqual(built.returncode, 0, built.stderr)
        ran = self.run_in("my_arm-2", "./program")
        self.assertEqual(ran.returncode, 0, ran)
        lines = ran.stdout.splitlines()
        self.assertEqual(len(lines), 11)
        # The box of 0.2 kg rests on the table until the arm touches it.
        self.assertTrue(lines[1].endswith("1.96 N"), lines[1])
        missing = self.run_in("my_arm-2", "./program", "nothing.xml")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("nothing.xml", missing.stderr)

    def test_refusals(self):
        self.run_in(".", RIGOR, "new", "a")
        again = self.run_in(".", RIGOR, "new", "a")
        self.assertEqual(again.returncode, 2)
        self.assertIn("a: File exists", again.stderr)
        for name in ("a/b", "..", "a b", "x" * 65, ""):
            done = self.run_in(".", RIGOR, "new", name)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn("is not a project name", done.stderr)
        self.assertEqual(self.run_in(".", RIGOR, "new").returncode, 2)
        self.assertEqual(os.listdir(self.folder.name), ["a"])


if __name__ == "__main__":
    unittest.main()
