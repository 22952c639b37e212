"""Shapes among noise: the published points, valid entries and one number of components."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.datasets import make_noisy_shapes
from ufselect.evaluation.methods import choose_methods
from ufselect.evaluation.protocol import Protocol
from ufselect.reproduction import synthetic
from ufselect.reproduction.paper_grid import paper_grid
from ufselect.reproduction.synthetic import ShapeResult, ShapeTask, shape_draw, shapes_table


@pytest.fixture
def banana(tmp_path, monkeypatch):
    """A stand-in for the published file: 600 points of each class, told apart by their integers."""
    from sklearn.utils import Bunch

    data = np.column_stack([np.arange(1200.0), np.arange(1200.0) ** 0.5])
    bunch = Bunch(data=data, target=np.repeat([1, 2], 600))
    monkeypatch.setattr(synthetic, "local_file", lambda name, entry: tmp_path)
    monkeypatch.setattr(synthetic, "load_dataset", lambda name: bunch)
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
    monkeypatch.setattr(synthetic, "local_file", lambda name, entry: None)
    np.testing.assert_array_equal(shape_draw("banana", 3)[0], make_noisy_shapes("banana", random_state=3)[0])
    assert not synthetic.is_published("banana")
    assert synthetic.is_published("dartboard")


def test_no_point_of_our_space_is_refused_and_those_of_the_paper_are_counted(banana):
    problem = synthetic._problem("banana")
    ours = next(m for m in choose_methods(["DSCOFS"], "oracle", problem, Protocol()) if m.key == "DSCOFS")
    assert synthetic._solved(ShapeTask("banana", ours, 1, True))["refused"] == 0
    grid = paper_grid(problem, n_starts=1)
    few = tuple(p for p in grid.points if p["mu_entry"] == p["mu_row"] == 1.0)
    found = synthetic._solved(
        ShapeTask("banana", type(grid)(grid.key, grid.label, grid.selector, few), 1, True)
    )
    assert found["refused"] == 1  # one entry for two components where a tenth of eighteen is kept


def test_components_are_as_many_in_all_modes():
    tasks = list(synthetic._tasks("dartboard", ["DSCOFS"], 1, True, _runner()))
    points = [p for task in tasks if task.method.key.startswith("DSCOFS") for p in task.method.points]
    assert {point["n_components"] for point in points} == {4}
    assert {task.method.key for task in tasks} >= {"DSCOFS", "DSCOFSPaperGrid"}


def _runner():
    from types import SimpleNamespace

    return SimpleNamespace(protocol=Protocol())


def test_the_table_says_what_the_counts_are(banana):
    results = [ShapeResult(kind, "DSCOFS", "DSCOFS", 20, 9.0, 10.0, 11.0, 49) for kind in synthetic.KINDS] + [
        ShapeResult(kind, "UDFS", "UDFS", 20, 1.0, 2.0, None, 0) for kind in synthetic.KINDS
    ]
    table = shapes_table(results)
    assert table.body == (("DSCOFS", *["9 / 10 / 11"] * 3), ("UDFS", *["1 / 2"] * 3))
    assert "49 keep fewer entries" in table.title
    assert "published file" in table.title
