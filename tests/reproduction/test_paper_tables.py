"""Tables beside the paper's figures."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.evaluation.keys import Params
from ufselect.evaluation.rows import Row
from ufselect.reproduction.paper import published
from ufselect.reproduction.paper_grid import PAPER_GRID
from ufselect.reproduction.paper_tables import (
    means_table,
    nested_mean,
    optimism_table,
    paper_grid_table,
    paper_table,
    teacher_student_table,
)
from ufselect.reproduction.rivals import RNE_AS_RUN


def row(method, runs, dataset="usps", count=100, start=None, number=0):
    runs = tuple(float(run) for run in runs)
    return Row(
        dataset=dataset, method=method, label=method, params=Params({"point": number}), n_features=count,
        n_starts=1, n_runs=len(runs), acc_mean=float(np.mean(runs)), acc_std=float(np.std(runs)),
        acc_start_std=0.0, nmi_mean=float(np.mean(runs)), nmi_std=1.0, nmi_start_std=0.0, seconds=0.0,
        subsets=("s",), acc_runs=runs, nmi_runs=runs, note="", start=start,
    )  # fmt: skip


def test_a_nested_split_scores_by_runs_that_did_not_choose():
    rows = [row("A", [70, 70, 40, 40]), row("A", [50, 50, 60, 60], number=1)]
    # The first half chooses the first point, which has 40 by the second; the second half the other: 50.
    assert nested_mean(rows, "acc") == 45.0
    assert nested_mean(rows[:1], "acc") == 55.0
    assert nested_mean([row("A", [70]), row("A", [50])], "acc") == 70.0


def test_optimism_is_the_gap_to_the_nested_split():
    rows = [row("A", [70, 70, 40, 40]), row("A", [50, 50, 60, 60], number=1)]
    table = optimism_table(rows, ["usps"])
    assert table.body == (("A", "55.00", "45.00", "55.00", "45.00"),)
    apart = [row("A", [70, 70], start=0), row("A", [50, 50], start=1)]
    assert optimism_table(apart, ["usps"]).body[0][1:3] == ("60.00", "60.00")
    assert optimism_table(rows, ["usps", "isolet"]).body[0][1:3] == ("–", "–")


def test_the_papers_grid_shows_its_spread_and_ours_beside_it():
    rows = [row(PAPER_GRID, [68, 70], start=0), row(PAPER_GRID, [70, 72], start=1), row("DSCOFS", [72, 73])]
    (found,) = paper_grid_table(rows, ["usps"]).body
    assert found[0] == "USPS"
    assert found[1:4] == ("69.67", "70.00 (69.00–71.00, 2 starts)", "72.50")
    (missing,) = paper_grid_table(rows, ["mstar_soc_cnn"]).body
    assert missing[2:4] == ("not available", "–")


def test_printed_figures_stand_beside_the_row_that_repeats_their_setting():
    rows = [row("RNE", [69, 69]), row(RNE_AS_RUN, [45, 45], start=0), row("UDFS", [59, 59])]
    body = {line[1]: line for line in paper_table(rows, "acc", ["usps"]).body}
    printed = published("acc", "usps", "RNE")
    assert body["RNE"][2] == f"{printed.mean:.2f} ± {printed.std:.2f} ({printed.n_features})"
    assert body["RNE"][3].startswith("45.00")
    assert body["RNE"][4:6] == ("-1.04", "within")
    assert body["RNE"][6].startswith("69.00")
    assert body["UDFS"][6] == "–"
    means = {line[0]: line for line in means_table(rows, ["usps"]).body}
    assert means["RNE"][1:3] == ("69.00", "–")
    assert means[RNE_AS_RUN][1:3] == ("45.00", "46.04")


def test_tsfs_stands_beside_its_printed_figures():
    rows = [
        row("TSFS", [60, 62], start=0),
        row("TSFS", [64, 66], start=1),
        row(PAPER_GRID, [70, 70], start=0),
    ]
    (found,) = teacher_student_table(rows, ["usps", "isolet"]).body
    assert found[0] == "USPS"
    assert found[1] == "61.96"
    assert found[2].startswith("63.00")
    assert found[3].startswith("70.00")
    assert found[4] == "56.20"
    assert teacher_student_table(rows[2:], ["usps"]) is None


@pytest.mark.parametrize(
    ("runs", "verdict"), [([60, 60], "at or above"), ([57, 57], "within"), ([50, 50], "below")]
)
def test_verdicts(runs, verdict):
    (found,) = paper_table([row("UDFS", runs)], "acc", ["usps"]).body
    assert found[5] == verdict
