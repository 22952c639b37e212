"""Tables beside the paper's figures, and its own statistics recomputed from what it prints."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.paper.methods import AS_RUN, PAPER_GRID, RNE_AS_RUN
from benchmarks.paper.printed import AVERAGE_RANKS, SEVEN, TITLES, TOLD_APART, published
from benchmarks.paper.tables import (
    EIGHT,
    means_table,
    nested_mean,
    optimism_table,
    paper_grid_table,
    paper_rank_test,
    paper_ranks_table,
    paper_table,
    printed_rank_test,
    teacher_student_table,
)
from tests.compare.rows import make_row


def row(method, runs, start=None, number=0):
    return make_row(runs, method, 100, start, dataset="usps", point=number)


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
    assert found[:2] == ("USPS", "61.96")
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


def test_the_printed_figures_give_the_printed_ranks_and_verdicts():
    test = printed_rank_test(list(TITLES))
    assert dict(zip(test.labels, test.average_ranks, strict=True)) == AVERAGE_RANKS
    gaps = test.average_ranks - test.average_ranks[-1]
    told = [m for m, gap in zip(EIGHT, gaps, strict=True) if gap > test.critical_difference]
    assert sorted(told) == sorted(TOLD_APART)
    assert round(test.p_value, 4) == 1e-4


def test_printed_means_over_seven_sets():
    expected = {"DSCOFS": (60.14, 65.32), "SPCAPSD": (56.73, 62.15), "SPCAFS": (56.04, 58.68)}
    for method, figures in {**expected, "AllFeatures": (52.78, 58.95)}.items():
        means = [np.mean([published(m, name, method).mean for name in SEVEN]) for m in ("acc", "nmi")]
        assert means == pytest.approx(figures, abs=0.006)
    assert published("acc", "isolet", "PCALeverage") is None


def test_our_ranks_stand_beside_the_printed_ones():
    rows = [
        make_row([100 - 10 * place - 0.1 * shift], AS_RUN.get(method, method), dataset=name)
        for shift, name in enumerate(SEVEN)
        for place, method in enumerate(EIGHT)
    ]
    test = paper_rank_test(rows)
    np.testing.assert_array_equal(test.average_ranks, np.arange(1, 9))
    table = paper_ranks_table(test, SEVEN)
    first, last = table.body[0], table.body[-1]
    assert first[:2] == ("LapScore", "1.00")
    assert first[3] == "6"
    assert first[4] == "yes"  # 7 ranks apart, with a critical difference of 3.97
    assert first[6] == "yes"
    assert last[0] == "DSCOFS"
    assert set(last[4:]) == {"–"}
    assert f"{test.critical_difference:.2f}" in table.title
    ranks = printed_rank_test(SEVEN).average_ranks
    assert [float(line[2]) for line in table.body] == pytest.approx(ranks, abs=0.005)
    assert paper_rank_test(rows[:-1]) is None
    assert paper_rank_test([{**each, "dataset": "digits"} for each in rows]) is None
