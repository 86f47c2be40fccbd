"""The contact solver on matrices of your own: dense, sparse, or mass matrix and Jacobian."""

import numpy as np

import rigor

rng = np.random.default_rng(0)
nv, contacts, dt = 12, 6, 1e-3
J = rng.normal(size=(3 * contacts, nv))  # rows t1, t2, n of each contact
root = rng.normal(size=(nv, nv))
M = root @ root.T + np.eye(nv)
G = J @ np.linalg.solve(M, J.T)
g = J @ rng.normal(size=nv) * 0.1  # velocity of the contacts without impulses [m/s]

for name, matrix in (("dense", G), ("mass and Jacobian", (M, J))):
    lam, sigma, report = rigor.solve(matrix, g, 0.7, tolerance=1e-9)
    print(f"{name}: {report.status} after {report.iterations} iterations, "
          f"residual {report.residual:.1e}")

# Do not take the solver's word for it: the judge shares no code with it.
problem = rigor.Problem(G, g, 0.7)
print(f"the judge says {problem.residual(lam):.1e}")

# The convex relaxation (MuJoCo, Drake) has another answer: contacts that press and slide also separate.
for model in ("ncp", "ccp"):
    lam, sigma, _ = rigor.solve(G, g, 0.7, model=model, tolerance=1e-9)
    acting = lam[2::3] > 1e-9
    print(f"{model}: {acting.sum()} contacts press; they separate at up to "
          f"{np.abs(sigma[2::3][acting]).max():.1e} m/s")
