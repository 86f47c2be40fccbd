"""The contact solver alone: a problem from your own matrices, its solution, and an independent judge."""

from __future__ import annotations

import threading
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from ._core import (ArgumentError, BusyError, Diagnostics, Record, check, dtype, ffi, fill, floats,
                    lib, numbers, pointer, read, refuse_pickle, structs, vector, word,
                    writable_pointer)

#: Type of `Problem.blocks`: kind, first_row, row_count, mu, mu_torsion, mu_rolling, lower, upper.
block_type = dtype("rgBlock")

FREE, HALF_LINE, BOX, COULOMB = (int(getattr(lib, "rg_block" + n))
                                 for n in ("Free", "HalfLine", "Box", "Coulomb"))


class Residual(NamedTuple):
    """Error of impulses; zero for an exact solution."""

    total: float  #: largest velocity error of any row, as a share of what zero impulses leave wrong
    velocity: float  #: that error [m/s]
    reference: float  #: what it is compared with [m/s]
    block: int  #: that has it; -1: none has any
    impulse: float  #: largest error in impulses [N s]
    dual: float  #: largest distance of sigma + Gamma(sigma) to K* [m/s]
    complementarity: float  #: [J]


class Report(Record):
    """Report of the solver."""

    status: str  #: "solved", "stalled", "limit", "infeasible", "unsolved"
    residual: float  #: the judge's total
    residuals: Residual
    iterations: int  #: of the island that took most
    phase_iterations: Dict[str, int]
    conflict: np.ndarray  #: blocks that a certificate of infeasibility names
    history: np.ndarray  #: one record per iteration, with record_history=True


class Solution(NamedTuple):
    """Unpacks as lam, sigma, report."""

    lam: np.ndarray  #: impulses [N s], (n,)
    sigma: np.ndarray  #: velocities (G + R) lam + g [m/s], (n,)
    report: Report


def report_from_c(c: Any) -> Report:
    record = read(c)
    residuals = Residual(**vars(record.residual))
    count = c.conflictCount if c.conflict != ffi.NULL else 0
    conflict = np.array([c.conflict[i] for i in range(count)], dtype=np.int64)
    phases = {word("rgContactPhase", i): c.phaseIterations[i] for i in range(lib.rg_phaseCount)}
    return Report(status=record.status, residual=residuals.total, residuals=residuals,
                  iterations=record.iteration_count, islands=record.island_count,
                  factorizations=record.factorization_count, phase_iterations=phases,
                  conflict=conflict,
                  history=structs("rgContactRecord", c.history, c.historyCount))


# ---- matrices


class Sparse(NamedTuple):
    """Compressed rows, columns ascending: the form of C."""

    shape: Tuple[int, int]
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray

    def dense(self) -> np.ndarray:
        full = np.zeros(self.shape)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        full[rows, self.indices] = self.data
        return full

    def to_scipy(self) -> Any:
        from scipy.sparse import csr_matrix

        return csr_matrix((self.data, self.indices, self.indptr), shape=self.shape)


def _is_sparse(matrix: Any) -> bool:
    return isinstance(matrix, Sparse) or hasattr(matrix, "tocsr")


def _compress(matrix: Any, what: str) -> Sparse:
    """Any matrix as compressed rows, copied."""
    if isinstance(matrix, Sparse):
        start, column, value = (np.asarray(a) for a in matrix[1:])
        if start.shape != (matrix.shape[0] + 1,) or not (
                column.shape == value.shape == (start[-1],)):
            raise ArgumentError(f"{what}: indptr, indices and data do not fit each other")
        return _make_sparse(matrix.shape, start, column, floats(value, what))
    if hasattr(matrix, "tocsr"):
        rows = matrix.tocsr().copy()
        rows.sum_duplicates()
        rows.sort_indices()
        return _make_sparse(rows.shape, rows.indptr, rows.indices, floats(rows.data, what))
    full = floats(matrix, what)
    if full.ndim != 2:
        raise ArgumentError(f"{what} must be a matrix, not of shape {full.shape}")
    row, column = np.nonzero(full)
    start = np.zeros(full.shape[0] + 1, np.int32)
    np.cumsum(np.bincount(row, minlength=full.shape[0]), out=start[1:])
    return _make_sparse(full.shape, start, column, full[row, column])


def _make_sparse(shape: Any, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray) -> Sparse:
    return Sparse((int(shape[0]), int(shape[1])), _frozen(indptr.astype(np.int32)),
                  _frozen(indices.astype(np.int32)), _frozen(data.copy()))


def _frozen(array: np.ndarray) -> np.ndarray:
    """Solvers read it while other Python threads run."""
    array.flags.writeable = False
    return array


def _sparse_to_c(c: Any, matrix: Sparse, keep: List[Any]) -> None:
    start = pointer(matrix.indptr, "int[]")
    column = pointer(matrix.indices, "int[]")
    value = pointer(matrix.data)
    keep += [matrix, start, column, value]
    c.rowCount, c.columnCount = matrix.shape
    c.rowStart, c.column, c.value = start, column, value


def _sparse_from_c(c: Any) -> Sparse:
    entries = c.rowStart[c.rowCount]

    def copy(source: Any, count: int) -> np.ndarray:
        if count == 0:
            return np.zeros(0, np.int32)
        return np.frombuffer(ffi.buffer(source, 4 * count), np.int32).copy()

    return _make_sparse((c.rowCount, c.columnCount), copy(c.rowStart, c.rowCount + 1),
                        copy(c.column, entries), numbers(c.value, entries))


# ---- problems


def coulomb_blocks(mu: Any, n: int) -> np.ndarray:
    """Blocks of n/3 contacts with rows t1, t2, n; mu is one number or one per contact."""
    if n % 3 != 0:
        raise ArgumentError(f"g has {n} rows: contacts have three each (t1, t2, n); "
                            "give `blocks` for anything else")
    count = n // 3
    friction = floats(mu, "mu")
    if friction.shape not in ((), (1,), (count,)):
        raise ArgumentError(f"mu must be one number or have shape ({count},), not {friction.shape}")
    blocks = np.zeros(count, block_type)
    blocks["kind"], blocks["row_count"], blocks["mu"] = COULOMB, 3, friction
    blocks["first_row"] = 3 * np.arange(count)
    return blocks


class Problem:
    """K ∋ lam ⟂ sigma + Gamma(sigma) ∈ K*,  sigma = (G + R) lam + g.

    G: (n, n) array, a scipy.sparse matrix, or a pair (M, J) with G = J M^-1 J'. g: (n,) [m/s]. mu: one
    number or one per contact, rows t1, t2, n; or `blocks`, an array of `block_type`, for limits, boxes and
    equalities. R: compliance [1/kg], one number or (n,). Input is copied and cannot be changed later.
    """

    lam: Optional[np.ndarray]  #: impulses that came with the problem, or None
    info: Record  #: what a file says about the problem

    def __init__(self, G: Any, g: Any, mu: Any = None, R: Any = 0.0, *, blocks: Any = None,
                 row_length: Any = None, reference_velocity: float = 0.0) -> None:
        self._g = _frozen(floats(g, "g").copy())
        if self._g.ndim != 1:
            raise ArgumentError(f"g must have shape (n,), not {self._g.shape}")
        n = self._g.size
        self._R = _per_row(R, n, "R")
        self._row_length = None if row_length is None else _per_row(row_length, n, "row_length")
        self._reference_velocity = float(reference_velocity)
        if (blocks is None) == (mu is None):
            raise ArgumentError("give one of mu and blocks")
        if blocks is None:
            self._blocks = _frozen(coulomb_blocks(mu, n))
        else:
            if getattr(blocks, "dtype", None) != block_type or blocks.ndim != 1:
                raise ArgumentError("blocks must be a one-dimensional array of rigor.block_type")
            self._blocks = _frozen(np.array(blocks))
        self._G: Any = None
        self._M: Optional[Sparse] = None
        self._J: Optional[Sparse] = None
        self.lam = None
        self.info = Record()
        self._take_matrix(G, n)
        self._check()

    def _take_matrix(self, G: Any, n: int) -> None:
        if isinstance(G, tuple) and not isinstance(G, Sparse) and len(G) == 2:
            self._M, self._J = _compress(G[0], "M"), _compress(G[1], "J")
            nv = self._M.shape[0]
            if self._M.shape != (nv, nv) or self._J.shape != (n, nv):
                raise ArgumentError(f"M must be (nv, nv) and J ({n}, nv), not {self._M.shape} and "
                                    f"{self._J.shape}")
            return
        self._G = _compress(G, "G") if _is_sparse(G) else _frozen(floats(G, "G").copy())
        if self._G.shape != (n, n):
            raise ArgumentError(f"G must have shape ({n}, {n}) as g has {n} rows, not "
                                f"{self._G.shape}")

    @property
    def n(self) -> int:
        """Rows."""
        return self._g.size

    @property
    def g(self) -> np.ndarray:
        """Free velocity [m/s], (n,)."""
        return self._g

    @property
    def R(self) -> np.ndarray:
        """Compliance [1/kg], (n,)."""
        return self._R

    @property
    def blocks(self) -> np.ndarray:
        """Rows that share a set, an array of `block_type`."""
        return self._blocks

    @property
    def G(self) -> Any:
        """(n, n) array or `Sparse`; None where M and J are given. See `dense()`."""
        return self._G

    @property
    def M(self) -> Optional[Sparse]:
        """Mass matrix (nv, nv), or None."""
        return self._M

    @property
    def J(self) -> Optional[Sparse]:
        """Jacobian (n, nv), or None."""
        return self._J

    @property
    def mu(self) -> np.ndarray:
        """Friction of each block."""
        return self.blocks["mu"]

    def dense(self) -> np.ndarray:
        """G as a full (n, n) array."""
        if self.G is not None:
            return self.G.dense() if isinstance(self.G, Sparse) else self.G
        assert self.M is not None and self.J is not None
        full = self.J.dense()
        return full @ np.linalg.solve(self.M.dense(), full.T)

    def _to_c(self) -> Tuple[Any, List[Any]]:
        keep: List[Any] = [self]
        c = ffi.new("rgContactProblem*")
        c.rowCount, c.blockCount = self.n, len(self._blocks)
        c.blocks = ffi.cast("rgBlock*", pointer(self._blocks.view(np.uint8), "char[]"))
        c.freeVelocity = pointer(self._g)
        if self._R.any():
            c.compliance = pointer(self._R)
        if self._row_length is not None:
            c.rowLength = pointer(self._row_length)
        c.referenceVelocity = self._reference_velocity
        if self._M is not None and self._J is not None:
            c.delassus.kind = lib.rg_delassusVelocity
            _sparse_to_c(c.delassus.mass, self._M, keep)
            _sparse_to_c(c.delassus.jacobian, self._J, keep)
        elif isinstance(self._G, Sparse):
            c.delassus.kind = lib.rg_delassusSparse
            _sparse_to_c(c.delassus.sparse, self._G, keep)
        else:
            c.delassus.kind = lib.rg_delassusDense
            c.delassus.matrix = pointer(self._G)
        return c, keep

    def _check(self) -> None:
        c, keep = self._to_c()
        diagnostics = Diagnostics()
        diagnostics.done(lib.rgContactProblem_Check(c, diagnostics.c), "problem", 5)
        del keep

    def solve(self, lam0: Any = None, **settings: Any) -> Solution:
        """Impulses and velocities; see `rigor.solve()`."""
        return Solver(**settings).solve(self, lam0)

    def judge(self, lam: Any, model: str = "ncp") -> Residual:
        """Residual of impulses, from the problem alone; shares no code with any solver."""
        impulses = vector(lam, self.n, "lam")
        kinds = {"ncp": lib.rg_modelNcp, "ccp": lib.rg_modelCcp, "lcp4": lib.rg_modelLcp4,
                 "lcp8": lib.rg_modelLcp8}
        kind = kinds.get(model)
        if kind is None:
            raise ArgumentError(f"model '{model}' is none of {', '.join(kinds)}")
        c, keep = self._to_c()
        out = ffi.new("rgResidual*")
        check(lib.rgContactProblem_Judge(c, kind, pointer(impulses), out), "judge")
        del keep
        return Residual(**vars(read(out[0])))

    def residual(self, lam: Any) -> float:
        """The total of `judge()`."""
        return self.judge(lam).total

    def velocity(self, lam: Any) -> np.ndarray:
        """sigma = (G + R) lam + g, (n,) [m/s]."""
        impulses = vector(lam, self.n, "lam")
        c, keep = self._to_c()
        sigma = np.zeros(self.n)
        check(lib.rgContactProblem_Velocity(c, pointer(impulses), writable_pointer(sigma)), "velocity")
        del keep
        return sigma


def _per_row(value: Any, n: int, what: str) -> np.ndarray:
    array = floats(value, what)
    if array.shape not in ((), (1,), (n,)):
        raise ArgumentError(f"{what} must be one number or have shape ({n},), not {array.shape}")
    return _frozen(np.array(np.broadcast_to(array, (n,)), order="C"))


def problem_from_c(c: Any) -> Problem:
    """A copy of a C problem."""
    n = c.rowCount
    d = c.delassus
    if d.kind == lib.rg_delassusVelocity:
        jacobian = _sparse_from_c(d.jacobian)
        if d.mass.value == ffi.NULL:  # the problem has W only, and G = W W'
            root = Sparse(jacobian.shape, jacobian.indptr, jacobian.indices,
                          numbers(d.whitened, jacobian.data.size))
            matrix: Any = (np.eye(jacobian.shape[1]), root)
        else:
            matrix = (_sparse_from_c(d.mass), jacobian)
    elif d.kind == lib.rg_delassusSparse:
        matrix = _sparse_from_c(d.sparse)
    else:
        matrix = numbers(d.matrix, n * n).reshape(n, n)
    blocks = structs("rgBlock", c.blocks, c.blockCount)
    compliance = numbers(c.compliance, n) if c.compliance != ffi.NULL else 0.0
    length = numbers(c.rowLength, n) if c.rowLength != ffi.NULL else None
    return Problem(matrix, numbers(c.freeVelocity, n), R=compliance, blocks=blocks,
                   row_length=length, reference_velocity=c.referenceVelocity)


class Solver:
    """A contact solver that keeps its memory from problem to problem. One thread at a time.

    Settings are the fields of rgContactSolverDef in snake_case: method ("auto", "newton", "admm", "pgs",
    "interior", "pivot", "bisection", "dojo", "staggered"), model ("ncp": exact Coulomb friction; "ccp": the convex
    relaxation; "lcp4", "lcp8": friction on a square or an octagon, with auto, pgs or pivot), tolerance, max_iterations,
    record_history, accuracy, admm={...}, ...
    """

    _instead_of_pickle = "make one there with the same settings"

    def __init__(self, **settings: Any) -> None:
        c = ffi.new("rgContactSolverDef*", lib.rgDefaultContactSolverDef())
        fill(c, settings, "solver", [])
        out = ffi.new("rgContactSolver**")
        check(lib.rgCreateContactSolver(c, out), f"solver settings {settings}")
        self._c = ffi.gc(out[0], lib.rgDestroyContactSolver)
        self._lock = threading.Lock()

    __reduce_ex__ = refuse_pickle

    def solve(self, problem: Problem, lam0: Any = None) -> Solution:
        """Impulses from lam0 (n,) or zero, velocities and a report."""
        lam = np.zeros(problem.n) if lam0 is None else vector(lam0, problem.n, "lam0").copy()
        sigma = np.zeros(problem.n)
        c, keep = problem._to_c()
        report = ffi.new("rgContactReport*")
        if not self._lock.acquire(False):
            raise BusyError("another thread is using this solver; give each thread its own")
        try:
            result = lib.rgContactSolver_Solve(self._c, c, writable_pointer(lam),
                                               writable_pointer(sigma), report)
            check(result, "solve")
            made = report_from_c(report)
        finally:
            self._lock.release()
        del keep
        return Solution(lam, sigma, made)


def solve(G: Any, g: Any, mu: Any = None, R: Any = 0.0, *, blocks: Any = None, lam0: Any = None,
          row_length: Any = None, reference_velocity: float = 0.0, **settings: Any) -> Solution:
    """Solve a contact problem: `lam, sigma, report = rigor.solve(G, g, mu)`.

    G, g, mu, R, blocks: see `Problem`. lam0: warm start (n,). Settings: see `Solver`.
    """
    problem = Problem(G, g, mu, R, blocks=blocks, row_length=row_length,
                      reference_velocity=reference_velocity)
    return Solver(**settings).solve(problem, lam0)
