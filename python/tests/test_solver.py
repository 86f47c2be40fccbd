"""The solver alone: answers known in advance, three forms of G, the judge, FCLIB files."""

import threading

import numpy as np
import pytest

import rigor

scipy_sparse = pytest.importorskip("scipy.sparse")


def random_problem(seed, contacts=5, nv=12):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * contacts, nv))
    root = rng.normal(size=(nv, nv))
    M = root @ root.T + nv * np.eye(nv)
    g = rng.normal(size=3 * contacts)
    g[2::3] -= 1
    return M, J, g, rng.uniform(0.1, 1, contacts)


def test_block_on_the_floor():
    """1 kg pushed sideways: sticks below mu, slides above, as Coulomb says."""
    dt = 1e-3
    for push in (0.3, 0.8):
        g = dt * np.array([9.81 * push, 0, -9.81])
        lam, sigma, report = rigor.solve(np.eye(3), g, 0.5, tolerance=1e-12)
        assert report.status == "solved"
        np.testing.assert_allclose(lam[2], 9.81 * dt, rtol=1e-9)
        np.testing.assert_allclose(lam[0], -min(push, 0.5) * 9.81 * dt, rtol=1e-9)
        np.testing.assert_allclose(sigma[0], max(push - 0.5, 0) * 9.81 * dt, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_forms_agree_and_the_judge_decides(seed):
    M, J, g, mu = random_problem(seed)
    G = J @ np.linalg.solve(M, J.T)
    R = 1e-3
    forms = [G, np.asfortranarray(G), scipy_sparse.csc_matrix(G), scipy_sparse.csr_matrix(G), (M, J),
             (scipy_sparse.csr_matrix(M), scipy_sparse.coo_matrix(J))]
    answers = []
    for form in forms:
        problem = rigor.Problem(form, g, mu, R)
        lam, sigma, report = problem.solve(tolerance=1e-10)
        assert report.status == "solved"
        assert rigor.Problem(G, g, mu, R).residual(lam) < 1e-9  # not by its own word
        np.testing.assert_allclose(sigma, (G + R * np.eye(len(g))) @ lam + g, atol=1e-9)
        np.testing.assert_allclose(problem.velocity(lam), sigma, atol=1e-12)
        np.testing.assert_allclose(problem.dense(), G, atol=1e-12)
        tangent, normal = np.hypot(lam[0::3], lam[1::3]), lam[2::3]
        assert (normal >= -1e-12).all() and (tangent <= mu * normal + 1e-9).all()
        answers.append(sigma)
    for sigma in answers[1:]:
        np.testing.assert_allclose(sigma, answers[0], atol=1e-6)


def test_equal_to_the_library_itself():
    """The same bits as calls of the C functions from plain C memory."""
    M, J, g, mu = random_problem(3)
    G = J @ np.linalg.solve(M, J.T)
    lam, sigma, _ = rigor.solve(G, g, mu)
    ffi, lib = rigor._core.ffi, rigor._core.lib
    blocks = ffi.new("rgBlock[]", [{"kind": lib.rg_blockCoulomb, "firstRow": 3 * i, "rowCount": 3,
                                    "mu": m} for i, m in enumerate(mu)])
    matrix, free = ffi.new("double[]", G.ravel().tolist()), ffi.new("double[]", g.tolist())
    zero = ffi.new("double[]", len(g))
    problem = ffi.new("rgContactProblem*", {"rowCount": len(g), "blockCount": len(mu),
                                            "blocks": blocks, "freeVelocity": free,
                                            "compliance": zero})
    problem.delassus.matrix = matrix
    solver = ffi.new("rgContactSolver**")
    assert lib.rgCreateContactSolver(ffi.NULL, solver) == lib.rg_ok
    out, out_sigma = ffi.new("double[]", len(g)), ffi.new("double[]", len(g))
    assert lib.rgContactSolver_Solve(solver[0], problem, out, out_sigma, ffi.NULL) == lib.rg_ok
    lib.rgDestroyContactSolver(solver[0])
    np.testing.assert_array_equal(lam, list(out))
    np.testing.assert_array_equal(sigma, list(out_sigma))


@pytest.mark.parametrize("method", ["auto", "newton", "admm", "interior"])
def test_methods_and_history(method):
    M, J, g, mu = random_problem(11)
    settings = {"admm": {"scaling": True}} if method == "admm" else {}
    _, _, report = rigor.solve((M, J), g, mu, 1e-2, method=method, record_history=True, **settings)
    assert report.residual <= 1e-6
    assert len(report.history) >= report.iterations > 0
    assert report.history["residual"][-1] <= 1e-6
    assert sum(report.phase_iterations.values()) > 0


@pytest.mark.parametrize("model, method", [("lcp4", "pivot"), ("lcp8", "pivot"), ("lcp4", "pgs"),
                                           ("ncp", "bisection"), ("ncp", "dojo"), ("ncp", "staggered")])
def test_other_models(model, method):
    """One contact that slides towards a corner of the square: friction sqrt(2) mu, and mu in the exact law."""
    problem = rigor.Problem(np.eye(3), [2.0, 2.0, -1.0], 0.5)
    lam, _, report = problem.solve(model=model, method=method)
    friction = {"lcp4": 0.5 * np.sqrt(2), "lcp8": 0.5, "ncp": 0.5}[model]
    np.testing.assert_allclose(np.hypot(*lam[:2]), friction, rtol=1e-6)
    assert problem.judge(lam, model).total <= 1e-6
    with pytest.raises(rigor.ArgumentError, match="solver settings"):
        problem.solve(model="ncp", method="pivot")


def test_warm_start_costs_nothing():
    M, J, g, mu = random_problem(5)
    solver = rigor.Solver(tolerance=1e-9)
    problem = rigor.Problem((M, J), g, mu)
    cold = solver.solve(problem)
    warm = solver.solve(problem, cold.lam)
    assert warm.report.iterations <= cold.report.iterations
    np.testing.assert_allclose(warm.lam, cold.lam, atol=1e-7)


def test_blocks_of_other_kinds():
    """A joint limit and a weld in one dimension each: lam >= 0, and sigma = 0."""
    blocks = np.zeros(2, rigor.block_type)
    blocks["kind"] = [rigor.problem.HALF_LINE, rigor.problem.FREE]
    blocks["first_row"], blocks["row_count"] = [0, 1], 1
    lam, sigma, _ = rigor.solve(np.diag([2.0, 4.0]), [-1.0, 2.0], blocks=blocks, tolerance=1e-12)
    np.testing.assert_allclose(lam, [0.5, -0.5], rtol=1e-9)
    np.testing.assert_allclose(sigma, 0, atol=1e-12)


@pytest.mark.parametrize("change, text", [
    (dict(G=np.eye(4)), r"G must have shape \(6, 6\)"),
    (dict(G=np.full((6, 6), np.nan)), "nan|finite|number"),
    (dict(g=np.zeros(5)), "g has 5 rows|three"),
    (dict(g=[np.nan] * 6), "nan"),
    (dict(g=np.zeros((6, 1))), "shape"),
    (dict(mu=[0.1, 0.2, 0.3]), r"mu must be one number or have shape \(2,\)"),
    (dict(mu=-1.0), "friction|mu"),
    (dict(R=np.ones(4)), "R must be one number"),
    (dict(G=(np.eye(3), np.ones((6, 2)))), "M must be"),
    (dict(G=np.eye(6).astype(object)), "real numbers"),
    (dict(blocks=np.zeros(2)), "one of mu and blocks"),
    (dict(tolerance=-1.0), "solver settings"),
    (dict(methods="auto"), "no setting 'methods'"),
    (dict(lam0=np.zeros(5)), r"lam0 must have shape \(6,\)"),
])
def test_bad_problems(change, text):
    arguments = dict(G=np.eye(6), g=np.zeros(6), mu=0.5)
    arguments.update(change)
    with pytest.raises((ValueError, TypeError), match=text):
        rigor.solve(**arguments)


def test_problems_cannot_be_changed_and_do_not_lie():
    """Solvers read a problem while other threads run; sparse matrices that lie are found out."""
    problem = rigor.Problem(np.eye(6), np.zeros(6), 0.5)
    for array in (problem.G, problem.g, problem.R, problem.blocks["mu"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        problem.G = np.eye(2)
    good = rigor.Problem(scipy_sparse.eye(6), np.zeros(6), 0.5).G
    for bad in (good._replace(indices=np.full(6, 1000)), good._replace(indices=good.indices[:3]),
                good._replace(indptr=np.array([0, 1, 2, 3, 4, 5, 1000])),
                good._replace(indptr=np.array([0, 9, 2, 3, 4, 5, 6])), good._replace(shape=(9, 6))):
        with pytest.raises(rigor.Error):
            rigor.Problem(bad, np.zeros(6), 0.5)


def test_one_solver_in_two_threads():
    M, J, g, mu = random_problem(1, 60, 90)
    problem, solver = rigor.Problem((M, J), g, mu), rigor.Solver()
    errors = []

    def work():
        for _ in range(20):
            try:
                solver.solve(problem)
            except rigor.BusyError as error:
                errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors


def test_problem_of_a_step(world):
    with pytest.raises(rigor.ArgumentError, match="step\\(\\) first"):
        world.problem
    world.step(200)
    problem = world.problem
    assert problem.n >= 12 and problem.residual(problem.lam) < 1e-5
    assert problem.solve(tolerance=1e-9).report.status == "solved"


# ---- FCLIB


def test_fclib_round_trip(tmp_path):
    M, J, g, mu = random_problem(8)
    G = J @ np.linalg.solve(M, J.T)
    for name, form in (("dense", G), ("sparse", scipy_sparse.csr_matrix(G)), ("global", (M, J))):
        problem = rigor.Problem(form, g, mu)
        solution = problem.solve()
        path = tmp_path / f"{name}.hdf5"
        rigor.fclib.write(path, problem, solution.lam, solution.sigma, title=name,
                          keys=np.arange(15).reshape(5, 3))
        again = rigor.fclib.read(path)
        np.testing.assert_allclose(again.dense(), G, atol=1e-12)
        np.testing.assert_array_equal(again.g, g)
        np.testing.assert_array_equal(again.mu, mu)
        np.testing.assert_array_equal(again.lam, solution.lam)
        np.testing.assert_array_equal(again.info.keys, np.arange(15).reshape(5, 3))
        assert again.info.title == name and again.info.is_global == (name == "global")
        assert again.residual(again.lam) <= 1e-6
        dense = rigor.fclib.read(path, matrix="dense")
        np.testing.assert_allclose(dense.G, G, atol=1e-12)


def test_fclib_bad_files(tmp_path):
    with pytest.raises(rigor.FileError):
        rigor.fclib.read(tmp_path / "none.hdf5")
    (tmp_path / "text.hdf5").write_text("no HDF5 at all")
    with pytest.raises(rigor.Error):
        rigor.fclib.read(tmp_path / "text.hdf5")
    with pytest.raises(ValueError, match="none of auto, dense"):
        rigor.fclib.read(tmp_path / "text.hdf5", matrix="full")


@pytest.mark.filterwarnings("ignore:.*not symmetric")
def test_fclib_data(data):
    files = sorted((data / "fclib" / "Capsules").glob("*.hdf5"))[:3]
    assert files
    for path in files:
        problem = rigor.fclib.read(path)
        solution = problem.solve()
        assert problem.residual(solution.lam) <= 1e-6, path.name
