from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from ufselect.evaluation.keys import Params
from ufselect.evaluation.store import ResultStore, Score, Selection

SELECTION = Selection("d", "M", Params({"a": 1}), 3, 0, "v", "s", (0, 4, 7), "ok", "", 0.5)
SCORE = Score("d", "s", "random", 0, 5, "v", 50.0, 1.0, 40.0, 2.0, (50.0,), (40.0,))


def test_rows_survive_closing(tmp_path):
    path = tmp_path / "deep" / "r.sqlite"
    with ResultStore(path) as store:
        store.add_selections([SELECTION])
        store.add_scores([SCORE])
    with ResultStore(path) as store:
        assert list(store.selections("d")) == [SELECTION]
        assert list(store.scores()) == [SCORE]
        assert list(store.selections("other")) == []


def test_first_row_of_a_key_stays():
    with ResultStore(":memory:") as store:
        store.add_selections([SELECTION])
        store.add_selections([replace(SELECTION, seconds=9.0), replace(SELECTION, seed=1)])
        assert [(row.seed, row.seconds) for row in store.selections()] == [(0, 0.5), (1, 0.5)]


def test_a_batch_is_stored_whole_or_not_at_all():
    with ResultStore(":memory:") as store:
        with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
            store.add_selections([SELECTION, replace(SELECTION, seed=2, note=None)])
        assert list(store.selections()) == []


def test_extras_round_trip():
    with ResultStore(":memory:") as store:
        assert store.extra("d", "kind", "k", "v") is None
        store.add_extra("d", "kind", "k", "v", {"a": [1, 2]})
        assert store.extra("d", "kind", "k", "v") == {"a": [1, 2]}


def test_results_view_joins_fit_and_score():
    with ResultStore(":memory:") as store:
        store.add_dataset("d", "toy")
        store.add_selections([SELECTION])
        store.add_scores([SCORE])
        row = store._connection.execute("SELECT dataset, method, acc_mean FROM results").fetchall()
    assert row == [("toy", "M", 50.0)]
