"""Bytes changed at random in a file of every format: one sentence with the file's name, or a table."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from ufselect import MaxVariance
from ufselect.io import ReadOptions, read_table

N_FLIPS = 84  # a thousand over all formats
RNG = np.random.default_rng(0)
X = np.where(RNG.random((30, 12)) < 0.5, RNG.standard_normal((30, 12)), 0.0)


def _write_h5ad(path: Path, matrix: object) -> None:
    pytest.importorskip("anndata").AnnData(matrix).write_h5ad(path)


def _write_parquet(path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = pytest.importorskip("pandas").DataFrame(X, columns=[f"f{j}" for j in range(12)])
    frame.to_parquet(path)


def _write_gz(path: Path) -> None:
    with gzip.open(path, "wt") as file:
        np.savetxt(file, X, delimiter=",")


def _write_h5(path: Path) -> None:
    pytest.importorskip("dask")
    with pytest.importorskip("h5py").File(path, "w") as file:
        file["X"] = X


def _write_sparse_h5(path: Path) -> None:
    pytest.importorskip("dask")
    matrix = sparse.csr_array(X)
    with pytest.importorskip("h5py").File(path, "w") as file:
        group = file.create_group("X")
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(matrix, name)
        group.attrs["shape"] = matrix.shape


WRITERS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "npy": (".npy", lambda path: np.save(path, X)),
    "npz": (".npz", lambda path: np.savez(path, X=X)),
    "sparse npz": (".npz", lambda path: sparse.save_npz(path, sparse.csr_array(X), compressed=False)),
    "mat": (".mat", lambda path: savemat(path, {"X": X})),
    "sparse mat": (".mat", lambda path: savemat(path, {"X": sparse.csc_array(X)})),
    "csv": (".csv", lambda path: np.savetxt(path, X, delimiter=",")),
    "csv.gz": (".csv.gz", _write_gz),
    "parquet": (".parquet", _write_parquet),
    "h5ad": (".h5ad", lambda path: _write_h5ad(path, X)),
    "sparse h5ad": (".h5ad", lambda path: _write_h5ad(path, sparse.csr_matrix(X))),
    "h5": (".h5", _write_h5),
    "sparse h5": (".h5", _write_sparse_h5),
}


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """Change up to three bytes, and now and then cut the file short."""
    damaged = bytearray(content)
    for place in rng.integers(len(damaged), size=rng.integers(1, 4)):
        damaged[place] = rng.integers(256)
    return bytes(damaged[: rng.integers(len(damaged))] if rng.random() < 0.1 else damaged)


def read_and_fit(path: Path) -> None:
    if path.suffix == ".h5":
        MaxVariance(2).fit(path)
        return
    table = read_table(path, ReadOptions(guess=False))
    MaxVariance(1).fit(table.data)


@pytest.mark.parametrize("name", WRITERS)
def test_flipped_bytes(name, tmp_path):
    suffix, write = WRITERS[name]
    path = tmp_path / f"table{suffix}"
    write(path)
    content, rng = path.read_bytes(), np.random.default_rng(1)
    read_and_fit(path)
    for _ in range(N_FLIPS):
        path.unlink()  # a reader may still have the last one mapped
        path.write_bytes(flipped(content, rng))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                read_and_fit(path)
            except ValueError as error:
                sentence = str(error)
                assert sentence.endswith(".")
                assert "allow_pickle" not in sentence
                assert "report" not in sentence
