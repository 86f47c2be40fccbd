"""Identification of a joint and a body from motions that were simulated with them."""

import numpy as np
import pytest

import rigor

ARM = """<mujoco><option timestep="0.002"/><worldbody><body name="arm" pos="0 0 1">
<joint name="hinge" axis="0 1 0" damping="%g"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.01" mass="0.2"/></body></worldbody></mujoco>"""


def swing(model, start):
    world = rigor.World(model)
    world.q, times, q, poses = [start], [], [], []
    for _ in range(60):
        pose = world.body_pose("arm")
        times.append(world.time), q.append(world.q[0]), poses.append([*pose.p, *pose.q])
        world.step(5)
    return np.array(times), np.array(q), np.array(poses)


def test_arrays_and_files(tmp_path):
    true, guess = rigor.parse(ARM % 0.03), rigor.parse_def(ARM % 0.01)
    model = guess.compile()
    motions = []
    for start in (0.4, -1.0, 0.9):
        times, q, poses = swing(true, start)
        motions.append(rigor.Motion(model, times, [start], coordinates={"hinge": q}))
    path = tmp_path / "swing.csv"
    rows = ["time,q:hinge"] + [f"{t:.9f},{x:.9f}" for t, x in zip(times, q)]
    path.write_text("\n".join(rows) + "\n")
    motions[2] = path
    motions.append(rigor.Motion(model, times, [0.9], poses={"arm": poses}, name="seen"))
    found = rigor.identify(guess, motions, {"joint/hinge/damping": (0, 0.1)}, folds=2, generations=5)
    assert found.values["joint/hinge/damping"] == pytest.approx(0.03, abs=5e-4)
    damping = found.parameters["joint/hinge/damping"]
    assert damping.start == pytest.approx(0.01) and damping.determined > 0.9 and damping.folds.shape == (2,)
    assert found.held_out.coordinate < 2e-3 and found.motions[3].name == "seen"
    assert found.directions.shape == (1, 1) and found.strengths[0] > 3.5
    more = rigor.identify(guess, motions, {"joint/hinge/damping": (0, 0.1)}, folds=2, generations=5,
                          threads=2)
    assert more.values == found.values
    assert found.apply(guess).compile().joint("hinge").damping == damping.value


def test_refusals():
    guess = rigor.parse_def(ARM % 0.01)
    model = guess.compile()
    motion = rigor.Motion(model, [0, 0.1], [0], coordinates={"hinge": [0, 0.01]})
    with pytest.raises(rigor.ArgumentError, match="did you mean 'hinge'"):
        rigor.identify(guess, [motion], {"joint/hing/damping": (0, 1)})
    with pytest.raises(rigor.ArgumentError, match="there is no 'low'"):
        rigor.identify(guess, [motion], {"gravity": {"bounds": (9, 10), "low": 3}})
    with pytest.raises(rigor.ArgumentError, match="must be \\(low, high\\)"):
        rigor.identify(guess, [motion], {"gravity": 9})
    with pytest.raises(TypeError, match="has no setting 'generation'"):
        rigor.identify(guess, [motion], {"gravity": (9, 10)}, generation=3)
    with pytest.raises(rigor.ArgumentError, match="needs measurements"):
        rigor.Motion(model, [0, 1], [0])
    with pytest.raises(rigor.ArgumentError, match="must have shape \\(2, 1\\)"):
        rigor.Motion(model, [0, 1], [0], coordinates={"hinge": [1, 2, 3]})
    with pytest.raises(rigor.FileError):
        rigor.identify(guess, ["none.csv"], {"gravity": (9, 10)})
    assert any(f.kind == "body" and f.field == "mass" for f in rigor.parameter_fields())
