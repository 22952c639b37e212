"""Labels choose points, and among starts only where starts are points; tables say how."""

from __future__ import annotations

import pytest
from benchmarks.paper.choice import best, best_of_each_start, choose, main_table
from tests.benchmarks.paper.rows import make_row


def row(acc, count=10, start=None, number=0, nmi=None, **rest):
    nmi_runs = None if nmi is None else [nmi, nmi]
    return make_row([acc - 1, acc + 1], count=count, start=start, nmi_runs=nmi_runs, point=number, **rest)


def test_the_best_row_has_fewer_features_where_means_are_equal():
    assert best([row(60.0, 20), row(60.0, 10), row(50.0, 5)], "acc")["n_features"] == 10


def test_labels_never_choose_among_starts_that_are_kept_apart():
    rows = [
        row(50.0, 10, start=0),
        row(60.0, 20, start=0, number=1),
        row(80.0, 30, start=1),
        row(70.0, 30, start=1, number=1),
    ]
    assert [r["acc_mean"] for r in best_of_each_start(rows, "acc")] == [60.0, 80.0]
    found = best(rows, "acc")
    assert found["acc_mean"] == 70.0
    assert found["acc_start_std"] == 10.0
    assert found["n_starts"] == 2
    assert found["n_features"] == 20  # of equally common counts the least
    assert found["acc_runs"] == [59.0, 61.0, 79.0, 81.0]
    assert found["acc_std"] == pytest.approx(10.05, abs=0.01)
    assert found["start"] is None
    assert found["params"] == rows[1]["params"]  # those of the first start
    assert [len(features) for features in found["features"]] == [20, 30]
    assert choose(rows, "oracle", "acc") == {("toy", "A"): found}


def test_the_metric_that_is_asked_for_decides():
    rows = [row(60.0, nmi=10.0), row(50.0, number=1, nmi=20.0)]
    assert best(rows, "acc")["nmi_mean"] == 10.0
    assert best(rows, "nmi")["acc_mean"] == 50.0


def test_modes_without_labels_take_the_count_and_refuse_to_choose():
    rows = [row(50.0, 10), row(40.0, 20), row(90.0, 30)]
    assert choose(rows, "fixed", "acc", 25)["toy", "A"]["n_features"] == 20
    assert choose(rows, "fixed", "acc", 20)["toy", "A"]["n_features"] == 20
    assert choose(rows, "fixed", "acc")["toy", "A"]["n_features"] == 30
    assert choose(rows, "fixed", "acc", 5)["toy", "A"]["n_features"] == 30
    with pytest.raises(ValueError, match="2 parameter points at 10 features; only oracle mode may choose"):
        choose([row(50.0), row(60.0, number=1)], "fixed", "acc")


def test_equal_points_are_told_apart_by_their_parameters_not_by_their_order():
    rows = [row(60.0, number=0), row(60.0, number=1)]
    for order in (rows, rows[::-1]):
        assert [each["params"] for each in best_of_each_start(order, "acc")] == [rows[0]["params"]]


def test_tables_name_their_mode_and_missing_sets():
    rows = [row(50.0), row(59.0, 20), row(58.0, 20, number=1), row(30.0, method="UDFS")]
    table = main_table(rows, "oracle", "acc", ["toy", "other"], titles={"toy": "Toy"})
    assert "Mode oracle" in table.title
    assert table.columns == ("Method", "Toy", "other", "Mean")
    assert table.body[0] == ("A", "59.00 ± 1.00 (20)", "not available", "59.00")
    assert table.body[1][0] == "UDFS"


def test_starts_show_in_the_cell():
    several = [{**row(50.0), "n_starts": 2, "acc_start_std": 0.5}]
    assert main_table(several, "fixed", "acc", ["toy"]).body[0][1] == "50.00 ± 1.00 (10, starts ± 0.50)"
