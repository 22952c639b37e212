"""What a method's formula ignores does not change its selection: order, unit, shift and signs, container."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.selectors import RUNNABLE, make

from ufselect import RNE, SPCAFS, SPCAPSD, SPEC, UDFS, RedundancyFilter
from ufselect.gram import GramAccumulator

# Weights in units of the data squared, which go with the unit of X.
IN_UNITS_OF_X = {"SPCAFS": ("gamma",), "SPCAPSD": ("gamma", "eta"), "UDFS": ("reg",)}
FEELS_SHIFTS, FEELS_SIGNS = ("RNE", "SPEC"), ("RNE",)
FEELS_ORDER = ("RNE", "RandomSubset", "TSFS")  # of the columns, for which they draw numbers in turn
NEEDS_ROWS_IN_ORDER = ("AutoSelector",)


def table(seed, kind):
    """Return numbers that single precision holds: many rows or columns, as many, clusters, zeros, ties."""
    rng = np.random.default_rng(seed)
    n, d = {"wide": (18, 36), "square": (24, 24), "blobs": (45, 12)}.get(kind, (48, 12))
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + 0.3 * rng.standard_normal((n, d))
    if kind == "blobs":
        X = np.repeat(4 * rng.standard_normal((3, d)), n // 3, axis=0) + rng.standard_normal((n, d))
    X = np.where(rng.random((n, d)) < 0.4, X, 0) if kind == "thin" else X
    X = rng.integers(0, 6, (n, d)) if kind == "integers" else X
    return X.astype(np.float32).astype(float)


def dask(X):
    return pytest.importorskip("dask.array").from_array(X, chunks=(len(X) // 3 + 1, -1))


def lazy(X):
    polars = pytest.importorskip("polars")
    return polars.LazyFrame({f"f{j}": X[:, j] for j in range(X.shape[1])})


CONTAINERS = {
    "array": np.asarray,
    "columns": np.asfortranarray,
    "csr": sparse.csr_array,
    "dask": dask,
    "lazy": lazy,
    "accumulator": lambda X: GramAccumulator().update(X[:7]).update(X[7:]),
}


def selected(selector, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return np.flatnonzero(selector.fit(X).support_).tolist()


@pytest.mark.parametrize("name", [name for name in RUNNABLE if name not in NEEDS_ROWS_IN_ORDER])
@settings(max_examples=6)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["tall", "wide", "square", "blobs", "thin", "integers"]),
    container=st.sampled_from([*CONTAINERS, "float32"]),
    unit=st.sampled_from([1.0, 1e-5, 1e5, 2.0**-1000, 1e-150, 1e150, 1e300]),
    moved=st.sets(st.sampled_from(["rows", "columns", "shift", "signs"])),
)
def test_order_unit_shift_signs_and_container_change_nothing(name, seed, kind, container, unit, moved):
    X, rng = table(seed, kind), np.random.default_rng(seed)
    parameters = {"n_features_to_select": 4} if name != "RedundancyFilter" else {}
    plain = make(name, **parameters)
    expected = selected(plain, X)
    weights = {each: float(plain.get_params()[each]) for each in IN_UNITS_OF_X.get(name, ())}
    unit = unit if not weights else min(max(unit, 1e-40), 1e150)
    X = X[rng.permutation(len(X))] if "rows" in moved else X
    is_permuted = "columns" in moved and name not in FEELS_ORDER
    columns = rng.permutation(X.shape[1]) if is_permuted else np.arange(X.shape[1])
    X = X[:, columns]
    X = X + rng.integers(-9, 9, X.shape[1]) if "shift" in moved and name not in FEELS_SHIFTS else X
    X = X * rng.choice([-1, 1], X.shape[1]) if "signs" in moved and name not in FEELS_SIGNS else X
    if container == "float32":
        X = X.astype(np.float32)
    else:
        X = CONTAINERS[container](X * unit)
        weights = {each: weight * unit**2 for each, weight in weights.items()}
    other = make(name, **parameters, **(weights if container != "float32" else {}))
    with suppress(TypeError):  # a container that the method does not take
        assert sorted(columns[selected(other, X)]) == expected


@pytest.mark.parametrize("name", [name for name in RUNNABLE if name not in NEEDS_ROWS_IN_ORDER])
@pytest.mark.parametrize("kind", ["wide", "square", "blobs", "thin", "integers"])
def test_the_order_of_rows_changes_nothing(name, kind):
    parameters = {"n_features_to_select": 4} if name != "RedundancyFilter" else {}
    X = table(1, kind)
    permuted = X[np.random.default_rng(1).permutation(len(X))]
    assert selected(make(name, **parameters), permuted) == selected(make(name, **parameters), X)


@pytest.mark.parametrize("selector", [SPEC(4), RNE(8, random_state=0)])
def test_pages_say_which_methods_feel_a_shift(selector):
    X = table(3, "wide")
    assert selected(selector, X + 9 * np.arange(36.0)) != selected(selector, X)
    assert "constant" in type(selector).__doc__


@pytest.mark.parametrize("move", [lambda X: X[:, ::-1], lambda X: X * (-1) ** np.arange(36)])
def test_the_page_of_rne_says_what_its_start_and_signs_change(move):
    X = table(3, "wide")
    selections = [selected(RNE(8, random_state=0), each) for each in (X, move(X))]
    assert selections[0] not in (selections[1], sorted(35 - np.array(selections[1])))
    assert "order of the features" in " ".join(RNE.__doc__.split())
    assert "sign of a feature" in " ".join(RNE.__doc__.split())


@pytest.mark.parametrize(("selector", "unit"), [(SPCAFS(4), 1e-2), (SPCAPSD(4), 1e2), (UDFS(4), 1e-2)])
def test_pages_say_which_methods_feel_the_unit_of_the_data(selector, unit):
    X = table(3, "wide")
    assert selected(selector, unit * X) != selected(selector, X)
    assert "in units of the data squared: in" in " ".join(type(selector).__doc__.split())


@pytest.mark.parametrize("container", ["dask", "accumulator"])
def test_a_block_without_variance_has_no_unit(container):
    """The last of 40 rows is a block of its own, or the first seven are equal."""
    X = 1e-300 * table(0, "tall")[:40]
    if container == "accumulator":
        X[:7] = X[0]
    assert selected(make("PCALeverage"), CONTAINERS[container](X)) == selected(make("PCALeverage"), X)


def test_pairs_with_missing_values_at_any_unit():
    X = table(1, "tall")
    X[::5, 2] = np.nan
    X[:, 3] = 2 * X[:, 4]
    for unit in (1e-300, 1.0, 1e200, 1e300):
        assert RedundancyFilter().fit(unit * X).representatives_[4] == 3
