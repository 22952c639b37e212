"""Every hard table through the command: exit code, what is said, and every byte that must not change."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.commands import call_and_read as call
from tests.cli.hard_tables import FEATURES, ROWS, VALUES, tables

TABLES = tables()
FAST = "-m MaxVariance"


@pytest.fixture
def folder(folder):
    for name, content in TABLES.items():
        Path(name).write_bytes(content)
    return folder


def cells(text: str, separator: str = ",") -> dict[str, list[str]]:
    header, *rows = csv.reader(text.splitlines(), delimiter=separator)
    return {name: [row[j] for row in rows] for j, name in enumerate(header)}


def written(name: str) -> dict[str, list[str]]:
    return cells(Path(name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("zeros.csv", "id"),
        ("e.csv", "id"),
        ("nan_id.csv", "id"),
        ("na.csv", "country"),
        ("dup_id.csv", "id"),
        ("big19.csv", "id"),
        ("lab0.csv", "class"),
        ("labgap.csv", "class"),
        ("diagnosis.csv", "diagnosis"),
        ("notes.csv", "note"),
        ("unn.csv", "Unnamed: 0"),
        ("pasid.csv", "PassengerId"),
        ("nr.csv", "Nr"),
        ("row.csv", "whatever"),
        ("blank_name.csv", "column_1"),
        ("yyyymmdd.csv", "when"),
        ("bigint.csv", "count"),
    ],
)
def test_what_is_no_feature_is_copied_byte_for_byte(folder, capsys, name, column):
    code, out, err = call(f"select {name} -k 5 {FAST} -o out.csv", capsys)
    assert (code, "5 of 5 columns" in out) == (0, True)
    source = cells(TABLES[name].decode())
    result = written("out.csv")
    assert result["" if column == "column_1" else column] == source["" if column == "column_1" else column]
    for feature in FEATURES:
        assert result[feature] == source[feature]
    assert column in err


def test_text_stands_before_the_features_or_is_dropped(folder, capsys):
    assert call(f"select notes.csv -k 2 {FAST} -o out.csv", capsys)[0] == 0
    assert list(written("out.csv"))[:2] == ["id", "note"]
    assert call(f"select notes.csv -k 2 {FAST} -o less.csv --drop-text", capsys)[0] == 0
    assert "note" not in written("less.csv")


@pytest.mark.parametrize("name", ["one_large.csv", "half_large.csv", "ratio20.csv", "ratio50.csv"])
def test_units_are_noticed(folder, capsys, name):
    record = json.loads(call(f"select {name} -k 2 {FAST} --json", capsys)[1])
    assert any("differ in scale" in line for line in record["assumed"])
    assert record["scaling"]["used"] == "standard"


def test_units_are_said_on_terminal_record_and_page_unless_they_are_to_stay(folder, capsys):
    code, _, err = call(f"select one_large.csv -k 2 {FAST} -o out.csv --report page.html", capsys)
    assert code == 0
    assert "Columns differ in scale" in err
    record = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert any("differ in scale" in line for line in record["assumed"])
    assert "Columns differ in scale" in Path("page.html").read_text(encoding="utf-8")
    record = json.loads(call(f"select one_large.csv -k 2 {FAST} --scale none --json", capsys)[1])
    assert record["scaling"]["used"] == "none"


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("thou.csv", '"," was removed from the numbers of a'),
        ("thou_de.csv", '"." was removed from the numbers of a'),
        ("curr.csv", "Currency signs were removed from the numbers of a"),
        ("pct.csv", "Percent signs were removed"),
        ("minus.csv", "read as a minus sign in a"),
        ("onecol_comma.csv", "decimal comma"),
        ("units_row.csv", "holds units (kg, cm, s, K, mol)"),
        ("comment.csv", "2 comment lines"),
        ("years.csv", "look like names"),
        ("nohead.csv", "read as data"),
        ("latin1.csv", "Windows-1252"),
        ("not.csv.gz", "named .gz but is not compressed"),
    ],
)
def test_numbers_and_lines_as_people_write_them(folder, capsys, name, note):
    code, _, err = call(f"select {name} -k 1 {FAST} -o out.csv", capsys)
    assert code == 0
    assert note in err
    result = Path("out.csv").read_text(encoding="utf-8").splitlines()
    source = TABLES[name].decode("latin-1" if name == "latin1.csv" else "utf-8")
    assert all(line.strip('"') in source for line in result[1:])


def test_forms_of_one_table_give_one_result(folder, capsys):
    assert call(f"select plain.csv -k 2 {FAST} -o expected.csv", capsys)[0] == 0
    expected = Path("expected.csv").read_text(encoding="utf-8")
    packed = [f"plain.csv.{ending}" for ending in ("gz", "bz2", "xz")]
    for name in ("bom.csv", "utf16.csv", "crlf.csv", "cr.csv", *packed):
        assert call(f"select {name} -k 2 {FAST} -o out.csv --force", capsys)[0] == 0
        assert Path("out.csv").read_text(encoding="utf-8-sig") == expected, name


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("blanks.dat", "column_1"),
        ("blanks_named.txt", "a"),
        ("blanks_remark.txt", "a"),
        ("blanks_comma.txt", "a"),
    ],
)
def test_blanks_between_fields(folder, capsys, name, first):
    mark, said = (";", "semicolons") if name == "blanks_comma.txt" else (",", "commas")
    code, _, err = call(f"select {name} -k 5 {FAST} -o out.csv", capsys)
    assert (code, f"written with {said} between fields; the input has blanks" in err) == (0, True)
    result = cells(Path("out.csv").read_text(encoding="utf-8"), mark)
    assert next(iter(result)) == first
    found = np.array([[float(cell.replace(",", ".")) for cell in column] for column in result.values()]).T
    np.testing.assert_array_equal(found, VALUES)
    assert call(f"select {name} -k 5 {FAST} -o again.csv --separator blanks", capsys)[0] == 0
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()
    code, _, err = call(f"select {name} -k 5 {FAST} -o text.txt", capsys)
    assert (code, "between fields" in err) == (0, False)
    assert cells(Path("text.txt").read_text(encoding="utf-8"), " ") == result


def test_a_table_of_r_with_quoted_names_between_blanks(folder, capsys):
    code, _, err = call(f"select blanks_r.txt -k 4 {FAST} -o out.csv", capsys)
    assert (code, "taken as the row id" in err) == (0, True)
    result = written("out.csv")
    assert list(result)[1:] == ["a", "b", "c", "d e"]
    assert next(iter(result.values())) == [f"s {i}" for i in range(ROWS)]
    assert [float(cell) for cell in result["d e"]] == VALUES[:, 3].tolist()


def test_blanks_within_names_do_not_part_fields(folder, capsys):
    assert call(f"select comma_blank.csv -k 1 {FAST} -o out.csv", capsys)[0] == 0
    assert Path("out.csv").read_bytes() == TABLES["comma_blank.csv"]


def test_lines_that_end_too_early_are_named(folder, capsys):
    words = "2 lines have fewer fields than the 5 columns of short.csv: line 4 (4), line 8 (4)"
    code, _, err = call("select short.csv --impute error", capsys)
    assert (code, words in err) == (1, True)
    code, _, err = call(f"select short.csv {FAST} -o out.csv", capsys)
    assert (code, words in err) == (0, True)
    record = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert any(words in note for note in record["assumed"])
    code, _, err = call(f"select short_text.csv {FAST} -o text.csv", capsys)
    assert (code, "1 line has fewer fields than the 6 columns" in err) == (0, True)
    assert "line 2 (5)" in err


def test_other_missing_values_are_filled_and_the_rest_is_copied(folder, capsys):
    assert call(f"select miss_nd.csv -k 5 {FAST} --impute median -o out.csv", capsys)[0] == 0
    column = written("out.csv")["a"]
    expected = [f"{v:.2f}" for v in VALUES[:, 0]]
    median = np.median(np.delete(VALUES[:, 0], [3, 9]))
    assert [column[i] for i in range(ROWS) if i not in (3, 9)] == [
        expected[i] for i in range(ROWS) if i not in (3, 9)
    ]
    assert float(column[3]) == float(column[9]) == pytest.approx(median)


def test_mostly_numbers_are_noted_with_the_remedy(folder, capsys):
    code, _, err = call(f"select miss_lt.csv -k 2 {FAST} -o out.csv", capsys)
    assert code == 0
    assert "a is mostly numbers but was left out because of 2 cells such as '<0.01'" in err
    assert "--na '<0.01'" in err
    assert written("out.csv")["a"][3] == "<0.01"


def test_remarks_can_have_another_mark(folder, capsys):
    assert call(f"select percent_comment.csv -k 5 {FAST} --comment % -o out.csv", capsys)[0] == 0
    assert Path("out.csv").read_bytes() == TABLES["plain.csv"]


def test_a_coordinate_called_y_is_a_feature(folder, capsys):
    assert "4 of 4 columns" in call(f"select xyz.csv -k 4 {FAST}", capsys)[1]


@pytest.mark.parametrize("name", ["ansi.csv", "long.csv"])
def test_names_cannot_steer_or_fill_the_terminal(folder, capsys, name):
    code, out, err = call(f"select {name} -k 2 {FAST} -o out.csv", capsys)
    assert code == 0
    assert "\x1b" not in out + err
    assert "\x07" not in out + err
    assert max(map(len, out.splitlines())) <= 200
    assert list(written("out.csv")) == list(cells(TABLES[name].decode()))


def test_a_column_that_decides_alone_is_named_when_it_is_left_as_it_is(folder, capsys):
    err = call(f"select one_in_six.csv -k 2 {FAST} --scale none", capsys)[2]
    assert "v5 has 9" in err
    assert "decides what is selected; --scale standard" in err
    assert "decides" not in call(f"select plain.csv -k 2 {FAST} --scale none", capsys)[2]


def test_genes_in_rows_are_noticed_and_turned(folder, capsys):
    assert "--transpose swaps them" in call(f"select genes.tsv -k 3 {FAST}", capsys)[2]
    assert call(f"select genes.tsv -k 6 {FAST} --transpose -o out.csv", capsys)[0] == 0
    source = cells(TABLES["genes.tsv"].decode(), "\t")
    result = written("out.csv")
    assert result["id"] == [f"S{j}" for j in range(60)]
    assert [result[f"G{i}"] for i in range(6)] == [[source[f"S{j}"][i] for j in range(60)] for i in range(6)]


@pytest.mark.parametrize("name", ["plain.csv", "notes.csv", "copies.csv", "near.csv"])
def test_repeats_are_byte_identical(folder, capsys, name):
    results = []
    for place in ("first", "second"):
        Path(place).mkdir()
        outputs = f"-o {place}/out.csv --ranking {place}/ranking.csv --names {place}/names.txt"
        assert call(f"select {name} -k 2 {FAST} {outputs}", capsys)[0] == 0
        written = {path.name: path.read_bytes() for path in Path(place).iterdir()}
        assert set(written) == {"out.csv", "out.json", "ranking.csv", "names.txt"}
        results.append(
            {file: content for file, content in written.items() if file != "out.json"}
        )  # has the time
    assert results[0] == results[1]
