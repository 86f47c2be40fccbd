"""Cameras beside rays of the world, stored states beside worlds, PNG beside its own reader."""

import struct
import zlib

import numpy as np
import pytest

import rigor


@pytest.fixture(scope="module")
def world():
    made = rigor.World(rigor.load("humanoid"))
    made.step(200)
    return made


def test_pixels_equal_rays(world):
    camera = rigor.Camera(world.model, 32, 24, eye=(3, -2, 1.5), target=(0, 0, 1))
    image = camera.draw(world)
    assert image.color.shape == (24, 32, 3) and image.depth.shape == image.shapes.shape == (24, 32)
    pose = rigor.look_at((3, -2, 1.5), (0, 0, 1))
    slope = 2 * np.tan(np.pi / 8) / 24
    seen = 0
    for row, column in np.ndindex(24, 32):
        local = np.array([(column + 0.5 - 16) * slope, (12 - row - 0.5) * slope, -1])
        direction = rotate(pose.q, local)
        hit = world.ray_cast(pose.p, direction, 1000)
        if hit is None:
            assert image.shapes[row, column] == -1 and np.isinf(image.depth[row, column])
            continue
        seen += image.shapes[row, column] == hit.shape
        length = np.linalg.norm(direction)  # world.ray_cast() measures along the ray
        assert image.depth[row, column] * length == pytest.approx(hit.distance, rel=1e-4)
    assert seen > 300
    assert len(set(image.shapes.ravel())) > 5


def rotate(q, x):
    w, u = q[0], q[1:]
    t = 2 * np.cross(u, x)
    return x + w * t + np.cross(u, t)


def test_stored_states_equal_worlds(world):
    camera = rigor.Camera(world.model, 20, 20, eye=(3, -2, 1.5), target=(0, 0, 1), shadows=True)
    alone = camera.draw(world)
    many = camera.draw_states(np.stack([world.q, world.q]))
    assert many.color.shape == (2, 20, 20, 3)
    for one, both in zip(alone, many):
        np.testing.assert_array_equal(one, both[0])
        np.testing.assert_array_equal(one, both[1])
    only = rigor.Camera(world.model, 20, 20, eye=(3, -2, 1.5), target=(0, 0, 1), channels="depth")
    image = only.draw_states(world.q)
    np.testing.assert_array_equal(image.depth, alone.depth)
    assert image.color is None and image.shapes is None


def test_camera_on_a_body_and_moved(world):
    model = world.model
    camera = rigor.Camera(model, 16, 16, pose=(0, 0, 0), body=model.body_names[1])
    before = camera.draw(world).depth
    camera.move(eye=(2, 0, 0))
    assert not np.array_equal(before, camera.draw(world).depth)


def test_cameras_of_a_file():
    model = rigor.parse("<mujoco><worldbody><geom type='plane' size='1 1 1'/><body name='eye' pos='0 0 2'><joint "
                        "type='hinge'/><geom size='0.1'/><camera name='eye' fovy='60'/></body></worldbody></mujoco>")
    world = rigor.World(model)
    given = rigor.Camera(model, 9, 9, frame="eye_camera").draw(world)
    by_hand = rigor.Camera(model, 9, 9, pose=(0, 0, 2), field_of_view=np.pi / 3).draw(world)
    np.testing.assert_array_equal(given.depth, by_hand.depth)
    assert given.depth[4, 4] == pytest.approx(2)


def test_png_holds_the_pixels(world, tmp_path):
    image = rigor.Camera(world.model, 30, 20, eye=(3, -2, 1.5)).draw(world)
    path = tmp_path / "a.png"
    image.save(path)
    data = path.read_bytes()
    assert data == image._repr_png_() and data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (30, 20)
    start = data.index(b"IDAT")
    size = struct.unpack(">I", data[start - 4:start])[0]
    lines = np.frombuffer(zlib.decompress(data[start + 4:start + 4 + size]), np.uint8)
    np.testing.assert_array_equal(lines.reshape(20, 91)[:, 1:].reshape(20, 30, 3), image.color)


def test_notebooks(world, tmp_path):
    text = world._repr_html_()
    assert "data:image/png;base64," in text and "humanoid" in text
    image = rigor.picture(world, 64, 48)
    assert image.color.shape == (48, 64, 3) and image.color.std() > 10
    path = tmp_path / "a.h5"
    other = rigor.World(rigor.load("tossed_cube"))
    with other.record(path):
        other.step(20)
    shown = rigor.show(path)
    assert shown._repr_html_().startswith("<iframe srcdoc=") and shown.url.startswith("file:///")
    with other.view() as viewer:
        live = rigor.show(other)
        assert live.url == viewer.url and live.url in live._repr_html_()
    with pytest.raises(rigor.ArgumentError, match="a World or the path of a recording"):
        rigor.show(3)
    other.close()
    assert other._repr_html_() is None


def test_refusals(world):
    model = world.model
    with pytest.raises(rigor.ArgumentError, match="either eye and target, or a pose, or a frame"):
        rigor.Camera(model)
    with pytest.raises(rigor.ArgumentError, match="'colour' is none of color, depth, shapes"):
        rigor.Camera(model, eye=(1, 0, 0), channels="colour")
    with pytest.raises(rigor.ArgumentError, match="field of view"):
        rigor.Camera(model, eye=(1, 0, 0), field_of_view=4)
    with pytest.raises(TypeError, match="no setting 'fov'; it has .*field_of_view"):
        rigor.Camera(model, eye=(1, 0, 0), fov=1)
    with pytest.raises(rigor.ArgumentError, match="coincide"):
        rigor.look_at((1, 1, 1), (1, 1, 1))
    camera = rigor.Camera(model, eye=(1, 0, 0))
    with pytest.raises(rigor.ArgumentError, match="not of this model"):
        camera.draw(rigor.World(rigor.load("quadruped")))
    with pytest.raises(rigor.ArgumentError, match="a camera draws a World, not NoneType"):
        camera.draw(None)
    with pytest.raises(rigor.ArgumentError, match=r"'a.jpg': images are PNG files"):
        camera.draw(world).save("a.jpg")
    with pytest.raises(rigor.ArgumentError, match=r"q must have shape"):
        camera.draw_states(np.zeros(3))
    with pytest.raises(rigor.ArgumentError, match="finite"):
        camera.draw_states(np.full(model.nq, np.nan))
