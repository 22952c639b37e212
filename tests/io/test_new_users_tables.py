"""Tables as new users bring them: spectra, counters, genes in rows, single cells, workbooks."""

from __future__ import annotations

import gzip
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

from ufselect.io import ReadOptions, TableError, read_table
from ufselect.io import text as text_module
from ufselect.pipeline import read_data

pandas = pytest.importorskip("pandas")
BARCODES = ["ACGTACGTAC-1", "TTGACCATGG-1", "CCATTGACGA-2"]
SPECTRA = np.random.default_rng(0).random((20, 8)).round(4)


@pytest.fixture(params=["with pyarrow", "without pyarrow"])
def reader(request, monkeypatch):
    """Read text with pyarrow and without it."""
    if request.param == "with pyarrow":
        pytest.importorskip("pyarrow")
    else:
        monkeypatch.setitem(sys.modules, "pyarrow.csv", None)


def spectra(tmp_path, names, **options):
    path = tmp_path / "spectra.csv"
    pandas.DataFrame(SPECTRA, columns=names).to_csv(path, **options)
    return path


@pytest.mark.parametrize(
    "names", [range(740, 748), [f"{740 + j / 2}" for j in range(8)], range(8), range(747, 739, -1)]
)
@pytest.mark.parametrize("marks", [{}, {"sep": ";", "decimal": ",", "index_label": "  "}])
def test_a_header_of_numbers_under_which_rows_are_named_holds_wavelengths(tmp_path, names, marks, reader):
    table = read_table(spectra(tmp_path, names, **marks))
    assert table.feature_names == [str(name) for name in names]
    np.testing.assert_array_equal(table.data, SPECTRA)
    assert table.ids.tolist() == [str(i) for i in range(20)]
    are_numbers = isinstance(names, range) or not marks  # 740.5 is none with a decimal comma
    assert any("look like names" in note for note in table.notes) == are_numbers


def test_equal_steps_over_other_numbers_are_wavelengths_too(tmp_path):
    path = spectra(tmp_path, [f"{740 + j / 2}" for j in range(8)], index=False)
    assert read_table(path).feature_names[1] == "740.5"
    np.savetxt(tmp_path / "data.csv", SPECTRA, delimiter=",")
    assert read_table(tmp_path / "data.csv").shape == (20, 8)


def test_counters_ids_and_dates_are_no_features_wherever_they_stand(tmp_path, reader):
    frame = pandas.DataFrame(SPECTRA[:, :4], columns=list("abcd"))
    frame.insert(0, "site", ["x", "y"] * 10)
    frame["run_no"] = range(1000, 1020)
    frame["lot_no"] = np.arange(20) ** 2 * 7
    frame["egg_number"] = np.arange(20) // 3
    frame["day"] = range(20240101, 20240121)
    frame.to_csv(tmp_path / "runs.csv", index=False)
    table = read_table(tmp_path / "runs.csv")
    assert table.feature_names == ["a", "b", "c", "d", "lot_no", "egg_number"]
    assert table.id_name == "run_no"
    left_out = {column.name: column.reason for column in table.left_out}
    assert left_out == {"site": "not numbers", "day": "dates"}
    named = read_table(tmp_path / "runs.csv", ReadOptions(id_column="lot_no"))
    assert ("run_no", "row numbers") in [(column.name, column.reason) for column in named.left_out]
    free = read_table(tmp_path / "runs.csv", ReadOptions(guess=False))
    assert free.feature_names == [*"abcd", "run_no", "lot_no", "egg_number", "day"]


def test_counters_have_neither_gaps_nor_jumps(tmp_path):
    rows = np.arange(20)
    frame = pandas.DataFrame(
        {"x": SPECTRA[:, 0], "gap": rows, "falling": -rows, "double": 2 * rows}, dtype=object
    )
    frame["jump"] = rows + (rows >= 15)
    frame.loc[3, "gap"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv")
    assert (table.id_name, table.feature_names) == ("falling", ["x", "gap", "double", "jump"])
    named = read_table(tmp_path / "t.csv", ReadOptions(id_column="x"))
    assert [(column.name, column.reason) for column in named.left_out] == [("falling", "row numbers")]
    frame[:7].drop(columns="gap").to_csv(tmp_path / "few.csv", index=False)
    assert read_table(tmp_path / "few.csv").feature_names == ["x", "falling", "double", "jump"]


@pytest.mark.parametrize(
    ("ids", "columns", "hint"),
    [
        ([f"ENSG{i:011}" for i in range(20)], ["S1", "S2", "S3"], True),
        (
            ["TP53", "BRCA1", "MYC", "EGFR", "CD4", "CD19", "RB1", "AKT1", "IL6", "TNF"] * 2,
            ["1", "2", "3"],
            True,
        ),
        (
            ["TP53", "MS4A1", "GNLY", "LYZ", "HES4", "ISG15", "CCR7", "ITGB2"] * 2 + ["CD4"] * 4,
            BARCODES,
            True,
        ),
        (
            ["TP53", "MS4A1", "GNLY", "LYZ", "HES4", "ISG15", "CCR7", "ITGB2"] * 2 + ["CD4"] * 4,
            ["GSM11", "GSM12", "GSM13"],
            True,
        ),
        ([f"P{i}" for i in range(20)], ["S1", "S2", "S3"], False),
        ([f"AAACCTGAG-{i}" for i in range(20)], ["ENSG00000000003", "ENSG00000000005", "x"], False),
        (["anna", "bert"] * 10, ["q1", "q2", "q3"], False),
    ],
)
def test_genes_in_rows_get_a_hint(tmp_path, ids, columns, hint):
    pandas.DataFrame(SPECTRA[:, :3], index=ids, columns=columns).to_csv(tmp_path / "t.csv")
    doubts = read_data(tmp_path / "t.csv", ReadOptions(header=True)).doubts
    assert any("--transpose" in doubt for doubt in doubts) == hint


def test_missing_values_are_kept_and_counted(tmp_path, reader):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,5\n,3,6\nNA,5,8\n4,7,7\n", encoding="utf-8")
    table = read_table(tmp_path / "t.csv")
    assert table.n_missing.tolist() == [2, 0, 0]
    assert np.isnan(table.data).sum() == 2
    assert any("2 missing values in 1 column were left as they are" in note for note in table.notes)
    filled = read_table(tmp_path / "t.csv", ReadOptions(impute="median"))
    assert filled.n_missing.tolist() == [2, 0, 0]
    assert filled.data[:, 0].tolist() == [1, 2.5, 2.5, 4]
    with pytest.raises(TableError, match=r"Values are missing in 1 of 3 numeric columns: a \(2\)"):
        read_table(tmp_path / "t.csv", ReadOptions(impute="error"))


def test_both_libraries_read_numbers_to_the_last_bit(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    values = rng.standard_normal((500, 8)) * 10.0 ** rng.integers(-300, 300, (500, 8))
    pandas.DataFrame(values).add_prefix("v").to_csv(tmp_path / "t.csv", index=False)
    by_arrow = read_table(tmp_path / "t.csv").data
    monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    np.testing.assert_array_equal(by_arrow, values)
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv").data, values)


def test_cells_that_pyarrow_would_read_otherwise_are_read_as_by_pandas(tmp_path, reader):
    lines = ["a,b,c,d,e", *(f"{i}.5,{i},{i},{i},{i}" for i in range(10)), "1,0x10,True,2024-01-01,inf"]
    lines += ["2,12345678901234567890,1,5,3"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(TableError, match="There are infinite values in e"):
        read_table(tmp_path / "t.csv")
    table = read_table(tmp_path / "t.csv", ReadOptions(missing=("inf",)))
    assert table.feature_names == ["a", "c", "e"]


def test_quoted_lines_across_blocks_and_a_quote_that_is_never_closed(tmp_path, monkeypatch, reader):
    monkeypatch.setattr(text_module, "BLOCK_BYTES", 40)
    rows = "".join(f'{i}.5,"word {i}\nand\nmore",{i % 7}\n' for i in range(50))
    (tmp_path / "t.csv").write_text("a,b,c\n" + rows, encoding="utf-8")
    table = read_table(tmp_path / "t.csv")
    np.testing.assert_array_equal(table.data[:, 0], np.arange(50) + 0.5)
    (tmp_path / "t.csv").write_text("a,b,c\n" + "1,2,3\n4,5,6\n" * 9 + '7,"8,9\n', encoding="utf-8")
    with pytest.raises(TableError, match=r"t\.csv|No numeric"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("code", "word"), [("cp1251", "Возраст"), ("cp1252", "Größe"), ("shift_jis", "名前と体重")]
)
def test_names_in_other_encodings(tmp_path, code, word):
    if code != "cp1252":
        pytest.importorskip("charset_normalizer")
    (tmp_path / "t.csv").write_bytes(f"{word},b\n1,2\n2,5\n3,3\n".encode(code))
    table = read_table(tmp_path / "t.csv")
    assert table.feature_names == [word, "b"]
    assert any("not UTF-8" in note for note in table.notes)


@pytest.mark.filterwarnings("ignore")
def test_h5ad_of_an_old_layout(tmp_path):
    """Before 2020 the annotations were one table each, with their index as a field."""
    pytest.importorskip("anndata")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "old.h5ad", "w") as file:
        file["X"] = SPECTRA.astype(np.float32)
        cells = np.array([(f"c{i}".encode(), i) for i in range(20)], dtype=[("index", "S4"), ("n", "i8")])
        file["obs"] = cells
        file["var"] = np.array([(f"g{j}".encode(),) for j in range(8)], dtype=[("index", "S4")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read_table(tmp_path / "old.h5ad")
    np.testing.assert_array_equal(table.data, SPECTRA.astype(np.float32))
    assert (table.ids[1], table.feature_names[1]) == ("c1", "g1")


COUNTS = np.random.default_rng(1).poisson(1.0, (12, 5))


@pytest.mark.parametrize("version", [2, 3])
def test_h5_files_of_10x(tmp_path, version):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("anndata")
    matrix = sparse.csr_array(COUNTS)
    with h5py.File(tmp_path / "filtered.h5", "w") as file:
        group = file.create_group("matrix" if version == 3 else "GRCh38")
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(matrix, name)
        group["shape"], group["barcodes"] = COUNTS.T.shape, [f"AAAC-{i}".encode() for i in range(12)]
        genes = [f"G{j}".encode() for j in range(5)]
        if version == 3:
            group["features/name"] = genes
        else:
            group["gene_names"] = genes
    table = read_table(tmp_path / "filtered.h5")
    np.testing.assert_array_equal(table.data.toarray(), COUNTS)
    assert (table.ids[1], table.feature_names[1]) == ("AAAC-1", "G1")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["X"] = COUNTS
    with pytest.raises(TableError, match=r"other\.h5 is neither an AnnData file"):
        read_table(tmp_path / "other.h5")


def test_an_h5_file_of_several_genomes_asks_which(tmp_path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("anndata")
    with h5py.File(tmp_path / "mixed.h5", "w") as file:
        for times, genome in enumerate(("hg19", "mm10"), start=1):
            matrix, group = sparse.csr_array(times * COUNTS), file.create_group(genome)
            for name in ("data", "indices", "indptr"):
                group[name] = getattr(matrix, name)
            group["shape"], group["barcodes"] = COUNTS.T.shape, [f"c{i}".encode() for i in range(12)]
            group["gene_names"] = [f"G{j}".encode() for j in range(5)]
    table = read_table(tmp_path / "mixed.h5", ReadOptions(layer="mm10"))
    np.testing.assert_array_equal(table.data.toarray(), 2 * COUNTS)
    for layer in (None, "mm9"):
        with pytest.raises(TableError, match=r"counts of hg19, mm10; name one with --layer"):
            read_table(tmp_path / "mixed.h5", ReadOptions(layer=layer))


@pytest.mark.filterwarnings("ignore")
def test_anndata_zarr(tmp_path):
    anndata = pytest.importorskip("anndata")
    pytest.importorskip("zarr")
    var = pandas.DataFrame(index=[f"g{j}" for j in range(5)])
    cells = anndata.AnnData(
        sparse.csr_matrix(COUNTS.astype(np.float32)), var=var, layers={"two": 2.0 * COUNTS}
    )
    cells.write_zarr(tmp_path / "cells.zarr")
    np.testing.assert_array_equal(read_table(tmp_path / "cells.zarr").data.toarray(), COUNTS)
    layer = read_table(tmp_path / "cells.zarr", ReadOptions(layer="two"))
    np.testing.assert_array_equal(layer.data, 2 * COUNTS)
    with pytest.raises(TableError, match=r"no layer 'three'; it holds two"):
        read_table(tmp_path / "cells.zarr", ReadOptions(layer="three"))


def test_workbooks_are_read_where_they_are_used(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["XFD1048576"] = "x"
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(TableError, match="names but no rows"):
        read_table(tmp_path / "far.xlsx")
    for row, values in enumerate([list("abcdefgh"), *SPECTRA.tolist()], start=4):
        for column, value in enumerate(values, start=3):
            book.active.cell(row, column, value)
    book.save(tmp_path / "inner.xlsx")
    table = read_table(tmp_path / "inner.xlsx")
    assert table.feature_names == list("abcdefgh")
    np.testing.assert_array_equal(table.data[:-1], SPECTRA)


def test_what_unpacks_to_far_more_than_it_is_ends_in_a_sentence(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "bomb.csv.gz").write_bytes(70 * gzip.compress(b"0,0\n" * 2**20))
    (tmp_path / "large.csv.gz").write_bytes(700 * gzip.compress(b"0,0\n" * 2**20))
    column = np.zeros(2**22, np.int8)
    parquet.write_table(pyarrow.table({f"x{j}": column for j in range(40)}), tmp_path / "bomb.parquet")
    for name in ("bomb.csv.gz", "large.csv.gz", "bomb.parquet"):
        with pytest.raises(TableError, match=r"made to fill the memory: it unpacks to .* in parts"):
            read_table(tmp_path / name)


def test_a_line_without_end_is_refused_before_it_is_read(tmp_path):
    (tmp_path / "line.csv").write_bytes(b"0.5,1.2," * 2**23)
    with pytest.raises(TableError, match=r"no line break in its first .* MiB; write each row"):
        read_table(tmp_path / "line.csv")
