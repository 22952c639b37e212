"""Compare a selection with random columns on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from ufselect._utils.threads import one_blas_thread
from ufselect._utils.validation import (
    ColumnTable,
    check_choice,
    check_positive_int,
    generator,
    is_dask,
    listed,
    tabular,
    without_warnings,
)
from ufselect.assessment.splits import SEED_LIMIT, far_rows, is_constant, row_samples, row_splits
from ufselect.assessment.stability import selection_stability
from ufselect.exceptions import DominatedByUnitsWarning, RepeatedColumnsWarning
from ufselect.gram.reduce import sample_rows
from ufselect.reconstruct.known_share import KnownShare

# A selection beats random columns if it does better in three quarters of the comparisons, and does not if it
# does in little more than half of them.
BEATEN = (0.55, 0.75)
# By how many standard errors over the rows the mean gain must exceed 0. In heavy-tailed tables of unrelated
# columns, a few rows can let three quarters of the comparisons be won, but not by three errors.
LEAST_ERRORS = 3.0
# Entries of all tables that are fitted for one answer: 360 fits of small tables, but fewer of large ones.
MOST_ENTRIES = 10_000_000
# Whether a selector is being fitted for an assessment, so that it need not assess itself.
is_assessing: ContextVar[bool] = ContextVar("is_assessing", default=False)
SAID_ONCE = (DominatedByUnitsWarning, RepeatedColumnsWarning)


def percent(share: float) -> str:
    """Return a share in per cent; nearly all and nearly none are not called all and none."""
    if 0.995 <= share < 1:
        return "over 99 %" if share < 0.9995 else "over 99.9 %"
    if 0 < share < 0.005:
        return "under 1 %"
    return f"{100 * share:z.0f} %"


@dataclass(frozen=True)
class Assessment:
    """Result of :func:`assess`: how good a selection is, and whether it beats random columns.

    Attributes
    ----------
    goal : {"reconstruct", "clusters"}
        What the columns are for.
    verdict : {"yes", "no", "unclear"}
        Whether the selection beats equally many random columns on held-out rows.
    beaten : float
        Share of the comparisons with random columns, on the same held-out rows, in which the selection does
        better; ties count half. NaN if nothing was measured.
    effect : float
        The measure for the selection less that for random columns.
    table : list of dict
        One row each for ``"selected"``, ``"random columns"`` and ``"principal components"`` or, for clusters,
        ``"all columns"``: ``columns``, ``mean`` over the splits, and ``spread``, the standard deviation. For
        reconstruction, figures are shares of the variance of the whole table explained on held-out rows, for
        clusters agreements (adjusted Rand index). Empty if nothing was measured.
    stability : float or None
        Chance-corrected agreement of the selections from different rows: 1 for the same columns, 0 for
        chance [1]_. None for a fixed list of columns.
    frequencies : ndarray of shape (n_features,) or None
        Share of the selections that contain each column.
    n_selected, n_features, n_clusters : int
        Sizes; ``n_clusters`` is None for reconstruction and 1 if no clusters were found.
    caveats, notes : list of str
        What to know before the figures, such as that they are for a sample of the rows; and how rows were
        held out.
    far_rows : list of int
        Rows that are more than twice as far from their nearest neighbours as any other row.
    without_far_rows : float
        The measure for the selection if these are not held out; NaN if there are none.

    See Also
    --------
    assess : Assess a selector or a list of columns.

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis and G. Brown (2018), "On the stability of feature selection
       algorithms", Journal of Machine Learning Research 18(174).
    """

    goal: str
    verdict: str
    beaten: float = float("nan")
    effect: float = float("nan")
    table: list[dict[str, Any]] = field(default_factory=list)
    stability: float | None = None
    frequencies: NDArray | None = None
    n_selected: int = 0
    n_features: int = 0
    n_clusters: int | None = None
    caveats: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    far_rows: list[int] = field(default_factory=list)
    without_far_rows: float = float("nan")

    def mean(self, columns: str) -> float:
        """Return the mean of a row of the table, such as ``"random columns"``; NaN if there is none."""
        return next((row["mean"] for row in self.table if row["columns"] == columns), float("nan"))

    @property
    def has_no_clusters(self) -> bool:
        """Whether clusters were looked for and none were found."""
        return self.goal == "clusters" and self.verdict == "no" and not self.table

    @property
    def same_columns(self) -> float:
        """Share of the columns that are selected again from other rows: stability and chance together."""
        by_chance = self.n_selected / self.n_features
        return float("nan") if self.stability is None else by_chance + self.stability * (1 - by_chance)

    @property
    def message(self) -> str:
        """What was found, in plain words, and how."""
        return " ".join([*self.caveats, self.finding, *self.far_rows_notes(), *self.notes])

    @property
    def finding(self) -> str:
        """How good the selection is, whether it beats random columns, and what follows, in plain words."""
        if self.has_no_clusters:
            text = "No cluster structure found."
            if self.n_clusters != 1:
                text = (
                    f"The rows do not fall into {self.n_clusters} clear clusters: rows without clusters but "
                    "with the same correlations can be divided as cleanly. Clusters that differ in one "
                    "direction among many can be missed; plot the columns to see them."
                )
            return f'{text} For columns that represent the others, use the goal "reconstruct".'
        if not self.table:
            return "The selection was not assessed."
        k, d = self.n_selected, self.n_features
        if k == d:
            return "All columns are selected."
        ours, random, rival = (row["mean"] for row in self.table)
        columns, explain = ("This column", "explains") if k == 1 else (f"These {k} columns", "explain")
        if self.goal == "reconstruct":
            shares = [percent(max(share, 0)) for share in (ours, random, rival)]
            components = "component" if k == 1 else "components"
            text = (
                f"{columns} {explain} {shares[0]} of the variance of all {d} on held-out rows; {k} random "
                f"column{'s' * (k > 1)} {shares[1]}, {k} principal {components} {shares[2]}."
            )
        else:
            shows = "shows" if k == 1 else "show"
            text = (
                f"{columns} {shows} the {self.n_clusters} clusters with an agreement of {ours:.2f} on "
                f"held-out rows (1 is perfect); {k} random column{'s' * (k > 1)} {random:.2f}, all {d} "
                f"columns {rival:.2f}."
            )
        return f"{text} {self._comparison}"

    @property
    def _comparison(self) -> str:
        share = percent(self.beaten)
        if self.verdict == "yes" or self.beaten >= BEATEN[1]:
            sets = f"{share} of the random sets"
            if self.beaten >= 0.995:
                sets = f"{'nearly ' * (self.beaten < 1)}every random set"
            text = f"{'It beats' if self.n_selected == 1 else 'They beat'} {sets} tried"
            if self.verdict == "yes":
                is_little = self.goal == "reconstruct" and self.mean("selected") < 0.5
                return f"{text}{'; more columns would explain more' * is_little}."
            purpose = "rule out chance" if self.verdict == "unclear" else "matter"
            return f"{text}, but not by enough to {purpose}."
        these = "the selected one is" if self.n_selected == 1 else "the selected ones are"
        if self.beaten < 1 - BEATEN[0]:
            worse = percent(1 - self.beaten)
            return f"Random columns do better in {worse} of comparisons: select other columns."
        if self.beaten < BEATEN[0]:
            return f"Random columns do as well: {these} better in only {share} of comparisons."
        return f"Whether random columns do as well is unclear: {these} better in {share} of comparisons."

    def far_rows_notes(self, names: Sequence[Any] | None = None) -> list[str]:
        """Name rows far from all others, by some names or their numbers, and say what they change."""
        if not self.far_rows:
            return []
        names = [row if names is None else names[row] for row in self.far_rows]
        if self.goal == "clusters":
            rows = listed([str(name) for name in names], 5)
            what = f"Row {rows} lies" if len(names) == 1 else f"Rows {rows} lie"
            return [f"{what} far from all others and did not count for the clusters."]
        share, change = self.without_far_rows, ""
        if abs(share - self.mean("selected")) > 0.02:
            it = "it" if len(self.far_rows) == 1 else "them"
            change = f"Without {it} the columns explain {percent(max(share, 0))} of the variance."
        return [far_rows_note(names, change)]

    def __str__(self) -> str:
        if not self.table:
            return self.message
        what = "variance explained" if self.goal == "reconstruct" else "agreement"
        lines = [("columns", what, "spread")]
        lines += [(row["columns"], f"{row['mean']:.3f}", f"{row['spread']:.3f}") for row in self.table]
        return f"{self.message}\n\n" + "\n".join(f"{a:22}{b:>14}{c:>9}" for a, b, c in lines)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the selection beside random columns; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; new ones by default.

        Returns
        -------
        ax : matplotlib Axes
        """
        from ufselect._utils.imports import import_extra

        ax = import_extra("matplotlib.pyplot", "Plotting", "plot").subplots()[1] if ax is None else ax
        if not self.table:
            raise ValueError(f"There is nothing to draw: {self.message}")
        names, means, spreads = zip(*(row.values() for row in self.table), strict=True)
        ax.barh(names, means, xerr=spreads, color=["C0", *["0.75"] * (len(names) - 1)])
        ax.invert_yaxis()
        is_share = self.goal == "reconstruct"
        ax.set_xlabel("share of the variance explained" if is_share else "agreement with the clusters")
        ax.set_title(f"Better than random columns: {self.verdict}")
        return ax


def far_rows_note(names: Sequence[Any], change: str) -> str:
    """Name rows that are far from all others, say what they change, and what to do."""
    named = listed([str(name) for name in names], 5)
    subject, error = f"Row {named} is", "If it is an error or a total, drop it."
    if len(names) > 1:
        subject, error = f"Rows {named} are", "If they are errors or totals, drop them."
    far = f"{subject} more than twice as far from the nearest other row as any other row."
    return " ".join(filter(None, (far, change, error)))


@one_blas_thread()  # products this small only lose time in threads
def assess(
    estimator: Any,
    X: Any,
    *,
    goal: str | None = None,
    n_clusters: int | str = "auto",
    clusterer: str = "kmeans",
    groups: Any = None,
    n_random: int = 10,
    max_samples: int = 2000,
    random_state: Any = None,
) -> Assessment:
    """Tell how good a selection is, and whether it beats random columns, on held-out rows.

    The rows are split several times. The selector is fitted to one side of each split, and its columns are
    compared with as many random columns on the other side. With ``goal="reconstruct"``, the measure is the
    share of the variance of the whole table that is explained: selected columns count in full, all others as
    far as ridge regression reconstructs them. With ``goal="clusters"``, it is the agreement (adjusted Rand
    index) of a clustering on the selected columns with the clusters that all columns show.

    Parameters
    ----------
    estimator : selector, pipeline that ends in one, or sequence of str or int
        A scikit-learn selector, which is cloned, or a fixed list of columns. The other steps of a pipeline
        are fitted to X once, and the selector is assessed on what they return.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data, in the units that the selection uses.
    goal : {"reconstruct", "clusters"}, optional
        What the columns are for; by default the goal of the selector if it has one, else "reconstruct".
    n_clusters : int or "auto", default="auto"
        Number of clusters, for ``goal="clusters"``.
    clusterer : {"kmeans", "graph"}, default="kmeans"
        How rows are clustered on the selected columns: by K-means or :class:`~ufselect.GraphClustering`.
    groups : array-like of shape (n_samples,), optional
        Donor, replicate or batch of each row; rows of one group are held out together. By default,
        near-duplicate rows are held out together, and contiguous runs if neighbouring rows resemble each
        other.
    n_random : int, default=10
        Number of random sets of columns in each split.
    max_samples : int, default=2000
        Maximum number of rows to use at once. If there are more, each repeat draws others. Wide data use
        fewer, but at least 500 if there are as many; ``goal="clusters"`` uses at most 500.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the samples, the splits, the random columns and the clusterings.

    Returns
    -------
    Assessment
        Message, verdict and stability, with the figures behind them; ``print`` shows them as a table.

    See Also
    --------
    ufselect.metrics.evaluate_selection : Score a selection against known classes.
    StableSelector : Select the columns that are selected from most halves of the rows.

    Notes
    -----
    The verdict is "yes" if the selection does better than random columns in at least 75 % of the comparisons
    and by more than chance allows, "no" below 55 %, and "unclear" in between; the user guide has all rules.
    Columns of larger variance explain more of it, so scale X if units are arbitrary.

    Rows are divided into thirds for reconstruction, each of which is held out once, and into halves for
    clusters. This is repeated while the verdict is within three standard errors of another one: from 12 fits
    up to 360 for reconstruction, or 48 if the table has more than 200,000 entries, and from 6 to 12 for
    clusters. Nothing depends on time.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import ReconstructionSelector, assess
    >>> assess(ReconstructionSelector(10), load_digits().data, random_state=0).verdict
    'yes'
    """
    notes: list[str] = []
    while isinstance(estimator, Pipeline):
        if len(estimator) > 1:
            X = clone(estimator[:-1]).fit_transform(X)
            notes.append(f"Columns are those after the first steps of the pipeline, {X.shape[1]} in all.")
        estimator = estimator[-1]
    if hasattr(estimator, "fit") and not hasattr(estimator, "get_support"):
        raise TypeError(
            f"{type(estimator).__name__} has no get_support, so the columns it selects are unknown; give a "
            "selector, or a pipeline whose last step is one."
        )
    if goal is None:
        goal = getattr(estimator, "_goal", "reconstruct")
    check_choice("goal", goal, ("reconstruct", "clusters"))
    check_choice("clusterer", clusterer, ("kmeans", "graph"))
    check_positive_int("n_random", n_random)
    check_positive_int("max_samples", max_samples)
    rng = generator(random_state)
    caveats = []
    table = X
    if is_dask(X):
        table, _, n_all = sample_rows(X, int(rng.integers(SEED_LIMIT)))
        caveats.append(f"Of {n_all:,} rows {table.shape[0]:,} were used.")
    table = tabular(table)
    table = table.tocsr() if sparse.issparse(table) else table
    table = table if hasattr(table, "shape") else np.asarray(table)
    if len(table.shape) != 2 or table.shape[1] == 0:
        raise ValueError(f"X must have rows and columns, not the shape {table.shape}.")
    n_rows, n_features = table.shape
    if groups is not None and len(groups) != n_rows:
        raise ValueError(f"groups has {len(groups)} entries, but X has {n_rows} rows.")
    most = min(max_samples, 500 if goal == "clusters" else max(500, 500_000 // n_features))
    if n_rows > most:
        again = ", and the selector was fitted again to parts of these" * hasattr(estimator, "fit")
        caveats.append(f"Each comparison used {most:,} of the {n_rows:,} rows{again}.")
    if not hasattr(estimator, "fit"):
        caveats.append("A list cannot be selected again, so held-out rows may have served to select it.")
    samples = row_samples(table, groups, most, rng)
    first = next(samples)
    measure: Any = _Reconstruction()
    if goal == "clusters":
        from ufselect.assessment.cluster_agreement import ClusterAgreement

        if n_clusters == "auto":
            n_clusters = getattr(estimator, "n_clusters", "auto")
        measure = ClusterAgreement(first.data, n_clusters, clusterer, int(rng.integers(SEED_LIMIT)))
    result: dict[str, Any] = {"n_features": n_features, "n_clusters": measure.n_clusters}
    result |= {"caveats": caveats, "notes": notes}
    if measure.n_clusters == 1:
        return Assessment(goal, "no", **result)
    if first.rows.size < max(12, 4 * (measure.n_clusters or 1)):
        notes.append(f"{first.rows.size} rows are too few to hold some out.")
        return Assessment(goal, "unclear", **result)
    if goal == "clusters" and not measure.are_clear(first):
        return Assessment(goal, "no", **result)
    varying = np.flatnonzero(~is_constant(first.data))
    sample, far = first, measure.far_rows(first.data)
    far_names = first.rows[far].tolist()
    supports: list[NDArray] = []
    # A row for each split: the measure for the selection, for its rival, and for random columns. One row far
    # from all others can decide it, so what is judged is measured without such rows.
    judged: list[NDArray] = []
    shown: list[NDArray] = []
    # The gain of each row, or of rows that belong together, over all splits.
    owners = first.units if n_rows <= most else np.arange(n_rows)
    if groups is not None:
        owners = np.unique(np.asarray(groups), return_inverse=True)[1]
    gains = np.zeros(owners.max() + 1)
    most_repeats = max(16, MOST_ENTRIES // (first.rows.size * n_features * measure.n_parts))
    for n_repeats in sorted({min(each, most_repeats) for each in measure.repeats}):
        while len(supports) < n_repeats * measure.n_parts:
            if supports and n_rows > most:
                sample = next(samples)
                far = measure.far_rows(sample.data)
            for train, test in row_splits(sample.units, sample.is_ordered, measure.n_parts, rng):
                with without_warnings(*SAID_ONCE if supports else ()):
                    support = selected_columns(estimator, table, sample.rows[train])
                supports.append(support)
                sets = [support, *(rng.permutation(varying)[: support.size] for _ in range(n_random))]
                rest = np.setdiff1d(test, far)
                figures, by_row = measure.figures(sample.data, train, rest, sets)
                judged.append(figures)
                np.add.at(gains, owners[sample.rows[rest]], by_row)
                is_same = goal == "clusters" or rest.size == test.size
                shown.append(figures if is_same else measure.figures(sample.data, train, test, sets)[0])
        seen = gains[gains != 0]
        n_errors = np.inf
        if seen.size > 1:
            n_errors = seen.mean() * np.sqrt(seen.size) / max(seen.std(), 1e-12 * abs(seen.mean()))
        verdict, beaten, is_sure = compare(np.array(judged), measure, first.is_ordered, n_errors)
        if is_sure or all(support.size == n_features for support in supports):
            break
    ours, rival, *random = np.array(shown).T
    is_fitted = hasattr(estimator, "fit")
    masks = np.array([np.isin(np.arange(n_features), support) for support in supports])
    names = ("selected", "random columns", measure.rival)
    return Assessment(
        goal,
        verdict,
        beaten,
        float(np.mean(ours) - np.mean(random)),
        [
            {"columns": name, "mean": float(np.mean(values)), "spread": float(np.std(values))}
            for name, values in zip(names, (ours, random, rival), strict=True)
        ],
        selection_stability(masks) if is_fitted else None,
        masks.mean(axis=0) if is_fitted else None,
        round(float(np.mean([support.size for support in supports]))),
        far_rows=far_names,
        without_far_rows=float(np.mean(judged, axis=0)[0]),
        **{**result, "notes": [*notes, *first.notes]},
    )


def compare(figures: NDArray, measure: Any, is_ordered: bool, n_errors: float) -> tuple[str, float, bool]:
    """Return the verdict, the share of random sets beaten, and whether more splits would hardly change it.

    ``figures`` has one row per split: the measure for the selection, for its rival, and for random columns.
    ``n_errors`` is the mean gain over the rows in its standard errors.
    """
    ours, random = figures[:, :1], figures[:, 2:]
    beaten = np.mean((ours > random) + (ours == random) / 2, axis=1)
    leads = measure.leads(ours[:, 0], random.mean(axis=1))
    least = measure.least_lead[is_ordered]

    def verdict(beaten: float, lead: float) -> str:
        if beaten < BEATEN[0] or lead < measure.least_lead[0] / 2:
            return "no"
        return "yes" if beaten >= BEATEN[1] and lead >= least else "unclear"

    (share, error), (lead, lead_error) = (
        (float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))) for values in (beaten, leads)
    )
    # all of a few comparisons may be won by chance
    error = max(error, 0.5 / np.sqrt(random.size))
    near = {verdict(share + a * error, lead + b * lead_error) for a, b in product((-3, 3), repeat=2)}
    found = verdict(share, lead)
    if found == "yes" and not (measure.is_enough(float(ours.mean())) and n_errors >= LEAST_ERRORS):
        found = "unclear"
    return found, share, len(near) == 1 and (found == "no" or abs(n_errors - LEAST_ERRORS) > 0.5)


def selected_columns(estimator: Any, table: Any, rows: NDArray) -> NDArray:
    """Return the columns that a selector selects from some rows, or the given ones."""
    if not hasattr(estimator, "fit"):
        names = np.asarray(table.columns, dtype=object) if hasattr(table, "columns") else None
        columns = ColumnTable(table.shape[1], names).indices("columns", estimator)
        if not columns.size:
            raise ValueError("The list of columns is empty; name at least one.")
        return columns
    token = is_assessing.set(True)
    try:
        return np.flatnonzero(clone(estimator).fit(_safe_indexing(table, rows)).get_support())
    finally:
        is_assessing.reset(token)


class _Reconstruction:
    """The share of the variance of all columns that some explain on held-out rows."""

    n_parts = 3  # two thirds select, one third is held out
    repeats = (4, 20, 120)
    rival = "principal components"
    n_clusters = None
    # Of the variance that random columns leave unknown; unrelated drifts of few long runs reach 0.35.
    least_lead = (0.0, 0.45)

    def far_rows(self, data: Any) -> NDArray:
        return far_rows(data)

    def figures(
        self, data: Any, train: NDArray, test: NDArray, sets: Sequence[NDArray]
    ) -> tuple[NDArray, NDArray]:
        """Return the share for the first set, for as many principal components, and for the other sets.

        Also return by how much more of each row the first set makes known than the others.
        """
        measure = KnownShare(data[train], data[test])
        errors = np.array([measure.errors(columns) for columns in sets])
        ours, *random = 1 - errors.sum(axis=1) / measure.total if measure.total > 0 else np.ones(len(sets))
        gains = errors[1:].mean(axis=0) - errors[0]
        return np.array([ours, measure.of_components(sets[0].size), *random]), gains

    def leads(self, ours: NDArray, random: NDArray) -> NDArray:
        unknown = 1 - float(random.mean())
        return (ours - random) / unknown if unknown > 1e-9 else np.zeros(ours.size)

    def is_enough(self, share: float) -> bool:
        return True
