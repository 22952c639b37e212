"""All columns of tomorrow's table from the selected ones."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from tests.cli.commands import call

from ufselect import Reconstructor
from ufselect.cli.record import checksum, read_record


@pytest.fixture(autouse=True)
def tables():
    """A table of bent columns in units of their own, and another that has three of them alone."""
    rng = np.random.default_rng(0)
    at = rng.uniform(-1, 1, (260, 3))
    bent = np.column_stack(
        [at, np.sin(3 * at @ rng.standard_normal((3, 7))), at @ rng.standard_normal((3, 2))]
    )
    bent = (bent + 0.01 * rng.standard_normal(bent.shape)) * np.geomspace(1, 1e4, 12) + 5
    frame = pandas.DataFrame(bent, columns=[f"c{j}" for j in range(12)])
    frame.insert(0, "id", [f"row{i}" for i in range(260)])
    frame["same"] = 7.5
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
    out, err = capsys.readouterr()
    share = f"{100 * record['map']['score']:.0f} %"
    assert f"13 columns from 3 measured ones, which by this map explain {share}" in out
    assert "same: written with the constant value of the first table." in err
    reconstructed, wanted = pandas.read_csv("all.csv"), tables[200:].reset_index(drop=True)
    assert list(reconstructed.columns) == list(wanted.columns)
    assert reconstructed["id"].tolist() == wanted["id"].tolist()
    np.testing.assert_allclose(reconstructed[["c0", "c1", "c2"]], wanted[["c0", "c1", "c2"]])
    errors = pandas.read_csv("errors.csv").set_index("column")
    assert errors["measured"].sum() == 3
    assert (reconstructed["same"] == 7.5).all()
    left = (reconstructed - wanted[reconstructed.columns[1:]])[reconstructed.columns[1:]].iloc[:, 3:12]
    np.testing.assert_allclose(left.std(), errors["standard_deviation_of_error"][3:], rtol=1.0)
    if scale == "none":
        numbers = tables.drop(columns=["id", "same"]).to_numpy()
        expected = Reconstructor([0, 1, 2]).fit(numbers[:200]).inverse_transform(numbers[200:, :3])
        np.testing.assert_allclose(reconstructed.iloc[:, 1:13], expected)


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


def test_a_failed_sensor_is_predicted_from_the_others_and_its_rows_are_named(tables, capsys):
    """Two columns that know each other; the mean of one would be off by a standard deviation."""
    tables["c1"] = tables["c0"] * 2 + 0.01 * np.random.default_rng(1).standard_normal(260)
    tables[:200].to_csv("today.csv", index=False)
    assert call(SELECT) == 0
    new = tables[200:].copy()
    new.loc[203:210, "c1"] = np.nan
    new.to_csv("gaps.csv", index=False)
    assert call("reconstruct picked.json gaps.csv -o all.csv") == 0
    assert "8 of 60 rows lack a selected column" in (err := capsys.readouterr().err)
    assert "rows 4, 5" in err
    left = pandas.read_csv("all.csv")["c1"] - tables["c1"][200:].reset_index(drop=True)
    assert left.abs().max() < 0.2 * tables["c1"].std()


def test_what_is_wrong_is_said(tables, capsys):
    assert call(SELECT.replace(" --save-map", "")) == 0
    tables[200:].to_csv("tomorrow.csv", index=False)
    stored = Path("picked.map.npz")

    def flip(path, place):
        content = bytearray(path.read_bytes())
        content[place] ^= 1
        path.write_bytes(content)

    def forge(**changes):
        """Store other arrays, with the checksums that they need."""
        with np.load(stored) as arrays:
            changed = {**arrays, **changes}
        np.savez_compressed(stored, **changed)
        record = read_record(Path("picked.json"))
        record["map"]["sha256"] = hashlib.sha256(stored.read_bytes()).hexdigest()
        Path("picked.json").write_text(json.dumps({**record, "checksum": checksum(record)}))

    again, record = (lambda: call(SELECT + " --force"), ""), Path("picked.json")
    weights = np.full((3, 12), 0.5)
    for damage, words in (
        (lambda: None, "run ufselect select again with --save-map"),
        again,
        (lambda: flip(stored, 1000), "is not the map of"),
        again,
        (lambda: flip(record, record.read_text().index("today.csv")), "was changed since"),
        again,
        (lambda: forge(scale=np.zeros(12)), "damaged: scale has numbers that no map has"),
        (lambda: forge(scale=np.ones(12), mean=np.full(12, 1e308)), "damaged: mean has numbers"),
        (lambda: forge(mean=np.array(["a"] * 12)), "damaged: mean is not what a map has"),
        (lambda: forge(mean=np.zeros(12), weights=weights[:, 1:]), "damaged: weights has another size"),
        (lambda: forge(weights=weights, columns=np.array([0, 1, 12])), "damaged: the selected columns are"),
        (lambda: forge(columns=np.arange(3), unit=np.float64(np.nan)), "damaged: unit has numbers"),
        again,
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
