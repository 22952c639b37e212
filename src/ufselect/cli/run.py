"""One run of a selector on a table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.cli.methods import find_method
from ufselect.cli.prepare import AllRows, Prepared, prepared
from ufselect.cli.row_facts import check_rows, has_gaps, missing_words, row_metadata
from ufselect.cli.wishes import ColumnWishes, wishes_for
from ufselect.exceptions import TableError
from ufselect.io.table import Table
from ufselect.registry import missing_requirements
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.selectors.gram_selector import GramSelector
from ufselect.solvers.rebuild.counts import LEAST_ROWS

DENSE_BYTES = 4 << 30  # what most machines have to spare
# set by -k, --seed, the program, --keep, --exclude, --categorical and --max-correlation
WISHES = {"keep", "exclude", "groups", "max_correlation"}
OWN_PARAMETERS = {"n_features_to_select", "random_state", "verbose", *WISHES}
# Below any difference that matters, above what rounding leaves of copies.
MAX_CORRELATION = 0.999
EXTRA_OF = {"torch": "deep"}
AUTO = "AutoSelector"


@dataclass(frozen=True)
class Request:
    """What to do.

    Attributes
    ----------
    method : str
        Name of a selector.
    n_features : int, float or "auto"
        Number or share of features.
    parameters : mapping
        Further parameters of the method.
    seed : int
        Of everything random.
    scale : {"auto", "standard", "none"}
        Whether columns are given variance 1 first; "auto" when their units differ.
    normalize : {"none", "log"}
        Whether rows of counts are brought to one total and the logarithm is taken first.
    keep, exclude : tuple of str
        Names or patterns of columns that are chosen in any case, or never.
    max_correlation : float
        Above which a column waits behind a better one; 1 for no limit.
    """

    method: str = "AutoSelector"
    n_features: int | float | str = 0.1
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    scale: str = "auto"
    normalize: str = "none"
    keep: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_correlation: float = MAX_CORRELATION


@dataclass(frozen=True)
class Run:
    """A fitted selector with the data it saw.

    Attributes
    ----------
    request : Request
        What was asked.
    table : Table
        The table as read.
    prepared : Prepared
        What the selector was fitted on, and how it was made from the table.
    selector : UnsupervisedSelector
        After ``fit``.
    messages : tuple of str
        Warnings of the fit.
    seconds : float
        Time of the fit.
    chooser : estimator or None
        What chose the method among several, if one was chosen: the selector itself, or one that did so on a
        sample of the rows.
    """

    request: Request
    table: Table
    prepared: Prepared
    selector: UnsupervisedSelector
    messages: tuple[str, ...]
    seconds: float
    chooser: Any = None

    @property
    def chosen_method(self) -> UnsupervisedSelector:
        """The selector that ranked the features: the winner, where one was chosen among several."""
        winner: UnsupervisedSelector | None = getattr(self.selector, "best_estimator_", None)
        return self.selector if winner is None else winner

    @property
    def ranked(self) -> NDArray[np.intp]:
        """Positions of the chosen features, best first."""
        order = np.argsort(self.selector.ranking_)
        return order[: int(self.selector.support_.sum())]

    @property
    def selected(self) -> NDArray[np.intp]:
        """Positions of the chosen features in the order of the table."""
        return np.flatnonzero(self.selector.support_)


def make_selector(request: Request, verbose: bool = False) -> UnsupervisedSelector:
    """Return the selector that a request names, not yet fitted.

    Raises
    ------
    TableError
        If the method or a parameter is unknown.
    ImportError
        If the method needs a package that is absent.
    """
    method = find_method(request.method)
    absent = missing_requirements(method)
    if absent:
        extra = EXTRA_OF.get(absent[0], absent[0])
        raise ImportError(f'{method.__name__} needs {absent[0]}: pip install "ufselect[{extra}]".')
    known = method().get_params()
    for name in request.parameters:
        if name not in known or name in OWN_PARAMETERS:
            free = sorted(set(known) - OWN_PARAMETERS)
            raise TableError(f"{method.__name__} has no parameter {name!r} to set; it has {', '.join(free)}.")
    if request.n_features == "auto" and not method.chooses_count:
        raise TableError(
            f"{method.__name__} does not choose the number of features; give -k a number, or use --method "
            "RebuildSelector."
        )
    settings = dict(request.parameters, n_features_to_select=request.n_features)
    if "random_state" in known:
        settings["random_state"] = request.seed
    if "verbose" in known:
        settings["verbose"] = verbose
    return method(**settings)


def run_selection(
    table: Table, request: Request, verbose: bool = False, all_rows: AllRows | None = None
) -> Run:
    """Fit the requested selector on a table, or on all the rows of which it holds a sample.

    Raises
    ------
    TableError
        If there are fewer features than asked for, or the method cannot take such data.
    """
    wishes = wishes_for(table, request.keep, request.exclude, request.max_correlation)
    check_count(request.n_features, wishes.n_units(table.shape[1]), table.n_rows or table.shape[0])
    check_held_out(request, all_rows is not None)
    selector = make_selector(request, verbose)
    rows = row_metadata(table)
    check_rows(selector, "missing" if has_gaps(table) else None, *rows)
    selector.set_params(**_taken(wishes, selector))
    ready = prepared(table, request.scale, request.normalize, all_rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        selector.fit(_suited(ready, selector), **rows)
        seconds = time.perf_counter() - began
    said = [str(warning.message) for warning in caught] + missing_words(selector)
    messages = dict.fromkeys(" ".join(words.split()) for words in said)
    chooser = selector if hasattr(selector, "report_") else None
    return Run(request, table, ready, selector, tuple(messages), seconds, chooser)


def _taken(wishes: ColumnWishes, selector: UnsupervisedSelector) -> dict[str, Any]:
    """Return the wishes as parameters that the selector has; the limit to correlations is no must."""
    asked, known = wishes.as_parameters, selector.get_params()
    absent = sorted(asked.keys() - known.keys() - {"max_correlation"})
    if absent:
        raise TableError(f"{type(selector).__name__} has no parameter {absent[0]}; use another --method.")
    return {name: value for name, value in asked.items() if name in known}


def check_count(asked: int | float | str, n_features: int, n_rows: int) -> None:
    """Refuse more features than there are, and to find their number by too few rows.

    Raises
    ------
    TableError
        With the number that there is.
    """
    if isinstance(asked, str):
        if n_rows < LEAST_ROWS:
            raise TableError(
                f"-k auto holds out rows and needs at least {LEAST_ROWS} of them, not {n_rows}; give -k a "
                "number."
            )
    elif asked > n_features:
        raise TableError(
            f"{asked} features are asked for, but the table has {n_features} that can be chosen; "
            f"use -k {at_most(n_features)}."
        )


def check_held_out(request: Request, in_blocks: bool) -> None:
    """Refuse to find the number of features without rows; a choice among methods has a sample of them.

    Raises
    ------
    TableError
        If that is asked for.
    """
    if in_blocks and request.n_features == "auto" and request.method != AUTO:
        raise TableError(
            "-k auto holds out rows, which a table that is read in blocks does not have; give -k a number, "
            "or --no-stream."
        )


def at_most(count: int) -> str:
    """Return a number as a limit for what is counted from 1."""
    return "1" if count == 1 else f"{count} or less"


def _suited(ready: Prepared, selector: UnsupervisedSelector) -> Any:
    """Return the data as the selector can take them; a choice among methods is made on a sample of rows."""
    if ready.gram is None or type(selector).__name__ == AUTO:
        return ready.data if selector.accepts_sparse else dense(ready.data, type(selector).__name__)
    if not isinstance(selector, GramSelector):
        raise TableError(
            f"{type(selector).__name__} needs the whole table in memory, which it does not fit; "
            "use --method DSCOFS."
        )
    return ready.gram


def dense(data: Any, method: str) -> Any:
    """Return data as an array, if that is small enough.

    Raises
    ------
    TableError
        If it is not.
    """
    if not sparse.issparse(data):
        return data
    if 8 * data.shape[0] * data.shape[1] > DENSE_BYTES:
        raise TableError(
            f"{method} cannot take sparse data, and this table is too large to be made dense; "
            "use --method DSCOFS."
        )
    return data.toarray()


def json_value(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return value if isinstance(value, bool | int | float | str | type(None)) else repr(value)
