"""Contact problems in the HDF5 files of FCLIB.

libhdf5 crashes or hangs on some damaged files: read files of unknown origin in a separate process.
"""

from __future__ import annotations

import os
from typing import Any, List, Optional, Union

import numpy as np

from ._core import (ArgumentError, Diagnostics, Record, ffi, fill, lib, numbers, pointer,
                    read as _read, vector)
from ._hdf5 import hdf5
from .problem import Problem, problem_from_c

def _rows(c: Any, n: int) -> Optional[np.ndarray]:
    return None if c == ffi.NULL else numbers(c, n)


def read(path: Union[str, "os.PathLike[str]"], matrix: str = "auto") -> Problem:
    """Read a problem: rows t1, t2, n of each contact, then the equality rows.

    matrix: form of G: "auto", "dense", "sparse" or "velocity" (M, J). The result has `info` (title,
    description, math_info, is_global, contact_count, ...), `info.keys` (contacts, 3) or None,
    `info.guesses`, and the stored solution as `lam`, or None.
    """
    c = ffi.new("rgFclibDef*", lib.rgDefaultFclibDef())
    fill(c, {"matrix": matrix}, "fclib", [])
    diagnostics = Diagnostics()
    out = ffi.new("rgFclibProblem**")
    with hdf5():
        result = lib.rgLoadFclib(os.fsencode(path), c, diagnostics.c, out)
    diagnostics.done(result, str(path))
    owner = ffi.gc(out[0], lib.rgDestroyFclibProblem)
    problem = problem_from_c(lib.rgFclibProblem_Problem(owner))
    info = _read(lib.rgFclibProblem_Info(owner))
    keys = lib.rgFclibProblem_Keys(owner)
    info.keys = None
    if keys != ffi.NULL:
        flat = np.frombuffer(ffi.buffer(keys, 12 * info.contact_count), np.int32)
        info.keys = flat.reshape(-1, 3).copy()
    info.guesses = [_solution(lib.rgFclibProblem_Guess(owner, i), problem.n)
                    for i in range(lib.rgFclibProblem_GuessCount(owner))]
    stored = _solution(lib.rgFclibProblem_Solution(owner), problem.n)
    problem.lam, info.sigma = stored.lam, stored.sigma
    problem.info = info
    return problem


def _solution(c: Any, n: int) -> Record:
    return Record(lam=_rows(getattr(c, "lambda"), n), sigma=_rows(c.sigma, n))


def _solution_to_c(c: Any, n: int, lam: Any, sigma: Any, keep: List[Any]) -> None:
    for name, values in (("lambda", lam), ("sigma", sigma)):
        if values is not None:
            array = vector(values, n, name)
            memory = pointer(array)
            keep += [array, memory]
            setattr(c, name, memory)


def write(path: Union[str, "os.PathLike[str]"], problem: Problem, lam: Any = None,
          sigma: Any = None, title: str = "", description: str = "", math_info: str = "",
          keys: Any = None) -> None:
    """Write a problem, and a solution lam (n,), sigma (n,) if given. The file appears complete or not at
    all."""
    keep: List[Any] = []
    c, owned = problem._to_c()
    content = ffi.new("rgFclibContent*")
    content.problem = c
    texts = {"title": title, "description": description, "math_info": math_info}
    fill(content, {k: v or None for k, v in texts.items()}, "fclib", keep)
    if keys is not None:
        numbers3 = np.ascontiguousarray(keys, dtype=np.int32)
        contacts = int((problem.blocks["kind"] == lib.rg_blockCoulomb).sum())
        if numbers3.shape != (contacts, 3):
            raise ArgumentError(f"keys must have shape ({contacts}, 3), not {numbers3.shape}")
        memory = pointer(numbers3, "int[]")
        keep += [numbers3, memory]
        content.keys = memory
    _solution_to_c(content.solution, problem.n, lam, sigma, keep)
    diagnostics = Diagnostics()
    with hdf5():
        result = lib.rgSaveFclib(os.fsencode(path), content, diagnostics.c)
    diagnostics.done(result, str(path))
    del owned
