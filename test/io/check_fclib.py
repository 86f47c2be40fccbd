"""Files that rigor writes, read by h5py with FCLIB's names: check_fclib.py SAMPLE_WRITER"""
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "contact"))
from judge import read_matrix

# Rows of the sample: 0-1 equality, 2-4 contact (t1 t2 n), 5 equality, 6-8 contact.
CONTACTS = [4, 2, 3, 8, 6, 7]  # the file's n, t1, t2 of both
EQUALITIES = [0, 1, 5]
MATRIX = {"nzmax", "m", "n", "nz", "p", "i", "x"}


def members(group):
    return set(group.keys())


def check_common(file, group, load):
    assert members(file) == {group, "contacts", "solution", "guesses"}, members(file)
    assert file[group + "/spacedim"][0] == 3
    assert file[group + "/info/title"][()] == b"sample"
    assert members(file[group + "/info"]) == {"title", "description", "math_info"}
    assert list(file[group + "/vectors/mu"][()]) == [0.5, 0]
    assert file["contacts/keys"].shape == (2, 3)
    assert list(file["contacts/keys"][()].reshape(-1)) == list(range(100, 106))
    lam, sigma = load("lambda"), load("sigma")
    solution = file["solution"]
    assert np.array_equal(solution["r"][()], lam[CONTACTS])
    assert np.array_equal(solution["u"][()], sigma[CONTACTS])
    assert np.array_equal(solution["l"][()], lam[EQUALITIES])
    assert file["guesses/number_of_guesses"][0] == 1
    assert np.array_equal(file["guesses/1/r"][()], sigma[CONTACTS])
    assert np.array_equal(file["guesses/1/u"][()], lam[CONTACTS])


def check_local(path, load):
    G, g = load("dense").reshape(9, 9), load("g")
    with h5py.File(path, "r") as file:
        check_common(file, "fclib_local", load)
        local = file["fclib_local"]
        assert members(local) == {"spacedim", "W", "V", "R", "vectors", "info"}
        assert members(local["vectors"]) == {"q", "s", "mu"}
        assert members(local["W"]) == MATRIX
        assert np.array_equal(read_matrix(local["W"]), G[np.ix_(CONTACTS, CONTACTS)])
        assert np.array_equal(read_matrix(local["V"]), G[np.ix_(CONTACTS, EQUALITIES)])
        assert np.array_equal(read_matrix(local["R"]), G[np.ix_(EQUALITIES, EQUALITIES)])
        assert np.array_equal(local["vectors/q"][()], g[CONTACTS])
        assert np.array_equal(local["vectors/s"][()], g[EQUALITIES])
        assert "v" not in file["solution"]


def check_global(path, load):
    J, g = load("jacobian").reshape(9, 6), load("g")
    M = np.zeros((6, 6))
    blocks = load("mass").reshape(6, 3)
    M[:3, :3], M[3:, 3:] = blocks[:3], blocks[3:]
    with h5py.File(path, "r") as file:
        check_common(file, "fclib_global", load)
        whole = file["fclib_global"]
        assert members(whole) == {"spacedim", "M", "H", "G", "vectors", "info"}
        assert members(whole["vectors"]) == {"f", "w", "b", "mu"}
        assert np.array_equal(read_matrix(whole["M"]), M)
        assert np.array_equal(read_matrix(whole["H"]), J[CONTACTS].T)
        assert np.array_equal(read_matrix(whole["G"]), J[EQUALITIES].T)
        assert np.array_equal(whole["vectors/w"][()], g[CONTACTS])
        assert np.array_equal(whole["vectors/b"][()], g[EQUALITIES])
        assert not whole["vectors/f"][()].any()
        v = np.linalg.solve(M, J.T @ load("lambda"))
        assert np.allclose(file["solution/v"][()], v, rtol=1e-12, atol=1e-12)


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        def load(name):
            return np.loadtxt(os.path.join(folder, name + ".txt"))
        check_local(os.path.join(folder, "local.hdf5"), load)
        check_global(os.path.join(folder, "global.hdf5"), load)


if __name__ == "__main__":
    main()
