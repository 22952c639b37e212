"""The points among which labels choose: all of a space, thinned only where it is too large."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from ufselect import DSCOFS, RNE, UDFS
from ufselect.compare.methods import Method, parameter_points, published_points

PROBLEM = SimpleNamespace(n_components=3, n_classes=3, counts=(10, 20), X=np.zeros((5, 60)))
REGULARISERS = tuple(10.0**power for power in range(-6, 7, 2))


def test_the_space_of_dscofs_is_the_one_that_pages_describe():
    points = parameter_points(DSCOFS, PROBLEM, max_points=100)
    assert len({str(point) for point in points}) == len(points) == 96
    found = {name: {point[name] for point in points} for name in ("mu_entry", "mu_row", "entry_sparsity")}
    assert found == {"mu_entry": {0.1, 1.0}, "mu_row": {0.01, 0.1}, "entry_sparsity": {0.02, 0.05, 0.3}}
    starts = {(point["init"], point.get("random_state")) for point in points}
    assert starts == {("pca", None), *(("random", seed) for seed in range(7))}


def test_the_published_grid_of_dscofs_is_that_of_the_paper():
    points = published_points(DSCOFS, PROBLEM)
    shares = [round(0.1 * k, 1) for k in range(1, 10)]
    assert [(p["mu_entry"], p["mu_row"], p["entry_sparsity"]) for p in points] == list(
        itertools.product(REGULARISERS, REGULARISERS, shares)
    )
    assert len(points) == 441
    assert {(p["penalty_scale"], p["init"], p["n_components"]) for p in points} == {("absolute", "random", 3)}
    assert "random_state" not in points[0]  # the start is not for labels to choose
    assert DSCOFS().n_init == 10


def test_udfs_tunes_both_regularisers():
    points = parameter_points(UDFS, PROBLEM, max_points=100)
    assert [(p["reg"], p["gamma"]) for p in points] == list(itertools.product(REGULARISERS, REGULARISERS))


def test_one_fit_of_rne_serves_all_counts():
    points = parameter_points(RNE, PROBLEM, max_points=100)
    assert [(p["alpha"], p["n_components"]) for p in points] == [(alpha, 20) for alpha in REGULARISERS]
    assert Method("RNE", "RNE", RNE, tuple(points)).is_nested
    assert not Method("RNE", "RNE", RNE, tuple(published_points(UDFS, PROBLEM))).is_nested


@pytest.mark.parametrize(
    ("n_features", "n_components", "expected"),
    [(617, 26, {0.02, 0.05, 0.3}), (9, 2, {0.3}), (21, 4, {0.05, 0.3}), (3, 2, {2})],
)
def test_every_share_keeps_an_entry_a_component(n_features, n_components, expected):
    problem = SimpleNamespace(n_components=n_components, n_classes=2, X=np.zeros((5, n_features)))
    points = parameter_points(DSCOFS, problem, max_points=100)
    assert {point["entry_sparsity"] for point in points} == expected


def test_a_space_beyond_the_budget_is_thinned_to_it():
    whole = parameter_points(DSCOFS, PROBLEM, max_points=100)
    thinned = parameter_points(DSCOFS, PROBLEM, max_points=10)
    assert len(thinned) == 10
    assert all(point in whole for point in thinned)
    assert len({str(point) for point in thinned}) == 10
