"""Parquet, NumPy, MATLAB and AnnData files."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from ufselect.io import ReadOptions, TableError, read_table

VALUES = np.array([[1.0, 2.0, 7.0], [3.0, 5.0, 7.0], [0.0, 4.0, 7.0], [9.0, 4.0, 7.0]])
LABELS = np.array([0, 1, 0, 1])


@pytest.fixture
def frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(
        {
            "id": list("wxyz"),
            "a": VALUES[:, 0],
            "b": VALUES[:, 1],
            "flat": VALUES[:, 2],
            "class": list("uvuv"),
        }
    )


def test_parquet_parts_are_joined_in_the_order_of_their_names(frame, tmp_path):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "parts"
    folder.mkdir()
    frame.iloc[2:].to_parquet(folder / "part-1.parquet")
    frame.iloc[:2].to_parquet(folder / "part-0.parquet")
    np.testing.assert_array_equal(read_table(folder, ReadOptions(id_column="id")).data, VALUES[:, :2])
    frame.rename(columns={"b": "c"}).to_parquet(folder / "part-2.parquet")
    with pytest.raises(TableError, match=r"part-2.* has other columns .*c"):
        read_table(folder)


def test_a_folder_without_parts_and_a_broken_part(tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    with pytest.raises(TableError, match=r"holds no \.parquet files"):
        read_table(tmp_path)
    (tmp_path / "x.parquet").write_bytes(b"nonsense")
    with pytest.raises(TableError, match=r"not a readable parquet file"):
        read_table(tmp_path / "x.parquet")


def test_mat_is_turned_to_the_labels(tmp_path):
    savemat(tmp_path / "x.mat", {"fea": VALUES.T, "gnd": LABELS[:, None]})
    table = read_table(tmp_path / "x.mat", ReadOptions(keep_constant=True))
    np.testing.assert_array_equal(table.data, VALUES)
    assert table.label_name == "gnd"
    with pytest.raises(TableError, match=r"no label array 'nope'.*gnd"):
        read_table(tmp_path / "x.mat", ReadOptions(label_column="nope"))


@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_pickles_are_never_loaded(tmp_path, name):
    ran = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (open, (str(ran), "w"))

    objects = np.array([[Evil(), Evil()]], dtype=object)
    path = tmp_path / name
    np.save(path, objects) if name.endswith("npy") else np.savez(path, X=objects)
    with pytest.raises(TableError, match=r"never loaded"):
        read_table(path)
    assert not ran.exists()


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.mat"])
def test_damaged_files(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x01\x02 nonsense")
    with pytest.raises(TableError, match=r"damaged|not a readable"):
        read_table(tmp_path / name)


def test_arrays_that_are_no_table(tmp_path):
    np.savez(tmp_path / "x.npz", p=np.eye(3), q=np.eye(4))
    with pytest.raises(TableError, match=r"one two-dimensional array of numbers named X; it holds p"):
        read_table(tmp_path / "x.npz")
    np.savez(tmp_path / "z.npz", X=VALUES, y=np.arange(7))
    with pytest.raises(TableError, match=r"7 labels for 4 rows"):
        read_table(tmp_path / "z.npz")


@pytest.mark.filterwarnings("ignore")
def test_h5ad_with_sparse_counts(tmp_path):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    cells = anndata.AnnData(
        sparse.csr_matrix(VALUES.astype(np.float32)),
        obs=pandas.DataFrame({"cluster": list("uvuv")}, index=list("wxyz")),
        var=pandas.DataFrame(index=["g1", "g2", "g3"]),
    )
    cells.write_h5ad(tmp_path / "cells.h5ad")
    table = read_table(tmp_path / "cells.h5ad")
    assert sparse.issparse(table.data)
    assert table.feature_names == ["g1", "g2"]
    assert table.ids.tolist() == list("wxyz")
    assert (table.label_name, table.labels.tolist()) == ("cluster", list("uvuv"))


@pytest.mark.parametrize(
    ("name", "package", "line"),
    [("x.parquet", "pyarrow", "tables"), ("x.h5ad", "anndata", "tables"), ("x.csv", "pandas", "cli")],
)
def test_absent_packages_come_with_the_line_to_install_them(tmp_path, monkeypatch, name, package, line):
    def absent(module):
        if module.partition(".")[0] == package:
            raise ImportError(module)
        return import_module(module)

    monkeypatch.setattr("ufselect._utils.imports.import_module", absent)
    (tmp_path / name).write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ImportError, match=rf'needs {package}: pip install "ufselect\[{line}\]"'):
        read_table(tmp_path / name)
