"""Tables beside the paper's figures, and its own statistics recomputed from what it prints."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.paper.methods import AS_RUN, PAPER_GRID, RNE_AS_RUN
from benchmarks.paper.printed import AVERAGE_RANKS, SEVEN, TITLES, TOLD_APART, published
from benchmarks.paper.tables import (
    EIGHT,
    NEWER,
    all_ranks_table,
    curve_table,
    eight_rank_test,
    means_table,
    nested_mean,
    optimism_table,
    paper_grid_table,
    paper_ranks_table,
    paper_table,
    printed_rank_test,
    teacher_student_table,
)
from tests.benchmarks.paper.rows import make_row


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
    assert dict(zip(EIGHT, test.average_ranks, strict=True)) == AVERAGE_RANKS
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


def ranked_rows(methods, first=100.0):
    return [
        make_row([first - 10 * place - 0.1 * shift], AS_RUN.get(method, method), dataset=name)
        for shift, name in enumerate(SEVEN)
        for place, method in enumerate(methods)
    ]


def test_our_ranks_stand_beside_the_printed_ones():
    rows = ranked_rows(EIGHT)
    test = eight_rank_test(rows, SEVEN)
    np.testing.assert_array_equal(test.average_ranks, np.arange(1, 9))
    table = paper_ranks_table(test, SEVEN)
    first, last = (dict(zip(table.columns, table.body[place], strict=True)) for place in (0, -1))
    assert (first["Method"], first["Rank here"], first["Printed"]) == ("LapScore", "1.00", "6")
    # 7 ranks apart, with a critical difference of 3.97
    assert first["Differs from DSCOFS here"] == first["In the paper"] == "yes"
    assert last["Method"] == "DSCOFS"
    assert last["Differs from DSCOFS here"] == "–"
    assert f"{test.critical_difference:.2f}" in table.title
    column = table.columns.index("Printed figures, 7 sets")
    ranks = printed_rank_test(SEVEN).average_ranks
    assert [float(line[column]) for line in table.body] == pytest.approx(ranks, abs=0.005)
    assert eight_rank_test(rows[:-1], SEVEN) is None
    assert eight_rank_test(rows, SEVEN[:1]) is None
    other = eight_rank_test([{**row, "dataset": row["dataset"] + "2"} for row in rows], ["usps2", "umist2"])
    assert "Printed figures, 2 sets" not in paper_ranks_table(other, ["usps2", "umist2"]).columns


def test_newer_methods_are_ranked_with_the_papers_where_all_sets_have_them():
    rows = ranked_rows(EIGHT) + ranked_rows(NEWER, 105.0)[:-1] + ranked_rows(["PCALeverage"])
    lines = {line[0]: line[1:] for line in all_ranks_table(rows, SEVEN).body}
    assert lines["IF-PCA"] == ("newer", "104.70", "1.00", "yes")
    assert lines["LapScore"][2] == "2.00"
    assert lines["DSCOFS"][2:] == ("14.00", "–")
    assert lines["PCALeverage"] == ("baseline", "99.70", "–", "–")
    assert "BSUFS" not in lines  # not run on the last set
    assert all_ranks_table(rows, SEVEN[:1]) is None


def test_curves_have_the_best_mean_at_each_count():
    rows = [make_row([50], "AllFeatures", 600, dataset="isolet")]
    rows += [make_row([20 + count, 22 + count], "UDFS", count, dataset="isolet") for count in (10, 20)]
    rows.append(make_row([60], "UDFS", 10, dataset="isolet", point=1))
    rows += [make_row([acc], PAPER_GRID, 20, start, dataset="isolet") for start, acc in enumerate((70, 80))]
    table = curve_table(rows, "acc", ["isolet"])
    assert table.columns == ("Data set", "Method", "10", "20")
    assert table.body == (
        ("Isolet", "All features", "50.00", "50.00"),
        ("Isolet", "UDFS", "60.00", "41.00"),
        ("Isolet", "DSCOFS", "–", "75.00"),
    )
