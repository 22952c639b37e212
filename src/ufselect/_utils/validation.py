"""Check what a user passed: its kind, whether it is sound, and the source of randomness."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Set
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.utils._array_api import _is_numpy_namespace as is_numpy_namespace
from sklearn.utils._array_api import get_namespace, move_to

from ufselect._utils.messages import listed


def check_positive_int(name: str, value: Any) -> None:
    """Refuse anything but an integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, not {value!r}.")


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse anything but one of the given words."""
    if value not in choices:
        listed = ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, not {value!r}.")


def device_namespace(X: Any) -> Any | None:
    """Return the namespace of an array of another library, with scikit-learn's array API dispatch on.

    None for NumPy arrays, for anything that is not an array, and without dispatch.
    """
    if isinstance(X, np.ndarray) or not hasattr(X, "__dlpack__") or not get_config()["array_api_dispatch"]:
        return None
    xp = get_namespace(X)[0]
    return None if is_numpy_namespace(xp) else xp


def as_numpy(X: Any) -> Any:
    """Return an array of another library as one of NumPy, and anything else as it is."""
    return X if device_namespace(X) is None else move_to(tabular(X, on_device=True), xp=np, device="cpu")


def like(values: NDArray, X: Any) -> Any:
    """Return a NumPy array in the library and on the device of X."""
    xp = device_namespace(X)
    return values if xp is None else move_to(values, xp=xp, device=X.device)


def tabular(X: Any, name: str = "X", *, on_device: bool = False) -> Any:
    """Return what a user passed as data, with masked entries as NaN.

    What has no rows and columns of numbers, for which NumPy's own message would be unclear or missing, and
    damaged sparse matrices raise an error that begins with ``name``. Arrays of other libraries, with
    scikit-learn's array API dispatch on, are refused unless ``on_device``.
    """
    if isinstance(X, str | os.PathLike):
        raise TypeError(
            f"{name} is a path; open the file first, for instance with pandas.read_csv, or with dask if it "
            "is larger than memory."
        )
    is_mapping = isinstance(X, Mapping) and not sparse.issparse(X)  # SciPy's dok_array is one
    if X is None or is_mapping or isinstance(X, Set | Iterator | bytes):
        raise TypeError(
            f"{name} is of type {type(X).__name__}, which has no rows and columns; give an array, a sparse "
            "matrix or a data frame."
        )
    advice = _what_to_do_instead(X)
    if advice is None and not on_device and device_namespace(X) is not None:
        advice = (
            "and only selectors that work through the Gram matrix, such as DSCOFS, take arrays of other "
            "libraries; pass a NumPy array."
        )
    if advice is not None:
        raise TypeError(f"{name} is a {type(X).__name__}, {advice}")
    if sparse.issparse(X) and X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, rows and columns, not {X.ndim}.")
    check_sparse(X, name)
    if hasattr(X, "columns"):
        check_frame(X, name)
        if hasattr(X, "sparse") and any(getattr(dtype, "fill_value", 0) != 0 for dtype in X.dtypes):
            return X.sparse.to_dense()  # scikit-learn takes sparse columns only if they are filled with 0
        if hasattr(X, "iloc"):
            positions = [position for position, dtype in enumerate(X.dtypes) if str(dtype) == "object"]
            check_objects([X.iloc[:, position] for position in positions], name)
    elif isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise TypeError(f"{name} holds records of named fields; make a table of them with pandas.DataFrame.")
    elif isinstance(X, np.ndarray) and X.dtype.kind in "Mm":
        raise TypeError(f"{name} holds dates or times; convert its columns to numbers first.")
    elif isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype.kind == "O"):
        check_objects([X], name)
    return with_gaps(X) if isinstance(X, np.ma.MaskedArray) else X


def _what_to_do_instead(X: Any) -> str | None:
    """Say what to pass instead of another library's object that NumPy would misread; None if it is fine."""
    library = type(X).__module__.partition(".")[0]
    if library == "pyspark":
        return (
            "whose rows are on a cluster; add them up there with ufselect.gram.GramAccumulator (see Other "
            "engines in the guide), or pass a sample of them, X.limit(10_000).toPandas()."
        )
    if library in ("duckdb", "_duckdb"):
        return (
            "whose values are not computed yet; pass X.df(), or give covariances computed in SQL to "
            "ufselect.gram_from_covariance."
        )
    if is_lazy_table(X) or (hasattr(X, "collect") and not hasattr(X, "__array__")):
        call = "collect" if hasattr(X, "collect") else "to_table"
        return f"whose values are not computed yet; call {call}() first."
    if getattr(getattr(X, "device", None), "type", "cpu") != "cpu" and not get_config()["array_api_dispatch"]:
        return "which is on another device; call sklearn.set_config(array_api_dispatch=True), or X.cpu()."
    if getattr(X, "requires_grad", False):
        return "which records gradients; pass X.detach()."
    return None


def with_gaps(values: Any) -> Any:
    """Return a plain array with NaN for masked entries, which are missing values."""
    if not np.ma.is_masked(values):
        return np.asarray(values)
    return values.astype(np.result_type(values.dtype, np.float16)).filled(np.nan)


def table_schema(X: Any) -> list[tuple[Any, Any]]:
    """Return the names and types of the columns of a frame or lazy table."""
    if hasattr(X, "collect_schema"):
        with readable_table():
            return list(X.collect_schema().items())
    if hasattr(X, "schema"):
        return list(zip(X.schema.names, X.schema.types, strict=True))
    return list(zip(X.columns, getattr(X, "dtypes", X.columns), strict=True))


@contextmanager
def readable_table() -> Iterator[None]:
    """Turn errors of polars and pyarrow about a table that cannot be read into a ValueError of one line."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("polars", "pyarrow"):
            raise
        raise ValueError(f"X cannot be read: {str(error).splitlines()[0]}") from error


def check_frame(frame: Any, source: str = "X") -> None:
    """Refuse a frame or lazy table without columns, or with columns whose type is not one of numbers."""
    kinds = [(str(name), _unlike_numbers(dtype)) for name, dtype in table_schema(frame)]
    if not kinds:
        raise ValueError(f"{source} has no columns, but at least 1 is required.")
    repeated = [name for name, count in Counter(name for name, _ in kinds).items() if count > 1]
    if repeated and (is_dask(frame) or not hasattr(frame, "iloc")):  # pandas tells them apart by position
        raise ValueError(f"{source} has two columns called {repeated[0]!r}; rename one.")
    texts = [name for name, kind in kinds if kind == "text"]
    if texts:
        raise ValueError(
            f"These columns of {source} hold text: {listed(texts, 3)}. Drop them, or encode them."
        )
    for name, kind in kinds:
        if kind is not None:
            raise TypeError(f"{source} holds {kind} in column {name!r}; convert it to numbers or drop it.")


def _unlike_numbers(dtype: Any) -> str | None:
    """Say what a column of this type holds instead of numbers; None for numbers and Python objects."""
    kind, word = getattr(dtype, "kind", ""), str(dtype).lower()
    if word == "category":  # of pandas
        return None if dtype.categories.dtype.kind in "biuf" else "text"
    beginnings = {
        "dates or times": ("date", "time", "duration", "period"),
        "text": ("str", "large_string", "utf8", "categorical", "enum", "dictionary"),
        "intervals": ("interval",),
        "geometries": ("geometry",),
        "lists or records": (
            "list",
            "large_list",
            "fixed",
            "array",
            "struct",
            "map",
            "binary",
            "large_binary",
        ),
    }
    if kind in ("b", "i", "u", "f"):
        return None
    return next((held for held, words in beginnings.items() if word.startswith(words)), None)


def check_objects(tables: list[Any], name: str) -> None:
    """Refuse Python objects that are no numbers."""
    for values in tables:
        try:
            np.asarray(values, dtype=np.float64)
        except OverflowError as error:
            raise ValueError(
                f"{name} holds integers larger than floating-point numbers can be; divide them by a constant."
            ) from error
        except (TypeError, ValueError) as error:
            if str(error).startswith("setting an array element") and not hasattr(values, "name"):
                raise ValueError(
                    f"{name} has rows of different lengths; give all the same number of values."
                ) from error
            where = f" in column {values.name!r}" if getattr(values, "name", None) is not None else ""
            reason = str(error).rstrip(".")
            raise type(error)(f"{name} holds values{where} that are not numbers: {reason}.") from error


def sparse_damage(matrix: Any) -> str | None:
    """Say what is wrong with a sparse matrix, or return None; nothing of it is changed."""
    if matrix.format not in ("csr", "csc", "bsr"):
        return None  # the others check their indices when they are made
    if len(matrix.data) != matrix.indices.size:
        return f"it stores {len(matrix.data)} values and {matrix.indices.size} indices"
    try:  # a check of the matrix itself would prune and convert its arrays
        view = type(matrix)((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        view.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        return str(error)
    return None


def check_sparse(matrix: Any, name: str) -> None:
    """Refuse a sparse matrix whose index arrays would make compiled code read outside its memory."""
    damage = sparse_damage(matrix) if sparse.issparse(matrix) else None
    if damage is not None:
        raise ValueError(f"{name} is a damaged sparse matrix: {damage}; build or read it again.")


def canonical_csr(matrix: Any) -> sparse.csr_array:
    """Return CSR with sorted indices and no duplicates; it shares the matrix's arrays if these are so.

    The given matrix is never changed, not even the flags in which SciPy stores its format, so that threads
    may share it and its arrays may be read-only.
    """
    csr = matrix.tocsr()
    view = sparse.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
    if view.has_canonical_format:
        return view
    own = view.copy()
    own.sum_duplicates()
    return own


def seed_from(random_state: Any) -> int:
    """Return one integer seed for an int, a RandomState, a Generator or None."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and int(random_state) >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if random_state is not None and not isinstance(random_state, np.random.Generator):
        raise ValueError(
            "random_state must be an integer of at least 0, a RandomState, a Generator or None, not "
            f"{random_state!r}."
        )
    return int(np.random.default_rng(random_state).integers(np.iinfo(np.int32).max))


def generator(random_state: Any) -> np.random.Generator:
    """Return a NumPy generator for an int, a RandomState, a Generator or None."""
    is_ready = random_state is None or isinstance(random_state, np.random.Generator)
    return np.random.default_rng(random_state if is_ready else seed_from(random_state))


def is_missing(label: Any) -> bool:
    """Tell whether a label is None, NaN, or pandas' NA, which raises an error when compared with itself."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def has_missing(values: NDArray) -> bool:
    """Tell whether there is a NaN, without a copy of the data."""
    return values.size > 0 and bool(np.isnan(values.min()))


def is_dask(X: Any) -> bool:
    """Tell whether X is a dask collection, without importing dask."""
    # xarray's objects have the protocol too, but no graph if their values are in memory
    return hasattr(X, "__dask_keys__") and X.__dask_graph__() is not None


def is_lazy_table(X: Any) -> bool:
    """Tell whether X is a polars LazyFrame or a pyarrow dataset, which give their rows in batches."""
    library = type(X).__module__.partition(".")[0]
    return (library == "polars" and type(X).__name__ == "LazyFrame") or (
        library == "pyarrow" and hasattr(X, "scanner")
    )


def column_names(X: Any) -> NDArray | None:
    """Return the names of the columns of a frame or lazy table; None if they are not strings."""
    is_table = hasattr(X, "columns") or hasattr(X, "schema")
    names = [name for name, _ in table_schema(X)] if is_table else []
    is_named = len(names) > 0 and all(isinstance(name, str) for name in names)
    return np.asarray(names, dtype=object) if is_named else None


# A memory map of up to this many entries counts as an array: joblib makes one of each array over 1 MB that it
# passes to another process, and the result must not depend on that.
ENTRIES_IN_MEMORY = 20_000_000


def is_out_of_core(X: Any) -> bool:
    """Tell whether X is dask, a large memory map, lazy or reduced already, rather than data in memory."""
    if isinstance(X, np.memmap):
        return X.size > ENTRIES_IN_MEMORY
    return is_dask(X) or is_lazy_table(X) or getattr(X, "is_reduced", False)
