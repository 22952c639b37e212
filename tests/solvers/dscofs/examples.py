"""Directions for the tests of the second-order method."""

from __future__ import annotations

import numpy as np


def tangent_direction(model, seed):
    rng = np.random.default_rng(seed)
    return model.tangent(rng.standard_normal(model.X.shape))
