#!/usr/bin/env python3
"""Robots in smooth motion against RK4 of MuJoCo: smooth_robots.py [OPTIONS] FOLDER...

Needs the Python package mujoco (3 or later). Every MJCF file below the folders that MuJoCo compiles, with at least
--least degrees of freedom and unlike any before, runs from a random state near its reference, without contacts,
limits, dry friction and equalities. MuJoCo's RK4 takes a tenth of the time step; rigor takes the midpoint rule. The
error is the largest difference of a coordinate at the end [rad, m]; half the time step shows the order. MuJoCo writes
the files that both read, so that a difference is one of mechanics and not of reading."""
import argparse
import os
import subprocess
import sys
import tempfile
import warnings

import mujoco
import numpy as np

from load_rates import find_files

warnings.simplefilter("ignore", UserWarning)  # of attributes that MuJoCo deprecates
OFF = (mujoco.mjtDisableBit.mjDSBL_CONTACT, mujoco.mjtDisableBit.mjDSBL_LIMIT,
       mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS, mujoco.mjtDisableBit.mjDSBL_EQUALITY)


def prepare(path, folder, seed):
    """The compiled model with a key frame at a random state, and a file of it for rigor."""
    spec = mujoco.MjSpec.from_file(path)
    for bit in OFF:
        spec.option.disableflags |= int(bit)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    for key in list(spec.keys):
        spec.delete(key)
    model = spec.compile()
    if model.nmocap > 0:
        raise ValueError("has mocap bodies")
    random = np.random.default_rng(seed)
    velocity = random.uniform(-1, 1, model.nv)
    position = model.qpos0.copy()
    mujoco.mj_integratePos(model, position, 0.3 * velocity, 1.0)
    base = os.path.dirname(os.path.abspath(path))
    spec.meshdir = os.path.join(base, spec.meshdir)
    spec.texturedir = os.path.join(base, spec.texturedir)
    spec.add_key(name="start", qpos=position, qvel=velocity)
    model = spec.compile()
    out = os.path.join(folder, "robot.xml")
    with open(out, "w", encoding="utf-8") as file:
        file.write(spec.to_xml())
    return model, out


def run_mujoco(model, time, step):
    model.opt.timestep = step
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("start").id)
    for _ in range(round(time / step)):
        mujoco.mj_step(model, data)
    return data.qpos.copy()


def run_rigor(args, path, step, folder):
    table = os.path.join(folder, "states.csv")
    done = subprocess.run([args.rigor, "simulate", path, "--key", "start", "--dt", repr(step), "--time", repr(args.time),
                           "--integrator", "midpoint", "--csv", table, "--columns", "q"],
                          capture_output=True, text=True, check=False, timeout=args.timeout)
    if done.returncode != 0:
        raise ValueError((done.stderr.strip().splitlines() or ["rigor fails"])[-1][-100:])
    with open(table, encoding="utf-8") as file:
        *_, last = file
    return np.array([float(x) for x in last.split(",")[1:]])


def difference(model, ours, theirs):
    """Of coordinates, with the rotation between quaternions."""
    apart = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, apart, 1.0, theirs, ours)
    return float(np.abs(apart).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--rigor", default="build/release/rigor", help="the program; %(default)s")
    parser.add_argument("--time", type=float, default=0.5, help="simulated seconds; %(default)s")
    parser.add_argument("--step", type=float, default=1e-3, help="time step of rigor [s]; %(default)s")
    parser.add_argument("--least", type=int, default=6, help="degrees of freedom; %(default)s")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="%(default)s")
    parser.add_argument("--most", type=int, default=10**6, help="robots to compare")
    parser.add_argument("--match", default="", help="only files whose path contains this")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run; %(default)s")
    args = parser.parse_args()
    seen, within, compared = set(), 0, 0
    print(f"MuJoCo {mujoco.__version__}, {args.time:g} s, {args.step:g} s a step")
    print(f"{'robot':60} {'nv':>4} {'nu':>4} {'error':>9} {'half step':>9} {'RK4':>9}")
    for part, kind, path in find_files(args.folders):
        if kind != "MJCF" or args.match not in path or compared >= args.most:
            continue
        name = f"{part}/{os.path.basename(os.path.dirname(path))}/{os.path.basename(path)}"[-60:]
        with tempfile.TemporaryDirectory() as folder:
            try:
                model, own = prepare(path, folder, 1)
            except (ValueError, mujoco.FatalError):
                continue
            sign = (model.nv, model.nu, round(float(model.body_mass.sum()), 6))
            if model.nv < args.least or sign in seen:
                continue
            seen.add(sign)
            theirs = run_mujoco(model, args.time, args.step / 10)
            # chaos, or stiffer than RK4 can be
            own_error = difference(model, theirs, run_mujoco(model, args.time, args.step / 20))
            if not np.isfinite(theirs).all() or not own_error < args.tolerance / 10:
                print(f"{name:60} {model.nv:4} {model.nu:4}   RK4 itself is off by {own_error:.1e}")
                continue
            compared += 1
            try:
                errors = [difference(model, run_rigor(args, own, step, folder), theirs)
                          for step in (args.step, args.step / 2)]
            except (ValueError, subprocess.TimeoutExpired) as error:
                print(f"{name:60} {model.nv:4} {model.nu:4}   {error}")
                continue
            within += errors[0] < args.tolerance
            print(f"{name:60} {model.nv:4} {model.nu:4} {errors[0]:9.1e} {errors[1]:9.1e} {own_error:9.1e}", flush=True)
    print(f"{within} of {compared} within {args.tolerance:g}")
    return 0 if compared > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
