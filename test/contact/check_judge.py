"""The C judge against judge.py: check_judge.py RIGOR [--data]

Runs `rigor solve --json --write` with few iterations, so that residuals of all sizes appear, and
compares every number with what judge.py says about the written solutions. Problems are made here,
or with --data those of RIGOR_DATA.
"""
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


def check(rigor, folders, solver, model, iterations):
    with tempfile.TemporaryDirectory() as out:
        command = [rigor, "solve", *folders, "--quiet", "--json", "--write", out]
        command += ["--solver", solver, "--model", model, "--max-iter", str(iterations)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        report = json.loads(done.stdout)
        assert report["solver"] == solver and report["model"] == model
        worst = 0.0
        for entry in report["problems"]:
            folder = next(f for f in folders if entry["file"].startswith(f))
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
                limit = 1e-6 * scale + (noise if key != "residual_si" else 1e-9 * (1 + scale))
                assert difference <= limit, (entry["file"], solver, key, entry[key], value)
                worst = max(worst, difference)
        assert report["problems"]
        return len(report["problems"]), worst


def data_folders():
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.environ.get("RIGOR_DATA", os.path.join(here, "..", "..", "..", "shared", "data"))
    return [os.path.join(root, "fclib"), os.path.join(root, "robot_steps")]


def main():
    rigor, folders = sys.argv[1], []
    if sys.argv[2:] == ["--data"]:
        folders = data_folders()
        if not all(map(os.path.isdir, folders)):
            print("skipped: fclib and robot_steps are not in RIGOR_DATA")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as made:
        if not folders:
            random = np.random.default_rng(1)
            for i in range(40):
                write_random(os.path.join(made, "p%02d.hdf5" % i), random, i)
            folders = [made]
        for run in RUNS:
            count, worst = check(rigor, folders, *run)
            print("%s %s: %d problems, largest difference %.1e" % (*run[:2], count, worst))


if __name__ == "__main__":
    main()
