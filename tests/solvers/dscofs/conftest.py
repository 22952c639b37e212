"""A small X-step for the tests of the second-order method."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.gram import FormedGram
from ufselect.solvers.dscofs.model import StiefelModel


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((15, 9))
    S = factor.T @ factor
    X = np.linalg.qr(rng.standard_normal((9, 3)))[0]
    B = rng.standard_normal((9, 3))
    return StiefelModel.at(FormedGram(S, 16), B, X, S @ X)
