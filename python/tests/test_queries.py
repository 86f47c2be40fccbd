"""Queries of a world and of rigid-body dynamics, each beside another way to the same numbers."""

import numpy as np
import pytest

import rigor


@pytest.fixture(scope="module")
def world():
    made = rigor.World(rigor.load("humanoid"), key="stand")
    made.step(50, ctrl=0.1 * np.ones(made.model.nu))
    return made


def test_lidar_equals_single_rays(world):
    angles = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ways = np.stack([np.cos(angles), np.sin(angles), -0.3 + 0 * angles], -1)
    hits = world.ray_casts((1, 0, 0.8), ways, max_distance=3)
    assert hits.shape == (200,)
    seen = 0
    for way, hit in zip(ways, hits):
        one = world.ray_cast((1, 0, 0.8), way, 3)
        if one is None:
            assert hit["shape"] == -1 and np.isinf(hit["distance"])
        else:
            seen += 1
            assert hit["shape"] == one.shape and hit["distance"] == one.distance
            np.testing.assert_array_equal(hit["point"], one.point)
    assert 20 < seen <= 200
    passed = world.ray_casts((1, 0, 0.8), ways, ignore="pelvis", ignore_tree=True)
    assert set(passed["shape"]) == {0}  # the floor
    with pytest.raises(rigor.ArgumentError, match=r"shape \(n, 3\) or \(3,\)"):
        world.ray_casts(np.zeros((4, 3)), np.ones((5, 3)))
    with pytest.raises(rigor.ArgumentError, match="a direction"):
        world.ray_casts((0, 0, 1), np.zeros((5, 3)))


def test_shape_cast_and_overlaps():
    definition = rigor.ModelDef("room")
    definition.add_shape("plane", (), name="floor")
    box = definition.add_body("box", pose=(2, 0, 0.5), mass=1, moment=(1, 1, 1))
    definition.add_joint(box, "free")
    definition.add_shape("box", (0.5, 0.5, 0.5), box, name="box")
    room = rigor.World(definition.compile())
    hit = room.shape_cast("sphere", 0.2, (0, 0, 0.5), (3, 0, 0))
    assert hit.body == box and hit.distance == pytest.approx(1.3, abs=1e-6)
    assert room.shape_cast("sphere", 0.2, (0, 0, 0.5), (3, 0, 0), 1.2) is None
    fall = room.shape_cast("capsule", (0.1, 0.3), (0, 0, 2), (0, 0, -1))
    assert fall.shape == 0 and fall.distance == pytest.approx(1.6, abs=1e-6)
    np.testing.assert_array_equal(room.overlaps("box", (1, 1, 1), (1, 0, 0.9)), [0, 1])
    np.testing.assert_array_equal(room.overlaps("sphere", 0.3, (1, 0, 2)), [])
    np.testing.assert_array_equal(room.overlaps("sphere", 3, (1, 0, 2), ignore=box), [0])
    with pytest.raises(rigor.ArgumentError, match="'ball' is none of"):
        room.overlaps("ball", 0.3, (1, 0, 2))


def test_actuator_forces(world):
    np.testing.assert_allclose(world.actuator_force, 0.1)
    torque = world.actuator_torque
    np.testing.assert_array_equal(torque[:6], 0)
    for i, name in enumerate(world.model.actuator_names):
        actuator = world.model.actuator(i)
        joint = world.model.joint(actuator.joint)
        assert torque[joint.v] == pytest.approx(0.1 * actuator.gear[0]), name


def test_dynamics_has_what_c_has(world):
    model = world.model
    d = rigor.Dynamics(model).set_state(world.q, world.v)
    np.testing.assert_allclose(np.concatenate(d.momentum), d.momentum_matrix() @ world.v, atol=1e-10)
    foot, point = model.id("body", "foot_left"), (0.3, 0.1, 0.2)
    J = d.point_jacobian(foot, point)
    np.testing.assert_allclose(np.concatenate(d.point_velocity(foot, point)), J @ world.v, atol=1e-12)
    inertia = d.operational_inertia(J[:3])
    np.testing.assert_allclose(inertia @ (J[:3] @ np.linalg.solve(d.mass_matrix(), J[:3].T)), np.eye(3),
                               atol=1e-9)
    with pytest.raises(rigor.NumericError, match="cannot move by itself"):
        d.operational_inertia(np.zeros((1, model.nv)))
    with pytest.raises(rigor.ArgumentError, match=r"shape \(rows, 29\)"):
        d.operational_inertia(np.zeros((1, 3)))


def test_tendons():
    model = rigor.parse("<mujoco><worldbody><body><joint name='a' axis='0 1 0'/><geom size='1'/><body><joint "
                        "name='b' axis='0 1 0'/><geom size='1'/></body></body></worldbody><tendon><fixed name='t'>"
                        "<joint joint='a' coef='2'/><joint joint='b' coef='-3'/></fixed></tendon></mujoco>")
    d = rigor.Dynamics(model).set_state([0.1, 0.2])
    assert d.tendon_length("t") == pytest.approx(2 * 0.1 - 3 * 0.2)
    np.testing.assert_array_equal(d.tendon_jacobian("t"), [2, -3])
