#!/usr/bin/env python3
"""Robots under position servos against RK4 of MuJoCo: servo_robots.py [OPTIONS] FILE:KP,KV...

Needs the Python package mujoco (3 or later). The hinges of each MJCF file get servos of gains KP and KV, those of
joint I the I-th pair where several are given (KP,KV;KP,KV; the last for all others), and an armature. From rest, each
target is up to 0.1 rad away. Compared every 10 ms with RK4 of 25 us: rigor, and MuJoCo's implicitfast at the same
time step. The error is the largest difference of a hinge [rad], during the motion and at the end."""
import argparse
import os
import subprocess
import sys
import tempfile

import mujoco
import numpy as np

from smooth_robots import OFF

EVERY = 0.01
STEPS = (5e-4, 1e-3, 2e-3, 5e-3)


def prepare(path, gains, args, folder):
    """The compiled model with servos and a key frame, and a file of it for rigor."""
    spec = mujoco.MjSpec.from_file(path)
    for bit in OFF:
        spec.option.disableflags |= int(bit)
    for part in list(spec.keys) + list(spec.actuators):
        spec.delete(part)
    hinges = [joint for joint in spec.joints if joint.type == mujoco.mjtJoint.mjJNT_HINGE]
    for i, joint in enumerate(hinges):
        joint.armature = args.armature
        kp, kv = gains[min(i, len(gains) - 1)]
        servo = spec.add_actuator(name=f"servo{i}", trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint.name)
        servo.set_to_position(kp=kp, kv=kv)
        if args.limit > 0:
            servo.forcelimited, servo.forcerange = 1, [-args.limit, args.limit]
    base = os.path.dirname(os.path.abspath(path))
    spec.meshdir = os.path.join(base, spec.meshdir)
    spec.texturedir = os.path.join(base, spec.texturedir)
    model = spec.compile()
    random = np.random.default_rng(1)
    where = model.jnt_qposadr[model.actuator_trnid[:, 0]]
    position = model.qpos0.copy()
    position[where] += random.uniform(-0.3, 0.3, model.nu)
    spec.add_key(name="start", qpos=position, ctrl=position[where] + random.uniform(-0.1, 0.1, model.nu))
    model = spec.compile()
    out = os.path.join(folder, "robot.xml")
    with open(out, "w", encoding="utf-8") as file:
        file.write(spec.to_xml())
    return model, out, where


def run_mujoco(model, where, time, step, integrator):
    model.opt.timestep, model.opt.integrator = step, integrator
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    rows = []
    for i in range(round(time / step)):
        mujoco.mj_step(model, data)
        if (i + 1) % round(EVERY / step) == 0:
            rows.append(data.qpos[where])
    return np.array(rows)


def run_rigor(program, path, where, time, step, folder):
    table = os.path.join(folder, "states.csv")
    done = subprocess.run([program, "simulate", path, "--key", "start", "--dt", repr(step), "--time", repr(time),
                           "--integrator", "midpoint", "--csv", table, "--columns", "q"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    rows = np.loadtxt(table, delimiter=",", skiprows=1)
    chosen = [int(np.argmin(np.abs(rows[:, 0] - EVERY * (i + 1)))) for i in range(round(time / EVERY))]
    return rows[chosen][:, 1 + where]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="+", metavar="FILE:KP,KV")
    parser.add_argument("--rigor", default="build/release/rigor", help="the program; %(default)s")
    parser.add_argument("--time", type=float, default=0.5, help="simulated seconds; %(default)s")
    parser.add_argument("--armature", type=float, default=0.1, help="of every hinge; %(default)s")
    parser.add_argument("--limit", type=float, default=0, help="of the forces of servos; none")
    args = parser.parse_args()
    integrators = mujoco.mjtIntegrator
    print(f"MuJoCo {mujoco.__version__}, {args.time:g} s; error during the motion, at the end")
    for robot in args.robots:
        path, text = robot.rsplit(":", 1)
        gains = [tuple(float(x) for x in pair.split(",")) for pair in text.split(";")]
        with tempfile.TemporaryDirectory() as folder:
            model, own, where = prepare(path, gains, args, folder)
            best = run_mujoco(model, where, args.time, 2.5e-5, integrators.mjINT_RK4)
            for step in STEPS:
                errors = []
                for rows in (run_rigor(args.rigor, own, where, args.time, step, folder),
                             run_mujoco(model, where, args.time, step, integrators.mjINT_IMPLICITFAST)):
                    errors += [np.abs(rows - best).max(), np.abs(rows[-1] - best[-1]).max()]
                print(f"{os.path.basename(os.path.dirname(path)):20} {step:6g} s  rigor {errors[0]:.1e} {errors[1]:.1e}"
                      f"  implicitfast {errors[2]:.1e} {errors[3]:.1e}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
