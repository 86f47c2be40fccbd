"""States of MuJoCo and Pinocchio, both ways; dynamics against reference data."""

import json

import numpy as np
import pytest

import rigor
from rigor import convert


def rotation(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


@pytest.fixture(scope="module")
def zoo():
    """A free body, a ball joint, a planar joint, and revolute joints with and without limits."""
    d = rigor.ModelDef("zoo")
    inertia = dict(mass=1, moment=(1, 1, 1))
    d.add_body("base", **inertia)
    d.add_joint("base", "free", "root")
    d.add_body("b", "base", **inertia)
    d.add_joint("b", "spherical", "ball")
    d.add_body("a", "b", **inertia)
    d.add_joint("a", "revolute", "wheel")
    d.add_body("c", "base", **inertia)
    d.add_joint("c", "revolute", "hinge", limits=(-1, 1))
    d.add_body("cart", **inertia)
    d.add_joint("cart", "planar", "plane")
    return d.compile()


def state(model, seed):
    return model.random(seed), np.random.default_rng(seed).normal(size=model.nv)


@pytest.mark.parametrize("seed", range(5))
def test_mujoco_velocities_are_in_world_axes(zoo, seed):
    q, v = state(zoo, seed)
    qpos, qvel = convert.to_mujoco(zoo, q, v)
    np.testing.assert_array_equal(qpos, q)  # positions and w x y z are the same
    R = rotation(q[3:7])
    np.testing.assert_allclose(qvel[:3], R @ v[:3], atol=1e-14)  # as mj_integratePos reads it
    np.testing.assert_array_equal(qvel[3:], v[3:])
    step = 1e-7
    moved = zoo.integrate(q, v, step)
    np.testing.assert_allclose((moved[:3] - q[:3]) / step, qvel[:3], atol=1e-5)
    back = convert.from_mujoco(zoo, qpos, qvel)
    np.testing.assert_allclose(np.r_[back], np.r_[q, v], atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_pinocchio_round_trip(zoo, seed):
    q, v = state(zoo, seed)
    for names in (None, ["root_joint", "hinge", "ball", "wheel", "plane"]):
        names = names and ["root" if n == "root_joint" else n for n in names]
        pq, pv = convert.to_pinocchio(zoo, q, v, names)
        assert pq.size == zoo.nq + 2 and pv.size == zoo.nv
        np.testing.assert_allclose(pq[:7], np.r_[q[:3], q[4:7], q[3]])
        np.testing.assert_array_equal(pv[:6], v[:6])
        np.testing.assert_allclose(np.r_[convert.from_pinocchio(zoo, pq, pv, names)], np.r_[q, v],
                                   atol=1e-13)
    hinge = zoo.joint("hinge")
    pq, pv = convert.to_pinocchio(zoo, q, v, ["root", "hinge", "ball", "wheel", "plane"])
    assert pq[7] == q[hinge.q][0] and pv[6] == v[hinge.v][0]
    plain, _ = convert.to_pinocchio(zoo, q, v, cos_sin=False)
    assert plain.size == zoo.nq + 1
    np.testing.assert_allclose(convert.from_pinocchio(zoo, plain, v * 0, cos_sin=False)[0], q, atol=1e-13)


def test_planar_velocity_is_in_body_axes(zoo):
    q, v = state(zoo, 1)
    plane = zoo.joint("plane")
    _, pv = convert.to_pinocchio(zoo, q, v)
    angle = q[plane.q][2]
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    np.testing.assert_allclose(R @ pv[plane.v][:2], v[plane.v][:2], atol=1e-14)


def test_bad_states(zoo):
    q, v = state(zoo, 0)
    with pytest.raises(ValueError, match="qpos must have shape"):
        convert.from_mujoco(zoo, q[1:], v)
    with pytest.raises(ValueError, match="quaternion of joint 'root' has no length"):
        convert.from_mujoco(zoo, q * 0, v)
    with pytest.raises(ValueError, match="no joint 'leg'"):
        convert.to_pinocchio(zoo, q, v, ["root", "hinge", "ball", "wheel", "leg"])
    with pytest.raises(ValueError, match="all 5 moving joints"):
        convert.to_pinocchio(zoo, q, v, ["root"])


def test_dynamics_identities(quadruped):
    q, v = state(quadruped, 5)
    d = rigor.Dynamics(quadruped).set_state(q, v)
    rng = np.random.default_rng(0)
    a = rng.normal(size=18)
    M, b = d.mass_matrix(), d.bias()
    tau = d.inverse_dynamics(a)
    np.testing.assert_allclose(tau, M @ a + b, atol=1e-9)
    np.testing.assert_allclose(d.forward_dynamics(tau), a, atol=1e-9)
    np.testing.assert_allclose(d.energy.kinetic, 0.5 * v @ M @ v, rtol=1e-12)
    for reference in ("local", "world", "aligned"):
        J = d.frame_jacobian("calf_fl" if "calf_fl" in quadruped.names("frame") else 3, reference)
        frame = "calf_fl" if "calf_fl" in quadruped.names("frame") else 3
        np.testing.assert_allclose(J @ v, np.r_[d.frame_velocity(frame, reference)], atol=1e-12)
    np.testing.assert_allclose(d.center_jacobian() @ v, d.center_velocity, atol=1e-12)
    np.testing.assert_allclose(d.momentum.linear, quadruped.mass * d.center_velocity, rtol=1e-10)
    world = rigor.World(quadruped)
    world.q = q
    np.testing.assert_allclose(world.body_pose(5).p, d.body_pose(5).p, atol=1e-14)
    with pytest.raises(ValueError, match="'global' is none of local, world, aligned"):
        d.frame_jacobian(0, "global")


@pytest.mark.filterwarnings("ignore::rigor.RigorWarning")
@pytest.mark.parametrize("robot", ["ur5", "solo12", "talos_reduced"])
def test_against_pinocchio(data, robot):
    """Twenty states that Pinocchio 3.7 computed, in its own conventions."""
    reference = json.loads((data / "rbd" / f"{robot}.json").read_text())
    base = "floating" if reference["kind"] == "urdf_ff" else "from_file"
    model = rigor.load(data / "rbd" / "urdf" / reference["file"], base=base, meshes="none")
    names = [j["name"] for j in reference["joints"]]
    dynamics = rigor.Dynamics(model)
    order = convert.to_pinocchio(model, model.neutral(), np.arange(model.nv), names)[1].astype(int)
    cos_sin = reference["nq"] != model.nq
    for s in reference["states"]:
        q, v = convert.from_pinocchio(model, s["q"], s["v"], names, cos_sin)
        dynamics.set_state(q, v)
        np.testing.assert_allclose(dynamics.mass_matrix()[np.ix_(order, order)],
                                   np.reshape(s["M"], (model.nv, model.nv)), atol=1e-9)
        np.testing.assert_allclose(dynamics.bias()[order], s["nle"], atol=1e-8)
        np.testing.assert_allclose(dynamics.center, s["com"], atol=1e-11)
        np.testing.assert_allclose(dynamics.center_velocity, s["vcom"], atol=1e-10)
        np.testing.assert_allclose(dynamics.energy.kinetic, s["kinetic_energy"], rtol=1e-11)
        there = convert.to_pinocchio(model, q, v, names, cos_sin)
        np.testing.assert_allclose(np.r_[there], np.r_[s["q"], s["v"]], atol=1e-14)
