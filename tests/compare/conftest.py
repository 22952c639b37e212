"""A small labelled table on which a comparison takes a second."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="session")
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    informative = rng.standard_normal((3, 4))[y] * 3 + rng.standard_normal((60, 4))
    return np.hstack([informative, rng.standard_normal((60, 8))]), y
