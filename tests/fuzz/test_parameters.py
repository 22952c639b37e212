"""Extreme, wrong and wasteful parameters: refused by name, or right, and never without end."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.cases import SELECTORS, Case, fifth, run
from tests.fuzz.data import DATA
from ufselect import DSCOFS, SPCAFS, UDFS, DOptimalLeverage, MaxVariance, PCALeverage

TALL, WIDE = (np.random.default_rng(0).standard_normal(shape) for shape in ((40, 6), (6, 40)))
KINDS = sorted(set(DATA) - {"with NaN", "with infinity"})


def with_parameter(name):
    return [selector for selector in SELECTORS if name in SELECTORS[selector]().get_params()]


def run_with(selector, shape, **parameters):
    known = SELECTORS[selector]().get_params()
    if "random_state" in known:
        parameters.setdefault("random_state", 0)
    if "candidates" in known:
        parameters["candidates"] = [PCALeverage(), MaxVariance()]
    return run(Case(selector, "normal", "rows", shape, 0, {"n_features_to_select": 2, **parameters}))


@pytest.mark.parametrize("X", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("gamma", [1e-300, 1e-20, 1e-15, 1e150, 1e300])
def test_weights_out_of_proportion_are_refused_by_name(X, gamma):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"^gamma=.* out of range .* use a value between"):
            UDFS(2, gamma=gamma).fit(X)
        if gamma > 1:
            with pytest.raises(ValueError, match=r"^gamma="):
                SPCAFS(2, gamma=gamma).fit(X)
            with pytest.raises(ValueError, match=r"^mu_row="):
                DSCOFS(2, mu_row=gamma).fit(X)
            with pytest.raises(ValueError, match=r"^mu_entry="):
                DSCOFS(2, mu_entry=gamma).fit(X)
        else:
            with pytest.raises(ValueError, match="'ridge' parameter"):
                DOptimalLeverage(2, ridge=gamma).fit(X)


@pytest.mark.parametrize("selector", with_parameter("n_clusters"))
@pytest.mark.parametrize("n_samples", [3, 6])
def test_as_many_clusters_as_samples(selector, n_samples):
    run_with(selector, (n_samples, 8), n_clusters=n_samples)


@pytest.mark.parametrize("selector", with_parameter("n_neighbors"))
def test_all_others_as_neighbours(selector):
    assert run_with(selector, (12, 6), n_neighbors=11) == "fitted"


BAD = {
    "random_state": ["abc", -1, 1.5],
    "n_jobs": [0, "x", 1.5],
    "max_iter": [-1, 1.5],
    "tol": [-1.0],
    "n_neighbors": [0],
    "n_components": [0],
    "n_clusters": [0, "few"],
}


@pytest.mark.parametrize(
    ("selector", "name", "bad"),
    [(each, name, bad) for name in BAD for each in with_parameter(name) for bad in BAD[name]],
)
def test_wrong_values_of_shared_parameters_are_refused_by_name(selector, name, bad):
    with pytest.raises(ValueError, match=f"The '{name}' parameter"):
        SELECTORS[selector](2, **{name: bad}).fit(TALL)


@st.composite
def reweighted_cases(draw):
    """Draw data of every kind and a selector with weights over the whole range."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.sampled_from([2, 3, 5, 12, 20, 30])), draw(st.sampled_from([1, 2, 3, 6, 12, 40]))
    with np.errstate(all="ignore"):
        X = DATA[draw(st.sampled_from(KINDS))](rng, *shape)
    options = {
        "gamma": 10.0 ** draw(st.sampled_from([-12, -6, -2, 0, 2, 6, 12, 50, 99])),
        "tol": draw(st.sampled_from([0.0, 1e-6])),
        "max_iter": draw(st.sampled_from([5, 50])),
    }
    if draw(st.booleans()):
        return SPCAFS(1, p=draw(st.sampled_from([1e-3, 0.1, 0.5, 1.0, 1.5, 2.0])), **options), X
    reg = 10.0 ** draw(st.sampled_from([-300, -12, -6, 0, 6]))
    return UDFS(1, reg=reg, n_neighbors=draw(st.sampled_from([1, 3, 5])), **options), X


@given(reweighted_cases())
@settings(max_examples=len(fifth(range(300))))
def test_objectives_of_reweighted_methods_never_rise(case):
    selector, X = case
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            selector.fit(X)
        except np.linalg.LinAlgError:
            raise
        except ValueError:
            return
    history = selector.objective_history_
    if np.all(np.isfinite(history)):  # squares of the largest data are not
        assert np.all(np.diff(history) <= 0)
