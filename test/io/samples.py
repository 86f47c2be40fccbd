"""FCLIB files written by h5py alone, in every storage, local and global."""
import h5py
import numpy as np


def write_matrix(group, dense, storage):
    m, n = dense.shape
    rows, columns = np.nonzero(dense)
    if storage == -1:
        order = np.lexsort((rows, columns))
        rows, columns = rows[order], columns[order]
        p, i = np.searchsorted(columns, np.arange(n + 1)), rows
    elif storage == -2:
        p, i = np.searchsorted(rows, np.arange(m + 1)), columns
    else:
        p, i = columns, rows
    x = dense[rows, columns]
    for key, value in (("nzmax", len(x)), ("m", m), ("n", n)):
        group[key] = np.array([value], dtype="i4")
    group["nz"] = np.array([len(x) if storage == 0 else storage], dtype="i4")
    group["p"], group["i"], group["x"] = p.astype("i4"), i.astype("i4"), x


def write_local(path, W, q, mu, storage=-2):
    with h5py.File(path, "w") as file:
        f = file.create_group("fclib_local")
        f["spacedim"] = np.array([3], dtype="i4")
        write_matrix(f.create_group("W"), W, storage)
        f["vectors/q"], f["vectors/mu"] = np.asarray(q, float), np.asarray(mu, float)
        f["info/title"] = "variable-length text"


def write_global(path, M, H, f, w, mu, storage=-2):
    with h5py.File(path, "w") as file:
        g = file.create_group("fclib_global")
        g["spacedim"] = np.array([3], dtype="i4")
        write_matrix(g.create_group("M"), M, storage)
        write_matrix(g.create_group("H"), H, storage)
        for key, value in (("f", f), ("w", w), ("mu", mu)):
            g["vectors/" + key] = np.asarray(value, float)


def write_random(path, random, index):
    """1 to 6 contacts on 1 to 3 bodies; some with mu = 0, some open."""
    contacts, bodies = 1 + index % 6, 1 + index % 3
    n, nv = 3 * contacts, 6 * bodies
    M = np.zeros((nv, nv))
    for b in range(bodies):
        a = random.normal(size=(6, 6))
        M[6 * b : 6 * b + 6, 6 * b : 6 * b + 6] = a @ a.T + np.eye(6)
    H = np.zeros((nv, n))
    for c in range(contacts):
        for b in {c % bodies, random.integers(bodies)}:
            H[6 * b : 6 * b + 6, 3 * c : 3 * c + 3] = random.normal(size=(6, 3))
    f, w = random.normal(size=nv), random.normal(size=n)
    mu = random.choice([0.0, 0.3, 0.8], size=contacts)
    storage = (-1, -2, 0)[index % 3]
    if index % 2:
        write_global(path, M, H, f, w, mu, storage)
    else:
        W = H.T @ np.linalg.solve(M, H)
        write_local(path, (W + W.T) / 2, H.T @ np.linalg.solve(M, f) + w, mu, storage)
