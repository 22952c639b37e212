"""Selections are written whole, faithfully, and never over other files unasked."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from ufselect.io import ReadOptions, TableError, read_table, write_selection

pytest.importorskip("pandas")
CHOSEN = np.array([0, 2])


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(
        "id;a;b;c;class\n01;1;2,5;0,1;u\n02;3;4,5;0,2;v\n03;5;6;0,25;u\n04;6;6;0,3;v\n", encoding="utf-8-sig"
    )
    return read_table(path)


def test_csv_keeps_names_rows_marks_and_whole_numbers(table, tmp_path):
    write_selection(table, CHOSEN, tmp_path / "out.csv")
    written = (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert written == "\ufeffid;a;c;class\n01;1;0,1;u\n02;3;0,2;v\n03;5;0,25;u\n04;6;0,3;v\n"


@pytest.mark.parametrize(
    ("mark", "decimal", "ending", "expected"),
    [
        ("\t", ".", ".csv", ","),
        ("\t", ".", ".csv.gz", ","),
        ("\t", ",", ".csv", ";"),
        ("|", ".", ".csv", ","),
        (";", ".", ".csv", ";"),
        (";", ",", ".csv", ";"),
        (",", ".", ".tsv", "\t"),
        (";", ",", ".tsv", "\t"),
        ("\t", ".", ".txt", "\t"),
        (";", ".", ".txt", ";"),
    ],
)
def test_the_separator_follows_the_ending(tmp_path, mark, decimal, ending, expected):
    lines = [["a", "b"], ["1.5", "2"], ["2.5", "4.25"], ["3.5", "7"]]
    source, target = tmp_path / "in.txt", tmp_path / f"out{ending}"
    text = ["\n".join(between.join(line) for line in lines) + "\n" for between in (mark, expected)]
    text = [words.replace(".", decimal) for words in text]
    source.write_text(text[0], encoding="utf-8")
    table = read_table(source)
    write_selection(table, np.array([0, 1]), target)
    opened = gzip.open if ending.endswith(".gz") else open
    with opened(target, "rt", encoding="utf-8") as file:
        assert file.read() == text[1]


@pytest.mark.parametrize("ending", [".tsv", ".parquet", ".npz", ".csv"])
def test_what_is_written_is_read_back(table, tmp_path, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"out{ending}"
    write_selection(table, CHOSEN, path)
    again = read_table(path)
    np.testing.assert_array_equal(again.data, table.data[:, CHOSEN])
    assert again.feature_names == ["a", "c"]
    assert again.ids.tolist() == ["01", "02", "03", "04"]
    assert again.labels.tolist() == table.labels.tolist()


def test_files_are_not_replaced_unasked(table, tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(TableError, match=r"exists already.*--force"):
        write_selection(table, CHOSEN, path)
    assert path.read_text(encoding="utf-8") == "mine"
    write_selection(table, CHOSEN, path, force=True)
    assert path.read_text(encoding="utf-8").startswith("\ufeffid;a;c")


def test_new_files_have_the_usual_rights(table, tmp_path):
    write_selection(table, CHOSEN, tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("x", encoding="utf-8")
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "b.csv").stat().st_mode


def test_median_is_that_of_numpy_and_drop_leaves_out(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((40, 5))
    holes = values.copy()
    holes[rng.random((40, 5)) < 0.2] = np.nan
    holes[:, 0] = values[:, 0]
    np.save(tmp_path / "x.npy", holes)
    filled = read_table(tmp_path / "x.npy", ReadOptions(impute="median")).data
    np.testing.assert_array_equal(filled, np.where(np.isnan(holes), np.nanmedian(holes, axis=0), holes))
    dropped = read_table(tmp_path / "x.npy", ReadOptions(impute="drop"))
    assert dropped.feature_names == ["feature_1"]
    assert {column.reason for column in dropped.left_out} == {"missing values"}


def test_labels_do_not_take_the_name_of_a_selected_column(tmp_path):
    X = np.arange(12.0).reshape(4, 3) + np.eye(4, 3)
    np.savez(tmp_path / "in.npz", X=X, y=["u", "v", "u", "v"], feature_names=["x", "y", "z"])
    table = read_table(tmp_path / "in.npz")
    write_selection(table, np.array([1]), tmp_path / "out.csv")
    header, *rows = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert header.split(",") == ["y", f"{table.label_name}_"]
    assert [row.split(",")[1] for row in rows] == ["u", "v", "u", "v"]
