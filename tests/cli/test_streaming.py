"""Tables that are read in blocks: the same selection as in memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from tests.cli.commands import call, chosen

from ufselect import DSCOFS
from ufselect.gram import GramAccumulator
from ufselect.io import ReadOptions
from ufselect.io import parquet as parquet_module
from ufselect.io import stream as streaming
from ufselect.io import text as text_module
from ufselect.io.read import open_rows

ROWS = 400


@pytest.fixture
def folder(folder, monkeypatch):
    monkeypatch.setattr(text_module, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(parquet_module, "BLOCK_CELLS", 600)  # so that every form takes several blocks
    rng = np.random.default_rng(0)
    values = rng.standard_normal((ROWS, 4)) @ rng.standard_normal((4, 12))
    values += 0.3 * rng.standard_normal(values.shape)
    values[:, 5] *= 300
    frame = pandas.DataFrame(values.round(4), columns=[f"v{j}" for j in range(12)])
    frame.insert(0, "id", [f"{i:04}" for i in range(ROWS)])
    frame.insert(5, "flat", 1.0)
    frame["late"] = ["1"] * (ROWS - 1) + ["word"]
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet", index=False)
    counts = rng.poisson(np.exp(rng.normal(1, 1, (ROWS, 1)) + rng.normal(0, 1, 8)))
    gapped = pandas.DataFrame(values.round(4)[:, :8], columns=[f"v{j}" for j in range(8)])
    gapped = gapped.mask(rng.random(gapped.shape) < 0.01)
    for name, table in {"counts": counts, "gaps": gapped}.items():
        table = pandas.DataFrame(table).rename(columns=str).add_prefix("x")
        table["flat"] = 3
        table.to_csv(f"{name}.csv", index=False)
        table.to_parquet(f"{name}.parquet", index=False)
    Path("parts").mkdir()
    for part in range(4):
        frame.iloc[part * 100 : part * 100 + 100].to_parquet(f"parts/part-{part}.parquet", index=False)
    Path("parts/.ufselect-00000000-1-x.parquet").write_bytes(b"left by a run that was killed")
    return folder


def test_several_blocks_are_read(folder):
    for name, fewest in (("t.csv", 8), ("t.parquet", 8), ("parts", 8), ("counts.csv", 3)):
        rows = open_rows(Path(name), ReadOptions())
        assert len(list(rows.blocks())) >= fewest


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        ("t.csv", "-m DSCOFS"),
        ("t.parquet", "-m MaxVariance --scale none"),
        ("parts", "-m DSCOFS --scale standard"),
    ],
)
def test_blocks_give_the_selection_of_memory(folder, data, settings):
    assert call(f"select {data} -k 4 {settings} --no-stream -o memory.csv") == 0
    assert call(f"select {data} -k 4 {settings} --stream -o blocks.csv") == 0
    assert chosen("blocks.json") == chosen("memory.json")
    first, second = (pandas.read_csv(name, dtype=str) for name in ("memory.csv", "blocks.csv"))
    pandas.testing.assert_frame_equal(first, second)
    record = json.loads(Path("blocks.json").read_text(encoding="utf-8"))
    assert record["data"]["n_samples"] == ROWS
    assert {column["name"]: column["reason"] for column in record["data"]["left_out"]} == {
        "flat": "constant",
        "late": "words among its numbers",
    }


@pytest.mark.parametrize("how", ["--clusters 2", "-m LaplacianScore"])
def test_what_needs_rows_uses_a_sample(folder, how, capsys):
    assert call(f"select t.csv -k 3 {how} --stream -o out.parquet --report page.html") == 0
    said = capsys.readouterr().err
    assert "read in blocks" in said
    assert "Selected on a sample of 400 rows" in said
    record = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert any("Selected on a sample" in line for line in record["assumed"])
    assert record["assessment"]["verdict"] in ("yes", "no", "unclear")
    assert pandas.read_parquet("out.parquet").shape == (ROWS, 5)


def test_missing_values_are_filled_in_blocks_as_in_memory(folder):
    for stream in ("--stream", "--no-stream"):
        assert call(f"select gaps.csv -k 8 {stream} -m DSCOFS --scale none -o out{stream}.csv") == 0
    first, second = (pandas.read_csv(f"out{stream}.csv") for stream in ("--stream", "--no-stream"))
    pandas.testing.assert_frame_equal(first, second)
    assert not first.isna().any().any()


def test_what_needs_memory_says_so(folder, capsys):
    for option in ("--batch id", "--weights v1", "--transpose", "--categorical onehot", "--normalize log"):
        assert call(f"select t.csv -k 3 --stream -m DSCOFS {option}") == 1
        assert f"{option.split()[0]} needs the whole table in memory" in capsys.readouterr().err


def test_what_is_no_count_is_not_normalised(folder, capsys):
    gapped = Path("gaps.csv").read_text(encoding="utf-8").replace("-", "")
    Path("gaps.csv").write_text(gapped, encoding="utf-8")
    for data in ("t.csv", "gaps.csv"):
        assert call(f"select {data} -k 3 -m DSCOFS --normalize log --impute keep -o out.csv") == 1
        assert "some values are negative or missing; leave it out" in capsys.readouterr().err
    assert not Path("out.csv").exists()


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
@pytest.mark.parametrize("data", ["gaps.csv", "gaps.parquet"])
def test_gaps_are_worked_around_in_blocks(folder, data, capsys):
    assert call(f"select {data} -k 4 -m DSCOFS --scale none --impute keep --stream -o blocks.csv") == 0
    said = capsys.readouterr().err
    assert "missing values in 8 columns were left as they are" in said
    assert "compared on the rows that have both values" in said
    record = json.loads(Path("blocks.json").read_text(encoding="utf-8"))
    assert record["missing"]["route"] == "pairwise"
    values = pandas.read_csv("gaps.csv").iloc[:, :8].to_numpy()
    accumulator = GramAccumulator()
    for part in np.array_split(values, 3):
        accumulator.update(part)
    expected = DSCOFS(4, max_correlation=0.999).fit(accumulator)
    names = {f"xv{j}" for j in np.flatnonzero(expected.support_)}
    assert set(chosen("blocks.json")) == names
    means = {feature["name"]: feature["mean"] for feature in record["result"]["features"]}
    assert means == pytest.approx({f"xv{j}": np.nanmean(values[:, j]) for j in range(8) if f"xv{j}" in names})
    written = pandas.read_csv("blocks.csv")
    np.testing.assert_array_equal(written.to_numpy(), values[:, np.flatnonzero(expected.support_)])


def test_width_is_limited_by_memory_alone(folder, monkeypatch, capsys):
    assert streaming.gram_bytes(20_000) > 10 << 30
    monkeypatch.setattr(streaming, "free_memory", lambda: streaming.gram_bytes(14))
    assert call("select t.csv -k 3 --stream -m DSCOFS --quiet") == 0
    monkeypatch.setattr(streaming, "free_memory", lambda: streaming.gram_bytes(14) - 1)
    assert call("select t.csv -k 3 --stream -m DSCOFS") == 1
    assert "Reading 14 columns in blocks would take about" in capsys.readouterr().err


def test_missing_values_that_are_kept_take_more_memory(folder, monkeypatch, capsys):
    holes = pandas.read_csv("t.csv")
    holes.loc[3, "v3"] = np.nan
    holes.to_csv("holes.csv", index=False)
    monkeypatch.setattr(streaming, "gram_bytes", lambda n_columns, copies=5: copies)
    monkeypatch.setattr(streaming, "free_memory", lambda: 5)
    assert call("select holes.csv -k 3 --stream --impute median --quiet") == 0
    assert call("select holes.csv -k 3 --stream") == 1
    assert "GB are free; use --impute median or fewer columns." in capsys.readouterr().err


def test_size_decides(folder, monkeypatch):
    assert not streaming.is_for_blocks(Path("t.csv"), ReadOptions(), None)
    monkeypatch.setattr(streaming, "free_memory", lambda: 8 * 14 * ROWS)
    monkeypatch.setattr(streaming, "SAMPLE_ROWS", 10)  # a sample smaller than this small table
    assert streaming.is_for_blocks(Path("t.csv"), ReadOptions(), None)
    assert streaming.is_for_blocks(Path("parts"), ReadOptions(), None)
    assert streaming.free_memory() > 0
