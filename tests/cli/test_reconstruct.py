"""All columns of tomorrow's table from the selected ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from tests.cli.commands import call

from ufselect import Reconstructor


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch):
    """A table of bent columns in units of their own, and another that has three of them alone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    rng = np.random.default_rng(0)
    at = rng.uniform(-1, 1, (260, 3))
    bent = np.column_stack(
        [at, np.sin(3 * at @ rng.standard_normal((3, 7))), at @ rng.standard_normal((3, 2))]
    )
    bent = (bent + 0.01 * rng.standard_normal(bent.shape)) * np.geomspace(1, 1e4, 12) + 5
    frame = pandas.DataFrame(bent, columns=[f"c{j}" for j in range(12)])
    frame.insert(0, "id", [f"row{i}" for i in range(260)])
    frame[:200].to_csv("today.csv", index=False)
    return frame


SELECT = "select today.csv --keep c0,c1,c2 -k 3 -o picked.csv --save-map -q"


@pytest.mark.parametrize("scale", ["auto", "none"])
def test_the_whole_table_comes_from_the_selected_columns(tables, scale, capsys):
    assert call(f"{SELECT} --scale {scale}") == 0
    record = json.loads(Path("picked.json").read_text(encoding="utf-8"))
    assert record["map"]["file"] == "picked.map.npz"
    assert record["outputs"]["map"] == "picked.map.npz"
    new = tables[200:][["id", "c2", "c0", "c1"]]  # in another order
    new.to_csv("tomorrow.csv", index=False)
    assert call("reconstruct picked.json tomorrow.csv -o all.csv --errors errors.csv") == 0
    assert "9 columns are reconstructed from 3 measured ones" in capsys.readouterr().out
    reconstructed, wanted = pandas.read_csv("all.csv"), tables[200:].reset_index(drop=True)
    assert list(reconstructed.columns) == list(wanted.columns)
    assert reconstructed["id"].tolist() == wanted["id"].tolist()
    np.testing.assert_allclose(reconstructed[["c0", "c1", "c2"]], wanted[["c0", "c1", "c2"]])
    errors = pandas.read_csv("errors.csv").set_index("column")
    assert errors["measured"].sum() == 3
    left = (reconstructed - wanted[reconstructed.columns[1:]])[reconstructed.columns[1:]].iloc[:, 3:]
    np.testing.assert_allclose(left.std(), errors["standard_deviation_of_error"][3:], rtol=1.0)
    if scale == "none":
        numbers = tables.drop(columns="id").to_numpy()
        expected = Reconstructor([0, 1, 2]).fit(numbers[:200]).inverse_transform(numbers[200:, :3])
        np.testing.assert_allclose(reconstructed.iloc[:, 1:], expected)


def test_rows_far_from_those_seen_are_named(tables, capsys):
    assert call(SELECT) == 0
    new = tables[200:].copy()
    new.iloc[6, 1:] = 1e6
    new.to_csv("tomorrow.csv", index=False)
    assert call("reconstruct picked.json tomorrow.csv -o - ") == 0
    out, err = capsys.readouterr()
    assert out.startswith("id,c0")
    assert "1 of 60 rows lie far from" in err.replace("\n", " ")
    assert "row 7" in err
    assert "written as reconstructed from the selected columns" in err.replace("\n", " ")


def test_rows_with_missing_values_are_reconstructed_from_the_mean_and_named(tables, capsys):
    assert call(SELECT) == 0
    for name, value in (("gaps", np.nan), ("mean", tables["c1"][:200].mean())):
        new = tables[200:].copy()
        new.loc[203, "c1"] = value
        new.to_csv(f"{name}.csv", index=False)
        assert call(f"reconstruct picked.json {name}.csv -o {name}-all.csv") == 0
    assert "1 of 60 rows lack a value of a selected column" in (err := capsys.readouterr().err)
    assert "row 4." in err
    first, second = (pandas.read_csv(f"{name}-all.csv") for name in ("gaps", "mean"))
    pandas.testing.assert_frame_equal(first, second)


def test_what_is_wrong_is_said(tables, capsys):
    assert call(SELECT.replace(" --save-map", "")) == 0
    tables[200:].to_csv("tomorrow.csv", index=False)
    stored = Path("picked.map.npz")
    for damage, words in (
        (lambda: None, "run ufselect select again with --save-map"),
        (lambda: call(SELECT + " --force"), ""),
        (lambda: stored.write_bytes(stored.read_bytes() + b"x"), "is not the map of"),
        (stored.unlink, "is not at picked.map.npz; put it there"),
    ):
        damage()
        assert call("reconstruct picked.json tomorrow.csv -o all.csv --force") == int(bool(words))
        assert words in " ".join(capsys.readouterr().err.split())
    assert call(SELECT + " --force") == 0
    assert call("select today.csv -k 3 --save-map") == 1
    assert "add -o or --record" in " ".join(capsys.readouterr().err.split())
    tables[:200].assign(w=1.5).to_csv("weighted.csv", index=False)
    assert call("select weighted.csv -k 3 -o x.csv --weights w --save-map") == 1
    assert "treats all alike" in " ".join(capsys.readouterr().err.split())
