"""Explain a fitted selector: what its columns represent, and how good they are on held-out rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.extmath import randomized_svd

from ufselect import Assessment, assess
from ufselect._utils.validation import ColumnTable, has_missing, without_warnings
from ufselect.assessment.splits import far_rows
from ufselect.exceptions import DominatedByUnitsWarning, RepeatedColumnsWarning
from ufselect.plotting.displays import Selected, selected_by
from ufselect.reconstruct.known_share import substitutes
from ufselect.reconstruct.ridge import LEAST_ROWS
from ufselect.redundancy import RedundancyFilter, pairwise_correlations

LEAST_CORRELATION = 0.3  # with less, a column explains less than a tenth of another's variance
MOST_AMONG = 100  # selected columns whose correlations with each other are kept for the page
MOST_ROWS = 2000  # for the curve of counts and for substitutes
SAMPLE_CELLS = 8 << 20  # 64 MB: correlations of two thousand rows are good to two digits


def relative_scores(scores: Any) -> NDArray:
    """Return scores rescaled to 0 for the lowest and 100 for the highest."""
    finite = np.nan_to_num(np.asarray(scores, dtype=np.float64), posinf=np.nan, neginf=np.nan)
    low, high = np.nanmin(finite), np.nanmax(finite)
    return np.round(100 * np.nan_to_num(finite - low) / ((high - low) or 1.0), 1)


@dataclass(frozen=True)
class Explanation:
    """The facts that a report shows; a notebook displays it as the report.

    Attributes
    ----------
    method : str
        The method's name.
    goal : {"reconstruct", "clusters", "redundancy"}
        What the columns are for.
    parameters : mapping
        Parameters of the selector.
    n_samples : int
        Rows of the data.
    feature_names : list of str
        Names of all columns.
    excluded : ndarray of shape (n_features,)
        Mask of the excluded columns.
    selected : Selected
        Selected columns, ranks and scores; scores are None if the method has none.
    means, deviations : ndarray of shape (n_features,)
        Mean and standard deviation of each column.
    closest, closest_r : ndarray of shape (n_features,)
        For each column the selected one that represents it, as an index into ``ranked``, and their
        correlation.
    among : ndarray of shape (n_shown, n_shown)
        Correlations among the selected columns, the best 100 of more.
    explained : ndarray of shape (n_features,)
        Share of each column's variance that a linear model of the selected ones explains, in the sample;
        NaN if there are too few rows.
    assessment : Assessment or None
        How good the selection is on held-out rows.
    outlying : ndarray of int
        For redundancy, rows far from all others, which may cause high correlations.
    rows : ndarray of shape (n_shown, 2)
        Some rows along the two leading directions of the data.
    row_clusters : ndarray of shape (n_shown,) or None
        Their clusters, if the selector found any.
    clusters : list of dict
        For each cluster its ``size`` and the columns that distinguish it from the rest.
    counts : dict or None
        The share of the variance explained against the number of columns, as ``count_curve_`` of
        :class:`~ufselect.ReconstructionSelector`.
    substitutes : list of tuple
        For each selected column, best first, the column that could best be measured instead, −1 if none is
        needed, and the share of the variance that would no longer be explained. Empty if that is unknown.
    image_shape, image_order
        For images, as given to :func:`explain`.

    See Also
    --------
    explain : Makes an explanation of a fitted selector.
    report_html : The explanation as an HTML page.
    """

    method: str
    goal: str
    parameters: Mapping[str, Any]
    n_samples: int
    feature_names: list[str]
    excluded: NDArray[np.bool_]
    selected: Selected
    means: NDArray
    deviations: NDArray
    closest: NDArray
    closest_r: NDArray
    among: NDArray
    explained: NDArray
    assessment: Assessment | None
    outlying: NDArray
    rows: NDArray
    row_clusters: NDArray | None
    clusters: list[dict[str, Any]]
    counts: dict[str, NDArray] | None
    substitutes: list[tuple[int, float]]
    image_shape: tuple[int, int] | None
    image_order: str

    @cached_property
    def ranked(self) -> NDArray[np.intp]:
        """The selected columns, best first."""
        return self.selected.columns

    @property
    def n_features(self) -> int:
        """Number of all columns."""
        return self.selected.support.size

    @property
    def n_selected(self) -> int:
        """Number of selected columns."""
        return self.ranked.size

    @property
    def dropped(self) -> NDArray[np.bool_]:
        """Mask of the columns that were neither selected nor excluded."""
        return ~self.selected.support & ~self.excluded

    @property
    def frequencies(self) -> NDArray | None:
        """Share of fits on other rows that selected each column."""
        return None if self.assessment is None else self.assessment.frequencies

    @cached_property
    def positions(self) -> NDArray | None:
        """Column names as numbers if they are in order, such as wavelengths; None otherwise."""
        try:
            positions = np.array([float(name) for name in self.feature_names])
        except ValueError:
            return None
        steps = np.diff(positions)
        return positions if positions.size >= 20 and (np.all(steps > 0) or np.all(steps < 0)) else None

    def represents(self, place: int) -> NDArray[np.intp]:
        """Return the dropped columns that one selected column represents, closest first."""
        near = np.abs(self.closest_r) >= LEAST_CORRELATION
        represented = np.flatnonzero(self.dropped & near & (self.closest == place))
        return represented[np.argsort(-np.abs(self.closest_r[represented]), kind="stable")]

    @property
    def purpose(self) -> str:
        """What the selected columns are for, as a phrase to follow their number."""
        if self.assessment is not None and self.assessment.has_no_clusters:
            return "selected, although no clusters were found"
        return {
            "reconstruct": "from which the others are reconstructed",
            "clusters": "that show the clusters of rows",
            "redundancy": "after dropping those that repeat others",
        }[self.goal]

    @property
    def enough(self) -> tuple[int, str]:
        """The number of columns at which the curve of ``counts`` flattens, and a sentence about it."""
        assert self.counts is not None
        chosen = self.counts["chosen"]
        count = int(self.counts["n_features"][chosen][0])
        if chosen[-1]:
            return count, f"The curve ends at {count} columns; more columns may explain more."
        return count, f"Columns after the first {count} would add little beyond their own variance."

    @property
    def verdict(self) -> str | None:
        """Whether the selection beats random columns: yes, no or unclear; None if that was not assessed."""
        return None if self.assessment is None else self.assessment.verdict

    @property
    def message(self) -> str:
        """How good the selection is, in one or two sentences."""
        if self.goal == "redundancy":
            limit = self.parameters["max_correlation"]
            if not self.dropped.any():
                return f"No two columns are correlated above {limit:g}, so none is dropped."
            n_dropped = int(self.dropped.sum())
            which = "The dropped column" if n_dropped == 1 else f"Each of the {n_dropped} dropped columns"
            text = (
                f"{which} is correlated above {limit:g} with a selected one, and no two selected columns are."
            )
            if self.outlying.size:
                text += " A row far from all others may cause these correlations: check it first."
            return text
        if self.n_selected == self.n_features:
            return "All columns are selected."
        if self.assessment is None:
            return "How good the selection is on new rows was not assessed."
        return " ".join([*self.assessment.caveats, self.assessment.finding])

    def _repr_html_(self) -> str:
        from ufselect.report.page import report_html

        page = escape(report_html(self, title=self.method), quote=True)
        return f'<iframe title="Report" style="width:100%;height:40em;border:0" srcdoc="{page}"></iframe>'


def explain(
    selector: Any,
    X: Any,
    *,
    feature_names: Sequence[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    image_order: str = "C",
    assessment: Assessment | bool | None = True,
    random_state: int = 0,
    sample_weight: Any = None,
    batch: Any = None,
) -> Explanation:
    """Find out what each selected column represents, and how good the selection is.

    Correlations are computed on at most 2000 rows, those of two columns on the rows that have both values.

    Parameters
    ----------
    selector : estimator
        Any scikit-learn selector, fitted on ``X``; ``scores_`` and ``ranking_`` are shown if it has them.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    feature_names : sequence of str, optional
        Names of the columns; without it those seen in ``fit``.
    image_shape : (int, int), optional
        Rows and columns of the images, if the columns of X are pixels.
    image_order : {"C", "F"}, default="C"
        "F" if the pixels run down the columns first.
    assessment : Assessment or bool, default=True
        From :func:`~ufselect.assess`. True uses the selector's own assessment or makes one, which fits a
        selector of this package several times. False leaves it out.
    random_state : int, default=0
        Seed of samples and splits.
    sample_weight, batch : array-like of shape (n_samples,), optional
        As given to ``fit``. Rows of weight 0 are ignored, all others count equally; each batch is centred
        by its own mean.

    Returns
    -------
    Explanation

    See Also
    --------
    report_html : The explanation as an HTML page.
    ufselect.assess : Only the comparison with random columns on held-out rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import ReconstructionSelector
    >>> from ufselect.report import explain
    >>> X = scale(load_wine().data)
    >>> explanation = explain(ReconstructionSelector(5).fit(X), X)
    >>> explanation.n_selected, explanation.assessment.verdict
    (5, 'yes')
    """
    selected = selected_by(selector)
    if not selected.support.any():
        raise ValueError("The selector selects no feature; fit it so that it selects at least one.")
    n_features = selected.support.size
    names = feature_names
    if names is None:
        names = getattr(selector, "feature_names_in_", [f"feature_{j}" for j in range(1, n_features + 1)])
    names = [str(name) for name in names]
    data = X.tocsr() if hasattr(X, "tocsr") else X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    if len(names) != n_features or data.shape[1] != n_features:
        raise ValueError(
            f"The selector was fitted on {n_features} features, but X has {data.shape[1]} and {len(names)} "
            "names were given; pass the X of fit and one name per feature."
        )
    goal = "redundancy" if isinstance(selector, RedundancyFilter) else getattr(selector, "goal", None)
    if assessment is True:
        assessment = getattr(selector, "assessment_", None) or _assessed(selector, X, goal, random_state)
    judged = None if isinstance(assessment, bool) else assessment
    if goal is None:
        goal = "reconstruct" if judged is None else judged.goal
    ranked = selected.columns
    seen = ColumnTable(n_features, getattr(selector, "feature_names_in_", None))
    out = seen.indices("exclude", getattr(selector, "exclude", None))
    sample, rows = centred_sample(data, random_state, sample_weight, batch)
    among = correlation(sample, ranked[:MOST_AMONG])[:, ranked[:MOST_AMONG]]
    if goal == "redundancy":  # the filter compared all rows, so its own pairs count
        places = np.full(n_features, -1)
        places[ranked] = np.arange(ranked.size)
        closest = np.where(selector.representatives_ >= 0, places[selector.representatives_], -1)
        closest_r = np.array(selector.correlations_)
        unknown = np.flatnonzero(closest < 0)  # excluded, so that the filter did not compare them
        closest[unknown], closest_r[unknown] = closest_selected(sample, ranked, unknown)
    else:
        closest, closest_r = closest_selected(sample, ranked, np.arange(n_features))
    sample = np.nan_to_num(sample, nan=0.0)
    is_filter, spread = goal == "redundancy", np.maximum(sample.std(axis=0), np.finfo(float).tiny)
    outlying = rows[far_rows(sample / spread)] if is_filter else np.empty(0, dtype=np.intp)
    shown = np.linspace(0, len(sample) - 1, min(1000, len(sample))).astype(int)
    left, sizes, _ = randomized_svd(sample[shown], min(2, *sample[shown].shape), random_state=random_state)
    clusters = getattr(selector, "labels_", None)
    is_clear = judged is None or not judged.has_no_clusters
    is_known = clusters is not None and is_clear and np.size(clusters) == data.shape[0]
    clusters = np.asarray(clusters) if is_known else None
    by_place = not hasattr(selector, "feature_names_in_")  # else the selector names its columns
    fitted = getattr(selector, "best_estimator_", selector)
    counts, others = getattr(selector, "count_curve_", None), []
    values: Any = data.data if hasattr(data, "tocsr") else data
    is_held_out = judged is not None and data.shape[0] >= LEAST_ROWS and not has_missing(values)
    if goal == "reconstruct" and is_held_out:
        part = np.sort(np.random.default_rng(random_state).permutation(data.shape[0])[:MOST_ROWS])
        if counts is None and getattr(fitted, "chooses_count", False) and not fitted._is_ruled:
            again = clone(fitted).set_params(n_features_to_select="auto")
            again.set_params(**{"max_iter": 0} if hasattr(again, "max_iter") else {})
            with without_warnings(DominatedByUnitsWarning, RepeatedColumnsWarning):
                counts = again.fit(data[part]).count_curve_
        if ranked.size < n_features:
            allowed = ~np.isin(np.arange(n_features), out)
            others = substitutes(data[part], ranked[:MOST_AMONG], allowed)
    return Explanation(
        method=getattr(fitted, "label", type(fitted).__name__),
        goal=goal,
        parameters={name: value for name, value in fitted.get_params().items() if name != "verbose"},
        n_samples=data.shape[0],
        feature_names=names,
        excluded=np.isin(np.arange(n_features), out),
        selected=selected,
        means=column_means(data),
        deviations=sample.std(axis=0),
        closest=closest,
        closest_r=closest_r,
        among=among,
        explained=explained_by(sample, ranked),
        assessment=judged,
        outlying=outlying,
        rows=np.pad(left * sizes, ((0, 0), (0, 2 - sizes.size))),
        row_clusters=None if clusters is None else clusters[rows[shown]],
        clusters=[
            {
                "cluster": place,
                "size": each["size"],
                "columns": [
                    {"name": names[j] if by_place else j, "distance": round(distance, 3)}
                    for j, distance in zip(each["columns"], each["distances"], strict=True)
                ],
            }
            for place, each in enumerate(entries(getattr(selector, "clusters_", {}) if is_clear else {}))
        ],
        counts=counts,
        substitutes=others,
        image_shape=image_shape,
        image_order=image_order,
    )


def entries(columns: Mapping[str, NDArray]) -> list[dict[str, Any]]:
    """Return one dict per entry of arrays of one length."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _assessed(selector: Any, X: Any, goal: str | None, seed: int) -> Assessment | None:
    """Assess a selector of this package by fitting it again; of another one only its columns."""
    support = selector.get_support()
    if goal == "redundancy" or support.all():
        return None
    is_ours = hasattr(selector, "ranking_") and hasattr(selector, "label")
    return assess(
        selector if is_ours else np.flatnonzero(support), X, goal=goal or "reconstruct", random_state=seed
    )


def centred_sample(
    X: Any, seed: int, sample_weight: NDArray | None = None, batch: NDArray | None = None
) -> tuple[NDArray, NDArray]:
    """Return at most 2000 rows of dense or sparse data, centred, and their indices.

    Rows of weight 0 are never used, and each batch is centred by its own mean.
    """
    counted = (
        np.arange(X.shape[0]) if sample_weight is None else np.flatnonzero(np.asarray(sample_weight) > 0)
    )
    count = min(counted.size, 2000, max(50, SAMPLE_CELLS // X.shape[1]))
    rows = counted[np.sort(np.random.default_rng(seed).choice(counted.size, count, replace=False))]
    values = X[rows]
    values = (values.toarray() if hasattr(values, "toarray") else np.asarray(values)).astype(np.float64)
    labels = np.zeros(count) if batch is None else np.asarray(batch)[rows]
    for each in np.unique(labels):
        values[labels == each] -= column_means(values[labels == each])
    return values, rows


def column_means(data: Any) -> NDArray:
    """Return the means of the columns, ignoring missing values."""
    means = np.asarray(data.mean(axis=0)).ravel()
    if not np.isnan(means).any() or not isinstance(data, np.ndarray):
        return means
    there = ~np.isnan(data)
    return np.asarray(np.where(there, data, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1))


def correlation(sample: NDArray, columns: NDArray) -> NDArray:
    """Return the correlations of some columns of a centred sample with all; 0 for constant columns."""
    if np.isnan(sample).any():
        return pairwise_correlations(sample, columns).T
    norms = np.linalg.norm(sample, axis=0)
    unit = sample / np.where(norms > 0, norms, np.inf)
    return np.clip(unit[:, columns].T @ unit, -1, 1)


def closest_selected(sample: NDArray, ranked: NDArray, columns: NDArray) -> tuple[NDArray, NDArray]:
    """Return, for some columns, the place of the selected one of largest correlation, and this correlation.

    Those of 500 selected columns are held at a time, as those of all take gigabytes if columns are many.
    """
    closest, strongest = np.zeros(columns.size, dtype=np.intp), np.zeros(columns.size)
    for start in range(0, ranked.size if columns.size else 0, 500):
        correlations = correlation(sample, ranked[start : start + 500])[:, columns]
        nearest = np.argmax(np.abs(correlations), axis=0)
        largest = correlations[nearest, np.arange(columns.size)]
        closer = np.abs(largest) > np.abs(strongest)
        closest[closer], strongest[closer] = start + nearest[closer], largest[closer]
    return closest, strongest


def explained_by(sample: NDArray, ranked: NDArray) -> NDArray:
    """Return the share of each column's variance that some columns explain, adjusted for their number.

    All NaN if there are fewer than four rows for each of these columns.
    """
    n_rows = len(sample)
    if n_rows < 4 * ranked.size or n_rows <= ranked.size + 1:
        return np.full(sample.shape[1], np.nan)
    basis, triangle = np.linalg.qr(sample[:, ranked])
    sizes = np.abs(np.diag(triangle))
    basis = basis[:, sizes > 1e-10 * max(sizes.max(), 1e-300)]
    total = np.square(sample).sum(axis=0)
    rest = np.maximum(total - np.square(basis.T @ sample).sum(axis=0), 0.0) / (n_rows - basis.shape[1] - 1)
    return np.asarray(1 - rest / np.maximum(total / (n_rows - 1), np.finfo(float).tiny))
