"""Batches and rollouts: to the bit what worlds do one after the other."""

import gc
import threading

import numpy as np
import pytest

import rigor
from test_model import ball


def starts(model, count, seed=0):
    rng = np.random.default_rng(seed)
    q0 = np.tile(model.key("stand").q, (count, 1))
    q0[:, 7:] += 0.1 * rng.normal(size=(count, model.nq - 7))
    return q0, 0.1 * rng.normal(size=(count, model.nv)), 0.2 * rng.normal(size=(count, 40, model.nu))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rollout_equals_stepping(quadruped, threads):
    q0, v0, ctrl = starts(quadruped, 7)
    out = rigor.rollout(quadruped, q0, v0, ctrl, threads=threads)
    assert out.q.shape == (7, 40, 19) and out.v.shape == (7, 40, 18) and out.ok.all()
    for i in range(7):
        world = rigor.World(quadruped)
        world.q, world.v = q0[i], v0[i]
        for t in range(40):
            world.step(ctrl=ctrl[i, t])
            np.testing.assert_array_equal(out.q[i, t], world.q)
            np.testing.assert_array_equal(out.v[i, t], world.v)
    assert (out.status["step_count"] == 40).all() and out.faults == ["none"] * 7
    np.testing.assert_array_equal(out.q0, q0)
    np.testing.assert_array_equal(out.v0, v0)
    np.testing.assert_array_equal(out.ctrl, ctrl)
    np.testing.assert_allclose(out.time, np.tile(1e-3 * np.arange(1, 41), (7, 1)), rtol=1e-12)


def test_shapes_that_broadcast(quadruped):
    q0, v0, ctrl = starts(quadruped, 3)
    one = rigor.rollout(quadruped, q0, None, ctrl[0])
    assert one.q.shape == (3, 40, 19)
    many = rigor.rollout(quadruped, q0[0], None, ctrl[:, ::4], every=2)
    assert many.q.shape == (3, 5, 19)
    np.testing.assert_array_equal(many.ctrl, ctrl[:, ::4][:, 1::2])  # of the steps that end at the rows
    alone = rigor.rollout(quadruped, q0[0], steps=6)
    assert alone.q.shape == (1, 6, 19)
    assert rigor.rollout(quadruped, q0[0], steps=0).q.shape == (1, 0, 19)


@pytest.mark.parametrize("arguments, text", [
    (dict(q0=np.zeros((2, 5))), r"q must have shape \(2, 19\), not \(2, 5\)"),
    (dict(ctrl=np.zeros((2, 10, 5))), r"ctrl must have shape \(batch, time, 12\)"),
    (dict(ctrl=np.zeros(12)), "ctrl must have shape"),
    (dict(ctrl=np.zeros((3, 10, 12))), "disagree about the batch: \\[2, 3\\]"),
    (dict(ctrl=None), "give ctrl or steps"),
    (dict(threads=0), "threads is 0"),
    (dict(every=0), "every is 0"),
    (dict(ctrl=np.zeros((2, 10, 12), complex)), "real numbers"),
])
def test_bad_rollouts(quadruped, arguments, text):
    all_ = dict(q0=np.tile(quadruped.key("stand").q, (2, 1)), ctrl=np.zeros((2, 10, 12)))
    all_.update(arguments)
    with pytest.raises(ValueError, match=text):
        rigor.rollout(quadruped, **all_)


def test_a_bad_row_stops_alone(quadruped):
    q0, v0, ctrl = starts(quadruped, 4)
    good = rigor.rollout(quadruped, q0, v0, ctrl)
    q0[1, 3] = np.nan
    ctrl[2, 20, 0] = np.inf
    out = rigor.rollout(quadruped, q0, v0, ctrl)
    assert out.faults == ["none", "state", "control", "none"]
    np.testing.assert_array_equal(out.ok, [True, False, False, True])
    assert np.isnan(out.q[1]).all() and np.isnan(out.q[2, 20:]).all()
    np.testing.assert_array_equal(out.q[2, :20], good.q[2, :20])
    np.testing.assert_array_equal(out.q[[0, 3]], good.q[[0, 3]])


def test_batch_arrays(quadruped):
    batch = rigor.Batch(quadruped, 3, key="stand", keep_contacts=True, threads=2)
    q = batch.q
    batch.q[1, 2] += 0.5
    batch.ctrl[:] = 0.1
    batch.step(10)
    assert batch.q is q and q[1, 2] > q[0, 2] + 0.4
    world = rigor.World(quadruped, key="stand")
    world.step(10, ctrl=np.full(12, 0.1))
    assert batch.hash(0) == world.hash() and batch.hash(2) == world.hash()
    np.testing.assert_array_equal(batch.contacts(0)["force"], world.contacts["force"])
    np.testing.assert_allclose(batch.time, 0.01)
    batch.step(5, mask=[0])
    np.testing.assert_allclose(batch.time, [0.015, 0.01, 0.01])
    batch.restore(world.save(), mask=np.array([True, False, False]))
    assert batch.hash(0) == world.hash()
    assert len(set(batch.seeds.tolist())) == 3
    batch.v[2] = np.nan
    batch.step()
    assert batch.faults == ["none", "none", "state"] and np.isfinite(batch.v).all()
    batch.reset("stand", mask=[2])
    assert batch.faults == ["none"] * 3
    with pytest.raises(IndexError):
        batch.hash(3)
    with pytest.raises(ValueError, match=r"q must have shape \(3, 19\)"):
        batch.q = np.zeros((2, 19))
    with pytest.raises(ValueError, match="at least one world"):
        rigor.Batch(quadruped, 0)


def test_parameters_differ(quadruped):
    batch = rigor.Batch(quadruped, 3, key="stand")
    batch.q[:, 2] += 2
    batch.set_parameter("gravity", [[0, 0, 0], [0, 0, -1], [0, 0, -2]])
    batch.set_parameter("friction", [0.1, 0.2, 0.3])
    batch.step(100)
    np.testing.assert_allclose(batch.v[:, 2], [0, -0.1, -0.2], atol=1e-6)
    with pytest.raises(ValueError, match="does not broadcast to \\(3, 3\\)"):
        batch.set_parameter("gravity", np.zeros((2, 3)))
    with pytest.raises(ValueError, match="none of gravity, mass, friction, .*damping$"):
        batch.set_parameter("color", 1)


def test_sensors():
    model = rigor.load("humanoid")
    if not model.sensor_names:
        d = ball()
        d.add_sensor("frame_position", "p", body="ball")
        model = d.compile()
    out = rigor.rollout(model, model.neutral(), steps=5, sensors=True)
    world = rigor.World(model)
    world.step(5)
    np.testing.assert_array_equal(out.sensors[0, -1], world.sensors)


def test_batches_live_as_long_as_needed():
    kept = []
    for _ in range(50):
        model = ball().compile()
        batch = rigor.Batch(model, 3)
        model.cycle = (model, batch)
        batch.step()
        kept.append(batch.q)
        del model, batch
    gc.collect()
    for q in kept:
        assert np.isfinite(q).all()
        q[:] = 1


def test_one_batch_in_two_threads(quadruped):
    batch, errors = rigor.Batch(quadruped, 8, key="stand", threads=1), []

    def work():
        for _ in range(20):
            try:
                batch.step(20)
            except rigor.BusyError as error:
                errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors


def test_what_is_not_kept(quadruped):
    batch = rigor.Batch(quadruped, 2, threads=1, key="stand")
    batch.step(5)
    with pytest.raises(rigor.ArgumentError, match="keep_contacts=True"):
        batch.contacts(0)
    with pytest.raises(rigor.ArgumentError, match="keep_sensors=True"):
        batch.sensors
    kept = rigor.Batch(quadruped, 2, threads=1, key="stand", keep_contacts=True, keep_sensors=True)
    kept.set_parameter("mu", [0.1, 0.2])
    kept.step(500)
    assert kept.contacts(1)["mu"] == pytest.approx(0.2)
