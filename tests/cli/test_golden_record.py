"""The record of a run has the form that other programs rely on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from ufselect.cli.app import run

GOLDEN = Path(__file__).with_name("golden_record.json")


def comparable(record: dict) -> dict:
    """Return a record without time and versions, its figures rounded as far as all platforms agree."""
    del record["created"], record["versions"], record["command"], record["result"]["fit_seconds"]
    for feature in record["result"]["features"]:
        for figure in ("score", "mean", "deviation"):
            feature[figure] = float(f"{feature[figure]:.6g}")
    return record


def test_a_fresh_run_equals_the_golden_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(5).standard_normal((12, 4)).round(3) * [1, 3, 2, 0.5]
    lines = ["sample,a,b,c,d,flat,kind,note"]
    lines += [
        f"s{i}," + ",".join(f"{v:.3f}" for v in row) + f",1,{i % 2},word" for i, row in enumerate(values)
    ]
    Path("table.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    line = "select table.csv -k 2 -m MaxVariance --labels kind -o picked.csv"
    assert run(line.split()) == 0
    fresh = comparable(json.loads(Path("picked.json").read_text(encoding="utf-8")))
    assert fresh == comparable(json.loads(GOLDEN.read_text(encoding="utf-8")))
