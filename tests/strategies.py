"""Hypothesis strategies for data and matrices."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

FINITE = st.floats(-100, 100, allow_nan=False, allow_infinity=False, width=32)
# A handful of values makes ties and zeros common.
COARSE = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])


def matrices(max_rows: int = 8, max_columns: int = 4, elements: st.SearchStrategy = FINITE):
    """Draw small real matrices."""
    shapes = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=max(max_rows, max_columns))
    allowed = shapes.filter(lambda shape: shape[0] <= max_rows and shape[1] <= max_columns)
    return allowed.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=elements))


@st.composite
def structured_data(draw, max_samples: int = 30, max_features: int = 12):
    """Draw low-rank-plus-noise data, sometimes with constant or duplicate columns."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_samples = draw(st.integers(4, max_samples))
    n_features = draw(st.integers(3, max_features))
    rank = draw(st.integers(1, 3))
    data = rng.standard_normal((n_samples, rank)) @ rng.standard_normal((rank, n_features))
    data += draw(st.sampled_from([0.05, 0.5])) * rng.standard_normal(data.shape)
    if draw(st.booleans()):
        data[:, 0] = draw(st.sampled_from([0.0, 7.25]))
    if draw(st.booleans()):
        data[:, -1] = data[:, 1]
    return data
