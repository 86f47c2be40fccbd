"""The judge, a second time: how far is the solution stored in an FCLIB file from a solution?

Written from the definition (docs/theory/ncp.md), in numpy, without looking at the C code's ways:
dense matrices, the file's own row order n, t1, t2, islands by a search through the blocks.
"""
import h5py
import numpy as np


def read_matrix(group):
    """A dense matrix from compressed columns (nz -1), rows (-2) or triplets (i rows, p columns)."""
    m, n, nz = (int(np.asarray(group[k][()]).reshape(-1)[0]) for k in ("m", "n", "nz"))
    p, i, x = (np.asarray(group[k][()]).reshape(-1) for k in ("p", "i", "x"))
    dense = np.zeros((m, n))
    if nz >= 0:
        np.add.at(dense, (i[:nz], p[:nz]), x[:nz])
    else:
        lines = np.repeat(np.arange(len(p) - 1), np.diff(p))
        at = (i[: len(lines)], lines) if nz == -1 else (lines, i[: len(lines)])
        np.add.at(dense, at, x[: len(lines)])
    return dense


def read_problem(path):
    """G, g, mu of the contacts, r: contacts only, in the file's row order."""
    with h5py.File(path, "r") as file:
        r = file["solution/r"][()]
        u = file["solution/u"][()]
        if "fclib_global" in file:
            f = file["fclib_global"]
            mass, h = read_matrix(f["M"]), read_matrix(f["H"])
            mass = (mass + mass.T) / 2
            g = h.T @ np.linalg.solve(mass, f["vectors/f"][()]) + f["vectors/w"][()]
            return h.T @ np.linalg.solve(mass, h), g, f["vectors/mu"][()], r, u
        f = file["fclib_local"]
        w = read_matrix(f["W"])
        return (w + w.T) / 2, f["vectors/q"][()], f["vectors/mu"][()], r, u


def project_cone(x, mu):
    """On |x_t| <= mu x_n; x = (n, t1, t2)."""
    normal, tangent = x[0], np.linalg.norm(x[1:])
    if tangent <= mu * normal:
        return x.copy()
    if mu * tangent <= -normal:
        return np.zeros(3)
    new_normal = (mu * tangent + normal) / (1 + mu * mu)
    return np.concatenate(([new_normal], x[1:] * (mu * new_normal / tangent)))


def project_dual(x, mu):
    """On mu |x_t| <= x_n, by Moreau: x = P_K*(x) - P_K(-x)."""
    return x + project_cone(-x, mu)


def islands(G):
    """Number of the island of each contact."""
    count = len(G) // 3
    blocks = np.abs(G).reshape(count, 3, count, 3).max(axis=(1, 3)) > 0
    label = -np.ones(count, dtype=int)
    for start in range(count):
        waiting = [start] if label[start] < 0 else []
        while waiting:
            contact = waiting.pop()
            if label[contact] < 0:
                label[contact] = start
                waiting.extend(np.flatnonzero(blocks[contact] & (label < 0)))
    return label


def judge(path, model="ncp"):
    G, g, mu, r, u = read_problem(path)
    count = len(mu)
    # The stored u must be the velocity that goes with the stored r.
    size = (np.abs(G) @ np.abs(r) + np.abs(g)).max(initial=1e-300)
    velocity_error = np.abs(G @ r + g - u).max(initial=0) / size
    r = np.concatenate([project_cone(r[3 * i : 3 * i + 3], mu[i]) for i in range(count)] or [r])
    sigma = G @ r + g
    trace = np.array([np.trace(G[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]) / 3 for i in range(count)])
    s = np.where(trace > 0, 1 / np.sqrt(np.where(trace > 0, trace, 1)), 1)
    size = s * np.abs(g).reshape(count, 3).max(axis=1)
    label = islands(G)
    parts = {"cone": 0.0, "dual": 0.0, "complementarity": 0.0}
    si = 0.0
    for i in range(count):
        mates = label == label[i]
        closing = mates & (g[0::3] < 0)
        largest = size[closing].max(initial=0) or size[mates].max(initial=0)
        c = 1 / largest if largest > 0 else 1
        rows = slice(3 * i, 3 * i + 3)
        for a, b, target in ((c / s[i], c * s[i], parts), (1, 1, None)):
            x, y = a * r[rows], b * sigma[rows]
            if model == "ncp":
                y = y + [mu[i] * np.linalg.norm(y[1:]), 0, 0]
            values = {
                "cone": np.abs(x - project_cone(x, mu[i])).max(),
                "dual": np.abs(y - project_dual(y, mu[i])).max(),
                "complementarity": abs(x @ y),
            }
            if target is None:
                si = max(si, *values.values())
            else:
                for key, value in values.items():
                    target[key] = max(target[key], value)
    return {
        "residual": max(parts.values()),
        "residual_cone": parts["cone"],
        "residual_dual": parts["dual"],
        "residual_complementarity": parts["complementarity"],
        "residual_si": si,
        "velocity_error": velocity_error,
    }
