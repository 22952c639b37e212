from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from ufselect.evaluation.choice import best_by_count, choose
from ufselect.evaluation.keys import Params
from ufselect.evaluation.rows import Row
from ufselect.evaluation.tables import Table, main_table
from ufselect.reproduction.paper import TITLES
from ufselect.reproduction.paper_tables import verdict

ROW = Row(
    dataset="isolet", method="DSCOFS", label="DSCOFS", params=Params(), n_features=10, n_starts=1, n_runs=2,
    acc_mean=50.0, acc_std=1.0, acc_start_std=0.0, nmi_mean=60.0, nmi_std=2.0, nmi_start_std=0.0, seconds=0.1,
    subsets=("s",), acc_runs=(49.0, 51.0), nmi_runs=(58.0, 62.0), note="",
)  # fmt: skip
ROWS = [
    ROW,
    replace(ROW, n_features=20, acc_mean=59.0, nmi_mean=55.0),
    replace(ROW, n_features=20, params=Params({"a": 1}), acc_mean=58.0, nmi_mean=70.0),
    replace(ROW, method="UDFS", label="UDFS", acc_mean=30.0),
]


def test_oracle_takes_the_best_by_each_metric():
    assert choose(ROWS, "oracle", "acc")["isolet", "DSCOFS"].acc_mean == 59.0
    assert choose(ROWS, "oracle", "nmi")["isolet", "DSCOFS"].nmi_mean == 70.0


def test_fixed_never_looks_at_scores():
    chosen = choose([ROWS[0], ROWS[3], replace(ROWS[1], acc_mean=1.0)], "fixed", "acc")
    assert chosen["isolet", "DSCOFS"].n_features == 20
    assert choose(ROWS[:2], "fixed", "acc", n_features=15)["isolet", "DSCOFS"].n_features == 10
    with pytest.raises(ValueError, match="only oracle mode may choose"):
        choose(ROWS, "fixed", "acc")


def test_curve_is_the_best_at_each_count():
    assert [row.acc_mean for row in best_by_count(ROWS[:3], "acc")] == [50.0, 59.0]


def test_tables_name_their_mode_and_missing_sets():
    table = main_table(ROWS, "oracle", "acc", ["isolet", "mstar_soc_cnn"], titles=TITLES)
    assert "Mode oracle" in table.title
    assert table.columns == ("Method", "Isolet", "MSTAR_SOC_CNN", "Mean")
    assert table.body[0] == ("DSCOFS", "59.00 ± 1.00 (20)", "not available", "59.00")


def test_starts_show_in_the_cell():
    several = [replace(ROW, n_starts=5, acc_start_std=0.5)]
    assert main_table(several, "fixed", "acc", ["isolet"]).body[0][1] == "50.00 ± 1.00 (10, starts ± 0.50)"


@pytest.mark.parametrize(
    ("difference", "word"), [(0.0, "at or above"), (-1.0, "within"), (-1.01, "below"), (3.0, "at or above")]
)
def test_verdict(difference, word):
    assert verdict(difference, 1.0) == word


def test_forms_of_a_table(tmp_path):
    table = Table("t", "A & B", ("x", "y_1"), (("a, b", "1 ± 2"),))
    assert list(csv.reader(io.StringIO(table.to_csv()))) == [["x", "y_1"], ["a, b", "1 ± 2"]]
    assert "| a, b | 1 ± 2 |" in table.to_markdown()
    assert r"a, b & 1 $\pm$ 2 \\" in table.to_latex()
    assert r"\caption{A \& B}" in table.to_latex()
    assert r"y\_1" in table.to_latex()
    table.write(tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".md", ".tex"}
