"""Derivatives of forward dynamics beside Pinocchio's: values, and times of calls from Python.

    python bench/rigid_derivatives.py ROBOT.urdf... [--states 50]

Needs the packages rigor and pin. Robots have a fixed base; joints are matched by name. Times are the least of the
calls, those of Python included: an empty call of either takes less than 1 us.
"""

import argparse
import time

import numpy as np
import pinocchio as pin

import rigor


def least(call, count=200):
    best = np.inf
    for _ in range(count):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return 1e6 * best


def compare(path, states):
    model = rigor.load(path, base="fixed", meshes="none")
    other = pin.buildModelFromUrdf(path)
    data = other.createData()
    names = [name for name in model.joint_names if other.existJointName(name) and model.nv]
    order = np.array([other.joints[other.getJointId(name)].idx_v for name in names])
    if len(order) != model.nv or other.nv != model.nv or other.nq != model.nq:
        return f"{path}: {model.nv} and {other.nv} degrees of freedom do not match"
    ours, worst, random = rigor.Dynamics(model), 0.0, np.random.default_rng(1)
    for _ in range(states):
        q, v, tau = random.uniform(-1, 1, (3, model.nv))
        theirs = [np.zeros(model.nv) for _ in range(3)]
        for x, y in zip(theirs, (q, v, tau)):
            x[order] = y
        ours.set_state(q, v)
        mine = ours.forward_dynamics_derivatives(tau)
        pin.computeABADerivatives(other, data, *theirs)
        inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        for a, b in zip(mine, (data.ddq_dq, data.ddq_dv, inverse)):
            worst = max(worst, abs(a - b[np.ix_(order, order)]).max() / abs(b).max())

    def own():
        ours.set_state(q, v)
        ours.forward_dynamics_derivatives(tau)

    return (f"{model.name:12} nv {model.nv:3}  apart {worst:.1e}  rigor {least(own):6.1f} us  Pinocchio "
            f"{least(lambda: pin.computeABADerivatives(other, data, *theirs)):6.1f} us")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="+")
    parser.add_argument("--states", type=int, default=50)
    options = parser.parse_args()
    for robot in options.robots:
        print(compare(robot, options.states))
