"""Several files in one world and the options of a day's work: test_compose.py RIGOR"""
import csv
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

RIGOR = sys.argv.pop(1)
CRATE = """v 0 0 0\nv .2 0 0\nv .2 .2 0\nv 0 .2 0\nv 0 0 .2\nv .2 0 .2\nv .2 .2 .2\nv 0 .2 .2
f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"""
TABLE = """<mujoco><option timestep="0.002"/><worldbody>
<geom name="floor" type="plane" size="1 1 1"/>
<body name="table" pos="0 0 0.4"><geom name="top" type="box" size="0.5 0.5 0.4"/></body>
</worldbody></mujoco>"""
MOON = """<mujoco><option gravity="0 0 -1.62"/><worldbody>
<body name="rock"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
ARM = """<robot name="two"><link name="base"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="upper"><inertial><origin xyz="0.25 0 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" velocity="9"/></joint></robot>"""
LOOP = """<mujoco><worldbody><body name="a"><joint name="ja" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 1 0 0" size=".05"/></body>
<body name="b" pos="2 0 0"><joint name="jb" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 -1 0 0.1" size=".05"/></body></worldbody>
<contact><exclude body1="a" body2="b"/></contact>
<equality><connect body1="a" body2="b" anchor="1 0 0"/></equality></mujoco>"""
CROSS = """<mujoco><worldbody><body name="root"><joint name="j0" axis="0 0 1"/>
<geom name="g0" size=".1"/><body name="mid" pos=".3 0 0"><joint name="j1" axis="0 0 1"/>
<geom name="g1" size=".1"/><body name="tip" pos="-.35 0 0"><joint name="j2" axis="0 0 1"/>
<geom name="g2" size=".1"/></body></body></body></worldbody></mujoco>"""


def run(*arguments, text=None):
    return subprocess.run([RIGOR, *map(str, arguments)], capture_output=True, text=True, input=text,
                          timeout=300)


def rows(text):
    """The lines of a CSV text as dictionaries of numbers."""
    return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        for name, text in {"crate.obj": CRATE, "table.xml": TABLE, "moon.xml": MOON,
                           "arm.urdf": ARM, "loop.xml": LOOP, "cross.xml": CROSS}.items():
            self.write(name, text)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def files(self, *arguments):
        return [self.path(a) if os.path.exists(self.path(str(a))) else a for a in arguments]

    def states(self, *arguments, text=None):
        done = run("simulate", *self.files(*arguments), "--csv", "-", text=text)
        self.assertEqual(done.returncode, 0, done)
        return rows(done.stdout)

    def refused(self, message, *arguments):
        done = run("simulate", *self.files(*arguments))
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(message, done.stderr)


class Compose(Case):
    def test_crate_falls_on_table(self):
        last = self.states("table.xml", "crate.obj", "--at", "0,0,1", "--density", 500, "--time", 1,
                           "--columns", "pose:crate,contact,force:crate")[-1]
        self.assertAlmostEqual(last["pose:crate.z"], 0.8, 6)
        self.assertAlmostEqual(last["contact.normal"], 4 * 9.81, 4)
        self.assertAlmostEqual(last["force:crate.z"], 4 * 9.81, 4)

    def test_options_belong_to_the_file_before(self):
        files = ["crate.obj", "--at", "0,0,2", "crate.obj", "--prefix", "b_", "--at", "1,0,3",
                 "--rpy", f"0,0,{math.pi / 2}", "--scale", 2, "--fixed"]
        first = self.states(*files, "--steps", 1, "--columns", "pose:crate,pose:b_crate")[0]
        self.assertEqual(first["pose:crate.z"], 2)
        self.assertEqual((first["pose:b_crate.x"], first["pose:b_crate.z"]), (1, 3))
        self.assertAlmostEqual(first["pose:b_crate.qz"], math.sqrt(0.5), 12)
        found = json.loads(run("check", *self.files(*files), "--json").stdout)
        self.assertEqual(found["nq"] if "nq" in found else 7, 7)  # the second is fixed

    def test_options_before_all_files_belong_to_all(self):
        last = self.states("--floating", "arm.urdf", "arm.urdf", "--prefix", "b_", "--steps", 1,
                           "--columns", "q")[-1]
        self.assertIn("q:root_joint.x", last)
        self.assertIn("q:b_root_joint.x", last)

    def test_on_a_body(self):
        first, *_ = self.states("arm.urdf", "crate.obj", "--on", "upper", "--at", "0.5,0,0",
                                "--steps", 1, "--columns", "q,pose:crate")
        self.assertEqual([k for k in first if k.startswith("q:")], ["q:shoulder"])
        self.assertAlmostEqual(first["pose:crate.x"], 0.5)
        self.refused("no earlier file has a body 'uper'; did you mean 'upper'?", "arm.urdf", "crate.obj", "--on",
                     "uper")

    def test_scene_and_file(self):
        done = run("simulate", "sliding", self.path("crate.obj"), "--at", "0,3,0.1", "--json")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(json.loads(done.stdout)["bodies"], 2)

    def test_clashes(self):
        other = self.write("other.xml", TABLE.replace('name="top"', ""))
        done = run("check", self.path("table.xml"), other)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"other.xml:3: error: body 'table': the name is already used in "
                      f"{self.path('table.xml')}:3", done.stderr)
        self.assertIn(f"other.xml:2: error: shape 'floor': the name is already used in "
                      f"{self.path('table.xml')}:2", done.stderr)
        done = run("check", self.path("table.xml"), other, "--prefix", "o_", "--at", "3,0,0")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("lies in the floor 'floor' of", done.stderr)
        done = run("check", self.path("table.xml"), other, "--prefix", "o_", "--without-world")
        self.assertNotIn("lies in the floor", done.stderr)
        earth = self.write("earth.xml", MOON.replace("1.62", "9.81").replace("rock", "stone"))
        done = run("check", earth, self.path("moon.xml"))
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("moon.xml:1: warning: the gravity is (0, 0, -1.62) here and (0, 0, -9.81)",
                      done.stderr)
        self.assertIn(f"that of {earth}:1 is used", done.stderr)

    def test_convert_writes_the_whole_scene(self):
        out = self.path("scene.xml")
        done = run("convert", *self.files("arm.urdf", "table.xml", "--at", "2,0,0", "crate.obj",
                                          "--at", "2,0,1"), out)
        self.assertEqual(done.returncode, 0, done)
        options = ["--steps", 300, "--dt", 0.002, "--columns", "q"]
        a = self.states("arm.urdf", "table.xml", "--at", "2,0,0", "crate.obj", "--at", "2,0,1",
                        *options)[-1]
        b = self.states(out, *options)[-1]
        for key, value in a.items():
            self.assertAlmostEqual(value, b[key], 7, key)

    def test_bad_meshes_and_numbers(self):
        self.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.refused("the mesh is flat", "flat.obj")
        self.refused("--at needs 3 numbers, not 2", "crate.obj", "--at", "1,2")
        self.refused("--scale needs a positive number, not '-1'", "crate.obj", "--scale", -1)
        self.refused("exclude each other", "crate.obj", "--fixed", "--floating")


class Day(Case):
    def test_hold(self):
        states = self.states("arm.urdf", "--hold", "1000,50", "--q", "0.4", "--time", 3,
                             "--columns", "q,tau")
        # 2 kg at 0.25 m: the servo gives way by torque over gain.
        torque = 2 * 9.81 * 0.25 * math.cos(states[-1]["q:shoulder"])
        self.assertAlmostEqual(states[-1]["tau:shoulder"], -torque, 4)
        self.assertAlmostEqual(states[-1]["q:shoulder"], 0.4 + torque / 1000, 6)
        self.refused("--hold needs 2 numbers, not 1", "arm.urdf", "--hold", "5")
        self.refused("the model has no joint without an actuator", "crate.obj", "--hold", "5,1")

    def test_hold_targets_from_a_pipe(self):
        states = self.states("arm.urdf", "--hold", "1e5,1e3", "--ctrl", "-", "--time", 1,
                             text="time,shoulder\n0,0.1\n0.5,0.2\n")
        self.assertAlmostEqual(states[500]["q:shoulder"], 0.1, 3)
        self.assertAlmostEqual(states[-1]["q:shoulder"], 0.2, 3)
        done = run("simulate", self.path("arm.urdf"), "--hold", "5,1", "--ctrl", "-",
                   text="time,sholder\n")
        self.assertIn("no actuator 'sholder'; did you mean 'shoulder'?", done.stderr)
        self.assertEqual(done.returncode, 2)

    def test_a_program_answers_through_pipes(self):
        """A torque that balances the weight, computed here from each state as it comes."""
        motor = self.write("motor.xml", """<mujoco><option timestep="0.001"/><worldbody><body name="arm">
<joint name="j" axis="0 1 0"/><inertial pos="1 0 0" mass="1" diaginertia=".1 .1 .1"/></body>
</worldbody><actuator><motor name="m" joint="j"/></actuator></mujoco>""")
        with subprocess.Popen([RIGOR, "simulate", motor, "--csv", "-", "--ctrl", "-", "--steps",
                               "200", "--q", "0.3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            process.stdin.write("time,m\n")
            process.stdin.flush()
            names = process.stdout.readline().strip().split(",")
            for line in process.stdout:
                state = dict(zip(names, map(float, line.split(","))))
                if state["time"] < 0.1995:  # nobody listens after the last step
                    process.stdin.write(f"{state['time']!r},{-9.81 * math.cos(state['q:j'])!r}\n")
                    process.stdin.flush()
            self.assertEqual(process.wait(60), 0, process.stderr.read())
        self.assertAlmostEqual(state["time"], 0.2)
        self.assertAlmostEqual(state["q:j"], 0.3, 9)

    def test_columns(self):
        last = self.states("table.xml", "crate.obj", "--at", "0,0,0.8", "--steps", 100,
                           "--columns", "v,twist:crate,energy")[-1]
        self.assertEqual(len(last), 1 + 6 + 6 + 2)
        self.assertLess(last["energy.kinetic"], 1e-9)
        for message, columns in {"unknown quantity 'pos'": "pos",
                                 "no body 'crat'; did you mean 'crate'?": "force:crat",
                                 "pose needs a name, as in pose:NAME": "pose",
                                 "no sensor 'x'": "sensor:x", "energy takes no name": "energy:x"
                                 }.items():
            self.refused(message, "table.xml", "crate.obj", "--csv", self.path("x.csv"),
                         "--columns", columns)
        self.refused("--columns needs --csv", "table.xml", "--columns", "q")

    def test_sensors(self):
        states = self.states("humanoid", "--steps", 3, "--columns", "sensor")
        names = [name for name in states[0] if name != "time"]
        self.assertTrue(all(name.startswith("sensor:") for name in names))

    def test_steps(self):
        done = json.loads(run("simulate", "wall", "--steps", 7, "--json").stdout)
        self.assertEqual(done["steps"], 7)
        self.refused("--steps and --time exclude each other", "--steps", 7, "--time", 1)

    def test_start(self):
        slider = self.write("slider.xml", """<mujoco><worldbody><body><joint name="j" type="slide"
ref="0"/><geom size=".1"/></body></worldbody><keyframe><key name="far" qpos="3"/></keyframe>
</mujoco>""")
        self.assertEqual(self.states(slider, "--start", "key", "--steps", 1)[0]["q:j"], 3)
        self.assertEqual(self.states(slider, "--start", "neutral", "--steps", 1)[0]["q:j"], 0)
        self.refused("the model has no key frame", "arm.urdf", "--start", "key")
        done = run("simulate", slider, "--key", "fra")
        self.assertIn("did you mean 'far'?", done.stderr)

    def test_start_within_limits(self):
        slider = self.write("outside.xml", """<mujoco><worldbody><body><joint name="j" type="slide"
axis="1 0 0" range="0.2 1"/><geom size=".1"/></body><body pos="0 1 0"><joint name="k" type="slide"
axis="1 0 0" range="-1 -0.5"/><geom size=".1"/></body></worldbody></mujoco>""")
        self.assertAlmostEqual(self.states(slider, "--steps", 1)[0]["q:j"], 0.2)
        self.assertAlmostEqual(self.states(slider, "--steps", 1)[0]["q:k"], -0.5)
        self.assertEqual(self.states(slider, "--start", "neutral", "--steps", 1)[0]["q:j"], 0)
        self.assertEqual(self.states(slider, "--q", "0,0", "--steps", 1)[0]["q:j"], 0)
        said = run("simulate", slider, "--steps", 1).stderr
        self.assertIn("start: joint 'j' is moved from 0 to 0.2, into its limits, and 1 more", said)

    def test_start_where_loops_oppose_limits(self):
        opposed = self.write("opposed.xml", """<mujoco><worldbody><body name="a"><joint name="j"
type="slide" axis="1 0 0" range="0.2 1"/><geom size=".1"/></body></worldbody><equality>
<connect body1="a" anchor="0 0 0"/></equality></mujoco>""")
        self.assertLess(abs(self.states(opposed, "--steps", 1)[0]["q:j"]), 0.01)
        said = run("simulate", opposed, "--steps", 500).stderr
        self.assertNotIn("is moved", said)
        self.assertIn("the connect of a and the world is open by ", said)
        self.assertAlmostEqual(self.states(opposed, "--steps", 500)[-1]["q:j"], 0.2, 6)

    def test_start_projected(self):
        def gap(state):  # between the end of a and the point of b that was there
            a, b = state["q:ja"], state["q:jb"]
            return math.hypot(math.cos(a) - 2 + math.cos(b), -math.sin(a) - math.sin(b))
        open_loop = self.states("loop.xml", "--q", "0.2,0", "--steps", 1)[0]
        closed = self.states("loop.xml", "--q", "0.2,0", "--start", "projected", "--steps", 1)[0]
        self.assertGreater(gap(open_loop), 0.1)
        self.assertLess(gap(closed), 1e-9)

    def test_self_collision(self):
        def contacts(wish):
            return self.states("cross.xml", "--self-collision", wish, "--steps", 1, "--columns",
                               "contact")[-1]["contact.count"]
        self.assertEqual(contacts("none"), 0)
        self.assertEqual(contacts("all"), 1)  # the tip overlaps the root; neighbors do not count
        self.assertEqual(contacts("auto"), 1)
        masked = CROSS.replace('name="g2"', 'name="g2" contype="0" conaffinity="0"')
        self.write("cross.xml", masked)
        self.assertEqual(contacts("auto"), 0)

    def test_runs(self):
        file = self.write("runs.json", json.dumps({
            "defaults": {"steps": 50, "files": [self.path("table.xml"),
                                                {"file": self.path("crate.obj"), "at": [0, 0, 1]}]},
            "runs": [{"name": "first", "mu": 0.1},
                     {"name": "second", "steps": 20, "csv": self.path("second.csv"),
                      "columns": "pose:crate", "ground": False}]}))
        done = run("simulate", "--runs", file, "--json")
        self.assertEqual(done.returncode, 0, done)
        found = json.loads(done.stdout)
        self.assertEqual([r["scene"] for r in found], ["first", "second"])
        self.assertEqual([r["steps"] for r in found], [50, 20])
        with open(self.path("second.csv"), encoding="utf-8") as states:
            self.assertEqual(len(rows(states.read())), 21)
        self.assertEqual(run("simulate", "--runs", file, "--dt", 0.001).stdout.count("hash"), 2)
        out, other = self.path("same.csv"), self.path("./same.csv")
        again = self.write("again.json", json.dumps([{"files": "arm", "steps": 1, "csv": out},
                                                     {"files": "hand", "steps": 1, "csv": other}]))
        done = run("simulate", "--runs", again)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"another run writes '{other}' already", done.stderr)
        self.assertFalse(os.path.exists(out))
        text = json.dumps([{"files": "arm", "steps": 1, "record": self.path("./own.json")}])
        own = self.write("own.json", text)
        done = run("simulate", "--runs", own)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a run would replace this file", done.stderr)
        with open(own, encoding="utf-8") as file:
            self.assertEqual(file.read(), text)

    def test_bad_runs(self):
        for text, message in {"": ":1: a JSON value", "{}": "it must be a list of runs",
                              '{"runs": []}': "the list of runs is empty",
                              '[{"steps": 1},\n{"mu": "x"}]': "bad.json:2: run 2 could not be made",
                              '[{"fast": 1}]': "unknown option '--fast'",
                              '[{"stepz": 5}]': "did you mean '--steps'?",
                              '[\n{"mu": {}}]': ":2: an option cannot be an object",
                              '[{"files": [3]}]': "a file must be a text",
                              '[{"runs": "x"}]': "belongs on the command line",
                              '[1]': "a run must be an object", '[{"mu": 1} {}]': "a ',' or ']'",
                              '[{"mu" 1}]': "a ':' is needed", "[] 3": "text after the end",
                              '["\\q"]': "unknown escape", "[" * 50: "nested too deep",
                              '{"runs": [{"name": "a"}],}': "bad.json:1: a text in quotes",
                              '{"default": {"mu": 1},\n"runs": [{"steps": 1}]}':
                              ':1: unknown key "default" beside "runs"; did you mean \'defaults\'?',
                              '{"runs": [{"steps": 1}], "comment": ""}': 'unknown key "comment"',
                              '[{"mu": 1,\n"mu": 2}]': 'bad.json:2: "mu" is given twice',
                              '{"runs": [], "runs": []}': '"runs" is given twice',
                              '{"runs": [{"name" : 1}], "': "does not end in its line",
                              '[{"mu": 1}, {"mu': "does not end in its line"}.items():
            done = run("simulate", "--runs", self.write("bad.json", text))
            self.assertEqual(done.returncode, 2, (text, done))
            self.assertIn(message, done.stderr, text)

    # Names from files do not tell a terminal what to do.
    def test_control_characters(self):
        nasty = "a\x1b]0;title\x07\x7f\u009b2J"
        name = nasty.replace("\x1b", "&#x7f;").replace("\x07", "&#x7f;")  # XML has no C0
        file = self.write("nasty.xml", TABLE.replace("</worldbody>", f"""<body name="{name}"><joint name="{name}j"
type="hinge"/><geom size=".1"/></body></worldbody><keyframe><key name="{name}"/></keyframe>"""))
        recorded = self.path("r.h5")
        for arguments in (["check", file], ["model", file], ["simulate", file, "--steps", "3"],
                          ["simulate", file, "--steps", "3", "--json"], ["dynamics", file],
                          ["simulate", file, "--key", nasty], ["simulate", nasty],
                          ["simulate", file, "--columns", "pose:" + nasty, "--csv", self.path("a.csv")],
                          ["simulate", file, "--steps", "3", "--name", nasty, "--record", recorded],
                          ["replay", recorded], ["simulate", file, "--" + nasty], [nasty]):
            done = run(*arguments)
            said = done.stdout + done.stderr
            self.assertGreater(len(said), 0, arguments)
            self.assertEqual(re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f]", said), [], (arguments, said))

    def test_help_as_a_verb(self):
        self.assertEqual(run("help").stdout, run("--help").stdout)
        for verb in (["simulate"], ["bench"]):
            self.assertEqual(run("help", *verb).stdout, run(*verb, "--help").stdout)
        self.assertEqual(run("bench", "help").stdout, run("bench", "--help").stdout)
        done = run("help", "simulat")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("did you mean 'simulate'?", done.stderr)

    # What places a file is not for a scene, and is refused there; files beside the scene take it.
    def test_placed_scene(self):
        file = self.write("arm.urdf", ARM)
        for options in (["--at", "0,0,1"], ["--floating"], ["--prefix", "a_"], ["--scale", "2"]):
            for arguments in (["sliding", *options], [*options, "sliding"], ["sliding", *options, file]):
                done = run("simulate", *arguments, "--steps", 2)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done)
                self.assertIn(f"{options[0]} is for files; the scene 'sliding' has a fixed place", done.stderr)
        self.assertEqual(run("simulate", "sliding", file, "--at", "0,0,3", "--steps", 2).returncode, 0)
        self.assertEqual(run("simulate", "--at", "0,0,3", "sliding", file, "--steps", 2).returncode, 0)

    def test_suggestions(self):
        self.assertIn("did you mean 'simulate'?", run("simulat").stderr)
        self.assertIn("did you mean '--ground'?", run("simulate", "--gruond").stderr)
        self.assertIn("did you mean 'humanoid'?", run("simulate", "humanod").stderr)
        bad = self.write("bad.xml", TABLE.replace("</worldbody>", """<body name="arm"><joint
name="elbow"/><geom size=".1"/></body></worldbody><actuator><motor joint="elbw"/></actuator>"""))
        self.assertIn("there is no joint 'elbw'; did you mean 'elbow'?", run("check", bad).stderr)
        bad = self.write("bad.urdf", ARM.replace('<child link="upper"/>', '<child link="uper"/>'))
        self.assertIn("there is no link 'uper'; did you mean 'upper'?", run("check", bad).stderr)


if __name__ == "__main__":
    unittest.main()
