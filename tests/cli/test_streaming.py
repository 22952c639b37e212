"""Tables that are read in blocks: the same selection as in memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import pandas

from ufselect.cli import streaming
from ufselect.cli.app import run
from ufselect.io import ReadOptions
from ufselect.io import text as text_module

ROWS = 400


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(text_module, "BLOCK_BYTES", 4000)
    rng = np.random.default_rng(0)
    values = rng.standard_normal((ROWS, 4)) @ rng.standard_normal((4, 12))
    values += 0.3 * rng.standard_normal(values.shape)
    values[:, 5] *= 300
    frame = pandas.DataFrame(values.round(4), columns=[f"v{j}" for j in range(12)])
    frame.insert(0, "id", [f"{i:04}" for i in range(ROWS)])
    frame.insert(5, "flat", 1.0)
    frame["late"] = ["1"] * (ROWS - 1) + ["word"]
    frame.to_csv("t.csv", index=False)
    Path("parts").mkdir()
    for part in range(4):
        frame.iloc[part * 100 : part * 100 + 100].to_parquet(f"parts/part-{part}.parquet", index=False)
    Path("parts/.ufselect-00000000-1-x.parquet").write_bytes(b"left by a run that was killed")
    return tmp_path


def call(line: str) -> int:
    return run(line.split())


def features(name: str) -> list[str]:
    record = json.loads(Path(name).read_text(encoding="utf-8"))
    return [feature["name"] for feature in record["result"]["features"]]


@pytest.mark.parametrize("data", ["t.csv", "parts"])
@pytest.mark.parametrize(
    "settings", ["-m DSCOFS", "-m MaxVariance --scale none", "-m DSCOFS --scale standard"]
)
def test_blocks_give_the_selection_of_memory(folder, data, settings):
    assert call(f"select {data} -k 4 {settings} --no-stream -o memory.csv") == 0
    assert call(f"select {data} -k 4 {settings} --stream -o blocks.csv") == 0
    assert features("blocks.json") == features("memory.json")
    first, second = (pandas.read_csv(name, dtype=str) for name in ("memory.csv", "blocks.csv"))
    pandas.testing.assert_frame_equal(first, second)
    record = json.loads(Path("blocks.json").read_text(encoding="utf-8"))
    assert record["data"]["n_samples"] == ROWS
    assert {column["name"]: column["reason"] for column in record["data"]["left_out"]} == {
        "flat": "constant",
        "late": "not numbers",
    }


def test_the_method_can_be_chosen_on_a_sample(folder, capsys):
    assert call("select t.csv -k 3 --stream -o out.parquet --report page.html --resamples 2") == 0
    said = capsys.readouterr().err
    assert "read in blocks" in said
    assert "Chosen on a sample of 400 rows" in said
    record = json.loads(Path("out.parquet.json").read_text(encoding="utf-8"))
    assert any("Chosen on a sample" in line for line in record["notes"])
    assert pandas.read_parquet("out.parquet").shape == (ROWS, 5)


def test_what_needs_memory_says_so(folder, capsys):
    assert call("select t.csv -k 3 --stream -m LaplacianScore") == 1
    assert "needs the whole table in memory" in capsys.readouterr().err
    assert call("select t.csv -k 3 --stream --impute median -m DSCOFS") == 1
    assert "use --impute drop" in capsys.readouterr().err


@pytest.mark.parametrize("asked", [True, False])
def test_normalising_a_sample_alone_is_refused(folder, monkeypatch, capsys, asked):
    if not asked:
        monkeypatch.setattr(streaming, "free_memory", lambda: 1)
    stream = "--stream " if asked else ""
    assert call(f"select t.csv -k 3 -m MaxVariance {stream}--normalize log -o out.csv") != 0
    assert "--normalize needs the table in memory" in " ".join(capsys.readouterr().err.split())
    assert not Path("out.csv").exists()


def test_size_decides(folder, monkeypatch):
    assert not streaming.should_stream(Path("t.csv"), ReadOptions(), None)
    monkeypatch.setattr(streaming, "free_memory", lambda: 8 * 12 * ROWS)
    assert streaming.should_stream(Path("t.csv"), ReadOptions(), None)
    assert streaming.should_stream(Path("parts"), ReadOptions(), None)
    assert streaming.free_memory() > 0
