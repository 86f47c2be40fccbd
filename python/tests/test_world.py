"""Worlds: arrays that live, steps without the interpreter, save and restore, readout, bad input."""

import gc
import threading
import time

import numpy as np
import pytest

import rigor
from test_model import ball


def test_weight_on_the_floor(world, quadruped):
    world.step(2000)
    contacts = world.contacts
    on_robot = contacts["body_a"] == -1
    assert on_robot.any()
    np.testing.assert_allclose(contacts["force"][on_robot].sum(0)[2], 9.81 * quadruped.mass, rtol=1e-4)
    np.testing.assert_allclose(contacts["impulse"][:, 2] / world.dt,
                               (contacts["force"] * contacts["normal"]).sum(1), atol=1e-9)
    total = sum(world.contact_force(b) for b in range(13))
    np.testing.assert_allclose(total, contacts["force"][on_robot].sum(0), atol=1e-9)
    assert (contacts["state"] == rigor.STICK).any()
    report = world.report
    assert report.status == "solved" and report.residual <= 1e-6
    assert report.contact_count == len(contacts)
    assert set(report.stage_seconds) >= {"collide", "solve"}
    assert world.health.anomalies == () and world.unconverged_steps == 0
    assert abs(world.time - 2) < 1e-9


def test_arrays_alias_the_state(world, quadruped):
    q, v = world.q, world.v
    assert q is world.q and v is world.v
    before = q.copy()
    world.step(50)
    assert not np.array_equal(q, before)  # the same array shows the new state
    pose = world.body_pose(0)
    np.testing.assert_array_equal(pose.p, q[:3])
    q[2] += 1.0  # written through the array
    np.testing.assert_array_equal(world.body_pose(0).p, q[:3])
    assert world.body_pose(0).p[2] == pose.p[2] + 1
    world.q = quadruped.key("stand").q
    assert world.q is q and q[2] == quadruped.key("stand").q[2]
    q[3:7] = [2, 0, 0, 0]
    world.forward()
    np.testing.assert_array_equal(q[3:7], [1, 0, 0, 0])  # quaternions are normalized


def test_writing_equals_setting(quadruped):
    a, b = rigor.World(quadruped, key="stand"), rigor.World(quadruped, key="stand")
    for world in (a, b):
        world.step(10)
    a.v[6:] = 0.1
    b.v = np.r_[b.v[:6], np.full(12, 0.1)]
    a.step(20)
    b.step(20)
    assert a.hash() == b.hash()


def test_arrays_outlive_everything():
    arrays, last = [], []
    for i in range(200):
        world = rigor.World(ball().compile())
        world.step(3)
        arrays.append((world.q, world.v))
        last.append(world.q.copy())
        if i % 3 == 0:
            world.close()
        world.loop = world  # a cycle, for the collector
        del world
        if i % 20 == 0:
            gc.collect()
    gc.collect()
    for (q, v), expected in zip(arrays, last):
        np.testing.assert_array_equal(q, expected)
        q[:] = 0
        v += 1


def test_memory_cannot_be_moved(world):
    for array in (world.q, world.v, world.ctrl, world.force):
        with pytest.raises(ValueError):
            array.resize(1000, refcheck=False)
        with pytest.raises((BufferError, AttributeError)):
            array.base.extend(b"12345678" * 1000)
    world.step(5)


def test_models_outlive_their_worlds():
    kept = []
    for _ in range(100):
        model = ball().compile()
        world, dynamics = rigor.World(model), rigor.Dynamics(model)
        model.cycle = [world, dynamics, model]
        kept.append(world._guard)
        del model, world, dynamics
    gc.collect()
    for guard in kept:
        guard.world.step()
    del kept, guard
    gc.collect()


def test_closed_worlds_say_so(quadruped):
    with rigor.World(quadruped) as world:
        world.step()
    for use in (world.step, world.forward, world.save, world.hash, lambda: world.contacts,
                lambda: world.body_pose(0), lambda: world.time, world.reset, world.copy):
        with pytest.raises(rigor.ClosedError, match="closed"):
            use()
    world.close()
    assert world.q.shape == (19,) and "closed" in repr(world)


def test_save_restore_hash_copy(world):
    world.step(100)
    saved, mark = world.save(), world.hash()
    world.step(50, ctrl=np.full(12, 0.1))
    after = world.hash()
    world.restore(saved)
    assert world.hash() == mark
    np.testing.assert_array_equal(world.ctrl, 0)
    twin = world.copy()
    for w in (world, twin):
        w.step(50, ctrl=np.full(12, 0.1))
        assert w.hash() == after
    for bad in (b"", saved[:-1], b"x" * len(saved)):
        with pytest.raises(rigor.ArgumentError, match="no saved state"):
            world.restore(bad)
    assert world.hash() == after
    with pytest.raises(TypeError):
        world.restore("text")


def test_steps_in_one_call_or_many(quadruped):
    a, b = rigor.World(quadruped, key="stand"), rigor.World(quadruped, key="stand")
    a.step(60)
    for _ in range(60):
        b.step()
    assert a.hash() == b.hash()
    a.step(0)
    assert a.hash() == b.hash()
    with pytest.raises(ValueError, match="forward"):
        a.step(-1)
    with pytest.raises(TypeError):
        a.step(1.5)


def test_bad_numbers_are_refused_and_undone(world):
    world.step(5)
    mark = world.hash()
    world.q[9] = np.nan
    with pytest.raises(ValueError, match=r"q\[9\] \(joint '\w+'\) is nan"):
        world.step()
    world.v[2] = np.inf
    with pytest.raises(ValueError, match=r"v\[2\] \(joint '.*'\) is inf"):
        world.contacts
    world.ctrl[3] = -np.inf
    with pytest.raises(ValueError, match=r"ctrl\[3\] \(actuator '.*'\) is -inf"):
        world.hash()
    world.force[1] = np.nan
    with pytest.raises(ValueError, match=r"force\[1\]"):
        world.forward()
    world.q[3:7] = 0
    with pytest.raises(ValueError, match="quaternion of length 0"):
        world.save()
    assert world.hash() == mark
    world.q[9] = np.nan
    world.reset("stand")  # nobody asks for what was written before a reset
    world.step()


@pytest.mark.parametrize("value, text", [
    (np.zeros(3), r"ctrl must have shape \(12,\), not \(3,\)"),
    (np.zeros((12, 1)), "shape"),
    (["a"] * 12, "real numbers"),
    (np.zeros(12, complex), "real numbers, not complex128"),
    (np.full(12, np.nan), r"ctrl\[0\] is nan"),
    (np.ones(12, bool), "booleans"),
    ([None] * 12, "real numbers, not object"),
])
def test_bad_controls(world, value, text):
    with pytest.raises(ValueError, match=text):
        world.step(ctrl=value)


def test_any_layout_of_numbers(quadruped):
    reference = np.linspace(-0.1, 0.1, 12)
    hashes = set()
    for u in (reference, reference.astype(np.float64)[::-1][::-1], np.repeat(reference, 2)[::2],
              list(reference), tuple(reference), np.asfortranarray(np.c_[reference, reference])[:, 0],
              np.c_[reference, reference][:, 1], reference.astype(">f8")):
        world = rigor.World(quadruped, key="stand")
        world.step(20, ctrl=u)
        hashes.add(world.hash())
    assert len(hashes) == 1


def test_overflow_is_an_exception(world):
    mark = world.hash()
    world.v[:] = 1e200
    with pytest.raises(rigor.NumericError, match="not finite"):
        world.step()
    world.v[:] = 0
    assert world.hash() == mark
    still = rigor.World(world.model, dt=1e300)
    with pytest.raises(rigor.NumericError, match="nothing moves"):
        still.step()


def test_settings(quadruped):
    with pytest.raises(TypeError, match="world: 'mu' and 'friction' are names of one setting"):
        rigor.World(quadruped, mu=0.5, friction=0.4)
    with pytest.raises(TypeError, match="world: 'dt' and 'time_step' are names of one setting"):
        rigor.World(quadruped, dt=1e-3, time_step=2e-3)
    assert rigor.World(quadruped, time_step=2e-3).dt == rigor.Batch(quadruped, 1, time_step=2e-3).dt == 2e-3
    with pytest.raises(TypeError, match="world has no setting 'fricton'; it has accuracy, contact, damping, "
                       "dissipation, dt, .*key, .*time_step, tolerance"):
        rigor.World(quadruped, fricton=1)
    with pytest.raises(rigor.ArgumentError, match="the friction"):
        rigor.World(quadruped, friction=-1.0)
    with pytest.raises(rigor.ArgumentError):
        rigor.World(quadruped, mu=-1.0)      # the same setting
    with pytest.raises(ValueError, match="'sor' is none of auto, newton, admm"):
        rigor.World(quadruped, solver="sor")
    with pytest.raises(ValueError, match="time_step"):
        rigor.World(quadruped, dt="fast")
    with pytest.raises(TypeError, match="rigor.Model, not of str"):
        rigor.World("quadruped")
    world = rigor.World(quadruped, dt=2e-3, gravity=(0, 0, 0), friction=0.0, solver="newton",
                        contact={"max_iterations": 20})
    assert world.dt == 2e-3
    world.step(10)
    np.testing.assert_allclose(world.v[:6], 0, atol=1e-9)


def test_free_fall_and_rebound():
    world = rigor.World(ball().compile(), dt=1e-3, restitution=0.5)
    world.step(100)
    np.testing.assert_allclose(world.v[2], -0.981, rtol=1e-12)
    world.set_body_velocity("ball", angular=(0, 0, 3))
    np.testing.assert_allclose(world.v, [0, 0, 0, 0, 0, 3], atol=1e-15)
    world.set_body_pose("ball", (0, 0, 5))
    np.testing.assert_array_equal(world.q, [0, 0, 5, 1, 0, 0, 0])
    world.apply_wrench("ball", force=(0, 0, 2 * 9.81))
    world.step(100)
    np.testing.assert_allclose(world.q[2], 5, atol=1e-12)
    world.clear_wrenches()
    world.step(1500)
    assert world.q[2] < 5 and world.health.anomalies == ()
    assert world.body_velocity("ball").angular[2] == pytest.approx(3, rel=1e-6)
    positions, quaternions = world.body_poses()
    np.testing.assert_array_equal(positions[0], world.body_pose("ball").p)
    assert quaternions.shape == (1, 4)
    world.enable_body("ball", False)
    mark = world.q.copy()
    world.step(10)
    np.testing.assert_array_equal(world.q, mark)


def test_changes_while_running():
    d = ball()
    d.add_body("lift", pose=(5, 0, 0), kinematic=True)
    d.add_shape("box", (0.5, 0.5, 0.1), "lift")
    model = d.compile()
    world, other = rigor.World(model), rigor.World(model)
    world.change("body", "ball", inertia={"mass": 4.0, "moment": [0.016] * 3 + [0, 0, 0]})
    world.change_settings(gravity=(0, 0, -1.0))
    world.change("shape", 0, material={"mu": 0.1})
    world.step(100)
    other.step(100)
    np.testing.assert_allclose([world.v[2], other.v[2]], [-0.1, -0.981], rtol=1e-12)
    with pytest.raises(rigor.UnsupportedError, match="joint"):
        world.change("joint", "root", axis=(1, 0, 0), kind="planar")
    with pytest.raises(ValueError, match="cannot be changed"):
        world.change("key", "home")
    for i in range(100):
        world.move_body("lift", (5, 0, 0.01 * (i + 1)))
        world.step()
    np.testing.assert_allclose(world.body_pose("lift").p, [5, 0, 1], atol=1e-12)
    with pytest.raises(rigor.UnsupportedError):
        world.move_body("ball", (0, 0, 0))


def test_questions():
    world = rigor.World(ball(height=0.1).compile())
    world.step(50)
    hit = world.ray_cast((0, 0, 5), (0, 0, -3))
    assert hit.body == 0 and hit.shape == 0 and hit.distance == pytest.approx(4.8, abs=1e-4)
    np.testing.assert_allclose(hit.normal, [0, 0, 1], atol=1e-12)
    floor = world.ray_cast((0, 0, 5), (0, 0, -1), ignore="ball")
    assert floor.body == -1 and floor.distance == pytest.approx(5)
    assert world.ray_cast((0, 0, 5), (0, 0, 1)) is None
    assert world.ray_cast((0, 0, 5), (0, 0, -1), max_distance=1) is None
    with pytest.raises(ValueError, match="direction"):
        world.ray_cast((0, 0, 5), (0, 0, 0))
    near = world.shape_distance(0, "floor")
    assert abs(near.distance) < 1e-3
    touch = world.touches
    assert len(touch) == 1 and touch["state"][0] == 1
    np.testing.assert_allclose(abs(touch["force"][0][2]), 2 * 9.81, rtol=1e-6)
    np.testing.assert_allclose(world.contact_wrench("ball").linear, [0, 0, 2 * 9.81], atol=1e-5)
    np.testing.assert_allclose(world.contact_wrench("ball", -1).linear, [0, 0, 2 * 9.81], atol=1e-5)
    world.apply_force_at("ball", (0, 0, 40), world.body_pose("ball").p)
    world.step(10)
    assert world.v[2] > 0.05
    world.project()


def test_energy_of_a_fall():
    world = rigor.World(ball(height=10).compile(), dt=1e-4)
    start = world.potential_energy
    world.step(1000)
    lost = start - world.potential_energy
    assert lost == pytest.approx(world.kinetic_energy, rel=2e-3)  # first order in dt


def test_hooks(quadruped):
    seen = []
    world = rigor.World(quadruped, key="stand", before_step=lambda w: seen.append(w.time),
                        after_step=lambda w: w.ctrl.fill(0.01 * len(seen)))
    world.step(5)
    np.testing.assert_allclose(seen, [0, 1e-3, 2e-3, 3e-3, 4e-3], atol=1e-12)
    assert world.ctrl[0] == 0.05

    def stop(_):
        raise ZeroDivisionError

    world.before_step = stop
    with pytest.raises(ZeroDivisionError):
        world.step()
    world.before_step = None
    world.step()


def test_scene_starts_and_acts():
    model = rigor.scene("wall")
    assert model.scene.name == "wall" and model.scene.duration > 2
    world = rigor.World(model)
    start = world.q.copy()
    world.step(1500)
    assert np.abs(world.q - start).max() < 1e-3  # it stands until the ball comes
    world.step(1500)
    assert np.abs(world.q - start).max() > 0.1
    world.reset()
    np.testing.assert_array_equal(world.q, start)


def test_inverse_dynamics_holds_the_wall():
    world = rigor.World(rigor.scene("wall"))
    world.step(100)
    tau, lam = result = world.inverse(np.zeros(world.model.nv), start="last", feasible=True)
    assert result.status in ("solved", "unheld", "forbidden") and lam.shape[1] == 6
    assert result.missing_force < 1e-3  # contacts hold it, nobody else
    assert np.abs(tau).max() < 1e-2
    with pytest.raises(ValueError, match="v_ref must have shape"):
        world.inverse([0.0])
    with pytest.raises(TypeError, match="no setting 'feasable'"):
        world.inverse(np.zeros(world.model.nv), feasable=True)


def test_inverse_then_forward(quadruped):
    world = rigor.World(quadruped, key="stand")
    world.step(300)
    still = np.zeros(18)
    tau, _ = world.inverse(still, start="last")  # on its feet
    world.force[:] = tau
    world.step()
    np.testing.assert_allclose(world.v, still, atol=1e-5)
    world.reset("stand")
    world.q[2] += 1  # in the air any velocity can be had
    wanted = np.random.default_rng(4).normal(size=18)
    tau, lam = world.inverse(wanted)
    assert lam.shape == (0, 6)
    world.force[:] = tau
    world.step()
    np.testing.assert_allclose(world.v, wanted, atol=1e-9)


# ---- threads


def test_two_threads_two_worlds(quadruped):
    """Both make progress at the same time: each waits in turn for a step that the other must make."""
    worlds = [rigor.World(quadruped, key="stand") for _ in range(2)]
    alone = rigor.World(quadruped, key="stand")
    alone.step(400)

    def work(world):
        for _ in range(100):
            world.step(4)

    threads = [threading.Thread(target=work, args=(w,)) for w in worlds]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert {w.hash() for w in worlds} == {alone.hash()}


def test_the_interpreter_runs_during_a_step(quadruped):
    """One call of many steps in a thread; this thread counts meanwhile."""
    world = rigor.World(quadruped, key="stand")
    done = threading.Event()

    def work():
        world.step(1000)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    count = 0
    while not done.wait(0):
        count += 1
    thread.join()
    assert count > 100  # with the lock held throughout, this loop would hardly turn


def test_one_world_in_two_threads_is_refused(quadruped):
    world = rigor.World(quadruped, key="stand")
    errors, stop = [], threading.Event()

    def work():
        while not stop.is_set():
            try:
                world.step(200)
            except rigor.BusyError as error:
                errors.append(str(error))
                return

    thread = threading.Thread(target=work)
    thread.start()
    deadline = time.monotonic() + 60
    while not errors and time.monotonic() < deadline:
        for use in (lambda: world.step(50), lambda: world.contacts, world.save, world.close):
            try:
                use()
            except rigor.BusyError as error:
                errors.append(str(error))
            except rigor.ClosedError:
                pass
        if world._c is None:
            world = rigor.World(quadruped, key="stand")
    stop.set()
    thread.join()
    assert errors and "one thread at a time" in errors[0]


def test_threads_within_a_step():
    model = rigor.scene("wall")
    one, two = rigor.World(model), rigor.World(model, threads=2)
    one.step(50)
    two.step(50)
    assert one.hash() == two.hash()


def test_activations(tmp_path):
    d = rigor.ModelDef()
    cart = d.add_body("cart", mass=2.0, moment=(0.1, 0.1, 0.1))
    d.add_joint(cart, "prismatic", axis=(1, 0, 0), name="x")
    d.add_actuator("x", name="lag", activation="filter", time_constant=0.1)
    d.add_key("on", act=[0.5])
    w = rigor.World(d.compile())
    assert w.act.shape == (1,) and w.act[0] == 0
    w.ctrl[:] = 1
    w.step(100)
    assert w.act[0] == pytest.approx(1 - np.exp(-100 * w.dt / 0.1), abs=1e-12)
    w.act = [0.25]
    assert w.act[0] == 0.25
    w.reset("on")
    assert w.act[0] == 0.5
    batch = rigor.Batch(w.model, 3)
    batch.act = [[0.1], [0.2], [0.3]]
    batch.step(10)
    w.reset()
    w.act = [0.2]
    with w.record(tmp_path / "act.h5"):
        w.step(10)
    assert batch.act.shape == (3, 1) and batch.act[1, 0] == w.act[0]
    kept = rigor.load_recording(tmp_path / "act.h5").act
    assert kept.shape[1] == 1 and kept[-1, 0] == w.act[0]


def test_sizes_are_fixed(quadruped):
    """C reads as much of an array as the model says: a size that is written over would be memory that is not there."""
    batch, dynamics = rigor.Batch(quadruped, 2), rigor.Dynamics(quadruped)
    world = rigor.World(quadruped)
    for thing, name in ((quadruped, "nq"), (quadruped, "nv"), (quadruped, "nu"), (world, "model"),
                        (batch, "model"), (batch, "count"), (dynamics, "model")):
        before = getattr(thing, name)
        for value in (1, None, 10**9, before):
            with pytest.raises(AttributeError, match="cannot be changed"):
                setattr(thing, name, value)
        assert getattr(thing, name) is before


def test_values_that_are_none(quadruped):
    world = rigor.World(quadruped)
    for count in ("a", 1.5, None):
        with pytest.raises(TypeError, match="count is a whole number, not"):
            world.step(count)
        with pytest.raises(TypeError, match="count is a whole number, not"):
            rigor.Batch(quadruped, 2, threads=1).step(count)
    world.step(np.int64(2))
    masked = np.ma.masked_array(np.zeros(world.model.nu), mask=np.arange(world.model.nu) == 1)
    with pytest.raises(rigor.ArgumentError, match="ctrl is a masked array"):
        world.ctrl = masked
    world.ctrl = np.ma.masked_array(np.ones(world.model.nu))  # nothing is masked
    assert (world.ctrl == 1).all()
    for name in ("friction", "dt", "tolerance", "stiffness"):
        with pytest.raises(rigor.ArgumentError, match=f"{name} is NaN"):
            rigor.World(quadruped, **{name: float("nan")})


def test_weight_on_a_floor_that_comes_last():
    """The world is body A of its contacts in every order of shapes, and so does the README count."""
    model = rigor.parse("""<mujoco><worldbody><body pos="0 0 0.1"><freejoint/><geom size="0.1" mass="2"/></body>
        <geom type="plane" size="5 5 1"/></worldbody></mujoco>""")
    world = rigor.World(model, dt=1e-3)
    world.step(500)
    contacts = world.contacts
    on_floor = contacts["body_a"] == -1
    assert on_floor.any() and (contacts["body_b"] == 0).all()
    np.testing.assert_allclose(contacts["force"][on_floor, 2].sum(), 2 * 9.81, rtol=1e-4)


def test_a_cube_between_walls_falls_or_is_held():
    """Walls that exactly touch a cube: a step that lets it fall has another motion, in which they hold it."""
    box = '<geom type="box" size="0.1 0.1 0.1"'
    world = rigor.World(rigor.parse(f"""<mujoco><worldbody>{box} pos="-0.2 0 1"/>{box} pos="0.2 0 1"/>
        <body pos="0 0 1"><freejoint/>{box} mass="1"/></body></worldbody></mujoco>"""), dt=1e-3)
    start = world.q.copy()
    world.step()
    assert world.v[2] == pytest.approx(-9.81e-3)
    found = world.find_answers()
    assert found.motion_differs and found.velocity == pytest.approx(9.81e-3)
    assert found.contact is not None and found.impulses.shape == (8, 6)
    world.q[:] = start
    world.v[:] = 0
    world.set_impulses(found.impulses)
    world.step()
    assert world.v[2] == pytest.approx(0, abs=1e-6)
    with pytest.raises(rigor.ArgumentError, match="starts"):
        world.find_answers(starts=-1)


def test_a_step_starts_from_given_impulses(quadruped):
    world = rigor.World(quadruped, key="stand")
    world.step(500)
    given = world.contacts["impulse"].copy()
    assert len(given) >= 4
    world.set_impulses(given)
    world.step()
    with pytest.raises(ValueError, match="contacts, 6"):
        world.set_impulses(given.ravel())
    with pytest.raises(rigor.ArgumentError, match="all contacts"):
        world.set_impulses(given[:-1])
    given[0, 2] = np.nan
    with pytest.raises(rigor.ArgumentError, match="finite"):
        world.set_impulses(given)
