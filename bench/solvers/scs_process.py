"""SCS on convex contact problems, as solver_peer.h says: scs_process.py METHOD PROBLEMS.

Minimise 1/2 x'Gx + g'x with Ax + s = b, s in a cone, x the impulses."""
import sys

import numpy as np
import scs
from scipy import sparse

COULOMB, HALF_LINE, BOX, FREE = range(4)


def take(file, kind, count=1):
    return np.frombuffer(file.read(np.dtype(kind).itemsize * count), dtype=kind)


def read(path):
    with open(path, "rb") as file:
        count, iterations = take(file, "<i4", 2)
        (tolerance,) = take(file, "<f8")
        problems = []
        for _ in range(count):
            n, m = map(int, take(file, "<i4", 2))
            blocks = [(*map(int, take(file, "<i4", 3)), *take(file, "<f8", 3)) for _ in range(m)]
            problems.append((blocks, take(file, "<f8", n), take(file, "<f8", n * n).reshape(n, n)))
        return int(iterations), float(tolerance), problems


def make(blocks, g, G):
    """Rows of A have one number each: (column, value, b). None: a set that SCS does not know."""
    half, cones = [], []
    for kind, first, rows, mu, lower, upper in blocks:
        if kind == COULOMB:
            cones += [(first + 2, -mu, 0), (first, -1, 0), (first + 1, -1, 0)]
        elif kind in (HALF_LINE, BOX):
            low, high = (0, np.inf) if kind == HALF_LINE else (lower, upper)
            for i in range(first, first + rows):
                half += [(i, -1, -low)] if low > -np.inf else []
                half += [(i, 1, high)] if high < np.inf else []
        elif kind != FREE:
            return None
    rows = half + cones
    A = sparse.csc_matrix(([row[1] for row in rows], (range(len(rows)), [row[0] for row in rows])),
                          shape=(len(rows), len(g)))
    data = {"P": sparse.csc_matrix(np.triu(G)), "A": A, "b": np.array([row[2] for row in rows], float), "c": g}
    return data, {"l": len(half), "q": [3] * (len(cones) // 3)}


def main():
    iterations, tolerance, problems = read(sys.argv[2])
    for problem in problems:
        made = make(*problem)
        if made is None:
            print("none")
            continue
        best, found = np.inf, None
        for _ in range(2):
            solver = scs.SCS(*made, eps_abs=tolerance, eps_rel=0, max_iters=iterations, verbose=False)
            found = solver.solve()
            best = min(best, 1e-3 * (found["info"]["setup_time"] + found["info"]["solve_time"]))
        x = found["x"]
        print(best, found["info"]["iter"], int(found["info"]["status_val"] == 1), len(x),
              " ".join(f"{value:.17g}" for value in x))


if __name__ == "__main__":
    main()
