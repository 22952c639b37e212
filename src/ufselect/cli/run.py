"""One run of a selector on a table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from ufselect.cli.methods import find_method
from ufselect.io.errors import TableError
from ufselect.io.table import Table
from ufselect.registry import missing_requirements
from ufselect.selectors.base import UnsupervisedSelector

SCALINGS = ("none", "standard")
DENSE_BYTES = 4 << 30  # what most machines have to spare
UNIT_ROWS = 2000  # enough to know a standard deviation to a few per cent
UNITS_APART = 100  # two orders of magnitude are no longer chance
OWN_PARAMETERS = {"n_features_to_select", "random_state", "verbose"}  # set by -k, --seed and the program
EXTRA_OF = {"torch": "deep"}


@dataclass(frozen=True)
class Request:
    """What to do: method, number or share of features, further parameters, seed, scaling."""

    method: str = "DSCOFS"
    n_features: int | float = 0.1
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    scale: str = "none"


@dataclass(frozen=True)
class Run:
    """A fitted selector with the data it saw.

    Attributes
    ----------
    request : Request
        What was asked.
    table : Table
        The table as read.
    data : ndarray or CSR array
        What the selector was fitted on: the table's data, scaled if asked.
    selector : UnsupervisedSelector
        After ``fit``.
    messages : tuple of str
        Warnings of the fit.
    seconds : float
        Time of the fit.
    """

    request: Request
    table: Table
    data: Any
    selector: UnsupervisedSelector
    messages: tuple[str, ...]
    seconds: float

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
    settings = dict(request.parameters, n_features_to_select=request.n_features)
    if "random_state" in known:
        settings["random_state"] = request.seed
    if "verbose" in known:
        settings["verbose"] = verbose
    return method(**settings)


def run_selection(table: Table, request: Request, verbose: bool = False) -> Run:
    """Fit the requested selector on a table."""
    selector = make_selector(request, verbose)
    n_features = table.shape[1]
    if request.n_features > n_features:
        raise TableError(
            f"{request.n_features} features are asked for, but the table has {n_features} that can be "
            f"chosen; use -k {n_features} or less."
        )
    data = _suited(table, selector, request.scale)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        selector.fit(data)
        seconds = time.perf_counter() - began
    messages = dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)
    return Run(request, table, data, selector, tuple(messages), seconds)


def _suited(table: Table, selector: UnsupervisedSelector, scale: str) -> Any:
    """Return the data as the selector can take them."""
    data = table.data
    if sparse.issparse(data) and not selector.accepts_sparse:
        if 8 * data.shape[0] * data.shape[1] > DENSE_BYTES:
            raise TableError(
                f"{type(selector).__name__} cannot take sparse data, and this table is too large to be made "
                "dense; use --method DSCOFS."
            )
        data = data.toarray()
    return scaled(data, scale)


def scaled(data: Any, scale: str) -> Any:
    """Return the data with unit variances if asked; sparse data are not shifted, so that they stay sparse."""
    if scale == "standard":
        return StandardScaler(with_mean=not sparse.issparse(data)).fit_transform(data)
    return data


def request_for(selector: UnsupervisedSelector, like: Request) -> Request:
    """Return a request that makes this selector: its method and those parameters that are not the default."""
    default = type(selector)().get_params()
    parameters = {
        name: json_value(value)
        for name, value in selector.get_params().items()
        if name not in OWN_PARAMETERS and repr(value) != repr(default[name])
    }
    seed = getattr(selector, "random_state", None)
    return replace(
        like,
        method=type(selector).__name__,
        parameters=parameters,
        seed=int(seed) if isinstance(seed, int | np.integer) else like.seed,
    )


def unit_note(table: Table, request: Request) -> str | None:
    """Return a hint when a few columns have so large a unit that they decide everything."""
    if request.scale != "none" or sparse.issparse(table.data):
        return None
    spread = np.std(table.data[:: max(1, table.shape[0] // UNIT_ROWS)], axis=0)
    typical = np.median(spread[spread > 0]) if np.any(spread > 0) else 0.0
    if typical and spread.max() > UNITS_APART * typical:
        name = table.feature_names[int(np.argmax(spread))]
        return (
            f"Units differ: {name} varies {spread.max() / typical:.0f} times as much as the "
            "typical column and will weigh most; add --scale standard if units are not comparable."
        )
    return None


def json_value(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value if isinstance(value, bool | int | float | str | type(None)) else repr(value)
