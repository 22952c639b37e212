"""One selection from a table: the request, the fit and its assessment."""

from __future__ import annotations

import inspect
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from ufselect import Assessment, assess
from ufselect._registry import all_selectors, missing_requirements
from ufselect._utils.messages import listed
from ufselect._utils.threads import blas_threads_for
from ufselect._utils.validation import has_missing
from ufselect.assessment.held_out import far_rows_note
from ufselect.base import GramSelector, UnsupervisedSelector
from ufselect.cli.table import by_name, columns_named, in_order, names_in
from ufselect.cli.text import with_flags
from ufselect.exceptions import DominatedByUnitsWarning, TableError
from ufselect.gram.operator import FormedGram
from ufselect.io import Table
from ufselect.preprocessing import AutoScaler, LogCounts
from ufselect.reconstruct.ridge import LEAST_ROWS
from ufselect.redundancy import RedundancyFilter
from ufselect.report import Explanation, explain

METHODS = {
    "reconstruct": "ReconstructionSelector",
    "clusters": "AutoSelector",
    "redundancy": "RedundancyFilter",
}
PLACEMENT = ("costs", "regions", "positions")  # files with a line for each column
# Set by -k, --seed, the program, --keep, --exclude, --categorical and --max-correlation.
OWN_PARAMETERS = {
    "n_features_to_select", "random_state", "verbose", "keep", "exclude", "feature_groups",
    "max_correlation", "goal",
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """What to do, from the options of ``select``."""

    goal: str = "reconstruct"
    method: str | None = None  # that of the goal
    n_features: int | float | str | None = None  # a tenth, at least 5 and at most 50, at most half
    n_clusters: int | str = "auto"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    scale: str = "auto"
    normalize: str = "none"
    keep: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_correlation: float | None = None  # that of the goal
    costs: Mapping[str, Any] | None = None  # by column, as are the next two
    regions: Mapping[str, Any] | None = None
    positions: Mapping[str, Any] | None = None


def request_from(typed: Mapping[str, Any]) -> Request:
    """Return the request of the typed options; refuse those that cannot be combined."""
    count, clusters = typed["k"], typed["clusters"]
    goal = typed["goal"] or ("clusters" if clusters is not None else "reconstruct")
    parameters = dict(typed.get("param") or ())
    method, limit = typed.get("method"), typed.get("max_correlation")
    if limit is not None and not (0 < limit < 1 or (limit == 1 and goal != "redundancy")):
        most = (
            "below 1; 0.999 drops only exact repeats."
            if goal == "redundancy"
            else "at most 1, which is no limit."
        )
        raise typer.BadParameter(f"it must be above 0 and {most}", param_hint="--max-correlation")
    if goal != "clusters" and (clusters is not None or ("n_clusters" in parameters and method is None)):
        raise typer.BadParameter(
            f"--for {goal} looks for no clusters; use --for clusters.", param_hint="--clusters"
        )
    if goal == "redundancy" and (method is not None or count is not None):
        flag = "--method" if method is not None else "-k"
        raise typer.BadParameter(
            "--for redundancy drops columns by --max-correlation and takes no method and no number.",
            param_hint=flag,
        )
    if goal == "clusters" and method is None and count == "auto":
        raise typer.BadParameter("auto works only with --for reconstruct; give a number.", param_hint="-k")
    return Request(
        goal,
        None if method is not None and method.lower() == "auto" else method,
        count,
        "auto" if clusters is None else clusters,
        parameters,
        typed["seed"],
        typed["scale"],
        typed["normalize"],
        names_in(typed["keep"], "--keep"),
        names_in(typed["exclude"], "--exclude"),
        limit,
        *(None if typed.get(name) is None else by_name(typed[name]) for name in PLACEMENT),
    )


def find_method(name: str) -> type[UnsupervisedSelector]:
    """Return a selector by its name; case, hyphens and underscores do not matter.

    Examples
    --------
    >>> from ufselect.cli.run import find_method
    >>> find_method("max-variance").__name__
    'MaxVariance'
    """

    def folded(text: str) -> str:
        return re.sub(r"[-_ ]", "", text.lower())

    methods = {**all_selectors(), "RedundancyFilter": RedundancyFilter}
    by_name = {folded(key): value for key, value in methods.items()}
    by_name["auto"] = by_name["autoselector"]
    if folded(name) in by_name:
        return by_name[folded(name)]
    close = get_close_matches(folded(name), by_name, n=1)
    hint = (
        f"did you mean {by_name[close[0]].__name__}?" if close else f"the methods are {', '.join(methods)}."
    )
    raise TableError(f"There is no method {name!r}; {hint}")


def make_selector(request: Request, n_columns: int = 0, verbose: bool = False) -> UnsupervisedSelector:
    """Return the unfitted selector of a request; ``n_columns`` is how many columns can be selected."""
    method = find_method(request.method or METHODS[request.goal])
    absent = missing_requirements(method)
    if absent:
        extra = {"torch": "deep"}.get(absent[0], absent[0])
        raise ImportError(f'{method.__name__} needs {absent[0]}: pip install "ufselect[{extra}]".')
    known = method().get_params()
    for name in request.parameters:
        if name not in known or name in OWN_PARAMETERS:
            free = ", ".join(sorted(set(known) - OWN_PARAMETERS)) or "none"
            raise TableError(f"{method.__name__} has no parameter {name!r} to set; it has {free}.")
    if request.n_features == "auto" and not method.chooses_count:
        raise TableError(
            f"{method.__name__} does not choose the number of columns; use a number, or --for reconstruct."
        )
    count = request.n_features
    if count is None:  # all of a small table would be no selection
        count = max(1, min(max(5, min(50, round(0.1 * n_columns))), n_columns // 2))
    limit = request.max_correlation
    is_placed = request.parameters.keys() & {"costs", "regions", "min_distance"} or any(
        getattr(request, name) is not None for name in PLACEMENT
    )
    if limit is None and is_placed:
        limit = 1.0  # which costs, regions and distances require
    if limit is None:  # 0.999 drops exact repeats, also after rounding
        limit = 0.95 if method is RedundancyFilter else 0.999
    settings = {
        "n_features_to_select": count,
        "goal": request.goal,
        "random_state": request.seed,
        "verbose": verbose,
        "max_correlation": limit if limit < 1 or method is RedundancyFilter else None,
    }
    if request.n_clusters != "auto":
        settings["n_clusters"] = request.n_clusters
    return method(**{key: value for key, value in settings.items() if key in known}, **request.parameters)


def prepare(table: Table, scale: str, normalize: str) -> tuple[Any, AutoScaler, FormedGram | None]:
    """Return the data of a table and its Gram matrix, normalised and scaled as asked, and the scaler."""
    data, gram, scaler = table.data, table.gram, AutoScaler(scale)
    if normalize == "log":
        try:
            data = LogCounts().fit_transform(data)
        except ValueError as error:
            words = "--normalize log is for counts, but some values are negative or missing; leave it out."
            raise TableError(words) from error
    try:
        scaler.fit(data, **row_metadata(table))
    except ValueError as error:
        raise TableError(with_names(str(error), table.feature_names)) from error
    scaler.reason_ = with_names(scaler.reason_, table.feature_names)
    if gram is not None:
        deviations = np.sqrt(gram.diag() / gram.n_samples) * gram.scale
        scaler.mean_, scaler.scale_ = table.means, np.where(deviations > 0, deviations, 1.0)
        if scaler.is_scaled_:
            factors, missing = gram.scale / scaler.scale_, gram.missing
            gram = FormedGram(gram.matrix * factors[:, None] * factors, gram.n_samples, 1.0)
            gram.missing = missing
    return scaler.transform(data), scaler, gram


def with_names(text: str, names: Sequence[str]) -> str:
    """Return a sentence of the library with column names in place of their numbers."""
    return re.sub(r"\b[Cc]olumn (\d+)\b", lambda match: names[int(match[1])], text)


def row_names(table: Table) -> list[Any]:
    """Return the ids of the rows that are assessed, or their numbers from 1."""
    names = range(1, table.shape[0] + 1) if table.ids is None else table.ids
    return (
        [names[row] for row in np.flatnonzero(table.weights > 0)]
        if table.weights is not None
        else list(names)
    )


@dataclass(frozen=True)
class Run:
    """A fitted selector with its data and its assessment on held-out rows.

    ``messages`` are warnings of the fit and notes on the assessment, ``seconds`` is the time of the fit.
    """

    request: Request
    table: Table
    data: Any  # of the table, normalised and scaled
    scaler: AutoScaler
    selector: UnsupervisedSelector
    assessment: Assessment | None
    messages: tuple[str, ...]
    seconds: float

    @property
    def method(self) -> Any:
        """The selector that ranked the columns."""
        return getattr(self.selector, "best_estimator_", self.selector)

    @property
    def selected(self) -> NDArray[np.intp]:
        """Positions of the selected columns in the order of the table."""
        return np.flatnonzero(self.selector.support_)

    @cached_property
    def explanation(self) -> Explanation:
        """What each selected column represents, with means and deviations in the table's own units."""
        filled = self.table.filled  # correlations ignore filled-in values
        found = explain(
            self.selector,
            self.data if filled is None else np.where(filled, np.nan, self.data),
            feature_names=self.table.feature_names,
            image_shape=self.table.image_shape,
            image_order=self.table.image_order,
            assessment=self.assessment,
            random_state=self.request.seed,
            **row_metadata(self.table),
        )
        return replace(found, means=self.scaler.mean_, deviations=self.scaler.scale_)

    def assumptions(self) -> list[str]:
        """Return what was assumed about the table and the warnings of the fit, one sentence each."""
        table, scaler, names = self.table, self.scaler, self.table.feature_names
        lines = [*table.doubts, *table.notes, *table.left_out_sentences()]
        if scaler.is_scaled_ and self.request.scale == "auto":
            lines.append(f"{scaler.reason_} --scale none uses them as they are.")
        elif self.request.scale == "none" and self.selector.depends_on_scale and scaler.largest_share_ >= 0.5:
            words = f"{names[scaler.largest_]} has {100 * scaler.largest_share_:.0f} % of the variance"
            advice = "--scale standard gives every column the same weight."
            lines.append(f"{words} and decides what is selected; {advice}")
        if scaler.looks_like_counts_ and self.request.normalize == "none":
            lines.append(
                "These look like raw counts, in which large counts dominate; --normalize log evens that out."
            )
        repeats = [names[j] for same in getattr(self.method, "duplicates_", None) or [] for j in same[1:]]
        if repeats and self.request.goal != "redundancy":
            be = "column repeats" if len(repeats) == 1 else "columns repeat"
            lines.append(f"{len(repeats)} {be} another exactly: {listed(repeats, 3)}.")
        whole = set() if table.groups is None else {table.groups[j] for j in self.selected} - {None}
        if whole:
            lines.append(
                f"-k counts the columns of one text column ({listed(sorted(map(str, whole)), 3)}) as one: "
                f"{n_units(table.groups, self.selected)} selected are {self.selected.size} columns."
            )
        if self.request.n_features is None and self.request.goal != "redundancy":
            number = "1 column is" if self.selected.size == 1 else f"{self.selected.size} columns are"
            lines.append(f"{number} the default; -k changes the number.")
        if self.assessment is not None:
            lines += [*self.assessment.far_rows_notes(row_names(table)), *self.assessment.notes]
        if self.explanation.outlying.size and self.explanation.dropped.any():
            far = [row_names(table)[row] for row in self.explanation.outlying]
            lines.append(far_rows_note(far, "Correlations may depend on that."))
        return [with_flags(line) for line in (*lines, *self.messages)]


def n_units(groups: Sequence[str | None] | None, columns: Sequence[int] | NDArray) -> int:
    """Return the number of some columns, counting those of one group as one."""
    found = [None if groups is None else groups[j] for j in columns]
    return found.count(None) + len({*found} - {None})


def row_metadata(table: Table) -> dict[str, NDArray]:
    """Return the batches and weights of the rows, as arguments of ``fit``."""
    given = {"batch": table.batches, "sample_weight": table.weights}
    return {name: values for name, values in given.items() if values is not None}


def run_selection(table: Table, request: Request, verbose: bool = False) -> Run:
    """Fit the requested selector on all rows of a table, and assess it."""
    kept = columns_named(request.keep, table, "--keep")
    n_free = n_units(table.groups, range(table.shape[1]))
    selector = make_selector(request, n_free, verbose)
    constraints: dict[str, Any] = {"keep": kept or None, "feature_groups": table.groups}
    for name in PLACEMENT:
        if (values := getattr(request, name)) is not None:
            constraints[name] = in_order(values, table, f"--{name}", name != "regions")
    known = selector.get_params()
    for name, value in constraints.items():
        if value is not None and name not in known:
            raise TableError(f"{type(selector).__name__} has no parameter {name}; use another --method.")
    selector.set_params(**{name: value for name, value in constraints.items() if name in known})
    asked = request.n_features
    if isinstance(asked, int) and asked > n_free:
        raise TableError(
            f"{asked} columns are asked for, but the table has {n_free} that can be selected; use -k "
            f"{'1' if n_free == 1 else f'{n_free} or less'}."
        )
    if asked == "auto" and table.data.shape[0] < LEAST_ROWS:
        raise TableError(
            f"-k auto holds out rows and needs at least {LEAST_ROWS} of them, not {table.data.shape[0]}; "
            "give -k a number."
        )
    values = table.data.data if sparse.issparse(table.data) else table.data
    rows = row_metadata(table)
    name = type(selector).__name__ if request.method is not None else f"--for {request.goal}"
    if has_missing(values) and not selector.accepts_missing:
        raise TableError(f"{name} cannot handle missing values; use --impute median, or --method DSCOFS.")
    for fact in rows.keys() - inspect.signature(selector.fit).parameters.keys():
        flag = "--batch" if fact == "batch" else "--weights"
        raise TableError(f"{name} cannot take {flag} into account; use --method DSCOFS.")
    scale = request.scale
    if scale == "auto" and (request.goal == "redundancy" or table.image_shape is not None):
        scale = "none"  # correlations have no unit, and pixels have one
    data, scaler, gram = prepare(table, scale, request.normalize)
    # the Gram matrix of all rows, if there is one; clusters and -k auto need rows, a sample
    if gram is None or type(selector).__name__ == "AutoSelector" or asked == "auto":
        fitted = data if selector.accepts_sparse else dense(data, type(selector).__name__)
    elif isinstance(selector, GramSelector):
        fitted = gram
    else:
        raise TableError(
            f"{type(selector).__name__} needs the whole table, which does not fit in memory; use --for "
            "reconstruct or --method DSCOFS."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DominatedByUnitsWarning)  # said with what was assumed
        began = time.perf_counter()
        with blas_threads_for(*table.shape):
            selector.fit(fitted, **rows)
        seconds = time.perf_counter() - began
        found, notes = _assessed(selector, data, table, request)
    said = [with_names(str(warning.message), table.feature_names) for warning in caught]
    if gram is not None and fitted is not gram:
        notes.append(
            f"Selected on a sample of {len(table.data)} rows, since the method needs its rows in memory."
        )
    missing = getattr(selector, "missing_", None)
    if missing is not None:
        how = {
            "completed": "filled in from the other columns by a low-rank fit",
            "pairwise": "ignored: each pair of columns was compared on the rows that have both values",
        }[missing.route]
        share = f"{100 * missing.share:.1f} %" if missing.share >= 0.001 else "Less than 0.1 %"
        notes.append(f"{share} of the values are missing; for the selection they were {how}.")
    messages = dict.fromkeys(" ".join(words.split()) for words in (*said, *notes))
    return Run(request, table, data, scaler, selector, found, tuple(messages), seconds)


def dense(data: Any, method: str) -> Any:
    """Return data as an array, if that is small enough."""
    if not sparse.issparse(data):
        return data
    if 8 * data.shape[0] * data.shape[1] > 4 << 30:  # what most machines have to spare
        raise TableError(
            f"{method} cannot take sparse data, and this table is too large to be made dense; "
            "use --method DSCOFS."
        )
    return data.toarray()


def _assessed(
    selector: UnsupervisedSelector, data: Any, table: Table, request: Request
) -> tuple[Assessment | None, list[str]]:
    """Return the assessment of the selection on held-out rows, and notes on how it was made."""
    own = getattr(selector, "assessment_", None)
    if own is not None:
        return own, []
    if request.goal == "redundancy" or selector.support_.all():
        return None, []
    if table.weights is not None:
        data = data[table.weights > 0]
    if table.batches is not None and not sparse.issparse(data):
        data, batches = np.array(data), table.batches[table.weights > 0 if table.weights is not None else ...]
        for batch in np.unique(batches):  # differences between batches are not to be reconstructed
            data[batches == batch] -= np.nanmean(data[batches == batch], axis=0)
    assessed = clone(selector)
    changes: dict[str, Any] = {"verbose": False}
    if request.n_features == "auto":  # use the same number in each split
        changes["n_features_to_select"] = n_units(table.groups, np.flatnonzero(selector.support_))
    known = selector.get_params()
    assessed.set_params(**{name: value for name, value in changes.items() if name in known})
    try:
        found = assess(
            assessed, data, goal=request.goal, n_clusters=request.n_clusters, random_state=request.seed
        )
    except ValueError as error:
        return None, [f"Not assessed on held-out rows: {error}"]
    return found, []
