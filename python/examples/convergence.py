"""Plots how three solvers converge on the contact problem of a pile: convergence.py [PICTURE]"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rigor

world = rigor.World(rigor.scene("wall"))
world.step(50)
problem = world.problem

figure, axes = plt.subplots(figsize=(6, 4))
for method in ("auto", "newton", "admm"):
    solution = problem.solve(method=method, tolerance=1e-8, record_history=True, max_iterations=300)
    history = solution.report.history
    axes.semilogy(np.maximum(history["residual"], 1e-16), label=method)
    print(f"{method}: {solution.report.status}, {solution.report.iterations} iterations, "
          f"residual {solution.report.residual:.1e}")
axes.set_xlabel("iteration")
axes.set_ylabel("residual")
axes.set_title(f"{problem.n} rows of the wall")
axes.legend()
figure.tight_layout()
path = sys.argv[1] if len(sys.argv) > 1 else "convergence.png"
figure.savefig(path, dpi=120)
print("see", path)
