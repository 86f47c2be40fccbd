"""The verb rollout, and solve over ranks, as a user meets them: test_rollout.py RIGOR [RIGOR_MPI]"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np

RIGOR = os.path.abspath(sys.argv.pop(1))
MPI = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and shutil.which("mpirun") else None
LIGHT = "RIGOR_TEST_LIGHT" in os.environ  # sanitizers: shorter runs
RANKS = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
         "LSAN_OPTIONS": "detect_leaks=0"}  # of MPI itself
MJCF = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="1 1 1"/>
<body name="slider" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="%g"/>
<body name="arm" pos="0 0 0.2"><joint name="hinge" axis="0 1 0" damping="0.1"/>
<geom type="capsule" size="0.02 0.1" mass="0.5"/></body></body></worldbody>
<actuator><position name="servo" joint="hinge" kp="5" ctrlrange="-1 1"/></actuator>
<sensor><jointpos joint="hinge"/></sensor>
<keyframe><key name="fast" qvel="1 0 0 0 0 0 0"/></keyframe></mujoco>"""


def run(*arguments, **options):
    return subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=300,
                          **options)


def content(path):
    with open(path, "rb") as file:
        return file.read()


class Rollout(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.model = self.write("slider.xml", MJCF % 2)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def rollout(self, *arguments, code=0):
        done = run(RIGOR, "rollout", *arguments, "--json")
        self.assertEqual(done.returncode, code, done)
        return json.loads(done.stdout)

    def ranks(self, count, *arguments, code=0, verb="rollout"):
        done = run("mpirun", "--oversubscribe", "-n", count, MPI, verb, *arguments, env=RANKS)
        self.assertEqual(done.returncode, code, done)
        return done

    def refused(self, text, *arguments):
        done = run(RIGOR, "rollout", *arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, "")

    def arrays(self, name):
        with h5py.File(self.path(name)) as file:
            return {key: file[key][...] for key in file if key not in ("about", "check", "seal")}

    def same(self, a, b):
        a, b = self.arrays(a), self.arrays(b)
        self.assertEqual(a.keys(), b.keys())
        for key in a:
            np.testing.assert_array_equal(a[key], b[key], key)

    def test_what_is_written(self):
        report = self.rollout(self.model, "--key", "fast", "--worlds", 40, "--steps", 60, "--every",
                              20, "--randomise", "mu=0.1:0.9,mass=0.5:2,gravity=5:10", "--seed", 3,
                              "--policy", "noise", "--sensors", "--block", 16, "--out",
                              self.path("a.h5"))
        self.assertEqual(report["worlds_run"], 40)
        self.assertEqual(report["steps"], 2400)
        self.assertEqual(report["stopped"], 0)
        a = self.arrays("a.h5")
        self.assertEqual(a["positions"].shape, (40, 3, 8))
        self.assertEqual(a["velocities"].shape, (40, 3, 7))
        self.assertEqual(a["sensors"].shape, (40, 3, 1))
        np.testing.assert_array_equal(a["sensors"][:, :, 0], a["positions"][:, :, 7])
        np.testing.assert_allclose(a["time"], 0.12)
        np.testing.assert_allclose(a["times"], np.tile([0.04, 0.08, 0.12], (40, 1)), rtol=1e-12)
        self.assertEqual(a["controls"].shape, (40, 3, 1))
        self.assertEqual(len(np.unique(a["controls"])), 120)  # noise, new every 10 steps
        self.assertEqual(a["start_positions"].shape, (40, 8))
        self.assertEqual(a["start_velocities"].shape, (40, 7))
        np.testing.assert_array_equal(a["start_velocities"][:, 0], 1)
        np.testing.assert_array_equal(a["steps"], 60)
        np.testing.assert_array_equal(a["status"], 1)
        mu, mass, gravity = a["parameters"].T
        for values, low, high in (mu, 0.1, 0.9), (mass, 0.5, 2), (gravity, 5, 10):
            self.assertGreaterEqual(values.min(), low)
            self.assertLessEqual(values.max(), high)
            self.assertEqual(len(set(values)), 40)
        # Coulomb: more friction times gravity, less far.
        far = a["positions"][:, -1, 0]
        order = np.argsort(mu * gravity)
        self.assertGreater(far[order[:10]].mean(), far[order[-10:]].mean())
        with h5py.File(self.path("a.h5")) as file:
            self.assertIn(b"seed 3", file["about/texts/settings"][()])
            self.assertEqual(file["about/texts/parameters"][()], b"mu,mass,gravity")

    def test_one_world_is_simulate(self):
        self.rollout(self.model, "--key", "fast", "--steps", 50, "--out", self.path("one.h5"))
        done = run(RIGOR, "simulate", self.model, "--key", "fast", "--time", 0.1, "--csv",
                   self.path("one.csv"))
        self.assertEqual(done.returncode, 0, done)
        last = content(self.path("one.csv")).decode().split("\n")[-2]
        expected = [float(x) for x in last.split(",")]
        one = self.arrays("one.h5")
        np.testing.assert_allclose(one["positions"][0, 0], expected[1:9], rtol=0, atol=1e-12)

    def test_grid(self):
        report = self.rollout(self.model, "--grid", "mu=0.2:0.8:4,stiffness=1e4:1e6:3:log",
                              "--worlds", 2, "--steps", 5, "--out", self.path("grid.h5"))
        self.assertEqual(report["worlds"], 24)
        points = self.arrays("grid.h5")["parameters"]
        np.testing.assert_allclose(points[:12], points[12:])
        np.testing.assert_allclose(points[:3, 0], 0.2)
        np.testing.assert_allclose(points[:3, 1], [1e4, 1e5, 1e6])
        np.testing.assert_allclose(points[9:12, 0], 0.8)

    def test_scene_and_controls(self):
        # The script of the wall acts in every world, and a file of controls in every one likewise.
        self.rollout("sliding", "--worlds", 3, "--steps", 10, "--out", self.path("s.h5"))
        csv = self.write("u.csv", "time,servo\n0,0.5\n0.02,-0.5\n")
        self.rollout(self.model, "--worlds", 3, "--steps", 200, "--every", 10, "--policy", "csv",
                     "--ctrl", csv, "--block", 2, "--out", self.path("u.h5"))
        hinge = self.arrays("u.h5")["positions"][:, :, 7]
        self.assertGreater(hinge[0, 0], 0)
        self.assertLess(hinge[0, -1], -0.1)
        for i in 1, 2:
            np.testing.assert_array_equal(hinge[i], hinge[0])

    def test_threads_do_not_matter(self):
        for threads in 1, 2, 4, 8:
            self.rollout("quadruped", "--worlds", 24, "--steps", 40, "--policy", "noise",
                         "--randomise", "mass=0.8:1.2,gain=0.9:1.1,damping=0.5:2", "--threads",
                         threads, "--block", 10, "--out", self.path(f"t{threads}.h5"))
            self.same("t1.h5", f"t{threads}.h5")

    @unittest.skipUnless(MPI, "no MPI")
    def test_ranks_do_not_matter(self):
        job = ["quadruped", "--worlds", 23, "--steps", 30, "--policy", "noise", "--randomise",
               "mu=0.3:1", "--block", 4, "--every", 10]
        self.rollout(*job, "--out", self.path("r0.h5"))
        for ranks in 1, 2, 3:
            done = self.ranks(ranks, *job, "--threads", 2, "--out", self.path(f"r{ranks}.h5"))
            self.assertIn("23 worlds", done.stdout)
            self.same("r0.h5", f"r{ranks}.h5")
        # A run of three ranks goes on with two, or alone.
        with h5py.File(self.path("r3.h5.part0001"), "r+") as part:
            part["status"][...] = 0
            part["check"][...] = 0
            part["positions"][...] = 7
        before = self.arrays("r3.h5")
        self.assertEqual((before["status"] == 0).sum(), 8)
        done = self.ranks(2, *job, "--out", self.path("r3.h5"), "--resume")
        self.assertIn("8 of them in this run", done.stdout)
        self.same("r0.h5", "r3.h5")

    # One bit of a file of ranks: ranks and a single process name that file, and simulate nothing.
    @unittest.skipUnless(MPI, "no MPI")
    def test_damaged_parts(self):
        job = ["quadruped", "--worlds", 12, "--steps", 10, "--every", 5, "--out", self.path("r.h5")]
        self.ranks(3, *job)
        chance = random.Random(36)
        for name in ("r.h5", "r.h5.part0000", "r.h5.part0001", "r.h5.part0002"):
            whole = content(self.path(name))
            for k in range(3):
                bad = bytearray(whole)
                bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
                with open(self.path(name), "wb") as file:
                    file.write(bad)
                done = (self.ranks(3, *job, "--resume", code=2) if k == 0 else
                        run(RIGOR, "rollout", *job, "--resume"))
                self.assertEqual(done.returncode, 2, done)
                self.assertRegex(done.stderr, rf"(?m)^{re.escape(self.path(name))}: error: ")
            with open(self.path(name), "wb") as file:
                file.write(whole)
        self.assertIn("0 of them in this run", self.ranks(3, *job, "--resume").stdout)

    @unittest.skipUnless(MPI, "no MPI")
    def test_ranks_that_see_other_files(self):
        for rank, mass in enumerate((2, 2, 3)):
            self.write(f"{rank}/slider.xml", MJCF % mass)
        shell = f"cd {self.folder.name}/$OMPI_COMM_WORLD_RANK && exec {MPI} rollout slider.xml"
        done = run("mpirun", "--oversubscribe", "-n", 3, "sh", "-c", shell, env=RANKS)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("not all ranks see the same model", done.stderr)
        # One message for all that go wrong in the same way, one when it is another rank.
        done = self.ranks(3, self.path("absent.xml"), code=2)
        self.assertEqual(done.stderr.count("absent.xml"), 1, done)
        os.remove(self.path("1/slider.xml"))
        done = run("mpirun", "--oversubscribe", "-n", 2, "sh", "-c", shell, env=RANKS)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("check that all ranks see the same files", done.stderr)

    @unittest.skipUnless(MPI, "no MPI")
    def test_help_once(self):
        self.assertEqual(self.ranks(3, "--help").stdout.count("usage:"), 1)
        self.assertEqual(self.ranks(2, verb="--help").stdout.count("usage:"), 1)
        self.assertEqual(self.ranks(2, verb="dance", code=2).stderr.count("usage:"), 1)

    @unittest.skipUnless(MPI, "no MPI")
    def test_solve_over_ranks(self):
        problems = self.path("problems")
        os.mkdir(problems)
        done = run(RIGOR, "simulate", "pile", "--bodies", 12, "--time", 0.4, "--max-iter", 1,
                   "--tol", 1e-14, "--dump", problems)
        names = sorted(os.listdir(problems))[:7]
        self.assertGreater(len(names), 3, done)
        for name in sorted(os.listdir(problems))[7:]:
            os.remove(os.path.join(problems, name))
        with open(os.path.join(problems, "zz.hdf5"), "w", encoding="utf-8") as file:
            file.write("no problem")
        one = run(RIGOR, "solve", problems, "--json")
        many = self.ranks(3, problems, "--json", code=one.returncode, verb="solve")
        self.assertEqual(one.returncode, 2)
        strip = [[{k: v for k, v in p.items() if k != "seconds"} for p in
                  json.loads(done.stdout)["problems"]] for done in (one, many)]
        self.assertEqual(strip[0], strip[1])
        self.assertIn("not an HDF5 file", many.stderr)

    def test_killed_and_resumed(self):
        job = [RIGOR, "rollout", "quadruped", "--worlds", "60", "--steps", "100", "--policy",
               "noise", "--randomise", "mass=0.9:1.1", "--block", "4", "--threads", "2"]
        begin = time.monotonic()
        self.assertEqual(run(*job, "--out", self.path("whole.h5")).returncode, 0)
        length = time.monotonic() - begin
        dice = random.Random(5)
        kills = 0
        for attempt in range(40):
            child = subprocess.Popen([*job, "--out", self.path("cut.h5"), "--resume"],
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            try:
                last = attempt >= (3 if LIGHT else 8)
                out, _ = child.communicate(timeout=None if last else dice.uniform(0, 0.4 * length))
                self.assertEqual(child.returncode, 0, out)
                break
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.communicate()
                kills += 1
        self.assertGreater(kills, 1)
        self.assertEqual(content(self.path("whole.h5")), content(self.path("cut.h5")))
        # Nothing is left to do.
        report = self.rollout(*job[2:], "--out", self.path("cut.h5"), "--resume")
        self.assertEqual(report["worlds_run"], 0)

    def test_nothing_is_overwritten(self):
        out = self.path("kept.h5")
        self.rollout(self.model, "--worlds", 2, "--steps", 3, "--out", out)
        kept = content(out)
        self.refused("exists already", self.model, "--worlds", 2, "--steps", 3, "--out", out)
        self.refused("'steps 3' there, 'steps 4' here", self.model, "--worlds", 2, "--steps", 4,
                     "--out", out, "--resume")
        self.write("slider.xml", MJCF % 2.5)
        self.refused("start and first step", self.model, "--worlds", 2, "--steps", 3, "--out", out,
                     "--resume")
        self.refused("is not an HDF5 file", self.model, "--out", self.write("text.h5", "text"),
                     "--resume")
        self.assertEqual(content(out), kept)
        self.rollout(self.model, "--worlds", 3, "--steps", 3, "--out", out, "--force")
        self.assertEqual(len(self.arrays("kept.h5")["status"]), 3)
        self.refused("cannot be created", self.model, "--out", self.path("no/such/a.h5"))
        self.refused("cannot be created", self.model, "--out", "/proc/a.h5")
        self.refused("exists already", self.model, "--out", self.folder.name)

    def test_disk_full(self):
        disk = self.path("disk")
        os.mkdir(disk)
        mount = f"mount -t tmpfs -o size=200k tmpfs {disk}"
        if run("unshare", "-rm", "sh", "-c", mount).returncode != 0:
            self.skipTest("no small disk can be made")
        job = f"{RIGOR} rollout {self.model} --worlds 5000 --steps 2 --out {disk}/a.h5"
        done = run("unshare", "-rm", "sh", "-c", f"{mount} && {job}; code=$?; ls -A {disk}; exit $code")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("no room for", done.stderr)
        self.assertIn("No space left", done.stderr)
        self.assertEqual(done.stdout, "")  # nothing is left behind
        job = f"{RIGOR} rollout {self.model} --steps 2 --out {disk}/a.h5"
        done = run("unshare", "-rm", "sh", "-c", f"{mount} && mount -o remount,ro {disk} && {job}")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("cannot be created", done.stderr)

    # A robot beside another, held by servos: what rigor simulate makes of the same words.
    def test_several_files_and_servos(self):
        files = [self.model, self.write("arm.xml", MJCF % 1), "--prefix", "b_", "--at", "0,1,0",
                 "--without-world", "--key", "fast", "--hold", "5,0.1"]
        unheld = '<position name="servo" joint="hinge" kp="5" ctrlrange="-1 1"/>'
        self.write("arm.xml", (MJCF % 1).replace(unheld, ""))
        self.rollout(*files, "--worlds", 2, "--steps", 40, "--out", self.path("two.h5"))
        done = run(RIGOR, "simulate", *files, "--steps", 40, "--csv", self.path("two.csv"))
        self.assertEqual(done.returncode, 0, done)
        expected = np.loadtxt(self.path("two.csv"), delimiter=",", skiprows=1)[-1, 1:17]
        for row in self.arrays("two.h5")["positions"]:
            np.testing.assert_array_equal(row[0], expected)
        done = run(RIGOR, "rollout", *files[:-1], "6,0.1", "--worlds", 2, "--steps", 40, "--out",
                   self.path("two.h5"), "--resume")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("other settings", done.stderr)
        done = run(RIGOR, "rollout", self.model, "--out", "/nowhere/at/all.h5")
        self.assertIn("cannot be created: No such file or directory", done.stderr)

    def test_worlds_that_stop(self):
        report = self.rollout(self.model, "--worlds", 3, "--steps", 50, "--v",
                              "0,0,0,1e200,0,0,0", "--out", self.path("stop.h5"), code=1)
        self.assertEqual(report["stopped"], 3)
        stop = self.arrays("stop.h5")
        np.testing.assert_array_equal(stop["status"], 4)  # 1 + diverged
        self.assertTrue(np.isnan(stop["positions"]).all())
        report = self.rollout(self.model, "--grid", "mass=-1:1:3", "--steps", 50, "--out",
                              self.path("mass.h5"), code=1)
        self.assertEqual(report["stopped"], 2)
        np.testing.assert_array_equal(self.arrays("mass.h5")["status"], [6, 6, 1])

    def test_wrong_options(self):
        self.refused("--worlds must be between", self.model, "--worlds", 0)
        self.refused("there is no parameter 'size'", self.model, "--randomise", "size=1:2")
        self.refused("is not NAME=LOW:HIGH", self.model, "--randomise", "mu")
        self.refused("--grid names no parameter", self.model, "--grid", "")
        self.refused("mu wants LOW:HIGH", self.model, "--randomise", "mu=1:2:3")
        self.refused("mu wants LOW:HIGH:COUNT", self.model, "--grid", "mu=1:2")
        self.refused("is not a range", self.model, "--randomise", "mu=2:1")
        self.refused("is given twice", self.model, "--randomise", "mu=1:2", "--grid", "mu=1:2:3")
        self.refused("a grid of more than", self.model, "--grid",
                     "mu=0:1:100000,mass=1:2:100000")
        self.refused("too large", self.model, "--grid", "mu=0:1:100000", "--worlds", 100000)
        self.refused("go together", self.model, "--policy", "csv")
        self.refused("exclude each other", self.model, "--out", "a.h5", "--force", "--resume")
        self.refused("need --out", self.model, "--resume")
        self.refused("only 10 steps", self.model, "--steps", 10, "--every", 11, "--out",
                     self.path("a.h5"))
        self.refused("neither a scene nor a file", "nothing")
        self.assertFalse(os.path.exists(self.path("a.h5")))


if __name__ == "__main__":
    unittest.main(verbosity=1)
