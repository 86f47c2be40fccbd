"""Worlds on a device, by its code on the host: what a batch of worlds does, and arrays without copies."""

import gc
import pickle

import numpy as np
import pytest

import rigor
from rigor import device as device_module


def test_agrees_with_batch(quadruped):
    ours = rigor.Batch(quadruped, 3, dt=1e-3, device="host", key="stand", tolerance=1e-9)
    assert isinstance(ours, rigor.DeviceBatch) and len(ours) == 3
    batch = rigor.Batch(quadruped, 3, dt=1e-3, key="stand", tolerance=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(20):
        ctrl = 0.2 * rng.normal(size=(3, quadruped.nu))
        ours.write("ctrl", ctrl)
        batch.ctrl[:] = ctrl
        ours.step(3)
        batch.step(3)
    np.testing.assert_allclose(np.asarray(ours.q), batch.q, atol=1e-5)
    np.testing.assert_allclose(np.asarray(ours.v), batch.v, atol=1e-3)
    report = ours.report
    assert report.step_count == 180 and report.host_count < 40 and report.worst_residual <= 1e-9
    assert sum(report.reasons.values()) == report.host_count and not ours.faults.any()


def test_arrays(quadruped):
    batch = rigor.DeviceBatch(quadruped, 4, device="host", key="stand", threads=1)
    assert batch.q.shape == (4, 19) and batch.time.shape == (4, 1)
    q = np.asarray(batch.q)
    np.testing.assert_array_equal(q, batch.read("q"))
    assert not q.flags.writeable and np.asarray(batch.ctrl).flags.writeable
    np.asarray(batch.ctrl)[1] = 0.25
    assert (batch.read("ctrl")[1] == 0.25).all() and (batch.read("ctrl")[0] == 0).all()
    before = q.copy()
    batch.step(10)
    assert (q != before).any()  # a view
    np.testing.assert_allclose(np.asarray(batch.time), 0.01, rtol=1e-12)
    batch.reset(mask=[True, False, False, False])
    np.testing.assert_array_equal(q[0], quadruped.key("stand").q)
    assert batch.read("time")[0] == 0 and batch.read("time")[1] > 0
    assert not hasattr(batch.q, "__cuda_array_interface__")


def test_dlpack(quadruped):
    batch = rigor.DeviceBatch(quadruped, 4, device="host", key="stand", threads=1)
    assert batch.v.__dlpack_device__() == (1, 0)
    capsule = batch.v.__dlpack__()  # never used
    assert len(device_module._alive) == 1
    del capsule
    gc.collect()
    assert not device_module._alive
    shared = np.from_dlpack(batch.v)
    batch.step(5)
    np.testing.assert_array_equal(shared, batch.read("v"))
    del batch
    gc.collect()
    assert np.isfinite(shared).all()  # the batch lives as long as its arrays are used
    del shared
    gc.collect()
    assert not device_module._alive


def test_refused(quadruped):
    with pytest.raises(rigor.ArgumentError, match="'gpu'; it must be 'host', 'cuda'"):
        rigor.Batch(quadruped, 2, device="gpu")
    with pytest.raises(rigor.UnsupportedError, match="loops and couplings"):
        rigor.DeviceBatch(rigor.load("biped"), 2, device="host")
    batch = rigor.DeviceBatch(quadruped, 2, device="host", threads=1)
    with pytest.raises(rigor.ArgumentError, match="no array 'x'"):
        batch.read("x")
    with pytest.raises(rigor.ArgumentError):
        batch.write("q", np.nan)
    with pytest.raises(rigor.ArgumentError, match="mask must have shape"):
        batch.reset(mask=[True])
    with pytest.raises(TypeError):
        pickle.dumps(batch)
    with pytest.raises(TypeError, match="keep_sensors"):
        rigor.Batch(quadruped, 2, device="host", keep_sensors=True)


def test_without_gpu(quadruped):
    try:
        batch = rigor.DeviceBatch(quadruped, 2, device="cuda:0")
    except rigor.UnsupportedError as error:
        assert "cuda device 0" in str(error)
        return
    batch.step(3)
    assert batch.v.__cuda_array_interface__["shape"] == (2, 18)
