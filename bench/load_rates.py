#!/usr/bin/env python3
"""How many model files load, beside MuJoCo: load_rates.py [OPTIONS] FOLDER...

Reads every file below the folders whose root element is <mujoco>, <robot> or <sdf>, with `rigor check` and, where
the Python package mujoco is installed, with MuJoCo. A file counts for MuJoCo where it compiles there; that leaves
out fragments, which only other files include. A collection is a folder right below one that is given. Prints a
table by format and collection, then what rigor says of files that it does not load, grouped, with one file each."""
import argparse
import collections
import multiprocessing
import os
import re
import subprocess
import sys

FORMATS = {"mujoco": "MJCF", "mujocoinclude": None, "robot": "URDF", "sdf": "SDF"}


def find_format(path):
    """By the first element of the file; None for what is no model."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(20_000)
    except OSError:
        return None
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    found = re.search(r"<\s*([A-Za-z_]\w*)", text)
    return FORMATS.get(found.group(1)) if found else None


def find_files(folders):
    """(collection, format, path) of every model file, in a fixed order."""
    for top in folders:
        top = os.path.abspath(top)
        for folder, folders_in, names in os.walk(top):
            folders_in.sort()
            relative = os.path.relpath(folder, top)
            part = os.path.basename(top) if relative == "." else relative.split(os.sep)[0]
            for name in sorted(names):
                if name.lower().endswith((".xml", ".urdf", ".sdf", ".mjcf")):
                    path = os.path.join(folder, name)
                    kind = find_format(path)
                    if kind is not None:
                        yield part, kind, path


def load_with_rigor(task):
    """The errors of `rigor check`, or an empty list where the file loads."""
    program, path, seconds, options = task
    try:
        done = subprocess.run([program, "check", path, "--verbose", *options], capture_output=True, text=True,
                              errors="replace", timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return [f"takes more than {seconds:g} s"]
    if done.returncode == 0:
        return []
    said = [line for line in (done.stderr + done.stdout).splitlines() if "error: " in line]
    return said or [f"ends with code {done.returncode}"]


def serve_mujoco(pipe):
    import mujoco
    mujoco.set_mju_user_warning(lambda text: None) if hasattr(mujoco, "set_mju_user_warning") else None
    while True:
        path = pipe.recv()
        try:
            mujoco.MjModel.from_xml_path(path)
            pipe.send("")
        except Exception as error:  # noqa: BLE001 whatever it is, the file does not load
            pipe.send(str(error) or "fails")


class MuJoCo:
    """In a process of its own, which a file may end or keep busy."""

    def __init__(self, seconds):
        self.seconds, self.process = seconds, None

    def start(self):
        self.pipe, there = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=serve_mujoco, args=(there,), daemon=True)
        self.process.start()
        there.close()

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def load(self, path):
        if self.process is None:
            self.start()
        try:
            self.pipe.send(path)
            if self.pipe.poll(self.seconds):
                return self.pipe.recv()
            said = f"takes more than {self.seconds:g} s"
        except (EOFError, OSError):
            said = "ends the process"
        self.stop()
        return said


def group(text):
    """A message without what belongs to one file: its place, names and numbers."""
    text = re.sub(r"^.*?error: ", "", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "...", text)
    text = re.sub(r"\S*/\S+", "FILE", text)
    text = re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "N", text)
    return re.sub(r"; did you mean .*", "", text)[:110]


def print_rates(rows, has_mujoco):
    print(f"{'format':6} {'collection':28} {'files':>6} {'rigor':>6} {'MuJoCo':>7} {'both':>6} {'share':>8}")
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for part, kind, _, errors, theirs in rows:
        for key in ((kind, part), (kind, "all")):
            found = sums[key]
            found[0] += 1
            found[1] += not errors
            found[2] += theirs == ""
            found[3] += theirs == "" and not errors
    for (kind, part), (files, ours, peers, both) in sorted(sums.items()):
        share = f"{100 * both / peers:6.1f} %" if peers else "-"
        print(f"{kind:6} {part:28} {files:6} {ours:6} {peers if has_mujoco else '-':>7} "
              f"{both if has_mujoco else '-':>6} {share:>8}")


def print_reasons(title, said):
    groups = collections.defaultdict(list)
    for kind, text, path in said:
        groups[kind, group(text)].append((text, path))
    if groups:
        print(f"\n{title}")
    for (kind, reason), found in sorted(groups.items(), key=lambda item: -len(item[1])):
        print(f"{len(found):5} {kind:5} {reason}\n            {found[0][1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--rigor", default="build/release/rigor", help="the program; %(default)s")
    parser.add_argument("--jobs", type=int, default=1, help="files that rigor reads at a time; %(default)s")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one file; %(default)s")
    parser.add_argument("--option", action="append", default=[], help="of rigor check, such as --option=--hull")
    parser.add_argument("--match", default="", help="only files whose path contains this")
    parser.add_argument("--without-mujoco", action="store_true")
    parser.add_argument("--list", action="store_true", help="name every file that rigor does not load")
    args = parser.parse_args()
    files = [row for row in find_files(args.folders) if args.match in row[2]]
    if not files:
        sys.exit("load_rates: there is no model file in these folders")
    try:
        import mujoco
        peer = None if args.without_mujoco else MuJoCo(args.timeout)
    except ImportError:
        peer = None
    print(f"{len(files)} files" + (f", MuJoCo {mujoco.__version__}" if peer else ", without MuJoCo"))
    tasks = [(args.rigor, path, args.timeout, args.option) for _, _, path in files]
    with multiprocessing.pool.ThreadPool(args.jobs) as pool:
        errors = pool.map(load_with_rigor, tasks, chunksize=1)
    theirs = [peer.load(path) if peer and kind != "SDF" else "not asked" for _, kind, path in files]
    if peer:
        peer.stop()
    rows = [(*file, ours, said) for file, ours, said in zip(files, errors, theirs)]
    print_rates(rows, peer is not None)
    print_reasons("not loaded by rigor, loaded by MuJoCo",
                  [(kind, ours[0], path) for _, kind, path, ours, said in rows if ours and said == ""])
    print_reasons("not loaded by rigor, nor by MuJoCo or not asked",
                  [(kind, ours[0], path) for _, kind, path, ours, said in rows if ours and said != ""])
    print_reasons("loaded by rigor, not by MuJoCo",
                  [(kind, said, path) for _, kind, path, ours, said in rows
                   if not ours and said not in ("", "not asked")])
    if args.list:
        for _, _, path, ours, said in rows:
            if ours:
                print(f"{'MuJoCo loads' if said == '' else 'neither'} {path}\n    {ours[0]}")


if __name__ == "__main__":
    import multiprocessing.pool
    main()
