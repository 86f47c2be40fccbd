"""The verbs simulate, scenes and demo as a user meets them: test_simulate.py RIGOR"""
import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

RIGOR = sys.argv.pop(1)
LIGHT = "RIGOR_TEST_LIGHT" in os.environ  # sanitizers: shorter runs
FIELDS = {
    "scene", "solver", "tolerance", "threads", "seed", "dt", "steps", "seconds", "steps_per_second",
    "contacts_mean", "contacts_p95", "iterations_mean", "iterations_p95", "converged_share",
    "residual_max", "penetration_max", "drift_max", "kinetic_energy", "energy", "unconverged_steps",
    "regularized_steps", "realtime_factor", "hash", "stages",
}
STAGES = {"kinematics", "collide", "dynamics", "assemble", "solve", "velocity", "position",
          "project"}
INERTIA = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
BOX = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'
URDF = f"""<robot name="brick"><link name="base"><inertial><mass value="1"/>{INERTIA}</inertial>
{BOX}</link></robot>"""
MJCF = """<mujoco><option timestep="0.002"/><worldbody><body name="slider">
<joint name="rail" type="slide" axis="1 0 0"/><geom type="sphere" size="0.1" mass="2"/></body>
</worldbody><actuator><motor name="push" joint="rail"/></actuator>
<keyframe><key name="far" qpos="3"/></keyframe></mujoco>"""


def run(*arguments):
    return subprocess.run([RIGOR, *map(str, arguments)], capture_output=True, text=True, timeout=500)


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.urdf = self.write("brick.urdf", URDF)
        self.mjcf = self.write("slider.xml", MJCF)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def report(self, *arguments, code=0):
        done = run("simulate", *arguments, "--json")
        self.assertEqual(done.returncode, code, done)
        return json.loads(done.stdout)

    def refused(self, text, *arguments):
        done = run("simulate", *arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, "")


class Wall(Simulate):
    def stands(self, scene):
        found = self.report(scene, "--time", 0.5 if LIGHT else 2)
        self.assertEqual(found["steps"], 500 if LIGHT else 2000)
        self.assertLess(found["drift_max"], 1e-6)
        self.assertLess(found["penetration_max"], 1e-6)
        self.assertLess(found["kinetic_energy"], 1e-9)
        self.assertGreater(found["converged_share"], 0.995)
        self.assertLess(found["residual_max"], 1e-5)
        self.assertGreaterEqual(found["contacts_mean"], 60)

    def test_pyramid_stands(self):
        self.stands("wall")

    def test_straight_stands(self):
        self.stands("wall3x5")

    def test_ball_hits(self):
        """By 2.3 s the ball has flown 3 m and the cubes have been thrown away."""
        found = self.report("wall", "--time", 2.3)
        self.assertGreater(found["drift_max"], 0.2)
        self.assertGreater(found["kinetic_energy"], 1000)


class Summary(Simulate):
    def test_another_motion_is_found(self):
        """A cube that exactly fits between two walls falls, or they hold it."""
        box = '<geom type="box" size="0.1 0.1 0.1"'
        wedge = self.write("wedge.xml", f"""<mujoco><worldbody>{box} name="left" pos="-0.2 0 1"/>
            {box} pos="0.2 0 1"/><body name="cube" pos="0 0 1"><freejoint/>{box} mass="1"/></body>
            </worldbody></mujoco>""")
        done = run("simulate", wedge, "--dt", 1e-3, "--steps", 1, "--answers", "--json")
        found = json.loads(done.stdout)["answers"]
        self.assertEqual((found["searched_steps"], found["steps_with_another_motion"]), (1, 1))
        self.assertAlmostEqual(found["velocity_apart_max"], 9.81e-3, delta=1e-6)
        self.assertIn("the motion is not unique", done.stderr)
        self.assertIn("and cube", done.stderr)
        found = self.report(self.urdf, "--floating", "--ground", "--steps", 20, "--answers")["answers"]
        self.assertEqual(found["steps_with_another_motion"], 0)
        self.assertNotIn("answers", self.report(self.urdf, "--floating", "--steps", 1))
        self.refused("--view", self.urdf, "--answers", "--view")

    def test_json(self):
        found = self.report("massratio", "--time", 0.1, "--seed", 3)
        self.assertLessEqual(FIELDS, set(found))
        self.assertEqual(set(found["stages"]), STAGES)
        self.assertEqual((found["scene"], found["solver"], found["seed"]), ("massratio", "auto", 3))
        self.assertEqual((found["steps"], found["dt"], found["threads"]), (100, 0.001, 1))
        self.assertEqual(found["tolerance"], 1e-6)
        self.assertEqual(found["converged_share"], 1 - found["unconverged_steps"] / 100)
        self.assertLess(found["residual_max"], 1e-5)
        self.assertRegex(found["hash"], "^[0-9a-f]{16}$")
        self.assertIsNone(found["error"])
        # 1 kg at 0.1 m and 10^4 kg at 0.3 m, at rest.
        self.assertAlmostEqual(found["energy"], 9.81 * (0.1 + 3000), delta=1e-3)
        self.assertLess(found["drift_max"], 1e-6)

    def test_text(self):
        done = run("simulate", "massratio", "--time", 0.05)
        self.assertEqual(done.returncode, 0, done)
        for word in ("massratio: 0.05 s in steps of 0.001 s", "speed ", "contacts ", "iterations ",
                     "converged    100.00 %", "geometry ", "energy ", "stages ", "hash "):
            self.assertIn(word, done.stdout)
        self.assertEqual(done.stderr, "")

    def test_accuracy(self):
        """The summary names the residual that was asked for, and every step reaches it and no less than needed."""
        pile = ("simulate", "pile", "--bodies", "30", "--dt", "0.002", "--time", "0.6", "--accuracy", "1e-2")
        self.assertIn("auto solver, accuracy 0.01", run(*pile).stdout.splitlines()[0])
        summary = json.loads(run(*pile, "--json").stdout)
        self.assertEqual(summary["accuracy"], 0.01)
        self.assertLessEqual(summary["residual_max"], 0.01)
        self.assertGreater(summary["residual_max"], 1e-4)
        self.assertEqual(summary["unconverged_steps"], 0)

    def test_sliding(self):
        """From 1 m/s with mu = 0.5 and dt = 1 ms the stopping distance is 101.937 mm."""
        found = self.report("sliding", "--tol", 1e-9)
        self.assertAlmostEqual(found["drift_max"], 0.101937, delta=1e-6)
        self.assertLess(found["penetration_max"], 1e-9)

    def test_friction(self):
        """Without friction the cube never stops, and slides down the slope."""
        found = self.report("sliding", "--mu", 0)
        self.assertAlmostEqual(found["drift_max"], 1, delta=1e-6)
        self.assertLess(self.report("incline", "--time", 0.5)["drift_max"], 1e-5)
        self.assertGreater(self.report("incline", "--time", 0.5, "--friction", 0.4)["drift_max"], 0.05)

    def test_stiffness(self):
        """At rest 1 kg has sunk by m g over the k of four points."""
        path = self.path("out.csv")
        self.report("tower", "--bodies", 1, "--stiffness", 1e4, "--time", 1, "--csv", path)
        with open(path, encoding="utf-8") as file:
            last = list(csv.DictReader(file))[-1]
        self.assertAlmostEqual(float(last["q:cube_1.z"]), 0.1 - 9.81e-4 / 4, delta=1e-7)

    def test_tangential_stiffness(self):
        """A grasp sinks by m g over the k of its eight points, and stays."""
        for extra in ((), ("--tangential-damping", 50)):
            for seconds in (1, 4):
                found = self.report("grasp", "--tangential-stiffness", 1e4, "--time", seconds,
                                    *extra)
                self.assertAlmostEqual(found["drift_max"], 0.045 * 9.81 / 8e4, delta=2e-8)

    def drop(self, *options):
        """A ball falls 0.1 m; how high it comes next."""
        out = self.path("out.csv")
        path = self.write("ball.xml", '<mujoco><worldbody><geom type="plane" size="5 5 .1"/>'
                          '<body name="b" pos="0 0 .15"><freejoint name="b"/><geom size=".05" '
                          'mass="1"/></body></worldbody></mujoco>')
        done = run("simulate", path, "--time", 0.4, "--dt", 1e-4, "--csv", out, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, encoding="utf-8") as file:
            heights = [float(row["q:b.z"]) - 0.05 for row in csv.DictReader(file)]
        low = next(i for i in range(1, len(heights)) if heights[i] > heights[i - 1])
        return max(heights[low:]), done.stderr

    def test_rebound(self):
        """Rigid restitution, springs with damping or dissipation; what has no effect is said."""
        self.assertAlmostEqual(self.drop("--restitution", 0.5)[0], 0.025, delta=5e-4)
        self.assertAlmostEqual(self.drop("--stiffness", 1e4, "--damping", 0)[0], 0.1, delta=4e-3)
        x, v, dt = 0, (2 * 9.81 * 0.1)**0.5, 1e-6  # depth and its rate
        while x >= 0:
            v += dt * (9.81 - 1e4 * x * max(1 + 0.4 * v, 0))
            x += dt * v
        high, text = self.drop("--stiffness", 1e4, "--dissipation", 0.4)
        self.assertAlmostEqual(high, v * v / (2 * 9.81), delta=2e-3)
        self.assertEqual(text, "")
        text = self.drop("--stiffness", 1e4, "--restitution", 0.5)[1]
        self.assertIn("restitution has no effect with a stiffness", text)

    def test_friction_rule(self):
        """Of 0.2 and 0.8 on a slope of 0.5."""
        path = self.write("slope.xml", '<mujoco><option gravity="4.39 0 -8.77"/><worldbody>'
                          '<geom type="plane" size="5 5 .1" friction=".2"/><body pos="0 0 .05">'
                          '<freejoint/><geom type="box" size=".1 .1 .05" mass="1" friction=".8"/>'
                          '</body></worldbody></mujoco>')
        for rule, slides in ((None, False), ("maximum", False), ("minimum", True),
                             ("geometric", True), ("average", True), ("file", False)):
            options = () if rule is None else ("--friction-rule", rule)
            drift = self.report(path, "--time", 0.3, *options)["drift_max"]
            self.assertEqual(drift > 1e-4, slides, rule)

    def test_solvers(self):
        for solver in ("newton", "admm-fast", "pgs"):
            found = self.report("sliding", "--solver", solver, "--time", 0.1, "--max-iter", 5000)
            self.assertEqual((found["solver"], found["unconverged_steps"]), (solver, 0))
        for solver, model in (("pivot", "lcp4"), ("pgs", "lcp8"), ("auto", "lcp4")):
            found = self.report("sliding", "--solver", solver, "--model", model, "--time", 0.1)
            self.assertEqual((found["model"], found["unconverged_steps"]), (model, 0))
        self.refused("--solver pivot cannot solve --model ncp; it is for lcp4 and lcp8", "sliding",
                     "--solver", "pivot")

    def test_convex_model(self):
        """The convex relaxation lifts a sliding cube; the exact model does not."""
        path = self.path("out.csv")
        heights = {}
        for model in ("ncp", "ccp"):
            self.report("sliding", "--model", model, "--csv", path, "--time", 0.1)
            with open(path, encoding="utf-8") as file:
                heights[model] = max(float(row["q:cube.z"]) for row in csv.DictReader(file))
        self.assertLess(heights["ncp"] - 0.1, 1e-7)
        self.assertGreater(heights["ccp"] - 0.1, 1e-4)


class Determinism(Simulate):
    def test_hash(self):
        """The same bits in every run and for every number of threads; other seeds, other bits."""
        arguments = ("pile", "--bodies", 60, "--time", 0.6, "--seed", 4)
        first = self.report(*arguments)["hash"]
        for threads in (1, 2, 3, 8):
            self.assertEqual(self.report(*arguments, "--threads", threads)["hash"], first)
        self.assertNotEqual(self.report(*arguments[:-1], 5)["hash"], first)

    def test_robot(self):
        hashes = {self.report("humanoid", "--time", 0.3, "--threads", n)["hash"] for n in (1, 2)}
        self.assertEqual(len(hashes), 1)


class Files(Simulate):
    def test_falls(self):
        """Without a floor a hint, and free fall: g t^2 / 2 after t."""
        done = run("simulate", self.urdf, "--floating", "--time", 1, "--json")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("--ground adds one", done.stderr)
        found = json.loads(done.stdout)
        self.assertAlmostEqual(found["drift_max"], 9.81 / 2, delta=1e-9)
        self.assertEqual(found["contacts_mean"], 0)
        self.assertEqual(found["converged_share"], 1)

    def test_ground(self):
        """The box, which reaches 0.1 m below the origin, is lifted onto the floor: it stays."""
        path = self.path("out.csv")
        done = run("simulate", self.urdf, "--floating", "--ground", "--time", 0.5, "--json", "--csv",
                   path)
        self.assertEqual((done.returncode, done.stderr), (
            0, "start: 'base' is lifted by 0.1 m to a height of 0.1 m, onto the floor\n"))
        found = json.loads(done.stdout)
        self.assertLess(found["drift_max"], 1e-6)
        self.assertEqual(found["contacts_p95"], 4)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(float(next(csv.DictReader(file))["q:root_joint.z"]), 0.1)

    def test_placed_in_floor(self):
        """What is placed in the floor is refused with the height that would do."""
        self.refused("'base' starts 0.15 m inside the floor; place it 0.15 m higher", self.urdf,
                     "--floating", "--at", "0,0,-0.05", "--ground")
        self.refused("'base' starts 0.04 m inside", self.urdf, "--floating", "--ground", "--q",
                     "0,0,0.06,1,0,0,0")
        hanging = self.write("hanging.urdf", URDF.replace("</robot>", f"""<link name="bob"><inertial>
<mass value="1"/>{INERTIA}</inertial>{BOX}</link><joint name="j" type="continuous">
<parent link="base"/><child link="bob"/><origin xyz="0 0 -0.4"/></joint></robot>"""))
        self.refused("'base' starts 0.5 m inside the floor; place it 0.5 m higher, such as with"
                     " --at", hanging, "--ground")
        done = run("simulate", hanging, "--ground", "--at", "0,0,0.5", "--steps", 1)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_floor_of_another_file(self):
        """A robot that is put into a scene with a floor at 1 m is lifted onto it."""
        floor = self.write("floor.xml", """<mujoco><worldbody>
<geom type="plane" size="1 1 1" pos="0 0 1"/></worldbody></mujoco>""")
        done = run("simulate", floor, self.urdf, "--floating", "--time", 0.1, "--json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("'base' is lifted by 1.1 m to a height of 1.1 m", done.stderr)
        self.assertLess(json.loads(done.stdout)["drift_max"], 1e-6)

    def test_overlapping_robot(self):
        """Parts that are drawn into each other do not hold each other: the outer link falls."""
        link = f"<inertial><mass value='1'/>{INERTIA}</inertial>{BOX}</link>"
        joint = "<axis xyz='0 1 0'/></joint>"
        robot = self.write("folded.urdf", f"""<robot name="folded"><link name="a">{link}
<link name="b"><inertial><mass value="1"/>{INERTIA}</inertial></link><link name="c">{link}
<joint name="1" type="continuous"><parent link="a"/><child link="b"/>{joint}
<joint name="2" type="continuous"><parent link="b"/><child link="c"/>
<origin xyz="0.15 0 0.05"/>{joint}</robot>""")
        turned = {}
        for wish in ("file", "ignore", "keep"):
            path = self.path("out.csv")
            done = run("simulate", robot, "--time", 0.2, "--self-overlap", wish, "--csv", path)
            self.assertEqual(done.returncode, 0, done)
            said = "start: 1 pair of parts overlaps and does not collide; with --self-overlap keep"
            self.assertEqual(said in done.stderr, wish != "keep")
            with open(path, encoding="utf-8") as file:
                turned[wish] = float(list(csv.DictReader(file))[-1]["q:1"])
        self.assertGreater(turned["file"], 0.5)  # 2 m g l t^2 / 2 over its inertia, 2.3
        self.assertEqual(turned["ignore"], turned["file"])
        self.assertLess(abs(turned["keep"]), 0.7 * turned["file"])

    def test_fixed(self):
        """What cannot fall needs no floor."""
        done = run("simulate", self.mjcf, "--time", 0.1, "--key", "far")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_key_and_q(self):
        path = self.path("out.csv")
        starts = []
        for extra in (("--key", "far"), ("--key", 0), ("--q", 2.5), ()):
            self.report(self.mjcf, "--time", 0.01, "--csv", path, *extra)
            with open(path, encoding="utf-8") as file:
                starts.append(float(next(csv.DictReader(file))["q:rail"]))
        self.assertEqual(starts, [3, 3, 2.5, 0])
        self.report(self.mjcf, "--time", 0.01, "--csv", path, "--v", 0.75, "--q", 2)
        with open(path, encoding="utf-8") as file:
            start = next(csv.DictReader(file))
        self.assertEqual((float(start["q:rail"]), float(start["v:rail"])), (2, 0.75))
        self.assertIn("--key far", run("simulate", self.mjcf, "--time", 0.01).stderr)

    def test_anomalies(self):
        """A ball that starts half in the floor is lifted out, which no force explains."""
        start = ("bouncing", "--time", 0.5)
        self.assertEqual(self.report(*start)["anomalies"], [])
        done = run("simulate", *start)
        self.assertIn("no anomaly of energy, force or depth", done.stdout)
        self.assertEqual(done.stderr, "")
        inside = start + ("--q", "0,0,0.02,1,0,0,0")
        found = self.report(*inside)
        self.assertEqual(found["anomalies"], ["energy", "depth"])
        self.assertAlmostEqual(found["sudden_depth"], 0.08, delta=1e-9)
        self.assertEqual(found["converged_share"], 1)
        done = run("simulate", *inside)
        self.assertEqual(done.returncode, 0)
        self.assertIn("see the warnings", done.stdout)
        for text in ("80 mm deeper than their motion", "no actuator or user added it"):
            self.assertIn(text, done.stderr)

    def test_time_step(self):
        self.assertEqual(self.report(self.mjcf, "--time", 0.1)["dt"], 0.002)
        found = self.report(self.mjcf, "--time", 0.1, "--dt", 0.005)
        self.assertEqual((found["dt"], found["steps"]), (0.005, 20))

    def test_csv(self):
        path = self.path("out.csv")
        self.report("bouncing", "--time", 0.02, "--csv", path)
        with open(path, encoding="utf-8") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0], ["time"] + ["q:ball." + part for part in
                                              ("x", "y", "z", "qw", "qx", "qy", "qz")] +
                         ["v:ball." + part for part in ("vx", "vy", "vz", "wx", "wy", "wz")])
        self.assertEqual(len(rows), 22)
        self.assertEqual([float(x) for x in rows[1][:5]], [0, 0, 0, 1.1, 1])
        self.assertAlmostEqual(float(rows[-1][0]), 0.02, delta=1e-12)
        self.assertAlmostEqual(float(rows[-1][10]), -9.81 * 0.02, delta=1e-12)

    def test_control(self):
        """2 kg, 4 N from 0.1 s on: v = 2 (t - 0.1)."""
        control = self.write("push.csv", "time, push\n0, 0\n0.1, 4\n")
        path = self.path("out.csv")
        self.report(self.mjcf, "--ctrl", control, "--csv", path, "--time", 0.3, "--key", "far")
        with open(path, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(float(rows[50]["v:rail"]), 0)
        self.assertAlmostEqual(float(rows[-1]["v:rail"]), 2 * 0.2, delta=1e-9)

    def test_failure(self):
        """A force that leads beyond numbers ends the run: exit code 1, and the summary says why."""
        control = self.write("push.csv", "time,push\n0.1,1e308\n")
        found = self.report(self.mjcf, "--ctrl", control, "--time", 1, code=1)
        self.assertIn("failed: numeric", found["error"])
        self.assertLess(found["steps"], 60)

    def test_a_dump_that_fails_does_not_end_the_run(self):
        folder = self.path("dump")
        os.makedirs(os.path.join(folder, "tower_000001.hdf5"))
        done = run("simulate", "tower", "--bodies", 4, "--steps", 20, "--max-iter", 1, "--tol",
                   1e-13, "--solver", "pgs", "--json", "--dump", folder)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(json.loads(done.stdout)["steps"], 20)
        self.assertEqual(done.stderr.count("could not be written"), 1, done.stderr)

    def test_a_signal_ends_the_run_after_the_step(self):
        path = self.path("long.csv")
        for number in (signal.SIGTERM, signal.SIGINT):
            with subprocess.Popen([RIGOR, "simulate", "sliding", "--time", "100000", "--csv", path],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
                                  ) as process:
                while not os.path.exists(path) or os.path.getsize(path) < 10000:
                    self.assertIsNone(process.poll())
                    time.sleep(0.01)
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, (out, err))
            self.assertIn("interrupted at", err)
            steps = int(re.search(r"\((\d+) steps in", out).group(1))
            with open(path) as file:
                text = file.read()
            self.assertTrue(text.endswith("\n"))
            rows = list(csv.reader(text.splitlines()))
            self.assertEqual(len(rows), steps + 2)
            self.assertEqual(len(rows[-1]), len(rows[0]))
            os.remove(path)

    def test_a_small_address_space_is_enough(self):
        if LIGHT:
            self.skipTest("sanitizers need terabytes of it")
        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
        done = subprocess.run(["bash", "-c", 'ulimit -v 150000; "$0" simulate pile --steps 20', RIGOR],
                              capture_output=True, text=True, timeout=60, env=environment)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("hash ", done.stdout)

    def test_a_small_stack_is_enough(self):
        """Nothing recurses along a tree: of 64 KiB a chain of 1000 rods would have 65 bytes each."""
        if LIGHT:
            self.skipTest("sanitizers need more of it")
        path = self.path("chain.urdf")
        with open(path, "w", encoding="utf-8") as file:
            inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
            links = (f'<link name="l{i}"><inertial><mass value="1"/>{inertia}</inertial></link>' for i in range(1001))
            joints = (f'<joint name="j{i}" type="continuous"><origin xyz="0.1 0 0"/><parent link="l{i}"/>'
                      f'<child link="l{i + 1}"/><axis xyz="0 1 0"/></joint>' for i in range(1000))
            file.write('<robot name="chain">' + "".join(links) + "".join(joints) + "</robot>")
        for arguments in ([path], ["wall"], ["humanoid"]):
            command = [RIGOR, "simulate", *arguments, "--steps", "5", "--json"]
            done = subprocess.run(["bash", "-c", 'ulimit -s 64; exec "$0" "$@"', *command],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done)
            free = subprocess.run(command, capture_output=True, text=True, timeout=60)
            self.assertEqual(json.loads(done.stdout)["hash"], json.loads(free.stdout)["hash"])

    def test_dump(self):
        """Steps that are not solved become files that rigor solve reads and solves."""
        folder = self.path("hard")
        found = self.report("tower", "--bodies", 4, "--time", 0.003, "--max-iter", 1, "--tol",
                            1e-13, "--solver", "pgs", "--dump", folder)
        self.assertEqual(found["unconverged_steps"], 3)
        self.assertEqual(found["converged_share"], 0)
        self.assertEqual(len(os.listdir(folder)), 3)
        done = run("solve", folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["problems"]), 3)

    def test_realtime(self):
        begin = time.monotonic()
        self.report("sliding", "--time", 0.3, "--realtime")
        self.assertGreaterEqual(time.monotonic() - begin, 0.29)


class Wrong(Simulate):
    def test_options(self):
        for option, value in (("--time", 0), ("--time", "nan"), ("--dt", 0), ("--dt", -1),
                              ("--tol", 0), ("--mu", -1), ("--stiffness", -5), ("--seed", -1),
                              ("--tangential-stiffness", -5), ("--tangential-damping", "nan"),
                              ("--threads", 0), ("--bodies", 0), ("--solver", "magic"),
                              ("--restitution", 1.1),
                              ("--dissipation", -1), ("--friction-rule", "mean"),
                              ("--model", "lcp"), ("--contact", "soft"), ("--time", "inf")):
            self.refused(option, "wall", option, value)
        self.refused("unknown option '--fast'", "wall", "--fast")
        self.refused("1 to 2e9 are possible", "wall", "--time", 1e9, "--dt", 1e-9)
        self.refused("1 to 2e9 are possible", "wall", "--time", 1e-6, "--dt", 1)
        self.refused("exclude each other", self.urdf, "--fixed", "--floating")
        self.assertEqual(run("simulate", "wall", "tower").returncode, 2)

    def test_names(self):
        self.refused("neither a scene nor a file", "nowhere")
        self.refused("--damping needs --stiffness", "wall", "--damping", 5)
        self.refused("--dissipation needs --stiffness", "wall", "--dissipation", 5)
        self.refused("needs --tangential-stiffness", "wall", "--tangential-damping", 5)
        self.refused("one size only", "wall", "--bodies", 3)
        self.refused("is a file", self.urdf, "--bodies", 3)
        self.refused("no key frame 'home'; it has far", self.mjcf, "--key", "home")
        self.refused("it has none", self.urdf, "--key", "home")
        self.refused("needs 1 numbers, not 2", self.mjcf, "--q", "1,2")
        self.refused("needs 1 numbers, not 2", self.mjcf, "--v", "1,2")
        self.refused("'x' is not a number", self.mjcf, "--q", "x")

    def test_files(self):
        self.refused("it does not exist", self.path("missing.urdf"))
        with open(self.path("run.h5"), "wb") as file:
            file.write(b"\x89HDF\r\n\x1a\n")
        self.refused("is an HDF5 file, not XML", self.path("run.h5"))
        bad = self.write("bad.xml", "<mujoco><worldbody><body></worldbody></mujoco>")
        self.refused("bad.xml:1: error", bad)
        empty = self.write("empty.urdf", "")
        self.refused("empty.urdf", empty)
        self.refused("No such file", "wall", "--csv", self.path("no/such/folder.csv"))
        self.refused("No such file", "wall", "--dump", self.path("no/such/folder"))
        self.refused("No such file", self.mjcf, "--ctrl", self.path("none.csv"))

    def test_control_files(self):
        for text, complaint in (("", "empty"), ("t,push\n", ":1: the first column must be"),
                                ("time,pull\n", ":1: the model has no actuator 'pull'"),
                                ("time,push,push\n", ":1: two columns"),
                                ("time,push\n0,x\n", ":2: 'x' is not a number"),
                                ("time,push\n0\n", ":2: 1 numbers, not 2"),
                                ("time,push\n0,1,2\n", ":2: more than 2"),
                                ("time,push\n0,nan\n", ":2: 'nan' is not a number"),
                                ("time,push\n1,0\n\n1,2\n", ":4: times must increase"),
                                ("time,push\n", "names of columns and no row")):
            self.refused(complaint, self.mjcf, "--ctrl", self.write("c.csv", text))


class Others(unittest.TestCase):
    def test_scenes(self):
        done = run("scenes")
        self.assertEqual(done.returncode, 0)
        scenes = json.loads(run("scenes", "--json").stdout)
        names = [scene["name"] for scene in scenes]
        for name in ("wall", "wall3x5", "humanoid", "quadruped", "quadruped-fall", "hand", "arm",
                     "biped", "chain", "tower", "domino", "pile", "incline", "sliding", "bouncing",
                     "top", "grasp", "massratio"):
            self.assertIn(name, names)
            self.assertIn("\n" + name + " ", "\n" + done.stdout)
        self.assertEqual(run("scenes", "extra").returncode, 2)

    def test_help(self):
        for verb in (["simulate"], ["scenes"], ["demo"], ["bench", "simulate"]):
            done = run(*verb, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("usage: rigor " + " ".join(verb), done.stdout)

    def test_bench(self):
        done = run("bench", "simulate", "sliding", "massratio", "--steps", 50, "--repeat", 2,
                   "--piles", "8,27", "--no-peer", "--json")
        self.assertEqual(done.returncode, 0, done)
        found = json.loads(done.stdout)
        self.assertEqual([scene["scene"] for scene in found["scenes"]], ["sliding", "massratio"])
        self.assertEqual([pile["bodies"] for pile in found["piles"]], [8, 27])
        for scene in found["scenes"]:
            self.assertGreater(scene["steps_per_second"], 0)
            self.assertEqual(scene["share_1e-6"], 1)
            self.assertIsNone(scene["ratio"])
        self.assertEqual(found["fall"], 1)
        early = json.loads(run("bench", "simulate", "sliding", "--steps", 5, "--repeat", 1, "--piles",
                               "27", "--fall", 0, "--no-peer", "--json").stdout)
        self.assertTrue(early["piles"][0]["settled"])
        self.assertLess(early["piles"][0]["contacts_mean"], found["piles"][1]["contacts_mean"])
        done = run("bench", "simulate", "sliding", "--steps", 20, "--repeat", 1, "--no-peer")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("\nsliding ", done.stdout)
        self.assertEqual(run("bench", "simulate", "--piles", "many").returncode, 2)


if __name__ == "__main__":
    unittest.main()
