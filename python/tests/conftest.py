import os
from pathlib import Path

import pytest

import rigor

DATA = Path(os.environ.get("RIGOR_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
LIGHT = "RIGOR_TEST_LIGHT" in os.environ  # under sanitizers and valgrind


@pytest.fixture(scope="session")
def quadruped():
    return rigor.load("quadruped")


@pytest.fixture
def world(quadruped):
    return rigor.World(quadruped, key="stand")


@pytest.fixture(scope="session")
def data():
    if not DATA.is_dir():
        pytest.skip(f"no reference data in {DATA} (RIGOR_DATA)")
    return DATA
