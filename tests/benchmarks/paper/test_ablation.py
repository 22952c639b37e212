"""The ablation: equal budgets, the best point of each model, and the features that they share."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from benchmarks.paper.ablation import ablation, ablation_table, expected_maximum
from benchmarks.paper.methods import PAPER_GRID, PAPER_ROWS_ONLY, ROWS_ONLY, paper_grid, rows_only
from benchmarks.paper.race import RaceOutcome
from tests.benchmarks.paper.rows import make_row

from ufselect.compare.methods import Protocol, choose_methods, make_problem

FIRST = {"init": "pca", "mu_entry": 0.1, "mu_row": 0.01, "entry_sparsity": 0.1}
SECOND = {**FIRST, "mu_row": 0.1}
FIRST_ROWS = {"init": "pca", "mu_row": 0.01, "entry_sparsity": None}
SECOND_ROWS = {**FIRST_ROWS, "mu_row": 0.1}


def row(method, params, acc, features=(0, 1, 2, 3), start=None):
    runs, nmi_runs = [acc - 1, acc + 1], [acc + 5, acc + 5]
    return make_row(runs, method, 4, start, nmi_runs, features=tuple(features), **params)


def outcome(*rows):
    return RaceOutcome(list(rows), list(rows), {})


def test_fsr_compares_best_points_and_twins():
    found = ablation(
        outcome(
            row("DSCOFS", FIRST, 60.0, [0, 1, 2, 3]),
            row("DSCOFS", SECOND, 70.0, [0, 1, 2, 9]),
            row(ROWS_ONLY, FIRST_ROWS, 65.0, [0, 1, 2, 9]),
            row(ROWS_ONLY, SECOND_ROWS, 50.0, [0, 5, 6, 7]),
        )
    )
    assert (found["acc_without"], found["acc_with"]) == (65.0, 70.0)
    assert (found["nmi_without"], found["nmi_with"]) == (70.0, 75.0)
    assert found["fsr"] == 100.0  # of SECOND with the best point of the other model
    assert found["fsr_twin"] == 25.0  # of SECOND with itself without the constraint
    assert (found["n_without"], found["n_with"]) == (2, 2)
    assert found["acc_with_as_few"] == 70.0
    assert found["noise"] == pytest.approx(2 * np.sqrt(1 + 1))  # two means of two runs, variance 2 each


def test_starts_are_compared_with_themselves():
    rows = [
        row(PAPER_GRID, FIRST, 60.0, (0, 1, 2, 3), 0),
        row(PAPER_GRID, FIRST, 70.0, (4, 5, 6, 7), 1),
        row(PAPER_ROWS_ONLY, FIRST_ROWS, 50.0, (0, 1, 8, 9), 0),
        row(PAPER_ROWS_ONLY, FIRST_ROWS, 60.0, (4, 5, 6, 7), 1),
    ]
    found = ablation(outcome(*rows), PAPER_GRID)
    assert (found["acc_with"], found["acc_without"]) == (65.0, 55.0)
    assert found["fsr"] == found["fsr_twin"] == 75.0


def test_both_models_have_as_many_points():
    rng = np.random.default_rng(0)
    problem = make_problem("p", rng.standard_normal((30, 60)), np.arange(30) % 3, [10])
    method = next(m for m in choose_methods(["DSCOFS"], "oracle", problem, Protocol()) if m.key == "DSCOFS")
    without = rows_only(method)
    assert len({str(point) for point in without.points}) == len(without.points) == len(method.points) == 96
    assert all(point["entry_sparsity"] is None and "mu_entry" not in point for point in without.points)
    for point in method.points:
        twin = {name: value for name, value in point.items() if name != "mu_entry"}
        assert {**twin, "entry_sparsity": None} in without.points
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
    rows = [row("DSCOFS", {**FIRST, "mu_entry": mu}, 60.0 + mu) for mu in range(4)]
    found = ablation(outcome(*rows, row(ROWS_ONLY, FIRST_ROWS, 61.0)))
    assert found["acc_with"] == 63.0
    assert found["acc_with_as_few"] == pytest.approx(61.5)  # the mean of the four: one point is drawn
    table = ablation_table({"coil20": found}, ["coil20", "mstar_soc_cnn"])
    assert "1 and 4 points" in table.title
    assert "raises ACC on 1 of 1 sets, beyond noise on 0" in table.title
    assert table.body[0][2].startswith("+2.00 ± 2.83")
    assert table.body[1][1] == "not available"
