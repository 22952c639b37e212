"""What people bring: codes for missing values, prices in euros, spectra, titles, several labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.commands import call, call_and_read, chosen, record

from ufselect.io import ReadOptions, read_table

pandas = pytest.importorskip("pandas")
FAST = "-m MaxVariance"
NASTY = Path(__file__).resolve().parents[3] / "shared" / "nasty"
VALUES = np.random.default_rng(0).normal(20, 3, (60, 6)).round(2)
NAMES = [f"TI-{j}" for j in range(6)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


def frame() -> pandas.DataFrame:
    return pandas.DataFrame(VALUES.copy(), columns=NAMES)


def save(table: pandas.DataFrame, name: str) -> None:
    if name.endswith(".npy"):
        np.save(name, table.to_numpy())
    elif name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
        table.to_excel(name, index=False)
    elif name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
        table.to_parquet(name)
    elif name.endswith(".h5ad"):
        anndata = pytest.importorskip("anndata")
        obs = pandas.DataFrame(index=[f"c{i}" for i in table.index])
        var = pandas.DataFrame(index=list(table.columns))
        anndata.AnnData(table.to_numpy(), obs, var).write_h5ad(name)
    else:
        table.to_csv(name, index=False)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.xlsx", "t.npy", "t.h5ad"])
@pytest.mark.filterwarnings("ignore")
def test_codes_for_missing_values_are_numbers_in_every_format(name):
    table = frame()
    table.iloc[::7, 2] = -999.0
    save(table, name)
    (doubt,) = read_table(name).doubts
    assert "-999 lies outside" in doubt
    assert "add --na -999." in doubt
    read = read_table(name, ReadOptions(missing=("-999",)))
    assert not read.doubts
    np.testing.assert_array_equal(read.data, table.mask(table == -999).to_numpy().astype(read.data.dtype))


def test_zero_in_sparse_data_is_no_code():
    from scipy import sparse

    values = np.tile(np.arange(6.0), (6, 1)).T + np.diag(np.full(6, -99.0))
    values[values < 0] = -99
    sparse.save_npz("s.npz", sparse.csr_array(values))
    assert np.isnan(read_table("s.npz", ReadOptions(missing=("-99",))).data.toarray()).sum() == 6
    assert call("select s.npz --na 0") == 1


def test_the_record_carries_the_codes_to_new_rows():
    table = pandas.DataFrame(VALUES + VALUES.sum(axis=1)[:, None], columns=NAMES)
    table.iloc[::7, 2] = -999.0
    save(table, "t.parquet")
    assert call("select t.parquet -k 4 --keep TI-2 --na -999 -o picked.csv --save-map") == 0
    assert call("reconstruct picked.json t.parquet -o all.csv") == 0
    assert pandas.read_csv("all.csv")["TI-2"].min() > 50
    save(table, "t.csv")
    assert call("select t.csv -k 6 --na -999 --impute median -m MaxVariance -o filled.csv") == 0
    assert pandas.read_csv("filled.csv").to_numpy().min() > 50


@pytest.mark.parametrize("code", [99, 999, 9999])
def test_numbers_outside_a_scale_are_named_before_the_result(code, capsys):
    rng = np.random.default_rng(1)
    answers = pandas.DataFrame(rng.integers(1, 6, (80, 5)), columns=[f"q{j}" for j in range(5)])
    answers.iloc[::9, [1, 3]] = code
    save(answers, "t.csv")
    _, _, err = call_and_read(f"select t.csv -k 2 {FAST} -o out.csv", capsys)
    assert err.startswith(f"{code} lies outside 1 to 5 in q1, q3; if it means missing, add --na {code}.")
    assert record("out.json")["assumed"][0].startswith(f"{code} lies outside")
    assert read_table("t.csv", ReadOptions(missing=(str(code),))).n_missing.tolist() == [0, 9, 0, 9, 0]


def test_a_column_whose_name_ends_in_no_is_a_feature():
    rng = np.random.default_rng(2)
    table = frame().assign(smoker_no=rng.permutation(60) * 3, a_no=rng.permutation(60) * 7)
    save(table.assign(sample_no=rng.permutation(60) * 5), "t.csv")
    read = read_table("t.csv")
    assert {"smoker_no", "a_no"} < set(read.feature_names)
    assert read.id_name == "sample_no"


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_labels_and_covariates_are_carried_along(name, capsys):
    table = frame().assign(kind=["u", "v"] * 30, age=np.arange(60) % 17 + 0.5, site=[1, 2, 3] * 20)
    save(table, name)
    flags = "--labels kind --labels age --labels site"
    assert call(f"select {name} -k 6 {FAST} {flags} -o out.csv") == 0
    out = pandas.read_csv("out.csv")
    assert list(out.columns) == [*NAMES, "kind", "age", "site"]
    assert out["age"].tolist() == table["age"].tolist()
    assert set(chosen("out.json")) == set(NAMES)
    table.drop(columns=["kind", "age"]).to_csv("new.csv", index=False)
    assert call("apply out.json new.csv -o new-out.csv") == 0
    assert list(pandas.read_csv("new-out.csv").columns) == [*NAMES, "site"]
    _, _, err = call_and_read(f"select {name} -k 2 {FAST} --exclude age,site -o less.csv", capsys)
    assert "age" not in pandas.read_csv("less.csv")
    assert "Left out 2 columns (excluded): age, site. --labels keeps them in the output." in err


def test_a_continuous_column_is_no_class(capsys):
    whole = (VALUES[:, 0] * 10).round() // 2
    save(frame().assign(kind=[f"k{j % 3}" for j in range(60)], whole=whole), "t.csv")
    for label in ("TI-1", "whole"):
        code, _, err = call_and_read(f"compare t.csv --labels {label} -k 2 {FAST} --runs 2", capsys)
        assert (code, "measurements, not classes" in err) == (1, True)
    code, out, _ = call_and_read(f"compare t.csv --labels kind -k 2 {FAST} --runs 2", capsys)
    assert (code, "finds the classes best: accuracy" in out) == (0, True)


@pytest.mark.parametrize("step", [1.929, 1.4286, -3.857])
@pytest.mark.parametrize("digits", [0, 4])
def test_rounded_wavelengths_are_names(step, digits):
    names = [f"{1100 + step * j:.1f}" for j in range(12)]
    spectra = (np.random.default_rng(3).random((20, 12)) * 1000).round(digits)
    pandas.DataFrame(spectra, columns=names).to_csv("t.csv", index=False)
    read = read_table("t.csv")
    assert read.feature_names == names
    assert not read.doubts


def test_numbers_that_may_be_names_are_asked_about_first(capsys):
    rows = np.sort(np.random.default_rng(4).random((30, 7)), axis=1).round(3)
    np.savetxt("t.csv", rows, delimiter=",", fmt="%.3f")
    _, _, err = call_and_read(f"select t.csv -k 2 {FAST}", capsys)
    assert err.startswith("The first line holds numbers, so it is read as data (--header if it holds names).")


@pytest.mark.parametrize(
    ("decimal", "form"),
    [(",", "{} €"), (",", "€ {}"), (",", "{} EUR"), (",", "{}%"), (".", "${}"), (".", "{} %"), (".", "£{}")],
)
def test_currency_and_per_cent_under_both_decimal_marks(decimal, form):
    cells = [[form.format(f"{v:.2f}".replace(".", decimal)) for v in row] for row in VALUES]
    pandas.DataFrame(cells, columns=NAMES).to_csv("t.csv", index=False, sep=";")
    np.testing.assert_array_equal(read_table("t.csv").data, VALUES)


def test_where_most_columns_are_lost_this_is_said_first_and_nothing_is_praised(capsys):
    words = pandas.DataFrame({f"q{j}": ["Agree", "Disagree", "Neutral"] * 20 for j in range(9)})
    shared = np.random.default_rng(5).standard_normal((60, 1))
    numbers = pandas.DataFrame(shared + 0.1 * VALUES, columns=NAMES)
    save(pandas.concat([words, numbers], axis=1), "t.csv")
    _, _, err = call_and_read(f"select t.csv -k 3 {FAST} -o out.csv", capsys)
    said = "Only 6 of 15 columns can be selected from: 9 do not hold numbers (q0 holds 'Agree')."
    assert err.startswith(said)
    assert record("out.json")["trust"] == "doubtful"
    assert record("out.json")["assumed"][0] == said


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx"])
def test_titles_above_the_names_are_left_out_and_said(name):
    rows = [["ACME GmbH – report"], ["Exported 2024-01-05"], [], NAMES, *VALUES.tolist()]
    if name == "t.xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(name)
    else:
        Path(name).write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n", encoding="utf-8")
    read = read_table(name)
    assert read.feature_names == NAMES
    np.testing.assert_array_equal(read.data, VALUES)
    assert any('as a title, "ACME GmbH – report / Exported' in note for note in read.notes)
    again = read_table(name, ReadOptions(skip_rows=3))
    np.testing.assert_array_equal(again.data, VALUES)
    assert not any("as a title" in note for note in again.notes)


@pytest.mark.parametrize(
    ("name", "n_columns"),
    [("sales_euro.csv", 15), ("sales_title.csv", 15), ("sales_title.xlsx", 15), ("spec.csv", 30)],
)
def test_the_tables_of_a_newcomer(name, n_columns, capsys):
    if not (NASTY / name).exists():
        pytest.skip("the files that hurt are not beside the project")
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    code, out, _ = call_and_read(f"select {NASTY / name} -k 3 {FAST} --json", capsys)
    assert (code, json.loads(out)["data"]["n_features"]) == (0, n_columns)
