"""Shapes among noise: the published points, valid entries and one number of components."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.datasets import make_noisy_shapes
from ufselect.evaluation.fitting import FitTask, fit_tasks, run_fit
from ufselect.evaluation.methods import choose_methods
from ufselect.evaluation.protocol import Protocol
from ufselect.reproduction import synthetic
from ufselect.reproduction.paper_grid import paper_grid
from ufselect.reproduction.synthetic import ShapeResult, feasible_grid, shape_draw, shapes_table
from ufselect.selectors import DSCOFS


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


def test_no_point_is_refused_and_those_that_would_be_are_left_out(banana):
    problem = synthetic._problem("banana")
    ours = next(m for m in choose_methods(["DSCOFS"], "oracle", problem, Protocol()) if m.key == "DSCOFS")
    X, _ = shape_draw("banana", 0)
    rows = [row for task in fit_tasks(ours, (2,), 9) for row in run_fit(X, "", task)]
    assert {row.status for row in rows} == {"ok"}
    grid = feasible_grid(problem)
    assert len(grid.points) == 441 - 49
    assert min(point["entry_sparsity"] for point in grid.points) == 0.2  # a tenth of 18 is one entry
    left_out = set(paper_grid(problem).points) - set(grid.points)
    (bad,) = run_fit(X, "", FitTask("DSCOFS", DSCOFS, (min(left_out, key=str),), (2,), 0, "v"))
    assert bad.status == "failed"


def test_components_are_as_many_in_all_modes():
    tasks = list(synthetic._tasks("dartboard", ["DSCOFS"], 1, True, _runner()))
    points = [p for task in tasks if task.method.key.startswith("DSCOFS") for p in task.method.points]
    assert {point["n_components"] for point in points} == {4}
    assert {task.method.key for task in tasks} >= {"DSCOFS", "DSCOFSPaperGrid"}


def _runner():
    from types import SimpleNamespace

    return SimpleNamespace(protocol=Protocol())


def test_the_table_says_what_the_counts_are(banana):
    results = [ShapeResult(kind, "DSCOFS", "DSCOFS", 20, 9.0, 10.0, 11.0) for kind in synthetic.KINDS] + [
        ShapeResult(kind, "UDFS", "UDFS", 20, 1.0, 2.0, None) for kind in synthetic.KINDS
    ]
    table = shapes_table(results)
    assert table.body == (("DSCOFS", *["9 / 10 / 11"] * 3), ("UDFS", *["1 / 2"] * 3))
    assert "keep fewer entries than components" in table.title
    assert "published file" in table.title
