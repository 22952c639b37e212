"""Warnings point at the user's line, through scikit-learn too."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ufselect import DSCOFS, SPCAFS
from ufselect.exceptions import InactiveConstraintWarning


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(
    ("selector", "category"),
    [
        (DSCOFS(2, n_components=2, entry_sparsity=0.9), InactiveConstraintWarning),
        (SPCAFS(2, n_components=2, max_iter=1, tol=0.0), ConvergenceWarning),
    ],
)
def test_warnings_name_the_line_that_calls_fit(selector, category, wrapped):
    X = np.random.default_rng(0).standard_normal((40, 12))
    estimator = make_pipeline(StandardScaler(), selector) if wrapped else selector
    line = inspect.currentframe().f_lineno + 2
    with pytest.warns(category) as caught:
        estimator.fit(X)
    assert (caught[0].filename, caught[0].lineno) == (__file__, line)
