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
    if normal >= 0 and tangent <= mu * normal:
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


def steep_error(r, sigma, mu, mass):
    """Alart and Curnier's map, for friction above 10: normal, then friction on its disc."""
    start, step = (r, mass) if mass > 0 else (np.zeros(3), 1.0)
    x = start - step * sigma
    x[0] = max(x[0], 0.0)
    slip = np.linalg.norm(x[1:])
    if slip > mu * x[0]:
        x[1:] *= mu * x[0] / slip
    return np.linalg.norm(start - x) / step


def velocity_error(r, u, mu, mass):
    """The natural map of one contact over the mass it feels; an immovable one by its limit."""
    if mass == 0:
        return np.linalg.norm(project_cone(-u, mu))
    return np.linalg.norm(r - project_cone(r - mass * u, mu)) / mass


def judge(path, model="ncp"):
    G, g, mu, r, u = read_problem(path)
    count = len(mu)
    # The stored u must be the velocity that goes with the stored r.
    size = (np.abs(G) @ np.abs(r) + np.abs(g)).max(initial=1e-300)
    stored_error = np.abs(G @ r + g - u).max(initial=0) / size
    contacts = [slice(3 * i, 3 * i + 3) for i in range(count)]
    r = np.concatenate([project_cone(r[rows], mu[i]) for i, rows in enumerate(contacts)] or [r])
    sigma = G @ r + g

    def shifted(velocity, i):
        y = velocity[contacts[i]].copy()
        if model == "ncp":
            y[0] += mu[i] * np.linalg.norm(y[1:])
        return y

    trace = np.array([np.trace(G[rows, rows]) for rows in contacts])
    mass = np.where(trace > 0, 3 / np.where(trace > 0, trace, 1), 0)

    def error_of(impulse, velocity, i):
        if model == "ncp" and mu[i] > 10:
            return steep_error(impulse, velocity[contacts[i]], mu[i], mass[i])
        return velocity_error(impulse, shifted(velocity, i), mu[i], mass[i])

    idle = np.array([error_of(np.zeros(3), g, i) for i in range(count)])
    label = islands(G)
    quiet = 1e-3 * idle.max(initial=0)
    found = {"residual": 0.0, "residual_velocity": 0.0, "residual_impulse": 0.0,
             "residual_dual": 0.0, "residual_complementarity": 0.0}
    for i, rows in enumerate(contacts):
        reference = max(idle[label == label[i]].max(), quiet) or 1.0
        y = shifted(sigma, i)
        error = error_of(r[rows], sigma, i)
        if error / reference > found["residual"]:
            found["residual"] = error / reference
            found["residual_velocity"] = error
        values = {
            "residual_impulse": error * mass[i],
            "residual_dual": np.linalg.norm(y - project_dual(y, mu[i])),
            "residual_complementarity": abs(r[rows] @ y),
        }
        for key, value in values.items():
            found[key] = max(found[key], value)
    return {**found, "velocity_error": stored_error}
