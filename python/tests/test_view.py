"""Recordings and the viewer."""

import gc
import gzip
import json
import threading
import urllib.request

import numpy as np
import pytest

import rigor
from rigor._core import lib
from test_model import ball


def test_recording(quadruped, tmp_path):
    path = tmp_path / "run.h5"
    world = rigor.World(quadruped, key="stand")
    twin = rigor.World(quadruped, key="stand")
    with world.record(path, interval=5, title="a fall") as recorder:
        with pytest.raises(ValueError, match="another recording is open"):
            twin.record(tmp_path / "other.h5")
        world.step(50, ctrl=np.full(12, 0.1))
        world.step()
        problem = rigor.Problem(np.eye(3), [0, 0, -1.0], 0.5)
        rigor.fclib.write(tmp_path / "p.hdf5", problem)  # other files, in between
        for _ in range(49):
            world.step()
    recorder.close()
    run = rigor.load_recording(path)
    assert run.info.title == "a fall" and run.info.is_complete
    assert len(repr(run)) < 5000 and "title='a fall'" in repr(run.info)
    assert run.q.shape == (21, 19) and run.v.shape == (21, 18)
    np.testing.assert_allclose(run.time, 5e-3 * np.arange(21), atol=1e-12)
    np.testing.assert_array_equal(run.q[0], quadruped.key("stand").q)
    np.testing.assert_array_equal(run.q[-1], world.q)
    assert set(run.status[1:]) == {"solved"} and run.residual.max() < 1e-5
    assert len(run.contacts) == 21 and len(run.contacts[0]) == 0 and len(run.contacts[-1]) > 0
    for name in ("body_a", "shape_b", "point", "force", "mu", "state"):  # in single precision
        np.testing.assert_allclose(run.contacts[-1][name], world.contacts[name], rtol=1e-6, atol=1e-30)
    twin.step(100, ctrl=np.full(12, 0.1))
    assert twin.hash() == world.hash()  # nobody who watches changes anything
    world.step(5)  # no longer recorded
    assert rigor.load_recording(path).q.shape == (21, 19)
    with pytest.raises(rigor.Error):
        rigor.load_recording(tmp_path / "none.h5")
    if lib.rgHasPage():
        rigor.save_page(path, tmp_path / "run.html")
        rigor.save_page(path, tmp_path / "both.html", ghost=path)
        assert "rigor-ghost" in (tmp_path / "both.html").read_text()
        assert "<html" in (tmp_path / "run.html").read_text(encoding="utf-8")[:1000].lower()


def test_kinematic_bodies_are_recorded(tmp_path):
    d = ball()
    d.add_body("lift", pose=(5, 0, 0), kinematic=True)
    world = rigor.World(d.compile())
    with world.record(tmp_path / "a.h5"):
        for i in range(1, 4):
            world.move_body("lift", (5, 0.1 * i, 0))
            world.step()
    run = rigor.load_recording(tmp_path / "a.h5")
    assert run.kinematic.shape == (4, 1, 7) and run.q.shape == (4, 7)
    np.testing.assert_allclose(run.kinematic[:, 0, 1], 0.1 * np.arange(4), atol=1e-12)
    np.testing.assert_allclose(run.kinematic[:, 0, 3], 1)


def test_a_recording_ends_with_its_world(tmp_path):
    world = rigor.World(ball().compile())
    world.record(tmp_path / "a.h5")
    world.step(3)
    world.close()
    assert rigor.load_recording(tmp_path / "a.h5").q.shape == (4, 7)
    forgotten = rigor.World(ball().compile())
    forgotten.record(tmp_path / "b.h5")
    forgotten.step(2)
    del forgotten
    gc.collect()
    assert rigor.load_recording(tmp_path / "b.h5").q.shape == (3, 7)


def test_bad_recordings(tmp_path):
    world = rigor.World(ball().compile())
    with pytest.raises(rigor.Error):
        world.record(tmp_path / "no" / "such" / "folder.h5")
    world.step()
    with pytest.raises(TypeError, match="no setting 'intervall'"):
        world.record(tmp_path / "a.h5", intervall=3)
    world.record(tmp_path / "a.h5").close()


@pytest.mark.skipif(not lib.rgHasViewer(), reason="the library was built without the viewer")
def test_viewer():
    world = rigor.World(ball().compile())
    with world.view(title="ball") as viewer:
        page = urllib.request.urlopen(viewer.url, timeout=20).read()
        page = (gzip.decompress(page) if page[:2] == b"\x1f\x8b" else page).decode()
        assert "<html" in page.lower() and viewer.clients == 0
        world.step(100)
        done = threading.Thread(target=viewer.run, args=(0.3,))
        done.start()
        done.join()
        assert world.time > 0.1 + 0.05
    with pytest.raises(OSError):
        urllib.request.urlopen(viewer.url, timeout=5)
    world.step()
    world.view().close()


@pytest.mark.skipif(not lib.rgHasViewer(), reason="the library was built without the viewer")
def test_viewer_obeys():
    world = rigor.World(ball().compile(), gravity=(0, 0, 0))
    world.q[:3] = (0, 0, 5)
    with world.view() as viewer:
        def send(**command):
            data = json.dumps(command).encode()
            request = urllib.request.Request(viewer.url + "command", data, {"Content-Type": "application/json"})
            assert urllib.request.urlopen(request, timeout=20).status == 200
            viewer._obey()

        send(do="watch", value=1)
        send(do="wrench", body=1, point=[2, 0, 0], target=[0, 0, 0])
        viewer._step_with_care(100)
        assert world.v[0] == pytest.approx(2 / world.model.mass * world.time, rel=1e-9)
        send(do="release")
        speed = world.v[0]
        viewer._step_with_care(10)
        assert world.v[0] == speed
        send(do="reset", key=-1)
        world.q[:3] = (0, 0, 5)
        send(do="drag", body=1, point=[0, 0, 0], target=[0, 1, 5])
        viewer._step_with_care(1500)     # a damped spring of 8 rad/s is there after 1.5 s
        assert world.q[:3] == pytest.approx((0, 1, 5), abs=1e-3)


@pytest.mark.skipif(lib.rgHasViewer(), reason="the library was built with the viewer")
def test_without_viewer():
    with pytest.raises(rigor.UnsupportedError):
        rigor.World(ball().compile()).view()
