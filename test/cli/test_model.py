"""The verbs check and dynamics as a user meets them: test_model.py RIGOR"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

RIGOR = sys.argv.pop(1)
BAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "io", "bad")
LINK = """<link name="{0}"><inertial><origin xyz="{1}"/><mass value="2"/>
<inertia ixx="0.5" iyy="0.5" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial>{2}</link>"""
BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
# A pendulum about y whose mass hangs 1 m below the axis, and a base that is fixed to the world.
PENDULUM = f"""<robot name="pendulum">{LINK.format("base", "0 0 0", "")}
{LINK.format("rod", "0 0 -1", BALL)}
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/>
<axis xyz="0 1 0"/></joint></robot>"""


def run(*arguments):
    return subprocess.run([RIGOR, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Model(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "pendulum.urdf")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(PENDULUM)

    def tearDown(self):
        self.folder.cleanup()


class Check(Model):
    def test_summary(self):
        done = run("check", self.path)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stderr, "")
        for line in ("pendulum", "bodies       2", "joints       1 (1 revolute)", "nq, nv       1, 1",
                     "mass         2 kg and 2 kg fixed to the world", "collisions   1 (1 sphere)",
                     "warnings     0"):
            self.assertIn(line, done.stdout)

    def test_starts(self):
        path = os.path.join(self.folder.name, "start.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("""<mujoco><compiler angle="radian"/><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="b" pos="0 0 0.4"><freejoint/><geom name="ball" size="0.5"/>
<body name="c" pos="3 0 0"><joint name="j" range="0.5 1"/><geom size="0.1"/></body></body></worldbody>
<keyframe><key name="up" qpos="0 0 2 1 0 0 0 0.7"/></keyframe></mujoco>""")
        said = run("check", path).stdout
        self.assertIn("at the reference: joint 'j' is at 0, outside 0.5 to 1", said)
        self.assertIn("at the reference: 'floor' and 'ball' overlap by 100 mm", said)
        self.assertNotIn("at up", said)
        starts = json.loads(run("check", path, "--json").stdout)["starts"]
        self.assertEqual([len(s["overlaps"]) for s in starts], [1, 0])
        self.assertAlmostEqual(starts[0]["overlaps"][0]["depth"], 0.1, 12)

    def test_exclude_world(self):
        path = os.path.join(self.folder.name, "exclude.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("<mujoco><worldbody><geom type='plane' size='1 1 1'/><body name='a' pos='0 0 1'>"
                       "<freejoint/><geom size='0.1'/></body></worldbody><contact>"
                       "<exclude body1='world' body2='a'/></contact></mujoco>")
        for options in ([], ["--json"]):
            self.assertEqual(run("check", path, *options).returncode, 0)

    def test_open_mesh(self):
        sheet = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0.5\nf 1 2 3\nf 1 3 4\n"
        solid = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
        paths = [os.path.join(self.folder.name, name) for name in ("sheet.obj", "solid.obj")]
        for path, text in zip(paths, (sheet, solid)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        line = ("  mesh         'sheet' is open (2 triangles): it stops bodies only on the side that its triangles face; "
                "--sheet T makes it T m thick\n")
        self.assertIn(line, run("check", paths[0], "--fixed").stdout)
        self.assertNotIn("is open", run("check", paths[0], "--fixed", "--sheet", "0.01").stdout)
        self.assertNotIn("is open", run("check", paths[1], "--fixed").stdout)
        self.assertEqual(json.loads(run("check", paths[0], "--fixed", "--json").stdout)["openMeshes"],
                         [{"shape": "sheet", "triangles": 2}])

    def test_filtered_base(self):
        path = os.path.join(self.folder.name, "based.urdf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PENDULUM.replace("</link>", BALL + "</link>", 1))
        line = "  base         'base', fixed to the world, and 'rod' on it do not collide\n"
        self.assertIn(line, run("check", path).stdout)
        self.assertNotIn(line, run("check", path, "--floating").stdout)
        self.assertNotIn(line, run("check", self.path).stdout)
        self.assertEqual(json.loads(run("check", path, "--json").stdout)["filteredBases"],
                         [{"base": "base", "link": "rod"}])

    def test_ignored_overlaps(self):
        link = ("<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
                "</inertial><collision><geometry><sphere radius='0.1'/></geometry></collision></link>")
        joints = "".join(
            f"<joint name='{i}' type='continuous'><parent link='l{i}'/><child link='l{i + 1}'/></joint>"
            for i in range(6))
        path = os.path.join(self.folder.name, "knot.urdf")
        with open(path, "w", encoding="utf-8") as file:
            file.write("<robot name='knot'>" + "".join(f"<link name='l{i}'>{link}" for i in range(7))
                       + joints + "</robot>")
        done = run("check", path)  # 21 pairs, 6 of them neighbors
        self.assertIn("15 pairs of parts of a robot overlap at the start and do not collide; with self-overlap 'keep' they collide", done.stderr)
        self.assertIn("  overlap      'l0' and 'l2' by 200 mm: they do not collide\n", done.stdout)
        self.assertEqual(done.stdout.count("they do not collide"), 15)
        kept = run("check", path, "--self-overlap", "keep").stdout
        self.assertEqual(kept.count("they do not collide"), 0)
        self.assertEqual(kept.count("at the reference: 'l"), 15)
        ignored = json.loads(run("check", path, "--json").stdout)["ignoredOverlaps"]
        self.assertEqual(len(ignored), 15)
        self.assertEqual(sorted(ignored[0]), ["a", "b", "depth"])

    def test_remarks_of_a_kind_are_counted(self):
        path = os.path.join(self.folder.name, "many.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("<mujoco><worldbody>" + "".join(
                f"<body name='b{i}'><joint name='j{i}' margin='{i + 1}'/><geom size='1'/></body>"
                for i in range(5)) + "</worldbody></mujoco>")
        once = run("check", path).stderr.splitlines()
        self.assertEqual(len(once), 1, once)
        self.assertIn("(and 4 more like it)", once[0])
        self.assertEqual(len(run("check", path, "--verbose").stderr.splitlines()), 5)

    def test_json(self):
        done = run("check", self.path, "--json", "--floating")
        self.assertEqual(done.returncode, 0, done)
        found = json.loads(done.stdout)
        self.assertEqual((found["nq"], found["nv"], found["mass"]), (8, 7, 4))
        self.assertEqual(found["jointKinds"], {"free": 1, "revolute": 1})
        self.assertEqual(found["messages"], [])
        self.assertTrue(found["ok"])

    def test_errors(self):
        path = os.path.join(BAD, "cycle.urdf")
        done = run("check", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cycle.urdf:1: error: the joints form a cycle", done.stderr)
        done = run("check", path, "--json")
        self.assertEqual(done.returncode, 1)
        found = json.loads(done.stdout)
        self.assertFalse(found["ok"])
        self.assertEqual(found["messages"][0]["line"], 1)

    def test_refused_as_simulate_does(self):
        """A model of which no world can be made: a moving body whose hull has no volume."""
        with open(os.path.join(self.folder.name, "flat.obj"), "w", encoding="utf-8") as file:
            file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
        path = os.path.join(self.folder.name, "flat.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("""<mujoco><asset><mesh name="m" file="flat.obj"/></asset><worldbody><body name="b"><freejoint/>
<inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>""")
        self.assertEqual(run("simulate", path, "--steps", 1).returncode, 2)
        done = run("check", path)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "flat.xml:[0-9]+: error: convex hull of 4 points: all points lie in one plane")
        self.assertIn("not a usable model (1 errors", done.stdout)
        found = json.loads(run("check", path, "--json").stdout)
        self.assertFalse(found["ok"])
        self.assertIn("no volume", found["messages"][0]["text"])

    def test_strict(self):
        for name in ("axis_long.urdf", "inertia_not_physical.urdf"):
            path = os.path.join(BAD, name)
            done = run("check", path)
            self.assertEqual(done.returncode, 0)
            self.assertIn("warning: ", done.stderr)
            self.assertEqual(run("check", path, "--strict").returncode, 1)

    def test_meshes(self):
        path = os.path.join(BAD, "mesh_missing.urdf")
        self.assertEqual(run("check", path).returncode, 1)
        self.assertEqual(run("check", path, "--no-meshes").returncode, 0)

    def test_package_dirs(self):
        mesh = '<collision><geometry><mesh filename="package://bad/dented.obj"/></geometry></collision>'
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(f'<robot name="r">{LINK.format("a", "0 0 0", mesh)}</robot>')
        self.assertEqual(run("check", self.path).returncode, 1)
        done = run("check", self.path, "--package-dir", "/nowhere", "--package-dir",
                   os.path.join(BAD, ".."))
        self.assertEqual(done.returncode, 0, done)

    def test_usage(self):
        for arguments in ([], [self.path, "--fast"],
                          [self.path, "--floating", "--fixed"]):
            done = run("check", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertNotEqual(done.stderr, "")


class Dynamics(Model):
    def test_pendulum(self):
        # M = I + m l^2 and, at the angle pi/2 with the mass along -x, b = gravity's arm of 1 m.
        done = run("dynamics", self.path, "--q", "1.5707963267948966", "--v", "-3", "--json")
        self.assertEqual(done.returncode, 0, done)
        found = json.loads(done.stdout)
        self.assertAlmostEqual(found["M"][0][0], 2.5, places=12)
        self.assertAlmostEqual(abs(found["bias"][0]), 2 * 9.81, places=12)
        self.assertAlmostEqual(found["kineticEnergy"], 0.5 * 2.5 * 9, places=12)
        self.assertAlmostEqual(found["center"][0], -1, places=12)
        self.assertEqual([joint["name"] for joint in found["joints"]], ["hinge"])

    def test_neutral(self):
        done = run("dynamics", self.path)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("centre of mass 0.000000 0.000000 -1.000000 m", done.stdout)
        self.assertIn("rod", done.stdout)

    def test_quaternion_is_normalized(self):
        done = run("dynamics", self.path, "--floating", "--q", "0 0 0 2 0 0 0 0", "--json")
        self.assertEqual(json.loads(done.stdout)["q"], [0, 0, 0, 1, 0, 0, 0, 0])

    def test_mistakes(self):
        for text, arguments in (
            ("needs 1 numbers, not 2", ["--q", "1,2"]),
            ("'x' is not a number", ["--v", "x"]),
            ("too large for a number", ["--v", "1e300"]),
            ("no key frame 'home'", ["--key", "home"]),
            ("quaternion of joint 'root_joint' is zero", ["--floating", "--q", "0,0,0,0,0,0,0,0"]),
        ):
            done = run("dynamics", self.path, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
