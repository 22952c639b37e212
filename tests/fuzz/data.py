"""Data of every kind, and containers of every kind to put them into."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ufselect.gram import GramAccumulator

Make = Callable[[np.random.Generator, int, int], np.ndarray]


def _normal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d))


def _low_rank(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    rank = int(rng.integers(1, min(n, d) + 1))
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


def _constant_columns(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return np.where(rng.random(d) < 0.5, 3.0, _normal(rng, n, d))


def _orthonormal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    X = _normal(rng, n, d)
    left, _, right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return left @ right


def _scaled(factor: float) -> Make:
    return lambda rng, n, d: _normal(rng, n, d) * factor


def _largest(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], (n, d)) * np.finfo(np.float64).max * rng.uniform(0.1, 1.0)


def _thin(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return np.where(rng.random((n, d)) < 0.1, rng.standard_normal((n, d)), 0.0)


def _with(value: float) -> Make:
    def make(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
        X = _normal(rng, n, d)
        X[rng.integers(n), rng.integers(d)] = value
        return X

    return make


DATA: dict[str, Make] = {
    "normal": _normal,
    "low rank": _low_rank,
    "constant columns": _constant_columns,
    "duplicate columns": lambda rng, n, d: _normal(rng, n, d)[:, rng.integers(0, d, d)],
    "duplicate rows": lambda rng, n, d: _normal(rng, n, d)[rng.integers(0, max(1, n // 3), n)],
    "constant": lambda rng, n, d: np.full((n, d), 2.5),
    "zero": lambda rng, n, d: np.zeros((n, d)),
    "identity": lambda rng, n, d: np.eye(n, d),
    "orthonormal": _orthonormal,
    "one hot": lambda rng, n, d: np.eye(d)[rng.integers(0, d, n)],
    "offset": lambda rng, n, d: _normal(rng, n, d) + 1e8 * rng.standard_normal(d),
    "mixed units": lambda rng, n, d: _normal(rng, n, d) * 10.0 ** rng.integers(-12, 12, d),
    "tiny": _scaled(1e-200),
    "subnormal": _scaled(1e-310),
    "least": _scaled(5e-324),
    "huge": _scaled(1e200),
    "near overflow": _scaled(1e307),
    "largest": _largest,
    "thin": _thin,
    "small integers": lambda rng, n, d: rng.integers(-2, 3, (n, d)).astype(np.float64),
    "one outlier": _with(1e12),
    "with NaN": _with(np.nan),
    "with infinity": _with(np.inf),
}


def unsorted_csr(X: np.ndarray) -> sparse.csr_array:
    """Return CSR with the columns of each row in falling order, and one entry stored in two halves."""
    good = sparse.csr_array(X)
    indices, data = good.indices.copy(), good.data.copy()
    for start, stop in zip(good.indptr[:-1], good.indptr[1:], strict=True):
        indices[start:stop], data[start:stop] = indices[start:stop][::-1], data[start:stop][::-1]
    if not data.size:
        return good
    first_row = int(np.flatnonzero(np.diff(good.indptr))[0])
    indptr = good.indptr.copy()
    indptr[first_row + 1 :] += 1
    halves = np.concatenate([[data[0] / 2, data[0] / 2], data[1:]])
    return sparse.csr_array((halves, np.insert(indices, 0, indices[0]), indptr), shape=X.shape)


def _memmap(X: np.ndarray, folder: Path) -> np.ndarray:
    np.save(folder / "mapped.npy", X)
    return np.load(folder / "mapped.npy", mmap_mode="r")


def _npy(X: np.ndarray, folder: Path) -> Path:
    np.save(folder / "stored.npy", X)
    return folder / "stored.npy"


def _names(X: np.ndarray) -> list[str]:
    return [f"f{j}" for j in range(X.shape[1])]


def _frame(X: np.ndarray) -> Any:
    return import_module("pandas").DataFrame(X, columns=_names(X))


def _single(X: np.ndarray, folder: Path) -> np.ndarray:
    with np.errstate(over="ignore"):
        return X.astype(np.float32)


CONTAINERS: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "rows": lambda X, _: np.ascontiguousarray(X),
    "columns": lambda X, _: np.asfortranarray(X),
    "view": lambda X, _: np.repeat(X, 2, axis=0)[::2],
    "float32": _single,
    "list": lambda X, _: X.tolist(),
    "frame": lambda X, _: _frame(X),
    "polars": lambda X, _: import_module("polars").DataFrame(X, schema=_names(X)),
    "csr": lambda X, _: sparse.csr_array(X),
    "csr matrix": lambda X, _: sparse.csr_matrix(X),
    "csc": lambda X, _: sparse.csc_array(X),
    "coo": lambda X, _: sparse.coo_array(X),
    "unsorted csr": lambda X, _: unsorted_csr(X),
    "bsr": lambda X, _: sparse.bsr_array(X),
    "masked": lambda X, _: np.ma.masked_array(X, np.arange(X.size).reshape(X.shape) % 17 == 16),
    "memmap": _memmap,
    "npy": _npy,
    "dask": lambda X, _: import_module("dask.array").from_array(X, chunks=(max(1, len(X) // 2), -1)),
    "dask frame": lambda X, _: import_module("dask.dataframe").from_pandas(_frame(X), npartitions=2),
    "accumulator": lambda X, _: GramAccumulator().update(X[: len(X) // 2]).update(X[len(X) // 2 :]),
}


ON_DISK = ("memmap", "npy")


def frozen(X: Any) -> Any:
    """Make the arrays of a container read-only, where it has any."""
    for part in _arrays(X):
        if part.flags.owndata or part.base is not None:
            part.flags.writeable = False
    return X


def digest(X: Any) -> int:
    """Return a hash of the arrays of a container, or of the bytes of a file; of others a constant."""
    if isinstance(X, Path):
        return hash(X.read_bytes())
    return hash(tuple(part.tobytes() for part in _arrays(X)))


def _arrays(X: Any) -> list[np.ndarray]:
    if isinstance(X, np.ndarray):
        return [X]
    if sparse.issparse(X):
        return [getattr(X, name) for name in ("data", "indices", "indptr", "row", "col") if hasattr(X, name)]
    if hasattr(X, "to_numpy") and not hasattr(X, "dask"):
        return [X.to_numpy(copy=True)] if type(X).__module__.startswith("pandas") else [X.to_numpy()]
    return []
