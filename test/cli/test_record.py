"""Recordings as a user meets them: test_record.py RIGOR"""
import csv
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy

RIGOR = sys.argv.pop(1)
LIGHT = "RIGOR_TEST_LIGHT" in os.environ  # sanitizers: shorter runs


def run(*arguments):
    return subprocess.run([RIGOR, *map(str, arguments)], capture_output=True, text=True, timeout=500)


class Record(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def record(self, *arguments):
        path = self.path("run.h5")
        done = run("simulate", *arguments, "--record", path)
        self.assertEqual(done.returncode, 0, done)
        return path

    def replay(self, *arguments, code=0):
        done = run("replay", *arguments, "--json")
        self.assertEqual(done.returncode, code, done)
        return json.loads(done.stdout)

    def test_h5py_alone(self):
        path = self.record("wall", "--time", 0.2, "--csv", self.path("run.csv"))
        with h5py.File(path) as file, open(self.path("run.csv"), encoding="utf-8") as text:
            rows = numpy.array([list(map(float, row)) for row in list(csv.reader(text))[1:]])
            self.assertEqual(bytes(file["format"][()]), b"rigor recording")
            nq = file["frames/q"].shape[1]
            numpy.testing.assert_array_equal(file["frames/q"][()], rows[:, 1 : 1 + nq])
            numpy.testing.assert_array_equal(file["frames/v"][()], rows[:, 1 + nq :])
            numpy.testing.assert_allclose(file["frames/time"][()], rows[:, 0], rtol=1e-8)
            scene = json.loads(bytes(file["model/scene"][()]))
            self.assertEqual(scene["nq"], nq)
            end = file["frames/contact_end"][()]
            force = file["contacts/force"][end[-2] : end[-1]]
            ground = file["contacts/bodies"][end[-2] : end[-1], 0] == 0
            cubes = sum(b["mass"] for b in scene["bodies"] if "ball" not in b["name"])
            # the floor carries the wall: single precision, and contacts solved to 1e-6
            self.assertAlmostEqual(force[ground, 2].sum() / (9.81 * cubes), 1, delta=1e-4)

    def test_again(self):
        path = self.record("quadruped", "--time", 0.3, "--record-every", 3, "--csv",
                           self.path("run.csv"), "--columns", "q,energy")
        found = self.replay(path, "--check")
        self.assertEqual((found["frames"], found["compared_frames"]), (101, 101))
        self.assertEqual(found["differing_frames"], 0)
        self.assertTrue(found["complete"])
        with h5py.File(path, "r+") as file:
            file["frames/q"][50, 2] += 1e-15
            file["frames/hash"][50] += 1
        found = self.replay(path, "--check", code=1)
        self.assertEqual(found["differing_frames"], 1)

    def test_exports(self):
        path = self.record("quadruped", "--time", 0.05)
        done = run("replay", path, "--csv", self.path("a.csv"), "--mjcf", self.path("a.xml"),
                   "--contacts", self.path("c.csv"))
        self.assertEqual(done.returncode, 0, done)
        run("simulate", "quadruped", "--time", 0.05, "--csv", self.path("b.csv"))
        with open(self.path("a.csv"), encoding="utf-8") as a:
            with open(self.path("b.csv"), encoding="utf-8") as b:
                self.assertEqual(a.read(), b.read())
        with open(self.path("c.csv"), encoding="utf-8") as file:
            contacts = list(csv.DictReader(file))
        self.assertGreater(len(contacts), 0)
        self.assertIn(contacts[-1]["state"], ("open", "stick", "slip"))
        self.assertTrue(all(c["body_a"] == "world" for c in contacts))
        self.assertTrue(all(c["shape_a"] == "floor" for c in contacts))
        self.assertIn("shank_fl", (c["body_b"] for c in contacts))
        self.assertEqual(run("check", self.path("a.xml")).returncode, 0)

    # Contacts carry the names of the world that was simulated: --ground adds a shape behind the robot's, and a
    # model made from the recording's MJCF has it before them; its bodies may have another order as well.
    def test_names_of_contacts(self):
        links = "".join(f'''<link name="{n}"><inertial><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01"
ixy="0" ixz="0" iyz="0"/></inertial><collision name="{n}_shape"><origin xyz="0 0 {z}"/><geometry><sphere radius="0.1"/>
</geometry></collision></link>''' for n, z in (("base", 0), ("left", 0), ("right", 0), ("toe", 0)))
        joints = "".join(f'''<joint name="{c}_joint" type="fixed"><parent link="{p}"/><child link="{c}"/>
<origin xyz="{xyz}"/></joint>''' for p, c, xyz in (("base", "left", "0 .5 0"), ("base", "right", "0 -.5 0"),
                                                   ("left", "toe", ".5 0 0")))
        with open(self.path("robot.urdf"), "w", encoding="utf-8") as file:
            file.write(f"<robot name='r'>{links}{joints.replace('fixed', 'continuous')}</robot>")
        path = self.record(self.path("robot.urdf"), "--floating", "--ground", "--at", "0,0,0.2", "--time", 0.5)
        run("replay", path, "--contacts", self.path("c.csv"))
        with open(self.path("c.csv"), encoding="utf-8") as file:
            contacts = list(csv.DictReader(file))
        pairs = {(c["body_a"], c["shape_a"], c["body_b"], c["shape_b"]) for c in contacts}
        seen = set()
        for a, b, c, d in pairs:
            (body, shape), other = ((a, b), (c, d)) if c == "world" else ((c, d), (a, b))
            self.assertEqual(other, ("world", "rigor_ground"))
            self.assertEqual(shape, f"{body}/{body}_shape")
            seen.add(body)
        self.assertEqual(seen, {"base", "left", "right", "toe"})

    def test_killed(self):
        path = self.path("run.h5")
        with subprocess.Popen([RIGOR, "simulate", "quadruped", "--time", "1000", "--record", path],
                              stdout=subprocess.DEVNULL) as child:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                time.sleep(0.3)
                found = run("replay", path, "--json")
                if found.returncode == 0 and json.loads(found.stdout)["frames"] > 500:
                    break
            child.send_signal(signal.SIGKILL)
        found = self.replay(path)
        self.assertGreater(found["frames"], 500)
        self.assertFalse(found["complete"])
        self.assertAlmostEqual(found["end"], (found["frames"] - 1) * found["dt"], places=6)
        with h5py.File(path, "r", swmr=True) as file:
            self.assertGreaterEqual(len(file["frames/time"]), found["frames"])

    def test_refused(self):
        def refused(text, path):
            done = run("replay", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn(text, done.stderr)

        refused("cannot be opened", self.path("nothing.h5"))
        with open(self.path("text.h5"), "w", encoding="utf-8") as file:
            file.write("time,q\n")
        refused("not an HDF5 file", self.path("text.h5"))
        with h5py.File(self.path("foreign.h5"), "w") as file:
            file["a"] = 1
        refused("not a recording of rigor", self.path("foreign.h5"))
        path = self.record("quadruped", "--time", 0.02)
        with h5py.File(path, "r+") as file:
            file["version"][0] = 99
        refused("version 99", path)
        with h5py.File(path, "r+") as file:
            file["version"][0] = 2
            file["frames/kinematic"] = numpy.zeros((21, 8))
        refused("frames/kinematic does not contain poses of 7 numbers", path)
        with h5py.File(path, "r+") as file:
            del file["frames/kinematic"]
            del file["frames/q"]
            file["frames/q"] = numpy.zeros(5)
        refused("frames/q does not have the shape", path)
        done = run("simulate", "wall", "--record", "/nowhere/at/all.h5")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "/nowhere/at/all.h5: error: cannot be created: "
                         "No such file or directory\n")

    def test_plot_without_gnuplot(self):
        path = self.path("short.h5")
        self.assertEqual(run("simulate", "sliding", "--steps", "3", "--record", path).returncode, 0)
        done = subprocess.run([RIGOR, "plot", path, self.path("none.svg")], capture_output=True, text=True,
                              timeout=60, env=dict(os.environ, PATH=self.folder.name))
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("gnuplot failed", done.stderr)

    def test_plot(self):
        path = self.record("quadruped", "--time", 0.1, "--csv", self.path("run.csv"))
        done = run("plot", path, self.path("a.svg"), "--what", "energy,contacts,joint:knee_fl")
        if "gnuplot failed" in done.stderr:
            self.skipTest("no gnuplot")
        self.assertEqual(done.returncode, 0, done)
        with open(self.path("a.svg"), encoding="utf-8") as file:
            self.assertIn("energy [J]", file.read())
        with open(self.path("a.svg.csv"), encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        with open(self.path("run.csv"), encoding="utf-8") as file:
            states = list(csv.DictReader(file))
        self.assertEqual([row["knee_fl"] for row in table], [row["q:knee_fl"] for row in states])
        self.assertAlmostEqual(float(table[9]["total"]),
                               float(table[9]["kinetic"]) + float(table[9]["potential"]))
        done = run("plot", self.path("run.csv"), self.path("b.png"), "--what", "q:root.z", "--json")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(json.loads(done.stdout),
                         {"picture": self.path("b.png"), "numbers": self.path("b.png.csv"),
                          "rows": len(states), "series": ["q:root.z"]})
        with open(self.path("flat.csv"), "w", encoding="utf-8") as file:
            file.write("time,a\n0,1\n1,1\n")
        fall = self.path("fall.h5")  # without contacts no residual is positive
        self.assertEqual(run("simulate", "bouncing", "--steps", 20, "--record", fall).returncode, 0)
        for source in (self.path("flat.csv"), fall):
            done = run("plot", source, self.path("d.png"))
            self.assertEqual((done.returncode, done.stderr), (0, ""), done)
            self.assertNotIn("Warning", done.stdout)
        for what, text in (("joint:nose", "no joint"), ("force:nose", "no body"), ("magic", "unknown quantity")):
            done = run("plot", path, self.path("c.png"), "--what", what)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(text, done.stderr)
        for source in path, self.path("run.csv"):
            done = run("plot", source, self.path("c.png"), "--what", "")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("nothing to draw", done.stderr)
        for what in ("q:nose", "q:root.z,q:nose"):
            done = run("plot", self.path("run.csv"), self.path("c.png"), "--what", what)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("no column 'q:nose'", done.stderr)
        done = run("plot", self.path("run.csv"), self.path("run.png"), "--what", "q:root.z")
        self.assertEqual(done.returncode, 0, done)  # beside it, not in its place
        with open(self.path("run.csv"), encoding="utf-8") as file:
            self.assertEqual(list(csv.DictReader(file)), states)
        for name in ("full.png", "table.png.csv"):  # a disk that is full, for the picture and for its numbers
            os.symlink("/dev/full", self.path(name))
        for name in ("full.png", "table.png"):
            done = run("plot", path, self.path(name))
            self.assertEqual(done.returncode, 2, name)
            self.assertIn("written", done.stderr)
        done = run("plot", path, self.path("c.gif"))
        self.assertIn(".png, .svg or .pdf", done.stderr)

    # Any damage ends in a message or in frames, never in a crash of the program.
    def test_damaged(self):
        path = self.record("quadruped", "--time", 0.05)
        with open(path, "rb") as file:
            good = file.read()
        source = random.Random(7)
        for case in range(4 if LIGHT else 30):
            bad = bytearray(good)
            if case % 3 == 0:
                del bad[source.randrange(len(bad)) :]
            for _ in range(1 + 20 * (case % 2)):
                if bad:
                    bad[source.randrange(len(bad))] = source.randrange(256)
            with open(self.path("bad.h5"), "wb") as file:
                file.write(bad)
            done = run("replay", self.path("bad.h5"))
            self.assertIn(done.returncode, (0, 2), done)
            self.assertEqual(done.returncode == 2, "rigor: " in done.stderr, done)

    # One bit of what a recording holds: it is found, and the message names where it was.
    def test_flipped_bits(self):
        path = self.record("quadruped", "--time", 0.05)
        with open(path, "rb") as file:
            good = file.read()
        source = random.Random(11)
        with h5py.File(path, "r") as file:
            places = [(name, file[name].id.get_chunk_info(0).byte_offset, file[name].id.get_chunk_info(0).size)
                      for group in ("frames", "contacts", "model") for name in
                      (f"{group}/{n}" for n in file[group]) if file[name].chunks and file[name].id.get_num_chunks()]
        self.assertGreater(len(places), 20)
        for name, first, size in places[:: 5 if LIGHT else 1]:
            bad = bytearray(good)
            bad[first + source.randrange(size)] ^= 1 << source.randrange(8)
            with open(self.path("bad.h5"), "wb") as file:
                file.write(bad)
            done = run("replay", self.path("bad.h5"))
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(f"{name} cannot be read", done.stderr)
        for name in ("version", "run/interval", "run/time_step", "revision", "format"):
            with h5py.File(path, "r") as file:
                value = file[name][()].tobytes()
                self.assertEqual(file[name].id.get_create_plist().get_layout(), h5py.h5d.COMPACT)
            bad = bytearray(good)
            bad[good.index(value)] ^= 4
            with open(self.path("bad.h5"), "wb") as file:
                file.write(bad)
            self.assertEqual(run("replay", self.path("bad.h5")).returncode, 2, name)

    # A full disk is an error with a message, at whatever byte it begins.
    def test_full_disk(self):
        path = self.path("run.h5")
        for room in (0, 4096, 20000, 100000):
            def limit(room=room):
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            done = subprocess.run([RIGOR, "simulate", "humanoid", "--time", "1", "--record", path],
                                  capture_output=True, text=True, timeout=500, preexec_fn=limit, check=False)
            self.assertIn(done.returncode, (1, 2), done)
            self.assertIn(path, done.stderr)

    # What was written before the disk was full is kept, as after kill -9, with time to spare for all of it.
    def test_disk_fills_up(self):
        path = self.path("run.h5")
        for room in (6 << 20, 9 << 20):
            def limit(room=room):
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            done = subprocess.run([RIGOR, "simulate", "quadruped", "--time", "1000", "--record", path],
                                  capture_output=True, text=True, timeout=500, preexec_fn=limit, check=False)
            self.assertEqual(done.returncode, 1, done)
            kept = re.search(r"no room for more: File too large; the recording ends after (\d+) frames", done.stderr)
            self.assertTrue(kept, done.stderr)
            found = self.replay(path)
            self.assertEqual(found["frames"], int(kept[1]))
            self.assertTrue(found["complete"])
            self.assertGreater(os.path.getsize(path), 0.4 * room)
            self.assertEqual(self.replay(path, "--check")["differing_frames"], 0)

    # One file, two programs: the second is told, and the first recording is whole.
    def test_two_writers(self):
        path = self.path("run.h5")
        with subprocess.Popen([RIGOR, "simulate", "quadruped", "--time", "1000", "--record", path],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and run("replay", path).returncode != 0:
                time.sleep(0.1)
            done = run("simulate", "wall", "--time", 0.01, "--record", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn(f"{path}: error: is being written by another program", done.stderr)
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(timeout=60), 130)
        found = self.replay(path, "--check")
        self.assertEqual((found["complete"], found["differing_frames"]), (True, 0))
        self.assertEqual(run("simulate", "wall", "--time", 0.01, "--record", path).returncode, 0)

    # Names that lead to other files: neither recordings nor tables go there.
    def test_links(self):
        run("simulate", "quadruped", "--time", 0.02, "--record", self.path("good.h5"))
        with open(self.path("kept"), "w", encoding="utf-8") as file:
            file.write("kept")
        for name, target in (("link", "kept"), ("dangling", "absent")):
            os.symlink(target, self.path(name))
            for arguments in (["simulate", "quadruped", "--steps", "3", "--record"],
                              ["simulate", "quadruped", "--steps", "3", "--csv"],
                              ["replay", self.path("good.h5"), "--csv"],
                              ["replay", self.path("good.h5"), "--contacts"],
                              ["replay", self.path("good.h5"), "--mjcf"],
                              ["view", self.path("good.h5"), "--export"],
                              ["convert", "quadruped"], ["plot", self.path("good.h5")],
                              ["render", self.path("good.h5")]):
                target = self.path(name) + {"convert": ".xml", "plot": ".svg", "render": ".png"}.get(arguments[0], "")
                if not os.path.islink(target):
                    os.symlink(os.readlink(self.path(name)), target)
                done = run(*arguments, target)
                self.assertEqual(done.returncode, 1 if arguments[0] == "convert" else 2, done)
                self.assertIn("is a link; files are not written through links", done.stderr)
        self.assertFalse(os.path.exists(self.path("absent")))
        with open(self.path("kept"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")
        done = run("simulate", "quadruped", "--steps", 3, "--csv", "/dev/stdout", "--json")
        self.assertIn("time,q:", done.stdout)  # a link to what is no file

    # What is read is not what is written.
    def test_own_input(self):
        path = self.record("quadruped", "--time", 0.02)
        run("replay", path, "--mjcf", self.path("a.xml"))
        os.link(path, self.path("other.h5"))
        for arguments in (["view", path, "--export", path], ["view", path, "--export", self.path("other.h5")],
                          ["replay", path, "--csv", path], ["replay", path, "--contacts", self.path("other.h5")],
                          ["replay", path, "--mjcf", path],
                          ["simulate", self.path("a.xml"), "--steps", "1", "--csv", self.path("a.xml")],
                          ["simulate", self.path("a.xml"), "--steps", "1", "--record", self.path("a.xml")],
                          ["convert", self.path("a.xml"), self.path("a.xml")],
                          ["rollout", self.path("a.xml"), "--worlds", 2, "--steps", 1, "--force", "--out",
                           self.path("a.xml")]):
            before = self.files()
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("the output would replace an input file", done.stderr)
            self.assertEqual(self.files(), before)
        os.mkdir(self.path("in"))
        for arguments in (["replay", path, "--csv", self.path("b.csv"), "--contacts", self.path("in/../b.csv")],
                          ["simulate", "quadruped", "--steps", 1, "--csv", self.path("b"), "--record", self.path("b")]):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("two outputs would be written to this file", done.stderr)
            self.assertFalse(os.path.exists(self.path("b.csv")) or os.path.exists(self.path("b")))

    def ask(self, path, *lines):
        with h5py.File(path, "r+") as file:
            del file["run/arguments"]
            file["run/arguments"] = numpy.frombuffer(("\n".join(lines) + "\n").encode(), numpy.uint8)

    def files(self):
        return {name: os.stat(self.path(name)).st_mtime_ns for name in os.listdir(self.folder.name)}

    # A recording chooses what is simulated again, and no file that is written.
    def test_hostile_arguments(self):
        path = self.record("quadruped", "--time", 0.02)
        target = self.path("target")
        with open(self.path("runs.json"), "w", encoding="utf-8") as file:
            json.dump([{"files": "quadruped", "steps": 1, "csv": target}], file)
        for lines in (["--csv", target], ["--dump=" + target], ["--record", target], ["--record=" + target],
                      ["--runs", self.path("runs.json")], ["--runs=" + self.path("runs.json")],
                      ["--", "--csv", target], ["--new", target], ["-"], ["--view"], ["--help"], ["-h"],
                      ["--mu", "--runs", "--csv=" + target]):
            self.ask(path, "simulate", "quadruped", "--time", "0.02", *lines)
            before = self.files()
            done = run("replay", path, "--check")
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertRegex(done.stderr, "a replay cannot repeat '-.*' of the recording")
            self.assertEqual(self.files(), before)

    # Each option of rigor simulate either decides what is simulated or is refused.
    def test_every_option(self):
        path = self.record("quadruped", "--time", 0.002)
        options = re.findall(r"^  (--[a-z-]+)( [A-Z])?", run("simulate", "--help").stdout, re.M)
        self.assertGreater(len(options), 60)
        writes = {"--csv", "--columns", "--runs", "--dump", "--record", "--record-every", "--view", "--port",
                  "--json", "--realtime"}
        for option, value in options:
            self.ask(path, "simulate", "quadruped", option, *(["1"] if value else []))
            done = run("replay", path, "--check")
            self.assertEqual("a replay cannot repeat" in done.stderr, option in writes, (option, done))
            self.assertNotIn("needs a value", done.stderr, option)
            self.assertNotIn("takes no value", done.stderr, option)

    # A run ends with the recording, whatever time its arguments ask for, and takes nothing from its caller.
    def test_endless_arguments(self):
        path = self.record("quadruped", "--time", 0.02, "--record-every", 3)
        for length in (["--time", "1e9"], ["--steps=2000000000"]):
            self.ask(path, "simulate", "quadruped", *length)
            self.assertEqual(self.replay(path, "--check")["differing_frames"], 0)
        self.ask(path, "simulate", "quadruped", "--ctrl", "-")
        with subprocess.Popen([RIGOR, "replay", path, "--check"], stdin=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            self.assertEqual(child.wait(timeout=100), 2)  # nobody writes to it

    # What a replay writes is what its own command line names.
    def test_no_cache(self):
        home = self.path("home")
        os.mkdir(home)
        path = self.record("quadruped", "--time", 0.02)
        before = self.files()
        done = subprocess.run([RIGOR, "replay", path, "--check"], capture_output=True, timeout=500, check=False,
                              env={**os.environ, "HOME": home, "XDG_CACHE_HOME": home})
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(os.listdir(home), [])
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main()
