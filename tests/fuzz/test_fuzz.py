"""Random cases, the input left alone by every selector, threads that share data, extreme units."""

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
from tests.fuzz.data import CONTAINERS, unsorted_csr
from ufselect import AutoSelector, MaxVariance, PCALeverage
from ufselect._utils.threads import one_blas_thread
from ufselect._utils.validation import warn_user, without_warnings


@pytest.mark.parametrize("number", fifth(range(500)))
def test_random_cases(number):
    run(case_number(0, number))


@pytest.mark.parametrize(("selector", "container"), fifth(product(SELECTORS, CONTAINERS)))
def test_input_is_never_changed(selector, container):
    """The case freezes and hashes what is given."""
    parameters = {"n_features_to_select": 2}
    if selector == "AutoSelector":
        parameters["candidates"] = [PCALeverage(), MaxVariance()]
    if "random_state" in SELECTORS[selector]().get_params():
        parameters["random_state"] = 0
    run(Case(selector, "thin", container, (12, 6), 0, parameters))


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


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def two_blas_threads():
    """Have a number of threads that a limit changes; the tests start with one."""
    with threadpool_limits(2, "blas"):
        yield


@pytest.mark.usefixtures("two_blas_threads")
def test_overlapping_thread_limits_are_all_undone():
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) <= {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_warnings_are_muted_in_one_thread_only():
    with (
        ThreadPoolExecutor(1) as pool,
        without_warnings(UserWarning),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        warn_user("muted", UserWarning)
        pool.submit(warn_user, "heard", UserWarning).result()
    assert [str(warning.message) for warning in caught] == ["heard"]


def filter_rules() -> list[tuple]:
    return [(action, category) for action, _, category, *_ in warnings.filters]


@pytest.mark.usefixtures("two_blas_threads")
def test_fits_in_overlapping_threads_leave_the_process_as_it_was():
    X = np.random.default_rng(0).standard_normal((30, 8))
    filters, threads = filter_rules(), blas_threads()
    with ThreadPoolExecutor(3) as pool:
        selectors = [
            AutoSelector(2, goal="clusters", candidates=[PCALeverage(), MaxVariance()], random_state=0)
            for _ in range(6)
        ]
        fits = [pool.submit(selector.fit, X) for selector in selectors]
        supports = [fit.result().support_ for fit in fits]
    assert all(np.array_equal(support, supports[0]) for support in supports)
    assert filter_rules() == filters
    assert blas_threads() == threads


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
        Case(
            "MCFS",
            "near overflow",
            "bsr",
            (5, 2),
            1688102615,
            {"bandwidth": 1e150},
        ),
    ],
    ids=lambda case: f"{case.selector} {case.data}",
)
def test_found_by_the_fuzzer_and_fitted_since(case):
    seed = {"random_state": 0} if SELECTORS[case.selector].is_stochastic else {}
    assert run(replace(case, parameters={"n_features_to_select": 1, **case.parameters, **seed})) == "fitted"
