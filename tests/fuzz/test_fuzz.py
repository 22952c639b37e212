"""Random cases, damaged files, threads that share data and limits, and what the fuzzer has found."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from tests.fuzz.cases import SELECTORS, Case, case_number, fifth, run
from tests.fuzz.damage import WRITERS, flip_bytes
from tests.fuzz.data import unsorted_csr
from ufselect import AutoSelector, LaplacianScore, MaxVariance, PCALeverage


@pytest.mark.parametrize("number", fifth(range(500)))
def test_random_cases(number):
    """A case also freezes and hashes what is given, so that no selector changes it."""
    run(case_number(0, number))


@pytest.mark.parametrize("name", WRITERS)
def test_flipped_bytes(name, tmp_path):
    """Bytes changed at random in a file of every format: one sentence with the file's name, or a table."""
    try:
        flip_bytes(name, len(fifth(range(25))), 1, tmp_path)
    except ImportError as error:
        pytest.skip(f"needs {error.name}")


def test_threads_share_a_matrix_that_is_not_canonical():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 60)) < 0.3, rng.standard_normal((200, 60)), 0.0)
    shared = unsorted_csr(X)
    before = (shared.data.copy(), shared.indices.copy(), shared.indptr.copy())
    expected = PCALeverage(10, n_components=3).fit(sparse.csr_array(X)).get_support()
    with ThreadPoolExecutor(4) as pool:
        fits = [pool.submit(PCALeverage(10, n_components=3).fit, shared) for _ in range(20)]
        assert all(np.array_equal(fit.result().get_support(), expected) for fit in fits)
    for old, new in zip(before, (shared.data, shared.indices, shared.indptr), strict=True):
        np.testing.assert_array_equal(old, new)


def process_limits() -> tuple:
    threads = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return threads, [(action, category) for action, _, category, *_ in warnings.filters]


@pytest.fixture
def two_blas_threads():
    """Have a number of threads that a limit changes; the tests start with one."""
    with threadpool_limits(2, "blas"):
        yield


@pytest.mark.usefixtures("two_blas_threads")
def test_fits_in_overlapping_threads_leave_the_process_as_it_was():
    X = np.random.default_rng(0).standard_normal((30, 8))
    before = process_limits()
    with ThreadPoolExecutor(3) as pool:
        selectors = [
            AutoSelector(2, goal="clusters", candidates=[PCALeverage(), MaxVariance()], random_state=0)
            for _ in range(6)
        ]
        fits = [pool.submit(selector.fit, X) for selector in selectors]
        supports = [fit.result().support_ for fit in fits]
    assert all(np.array_equal(support, supports[0]) for support in supports)
    assert process_limits() == before


def with_components():
    return [name for name in SELECTORS if "n_components" in SELECTORS[name]().get_params()]


@pytest.mark.parametrize(
    ("kind", "selector", "n_components"),
    fifth(product(["identity", "orthonormal"], with_components(), [1, 3, 5])),
)
def test_equal_eigenvalues(kind, selector, n_components):
    parameters = {"n_features_to_select": 5, "n_components": n_components}
    if "random_state" in SELECTORS[selector]().get_params():
        parameters["random_state"] = 0
    assert run(Case(selector, kind, "rows", (12, 6), 0, parameters)) == "fitted"


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_exhausted_krylov_spaces_restart_alike():
    """Rank 3 of 150 features: Lanczos runs out of directions and draws new ones."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.integers(-2, 3, (200, 3)) @ rng.integers(-2, 3, (3, 150)), dtype=np.float64)
    first = PCALeverage(10).fit(X)
    for _ in range(5):
        np.testing.assert_array_equal(PCALeverage(10).fit(X).scores_, first.scores_)


@pytest.mark.parametrize(
    "case",
    [
        Case("SPCAPSD", "constant", "csc", (20, 140), 0, {"n_features_to_select": 3}),
        Case("DSCOFS", "constant", "rows", (30, 40), 0, {"n_features_to_select": 2, "guide": "graph"}),
        Case("SPCAPSD", "normal", "rows", (20, 6), 0, {"n_features_to_select": 3, "gamma": 1e300}),
        Case("SPCAFS", "normal", "rows", (20, 6), 0, {"n_features_to_select": 3, "gamma": 1e300}),
        Case("DSCOFS", "normal", "rows", (20, 6), 0, {"n_features_to_select": 3, "tau": 1e300}),
        Case("DSCOFS", "normal", "float32", (20, 6), 0, {"n_features_to_select": 3, "mu_row": 1e30}),
        Case("RNE", "normal", "rows", (20, 6), 0, {"n_features_to_select": 3, "n_components": 10**6}),
    ],
    ids=lambda case: f"{case.selector} {case.data}",
)
def test_found_by_the_fuzzer(case):
    assert run(case) == "refused"


@pytest.mark.parametrize(
    "case",
    [
        Case("SPEC", "least", "csc", (12, 1), 1310404570, {}),
        Case("NDFS", "tiny", "list", (5, 1), 1224989483, {"alpha": 1e6, "gamma": 1e-300}),
        Case("NDFS", "offset", "unsorted csr", (60, 40), 1690494682, {"tol": 0.0}),
        Case("MCFS", "subnormal", "coo", (40, 12), 459609404, {}),
        Case("MCFS", "near overflow", "bsr", (5, 2), 1688102615, {"bandwidth": 1e150}),
    ],
    ids=lambda case: f"{case.selector} {case.data}",
)
def test_found_by_the_fuzzer_and_fitted_since(case):
    seed = {"random_state": 0} if SELECTORS[case.selector].is_stochastic else {}
    assert run(replace(case, parameters={"n_features_to_select": 1, **case.parameters, **seed})) == "fitted"


def test_duplicates_whose_sum_is_not_finite_are_refused():
    entries = (np.array([1.5e308, 1.5e308, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3]))
    with pytest.raises(ValueError, match="infinity"):
        LaplacianScore(1, n_neighbors=1).fit(sparse.csr_array(entries, shape=(2, 2)))
