"""``-k auto``: the number of features from the data, in the table, the record and the report."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from ufselect.cli.app import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5)) @ rng.standard_normal((5, 30)) + 0.1 * rng.standard_normal((120, 30))
    np.savetxt(tmp_path / "t.csv", X, delimiter=",", header=",".join(f"c{j}" for j in range(30)), comments="")
    return tmp_path


def test_the_count_is_chosen_recorded_and_drawn(folder):
    line = "select t.csv -k auto --method RebuildSelector -o picked.csv --report page.html"
    assert run(line.split()) == 0
    record = json.loads((folder / "picked.json").read_text(encoding="utf-8"))
    assert record["request"]["n_features"] == "auto"
    assert len(record["result"]["features"]) == pytest.approx(5, abs=1)
    assert "How many features are enough" in (folder / "page.html").read_text(encoding="utf-8")
    assert run(["select", "--from", "picked.json", "-o", "again.csv"]) == 0
    assert (folder / "again.csv").read_bytes() == (folder / "picked.csv").read_bytes()


def test_a_method_that_cannot_says_so(folder, capsys):
    assert run(["select", "t.csv", "-k", "auto", "--method", "DSCOFS"]) != 0
    assert "DSCOFS does not choose the number of features" in capsys.readouterr().err
