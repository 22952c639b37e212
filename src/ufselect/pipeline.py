"""From a table to an explained selection: read, scale, select, assess, explain.

This is what ``ufselect select`` runs. In Python:

>>> from ufselect.pipeline import Request, read_data, run_selection
>>> run = run_selection(read_data("wine"), Request(n_features=4))
>>> run.selected_names
['alcalinity_of_ash', 'magnesium', 'flavanoids', 'color_intensity']
"""

from __future__ import annotations

import inspect
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

import ufselect
from ufselect import Assessment, assess
from ufselect._registry import SELECTORS, all_selectors
from ufselect._utils.imports import import_extra
from ufselect._utils.threads import blas_threads_for
from ufselect._utils.validation import ColumnTable, has_missing, listed
from ufselect.assessment.held_out import far_rows_note
from ufselect.base import GramSelector, UnsupervisedSelector
from ufselect.datasets import load_dataset
from ufselect.datasets.loading import content_sha256
from ufselect.exceptions import DominatedByUnitsWarning, TableError
from ufselect.gram.operator import FormedGram
from ufselect.io import ReadOptions, Table, read_table
from ufselect.io.columns import columns_named, in_order, without_named
from ufselect.io.files import readable
from ufselect.io.roles import role_doubts, without_summaries
from ufselect.io.stream import is_for_blocks, stream_table
from ufselect.io.table import clean
from ufselect.preprocessing import AutoScaler, LogCounts
from ufselect.reconstruct.ridge import LEAST_ROWS
from ufselect.redundancy import RedundancyFilter
from ufselect.report import Explanation, explain

__all__ = ["ReadOptions", "Request", "Run", "Table", "read_data", "run_selection"]

METHODS = {
    "reconstruct": "ReconstructionSelector",
    "clusters": "AutoSelector",
    "redundancy": "RedundancyFilter",
}
PLACEMENT = ("costs", "regions", "positions")  # what is known of each column
# Parameters of selectors that fields of a request set.
SET_BY_REQUEST = {
    "n_features_to_select", "random_state", "verbose", "keep", "exclude", "feature_groups",
    "max_correlation", "goal",
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """What to select from a table.

    Parameters
    ----------
    goal : {"reconstruct", "clusters", "redundancy"}, default="reconstruct"
        What the columns are for.
    method : str, optional
        A selector by name; by default that of the goal.
    n_features : int, float or "auto", optional
        How many columns; by default a tenth, at least 5 and at most 50, at most half.
    n_clusters : int or "auto", default="auto"
        Number of clusters of rows.
    parameters : mapping
        Further parameters of the selector.
    seed : int, default=0
        Seed of the selector and of the assessment.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether to give every column mean 0 and variance 1.
    normalize : {"none", "log"}, default="none"
        Whether to take logarithms of counts.
    keep, exclude : tuple of str
        Columns to select always or never, by name or pattern.
    max_correlation : float, optional
        Columns correlated above this with a selected one are skipped; by default that of the goal.
    costs, regions, positions : mapping, optional
        What is known of each column, by name.
    """

    goal: str = "reconstruct"
    method: str | None = None
    n_features: int | float | str | None = None
    n_clusters: int | str = "auto"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    scale: str = "auto"
    normalize: str = "none"
    keep: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_correlation: float | None = None
    costs: Mapping[str, Any] | None = None
    regions: Mapping[str, Any] | None = None
    positions: Mapping[str, Any] | None = None


def read_data(
    name: str | Path,
    options: ReadOptions | None = None,
    *,
    image: tuple[int, int] | None = None,
    stream: bool | None = None,
    whole: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> Table:
    """Read a file or load a data set, without the columns to exclude.

    ``stream`` says whether to read in blocks; None decides by the size. ``whole`` names options that need the
    whole table in memory.
    """
    options, path = options or ReadOptions(), Path(name)
    if path.exists():
        if is_for_blocks(path, options, stream, whole):
            with readable(path, "table"):
                table = stream_table(path, options, exclude)
            return table.with_doubts(*role_doubts(table, options))
        table = read_table(path, options)
        if options.guess and image is None:
            table = without_summaries(table)
    else:
        if options.batch_column is not None or options.weight_column is not None:
            raise TableError(f"The data set {name} has features alone; drop --batch and --weights.")
        loaded = load_dataset(str(name))
        table = Table(
            data=loaded.data,
            feature_names=[str(feature) for feature in loaded.feature_names],
            whole=np.all(loaded.data == np.rint(loaded.data), axis=0),
            labels=loaded.target,
            label_name="label",
            source=path,
            sha256=content_sha256(loaded.data, loaded.target),
            image_shape=loaded.get("image_shape"),
            image_order=loaded.get("image_order", "C"),
        )
        table = table if table.image_shape is not None else clean(table)
    if image is not None:
        if image[0] * image[1] != table.shape[1]:
            raise TableError(
                f"--image {image[0]}x{image[1]} has {image[0] * image[1]} pixels, but {table.shape[1]} "
                "columns can be selected; give the true size."
            )
        table = replace(table, image_shape=image)
    table = without_named(table, exclude)
    return table.with_doubts(*role_doubts(table, options))


def find_method(name: str) -> type[UnsupervisedSelector]:
    """Return a selector by its name; case, hyphens and underscores do not matter.

    Examples
    --------
    >>> from ufselect.pipeline import find_method
    >>> find_method("max-variance").__name__
    'MaxVariance'
    """

    def folded(text: str) -> str:
        return re.sub(r"[-_ ]", "", text.lower())

    own = {folded(each): each for each in (*SELECTORS, "RedundancyFilter")} | {"auto": "AutoSelector"}
    if folded(name) in own:  # only its module is imported
        return getattr(ufselect, own[folded(name)])
    others = {folded(each): method for each, method in all_selectors().items()}
    if folded(name) in others:
        return others[folded(name)]
    names = own | {each: method.__name__ for each, method in others.items()}
    close = [names[each] for each in get_close_matches(folded(name), names, n=1)]
    known = f"the methods are {', '.join(dict.fromkeys(names.values()))}."
    raise TableError(f"There is no method {name!r}; {f'did you mean {close[0]}?' if close else known}")


def make_selector(request: Request, n_columns: int = 0, verbose: bool = False) -> UnsupervisedSelector:
    """Return the unfitted selector of a request; ``n_columns`` is how many columns can be selected."""
    method = find_method(request.method or METHODS[request.goal])
    known = method().get_params()
    for name in request.parameters:
        if name not in known or name in SET_BY_REQUEST:
            free = ", ".join(sorted(set(known) - SET_BY_REQUEST)) or "none"
            raise TableError(f"{method.__name__} has no parameter {name!r} to set; it has {free}.")
    if request.n_features is not None and "n_features_to_select" not in known:
        raise TableError(f"{method.__name__} takes no number of columns; leave -k out.")
    if request.n_features == "auto" and not method.chooses_count:
        raise TableError(
            f"{method.__name__} does not choose the number of columns; use a number, or --for reconstruct."
        )
    count = request.n_features
    if count is None:  # all of a small table would be no selection
        count = max(1, min(max(5, min(50, round(0.1 * n_columns))), n_columns // 2))
    is_placed = request.parameters.keys() & {"costs", "regions", "min_distance"} or any(
        getattr(request, name) is not None for name in PLACEMENT
    )
    limit = request.max_correlation
    if limit is None:  # placement requires 1; 0.999 drops exact repeats, also after rounding
        limit = 0.95 if method is RedundancyFilter else 1.0 if is_placed else 0.999
    settings: dict[str, Any] = {
        "n_features_to_select": count,
        "goal": request.goal,
        "random_state": request.seed,
        "verbose": verbose,
        "max_correlation": limit if limit < 1 or method is RedundancyFilter else None,
    }
    if request.n_clusters != "auto":
        settings["n_clusters"] = request.n_clusters
    return method(**{key: value for key, value in settings.items() if key in known}, **request.parameters)


def with_column_names(data: Any, names: Sequence[str]) -> Any:
    """Return dense data as a frame, so that what the library says of columns has their names."""
    if sparse.issparse(data):
        return data
    return import_extra("pandas", "Selecting from a table", "cli").DataFrame(data, columns=names, copy=False)


def prepare(table: Table, scale: str, normalize: str) -> tuple[Any, AutoScaler, FormedGram | None]:
    """Return the data of a table and its Gram matrix, normalised and scaled as asked, and the scaler."""
    data, gram, scaler = table.data, table.gram, AutoScaler(scale)
    if normalize == "log":
        try:
            data = LogCounts().fit_transform(data)
        except ValueError as error:
            words = "--normalize log is for counts, but some values are negative or missing; leave it out."
            raise TableError(words) from error
    scaler.fit(with_column_names(data, table.feature_names), **row_metadata(table))
    if gram is not None:
        deviations = np.sqrt(gram.diag() / gram.n_samples) * gram.scale
        scaler.mean_, scaler.scale_ = table.means, np.where(deviations > 0, deviations, 1.0)
        if scaler.is_scaled_:
            factors, missing = gram.scale / scaler.scale_, gram.missing
            gram = FormedGram(gram.matrix * factors[:, None] * factors, gram.n_samples, 1.0)
            gram.missing = missing
    return scaler.transform(with_column_names(data, table.feature_names)), scaler, gram


def row_names(table: Table) -> list[Any]:
    """Return the ids of the rows that are assessed, or their numbers from 1."""
    names = range(1, table.shape[0] + 1) if table.ids is None else table.ids
    if table.weights is None:
        return list(names)
    return [names[row] for row in np.flatnonzero(table.weights > 0)]


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

    @property
    def selected_names(self) -> list[str]:
        """Names of the selected columns in the order of the table."""
        return [self.table.feature_names[j] for j in self.selected]

    @cached_property
    def explanation(self) -> Explanation:
        """What each selected column represents, with means and deviations in the table's own units."""
        filled = self.table.filled  # correlations ignore filled-in values
        explanation = explain(
            self.selector,
            self.data if filled is None else np.where(filled, np.nan, self.data),
            feature_names=self.table.feature_names,
            image_shape=self.table.image_shape,
            image_order=self.table.image_order,
            assessment=self.assessment,
            random_state=self.request.seed,
            **row_metadata(self.table),
        )
        return replace(explanation, means=self.scaler.mean_, deviations=self.scaler.scale_)

    def assumptions(self, is_written: bool = False) -> list[str]:
        """Return what was assumed about the table and the warnings of the fit, one sentence each.

        ``is_written`` says whether the reduced table is written, with columns that are only copied.
        """
        table, scaler, names = self.table, self.scaler, self.table.feature_names
        lines = [*table.doubts, *table.notes, *table.left_out_sentences(is_written)]
        if scaler.is_scaled_ and self.request.scale == "auto":
            lines.append(f"{scaler.reason(names)} --scale none uses them as they are.")
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
        budget, asked = getattr(self.method, "budget", None), self.request.n_features
        if budget is not None:
            prices = ColumnTable(len(names), np.array(names)).numbers("costs", self.method.costs)
            spent = prices[self.selected].sum()
            lines.append(f"The selected columns cost {spent:.6g} of the budget of {budget:.6g}.")
            count = n_units(table.groups, self.selected)
            if isinstance(asked, int) and count < asked:
                lines.append(f"The budget allows {count} of the {asked} columns asked for.")
        if self.assessment is not None:
            lines += [*self.assessment.far_rows_notes(row_names(table)), *self.assessment.notes]
        if self.explanation.outlying.size and self.explanation.dropped.any():
            far = [row_names(table)[row] for row in self.explanation.outlying]
            lines.append(far_rows_note(far, "Correlations may depend on that."))
        return [*lines, *self.messages]


def n_units(groups: Sequence[str | None] | None, columns: Sequence[int] | NDArray) -> int:
    """Return the number of some columns, counting those of one group as one."""
    groups_there = [None if groups is None else groups[j] for j in columns]
    return groups_there.count(None) + len({*groups_there} - {None})


def row_metadata(table: Table) -> dict[str, NDArray]:
    """Return the batches and weights of the rows, as arguments of ``fit``."""
    metadata = {"batch": table.batches, "sample_weight": table.weights}
    return {name: values for name, values in metadata.items() if values is not None}


def run_selection(table: Table, request: Request | None = None, verbose: bool = False) -> Run:
    """Fit the requested selector on all rows of a table, and assess it."""
    request = request or Request()
    n_free = n_units(table.groups, range(table.shape[1]))
    selector = make_selector(request, n_free, verbose)
    name = type(selector).__name__
    kept = columns_named(request.keep, table, "--keep")
    constraints: dict[str, Any] = {"keep": kept or None, "feature_groups": table.groups}
    for what in PLACEMENT:
        if (values := getattr(request, what)) is not None:
            constraints[what] = in_order(values, table, f"--{what}")
    known = selector.get_params()
    for what, value in constraints.items():
        if value is not None and what not in known:
            raise TableError(f"{name} has no parameter {what}; use another --method.")
    selector.set_params(**{what: value for what, value in constraints.items() if what in known})
    asked = request.n_features
    if isinstance(asked, int) and asked > n_free:
        fewer = "1" if n_free == 1 else f"{n_free} or less"
        words = (
            f"{asked} columns are asked for, but the table has {n_free} that can be selected; use -k {fewer}."
        )
        raise TableError(" ".join([*table.doubts, words]))
    if asked == "auto" and table.data.shape[0] < LEAST_ROWS:
        raise TableError(
            f"-k auto holds out rows and needs at least {LEAST_ROWS} of them, not {table.data.shape[0]}; "
            "give -k a number."
        )
    rows, typed = row_metadata(table), name if request.method is not None else f"--for {request.goal}"
    values = table.data.data if sparse.issparse(table.data) else table.data
    if has_missing(values) and not selector.accepts_missing:
        raise TableError(f"{typed} cannot handle missing values; use --impute median, or --method DSCOFS.")
    for fact in rows.keys() - inspect.signature(selector.fit).parameters.keys():
        flag = "--batch" if fact == "batch" else "--weights"
        raise TableError(f"{typed} cannot take {flag} into account; use --method DSCOFS.")
    scale = request.scale
    if scale == "auto" and (request.goal == "redundancy" or table.image_shape is not None):
        scale = "none"  # correlations have no unit, and pixels have one
    data, scaler, gram = prepare(table, scale, request.normalize)
    # the Gram matrix of all rows, if there is one and it is enough; else the rows in memory, maybe a sample
    if gram is not None and isinstance(selector, GramSelector) and asked != "auto":
        fitted = gram
    else:
        fitted = with_column_names(
            data if selector.accepts_sparse else dense_if_small(data, name), table.feature_names
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DominatedByUnitsWarning)  # said with what was assumed
        began = time.perf_counter()
        with blas_threads_for(*table.shape):
            selector.fit(fitted, **rows)
        seconds = time.perf_counter() - began
        assessment, notes = _assessed(selector, data, table, request)
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
    lines = [*(str(warning.message) for warning in caught), *notes]
    messages = tuple(dict.fromkeys(" ".join(line.split()) for line in lines))
    return Run(request, table, data, scaler, selector, assessment, messages, seconds)


def dense_if_small(data: Any, method: str) -> Any:
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
    done = getattr(selector, "assessment_", None)
    if done is not None:
        return done, []
    if request.goal == "redundancy" or selector.support_.all():
        return None, []
    batches = table.batches
    if table.weights is not None:
        data = data[table.weights > 0]
        batches = None if batches is None else batches[table.weights > 0]
    if batches is not None and not sparse.issparse(data):
        data = np.array(data)
        for batch in np.unique(batches):  # differences between batches are not to be reconstructed
            data[batches == batch] -= np.nanmean(data[batches == batch], axis=0)
    assessed, known = clone(selector), selector.get_params()
    if "verbose" in known:
        assessed.set_params(verbose=False)
    if request.n_features == "auto":  # use the same number in each split
        count = n_units(table.groups, np.flatnonzero(selector.support_))
        assessed.set_params(n_features_to_select=count)
    try:
        assessment = assess(
            assessed,
            with_column_names(data, table.feature_names),
            goal=request.goal,
            n_clusters=request.n_clusters,
            random_state=request.seed,
        )
    except ValueError as error:
        return None, [f"Not assessed on held-out rows: {error}"]
    return assessment, []
