"""Builds the extension against an existing build of the library and puts that library beside it.

RIGOR_BUILD names the build folder of CMake (../build/release). `make python` and `make wheel` do it all.
"""

import os
import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("RIGOR_BUILD", HERE.parent / "build" / "release")).resolve()


def version() -> str:
    text = (HERE.parent / "include" / "rigor" / "base.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"RG_VERSION_{part} (\d+)", text).group(1)
                    for part in ("MAJOR", "MINOR", "PATCH"))


def library() -> Path:
    """The shared library under its soname, such as librigor.so.0.2."""
    found = BUILD / ("librigor.so." + version().rpartition(".")[0])
    if not found.exists():
        raise SystemExit(f"{found} does not exist: build the library first (make), "
                         "or set RIGOR_BUILD to its build folder")
    return found


class BuildWithLibrary(build_ext):
    """Copies the library into the package, where the extension looks for it ($ORIGIN), and the program."""

    def run(self):
        source = library()
        super().run()
        folder = Path(self.build_lib) / "rigor"
        if self.inplace:
            folder = HERE / "rigor"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(source.resolve(), folder / source.name)
        if (BUILD / "rigor").exists():
            (folder / "program").mkdir(exist_ok=True)
            shutil.copy(BUILD / "rigor", folder / "program" / "rigor")


setup(
    version=version(),
    cffi_modules=["native.py:builder"],
    cmdclass={"build_ext": BuildWithLibrary},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
