"""Every rigor command on the pages and in --help does what it says: check_commands.py RIGOR ROOT

Commands in shell blocks and in the examples of --help are run, in a folder with files of the names
that they use, with less time and fewer worlds. Options of those in the text are looked up.
"""
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

RIGOR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
del sys.argv[1:]
PAGES = [os.path.join(ROOT, "README.md"), os.path.join(ROOT, "CONTRIBUTING.md")] + sorted(
    glob.glob(os.path.join(ROOT, "docs/**/*.md"), recursive=True))
WITHOUT = "built without the viewer's page"  # where npm could not be reached; then it says so
SERVED = re.compile(r"http://[a-z0-9.]+:\d+/")
CRATE = """v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"""
TABLE = """<mujoco><worldbody><geom name="top" type="box" size="0.4 0.4 0.02" pos="0 0 0.7"/>
</worldbody></mujoco>"""
SCENE = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="box" pos="0 0 1"><freejoint/>
<geom type="box" size="0.1 0.1 0.1"/></body></worldbody>
<keyframe><key name="home" qpos="0 0 0.1 1 0 0 0"/></keyframe></mujoco>"""
GRIPPER = """<mujoco><worldbody><body name="palm"><geom size="0.02"/></body></worldbody></mujoco>"""
INERTIAL = """<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0"
iyz="0"/></inertial>"""
ARM = f"""<robot name="arm"><link name="base"/><link name="wrist_3">{INERTIAL}</link>
<joint name="turn" type="revolute"><parent link="base"/><child link="wrist_3"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="100" velocity="1"/></joint></robot>"""


def run(*arguments, **more):
    return subprocess.run([RIGOR, *arguments], capture_output=True, text=True, timeout=300, **more)


def commands(text):
    """Commands of the shell blocks of a page, continued lines joined, remarks left out."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.sub(r"\s#.*", "", line).split("&&"):
                part = part.strip().replace("build/release/rigor", "rigor")
                if re.match(r"(mpirun .*)?rigor(-mpi)? ", part):
                    yield part


def is_synopsis(command):
    return re.search(r"[\[|]|\.\.\.|\b[A-Z]{4,}\b", command.replace("$RIGOR_DATA", "")) is not None


def limited(words, option, most):
    if option in words:
        at = words.index(option) + 1
        words[at] = str(min(int(words[at]), most))


def shortened(words):
    """The same command with little to do."""
    verb, words = words[0], list(words)
    limited(words, "--worlds", 4)
    limited(words, "--steps", 20)
    limited(words, "--threads", 2)
    limited(words, "--bodies", 10)
    if verb in ("simulate", "view") and "--steps" not in words and "--record" not in words:
        if words[1].endswith(".h5"):
            return words
        words += ["--time", "0.01"]
    if verb == "render" and "--fps" not in words and not words[2].endswith(".png"):
        words += ["--fps", "1"]
    if verb == "render" and "--size" not in words:
        words += ["--size", "320x200"]
    if "--size" in words:
        words[words.index("--size") + 1] = "320x200"
    if "--fps" in words:
        words[words.index("--fps") + 1] = "1"
    return words


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = cls.scratch.name
        cls.helps = {}
        for name, text in {"crate.obj": CRATE, "table.xml": TABLE, "scene.xml": SCENE,
                           "gripper.xml": GRIPPER, "arm.urdf": ARM}.items():
            with open(os.path.join(cls.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        for words in (("convert", "quadruped", "robot.urdf"),
                      ("simulate", "arm_wall", "--key", "home", "--time", "0.01", "--csv",
                       "motion.csv"),
                      ("simulate", "wall", "--time", "2.31", "--record", "wall.h5",
                       "--record-every", "10"),
                      ("simulate", "humanoid", "--time", "0.05", "--record", "humanoid.h5"),
                      ("simulate", "pile", "--bodies", "5", "--time", "0.05", "--record",
                       "pile.h5"),
                      ("simulate", "sliding", "--time", "0.05", "--csv", "cube.csv"),
                      ("simulate", "tower", "--bodies", "4", "--steps", "2", "--max-iter", "1",
                       "--tol", "1e-13", "--solver", "pgs", "--dump", "folder")):
            done = run(*words, cwd=cls.folder)
            assert done.returncode == 0, (words, done)
        shutil.copytree(os.path.join(cls.folder, "folder"), os.path.join(cls.folder, "problems"))
        shutil.copy(os.path.join(cls.folder, "wall.h5"), os.path.join(cls.folder, "other.h5"))
        first = os.listdir(os.path.join(cls.folder, "folder"))[0]
        shutil.copy(os.path.join(cls.folder, "folder", first),
                    os.path.join(cls.folder, "problem.hdf5"))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def help(self, verb):
        if verb not in self.helps:
            self.helps[verb] = run(*verb.split(), "--help").stdout
        return self.helps[verb]

    def check_options(self, command):
        """The verb is one of rigor's, and the options are the verb's."""
        words = command.split()[1:]
        verb = words[0] if words else ""
        if verb in ("help", "version"):
            return
        self.assertIn(f"\n  {verb} ", self.help(""), command)
        if verb == "bench":
            names = [w for w in words[1:2] if re.fullmatch(r"[a-z]+", w)]
            listed = run("bench", "list").stdout + self.help("bench")
            for name in names:
                self.assertRegex(listed, rf"(?m)^ *{name}\b", command)
            return
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", command):
            if option != "--help":
                self.assertIn(f"\n  {option} ", self.help(verb), command)

    def serve(self, words):
        """A server: it says where it is, and ends when it is told to."""
        with subprocess.Popen([RIGOR, *words], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as process:
            said = ""
            for line in process.stdout:
                said += line
                if SERVED.search(line):
                    process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
        if WITHOUT not in said:
            self.assertRegex(said, SERVED, words)

    def check_run(self, command):
        words = shlex.split(command)
        if words[0] == "mpirun" or "RIGOR_DATA" in command or words[1] == "bench":
            return  # ranks, data and measurements are tested elsewhere
        self.check_options(command)
        if words[1] == "identify":
            return  # fits take their time; test_identify.py makes some
        verb, words = words[1], shortened(words[1:])
        if verb == "plot" and shutil.which("gnuplot") is None:
            return
        if verb == "render" and shutil.which("chromium") is None:
            return
        if verb == "render" and ".mp4" in command and shutil.which("ffmpeg") is None:
            return
        if verb == "view" and words[1].endswith(".h5") and "--export" not in words:
            self.serve(words)
            return
        if verb == "rollout" and "--out" in words and "--resume" not in words:
            words += ["--force"]
        if verb == "rollout" and "--resume" in words:
            self.assertEqual(run(*[w for w in words if w != "--resume"], "--force",
                                 cwd=self.folder).returncode, 0, words)
        done = run(*words, cwd=self.folder)
        if "without the viewer" in done.stderr:
            return
        # Hard problems may stay unsolved; what a motion needs may be more than motors have.
        allowed = (0, 1) if verb in ("solve", "inverse") else (0,)
        self.assertIn(done.returncode, allowed, (command, words, done))

    def test_pages(self):
        count = 0
        for page in PAGES:
            with open(page, encoding="utf-8") as file:
                text = file.read()
            for command in commands(text):
                if not is_synopsis(command):
                    with self.subTest(page=os.path.relpath(page, ROOT), command=command):
                        self.check_run(command)
                        count += 1
        self.assertGreater(count, 20)

    def test_examples_of_help(self):
        count = 0
        for verb in re.findall(r"^  ([a-z]+) ", self.help(""), re.M):
            examples = self.help(verb).partition("Examples:\n")[2].partition("\n\n")[0]
            for line in examples.replace("\\\n", " ").splitlines():
                for command in line.split("&&"):
                    with self.subTest(verb=verb, command=command):
                        self.check_run(command.strip())
                        count += 1
        self.assertGreater(count, 20)

    def test_names_in_the_text(self):
        for page in PAGES:
            with open(page, encoding="utf-8") as file:
                text = re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)
            for command in re.findall(r"`(rigor [a-z][^`]*)`", text):
                with self.subTest(page=os.path.relpath(page, ROOT), command=command):
                    self.check_options(command)

    def test_make_targets(self):
        with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as file:
            makefile = file.read()
        for page in PAGES:
            with open(page, encoding="utf-8") as file:
                for target in re.findall(r"(?:`|&& |^)make ([a-z][a-z0-9-]*)", file.read(), re.M):
                    self.assertRegex(makefile, rf"(?m)^([a-z -]+ )?{target}( [a-z -]+)?:", page)


class Links(unittest.TestCase):
    def test_links_lead_somewhere(self):
        """Relative links of the pages name files that are there, and headings that they have."""
        for page in PAGES:
            with open(page, encoding="utf-8") as file:
                text = re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)
            for link in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                with self.subTest(page=os.path.relpath(page, ROOT), link=link):
                    self.assertTrue(os.path.exists(target), link)
                    if anchor and target.endswith(".md"):
                        with open(target, encoding="utf-8") as file:
                            headings = re.findall(r"^#+ (.*)$", file.read(), re.M)
                        slugs = {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-")
                                 for h in headings}
                        self.assertIn(anchor, slugs)


if __name__ == "__main__":
    unittest.main()
