"""Stores that are cut short, foreign, old, changed in places or on a full disk: file and remedy, or rows."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest
from tests.evaluation.test_store import SCORE, SELECTION
from tests.evaluation.test_store_round_trip import refused_database

from ufselect.evaluation.store import SCHEMA_VERSION, ResultStore, StoreError

N_FLIPS = 300


def filled(path):
    with ResultStore(path) as store:
        store.add_dataset("d", "toy")
        store.add_selections([replace(SELECTION, seed=seed) for seed in range(40)])
        store.add_scores([replace(SCORE, kmeans_seed=seed) for seed in range(40)])
        store.add_extra("d", "kind", "k", "v", {"a": [1, 2]})
    return path


def read_all(path):
    with ResultStore(path) as store:
        store.extra("d", "kind", "k", "v")
        return list(store.selections()) + list(store.scores())


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95, 0.999])
def test_a_file_that_is_cut_short_names_itself(tmp_path, share):
    path = filled(tmp_path / "results.sqlite")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(StoreError, match=r"results\.sqlite .*name another file"):
        read_all(path)


def test_changed_bytes_end_in_a_sentence_or_in_rows(tmp_path):
    path = filled(tmp_path / "results.sqlite")
    content, rng, refusals = path.read_bytes(), np.random.default_rng(0), []
    for _ in range(N_FLIPS):
        changed = bytearray(content)
        for place in rng.integers(len(changed), size=30):
            changed[place] = rng.integers(256)
        path.write_bytes(changed)
        try:
            read_all(path)
        except StoreError as error:
            refusals.append(str(error))
    assert len(refusals) > N_FLIPS // 10
    for refusal in refusals:
        assert "results.sqlite" in refusal
        assert "name another file" in refusal
        assert "report" not in refusal


@pytest.mark.parametrize("version", [1, SCHEMA_VERSION + 1])
def test_another_version_is_named_with_what_to_do(tmp_path, version):
    path = filled(tmp_path / "results.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    with pytest.raises(StoreError, match=rf"results\.sqlite has tables of version {version}.*name another"):
        ResultStore(path)


def test_a_database_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    before = refused_database(path, "accounts", SCHEMA_VERSION)
    with pytest.raises(StoreError, match=r"other\.sqlite is a database of another program"):
        ResultStore(path)
    assert path.read_bytes() == before


FULL = textwrap.dedent(
    """
    import resource, sys
    from dataclasses import replace
    from tests.evaluation.test_store import SELECTION
    from ufselect.evaluation.store import ResultStore, StoreError

    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    with ResultStore(sys.argv[1]) as store:
        for batch in range(100):
            try:
                store.add_selections([replace(SELECTION, seed=100 * batch + k) for k in range(100)])
            except StoreError as error:
                print(batch, error)
                break
    """
)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are those of Unix")
def test_a_full_disk_names_the_file_and_keeps_whole_batches(tmp_path):
    path = tmp_path / "results.sqlite"
    ended = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True
    )
    n_batches, sentence = ended.stdout.split(maxsplit=1)
    assert "results.sqlite cannot be used (" in sentence
    assert "free some space" in sentence
    with ResultStore(path) as store:
        assert len(list(store.selections())) == 100 * int(n_batches)
