"""Settings shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

# Threads that wait take time from the other test processes; read when NumPy and scikit-learn are loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.utils.validation import _get_feature_names

settings.register_profile(
    "ufselect", deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
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


def frame_class(library: str) -> type:
    """Return the frames of a library, or skip the test where scikit-learn does not see their names."""
    frames = pytest.importorskip(library).DataFrame
    if _get_feature_names(frames({"a": [1.0]})) is None:
        pytest.skip("scikit-learn 1.8 does not see the names in frames of polars 2")
    return frames
