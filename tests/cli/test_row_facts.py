"""Gaps that a method works around, batches and weights of rows: taken into account, copied untouched."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from tests.cli.commands import call, chosen, record

from ufselect import DSCOFS, LaplacianScore, MaxVariance
from ufselect.report import explain

ROWS, NAMES = 120, [f"v{j}" for j in range(8)]


def values() -> np.ndarray:
    rng = np.random.default_rng(3)
    inner = rng.standard_normal((ROWS, 3)) @ rng.standard_normal((3, 8)) + 0.3 * rng.standard_normal(
        (ROWS, 8)
    )
    return (inner + 8 * np.outer(np.arange(ROWS) % 3, rng.standard_normal(8))).round(3)


@pytest.fixture
def folder(folder):
    frame = pandas.DataFrame(values(), columns=NAMES)
    frame.insert(0, "id", [f"{i:04}" for i in range(ROWS)])
    frame.insert(4, "plate", [f"0{i % 3}" for i in range(ROWS)])
    frame["times"] = [f"{i % 4}.0" for i in range(ROWS)]
    frame.to_csv("t.csv", index=False)
    gaps = frame.copy()
    gaps.loc[[3, 50], "v1"] = np.nan
    gaps.loc[7, "v6"] = np.nan
    gaps.to_csv("gaps.csv", index=False)
    return folder


def names_of(selector) -> list[str]:
    return [NAMES[j] for j in np.argsort(selector.ranking_)[: selector.support_.sum()]]


def text(name: str) -> pandas.DataFrame:
    return pandas.read_csv(name, dtype=str, keep_default_na=False)


def test_gaps_are_left_to_the_method_and_stay_in_the_output(folder, capsys):
    line = "select gaps.csv -k 8 -m DSCOFS --scale none --impute keep --batch plate --weights times"
    assert call(f"{line} -o out.csv --report page.html") == 0
    said = capsys.readouterr().err
    assert "3 missing values in 2 columns were left as they are." in said
    pandas.testing.assert_frame_equal(
        text("out.csv"), text("gaps.csv")[["id", "plate", "times", *NAMES]], check_like=False
    )
    found, page = record("out.json"), Path("page.html").read_text(encoding="utf-8")
    assert found["missing"]["route"] == "completed"
    assert found["data"]["batch_column"] == "plate"
    assert found["data"]["weight_column"] == "times"
    words = "for the selection they were filled in from the other columns by a low-rank fit"
    assert any(words in note for note in found["assumed"])
    assert words in page
    assert "nan" not in page.split("<main")[1].split("<script")[0].lower().replace("nanm", "")


def test_the_choice_with_gaps_is_that_of_the_library(folder):
    assert call("select gaps.csv -k 3 -m DSCOFS --scale none --impute keep --exclude times -o out.csv") == 0
    data = pandas.read_csv("gaps.csv")[NAMES].to_numpy()
    assert chosen("out.json") == names_of(DSCOFS(3, max_correlation=0.999).fit(data))
    assert call("select gaps.csv -k 3 -m DSCOFS --scale standard --impute keep --exclude times -o s.csv") == 0
    scaled = (data - np.nanmean(data, axis=0)) / np.nanstd(data, axis=0)
    assert chosen("s.json") == names_of(DSCOFS(3, max_correlation=0.999).fit(scaled))


def test_batches_and_weights_reach_the_fit(folder):
    plates, times = np.arange(ROWS) % 3, np.arange(ROWS) % 4
    for method, selector, facts in (
        ("DSCOFS", DSCOFS, {"--batch plate": {"batch": plates}, "--weights times": {"sample_weight": times}}),
        ("LaplacianScore", LaplacianScore, {"--batch plate": {"batch": plates}}),
    ):
        for flag, metadata in facts.items():
            out = f"{method}-{flag.split()[1]}.csv"
            other = "--exclude times" if "weights" not in flag else ""
            assert call(f"select t.csv -k 3 -m {method} --scale none {other} {flag} -o {out}") == 0
            fitted = selector(3, max_correlation=0.999).fit(values(), **metadata)
            assert chosen(out.replace(".csv", ".json")) == names_of(fitted)
    plain = DSCOFS(3, max_correlation=0.999).fit(values())
    assert chosen("DSCOFS-plate.json") != names_of(plain)  # else this would prove nothing


def test_whole_weights_equal_repeated_rows_scaling_included(folder):
    frame = text("t.csv")
    frame.loc[np.repeat(np.arange(ROWS), np.arange(ROWS) % 4)].to_csv("repeated.csv", index=False)
    line = "-k 4 -m DSCOFS --scale standard"
    assert call(f"select t.csv {line} --weights times -o weighted.csv") == 0
    assert call(f"select repeated.csv {line} --exclude times -o repeated-out.csv") == 0
    first, second = record("weighted.json"), record("repeated-out.json")
    for one, other in zip(first["result"]["features"], second["result"]["features"], strict=True):
        assert one["name"] == other["name"]
        for figure in ("mean", "deviation", "score"):
            assert one[figure] == pytest.approx(other[figure], rel=1e-6)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "select gaps.csv --impute error",
            "or --impute keep for a method that works around them, such as DSCOFS",
        ),
        ("select gaps.csv --impute keep --clusters 2", "--for clusters cannot handle missing values"),
        ("select gaps.csv --impute keep -m LaplacianScore", "LaplacianScore cannot handle missing values"),
        ("select t.csv --batch plate --clusters 2", "--for clusters cannot take --batch into account"),
        ("select t.csv -m LaplacianScore --weights times", "LaplacianScore cannot take --weights"),
        ("select t.csv -m DSCOFS --batch plat", "--batch names the column 'plat'"),
        ("select t.csv -m DSCOFS --weights v1", "which is not a weight"),
        ("select t.csv -m DSCOFS --batch id", "Every batch has one row"),
        ("select digits -m DSCOFS --batch x", "has features alone"),
        ("select t.npy -m DSCOFS --weights x", "drop --weights"),
    ],
)
def test_what_cannot_be_taken_is_refused_before_anything_is_written(folder, capsys, line, sentence):
    np.save("t.npy", values())
    before = sorted(path.name for path in folder.iterdir())
    assert call(line) == 1
    shown = capsys.readouterr()
    assert sentence in " ".join(shown.err.split())
    assert shown.out == ""
    assert sorted(path.name for path in folder.iterdir()) == before


def test_rows_without_a_batch_are_one(folder, capsys):
    frame = text("t.csv")
    for name, value in (("hole", ""), ("named", "none")):
        frame.loc[4:6, "plate"] = value
        frame.to_csv(f"{name}.csv", index=False)
        assert call(f"select {name}.csv -k 3 -m DSCOFS --batch plate --json") == 0
    shown = capsys.readouterr().out.split("\n{")
    hole, named = json.loads(shown[0]), json.loads("{" + shown[1])
    assert hole["result"]["features"] == named["result"]["features"]
    assert "plate: 3 rows without a value form a batch." in hole["assumed"]


def test_a_run_with_gaps_and_batches_is_repeated_and_reported(folder, capsys):
    line = "select gaps.csv -k 3 -m DSCOFS --impute keep --batch plate --weights times -o out.csv"
    assert call(line) == 0
    assert call("select --from out.json -o again.csv") == 0
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()
    assert call("select --from out.json --report page.html") == 0
    assert call("apply out.json t.csv -o applied.csv") == 0
    assert set(chosen("out.json")) < set(text("applied.csv").columns)


@pytest.mark.filterwarnings("ignore")
def test_batches_of_h5ad(folder):
    anndata = pytest.importorskip("anndata")
    obs = pandas.DataFrame(
        {"plate": [f"p{i % 3}" for i in range(ROWS)]}, index=[f"c{i}" for i in range(ROWS)]
    )
    anndata.AnnData(values(), obs, pandas.DataFrame(index=NAMES)).write_h5ad("t.h5ad")
    assert call("select t.h5ad -k 3 -m DSCOFS --scale none --batch plate -o out.h5ad") == 0
    expected = DSCOFS(3, max_correlation=0.999).fit(values(), batch=np.arange(ROWS) % 3)
    assert chosen("out.json") == names_of(expected)


def test_what_represents_a_column_knows_gaps_batches_and_weights():
    data, batches = values(), np.arange(ROWS) % 3
    within = data.copy()
    for batch in range(3):
        within[batches == batch] -= data[batches == batch].mean(axis=0)
    selector = MaxVariance(3).fit(data, batch=batches)
    told = explain(selector, data, batch=batches, assessment=False)
    plain = explain(selector, within, assessment=False)
    np.testing.assert_allclose(told.closest_r, plain.closest_r)
    gapped = data.copy()
    gapped[5, 2] = np.nan
    known = np.where(np.isnan(gapped), np.nanmean(gapped, axis=0), gapped)
    first, second = (explain(selector, X, assessment=False) for X in (gapped, known))
    np.testing.assert_allclose(first.means, second.means)
    by_pairs = pandas.DataFrame(gapped).corr().to_numpy()  # of the rows that have both values
    np.testing.assert_allclose(first.closest_r, by_pairs[first.ranked[first.closest], np.arange(8)])
    weights = (np.arange(ROWS) < 60).astype(float)
    half = explain(selector, data, sample_weight=weights, assessment=False)
    np.testing.assert_allclose(half.closest_r, explain(selector, data[:60], assessment=False).closest_r)


def test_differences_between_batches_are_nothing_to_reconstruct(folder):
    frame = pandas.read_csv("t.csv", dtype={"id": str, "plate": str})
    frame[NAMES] -= frame.groupby("plate")[NAMES].transform("mean")
    frame.to_csv("centred.csv", index=False)
    for name in ("t", "centred"):
        line = "-k 3 -m DSCOFS --scale none --batch plate --exclude times"
        assert call(f"select {name}.csv {line} -o {name}-out.csv") == 0
    first, second = (record(f"{name}-out.json")["assessment"]["table"] for name in ("t", "centred"))
    assert [row["mean"] for row in first] == pytest.approx([row["mean"] for row in second], abs=1e-6)
