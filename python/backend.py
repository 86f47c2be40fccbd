"""Builds the package from a checkout or a source distribution (PEP 517): `pip install .` at the root.

The library is built by CMake first, then the package beside it. CMake and Ninja come from packages of Python where
the machine has none. Libraries that rigor links must be there: ./setup python installs them on Debian.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = {"cmake": "cmake>=3.22", "ninja": "ninja"}
BUILD = ["setuptools>=61", "wheel", "cffi>=1.14"]


def get_requires_for_build_wheel(config_settings=None):
    return BUILD + [package for tool, package in TOOLS.items() if shutil.which(tool) is None]


def get_requires_for_build_sdist(config_settings=None):
    return BUILD


def _run(*command):
    done = subprocess.run([str(c) for c in command], stdout=sys.stderr, check=False)
    if done.returncode != 0:
        sys.exit(f"rigor: {' '.join(map(str, command[:2]))} failed (above). On Debian, ./setup python installs what "
                 "the build needs; elsewhere it lists it.")


@contextmanager
def _package():
    """A copy of the package's sources, as setuptools leaves files beside them, and the working directory in it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "python"
        shutil.copytree(ROOT / "python", copy, ignore=shutil.ignore_patterns("build", "*.egg-info", "tests", "__pycache__"))
        (Path(folder) / "include").symlink_to(ROOT / "include")
        before = os.getcwd()
        os.chdir(copy)
        sys.path.insert(0, str(copy))
        try:
            yield copy
        finally:
            os.chdir(before)
            sys.path.remove(str(copy))


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    from setuptools import build_meta

    target = Path(metadata_directory).resolve()
    with _package():
        return build_meta.prepare_metadata_for_build_wheel(str(target), config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    from setuptools import build_meta

    with tempfile.TemporaryDirectory() as build:
        _run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DRIGOR_TESTS=OFF",
             "-DRIGOR_BENCH=OFF", "-DRIGOR_MPI=OFF")
        _run("cmake", "--build", build, "--target", "librigor.so", "rigor_cli")
        os.environ["RIGOR_BUILD"] = build
        target = Path(wheel_directory).resolve()
        with _package():
            return build_meta.build_wheel(str(target), config_settings)


def build_sdist(sdist_directory, config_settings=None):
    """All that is committed, with the metadata in front; a checkout is needed for it."""
    target = Path(sdist_directory).resolve()
    with tempfile.TemporaryDirectory() as metadata:
        info = prepare_metadata_for_build_wheel(metadata)
        text = (Path(metadata) / info / "METADATA").read_text(encoding="utf-8")
    version = next(line.split(": ")[1] for line in text.splitlines() if line.startswith("Version: "))
    name = f"rigor-{version}"
    files = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True, capture_output=True,
                           text=True).stdout.split("\0")
    with tempfile.TemporaryDirectory() as folder, tarfile.open(target / f"{name}.tar.gz", "w:gz") as archive:
        (Path(folder) / "PKG-INFO").write_text(text, encoding="utf-8")
        archive.add(Path(folder) / "PKG-INFO", f"{name}/PKG-INFO")
        for file in filter(None, files):
            archive.add(ROOT / file, f"{name}/{file}", recursive=False)
        page = ROOT / "build" / "web" / "page.html.gz"
        if page.exists():  # the viewer's page, which else needs Node
            archive.add(page, f"{name}/web/page.html.gz")
    return f"{name}.tar.gz"
