"""The program rigor as a user meets it: test_program.py RIGOR"""
import csv
import json
import os
import re
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "io"))
from samples import write_global, write_local, write_random

RIGOR = sys.argv.pop(1)
SOLVERS = ("auto", "newton", "interior", "admm", "admm-fast", "pgs")
FIELDS = [
    "file", "contacts", "status", "iterations", "phases", "factorizations", "residual",
    "residual_velocity", "residual_impulse", "residual_dual", "residual_complementarity", "seconds",
]


def run(*arguments):
    return subprocess.run([RIGOR, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Devices(unittest.TestCase):
    def test_list(self):
        done = run("devices")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r"host    this machine, \d+ cores")
        self.assertRegex(done.stdout, r"cuda(:0  |    none: )")

    def test_json(self):
        found = json.loads(run("devices", "--json").stdout)
        self.assertEqual(found["devices"][0]["kind"], "host")
        gpus = [device for device in found["devices"] if device["kind"] == "cuda"]
        self.assertEqual("cuda_missing" in found, not gpus)

    def test_missing_library(self):
        """A copy of the program elsewhere does not find the library that is beside the first."""
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(RIGOR, folder)
            done = subprocess.run([copy, "devices"], capture_output=True, text=True, timeout=300)
        self.assertIn("none: no librigor_cuda.so: ", done.stdout)


class Usage(unittest.TestCase):
    def refused(self, text, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_version(self):
        self.assertEqual(run("version").stdout, run("--version").stdout)
        done = run("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^rigor \d+\.\d+\.\d+\n$")

    def test_help(self):
        for verb in ([], ["solve"], ["demo"], ["bench"], ["bench", "solver"]):
            done = run(*verb, "--help")
            self.assertEqual(done.returncode, 0, verb)
            self.assertIn("usage: rigor", done.stdout)
            self.assertEqual(done.stderr, "")

    def test_every_verb_has_examples(self):
        verbs = re.findall(r"^  ([a-z]+) ", run("--help").stdout, re.M)
        self.assertGreater(len(verbs), 10)
        for verb in verbs:
            if verb != "bench":  # a family of verbs
                self.assertIn("Examples:\n  rigor ", run(verb, "--help").stdout, verb)

    def test_completion(self):
        script = os.path.join(HERE, "..", "..", "completions", "rigor.bash")
        for words, expected in {("sim",): ["simulate"],
                                ("simulate", "quad"): ["quadruped", "quadruped-fall"],
                                ("rollout", "--noise-"): ["--noise-steps"],
                                ("simulate", "--model", ""): ["ncp", "ccp", "lcp4", "lcp8"]}.items():
            line = " ".join(f"'{w}'" for w in (os.path.abspath(RIGOR), *words))
            done = subprocess.run(["bash", "-c", f"source '{script}'; COMP_WORDS=({line}); "
                                   f"COMP_CWORD={len(words)}; _rigor; echo ${{COMPREPLY[@]}}"],
                                  capture_output=True, text=True, timeout=60, cwd=HERE)
            self.assertEqual(done.stdout.split(), expected, done)

    def test_no_verb(self):
        self.refused("usage: rigor")
        self.refused("'jump' is not a verb", "jump")
        self.refused("'jump' is not a verb of rigor bench", "bench", "jump")

    def test_options(self):
        self.refused("unknown option '--fast'", "solve", "x", "--fast")
        self.refused("--tol needs a value", "solve", "x", "--tol")
        self.refused("--tol needs a number, not 'small'", "solve", "x", "--tol", "small")
        self.refused("--tol needs a number, not '1e-6x'", "solve", "x", "--tol=1e-6x")
        self.refused("--tol needs a number, not 'nan'", "solve", "x", "--tol=nan")
        self.refused("--tol must be between", "solve", "x", "--tol=-1")
        self.refused("--max-iter needs a whole number", "solve", "x", "--max-iter", "1.5")
        self.refused("--max-iter must be between 1", "solve", "x", "--max-iter", "0")
        self.refused("--repeat needs a whole number", "solve", "x", "--repeat=99999999999")
        self.refused("--solver cannot be 'magic'; it is one of auto, newton", "solve", "x",
                     "--solver", "magic")
        self.refused("--model cannot be 'lcp'", "solve", "x", "--model", "lcp")
        self.refused("--json takes no value", "solve", "x", "--json=1")
        self.refused("an argument is missing", "solve")
        self.refused("unknown option '--solve' (rigor simulate --help lists all); did you mean '--solver'?",
                     "simulate", "--solve", "auto")
        self.refused("'magic' is not a solver", "bench", "solver", "--solvers", "pgs,magic")
        self.refused("--tau belongs to ADMM", "solve", "x", "--tau", 4)
        self.refused("--stop belongs to ADMM", "simulate", "sliding", "--stop", "paper")
        self.refused("--tau must be between", "solve", "x", "--solver", "admm", "--tau", 1)
        self.refused("'magic' is not a part of the plan", "bench", "solver", "--study", "plan",
                     "--parts", "start,polish+magic")


    def test_ignored_options(self):
        """An option without effect is an error that names it and its condition."""
        for option in ("--hull", "--decompose", "--sheet=1", "--no-meshes", "--strict", "--bound=1,1", "--package-dir=.",
                       "--self-overlap=keep"):
            name = option.partition("=")[0]
            self.refused(f"{name} is for files; 'sliding' is a built-in scene", "simulate", "sliding", option)
        for option, condition in (("--record-every=5", "--record"), ("--port=8080", "--view"),
                                  ("--columns=q", "--csv"), ("--damping=1", "--stiffness")):
            self.refused(f"{option.partition('=')[0]} needs {condition}", "simulate", "sliding", option)
        self.refused("--accuracy needs --solver auto", "simulate", "sliding", "--accuracy=1e-3", "--solver=pgs")
        self.refused("--tau needs --rule linear", "simulate", "sliding", "--solver=admm", "--tau=4")
        self.refused("--p needs --rule spectral", "simulate", "sliding", "--solver=admm", "--rule=linear", "--p=1")
        self.refused("need --policy noise", "rollout", "sliding", "--noise-steps", 4)
        self.refused("--fps needs a recording or --export", "view", "sliding", "--fps", 10)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            self.assertEqual(run("simulate", "sliding", "--steps", 2, "--record", path).returncode, 0)
            for option in ("--dt=0.1", "--hold=1,1", "--time=1"):
                self.refused(f"{option.partition('=')[0]} is for simulations; {path} is a recording", "view", path,
                             option)

    def test_wrong_names_are_answered_with_a_list(self):
        for word, arguments in (("wall3x5", ("simulate", "wal")), ("quadruped-fall", ("rollout", "nothing")),
                                ("midpoint, euler", ("simulate", "sliding", "--integrator", "rk4")),
                                ("\n  simulate ", ("simulat",)),
                                ("start", ("simulate", "sliding", "--key", "home")),
                                ("cube", ("simulate", "sliding", "--csv", "-", "--columns", "force:box"))):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(word, done.stderr)

    def test_groups_of_the_help(self):
        """Every option of simulate stands once; the most used come first."""
        text = run("simulate", "--help").stdout
        groups = re.findall(r"^([A-Z][a-z ]+):\n((?:  --.*\n)+)", text, re.M)
        self.assertEqual([title for title, _ in groups],
                         ["Most used", "Run", "Physics", "Output", "Files", "Solver"])
        options = re.findall(r"^  (--[a-z-]+) ", text, re.M)
        self.assertEqual(len(options), len(set(options)))
        self.assertGreater(len(options), 60)
        self.assertEqual(len(re.findall(r"^  --", groups[0][1], re.M)), 20)
        self.assertIn("\nSimulate:\n  simulate ", run("help").stdout)


class Physics(unittest.TestCase):
    """Experiments with known answers pass, or say why they miss."""

    def test_quick(self):
        done = run("bench", "physics", "--quick", "--json")
        rows = json.loads(done.stdout)["experiments"]
        missed = [row for row in rows if not row["pass"] and row["because"] is None]
        self.assertEqual(missed, [])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(len(rows), 40)
        self.assertEqual(len({row["name"] for row in rows}), len(rows))
        for row in rows:
            self.assertEqual(row["pass"],
                             abs((row["measured"] if row["measured"] is not None else 1e300) -
                                 (row["expected"] or 0)) <= row["tolerance"], row)

    def test_only(self):
        done = run("bench", "physics", "--only", "billiard", "--markdown")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("pass"), 2)
        self.assertIn("| billiard ball: speed when it rolls, share | 0.714286", done.stdout)


class Solve(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.random = np.random.default_rng(5)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def ball(self, name, q=(-1.0, 0.5, 0.0), mu=0.5, W=None):
        """One contact, W = 2 I: r_n = 1/2; slips or sticks by mu."""
        write_local(self.path(name), np.diag([2.0, 2.0, 2.0]) if W is None else W, q, [mu])
        return self.path(name)

    def test_json(self):
        self.ball("ball.hdf5")
        done = run("solve", self.folder, "--json", "--repeat", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(list(report), ["solver", "model", "tolerance", "problems"])
        self.assertEqual(report["solver"], "auto")
        entry = report["problems"][0]
        self.assertEqual(list(entry), FIELDS)
        self.assertEqual(entry["contacts"], 1)
        self.assertEqual(entry["status"], "solved")
        self.assertEqual(set(entry["phases"]), {"newton", "sweep", "interior", "admm", "pivot"})
        self.assertLessEqual(entry["residual"], report["tolerance"])
        self.assertGreater(entry["seconds"], 0)

    def test_table(self):
        self.ball("ball.hdf5")
        done = run("solve", self.path("ball.hdf5"), "--solver", "pgs")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ball.hdf5", done.stdout)
        self.assertIn("1 of 1 solved", done.stdout)

    def test_known_answers(self):
        """Sticking: r = (1/2, -1/4, 0), u = 0. Slipping, mu = 0.1: r_t = -0.05, u_t = 0.4."""
        for solver in SOLVERS:
            for mu, r, u in ((0.6, (0.5, -0.25, 0), (0, 0, 0)), (0.1, (0.5, -0.05, 0), (0, 0.4, 0))):
                source = self.ball("ball.hdf5", mu=mu)
                done = run("solve", source, "--solver", solver, "--tol", 1e-10, "--max-iter", 20000,
                           "--write", self.path("out"))
                self.assertEqual(done.returncode, 0, (solver, done.stderr, done.stdout))
                with h5py.File(self.path("out", "ball.hdf5"), "r") as file:
                    np.testing.assert_allclose(file["solution/r"][()], r, atol=1e-8)
                    np.testing.assert_allclose(file["solution/u"][()], u, atol=1e-8)

    def test_write_keeps_the_rest(self):
        os.mkdir(self.path("a"))
        os.mkdir(self.path("a", "b"))
        for i in range(6):
            write_random(self.path("a", "b", "p%d.hdf5" % i), self.random, i)
        done = run("solve", self.path("a"), "--write", self.path("new", "out"))
        self.assertIn(done.returncode, (0, 1), done.stderr)
        for i in range(6):
            before = h5py.File(self.path("a", "b", "p%d.hdf5" % i), "r")
            after = h5py.File(self.path("new", "out", "b", "p%d.hdf5" % i), "r")
            self.assertEqual(set(after) - set(before), {"solution"})
            names = []
            before.visititems(lambda n, o: names.append(n) if hasattr(o, "shape") else None)
            for name in names:
                np.testing.assert_array_equal(before[name][()], after[name][()])
            group = "fclib_local" if "fclib_local" in before else "fclib_global"
            rows = 3 * len(before[group + "/vectors/mu"])
            self.assertEqual(after["solution/r"].shape, (rows,))
            self.assertEqual("v" in after["solution"], group == "fclib_global")
        left = [n for _, _, files in os.walk(self.path("new")) for n in files if "part" in n]
        self.assertEqual(left, [])

    def test_write_refuses_collisions(self):
        for name in ("a", "b"):
            os.mkdir(self.path(name))
            self.ball(os.path.join(name, "ball.hdf5"))
        done = run("solve", self.path("a"), self.path("b"), "--write", self.path("out"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("two files would become ball.hdf5", done.stderr)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_outputs_replace_only_regular_files(self):
        self.ball("ball.hdf5")
        out, link = self.path("real.csv"), self.path("link.csv")
        with open(out, "w", encoding="utf-8") as file:
            file.write("old")
        os.symlink(out, link)
        ball = self.path("ball.hdf5")
        done = run("solve", ball, "--history", link)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("is a link; files are not written through links", done.stderr)
        with open(out, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
        self.assertEqual(run("solve", ball, "--history", pipe).returncode, 0)
        self.assertIn("iteration", reader.communicate(timeout=60)[0])
        done = run("solve", ball, "--history", "/dev/full")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/dev/full: cannot be written", done.stderr)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))
        done = run("solve", ball, "--history", self.folder)
        self.assertIn("cannot be written: Is a directory", done.stderr)
        self.assertEqual([f for f in os.listdir(self.folder) if f.endswith(".part")], [])

    def test_devices_without_end(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        endless = "/dev/zero"
        for arguments in (["simulate", "arm", "--steps", "3", "--ctrl", endless], ["inverse", "arm", "--ref", endless],
                          ["plot", endless, self.path("a.png")], ["simulate", "sliding", "--runs", endless],
                          ["check", endless], ["solve", endless], ["replay", endless]):
            done = subprocess.run([RIGOR, *arguments], capture_output=True, text=True, timeout=300, preexec_fn=limit)
            self.assertEqual(done.returncode, 1 if arguments[0] == "check" else 2, (arguments, done))
            self.assertLess(len(done.stderr.splitlines()), 4)
            self.assertTrue(stat.S_ISCHR(os.stat(endless).st_mode))

    def test_full_standard_output(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([RIGOR, "scenes"], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the standard output cannot be written", done.stderr)

    def test_history(self):
        self.ball("ball.hdf5")
        out = self.path("history.csv")
        done = run("solve", self.path("ball.hdf5"), "--solver", "admm", "--history", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out) as file:
            rows = list(csv.DictReader(file))
        self.assertGreater(len(rows), 1)
        self.assertEqual([int(r["iteration"]) for r in rows], list(range(1, len(rows) + 1)))
        self.assertEqual({r["phase"] for r in rows}, {"admm"})
        self.assertLessEqual(float(rows[-1]["residual"]), 1e-6)
        self.assertGreater(float(rows[0]["penalty"]), 0)

    def test_unsolved_is_exit_code_one(self):
        for i in range(6):
            write_random(self.path("p%d.hdf5" % i), self.random, 11)
        done = run("solve", self.folder, "--solver", "pgs", "--max-iter", 1, "--tol", 1e-12, "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        statuses = {p["status"] for p in json.loads(done.stdout)["problems"]}
        self.assertIn("limit", statuses)

    def test_matrix_forms_agree(self):
        n, random = 12, self.random
        H, M = random.normal(size=(12, n)), np.diag(random.uniform(1, 3, 12))
        q = random.normal(size=n)
        q[0::3] = -np.abs(q[0::3])
        write_global(self.path("g.hdf5"), M, H, np.zeros(12), q, [0.4] * 4)
        answers = []
        for form in ("dense", "sparse", "velocity"):
            out = self.path(form)
            done = run("solve", self.path("g.hdf5"), "--matrix", form, "--tol", 1e-11, "--write", out)
            self.assertEqual(done.returncode, 0, (form, done.stdout, done.stderr))
            with h5py.File(os.path.join(out, "g.hdf5"), "r") as file:
                answers.append(file["solution/u"][()])
        # M is well conditioned: the velocities are unique up to the tolerance.
        np.testing.assert_allclose(answers[0], answers[1], atol=1e-8)
        np.testing.assert_allclose(answers[0], answers[2], atol=1e-8)

    def test_bad_files(self):
        self.ball("good.hdf5")
        self.ball("nan.hdf5", q=(-1.0, np.nan, 0))
        self.ball("mu.hdf5", mu=-1)
        self.ball("skew.hdf5", W=np.array([[2, 0.2, 0], [0, 2, 0], [0, 0, 2.0]]))
        with open(self.path("good.hdf5"), "rb") as file:
            data = file.read()
        with open(self.path("cut.hdf5"), "wb") as file:
            file.write(data[: len(data) // 2])
        with open(self.path("text.hdf5"), "w") as file:
            file.write("hello")
        done = run("solve", self.folder, "--json", "--write", self.path("out"))
        self.assertEqual(done.returncode, 2)
        for text in ("fclib_local/vectors/q[1] is not a number", "fclib_local/vectors/mu[0] is -1",
                     "cut.hdf5: error: ", "truncated", "not an HDF5 file",
                     "skew.hdf5: warning: fclib_local/W is not symmetric", "0.1 of"):
            self.assertIn(text, done.stderr)
        status = {os.path.basename(p["file"]): p["status"] for p in json.loads(done.stdout)["problems"]}
        self.assertEqual(status, {"good.hdf5": "solved", "skew.hdf5": "solved", "nan.hdf5": "error",
                                  "mu.hdf5": "error", "cut.hdf5": "error", "text.hdf5": "error"})
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["good.hdf5", "skew.hdf5"])

    def test_missing_things(self):
        done = run("solve", self.path("none.hdf5"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("none.hdf5: No such file", done.stderr)
        done = run("solve", self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no .hdf5 or .h5 files", done.stderr)
        self.ball("ball.hdf5")
        done = run("solve", self.path("ball.hdf5"), "--write", self.path("ball.hdf5"))
        self.assertEqual(done.returncode, 2)
        done = run("solve", self.path("ball.hdf5"), "--write", self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is the file itself", done.stderr)
        with h5py.File(self.path("ball.hdf5"), "r") as file:
            self.assertNotIn("solution", file)

    def test_folders_are_searched_within_bounds(self):
        """Links to folders and other file systems are left alone; what is too much is said."""
        os.makedirs(self.path("a", *"bcdefghijklmno"))
        self.ball(os.path.join("a", *"bcdefghijklmno", "deep.hdf5"))
        os.symlink(self.folder, self.path("a", "loop"))
        os.mkfifo(self.path("a", "pipe.h5"))
        os.symlink(self.path("a", *"bcdefghijklmno", "deep.hdf5"), self.path("a", "link.h5"))
        done = run("solve", self.path("a"), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([os.path.relpath(p["file"], self.path("a")) for p in json.loads(done.stdout)["problems"]],
                         ["b/c/d/e/f/g/h/i/j/k/l/m/n/o/deep.hdf5", "link.h5"])
        os.makedirs(self.path("a", *"bcdefghijklmno", "p", "q"))
        done = run("solve", self.path("a"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("more than 16 folders in each other; name the folder", done.stderr)
        os.symlink("nothing", self.path("a", "b", "broken.h5"))
        os.rmdir(self.path("a", *"bcdefghijklmno", "p", "q"))
        done = run("solve", self.path("a"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("broken.h5: error: ", done.stderr)
        os.mkdir(self.path("many"))
        for i in range(100_001):  # links cost less than files
            if i % 50_000 == 0:
                first = self.path("many", str(i))
                os.close(os.open(first, os.O_CREAT | os.O_WRONLY))
            else:
                os.link(first, self.path("many", str(i)))
        done = run("solve", self.path("many"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("more than 100000 files and folders; name the folder", done.stderr)

    def test_folders_are_searched_on_one_file_system(self):
        if not os.path.ismount("/dev/shm") or not os.access("/dev/shm", os.W_OK):
            self.skipTest("no file system in another")
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            write_random(os.path.join(folder, "inner.hdf5"), self.random, 3)
            self.assertEqual(run("solve", folder).returncode, 0)
            done = run("solve", "/dev")
            self.assertEqual(done.returncode, 2)
            self.assertIn("/dev: no .hdf5 or .h5 files in this folder", done.stderr)

    def test_damaged_files_never_crash(self):
        """Random bytes changed in whole files: an answer or a message, never a crash or a hang."""
        write_random(self.path("whole.hdf5"), self.random, 3)
        with open(self.path("whole.hdf5"), "rb") as file:
            data = np.frombuffer(file.read(), dtype=np.uint8)
        os.mkdir(self.path("damaged"))
        for i in range(150):
            changed = data.copy()
            where = self.random.integers(len(data), size=1 + i % 8)
            changed[where] = self.random.integers(256, size=len(where))
            changed.tofile(self.path("damaged", "d%03d.hdf5" % i))
        done = run("solve", self.path("damaged"), "--json", "--max-iter", 50)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["problems"]), 150)


class Others(unittest.TestCase):
    def test_demo(self):
        done = run("demo")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("wall: 4 s in steps of 0.001 s", done.stdout)
        self.assertIn("converged", done.stdout)

    def test_bench(self):
        with tempfile.TemporaryDirectory() as folder:
            random = np.random.default_rng(2)
            for i in range(3):
                write_random(os.path.join(folder, "step_%04d.hdf5" % i), random, 4)
                with h5py.File(os.path.join(folder, "step_%04d.hdf5" % i), "a") as file:
                    count = len(file["fclib_local/vectors/mu"])
                    file["contacts/keys"] = np.arange(3 * count, dtype="i4").reshape(count, 3)
            profile = os.path.join(folder, "profile.csv")
            done = run("bench", "solver", folder, "--json", "--repeat", 1, "--solvers", "pgs,admm",
                       "--profile", profile)
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(len(report["problems"]), 3)
            self.assertEqual([r["solver"] for r in report["problems"][0]["runs"]], ["pgs", "admm"])
            self.assertEqual(report["families"][0]["problems"], 3)
            with open(profile) as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(list(rows[0]), ["factor", "pgs", "admm"])
            # At factor 1 every problem that anyone solved has exactly one winner, ties aside.
            self.assertGreaterEqual(float(rows[0]["pgs"]) + float(rows[0]["admm"]),
                                    max(float(rows[-1]["pgs"]), float(rows[-1]["admm"])) - 1e-9)
            done = run("bench", "solver", folder, "--study", "warm", "--json", "--repeat", 1,
                       "--solvers", "pgs")
            warm = [p["warm"] for p in json.loads(done.stdout)["problems"]]
            self.assertEqual(warm, [False, True, True])
            for study in ("ablation", "penalty"):
                done = run("bench", "solver", folder, "--study", study, "--json", "--repeat", 1)
                self.assertEqual(done.returncode, 0, done.stderr)
                names = [r["solver"] for r in json.loads(done.stdout)["problems"][0]["runs"]]
                self.assertIn("all-anderson" if study == "ablation" else "linear 16", names)

    def test_parameters_of_the_paper(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "one.hdf5")
            write_random(path, np.random.default_rng(4), 5)

            def solve(*options):
                done = run("solve", path, "--solver", "admm", "--json", *options)
                return json.loads(done.stdout)["problems"][0]

            paper = solve()
            # Said aloud, the defaults change nothing.
            self.assertEqual({**solve("--rule", "spectral", "--eta", "1e-6", "--p", "0.05",
                                      "--p-start", "0.2", "--alpha", "10", "--stop", "judge"),
                              "seconds": 0}, {**paper, "seconds": 0})
            linear = solve("--rule", "linear", "--tau", "3", "--rho", "1e-3")
            self.assertEqual(linear["status"], "solved")
            self.assertNotEqual(linear["iterations"], paper["iterations"])
            constant = solve("--rule", "constant", "--rho", "1")
            self.assertEqual(constant["factorizations"], solve("--rule", "linear", "--alpha", "1e18",
                                                               "--rho", "1")["factorizations"])
            own = solve("--stop", "paper")
            self.assertLess(own["iterations"], paper["iterations"])

    def test_islands(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "two.hdf5")
            one = np.eye(3) + 0.1
            W = np.block([[one, np.zeros((3, 3))], [np.zeros((3, 3)), 2 * one]])
            write_local(path, W, np.array([-1, 0.1, 0, -1, 0, 0.2]), np.array([0.5, 0.5]))
            for islands, count in (("on", 2), ("off", 1)):
                done = run("solve", path, "--solver", "admm", "--rule", "constant", "--islands",
                           islands, "--json")
                # One factorization for the spectrum and one for the penalty, each.
                self.assertEqual(json.loads(done.stdout)["problems"][0]["factorizations"], 2 * count)

    def test_bench_random(self):
        def groups(*options):
            done = run("bench", "solver", "--study", "random", "--json", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["groups"]

        both = groups("--count", 40, "--solvers", "auto,pgs")
        self.assertEqual([g["problems"] for g in both], 16 * [10] + 4 * [40])
        self.assertEqual({g["kind"] for g in both}, {"chain", "pile", "stack", "any", "all"})
        counts = ("problems", "failures", "false", "iterations_mean", "factorizations_mean")
        whole = [[g[c] for c in counts] for g in groups("--count", 40)]
        again = [[g[c] for c in counts] for g in both if g["solver"] == "auto"]
        self.assertEqual(whole, again)
        # The set does not depend on where one starts.
        first, rest = groups("--count", 24), groups("--first", 24, "--count", 16)
        for i in range(3):
            self.assertEqual([w[i] for w in whole],
                             [a[counts[i]] + b[counts[i]] for a, b in zip(first, rest)])


if __name__ == "__main__":
    unittest.main()
