"""Derivatives of steps: against differences, batches against worlds, PyTorch and JAX against both."""
import numpy as np
import pytest

import rigor
from rigor.derivatives import from_tangent, tangent, to_tangent

PENDULUM = b"""<mujoco><option timestep='0.002'/><worldbody><body pos='0 0 2'>
<joint name='a' axis='0 1 0' damping='0.1'/><geom type='capsule' size='0.03' fromto='0 0 0 0.4 0 0' mass='1'/>
<body name='arm' pos='0.4 0 0'><joint name='b' type='ball' damping='0.02'/>
<geom type='capsule' size='0.03' fromto='0 0 0 0.1 0.3 0' mass='0.7'/></body></body>
</worldbody><actuator><motor name='m' joint='a' gear='2'/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def pendulum():
    return rigor.parse(PENDULUM, "pendulum.xml")


def start(model, seed=3, speed=0.5):
    world = rigor.World(model, tolerance=1e-12)
    world.v[:] = speed * np.random.default_rng(seed).uniform(-1, 1, model.nv)
    world.step(20)
    return world


def apart(a, b):
    return abs(a - b).max() / abs(b).max()


def test_differences(pendulum):
    world = start(pendulum)
    before = world.hash()
    d, other = world.derivatives(("q", "v", "ctrl", "force")), world.derivatives(("q", "v", "ctrl", "force"), differences=True)
    assert world.hash() == before
    assert d.frozen == d.between_modes == 0 and d.frozen_why is None and d.margin == 1
    for place in d.columns.values():
        assert apart(d.v[:, place], other.v[:, place]) < 1e-6
        assert apart(d.q[:, place], other.q[:, place]) < 1e-6
    A, B = world.linearize()
    nv = pendulum.nv
    assert A.shape == (2 * nv, 2 * nv) and B.shape == (2 * nv, 1)
    assert (A[nv:, nv:] == d.v[:, d.columns["v"]]).all()


def test_gradient(pendulum):
    world = start(pendulum)
    bars = np.random.default_rng(1).normal(size=(2, pendulum.nv))
    by = ("v", "ctrl", "mass:arm", "damping:a", "inertia:arm:4")
    d, g = world.derivatives(by), world.vjp(*bars, by=by)
    assert list(g) == list(by)
    for name, place in d.columns.items():
        assert np.allclose(g[name], bars[0] @ d.q[:, place] + bars[1] @ d.v[:, place], rtol=0, atol=1e-12)


SENSING = PENDULUM.replace(b"</mujoco>", b"<sensor><jointpos joint='a'/><framelinvel objtype='body' objname='arm'/>"
                           b"<actuatorfrc actuator='m'/></sensor></mujoco>")


def test_sensors():
    model = rigor.parse(SENSING, "sensing.xml")
    assert model.sensor_size == 5
    world = start(model)
    d = world.derivatives(sensors=True)
    assert d.sensor.shape == (5, 2 * model.nv + 1)
    assert apart(d.sensor, world.derivatives(sensors=True, differences=True).sensor) < 1e-6
    assert apart(d.sensor[0], d.q[0]) < 1e-9 and d.sensor[4, -1] == pytest.approx(1)
    bar = np.arange(5.0)
    g = world.vjp(sensor_bar=bar)
    np.testing.assert_allclose(np.concatenate(list(g.values())), bar @ d.sensor, atol=1e-12)
    batch = rigor.Batch(model, 2)
    assert (batch.derivatives(sensors=True).sensor[1] == rigor.World(model).derivatives(sensors=True).sensor).all()
    g = batch.vjp(sensor_bar=np.ones((2, 5)))
    assert (g["q"][0] == rigor.World(model).vjp(sensor_bar=np.ones(5))["q"]).all()
    with pytest.raises(rigor.ArgumentError, match="sensor_bar"):
        world.vjp(sensor_bar=np.zeros(4))


def test_products(quadruped):
    """Products of A with the trend are the derivative of many steps by the first velocity."""
    def roll(v, steps=15):
        world = rigor.World(quadruped, key="stand", tolerance=1e-12)
        world.v[:] = v
        product = np.eye(4 * quadruped.nv)
        for _ in range(steps):
            product = world.linearize(trend=True, advance=True)[0] @ product
        return world.v.copy(), product[quadruped.nv:2 * quadruped.nv, quadruped.nv:2 * quadruped.nv]

    v = 0.15 * np.cos(np.arange(quadruped.nv))
    by_v, h = roll(v)[1], 1e-6
    for i in (2, 7, 12):
        ends = [roll(v + s * h * np.eye(quadruped.nv)[i])[0] for s in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / (2 * h), by_v[:, i], atol=1e-6 * abs(by_v).max())


def test_refused(pendulum):
    world = start(pendulum)
    for by, text in ((("q", "speed"), "none of"), (("q", "q"), "twice"), ("mass", "needs a body"), ("mass:leg", "leg"),
                     ("inertia:arm", "element"), ("inertia:arm:10", "derivatives")):
        with pytest.raises(rigor.Error, match=text):
            world.derivatives(by)
    with pytest.raises(rigor.ArgumentError, match="shape"):
        world.vjp(np.zeros(2))


def test_advance(quadruped):
    worlds = [rigor.World(quadruped, key="stand") for _ in range(2)]
    for _ in range(10):
        worlds[0].step()
        worlds[1].derivatives(advance=True)
        assert worlds[0].hash() == worlds[1].hash()


def test_batch(quadruped):
    batch = rigor.Batch(quadruped, 3, threads=2, key="stand")
    batch.v[:] = np.random.default_rng(2).normal(size=batch.v.shape)
    batch.step(5)
    d = batch.derivatives()
    bars = np.random.default_rng(4).normal(size=(2, 3, quadruped.nv))
    g = batch.vjp(*bars)
    for i in range(3):
        world = rigor.World(quadruped)
        world.restore(batch.save(i))
        own = world.derivatives()
        assert (own.v == d.v[i]).all() and (own.q == d.q[i]).all()
        assert own.between_modes == d.between_modes[i]
        assert (world.vjp(bars[0, i], bars[1, i])["ctrl"] == g["ctrl"][i]).all()


def test_dynamics(quadruped):
    """Derivatives of inverse and forward dynamics, against differences."""
    random = np.random.default_rng(6)
    d, h, n = rigor.Dynamics(quadruped), 1e-6, quadruped.nv
    q, v, a = quadruped.random(3), random.normal(size=n), random.normal(size=n)
    tau = d.set_state(q, v).inverse_dynamics(a)
    by_q, by_v = d.inverse_dynamics_derivatives(a)
    forward = d.forward_dynamics_derivatives(tau)
    for i in range(n):
        e = h * np.eye(n)[i]
        for column, ends in ((by_q[:, i], [(quadruped.integrate(q, s * e, 1), v) for s in (1, -1)]),
                             (by_v[:, i], [(q, v + s * e) for s in (1, -1)])):
            up, down = (d.set_state(*x).inverse_dynamics(a) for x in ends)
            np.testing.assert_allclose((up - down) / (2 * h), column, atol=1e-6 * abs(by_q).max())
    M = d.set_state(q, v).mass_matrix()
    assert apart(forward[0], -np.linalg.solve(M, by_q)) < 1e-9
    assert apart(forward[1], -np.linalg.solve(M, by_v)) < 1e-9
    assert apart(forward[2], np.linalg.inv(M)) < 1e-9


def test_smoothing(quadruped):
    """A body above the floor feels it, and gradients of tapes, batches and worlds are those of one law."""
    world = rigor.World(quadruped, key="stand")
    world.q[2] += 0.002
    state = world.save()
    exact, felt = world.linearize()[0], world.linearize(smoothing=1.0)[0]
    assert apart(exact[quadruped.nv + 2], np.eye(1, 2 * quadruped.nv, quadruped.nv + 2)[0]) < 0.1
    assert felt[quadruped.nv + 2, quadruped.nv + 2] < exact[quadruped.nv + 2, quadruped.nv + 2] - 0.01
    bars = np.random.default_rng(3).normal(size=(2, quadruped.nv))
    own = world.vjp(*bars, smoothing=1.0)["v"]
    assert apart(own, np.concatenate(bars) @ felt[:, quadruped.nv:]) < 1e-10
    tape = world.tape(steps=1, smoothing=1.0)
    assert (tape.vjp(bars[:1], bars[1:])["v"] == own).all()
    batch = rigor.Batch(quadruped, 2, threads=2)
    batch.restore(state)
    assert (batch.vjp(*np.stack([bars, bars], 1), smoothing=1.0)["v"] == own).all()
    assert (batch.derivatives("v", smoothing=1.0).v == felt[quadruped.nv:, quadruped.nv:2 * quadruped.nv]).all()
    with pytest.raises(rigor.Error):
        world.derivatives(smoothing=-1)


def test_direction(pendulum):
    world = start(pendulum)
    d, along = world.derivatives(("v", "ctrl")), np.arange(1.0, pendulum.nv + 1)
    q, v = world.jvp(v=along, ctrl=2)
    assert np.allclose(v, d.v[:, d.columns["v"]] @ along + 2 * d.v[:, -1], atol=1e-4)
    assert np.allclose(q, d.q[:, d.columns["v"]] @ along + 2 * d.q[:, -1], atol=1e-6)
    cube = rigor.World(rigor.parse(b"<mujoco><worldbody><geom type='plane' size='0 0 1'/><body pos='0 0 0.1'>"
                                   b"<freejoint/><geom type='box' size='0.1 0.1 0.1'/></body></worldbody></mujoco>"))
    cube.step(10)
    up = np.eye(6)[2]
    assert cube.jvp(q=up)[1][2] == pytest.approx(-1 / cube.dt, rel=1e-3)
    assert abs(cube.jvp(q=-up)[1][2]) < 1e-6
    with pytest.raises(rigor.ArgumentError):
        cube.jvp(q=up * np.nan)


def test_tape(quadruped):
    worlds = [rigor.World(quadruped, key="stand") for _ in range(2)]
    rng = np.random.default_rng(6)
    controls = worlds[0].ctrl + 0.1 * rng.normal(size=(9, quadruped.nu))
    bars = rng.normal(size=(2, 9, quadruped.nv))
    tape = worlds[0].tape(controls, every=4, by=("friction", "mass:trunk"))
    g = tape.vjp(*bars)
    by, steps = ("q", "v", "ctrl", "friction", "mass:trunk", "trend"), []
    for i, ctrl in enumerate(controls):
        worlds[1].ctrl = ctrl
        steps.append(worlds[1].derivatives(by, advance=True))
        assert (worlds[1].q == tape.q[i + 1]).all() and (worlds[1].v == tape.v[i + 1]).all()
    assert worlds[0].hash() == worlds[1].hash() and tape.nbytes > 0
    q_bar, v_bar, trend_bar, sums = np.zeros(quadruped.nv), np.zeros(quadruped.nv), np.zeros(2 * quadruped.nv), 0
    for i in reversed(range(9)):
        d = steps[i]
        out = (q_bar + bars[0, i]) @ d.q + (v_bar + bars[1, i]) @ d.v + trend_bar @ d.trend
        assert np.allclose(g["ctrl"][i], out[d.columns["ctrl"]], rtol=0, atol=1e-10 * abs(out).max())
        q_bar, v_bar, trend_bar = (out[d.columns[name]] for name in ("q", "v", "trend"))
        sums = sums + out[[d.columns["friction"].start, d.columns["mass:trunk"].start]]
    scale = abs(q_bar).max()
    assert np.allclose(g["q"], q_bar, rtol=0, atol=1e-10 * scale)
    assert np.allclose(g["v"], v_bar, rtol=0, atol=1e-10 * scale)
    assert np.allclose([g["friction"][0], g["mass:trunk"][0]], sums, rtol=0, atol=1e-10 * scale)
    batch = rigor.Batch(quadruped, 2, threads=2, key="stand")
    both = batch.tape(np.stack([controls, controls]), every=9)
    g2 = both.vjp(np.stack([bars[0]] * 2), np.stack([bars[1]] * 2))
    assert both.q.shape == (2, 10, quadruped.nq) and (g2["ctrl"] == g["ctrl"]).all() and (g2["q"] == g["q"]).all()
    for wrong, text in ((dict(ctrl=controls[:, :2]), "ctrl must have shape"), (dict(), "needs ctrl or steps"),
                        (dict(steps=3, by="v"), "name numbers of the model"),
                        (dict(steps=3, every=0), "every .0. 1 or more"), (dict(steps=-1), "steps .-1. must be 0"),
                        (dict(ctrl=controls + np.nan), "ctrl is not finite")):
        with pytest.raises(rigor.ArgumentError, match=text):
            worlds[0].tape(**wrong)


def test_tangent(quadruped):
    q = quadruped.random(3)
    T, h = tangent(quadruped, q), 1e-6
    for k in range(quadruped.nv):
        v = np.zeros(quadruped.nv)
        v[k] = 1
        slope = (quadruped.integrate(q, v, h) - quadruped.integrate(q, v, -h)) / (2 * h)
        assert np.allclose(T[:, k], slope, atol=1e-8)
    g = np.random.default_rng(0).normal(size=quadruped.nv)
    assert np.allclose(to_tangent(quadruped, q, from_tangent(quadruped, q, g)), g)


def chain(model, q, v, controls):
    """The number whose gradient is tested: of all states on the way."""
    world = rigor.World(model, tolerance=1e-12)
    world.restore(chain.state)
    world.q[:], world.v[:] = q, v
    total = 0.0
    for ctrl in controls:
        world.step(ctrl=ctrl)
        total += float((np.sin(world.q) @ np.arange(1, model.nq + 1)) + world.v @ world.v)
    return total


def differences(f, x, h=1e-6):
    out = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        out[i] = (f(up) - f(down)) / (2 * h)
    return out


@pytest.mark.parametrize("every", [1, 3])
def test_torch(pendulum, every):
    torch = pytest.importorskip("torch")
    from rigor.torch import rollout, step
    world = start(pendulum)
    chain.state = world.save()
    q, v = world.q.copy(), world.v.copy()
    controls = np.random.default_rng(5).normal(size=(7, 1))
    weights = torch.arange(1, pendulum.nq + 1, dtype=torch.float64)

    def by_steps(q, v, u):
        total = 0
        for row in u:
            q, v = step(world, q, v, row)
            total = total + torch.sin(q) @ weights + v @ v
        return total

    def by_rollout(q, v, u):
        qs, vs = rollout(world, q, v, u, every=every)
        return (torch.sin(qs[1:]) @ weights).sum() + (vs[1:] ** 2).sum()

    for function in (by_steps, by_rollout):
        world.restore(chain.state)
        x = [torch.tensor(a, requires_grad=True) for a in (q, v, controls)]
        total = function(*x)
        assert total.item() == pytest.approx(chain(pendulum, q, v, controls), rel=1e-12)
        end = world.hash()
        total.backward()
        assert world.hash() == end
        found = differences(lambda u: chain(pendulum, q, v, u), controls)
        assert apart(x[2].grad.numpy(), found) < 1e-5
        assert x[0].grad.shape == (pendulum.nq,) and x[1].grad.shape == (pendulum.nv,)


def test_torch_batch(quadruped):
    torch = pytest.importorskip("torch")
    from rigor.torch import rollout
    batch = rigor.Batch(quadruped, 2, threads=2, key="stand")
    q, v = batch.q.copy(), batch.v.copy()
    controls = np.random.default_rng(5).normal(size=(4, 2, quadruped.nu))
    u = torch.tensor(controls, requires_grad=True)
    qs, vs = rollout(batch, torch.tensor(q), torch.tensor(v), u)
    (vs[-1] ** 2).sum().backward()
    for i in range(2):
        world = rigor.World(quadruped, key="stand")
        own = torch.tensor(controls[:, i], requires_grad=True)
        _, ends = rollout(world, torch.tensor(q[i]), torch.tensor(v[i]), own)
        assert (ends == vs[:, i]).all()
        (ends[-1] ** 2).sum().backward()
        assert apart(u.grad[:, i].numpy(), own.grad.numpy()) < 1e-9


def test_jax(pendulum):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    import rigor.jax
    world = start(pendulum)
    chain.state = world.save()
    q, v = world.q.copy(), world.v.copy()
    controls = np.random.default_rng(5).normal(size=(5, 1))
    weights = jnp.arange(1, pendulum.nq + 1, dtype=jnp.float64)
    step = rigor.jax.step(world)

    def total(u):
        def one(state, row):
            q, v = step(*state, row)
            return (q, v), jnp.sin(q) @ weights + v @ v
        return jax.lax.scan(one, (jnp.array(q), jnp.array(v)), u)[1].sum()

    value, gradient = jax.value_and_grad(total)(jnp.array(controls))
    assert float(value) == pytest.approx(chain(pendulum, q, v, controls), rel=1e-12)
    found = differences(lambda u: chain(pendulum, q, v, u), controls)
    assert apart(np.asarray(gradient), found) < 1e-5
    with pytest.raises(TypeError):
        rigor.jax.step("world")
