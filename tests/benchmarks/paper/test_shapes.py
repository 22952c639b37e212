"""Shapes among noise: the published points, valid entries and one number of components."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.paper.methods import paper_grid
from benchmarks.paper.shapes import feasible_grid, shape_draw, shape_methods, shape_problem, shapes_table

from benchmarks.paper import shapes
from ufselect import DSCOFS
from ufselect.compare import Protocol
from ufselect.datasets import make_noisy_shapes


@pytest.fixture
def banana(tmp_path, monkeypatch):
    """A stand-in for the published file: 600 points of each class, told apart by their integers."""
    from sklearn.utils import Bunch

    data = np.column_stack([np.arange(1200.0), np.arange(1200.0) ** 0.5])
    bunch = Bunch(data=data, target=np.repeat([1, 2], 600))
    monkeypatch.setattr(shapes, "local_file", lambda name, entry: tmp_path)
    monkeypatch.setattr(shapes, "load_dataset", lambda name: bunch)
    return data


def test_the_published_banana_is_used_where_it_is_at_hand(banana):
    X, y = shape_draw("banana", 0)
    assert X.shape == (1000, 9)
    np.testing.assert_array_equal(np.bincount(y), [500, 500])
    rows = X[:, 3].astype(int)
    np.testing.assert_array_equal(banana[rows], X[:, 3:5])
    assert len(set(rows)) == 1000
    np.testing.assert_array_equal(rows < 600, y == 0)
    again, _ = shape_draw("banana", 1)
    assert set(again[:, 3]) != set(X[:, 3])


def test_noise_takes_turns_in_the_moments_of_the_true_features(banana):
    X, _ = shape_draw("banana", 0)
    noise = X[:, [0, 1, 2, 5, 6, 7, 8]]
    for place, column in enumerate(noise.T):
        true = X[:, 3 + place % 2]
        assert column.mean() == pytest.approx(true.mean(), abs=0.2 * true.std())
        assert column.std() == pytest.approx(true.std(), rel=0.1)


def test_points_are_generated_where_it_is_not(monkeypatch):
    monkeypatch.setattr(shapes, "local_file", lambda name, entry: None)
    np.testing.assert_array_equal(shape_draw("banana", 3)[0], make_noisy_shapes("banana", random_state=3)[0])
    assert not shapes.is_published("banana")
    assert shapes.is_published("dartboard")


@pytest.mark.filterwarnings("ignore:The entry constraint")
def test_no_point_is_refused_and_those_that_would_be_are_left_out(banana):
    problem, (X, _) = shape_problem("banana"), shape_draw("banana", 0)
    ours = shape_methods("banana", ["DSCOFS"], True, Protocol(max_points=10))["DSCOFS", "oracle"]
    for point in ours.points:
        assert DSCOFS(2, **point).fit(X).support_.sum() == 2
    grid = feasible_grid(problem)
    assert len(grid.points) == 441 - 49
    assert min(point["entry_sparsity"] for point in grid.points) == 0.2  # a tenth of 18 is one entry
    left_out = next(point for point in paper_grid(problem).points if point not in grid.points)
    with pytest.raises(ValueError, match="entry_sparsity"):
        DSCOFS(2, **left_out).fit(X)


def test_components_are_as_many_in_all_modes():
    methods = shape_methods("dartboard", ["DSCOFS"], True, Protocol())
    of_dscofs = {how: method for (key, how), method in methods.items() if key == "DSCOFS"}
    assert set(of_dscofs) == {"fixed", "oracle", "paper"}
    assert {p["n_components"] for method in of_dscofs.values() for p in method.points} == {4}


def test_the_table_says_what_the_counts_are(banana):
    results = [
        {
            "kind": kind,
            "method": name,
            "label": name,
            "n_draws": 20,
            "fixed": 1.0,
            "oracle": 2.0,
            "paper": paper,
        }
        for name, paper in (("DSCOFS", 11.0), ("UDFS", None))
        for kind in shapes.KINDS
    ]
    table = shapes_table(results)
    assert table.body == (("DSCOFS", *["1 / 2 / 11"] * 3), ("UDFS", *["1 / 2"] * 3))
    assert "fewer entries than components" in table.title
    assert "published file" in table.title
