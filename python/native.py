"""The extension module rigor._native: all of the public headers, and what is in native.h."""

import os
import re
import sys
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from declarations import declarations  # noqa: E402

INCLUDE = HERE.parent / "include"
BUILD = Path(os.environ.get("RIGOR_BUILD", HERE.parent / "build" / "release")).resolve()
FLAGS = os.environ.get("RIGOR_PYTHON_FLAGS", "").split()

own = (HERE / "native.h").read_text(encoding="utf-8")
builder = FFI()
builder.cdef(declarations(INCLUDE))
builder.cdef("\n".join(line for line in own.splitlines() if not re.match("#(?!define)", line)))
builder.set_source(
    "rigor._native",
    '#include "native.h"\n' + (HERE / "native.c").read_text(encoding="utf-8"),
    include_dirs=[str(INCLUDE), str(HERE)],
    library_dirs=[str(BUILD)],
    libraries=["rigor"],
    extra_compile_args=["-std=c17", "-O2", *FLAGS],
    extra_link_args=["-Wl,-rpath,$ORIGIN", *FLAGS],
    py_limited_api=True,
)
