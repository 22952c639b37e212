"""The paper's own statistics, recomputed from the figures that it prints."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ufselect.evaluation.rank_test import rank_test
from ufselect.reproduction.paper import AVERAGE_RANKS, SEVEN, TITLES, TOLD_APART
from ufselect.reproduction.paper_grid import PAPER_GRID
from ufselect.reproduction.paper_ranks import (
    EIGHT,
    as_the_paper_runs,
    paper_rank_test,
    paper_ranks_table,
    printed_rank_test,
)
from ufselect.reproduction.rivals import AS_RUN

pytest.importorskip("scikit_posthocs")


def test_the_printed_figures_give_the_printed_ranks_and_verdicts():
    test = printed_rank_test(list(TITLES))
    assert dict(zip(test.labels, test.average_ranks, strict=True)) == AVERAGE_RANKS
    gaps = test.average_ranks - test.average_ranks[-1]
    told = [m for m, gap in zip(EIGHT, gaps, strict=True) if gap > test.critical_difference]
    assert sorted(told) == sorted(TOLD_APART)
    assert round(test.p_value, 4) == 0.0001 or test.p_value < 0.0001


def test_rows_of_the_paper_are_those_that_repeat_its_settings():
    keys = [as_the_paper_runs(method) for method in EIGHT]
    assert keys[-1] == PAPER_GRID
    assert {AS_RUN["RNE"], AS_RUN["LaplacianScore"]} <= set(keys)
    assert "UDFS" in keys


def outcomes(names):
    """Give each method the figure 100 minus ten times its place, less a little on each later set."""
    found = {}
    for shift, name in enumerate(names):
        rows = [
            SimpleNamespace(
                dataset=name, method=as_the_paper_runs(m), start=None, n_features=10, params="",
                acc_mean=100 - 10 * place - 0.1 * shift,
            )
            for place, m in enumerate(EIGHT)
        ]  # fmt: skip
        found[name] = SimpleNamespace(rows=rows)
    return found


def test_our_ranks_stand_beside_the_printed_ones():
    test = paper_rank_test(outcomes(SEVEN))
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
    assert [float(row[2]) for row in table.body] == pytest.approx(ranks, abs=0.005)


def test_there_is_no_test_where_a_method_is_missing():
    found = outcomes(SEVEN)
    found["usps"].rows.pop()
    assert paper_rank_test(found) is None
    assert paper_rank_test(outcomes(["digits", "wine"])) is None


def test_ties_share_their_rank():
    test = rank_test(np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 0.0]]), ["a", "b", "c"])
    np.testing.assert_array_equal(test.average_ranks, [1.25, 1.75, 3.0])
