#!/usr/bin/env python3
"""Which faults do the tests find? run.py [--seed N] [--count N] [--again] [--only REGEX] [--at PATH:LINE...]

Puts one small fault at a time into a copy of src (operators.py), builds what it concerns and runs the unit tests of
its folder. A fault that no test meets is reported as survived. Faults that do not compile, and those that give the
same object code, do not count. Answers are kept in build/mutants: the same command goes on where it was stopped,
and --again repeats those that survived."""
import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import operators

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutants"
# Folders whose tests are written in Python, too, or are those of a world.
TESTS = {"record": r"record\.|cli\.record", "view": r"view\.|cli\.view", "identify": r"identify\.|cli\.identify",
         "inverse": r"world\.inverse", "query": r"world\.(query|readout)"}
MEMORY = 6 << 30  # bytes of a test, where a fault asks for too much


def folder_of(path):
    return path.split("/")[1]


def cpu_has(word):
    return any(word in line.split() for line in open("/proc/cpuinfo", encoding="ascii") if line.startswith("flags"))


def sources():
    listed = subprocess.run(["git", "ls-files", "src/*.c"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    wide = cpu_has("avx512f")
    return {p: (ROOT / p).read_text() for p in listed.split() if wide or not p.endswith("_avx512.c")}


class Tree:
    """A copy of the repository with a build of its own."""

    def __init__(self, index):
        self.root = WORK / f"tree{index}"
        self.build = self.root / "build"
        self.tests = {}
        self.log = open(WORK / f"tree{index}.log", "w", encoding="utf-8")

    def copy(self):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        wanted = set(listed.split("\0")) - {""}
        for path in wanted:
            source, target = ROOT / path, self.root / path
            if not source.is_file():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != source.read_bytes():
                shutil.copy(source, target)
        for target in (self.root / "src").rglob("*.c"):
            if str(target.relative_to(self.root)) not in wanted:
                target.unlink()
        page = ROOT / "build" / "web" / "page.html.gz"
        if page.exists():
            shutil.copy(page, self.root / "web")

    def run(self, *command):
        environment = dict(os.environ, CCACHE_BASEDIR=str(self.root), CCACHE_NOHASHDIR="1")
        return subprocess.run(command, stdout=self.log, stderr=self.log, env=environment, check=False).returncode == 0

    def configure(self):
        self.copy()
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        if not self.run("cmake", "-G", "Ninja", "-S", self.root, "-B", self.build, "-DCMAKE_BUILD_TYPE=Release",
                        "-DRIGOR_WERROR=OFF", "-DRIGOR_BENCH=OFF", "-DRIGOR_PEERS=OFF", *launcher):
            sys.exit(f"mutants: the tree could not be configured, see {self.log.name}")
        if not self.run("ninja", "-C", self.build, "-j1"):  # ctest names no command of a program that is not there
            sys.exit(f"mutants: the tree could not be built, see {self.log.name}")
        listed = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], check=True, capture_output=True,
                                text=True).stdout
        for test in json.loads(listed)["tests"]:
            properties = {p["name"]: p["value"] for p in test.get("properties", [])}
            if "command" in test and "unit" in properties.get("LABELS", []):
                self.tests[test["name"]] = (test["command"], dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", [])))

    def tests_of(self, folder):
        pattern = re.compile(TESTS.get(folder, re.escape(folder) + r"\."))
        names = [name for name in self.tests if pattern.match(name)]
        if not names:
            sys.exit(f"mutants: {folder} has no tests")
        return names

    def build_tests(self, names):
        programs = {Path(self.tests[n][0][0]).name for n in names if str(self.build) in self.tests[n][0][0]}
        scripts = any(n.startswith("cli.") for n in names)
        return self.run("ninja", "-C", self.build, "-j1", *sorted(programs), *(["rigor_cli"] if scripts else []))

    def object_of(self, path):
        return self.build / "CMakeFiles" / "rigor_objects.dir" / (path + ".o")

    def compile(self, path):
        """The object file's bytes, or None."""
        target = self.object_of(path)
        good = self.run("ninja", "-C", self.build, "-j1", str(target.relative_to(self.build)))
        return target.read_bytes() if good else None

    def try_test(self, name, seconds):
        """Passed or not, and how long it took."""
        command, settings = self.tests[name]
        with tempfile.TemporaryDirectory() as home:
            environment = {k: v for k, v in os.environ.items() if k != "RIGOR_DATA"}
            environment.update(settings, HOME=home, XDG_CACHE_HOME=home, TMPDIR=home)
            start = time.monotonic()
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=home, env=environment,
                                  start_new_session=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))) as process:
                try:
                    code = process.wait(seconds)
                except subprocess.TimeoutExpired:
                    code = -1
                try:
                    os.killpg(process.pid, signal.SIGKILL)  # whatever it left behind
                except ProcessLookupError:
                    pass
            return code in (0, 77), time.monotonic() - start


class Session:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.files = sources()
        self.book = WORK / f"seed{options.seed}.jsonl"
        self.answers = {}
        if self.book.exists():
            for line in self.book.read_text().splitlines():
                answer = json.loads(line)
                self.answers[answer["key"]] = answer
        self.durations = {}  # of tests without a fault
        chosen = operators.sample(self.files, options.seed, 40 * options.count)
        only = re.compile(options.only)
        self.mutants = [m for m in chosen if only.search(m[0])][:4 * options.count]
        if options.at:
            at = [place.rsplit(":", 1) for place in options.at]
            self.mutants = [(p, s, t) for p, line in at for s in operators.sites(self.files[p])
                            if self.files[p].count("\n", 0, s.start) + 1 == int(line) for t in s.texts]
            options.count = len(self.mutants)
        self.next = 0

    def key(self, mutant):
        path, site, text = mutant
        source = self.files[path]
        line = source.count("\n", 0, site.start) + 1
        start = source.rfind("\n", 0, site.start) + 1
        return f"{path}:{line}:{site.start - start} {site.operator} {source[site.start:site.end]!r} -> {text!r}", line

    def told(self, mutant):
        answer = self.answers.get(self.key(mutant)[0])
        return None if answer is None or self.options.again and answer["end"] == "survived" and not answer.get("now") else answer

    def counted(self):
        """Answers that count, in the order of the sample, without gaps."""
        answers = []
        for mutant in self.mutants:
            answer = self.answers.get(self.key(mutant)[0])
            if answer is None:
                break
            if answer["end"] in ("killed", "survived"):
                answers.append(answer)
        return answers[:self.options.count]

    def take(self):
        with self.lock:
            while self.next < len(self.mutants) and len(self.counted()) < self.options.count + (10**9 if self.options.again else 0):
                mutant = self.mutants[self.next]
                self.next += 1
                answer = self.answers.get(self.key(mutant)[0])
                if self.options.again and answer is None:
                    return None
                if self.told(mutant) is None:
                    return mutant
            return None

    def tell(self, mutant, end, by=""):
        key, line = self.key(mutant)
        answer = {"key": key, "path": mutant[0], "line": line, "end": end, "by": by}
        with self.lock:
            with open(self.book, "a", encoding="utf-8") as book:
                book.write(json.dumps(answer) + "\n")
            self.answers[key] = dict(answer, now=True)
            print(f"{len(self.counted()):4}  {end:10} {key} {by}", flush=True)

    def first_run(self, tree, names):
        """Tests that pass without a fault, the fastest first."""
        for name in names:
            with self.lock:
                known = name in self.durations
            if not known:
                passed, seconds = tree.try_test(name, 1200)
                with self.lock:
                    self.durations[name] = seconds if passed else None
                    if not passed:
                        print(f"mutants: {name} fails without a fault and is left out", flush=True)
        with self.lock:
            return sorted((n for n in names if self.durations[n] is not None), key=self.durations.get)

    def end_of(self, tree, mutant):
        path, site, text = mutant
        source = self.files[path]
        file = tree.root / path
        names = tree.tests_of(folder_of(path))
        before = tree.compile(path)
        if before is None or not tree.build_tests(names):
            sys.exit(f"mutants: {path} does not build without a fault, see {tree.log.name}")
        names = self.first_run(tree, names)
        try:
            file.write_text(source[:site.start] + text + source[site.end:])
            after = tree.compile(path)
            if after is None:
                return "invalid", ""
            if after == before:
                return "equal", ""
            if not tree.build_tests(names):
                return "invalid", ""
            for name in names:
                if not tree.try_test(name, 20 + 10 * self.durations[name])[0]:
                    return "killed", name
            return "survived", ""
        finally:
            file.write_text(source)

    def work(self, tree):
        while (mutant := self.take()) is not None:
            self.tell(mutant, *self.end_of(tree, mutant))

    def report(self):
        answers = self.counted()
        left = [a for a in answers if a["end"] == "survived"]
        print(f"\nmutants: seed {self.options.seed}, {len(answers)} faults, {len(answers) - len(left)} found, {len(left)} survived")
        for answer in left:
            print("  " + answer["key"])
        return len(answers), len(left)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="of files that match")
    parser.add_argument("--at", nargs="+", metavar="PATH:LINE", help="all faults of these lines instead")
    parser.add_argument("--again", action="store_true", help="repeat what survived")
    options = parser.parse_args()
    os.nice(10)
    WORK.mkdir(parents=True, exist_ok=True)
    session = Session(options)
    trees = [Tree(i) for i in range(options.jobs)]
    for tree in trees:
        tree.configure()
    threads = [threading.Thread(target=session.work, args=(tree,), daemon=True) for tree in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    count, left = session.report()
    sys.exit(0 if count == 0 or left <= 0.15 * count else 1)


if __name__ == "__main__":
    main()
