"""What several methods do alike: equal columns, constant data, too few iterations, too many neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from tests.selectors import RUNNABLE, make

from ufselect import RNE, SOGFS, UDFS, LaplacianScore, MaxVariance
from ufselect.exceptions import ConstantDataError, DominatedByUnitsWarning

X = np.random.default_rng(0).standard_normal((40, 5)) @ np.random.default_rng(1).standard_normal((5, 15))
X += 0.3 * np.random.default_rng(2).standard_normal(X.shape)
NEED_VARIANCE = (
    "IFPCA",
    "InfFS",
    "MCFS",
    "NDFS",
    "RUFS",
    "SOGFS",
    "SPCAFS",
    "SPCAPSD",
    "SPEC",
    "TSFS",
    "UDFS",
)
# Others leave a copy out, or start from random numbers.
EVEN_HANDED = (
    *("BSUFS", "FSPCA", "IFPCA", "InfFS", "LaplacianScore", "MaxVariance", "NDFS", "PCALeverage"),
    *("RUFS", "SOGFS", "SPCAFS", "SPCAPSD", "SPEC", "UDFS"),
)
ITERATE = {
    "DSCOFS": {"tol": 1e-12},
    "RNE": {"tol": 0.0},
    "SPCAFS": {"tol": 0.0, "gamma": 30.0},
    "SPCAPSD": {"tol": 1e-12, "gamma": 50.0},
    "TSFS": {},
    "UDFS": {"tol": 0.0},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EVEN_HANDED)
def test_equal_columns_score_alike(name):
    scores = make(name, n_features_to_select=5).fit(np.column_stack([X, X[:, 0]])).scores_
    assert scores[0] == pytest.approx(scores[-1], rel=1e-6)


@pytest.mark.parametrize("name", [name for name in NEED_VARIANCE if name in RUNNABLE])
def test_constant_data_are_refused(name):
    with pytest.raises(ConstantDataError, match="constant"):
        make(name, n_features_to_select=1).fit(np.ones((12, 4)))


@pytest.mark.parametrize("name", [name for name in ITERATE if name in RUNNABLE])
def test_too_few_iterations_say_what_to_change(name):
    with pytest.warns(ConvergenceWarning, match=rf"^{name}: max_iter .* raise max_iter"):
        fitted = make(name, n_features_to_select=4, max_iter=1, **ITERATE[name]).fit(X)
    assert not fitted.converged_
    assert fitted.n_iter_ == 1


@pytest.mark.parametrize("selector", [LaplacianScore(2), RNE(2, random_state=0), UDFS(2, n_clusters=2)])
def test_too_many_neighbours_are_lowered_with_a_warning(selector):
    with pytest.warns(UserWarning, match="n_neighbors=5 is lowered to 3"):
        fitted = selector.fit(X[:4])
    assert fitted.n_neighbors_ == 3
    assert np.all(np.isfinite(fitted.scores_))


@pytest.mark.parametrize(("n_samples", "lowered"), [(6, 4), (3, 1), (2, 1)])
def test_neighbours_of_which_one_more_is_needed_are_lowered_further(n_samples, lowered):
    with pytest.warns(UserWarning, match=f"n_neighbors=5 is lowered to {lowered}"):
        fitted = SOGFS(2, n_clusters=1, n_components=1).fit(X[:n_samples])
    assert fitted.n_neighbors_ == lowered
    assert np.all(np.isfinite(fitted.scores_))


def test_units_are_warned_of_beside_missing_values():
    X = np.random.default_rng(0).standard_normal((90, 10)) * [100, *[1] * 9]
    X[::7, 3] = X[5, 0] = np.nan
    with pytest.warns(DominatedByUnitsWarning, match="Column 0 has 99.9 %"):
        MaxVariance(3).fit(X)


def test_missing_values_and_unfitted_selectors_get_one_clear_sentence():
    table = pytest.importorskip("pandas").DataFrame({"a": [1.0, np.nan, 3.0], "b": [2.0, 1.0, 5.0]})
    with pytest.raises(ValueError, match="LaplacianScore cannot handle missing values: fill them first"):
        LaplacianScore(1).fit(table)
    with pytest.raises(NotFittedError):  # without a warning on names before it
        MaxVariance(1).transform(table)
