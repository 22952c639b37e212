"""What people bring: codes for missing values, prices in euros, spectra, titles, several labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.commands import call, call_and_read, chosen, record

from ufselect.io import ReadOptions, read_table

pandas = pytest.importorskip("pandas")
FAST = "-m MaxVariance"
VALUES = np.random.default_rng(0).normal(20, 3, (60, 6)).round(2)
NAMES = [f"TI-{j}" for j in range(6)]


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
    _, _, err = call_and_read(f"select t.csv -k 2 {FAST} -o out.csv --report page.html", capsys)
    box = Path("page.html").read_text(encoding="utf-8").partition('role="note">')[2]
    assert box.startswith(f"{code} lies outside 1 to 5 in q1, q3")
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
    assert (code, "The highest accuracy is" in out) == (0, True)


def test_a_tie_names_all_methods_and_none_beats_what_is_random(capsys):
    rng, kind = np.random.default_rng(0), np.arange(60) % 2
    table = pandas.DataFrame(rng.standard_normal((60, 8))).add_prefix("v").assign(kind=kind)
    table[["v0", "v1"]] += 40 * kind[:, None]
    save(table.assign(kind=[f"k{each}" for each in kind]), "t.csv")
    _, out, _ = call_and_read("compare t.csv --labels kind -k 2 -m MaxVariance --runs 2 --scale none", capsys)
    assert "The highest accuracy is 100 % with 2 columns, by Max variance and PCA leverage (" in out
    table["v7"] = 1000 * rng.standard_normal(60)
    save(table.assign(kind=[f"k{each}" for each in kind]), "t.csv")
    _, out, _ = call_and_read("compare t.csv --labels kind -k 1 -m MaxVariance --runs 2 --scale none", capsys)
    assert "No method finds the classes better than random columns: the highest" in out
    assert "best" not in out


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


SCALE = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]


def answers(words: list[str]) -> pandas.DataFrame:
    rng = np.random.default_rng(6)
    person = rng.normal(0, 1, (90, 1))
    places = np.clip(np.rint(2 + person + rng.normal(0, 0.7, (90, 6))), 0, 4).astype(int)
    return pandas.DataFrame(np.array(words)[places], columns=[f"q{j}" for j in range(6)])


@pytest.mark.parametrize("words", [SCALE, ["nie", "selten", "manchmal", "oft", "immer"]])
def test_answers_in_words_are_places_on_a_scale(words):
    table = answers(words).assign(sex=["m", "f"] * 45)
    expected = np.vectorize(words.index)(table.iloc[:, :6].to_numpy()) + 1.0
    table.iloc[::11, 2] = "No answer"
    expected[::11, 2] = np.nan
    save(table, "t.csv")
    orders = () if words is SCALE else (tuple(words),)
    read = read_table("t.csv", ReadOptions(categorical="ordinal", orders=orders))
    assert read.feature_names == [f"q{j}" for j in range(6)]
    np.testing.assert_array_equal(read.data, expected)
    assert [column.name for column in read.left_out] == ["sex"]
    order = f"--order {','.join(words)}" if orders else ""
    assert call(f"select t.csv -k 6 {FAST} --categorical ordinal {order} -o out.csv".replace("  ", " ")) == 0
    assert set(pandas.read_csv("out.csv")["q0"]) <= set(words)
    assert call("select --from out.json -o again.csv") == 0
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()


def test_one_hot_columns_are_listed_by_their_question(capsys):
    save(pandas.concat([frame(), answers(SCALE).iloc[:60, :2]], axis=1), "t.csv")
    line = f"select t.csv -k 3 {FAST} --categorical onehot --keep q0"
    listed = call_and_read(line, capsys)[1].split("represents (correlation)")[1]
    assert "q0" in listed
    assert "q0=" not in listed


def test_prices_regions_and_positions_are_read_from_files_by_name(capsys):
    save(frame(), "t.csv")
    prices = {"TI-0": 1, "TI-1": 1, "TI-2": 100, "TI-3": 100, "TI-4": 1, "TI-5": 100}
    lines = [f"{name};{price}" for name, price in sorted(prices.items(), reverse=True)]
    Path("costs.csv").write_text("sensor;price\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assert call("select t.csv -k 3 --costs costs.csv --param budget=3 -o out.csv") == 0
    assert set(chosen("out.json")) == {"TI-0", "TI-1", "TI-4"}
    _, _, err = call_and_read("select t.csv -k 4 --costs costs.csv --param budget=5", capsys)
    assert "The selected columns cost 3 of the budget of 5." in err
    assert "The budget allows 3 of the 4 columns asked for." in err
    code, _, err = call_and_read("select t.csv -k 4 --costs costs.csv", capsys)
    assert (code, "add --param budget=B." in " ".join(err.split())) == (2, True)
    assert call("select --from out.json -o again.csv") == 0
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()
    regions = "\n".join(f"TI-{j},{'west' if j < 2 else 'east'}" for j in range(6))
    Path("regions.csv").write_text(regions, encoding="utf-8")
    quotas = "quotas={'west':(2,2)}"
    assert call(f"select t.csv -k 3 --regions regions.csv --param {quotas} -o r.csv") == 0
    assert {"TI-0", "TI-1"} < set(chosen("r.json"))
    places = "\n".join(f"TI-{j}\t{j // 2 * 10}\t{j % 2}" for j in reversed(range(6)))
    Path("places.tsv").write_text(places, encoding="utf-8")
    assert call("select t.csv -k 3 --positions places.tsv --param min_distance=5 -o p.csv") == 0
    assert {int(name[-1]) // 2 for name in chosen("p.json")} == {0, 1, 2}
    for text, said in (
        ("TI-0,1\nTI-1,x\nTI-2,1\nTI-3,1\nTI-4,1\nTI-5,1", "'x' for TI-1, which is not a number"),
        ("TI-0,free\nTI-1,1", "--costs has 'free' for TI-0, which is not a number"),
        ("TI-0,1\nTI-9,2", "--costs names TI-9, which the table does not have"),
        ("TI-0,1\nTI-1,2", "--costs says nothing of TI-2, TI-3, TI-4, TI-5"),
        ("TI-0,1\nTI-0,2", "bad.csv names TI-0 more than once"),
    ):
        Path("bad.csv").write_text(text, encoding="utf-8")
        code, _, err = call_and_read("select t.csv -k 3 --costs bad.csv --param budget=3", capsys)
        assert (code, said in err) == (1, True), err


def test_the_cluster_of_each_row_is_written():
    rng = np.random.default_rng(7)
    kinds = np.repeat([0, 1], 40)
    values = rng.normal(0, 1, (80, 6)) + 8 * kinds[:, None]
    table = pandas.DataFrame(values, columns=NAMES)
    table.insert(0, "id", [f"s{i}" for i in range(80)])
    save(table, "t.csv")
    assert call("select t.csv -k 3 --clusters 2 --labels-out rows.csv --add-clusters -o out.csv") == 0
    rows, out = pandas.read_csv("rows.csv"), pandas.read_csv("out.csv")
    assert list(rows.columns) == ["id", "cluster"]
    assert rows["id"].tolist() == out["id"].tolist() == table["id"].tolist()
    assert rows["cluster"].tolist() == out["cluster"].tolist()
    assert len(set(zip(rows["cluster"], kinds, strict=True))) == 2


def test_methods_to_compare_may_stand_in_one_word(capsys):
    save(frame().assign(kind=["u", "v", "w"] * 20), "t.csv")
    line = "compare t.csv --labels kind -k 2 -m MaxVariance,LaplacianScore --runs 2"
    code, out, _ = call_and_read(line, capsys)
    assert (code, "LapScore" in out, "Max variance" in out) == (0, True, True)


def first_said(table, name: str, capsys, flags: str = "") -> str:
    save(table, name)
    return call_and_read(f"select {name} -k 2 {FAST} {flags}", capsys)[2]


def test_what_may_make_the_result_useless_is_said_first(capsys):
    """Two codes in a column, words among numbers, genes in rows, a column of totals, lost columns."""
    rng = np.random.default_rng(8)
    survey = pandas.DataFrame(rng.integers(1, 8, (90, 4)), columns=[f"q{j}" for j in range(4)])
    survey.iloc[::7, 1], survey.iloc[3::7, 1] = 98, 99
    assert first_said(survey, "survey.csv", capsys).count("lies outside 1 to 7 in q1") == 2
    lab = frame().astype(object)
    lab.iloc[4, 2] = "<5"
    assert first_said(lab, "lab.csv", capsys).startswith("TI-2 is mostly numbers but was left out because of")
    genes = pandas.DataFrame(
        {"gene": [f"ENSG{i:011}" for i in range(60)], "S1": VALUES[:, 0], "S2": VALUES[:, 1]}
    )
    hint = "Rows look like genes and columns like samples"
    assert first_said(genes, "genes.csv", capsys).startswith(hint)
    barcodes = ["".join(rng.choice(list("ACGT"), 16)) + "-1" for _ in range(90)]
    cells = pandas.DataFrame(rng.poisson(2, (30, 90)), [f"Gene{chr(65 + i)}" for i in range(30)], barcodes)
    assert first_said(cells.rename_axis("").reset_index(), "cells.csv", capsys).startswith(hint)
    assert hint not in first_said(
        genes.assign(gene=range(60)).rename(columns={"gene": "Probe"}), "p.csv", capsys
    )
    sums = frame().assign(Total=VALUES.sum(axis=1))
    said = "Total looks like a total of other columns; --exclude Total leaves it out."
    assert first_said(sums, "sums.csv", capsys).startswith(said)
    assert said not in first_said(sums, "sums.csv", capsys, "--exclude Total")
    words = pandas.DataFrame({f"q{j}": ["Agree", "Disagree", "Neutral"] * 20 for j in range(9)})
    said = "Only 6 of 15 columns can be selected from: 9 do not hold numbers (q0 holds 'Agree')."
    assert first_said(pandas.concat([words, frame()], axis=1), "words.csv", capsys).startswith(said)


def test_labels_as_floats_remarks_of_matlab_and_categories_of_pandas():
    table = frame().assign(**{"class": [0.0, 1.0, 2.0] * 20})
    table.loc[3, "class"] = np.nan
    save(table, "t.csv")
    assert read_table("t.csv").label_name == "class"
    Path("m.txt").write_text("% measured on Monday\n" + frame().to_csv(index=False), encoding="utf-8")
    assert read_table("m.txt").feature_names == NAMES
    pytest.importorskip("pyarrow")
    frame().assign(kind=pandas.Categorical(["u", "v"] * 30)).to_parquet("t.parquet")
    assert [column.name for column in read_table("t.parquet").left_out] == ["kind"]
    frame().assign(price=[f"$ {1000 + v:,.2f}" for v in VALUES[:, 0]]).to_parquet("prices.parquet")
    np.testing.assert_allclose(read_table("prices.parquet").data[:, -1], 1000 + VALUES[:, 0])
    frame().sample(frac=1, random_state=0).to_parquet("shuffled.parquet")
    assert read_table("shuffled.parquet").id_name == "__index_level_0__"


def test_names_in_two_lines_times_float_ids_and_dates_of_a_workbook():
    lines = ["sample,Blood,Blood,Urine,Urine", ",Na,K,Na,K"]
    lines += [f"s{i},{','.join(map(str, row[:4]))}" for i, row in enumerate(VALUES)]
    Path("two.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert read_table("two.csv").feature_names == ["Blood Na", "Blood K", "Urine Na", "Urine K"]
    for name, ids in (("time", np.arange(60) * 0.5), ("index", np.arange(60.0)[::-1] * 3)):
        table = frame()
        table.insert(0, name, ids)
        save(table, f"{name}.csv")
        assert (read_table(f"{name}.csv").id_name, read_table(f"{name}.csv").feature_names) == (name, NAMES)
    save(frame().rename(columns={"TI-0": pandas.Timestamp(2024, 3, 1)}), "dates.xlsx")
    assert read_table("dates.xlsx").feature_names[0] == "2024-03-01"


def test_advice_says_why_columns_are_few_and_sees_through_capitals(capsys):
    cells = pandas.DataFrame({"weight": [f"{v} kg" for v in VALUES[:, 0]], "age": VALUES[:, 1]})
    save(cells.assign(height=[f"{v} cm" for v in VALUES[:, 2]]), "kg.csv")
    err = call_and_read("select kg.csv -k 2", capsys)[2]
    assert "Only 1 of 3 columns can be selected from: 2 do not hold numbers (weight holds '" in err
    save(frame(), "t.csv")
    assert call(f"select t.csv -k 2 {FAST} --keep TI-0 -o out.csv") == 0
    save(frame().rename(columns=str.lower), "low.csv")
    assert "did you mean ti-" in call_and_read("apply out.json low.csv -o x.csv", capsys)[2]
    labelled = frame().assign(kind=np.random.default_rng(0).permutation(["u", "v", "w"] * 20))
    save(labelled, "kinds.csv")
    out = call_and_read("compare kinds.csv --labels kind -k 2 -m MaxVariance --runs 2", capsys)[1]
    assert "No method finds the classes better than random columns: the highest" in out
