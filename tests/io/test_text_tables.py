"""Text tables as spreadsheets and programs export them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect.io import ReadOptions, TableError, read_table
from ufselect.io import text as text_module
from ufselect.io.table import distinct_names
from ufselect.pipeline import read_data

pytest.importorskip("pandas")


@pytest.fixture
def written(tmp_path):
    def write(content: str, name: str = "table.csv", encoding: str = "utf-8"):
        path = tmp_path / name
        path.write_bytes(content.encode(encoding))
        return path

    return write


def test_spreadsheet_export_with_everything_at_once(written):
    path = written(
        "Name;Größe;Gewicht;Größe;Notiz;leer;konst;Wert\r\n"
        "anna;1,5;70;2,5;hi;;3;1.234,5\r\n"
        "bert;1,7;80;3,5;ho;;3;2,5\r\n"
        "carl;1,8;;3,75;ho;;3;k.A.\r\n"
        "dora;1,9;90;4;ho;;3;-2,5\r\n",
        encoding="utf-8-sig",
    )
    with pytest.raises(
        TableError, match=r"2 of 6 numeric columns: Gewicht \(1\), Wert \(1\).*--impute median"
    ):
        read_table(path, ReadOptions(impute="error"))
    table = read_table(path, ReadOptions(impute="median"))
    assert table.feature_names == ["Größe", "Gewicht", "Größe.2", "Wert"]
    expected = [[1.5, 70, 2.5, 1234.5], [1.7, 80, 3.5, 2.5], [1.8, 80, 3.75, 2.5], [1.9, 90, 4, -2.5]]
    np.testing.assert_array_equal(table.data, expected)
    assert table.ids.tolist() == ["anna", "bert", "carl", "dora"]
    assert {(column.name, column.reason) for column in table.left_out} == {
        ("Notiz", "not numbers"),
        ("leer", "empty"),
        ("konst", "constant"),
    }
    notes = " ".join(table.notes)
    for words in (
        "decimal comma",
        "numbered",
        "taken as the row id",
        "2 missing values in 2 columns were filled",
    ):
        assert words in notes


@pytest.mark.parametrize(
    ("content", "separator", "decimal"),
    [
        ("a,b\n1.5,2\n3,4\n", ",", "."),
        ("a;b\n1,5;2,25\n3,5;4\n", ";", ","),
        ("a;b\n1.5;2\n3;4\n", ";", "."),
        ("a\tb\n1,5\t2\n3\t4\n", "\t", ","),
        ("a|b\n1|2\n3|4\n", "|", "."),
        ('a,b\n"1,5","2,25"\n"3,0","4,5"\n', ",", ","),
        ("sep=;\na;b\n1,5;2\n3;4,5\n", ";", ","),
        ('"a, first",b\n1,2\n3,4\n', ",", "."),
        ("a;b\n1,234;2\n5,678;3\n", ";", ","),
    ],
)
def test_separator_and_decimal_mark_are_found(written, content, separator, decimal):
    dialect = text_module.TextRows(written(content), ReadOptions()).dialect
    assert (dialect.separator, dialect.decimal) == (separator, decimal)


NONE = ReadOptions()


@pytest.mark.parametrize(
    ("content", "options", "names", "rows", "said"),
    [
        # what is given is not guessed
        ("a;b\n1,5;2\n2,5;4\n", NONE, "a b", [[1.5, 2], [2.5, 4]], "decimal comma"),
        ("a;b\n1,5;2\n2,5;4\n", ReadOptions(separator=";", decimal="."), "b", [[2], [4]], "the row id"),
        ("2001,2002\n3,4\n5,7\n", NONE, "column_1 column_2", [[2001, 2002], [3, 4], [5, 7]], "as data"),
        ("2001,2002\n3,4\n5,7\n", ReadOptions(header=True), "2001 2002", [[3, 4], [5, 7]], "look like names"),
        # thousands, negative numbers in parentheses, few accents and a currency
        ('a,b\n"1,234.5",1\n"12,000",2\n7,3\n', NONE, "a b", [[1234.5, 1], [12000, 2], [7, 3]], '","'),
        ('a,b\n"(1,234.5)",1\n($3),2\n7,5\n', NONE, "a b", [[-1234.5, 1], [-3, 2], [7, 5]], "Parentheses"),
        ("Ort;März\n" + "Lager;7,5 €\nBüro;2 €\n" * 9, NONE, "März", [[7.5], [2]] * 9, "Windows-1252"),
        # names of rows, with and without a name of their own
        ("x\ty\nr1\t1\t2\nr2\t3\t5\nr3\t0\t0\n", NONE, "x y", [[1, 2], [3, 5], [0, 0]], "the row id"),
        (",x,y\nr1,1,2\nr2,3,5\nr3,0,0\n", NONE, "x y", [[1, 2], [3, 5], [0, 0]], "the row id"),
        ("x,y\nr1,1,2\nr2,3,5\nr3,0,0\n", NONE, "x y", [[1, 2], [3, 5], [0, 0]], "the row id"),
        ("a,b\n1,2,\n3,4,\n", NONE, "a b", [[1, 2], [3, 4]], "(empty)"),
        ("id,y\n01,0.5\n01,1.5\n2,2.5\n3,4.5\n", NONE, "y", [[0.5], [1.5], [2.5], [4.5]], "id is taken"),
        # quotes and short lines
        ('"length\n(mm)",b\n1,2\n3,5\n', NONE, "length\n(mm) b", [[1, 2], [3, 5]], ""),
        ('a,b,c\n1"5,2,3\n2,1,4\n3,5,9\n', NONE, "b c", [[2, 3], [1, 4], [5, 9]], "a is mostly numbers"),
        ("c,d\n1.5,2\n7\n1,2\n3,5\n", NONE, "c d", [[1.5, 2], [7, np.nan], [1, 2], [3, 5]], "line 3 (1)"),
    ],
)  # fmt: skip
def test_what_is_read(written, content, options, names, rows, said):
    table = read_table(written(content, encoding="cp1252"), options)
    assert table.feature_names == names.split(" ")
    np.testing.assert_array_equal(table.data, rows)
    assert said in " ".join([*table.doubts, *table.notes, *table.left_out_sentences()])


def test_labels_and_ids_are_recognised_or_named_or_refused(written):
    rows = "".join(f"{i},{i * i},{'uv'[i % 2]},{i % 3}\n" for i in range(8))
    path = written("id,size,class,kind\n" + rows)
    table = read_table(path)
    assert (table.id_name, table.label_name, table.feature_names) == ("id", "class", ["size", "kind"])
    other = read_table(path, ReadOptions(label_column="kind", guess=False))
    assert (other.id_name, other.label_name, other.feature_names) == (None, "kind", ["id", "size"])
    assert other.labels.tolist() == [str(i % 3) for i in range(8)]
    with pytest.raises(TableError, match=r"--labels names the column 'clas'.*did you mean class"):
        read_table(path, ReadOptions(label_column="clas"))


def test_a_column_that_turns_to_words_late_is_left_out_and_named(written, monkeypatch):
    monkeypatch.setattr(text_module, "BLOCK_BYTES", 60)
    rows = "".join(f"{i}.5,{i * 2},{i % 5}\n" for i in range(200))
    table = read_table(written("a,b,c\n" + rows + "200.5,<5,1\n201.5,7,2\n"))
    assert table.feature_names == ["a", "c"]
    np.testing.assert_array_equal(table.data[:, 0], np.arange(202) + 0.5)
    np.testing.assert_array_equal(table.data[:200, 1], np.arange(200) % 5)
    assert any("b is mostly numbers" in note and "<5" in note for note in table.doubts)


def test_blocks_give_the_same_as_one_reading(written, monkeypatch):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((300, 7)).round(6)
    path = written("\n".join(",".join(map(str, row)) for row in [list("abcdefg"), *values]) + "\n")
    whole = read_table(path).data
    monkeypatch.setattr(text_module, "BLOCK_BYTES", 500)
    np.testing.assert_array_equal(read_table(path).data, whole)
    np.testing.assert_array_equal(whole, values)


def test_large_tables_are_kept_in_single_precision(written, monkeypatch):
    from ufselect.io import read

    monkeypatch.setattr(read, "SINGLE_PRECISION_BYTES", 100)
    table = read_table(written("a,b\n" + "1.1,2.2\n3.3,4.4\n" * 20))
    assert table.data.dtype == np.float32
    assert any("single precision" in note for note in table.notes)


def test_wide_tables(written):
    values = np.arange(3 * 3000).reshape(3, 3000) % 97
    content = ",".join(f"g{j}" for j in range(3000)) + "\n"
    content += "\n".join(",".join(map(str, row)) for row in values) + "\n"
    table = read_table(written(content))
    varying = values.min(axis=0) < values.max(axis=0)
    assert table.shape == (3, varying.sum())
    np.testing.assert_array_equal(table.data, values[:, varying])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "holds no data"),
        ("\n\n", "holds no data"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n", "a single row"),
        ("a,b\n1,2\n3,4,5\n6,7\n", "Line 3 .* has 3 fields instead of 2"),
        (
            "a,b\nx,y\nx,w\n",
            r"No column can be selected from: 2 do not hold numbers \(a holds 'x'\). Left out 2 columns",
        ),
        ("a,b\n1,2\ninf,3\n", "There are infinite values in a"),
        ("a\x00b", "not a text file"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(written, content, sentence):
    with pytest.raises(TableError, match=sentence):
        read_table(written(content))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("a.ods", "as csv"),
        ("a.xlsx", "not a readable xlsx file"),
        ("a.pkl", "never loaded"),
        ("a.foo", "give csv"),
    ],
)
def test_formats_that_are_not_read(tmp_path, name, hint):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(TableError, match=hint):
        read_table(tmp_path / name)
    with pytest.raises(TableError, match=r"There is no file"):
        read_table(tmp_path / "absent.csv")


@given(
    st.lists(st.sampled_from(["a", "b", "a.2", "", " a ", "column_1", "column_2"]), min_size=1, max_size=8)
)
def test_names_become_distinct_and_good_names_stay(names):
    result, _ = distinct_names(names)
    assert len(set(result)) == len(names)
    assert all(result)
    first_seen = {}
    for name, given_name in zip(result, names, strict=True):
        stripped = given_name.strip()
        if stripped and stripped not in first_seen:
            first_seen[stripped] = name
    assert all(name == shown for name, shown in first_seen.items())


@pytest.mark.parametrize("mark", ["-999", "-9999.0", "-9 999"])
def test_numbers_that_may_mark_missing_values_are_named(written, mark):
    rows = "".join(f"{j},{mark if j % 4 == 0 else 20.5 + j},{-990 - j}\n" for j in range(1, 20))
    path = written("a,b,c\n" + rows)
    code = mark.replace(" ", "").removesuffix(".0")
    hint = f"{code} lies outside 21.5 to 39.5 in b; if it means missing, add --na {code}."
    assert hint in read_table(path).doubts
    told = read_table(path, ReadOptions(missing=(mark,)))
    assert told.n_missing[told.feature_names.index("b")] == 4
    assert not told.doubts


def test_the_note_on_repeated_names_gives_a_new_name():
    names, notes = distinct_names(["a", "a.2", "a"])
    assert names[2] == "a.3"
    assert "as in a.3: a" in notes[0]


@pytest.mark.parametrize(
    ("name", "steps", "hint"),
    [("t [s]", 0.5, ""), ("Time (min)", 0.25, ""), ("Wavelength (cm-1)", -1.93, "look like wavelengths")],
)
def test_an_axis_in_the_first_column_names_the_rows(written, name, steps, hint):
    values = np.random.default_rng(0).random((20, 3)).round(3)
    lines = [
        f"{name},a,b,c",
        *(f"{4000 + steps * i:.2f},{','.join(map(str, v))}" for i, v in enumerate(values)),
    ]
    table = read_data(written("\n".join(lines) + "\n"))
    assert (table.id_name, table.feature_names) == (name, ["a", "b", "c"])
    assert [hint in doubt for doubt in table.doubts] == ([True] if hint else [])


@pytest.mark.parametrize(
    ("below", "kept"),
    [("Mean,SD,CV %", 20), ("Min,Max,Median", 20), ("Std. Dev.,n,Average", 20), ("SD", 21), ("N,N,N", 23)],
)
def test_statistics_below_a_table_are_no_rows(written, below, kept):
    names = [*(f"s{i}" for i in range(20)), *below.split(",")]
    values = np.random.default_rng(0).random((len(names), 3)).round(3)
    lines = [f"{name},{','.join(map(str, row))}" for name, row in zip(names, values, strict=True)]
    assert read_data(written("\n".join(["id,a,b,c", *lines]) + "\n")).shape[0] == kept


def test_the_cell_that_costs_most_columns_is_shown(written):
    cells = (("5 - agree" if i % 3 == 2 else i % 3, "1 - no" if i % 4 else 2) for i in range(9))
    rows = "".join(f"{i * i % 7},{b},{c}\n" for i, (b, c) in enumerate(cells))
    table = read_table(written("a,b,c\n" + rows), ReadOptions(guess=False))
    assert any(doubt.endswith("2 do not hold numbers (b holds '5 - agree').") for doubt in table.doubts)
