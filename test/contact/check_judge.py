"""The C judge against judge.py: check_judge.py RIGOR [--data]

Runs `rigor solve --json --write` with few iterations, so that residuals of all sizes appear, and
compares every number with what judge.py says about the written solutions. Problems are made here,
or with --data taken from RIGOR_DATA.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "io"))
from judge import judge
from samples import write_random

RUNS = [
    ("pgs", "ncp", 3),
    ("pgs", "ccp", 3),
    ("admm", "ncp", 10),
    ("admm-fast", "ncp", 2000),
]


def check(rigor, folder, solver, model, iterations):
    with tempfile.TemporaryDirectory() as out:
        command = [rigor, "solve", folder, "--quiet", "--json", "--write", out]
        command += ["--solver", solver, "--model", model, "--max-iter", str(iterations)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        report = json.loads(done.stdout)
        assert report["solver"] == solver and report["model"] == model
        worst = 0.0
        for entry in report["problems"]:
            written = os.path.join(out, os.path.relpath(entry["file"], folder))
            mine = judge(written, model)
            # sigma is a sum of hundreds of terms that cancel; residuals near rounding are noise.
            noise = 1e-10
            for key, value in mine.items():
                if key == "velocity_error":
                    assert value < 1e-12, (entry["file"], key, value)
                    continue
                scale = max(abs(value), abs(entry[key]))
                difference = abs(entry[key] - value)
                limit = 1e-6 * scale + (noise if key == "residual" else 1e-9 * (1 + scale))
                assert difference <= limit, (entry["file"], solver, key, entry[key], value)
                worst = max(worst, difference)
        assert report["problems"]
        return len(report["problems"]), worst


def link_data(target):
    """All FCLIB files and every eighth robot step, as links; false when they are not there."""
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.environ.get("RIGOR_DATA", os.path.join(here, "..", "..", "..", "shared", "data"))
    root = os.path.abspath(root)
    for folder, step in (("fclib", 1), ("robot_steps", 8)):
        if not os.path.isdir(os.path.join(root, folder)):
            return False
        found = sorted(glob.glob(os.path.join(root, folder, "*", "*.hdf5")))
        for path in found[::step]:
            link = os.path.join(target, os.path.relpath(path, root))
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(path, link)
    return True


def make_problems(target):
    random = np.random.default_rng(1)
    for i in range(40):
        write_random(os.path.join(target, "p%02d.hdf5" % i), random, i)


def main():
    rigor, data = sys.argv[1], sys.argv[2:] == ["--data"]
    with tempfile.TemporaryDirectory() as folder:
        if not data:
            make_problems(folder)
        elif not link_data(folder):
            print("skipped: fclib and robot_steps are not in RIGOR_DATA")
            sys.exit(77)
        for run in RUNS:
            count, worst = check(rigor, folder, *run)
            print("%s %s: %d problems, largest difference %.1e" % (*run[:2], count, worst))


if __name__ == "__main__":
    main()
