"""The ablation: equal budgets, the best point of each model, and the features that they share."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from ufselect.evaluation.keys import Params
from ufselect.evaluation.methods import choose_methods
from ufselect.evaluation.protocol import Protocol, make_problem
from ufselect.evaluation.rows import Row
from ufselect.reproduction.ablation import (
    PAPER_ROWS_ONLY,
    ROWS_ONLY,
    ablation,
    ablation_table,
    expected_maximum,
    rows_only,
)
from ufselect.reproduction.paper_grid import PAPER_GRID, paper_grid

FIRST = Params({"init": "pca", "mu_entry": 0.1, "mu_row": 0.01, "entry_sparsity": 0.1})
SECOND = Params({"init": "pca", "mu_entry": 0.1, "mu_row": 0.1, "entry_sparsity": 0.1})
FIRST_ROWS = Params({"init": "pca", "mu_row": 0.01, "entry_sparsity": None})
SECOND_ROWS = Params({"init": "pca", "mu_row": 0.1, "entry_sparsity": None})


def row(method, params, acc, start=None):
    runs = (acc - 1, acc + 1)
    return Row(
        dataset="toy", method=method, label=method, params=params, n_features=4, n_starts=1, n_runs=2,
        acc_mean=acc, acc_std=1.0, acc_start_std=0.0, nmi_mean=acc + 5, nmi_std=1.0, nmi_start_std=0.0,
        seconds=0.1, subsets=("s",), acc_runs=runs, nmi_runs=runs, note="", start=start,
    )  # fmt: skip


def outcome(rows, subsets):
    return SimpleNamespace(rows=rows, screened=rows, subsets=subsets)


def test_fsr_compares_best_points_and_twins():
    found = ablation(
        outcome(
            [
                row("DSCOFS", FIRST, 60.0),
                row("DSCOFS", SECOND, 70.0),
                row(ROWS_ONLY, FIRST_ROWS, 65.0),
                row(ROWS_ONLY, SECOND_ROWS, 50.0),
            ],
            {
                ("DSCOFS", FIRST, 4, 0): np.array([0, 1, 2, 3]),
                ("DSCOFS", SECOND, 4, 0): np.array([0, 1, 2, 9]),
                (ROWS_ONLY, FIRST_ROWS, 4, 0): np.array([0, 1, 2, 9]),
                (ROWS_ONLY, SECOND_ROWS, 4, 0): np.array([0, 5, 6, 7]),
            },
        )
    )
    assert (found.acc_without, found.acc_with) == (65.0, 70.0)
    assert (found.nmi_without, found.nmi_with) == (70.0, 75.0)
    assert found.fsr == 100.0  # of SECOND with the best point of the other model
    assert found.fsr_twin == 25.0  # of SECOND with itself without the constraint
    assert found.n_features == 4
    assert (found.n_without, found.n_with) == (2, 2)
    assert found.acc_with_as_few == 70.0
    assert found.noise == pytest.approx(2 * np.sqrt(1 + 1))  # two means of two runs, variance 2 each


def test_starts_are_compared_with_themselves():
    points = {PAPER_GRID: FIRST, PAPER_ROWS_ONLY: FIRST_ROWS}
    rows = [
        row(m, p, acc + 10 * s, s)
        for (m, p), acc in zip(points.items(), (60.0, 50.0), strict=True)
        for s in (0, 1)
    ]
    subsets = {
        (PAPER_GRID, FIRST, 4, 0): (0, 1, 2, 3),
        (PAPER_GRID, FIRST, 4, 1): (4, 5, 6, 7),
        (PAPER_ROWS_ONLY, FIRST_ROWS, 4, 0): (0, 1, 8, 9),
        (PAPER_ROWS_ONLY, FIRST_ROWS, 4, 1): (4, 5, 6, 7),
    }
    found = ablation(outcome(rows, {k: np.array(v) for k, v in subsets.items()}), PAPER_GRID)
    assert (found.acc_with, found.acc_without) == (65.0, 55.0)
    assert found.fsr == found.fsr_twin == 75.0


def test_both_models_have_as_many_points():
    rng = np.random.default_rng(0)
    problem = make_problem("p", rng.standard_normal((30, 60)), np.arange(30) % 3, [10])
    method = next(m for m in choose_methods(["DSCOFS"], "oracle", problem, Protocol()) if m.key == "DSCOFS")
    without = rows_only(method)
    assert len(without.points) == len(set(without.points)) == len(method.points) == 96
    assert all(point["entry_sparsity"] is None and "mu_entry" not in point for point in without.points)
    twins = {
        Params({k: v for k, v in p.items() if k != "mu_entry"} | {"entry_sparsity": None})
        for p in method.points
    }
    assert twins <= set(without.points)
    grid = paper_grid(problem)
    assert len(grid.points) == 441
    assert len(rows_only(grid).points) == 7
    assert rows_only(grid).starts_apart
    assert rows_only(grid).n_seeds == grid.n_seeds


@pytest.mark.parametrize("n_drawn", [1, 2, 3, 5])
def test_expected_maximum_is_that_of_all_draws(n_drawn):
    values = [3.0, 1.0, 4.0, 1.5, 9.0]
    brute = np.mean([max(draw) for draw in itertools.combinations(values, n_drawn)])
    assert expected_maximum(values, n_drawn) == pytest.approx(brute)


def test_fewer_points_lower_the_expected_best():
    rows = [row("DSCOFS", Params({**FIRST, "mu_entry": mu}), 60.0 + mu) for mu in range(4)]
    rows.append(row(ROWS_ONLY, FIRST_ROWS, 61.0))
    subsets = {("DSCOFS", r.params, 4, 0): np.arange(4) for r in rows[:-1]}
    found = ablation(outcome(rows, {**subsets, (ROWS_ONLY, FIRST_ROWS, 4, 0): np.arange(4)}))
    assert found.acc_with == 63.0
    assert found.acc_with_as_few == pytest.approx(61.5)  # the mean of the four: one point is drawn
    table = ablation_table({"coil20": found}, ["coil20", "mstar_soc_cnn"])
    assert "1 and 4 points" in table.title
    assert "raises ACC on 1 of 1 sets, by more than noise on 0" in table.title
    assert table.body[0][2].startswith("+2.00 ± 2.83")
    assert table.body[1][1] == "not available"
