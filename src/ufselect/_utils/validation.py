"""Check what users pass: tables, columns by name, sources of randomness; warn at the line of the caller."""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.utils._array_api import _is_numpy_namespace as is_numpy_namespace
from sklearn.utils._array_api import get_namespace, move_to
from sklearn.utils.validation import check_array as sklearn_check_array
from sklearn.utils.validation import validate_data as sklearn_validate_data

# scikit-learn adds up all entries to find one that is not finite; the sum of very large ones is not either.
_quietly = np.errstate(over="ignore", invalid="ignore")
check_array, validate_data = _quietly(sklearn_check_array), _quietly(sklearn_validate_data)

_muted: ContextVar[tuple[type[Warning], ...]] = ContextVar("muted", default=())


@contextmanager
def without_warnings(*categories: type[Warning]) -> Iterator[None]:
    """Suppress our own warnings of some categories in this thread.

    ``warnings.catch_warnings`` sets the filters of the whole process; if threads overlap, one may restore
    the filters that another has set, and these then stay.
    """
    token = _muted.set(_muted.get() + categories)
    try:
        yield
    finally:
        _muted.reset(token)


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the innermost frame outside this package and scikit-learn."""
    if issubclass(category, _muted.get()):
        return
    level, frame = 2, sys._getframe(1)
    ours = ("ufselect.", "sklearn.")
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith(ours):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def listed(names: list[str], most: int = 5) -> str:
    """Return names for a sentence: the first few, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


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


@dataclass(frozen=True)
class ColumnTable:
    """The columns of X: their number and, if X has them, their names."""

    n_columns: int
    names: NDArray | None

    @cached_property
    def _places(self) -> dict[str, int]:
        return {} if self.names is None else {name: place for place, name in enumerate(self.names)}

    def indices(self, parameter: str, given: Any) -> NDArray:
        """Return the indices of columns given by name or index, or by a mask; none for None."""
        if given is None:
            return np.empty(0, dtype=np.intp)
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise TypeError(f"{parameter} must be a list of column names or indices; write [{given!r}].")
        items = list(given.values()) if isinstance(given, Mapping) else list(given)
        is_mask = bool(items) and all(isinstance(item, (bool, np.bool_)) for item in items)
        if isinstance(given, Mapping) and items and not is_mask:
            raise TypeError(f"{parameter} must be a list of columns, or have True or False for each column.")
        if is_mask:
            return np.flatnonzero(self.values(parameter, given))
        indices = np.array([self._index(parameter, item) for item in items], dtype=np.intp)
        columns, counts = np.unique(indices, return_counts=True)
        if np.any(counts > 1):
            raise ValueError(f"{parameter} has {self.listed(columns[counts > 1])} twice; name it once.")
        return indices

    def values(self, parameter: str, given: Any) -> Any:
        """Return one value per column, in the order of X.

        The keys of a dict and the index of a pandas Series or frame name the columns; anything else has the
        order of X already.
        """
        if isinstance(given, Mapping):
            given, names = list(given.values()), list(given)
        elif hasattr(given, "iloc"):
            given, names = given.to_numpy(), given.index.tolist()
        elif isinstance(given, str) or not hasattr(given, "__len__") or getattr(given, "shape", None) == ():
            raise TypeError(f"{parameter} must have one value per column of X, not be {given!r}.")
        elif len(given) != self.n_columns:
            raise ValueError(
                f"{parameter} has {len(given)} entries and X has {self.n_columns} columns; give one each."
            )
        else:
            return given
        columns = self.indices(parameter, names)
        if columns.size < self.n_columns:
            missing = self.listed(np.setdiff1d(np.arange(self.n_columns), columns))
            raise ValueError(f"{parameter} has no entry for {missing}; give one for each column of X.")
        return [given[position] for position in np.argsort(columns)]

    def numbers(self, parameter: str, given: Any) -> NDArray:
        """Return one number, or row of numbers, per column, in the order of X."""
        values = self.values(parameter, given)
        try:
            return np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{parameter} must hold a number for each column of X.") from error

    def labels(self, parameter: str, given: Any) -> tuple[list[Any], NDArray]:
        """Return the labels by first column, and the number of each column's label; −1 for None or NaN."""
        numbers: dict[Any, int] = {}
        values = self.values(parameter, given)
        if not all(isinstance(label, Hashable) for label in values):
            raise TypeError(f"{parameter} must have one label per column of X, not several.")
        codes = [-1 if is_missing(label) else numbers.setdefault(label, len(numbers)) for label in values]
        return list(numbers), np.array(codes, dtype=np.intp)

    def _index(self, parameter: str, item: Any) -> int:
        if isinstance(item, str):
            if self.names is None:
                raise ValueError(f"{parameter} has {item!r}, but X has no column names; give indices.")
            if item not in self._places:
                near = get_close_matches(item, self._places, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                raise ValueError(f"{parameter} has {item!r}, which is not a column of X{hint}")
            return self._places[item]
        if isinstance(item, bool) or not isinstance(item, Integral):
            raise TypeError(f"{parameter} must have column names or indices, not {item!r}.")
        if not 0 <= int(item) < self.n_columns:
            raise ValueError(f"{parameter} has index {item}; the columns of X are 0 to {self.n_columns - 1}.")
        return int(item)

    def group_codes(self, feature_groups: Any) -> NDArray:
        """Return the group number of each column, from labels or a mapping; a single column has its own."""
        if feature_groups is None:
            return np.arange(self.n_columns)
        has_members = isinstance(feature_groups, Mapping) and any(
            isinstance(columns, Iterable) and not isinstance(columns, str)
            for columns in feature_groups.values()
        )
        if has_members:
            codes = np.full(self.n_columns, -1, dtype=np.intp)
            for code, (label, columns) in enumerate(feature_groups.items()):
                members = self.indices(f"feature_groups[{label!r}]", columns)
                if members.size == 0:
                    raise ValueError(
                        f"feature_groups[{label!r}] has no columns; name some or drop the group."
                    )
                taken = members[codes[members] >= 0]
                if taken.size:
                    raise ValueError(
                        f"feature_groups has {self.listed(taken)} in two groups; put each column in one."
                    )
                codes[members] = code
        else:
            codes = self.labels("feature_groups", feature_groups)[1]
        alone = codes < 0
        codes[alone] = codes.max(initial=-1) + 1 + np.arange(np.count_nonzero(alone))
        return numbered_by_first(codes)

    def listed(self, columns: NDArray) -> str:
        """Return the names, or indices, of the first three of some columns, for a message."""
        shown = [str(column) if self.names is None else repr(str(self.names[column])) for column in columns]
        return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


# Parameters of selectors that name columns, or have a value for each.
NAMES_COLUMNS = frozenset(
    ["keep", "exclude", "feature_groups", "costs", "regions", "positions", "prefer", "noise_variance", "init"]
)


def value_by_position(table: ColumnTable, parameter: str, value: Any) -> Any:
    """Return what a parameter that names columns says in the order of X, for the same data without names."""
    name = parameter.rpartition("__")[2]
    if name in ("keep", "exclude"):
        return table.indices(parameter, value)
    if name == "feature_groups":
        return table.group_codes(value)
    has_names = isinstance(value, Mapping) or hasattr(value, "iloc")
    return table.values(parameter, value) if has_names else value


def numbered_by_first(codes: NDArray) -> NDArray:
    """Number groups 0, 1, … by their first columns."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return places_in(np.argsort(first))[inverse]


def places_in(order: NDArray) -> NDArray:
    """Return the place of each element in an order."""
    places = np.empty(order.size, dtype=np.intp)
    places[order] = np.arange(order.size)
    return places
