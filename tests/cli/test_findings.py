"""What went wrong when the command was tried as a new user would, on tables like those it was tried on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

from ufselect.cli.app import app


def ufselect(line: str):
    return CliRunner().invoke(app, line.split(), catch_exceptions=False)


def answer(line: str) -> dict:
    return json.loads(ufselect(f"{line} --json").stdout)


def names(record: dict) -> list[str]:
    return [each["name"] for each in record["result"]["features"]]


def factors(n_rows=150, n_columns=12, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n_rows, 3)) @ rng.standard_normal((3, n_columns))
    return values + 0.3 * rng.standard_normal(values.shape)


def genes(n_rows=150, n_columns=12):
    return pandas.DataFrame(factors(n_rows, n_columns), columns=[f"gene{j}" for j in range(n_columns)])


def noise(n_rows=120, n_columns=10, seed=0):
    values = np.random.default_rng(seed).standard_normal((n_rows, n_columns))
    return pandas.DataFrame(values).add_prefix("x")


def with_copies():
    return genes().assign(**{f"copy{j}": genes()[f"gene{j % 2}"] for j in range(7)})


def with_far_row(table, row=7):
    table = table.set_axis([f"patient{j}" for j in range(len(table))]).rename_axis("id")
    table.iloc[row] = 1000 * table.iloc[row].abs() + 40
    return table.reset_index()


def with_factor():
    table = noise(600, 24)
    table[["x1", "x2", "x3"]] += 1.5 * table[["x0"]].to_numpy()
    return table


def with_words():
    rng = np.random.default_rng(0)
    return genes().assign(colour=rng.choice(["red", "green"], 150), size=rng.choice(["s", "m"], 150))


@pytest.mark.parametrize(
    ("table", "options", "said", "not_said"),
    [
        (noise(), "-k 3 --for clusters", "No cluster structure found.", ""),
        (noise(), "-k 3 --for clusters", 'use the goal "reconstruct"', ""),
        (noise(300, 8, 3), "-k 3 --for clusters", "3 of 8 columns selected, although no clusters were", ""),
        (noise(300, 20), "-k 5", "Random columns do", "more columns would"),
        (with_copies(), "-k 4 --max-correlation 0.99", "and 4 more.", ""),
        (with_copies(), "-k 4 --max-correlation 0.99", "7 columns repeat another exactly: ", ""),
        (genes(n_columns=5), "", "2 of 5 columns", ""),
        (genes(), "", "5 columns are the default; -k changes the number.", ""),
        (with_far_row(genes()), "-k 4", "Row patient7 is more", ""),
        (with_far_row(noise()), "--for redundancy", "A row far from all others may cause these", ""),
        (with_far_row(noise()), "--for redundancy", "Correlations may depend on that", ""),
        (genes().assign(target=genes().sum(axis=1)), "-k 3", "to select from (--exclude target", ""),
        (genes().assign(target=genes().sum(axis=1)), "-k 3 --no-guess", "3 of", "holds no classes"),
        (genes().assign(again=genes()["gene0"]), "--for redundancy", "11 more represent no other", ""),
        (
            genes()[["gene0", "gene2"]].assign(again=genes()["gene0"]),
            "--for redundancy",
            "1 more represents",
            "",
        ),
        (with_factor(), "-k 2", "more columns would explain more.", ""),
        (with_words(), "-k 3", "--categorical onehot or ordinal to select from", ""),
    ],
)
def test_what_is_said(table, options, said, not_said):
    table.to_csv("t.csv", index=False)
    told = " ".join(ufselect(f"select t.csv {options}").output.split())
    assert said in told
    assert not not_said or not_said not in told


def test_excluded_columns_decide_neither_scaling_nor_columns_nor_what_they_are_worth():
    table = genes()
    table.to_csv("alone.csv", index=False)
    table.assign(total_reads=1e5 * table.abs().sum(axis=1)).to_csv("total.csv", index=False)
    alone, excluded = answer("select alone.csv -k 4"), answer("select total.csv -k 4 --exclude total_reads")
    assert excluded["scaling"]["used"] == alone["scaling"]["used"] == "none"
    assert names(excluded) == names(alone)
    assert excluded["assessment"] == alone["assessment"]
    assert excluded["message"] == alone["message"]
    assert excluded["data"]["n_features"] == 12
    assert answer("select total.csv -k 4")["scaling"]["used"] == "standard"


def test_a_column_with_most_of_the_variance_does_not_come_first_for_its_unit():
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(1.6 * factors(200, 6), columns=[f"q{j}" for j in range(6)])
    table["age"] = rng.normal(45, 15, 200)
    assert table.std().max() < 10 * table.std().min()
    table.to_csv("survey.csv", index=False)
    result = ufselect("select survey.csv -k 3")
    assert "age has" in result.stderr
    assert answer("select survey.csv -k 3")["scaling"]["used"] == "standard"
    table.mask(rng.random(table.shape) < 0.01).to_csv("gaps.csv", index=False)
    kept = answer("select gaps.csv -k 3 --impute keep")
    assert kept["scaling"]["used"] == "standard"


def test_the_answer_comes_first_in_plain_words():
    genes().to_csv("t.csv", index=False)
    result = ufselect("select t.csv -k 4 -o picked.csv")
    lines = [line for line in result.stdout.splitlines() if line.strip()]
    assert lines[0].startswith("4 of 12 columns from which the others are reconstructed")
    assert [name in result.stdout for name in names(answer("select t.csv -k 4"))] == [True] * 4
    assert lines[-1].startswith("These 4 columns explain 9")
    assert "They beat " in lines[-1]
    for word in ("criterion", "candidate", "seconds", "score", "ReconstructionSelector"):
        assert word not in result.stdout
    assert result.stderr.splitlines()[-2:] == [
        "Wrote the table to picked.csv",
        "Wrote the record to picked.json",
    ]
    detailed = ufselect("select t.csv -k 4 --details").stdout
    assert "ReconstructionSelector(" in detailed
    assert "score, 0 to 100" in detailed
    assert all(0 <= each["score"] <= 100 for each in answer("select t.csv -k 4")["result"]["features"])


def test_the_answer_is_one_on_terminal_json_record_and_page():
    genes().to_csv("t.csv", index=False)
    rng = np.random.default_rng(1)
    pandas.DataFrame(rng.standard_normal((80, 12))).add_prefix("x").to_csv("noise.csv", index=False)
    found = {}
    for name in ("t", "noise"):
        page = f"--report {name}.html" if name == "t" else ""
        result = ufselect(f"select {name}.csv -k 4 -o {name}-out.csv {page}")
        record = json.loads(Path(f"{name}-out.json").read_text(encoding="utf-8"))
        found[name] = record["beats_random"]
        assert record["message"] in " ".join(result.stdout.split())
        assert answer(f"select {name}.csv -k 4")["message"] == record["message"]
    assert found == {"t": "yes", "noise": "no"}
    shown = Path("t.html").read_text(encoding="utf-8")
    assert 'class="verdict yes"' in shown
    assert answer("select t.csv -k 4")["message"] in shown.replace("\u00a0%", " %")


def test_what_is_excluded_is_not_called_dropped():
    table = genes().assign(again=lambda t: t["gene0"])
    table.to_csv("t.csv", index=False)
    record = answer("select t.csv --for redundancy --exclude gene3,gene4")
    assert record["message"].startswith("The dropped column is correlated")
    represented = [each["name"] for column in record["result"]["features"] for each in column["represents"]]
    assert represented in (["again"], ["gene0"])
    assert "none is dropped" in answer("select t.csv --for redundancy --exclude again")["message"]


def test_a_number_found_among_text_columns_is_that_of_the_sentence():
    with_words().to_csv("t.csv", index=False)
    record = answer("select t.csv -k auto --categorical onehot")
    assert f"These {record['result']['n_selected']} columns explain" in record["message"]


def test_a_filter_leaves_missing_values_alone_and_says_its_own_correlations():
    rng = np.random.default_rng(0)
    table = genes(n_rows=3000).assign(again=lambda t: 2 * t["gene0"])
    table = table.mask(rng.random(table.shape) < 0.2)
    table.to_csv("t.csv", index=False)
    record = answer("select t.csv --for redundancy --max-correlation 0.99 -o kept.csv")
    assert record["result"]["n_selected"] == 12
    represented = [each for column in record["result"]["features"] for each in column["represents"]]
    assert represented == [{"name": "gene0", "correlation": 1.0}]
    kept = pandas.read_csv("kept.csv")
    assert kept.isna().sum().sum() == table[kept.columns].isna().sum().sum()


def test_shares_of_the_whole_are_not_rounded_up_to_it():
    grid = np.linspace(0, 1, 60)
    weights = np.random.default_rng(0).random((80, 3))
    curves = weights @ np.array([np.exp(-(((grid - c) / 0.2) ** 2)) for c in (0.2, 0.5, 0.8)])
    curves += np.random.default_rng(1).normal(0, 1e-3, curves.shape)
    pandas.DataFrame(curves, columns=range(900, 960)).to_csv("t.csv")
    assert ufselect("select t.csv -k 6 --report page.html").exit_code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "&gt;\u00a099.9\u00a0%" in page
    assert "100.0\u00a0%" not in page


def test_columns_are_taken_from_new_rows_that_have_no_classes():
    table = genes(60)
    table.assign(kind=["u", "v"] * 30).to_csv("t.csv", index=False)
    table.head(20).to_csv("new.csv", index=False)
    assert ufselect("select t.csv -k 3 --labels kind -o picked.csv").exit_code == 0
    assert ufselect("apply picked.json new.csv -o same.csv").exit_code == 0
    taken, first = pandas.read_csv("same.csv"), pandas.read_csv("picked.csv")
    assert [*taken.columns, "kind"] == list(first.columns)
    pandas.testing.assert_frame_equal(taken, first[taken.columns].head(20))


def test_ids_and_labels_that_are_asked_for_are_not_called_unknown():
    table = genes().assign(kind=["u", "v", "w"] * 50)
    table.insert(0, "id", [f"s{j}" for j in range(150)])
    table.to_csv("t.csv", index=False)
    for name, role in (("id", "the row id"), ("kind", "the labels")):
        with pytest.raises(ValueError, match=f"--keep {name} is not possible: .* left out \\({role}\\)"):
            ufselect(f"select t.csv -k 3 --labels kind --keep {name}")
    assert ufselect("select t.csv -k 3 --labels kind --exclude id,kind").exit_code == 0


@pytest.mark.parametrize("name", ["Total", "GESAMT", "moyenne", "r200"])
def test_a_row_of_totals_is_named_first_and_used_in_no_step(name):
    values = pandas.DataFrame(np.random.default_rng(0).lognormal(2, 1, (60, 8))).add_prefix("v")
    values.insert(0, "place", [f"p{i}" for i in range(60)])
    values.to_csv("plain.csv", index=False)
    values.loc[60] = [name, *values.drop(columns="place").sum()]
    values.to_csv("total.csv", index=False)
    for options in ("--for redundancy", "-k 3"):
        plain, total = (answer(f"select {each}.csv {options}") for each in ("plain", "total"))
        assert total["assumed"][0] == (
            f"Left out row {name}, a total or mean of the others by name or by values; --no-guess keeps it."
        )
        assert total["message"] == plain["message"]
        assert total["result"]["features"] == plain["result"]["features"]
    ufselect("select total.csv -k 3 -o picked.csv")
    assert len(pandas.read_csv("picked.csv")) == 60
    again = ufselect("apply picked.json total.csv -o again.csv")
    assert f"Left out row {name}" in " ".join(again.output.split())
    pandas.testing.assert_frame_equal(pandas.read_csv("again.csv"), pandas.read_csv("picked.csv"))
    result = ufselect("select total.csv -k 3 --no-guess --id place")
    assert f"Row {name} is more than twice as far" in " ".join(result.output.split())


def test_subtotals_in_any_column_of_text_are_left_out():
    values = pandas.DataFrame(np.random.default_rng(0).lognormal(2, 1, (60, 8))).add_prefix("v")
    values.insert(0, "grp", ["a", "b"] * 30)
    values.insert(1, "region", ["n", "n", "s", "w"] * 15)
    values.insert(2, "answer", ["mean", "nice", "good", "sum"] * 15)
    values.to_csv("plain.csv", index=False)
    for row, (group, region) in enumerate([("a", "Subtotal"), ("sous-total", ""), ("Grand total", "")], 60):
        values.loc[row] = [group, region, "", *values.iloc[:60, 3:].sum() / (1 + (row < 62))]
    values.to_csv("total.csv", index=False)
    plain, total = (answer(f"select {each}.csv -k 3") for each in ("plain", "total"))
    assert total["assumed"][0].startswith("Left out rows 61, 62, 63, totals or means")
    assert total["result"]["features"] == plain["result"]["features"]


def test_codes_that_occur_nowhere_or_among_usual_values_are_named():
    values = pandas.DataFrame(np.random.default_rng(0).integers(1, 6, (80, 4))).add_prefix("Q")
    values["age"] = np.arange(20, 100)[np.random.default_rng(1).permutation(80)]
    values.loc[:3, "Q1"] = 99
    values["note"] = ["left", "right"] * 40
    values.to_csv("t.csv", index=False)
    values.to_parquet("t.parquet")
    for name in ("t.csv", "t.parquet"):
        assumed = answer(f"select {name} -k 3 --na 99 --na Q1=99 --na right")["assumed"]
        assert "99 was read as missing among values of its size too: age (1)." in assumed
        assert [line for line in assumed if "nowhere" in line] == ["--na Q1=99 occurs nowhere in the table."]


def test_columns_named_by_numbers_tell_their_own_clusters():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    X = rng.standard_normal((150, 40))
    X[:, [4, 9, 19]] += 6 * np.eye(3)[y]
    pandas.DataFrame(X, columns=range(1, 41)).to_csv("numbers.csv", index=False)
    record = answer("select numbers.csv --clusters 3 -k 3")
    told = {column["name"] for cluster in record["clusters"] for column in cluster["columns"]}
    assert {"5", "10"} <= told <= set(names(record))


def test_score_names_rows_by_their_ids_beside_the_verdict():
    table = pandas.DataFrame(factors()).add_prefix("v")
    table.insert(0, "id", [f"s{i}" for i in range(len(table))])
    table.iloc[7, 1:] *= 200
    table.to_csv("table.csv", index=False)
    Path("mine.txt").write_text("\n".join(table.columns[1:4]), encoding="utf-8")
    said = " ".join(ufselect("score table.csv --columns mine.txt").output.split())
    assert "Row s7 is more than twice as far" in said


def test_notes_name_options_that_the_command_has():
    table = pandas.DataFrame(factors(), columns=[f"c{j}" for j in range(12)])
    table.insert(0, "sample", [f"s{row}" for row in range(len(table))])
    table.iloc[2:5, 3] = np.nan
    table.to_csv("t.csv", index=False)
    said = ufselect("select t.csv -k auto --save-map -o picked.csv").stderr
    assert "3 missing values in 1 column were filled by the column's median." in said
    assert "The written table has these medians too" in said
    assert (
        "3 missing values in 1 column were left as they are."
        in ufselect("score t.csv --columns c1,c5").stderr
    )
    for line in ("apply picked.json t.csv -o again.csv", "reconstruct picked.json t.csv -o all.csv"):
        assert "--no-guess for none" in ufselect(line).stderr
        assert ufselect(f"{line} --no-guess --force").exit_code == 0
