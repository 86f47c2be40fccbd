"""What Python costs: a step over the C call, an import, and rollouts on two threads. bench.py [ROUNDS]

Minimum over rounds of processor time; rollouts by the clock, on two cores that must be idle.
"""

import subprocess
import sys
import time
import timeit

import numpy as np

import rigor
from rigor._core import ffi, lib

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20


def best(call, number):
    return min(timeit.repeat(call, number=number, repeat=rounds, timer=time.thread_time)) / number


def step_overhead():
    """Of a world whose step does nothing, so that nothing else is measured."""
    empty = rigor.World(rigor.ModelDef().compile())
    report = ffi.new("rgStepReport*")
    alone = best(lambda: empty.step(1000), 5) / 1000
    nothing = best(lambda: None, 20000)
    python = best(empty.step, 5000) - nothing
    raw = best(lambda: lib.rgWorld_Step(empty._world, report), 5000) - nothing
    print(f"step: {1e9 * python:.0f} ns from Python, {1e9 * alone:.0f} ns in C: "
          f"{1e9 * (python - alone):.0f} ns more ({1e9 * (raw - alone):.0f} ns for cffi alone)")


def step_arrays():
    """What the arrays add where there are coordinates: a robot's step with and without them."""
    model = rigor.load("quadruped")
    world, twin = (rigor.World(model, key="stand") for _ in range(2))
    world.step(1000)
    twin.step(1000)
    raw, report = twin._world, ffi.new("rgStepReport*")
    with_, without = [], []
    for _ in range(rounds):
        for times, call in ((with_, world.step), (without, lambda: lib.rgWorld_Step(raw, report))):
            start = time.thread_time()  # of this thread, whatever else runs
            for _ in range(200):
                call()
            times.append((time.thread_time() - start) / 200)
    print(f"quadruped: {1e6 * min(with_):.2f} us from Python, {1e6 * min(without):.2f} us by cffi")


def imports():
    code = "import time; t = time.process_time(); {}; print(time.process_time() - t)"

    def seconds(what):
        return min(float(subprocess.run([sys.executable, "-c", code.format(what)], check=True,
                                        capture_output=True, text=True).stdout)
                   for _ in range(rounds))

    print(f"import: {1e3 * seconds('import rigor'):.0f} ms, of which numpy "
          f"{1e3 * seconds('import numpy'):.0f} ms")


def rollouts():
    model = rigor.load("quadruped")
    q0 = np.tile(model.key("stand").q, (64, 1))
    ctrl = 0.2 * np.random.default_rng(0).normal(size=(64, 100, model.nu))
    times, work = {1: [], 2: []}, {1: [], 2: []}
    for _ in range(max(rounds // 2, 3)):
        for threads, seen in times.items():
            start, busy = time.perf_counter(), time.process_time()
            rigor.rollout(model, q0, None, ctrl, threads=threads)
            seen.append(time.perf_counter() - start)
            work[threads].append(time.process_time() - busy)
    one, two = min(times[1]), min(times[2])
    print(f"rollout of 64 x 100 steps: {1e3 * one:.0f} ms on one thread, {1e3 * two:.0f} ms on two: "
          f"{one / two:.2f}x by the clock, {6400 / two:.0f} steps/s; "
          f"processor time {1e3 * min(work[1]):.0f} and {1e3 * min(work[2]):.0f} ms")


if __name__ == "__main__":
    step_overhead()
    step_arrays()
    imports()
    rollouts()
