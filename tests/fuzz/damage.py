"""A file of every format that is read, and bytes of it changed at random."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
from scipy.io import mmwrite, savemat

from tests.fuzz.cases import INTERNAL, Defect
from ufselect import MaxVariance
from ufselect.exceptions import DominatedByUnitsWarning
from ufselect.io import ReadOptions, read_table, trial

RNG = np.random.default_rng(0)
X = np.where(RNG.random((30, 12)) < 0.5, RNG.standard_normal((30, 12)), 0.0)
TRIAL_SECONDS = 5  # of processor time; a trial takes some milliseconds
TRIAL_BYTES = 256  # less than the arrays have, so that as little of them is read beforehand as of large ones


def _h5ad(matrix: Any) -> Callable[[Path], None]:
    return lambda path: import_module("anndata").AnnData(matrix).write_h5ad(path)


def _packed_h5ad(path: Path) -> None:
    """Write what annotated files have: compressed chunks, categories, words and missing values."""
    anndata, pandas = import_module("anndata"), import_module("pandas")
    words = [f"w{i % 7}" for i in range(30)]
    cells = pandas.DataFrame(
        {
            "kind": pandas.Categorical(words),
            "word": words,
            "count": pandas.array([None, *range(29)], "Int64"),
        },
        index=[f"c{i}" for i in range(30)],
    )
    cells = anndata.AnnData(sparse.csr_matrix(X), obs=cells, layers={"twice": 2 * X}, uns={"note": "x"})
    cells.write_h5ad(path, compression="gzip")


def _parquet(path: Path) -> None:
    import_module("pyarrow")
    import_module("pandas").DataFrame(X, columns=[f"f{j}" for j in range(12)]).to_parquet(path)


def _packed(opener: Callable[..., Any]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with opener(path, "wt") as file:
            np.savetxt(file, X, delimiter=",")

    return write


def _zst(path: Path) -> None:
    with import_module("pyarrow").output_stream(str(path), compression="zstd") as file:
        file.write("\n".join(",".join(map(repr, row)) for row in X.tolist()).encode())


def _xlsx(path: Path) -> None:
    workbook = import_module("openpyxl").Workbook()
    for row in [[f"f{j}" for j in range(12)], *X.tolist()]:
        workbook.active.append(row)
    workbook.save(path)


def _tenx(path: Path) -> None:
    path.mkdir()
    with (path / "matrix.mtx").open("wb") as file:
        mmwrite(file, sparse.coo_array((10 * X).astype(int).T))
    (path / "features.tsv").write_text("".join(f"g{j}\tG{j}\n" for j in range(12)), encoding="utf-8")
    (path / "barcodes.tsv").write_text("".join(f"c{j}\n" for j in range(30)), encoding="utf-8")


WRITERS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "npy": (".npy", lambda path: np.save(path, X)),
    "npz": (".npz", lambda path: np.savez(path, X=X)),
    "packed npz": (".npz", lambda path: np.savez_compressed(path, X=X)),
    "sparse npz": (".npz", lambda path: sparse.save_npz(path, sparse.csr_array(X), compressed=False)),
    "mat": (".mat", lambda path: savemat(path, {"X": X})),
    "packed mat": (".mat", lambda path: savemat(path, {"X": X}, do_compression=True)),
    "sparse mat": (".mat", lambda path: savemat(path, {"X": sparse.csc_array(X)})),
    "csv": (".csv", lambda path: np.savetxt(path, X, delimiter=",")),
    "csv.gz": (".csv.gz", _packed(gzip.open)),
    "csv.bz2": (".csv.bz2", _packed(bz2.open)),
    "csv.xz": (".csv.xz", _packed(lzma.open)),
    "csv.zst": (".csv.zst", _zst),
    "xlsx": (".xlsx", _xlsx),
    "parquet": (".parquet", _parquet),
    "h5ad": (".h5ad", _h5ad(X)),
    "sparse h5ad": (".h5ad", _h5ad(sparse.csr_matrix(X))),
    "packed h5ad": (".h5ad", _packed_h5ad),
    "10x": ("", _tenx),
}


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """Change up to three bytes, and now and then cut the file short."""
    damaged = bytearray(content)
    for place in rng.integers(len(damaged), size=rng.integers(1, 4)):
        damaged[place] = rng.integers(256)
    return bytes(damaged[: rng.integers(len(damaged))] if rng.random() < 0.1 else damaged)


def read_and_fit(path: Path) -> None:
    """Read a table and fit."""
    MaxVariance(1).fit(read_table(path, ReadOptions(guess=False)).data)


def _forked_trial(path: str, size: int, changed: int) -> int:
    """Open a file in a fork of this process, which has all it needs in memory already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the threads of dask, which wait for work
        process = os.fork()
    if process == 0:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (TRIAL_SECONDS, TRIAL_SECONDS))
        trial.READ_BYTES = TRIAL_BYTES
        trial.open_everything(path)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    return status


def fast_trials() -> AbstractContextManager[Any]:
    """Try files without starting Python anew each time, where a fork is safe: many times as fast."""
    return patch.object(trial, "_ended", _forked_trial) if sys.platform == "linux" else nullcontext()


def flip_bytes(name: str, count: int, seed: int, folder: Path) -> None:
    """Damage a file of a format so many times, and read it.

    Raises
    ------
    Defect
        If it ends in anything but a table or one sentence.
    """
    suffix, write = WRITERS[name]
    whole, damaged = folder / f"whole{suffix}", folder / f"table{suffix}"
    write(whole)
    read_and_fit(whole)
    rng = np.random.default_rng(seed)
    for number in range(count):
        _copy_damaged(whole, damaged, rng)
        with warnings.catch_warnings(), fast_trials():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", DominatedByUnitsWarning)  # of bytes that make a number large
            try:
                read_and_fit(damaged)
            except MemoryError:  # of a number of rows that damage made large
                continue
            except ValueError as error:
                _check_sentence(str(error), f"{name}, flip {number}")
            except Exception as error:
                raise Defect(f"{name}, flip {number}: {type(error).__name__}: {error}") from error


def _copy_damaged(whole: Path, damaged: Path, rng: np.random.Generator) -> None:
    """Write a damaged copy; of a folder one file is damaged."""
    if whole.is_dir():
        shutil.rmtree(damaged, ignore_errors=True)
        shutil.copytree(whole, damaged)
        files = sorted(path for path in damaged.rglob("*") if path.is_file() and path.stat().st_size)
        target = files[int(rng.integers(len(files)))]
        target.write_bytes(flipped(target.read_bytes(), rng))
    else:
        damaged.unlink(missing_ok=True)  # a reader may still have the last one mapped
        damaged.write_bytes(flipped(whole.read_bytes(), rng))


def _check_sentence(sentence: str, where: str) -> None:
    strange = [word for word in (*INTERNAL, "allow_pickle", "report") if word in sentence]
    if strange or not sentence.endswith("."):
        raise Defect(f"{where}: {sentence}")
