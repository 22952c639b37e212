"""Each table that hurts: what is read, what is said, and every byte that must not change."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.commands import call_and_read as call
from tests.cli.commands import record
from tests.cli.hard_tables import FEATURES, ROWS, VALUES, tables

from ufselect.io import read_table, write_selection
from ufselect.pipeline import Request, read_data, run_selection

TABLES = tables()
FAST = "-m MaxVariance"
FIVE = list(FEATURES)


@pytest.fixture
def folder(folder):
    for name, content in TABLES.items():
        Path(name).write_bytes(content)
    return folder


def cells(text: str, separator: str = ",") -> dict[str, list[str]]:
    header, *rows = csv.reader(text.splitlines(), delimiter=separator)
    return {name: ["".join(row[j : j + 1]) for row in rows] for j, name in enumerate(header)}


def written(name: str, separator: str = ",") -> dict[str, list[str]]:
    return cells(Path(name).read_text(encoding="utf-8-sig"), separator)


@pytest.mark.parametrize(
    ("name", "columns", "roles", "said"),
    [
        # ids, labels and text are copied, not used
        ("zeros.csv", FIVE, ("id", None), "id is taken as the row id"),
        ("e.csv", FIVE, ("id", None), "id is taken as the row id"),
        ("nan_id.csv", FIVE, ("id", None), "id is taken as the row id"),
        ("na.csv", FIVE, ("country", None), "country is taken as the row id"),
        ("dup_id.csv", FIVE, ("id", None), "id is taken as the row id"),
        ("big19.csv", FIVE, ("id", None), "id is taken as the row id"),
        ("lab0.csv", FIVE, ("barcode", "class"), "class is taken as the labels"),
        ("labgap.csv", FIVE, (None, "class"), "class is taken as the labels"),
        ("diagnosis.csv", FIVE, (None, "diagnosis"), "diagnosis is taken as the labels"),
        ("notes.csv", FIVE, ("id", None), "1 column (not numbers): note"),
        ("unn.csv", FIVE, ("Unnamed: 0", None), "taken as the row id"),
        ("pasid.csv", FIVE, ("PassengerId", None), "taken as the row id"),
        ("nr.csv", FIVE, ("Nr", None), "taken as the row id"),
        ("row.csv", FIVE, ("whatever", None), "taken as the row id"),
        ("blank_name.csv", FIVE, ("column_1", None), "taken as the row id"),
        ("yyyymmdd.csv", FIVE, (None, None), "1 column (dates): when"),
        ("bigint.csv", FIVE, (None, None), "too large to be distinct as floats): count"),
        ("xyz.csv", list("xyzw"), (None, None), ""),  # a coordinate called y
        ("comma_blank.csv", ["a"], ("my id", None), "taken as the row id"),  # blanks within cells
        # numbers and lines as people write them
        ("thou.csv", ["a", "b"], (None, None), '"," was removed from the numbers of a'),
        ("thou_de.csv", ["a", "b"], (None, None), '"." was removed from the numbers of a'),
        ("curr.csv", ["a", "b"], (None, None), "Currency signs were removed from the numbers of a"),
        ("pct.csv", ["a", "b"], (None, None), "Percent signs were removed"),
        ("minus.csv", ["a", "b"], (None, None), "read as a minus sign in a"),
        ("onecol_comma.csv", ["a"], (None, None), "decimal comma"),
        ("units_row.csv", FIVE, (None, None), "holds units (kg, cm, s, K, mol)"),
        ("comment.csv", FIVE, (None, None), "2 comment lines"),
        ("years.csv", [str(2001 + j) for j in range(5)], (None, None), "look like names"),
        ("nohead.csv", [f"column_{j}" for j in range(1, 6)], (None, None), "read as data"),
        ("latin1.csv", ["Größe", "Länge"], (None, None), "Windows-1252"),
        ("not.csv.gz", FIVE, (None, None), "named .gz but is not compressed"),
        ("blanks.dat", [f"column_{j}" for j in range(1, 6)], (None, None), "read as data"),
        ("blanks_named.txt", FIVE, (None, None), ""),
        ("blanks_remark.txt", FIVE, (None, None), ""),
        ("blanks_comma.txt", FIVE, (None, None), "decimal comma"),
        ("blanks_r.txt", ["a", "b", "c", "d e"], ("column_1", None), "taken as the row id"),
        # what is lacking, and what is a mistake
        ("short.csv", FIVE, (None, None), "2 lines have fewer fields than the 5 columns"),
        ("short_text.csv", FIVE, (None, None), "1 line has fewer fields than the 6 columns"),
        ("miss_lt.csv", FIVE[1:], (None, None), "2 cells such as '<0.01'; correct them, or use"),
    ],
)  # fmt: skip
def test_what_is_read_said_and_copied_byte_for_byte(folder, name, columns, roles, said):
    table = read_data(name)
    assert table.feature_names == columns
    assert (table.id_name, table.label_name) == roles
    assert said in " ".join([*table.doubts, *table.notes, *table.left_out_sentences(True)])
    if len(columns) == 5 and name not in ("xyz.csv", "short.csv"):
        np.testing.assert_array_equal(table.data, VALUES)
    write_selection(table, np.arange(len(columns)), Path("out.csv"))
    again = read_table("out.csv")
    np.testing.assert_array_equal(again.data, table.data)
    assert again.feature_names == columns
    source = TABLES[name].decode("latin-1" if name == "latin1.csv" else "utf-8")
    mark = ";" if table.dialect.decimal == "," else ","
    result = written("out.csv", mark)
    assert all(cell in source for column in result.values() for cell in column)
    original = cells(source, mark)
    for column in original.keys() & result.keys():
        assert result[column] == original[column][-ROWS:], column


def test_forms_of_one_table_give_one_result(folder, capsys):
    write_selection(read_table("plain.csv"), np.arange(5), Path("expected.csv"))
    expected = Path("expected.csv").read_text(encoding="utf-8")
    packed = [f"plain.csv.{ending}" for ending in ("gz", "bz2", "xz")]
    for name in ("bom.csv", "utf16.csv", "crlf.csv", "cr.csv", *packed):
        write_selection(read_table(name), np.arange(5), Path("out.csv"), force=True)
        assert Path("out.csv").read_text(encoding="utf-8-sig") == expected, name
    for name, options in (("percent_comment.csv", "--comment %"), ("blanks_named.txt", "--separator blanks")):
        assert call(f"select {name} -k 5 {FAST} {options} -o out.csv --force", capsys)[0] == 0
        found = np.array(list(written("out.csv").values()), dtype=float).T
        np.testing.assert_array_equal(found, VALUES)


def test_another_separator_is_said(folder, capsys):
    err = call(f"select blanks_comma.txt -k 5 {FAST} -o out.csv", capsys)[2]
    assert "written with semicolons between fields; the input has blanks" in err
    assert "between fields" not in call(f"select blanks_comma.txt -k 5 {FAST} -o text.txt", capsys)[2]
    assert written("text.txt", " ") == written("out.csv", ";")


def test_text_stands_before_the_features_or_is_dropped(folder, capsys):
    assert call(f"select notes.csv -k 2 {FAST} -o out.csv", capsys)[0] == 0
    assert list(written("out.csv"))[:2] == ["id", "note"]
    assert call(f"select notes.csv -k 2 {FAST} -o less.csv --drop-text", capsys)[0] == 0
    assert "note" not in written("less.csv")


@pytest.mark.parametrize("name", ["one_large.csv", "half_large.csv", "ratio20.csv", "ratio50.csv"])
def test_units_are_noticed(folder, name):
    run = run_selection(read_data(name), Request(method="MaxVariance", n_features=2))
    assert run.scaler.is_scaled_
    assert any("differ in scale" in line for line in run.assumptions())


def test_units_are_said_on_terminal_record_and_page_unless_they_are_to_stay(folder, capsys):
    code, _, err = call(f"select one_large.csv -k 2 {FAST} -o out.csv --report page.html", capsys)
    assert (code, "Columns differ in scale" in err) == (0, True)
    assert any("differ in scale" in line for line in record("out.json")["assumed"])
    assert "Columns differ in scale" in Path("page.html").read_text(encoding="utf-8")
    kept = json.loads(call(f"select one_large.csv -k 2 {FAST} --scale none --json", capsys)[1])
    assert kept["scaling"]["used"] == "none"
    err = call(f"select one_in_six.csv -k 2 {FAST} --scale none", capsys)[2]
    assert "v5 has 9" in err
    assert "decides what is selected; --scale standard" in err
    assert "decides" not in call(f"select plain.csv -k 2 {FAST} --scale none", capsys)[2]


def test_lines_that_end_too_early_are_named_in_error_and_record(folder, capsys):
    words = "2 lines have fewer fields than the 5 columns of short.csv: line 4 (4), line 8 (4)"
    code, _, err = call("select short.csv --impute error", capsys)
    assert (code, words in err) == (1, True)
    assert call(f"select short.csv {FAST} -o out.csv", capsys)[0] == 0
    assert any(words in note for note in record("out.json")["assumed"])


def test_missing_values_are_filled_and_the_rest_is_copied(folder, capsys):
    assert call(f"select miss_nd.csv -k 5 {FAST} --impute median -o out.csv", capsys)[0] == 0
    column = written("out.csv")["a"]
    filled = [column.pop(row) for row in (9, 3)]
    assert column == [f"{v:.2f}" for v in np.delete(VALUES[:, 0], [3, 9])]
    assert list(map(float, filled)) == pytest.approx([np.median(np.delete(VALUES[:, 0], [3, 9]))] * 2)


@pytest.mark.parametrize("name", ["ansi.csv", "long.csv"])
def test_names_cannot_steer_or_fill_the_terminal(folder, capsys, name):
    code, out, err = call(f"select {name} -k 2 {FAST} -o out.csv", capsys)
    assert code == 0
    assert not {"\x1b", "\x07"} & {*out, *err}
    assert max(map(len, out.splitlines())) <= 200
    assert list(written("out.csv")) == list(cells(TABLES[name].decode()))


def test_genes_in_rows_are_noticed_and_turned(folder, capsys):
    assert any("--transpose swaps them" in doubt for doubt in read_data("genes.tsv").doubts)
    assert call(f"select genes.tsv -k 6 {FAST} --transpose -o out.csv", capsys)[0] == 0
    source = cells(TABLES["genes.tsv"].decode(), "\t")
    result = written("out.csv")
    assert result["id"] == [f"S{j}" for j in range(60)]
    assert [result[f"G{i}"] for i in range(6)] == [[source[f"S{j}"][i] for j in range(60)] for i in range(6)]


def test_repeats_are_byte_identical(folder, capsys):
    for name in ("notes.csv", "copies.csv", "near.csv"):
        results = []
        for place in (f"{name}-1", f"{name}-2"):
            Path(place).mkdir()
            outputs = f"-o {place}/out.csv --ranking {place}/ranking.csv --names {place}/names.txt"
            assert call(f"select {name} -k 2 {FAST} {outputs}", capsys)[0] == 0
            files = {path.name: path.read_bytes() for path in Path(place).iterdir()}
            assert files.pop("out.json")  # it has the time
            results.append(files)
        assert results[0] == results[1]
        assert len(results[0]) == 3
