"""Whatever is stored comes back as it was, and no file of another kind is taken for a store."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufselect.evaluation import ResultStore, StoreError
from ufselect.evaluation.keys import Params
from ufselect.evaluation.store import SCHEMA_VERSION, Score, Selection

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.integers(0, 2**40)
VALUES = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | NUMBERS | WORDS
PARAMS = st.dictionaries(WORDS, VALUES, max_size=4).map(Params)
SELECTIONS = st.builds(
    Selection, WORDS, WORDS, PARAMS, COUNTS, COUNTS, WORDS, WORDS,
    st.lists(COUNTS, max_size=5).map(tuple), WORDS, WORDS, NUMBERS,
)  # fmt: skip
RUNS = st.lists(NUMBERS, max_size=4).map(tuple)
SCORES = st.builds(
    Score, WORDS, WORDS, WORDS, COUNTS, COUNTS, WORDS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, RUNS, RUNS
)
JSON = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner), max_leaves=6
)


def key_of(score):
    return score.data, score.subset, score.seeding, score.kmeans_seed, score.n_runs, score.program


@settings(max_examples=60, deadline=None)
@given(st.lists(SELECTIONS, max_size=6, unique_by=lambda row: row.key))
def test_selections_round_trip(rows):
    with ResultStore(":memory:") as store:
        store.add_selections(rows)
        store.add_selections(rows)
        found = {row.key: row for row in store.selections()}
        assert found == {row.key: row for row in rows}
        for data in {row.data for row in rows}:
            assert {row.key for row in store.selections(data)} == {r.key for r in rows if r.data == data}


@settings(max_examples=60, deadline=None)
@given(st.lists(SCORES, max_size=6, unique_by=key_of))
def test_scores_round_trip(rows):
    with ResultStore(":memory:") as store:
        store.add_scores(rows)
        assert {key_of(row): row for row in store.scores()} == {key_of(row): row for row in rows}


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS, WORDS, WORDS, JSON)
def test_extras_round_trip(data, kind, key, program, value):
    with ResultStore(":memory:") as store:
        store.add_extra(data, kind, key, program, value)
        assert store.extra(data, kind, key, program) == value
        assert store.extra(data, kind, key, program + "!") is None


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(WORDS, VALUES, max_size=5))
def test_parameters_are_equal_exactly_when_their_text_is(values):
    params = Params(values)
    assert dict(params) == values
    assert Params.from_json(str(params)) == params
    assert hash(Params(dict(reversed(values.items())))) == hash(params)
    assert Params({**values, "one more": 0.5}) != params


def test_rows_of_another_program_stand_beside_the_old():
    old = Selection("d", "M", Params(), 3, 0, "old", "s", (0, 1, 2), "ok", "", 0.5)
    new = replace(old, program="new", features=(0, 1, 3))
    with ResultStore(":memory:") as store:
        store.add_selections([old, new])
        assert {row.program: row.features for row in store.selections()} == {
            "old": (0, 1, 2),
            "new": (0, 1, 3),
        }


def refused_database(path, table, version):
    """Write a database that is no store of this version, and return its bytes."""
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE {table} (data TEXT)")
        connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1])
def test_another_schema_is_refused_and_left_alone(tmp_path, version):
    path = tmp_path / "old.sqlite"
    before = refused_database(path, "selections", version)
    with pytest.raises(StoreError, match=rf"old.sqlite has tables of version {version}.*name another file"):
        ResultStore(path)
    assert path.read_bytes() == before


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n" * 200)
    with pytest.raises(StoreError, match=r"table.csv is not a file of results .*name another file"):
        ResultStore(path)
    assert path.read_text() == "a,b\n1,2\n" * 200
