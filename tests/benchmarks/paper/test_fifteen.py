"""Fifteen methods by the paper's protocol: ranks of stored and new rows, gaps in unfinished runs, curves."""

from __future__ import annotations

import numpy as np
from benchmarks.paper.fifteen import (
    NEWER,
    OF_THE_PAPER,
    cells,
    curve_tables,
    newer_tables,
    stored_accuracy,
)
from benchmarks.paper.printed import SEVEN
from benchmarks.paper.tables import EIGHT
from tests.compare.rows import make_row

from ufselect._registry import all_selectors
from ufselect.compare.protocol import make_problem


def rows_of(method, acc, sets):
    label = all_selectors()[method].label
    return [
        {**make_row([acc, acc + 2], method, dataset=name), "label": label, "mode": mode, "code": "0"}
        for name in sets
        for mode in ("oracle", "fixed")
    ]


def test_the_eight_are_run_as_the_paper_ran_them_and_the_newer_ones_by_both_modes():
    X, y = np.random.default_rng(0).standard_normal((30, 12)), np.arange(30) % 3
    found = list(cells(make_problem("toy", X, y, [4, 8]), [*NEWER, *EIGHT]))
    oracle = {method.key: method for mode, method in found if mode == "oracle"}
    assert {*OF_THE_PAPER, *NEWER, "AllFeatures", "RandomSubset", "PCALeverage"} == set(oracle)
    assert len(oracle["DSCOFSPaperGrid"].points) == 441
    assert oracle["LaplacianScoreT1"].points == ({"bandwidth": 1.0},)
    fixed = {method.key for mode, method in found if mode == "fixed"}
    assert fixed == {*NEWER, "AllFeatures", "RandomSubset", "PCALeverage"}


def test_methods_are_ranked_together_where_they_are_finished():
    rows = [row for method in NEWER[:-2] for row in rows_of(method, 10, SEVEN)]
    rows += rows_of("RUFS", 98, SEVEN[1:]) + rows_of("BSUFS", 99, SEVEN[:4])
    *_, ranks = newer_tables(rows, stored_accuracy())
    lines = {label: cells for label, *cells in ranks.body}
    assert "Mean ACC of 6 sets" in ranks.title
    assert lines["RUFS"] == ["newer", "99.00", "1.00", "no"]
    assert lines["BSUFS"] == ["newer", "not finished", "–", "–"]
    assert float(lines["DSCOFS"][2]) >= 2
    assert lines["MCFS"][:2] == ["newer", "11.00"]
    assert lines["MCFS"][3] == "yes"
    assert lines["Random, best of 100"][0] == "baseline"


def test_every_mode_and_metric_has_its_table_with_gaps():
    rows = [row for method in NEWER for row in rows_of(method, 10, SEVEN)]
    tables = {table.name: table for table in newer_tables(rows[2:], stored_accuracy())}
    assert set(tables) == {
        "newer_acc_oracle", "newer_nmi_oracle", "newer_acc_fixed", "newer_nmi_fixed", "newer_ranks",
    }  # fmt: skip
    first = tables["newer_acc_oracle"].body[0]
    assert (first[0], first[1], first[2], first[-1]) == ("IF-PCA", "–", "11.00 ± 1.00 (10)", "–")


def curve_rows(dataset, key, accuracies, start=None):
    """Return rows at 10, 20, …, 100 columns that have these accuracies."""
    return [
        {
            **make_row(acc, key, 10 * place, start, nmi_runs=[acc / 2], dataset=dataset),
            "mode": "oracle",
            "code": "0",
            "seconds_of_best": 0.25,
        }
        for place, acc in enumerate(accuracies, start=1)
    ]


def test_curves_have_the_best_mean_at_each_count_of_sets_that_are_finished():
    rising, falling = range(10, 20), range(30, 20, -1)
    rows = []
    for dataset in ("isolet", "usps"):
        rows += [{**curve_rows(dataset, "AllFeatures", [50])[0], "n_features": 600}]
        for key in OF_THE_PAPER:
            rows += curve_rows(dataset, key, rising)
    rows += curve_rows("isolet", "UDFS", falling)  # a second grid point, better at few columns
    rows = [row for row in rows if (row["dataset"], row["method"]) != ("usps", "SOGFS")]
    acc, nmi, time = curve_tables(rows)
    assert {line[0] for line in acc.body} == {"Isolet"}
    lines = {label: cells for _, label, *cells in acc.body}
    assert lines["All features"] == ["50.00"] * 10
    assert lines["UDFS"] == [f"{max(pair):.2f}" for pair in zip(rising, falling, strict=True)]
    assert lines["DSCOFS"][-1] == "19.00"
    assert nmi.body[1][2] == "5.00"
    assert {label: cells for label, *cells in time.body}["UDFS"] == ["30.00", "10", "0.25"]
