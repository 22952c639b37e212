"""Settings shared by all tests."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_breast_cancer, load_digits

settings.register_profile(
    "ufselect", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ufselect")

SHARED = Path(__file__).resolve().parents[2] / "shared"
DATA_DIR = Path(os.environ.get("UFSELECT_DATA", SHARED / "data"))
REFERENCE_DIR = Path(__file__).parent / "reference"
REAL_SETS = ("coil20", "usps", "lung_discrete", "glioma", "umist", "warppie10p", "isolet")
# These come with scikit-learn, so that a clean clone tests on real data too.
BUNDLED_SETS = {"digits": load_digits, "breast_cancer": load_breast_cancer}


def load_real(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the data as float64 and the labels of a real data set, or skip the test."""
    if name in BUNDLED_SETS:
        return BUNDLED_SETS[name](return_X_y=True)
    path = DATA_DIR / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"real data absent: no {name}.npz beside the project (set UFSELECT_DATA)")
    with np.load(path, allow_pickle=False) as stored:
        return stored["X"].astype(np.float64), stored["y"]


@pytest.fixture
def real():
    """Give a test the loader of the real data sets."""
    return load_real


@pytest.fixture
def reference_path():
    """Give a test the folder of the original programs' outputs."""
    return REFERENCE_DIR


@pytest.fixture
def from_docs(monkeypatch):
    """Give a test the way to import a module that stands beside the pages of the documentation."""
    docs = Path(__file__).resolve().parents[1] / "docs"

    def imported(name: str):
        if not docs.exists():
            pytest.skip("the documentation is not beside the tests")
        monkeypatch.syspath_prepend(docs)
        return importlib.import_module(name)

    return imported
