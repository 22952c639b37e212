"""Graphs for several numbers of clusters: those of single searches, decomposed as dense matrices are."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.auto import count_graphs as module
from ufselect.auto.count_graphs import CountGraphs
from ufselect.auto.cut import clarity
from ufselect.graphs.score_graph import score_graph, score_widths

COUNTS = [2, 5, 8, 9]


def graphs(n_samples=400):
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((4, 12)).repeat(n_samples // 4, axis=0)
    scores = np.linalg.qr(2 * centres + rng.standard_normal((n_samples, 12)))[0]
    return CountGraphs(scores)


def dense_values(graph, count):
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    return np.linalg.eigvalsh(graph.toarray() / np.sqrt(np.outer(degrees, degrees)))[::-1][:count]


def test_graphs_of_a_shared_search_are_those_of_single_ones():
    together, alone = graphs(), graphs()
    together.build(COUNTS)
    for count in COUNTS:
        widths = score_widths(count, 12)
        expected = score_graph(together.scores[:, : max(widths)], widths).toarray()
        np.testing.assert_array_equal(together.graph(count).toarray(), expected)
        np.testing.assert_array_equal(alone.graph(count).toarray(), expected)


@pytest.mark.parametrize("n_samples", [120, 400])
@pytest.mark.parametrize("pairs_first", [True, False])
def test_values_are_those_of_the_dense_matrix(n_samples, pairs_first):
    known = graphs(n_samples)
    for count in COUNTS:
        if pairs_first:
            assert known.pairs(count)[0].size == max(2, round(1.5 * count))
        np.testing.assert_allclose(known.values(count), dense_values(known.graph(count), count), atol=1e-5)


@pytest.mark.parametrize("count", COUNTS)
def test_few_eigenvalues_tell_what_all_of_them_tell(count):
    found = clarity(graphs().values(count), count)
    for least in (0.5, found - 1e-4, found + 1e-4, 0.99):
        assert graphs().is_clean(count, least) == (found >= least)


def test_few_eigenvalues_are_enough_where_they_tell(monkeypatch):
    known = graphs()
    monkeypatch.setattr(CountGraphs, "values", lambda *_: pytest.fail("all eigenvalues were worked out"))
    assert not known.is_clean(9, 0.999)
    assert module.FEW < 9
