"""Compare a selection with random columns on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_array

from ufselect._utils.columns import ColumnTable
from ufselect._utils.messages import listed, without_warnings
from ufselect._utils.threads import one_blas_thread
from ufselect._utils.validation import check_choice, check_positive_int, is_dask, tabular
from ufselect.assessment.splits import row_splits, row_units
from ufselect.assessment.stability import selection_stability
from ufselect.clusters.counts import cluster_range
from ufselect.clusters.graph import (
    Reference,
    build_reference,
    clear_powers,
    kmeans_seeds,
    leading_scores,
    outlying_rows,
    rand_agreement,
    rows_of,
    sampled_indices,
    seed_from,
)
from ufselect.clusters.kmeans import kmeans_runs
from ufselect.exceptions import DominatedByUnitsWarning, RepeatedColumnsWarning
from ufselect.gram.reduce import sample_rows
from ufselect.reconstruct.ridge import RIDGES, component_errors, errors_by_ridge, in_row_space


@dataclass(frozen=True)
class Assessment:
    """Result of :func:`assess`.

    Attributes
    ----------
    goal : {"reconstruct", "clusters"}
        What the columns are for.
    verdict : {"better", "no better", "worse", "undecided"}
        How the selection compares with random columns on held-out rows.
    effect : float
        For reconstruction, the error divided by that of random columns: below 1 is better. For clusters, the
        agreement minus that of random columns: above 0 is better. NaN if nothing was measured.
    interval : tuple of float
        Smallest and largest effect over the splits.
    table : list of dict
        One row each for the selection, for random columns, and for all columns or, for reconstruction, as
        many principal components: ``columns``, ``mean`` over the splits and ``spread`` (standard deviation
        over the splits; for random columns, over the random sets). Empty if nothing was measured.
    stability : float or None
        Chance-corrected agreement of the selections from different rows: 1 for the same columns, 0 for
        chance [1]_. None for a fixed list of columns.
    frequencies : ndarray of shape (n_features,) or None
        Share of the selections that contain each column.
    n_selected, n_features, n_clusters : int
        Sizes; ``n_clusters`` is None for reconstruction and 1 if no clusters were found.
    notes : list of str
        How rows were held out, if not at random, and which rows were set aside.

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
    effect: float = float("nan")
    interval: tuple[float, float] = (float("nan"), float("nan"))
    table: list[dict[str, Any]] = field(default_factory=list)
    stability: float | None = None
    frequencies: NDArray | None = None
    n_selected: int = 0
    n_features: int = 0
    n_clusters: int | None = None
    notes: list[str] = field(default_factory=list)

    def mean(self, columns: str) -> float:
        """Return the mean of a row of the table, such as ``"random columns"``; NaN if there is none."""
        return next((row["mean"] for row in self.table if row["columns"] == columns), float("nan"))

    @property
    def has_no_clusters(self) -> bool:
        """Whether clusters were looked for and none were found."""
        return self.goal == "clusters" and self.verdict == "no better" and not self.table

    @property
    def same_columns(self) -> float:
        """Share of the columns that are selected again from other rows: stability and chance together."""
        by_chance = self.n_selected / self.n_features
        return float("nan") if self.stability is None else by_chance + self.stability * (1 - by_chance)

    @property
    def message(self) -> str:
        """What was found, in plain words, and how."""
        return " ".join([self.finding, *self.notes])

    @property
    def finding(self) -> str:
        """What was found, in plain words."""
        if self.has_no_clusters:
            found = "No cluster structure found."
            if self.n_clusters != 1:
                found = (
                    f"The rows do not fall into {self.n_clusters} clear clusters: rows without clusters but "
                    "with the same correlations can be divided as cleanly. Clusters that differ in one "
                    "direction among many can be missed; plot the columns to see them."
                )
            return f'{found} To keep columns that represent the others, use goal="reconstruct".'
        if not self.table:
            return "The selection was not assessed."
        k, d = self.n_selected, self.n_features
        ours, random = self.mean("selected"), self.mean("random columns")
        if self.goal == "reconstruct":
            measured = f"a relative error of {ours:.2g} on held-out rows (0 is perfect, 1 the column means)"
            found = f"From these {k} columns the other {d - k} are reconstructed with {measured}"
        else:
            everything = self.mean("all columns")
            than = "better than" if ours > everything else "less well than"
            than = "about as well as" if abs(ours - everything) < 0.05 else than
            measured = f"(agreement {ours:.2f} and {everything:.2f} on held-out rows)"
            found = f"These {k} columns show the {self.n_clusters} clusters {than} all {d} {measured}"
        slightly = "slightly " if self.goal == "reconstruct" and self.effect > 0.9 else ""
        compared = {
            "better": f"; {k} random columns do {slightly}worse ({{}}).",
            "no better": f"; {k} random columns do about as well ({{}}).",
            "worse": f", but {k} random columns do better ({{}}): use another selector.",
            "undecided": f"; {k} random columns have {{}}, a difference that may be chance.",
        }[self.verdict]
        found += compared.format(f"{random:.2g}")
        if self.stability is not None:
            same = f"about {5 * round(20 * self.same_columns)} % of the columns stay the same."
            found += f" Selected again from other rows, {same}"
        return found

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
        is_error = self.goal == "reconstruct"
        ax.set_xlabel("reconstruction error (lower is better)" if is_error else "agreement with the clusters")
        ax.set_title({"undecided": "undecided"}.get(self.verdict, f"{self.verdict} than random columns"))
        return ax


@one_blas_thread()  # products this small only lose time in threads
def assess(
    estimator: Any,
    X: Any,
    *,
    goal: str = "reconstruct",
    n_clusters: int | str = "auto",
    clusterer: str = "kmeans",
    groups: Any = None,
    sample_weight: Any = None,
    batch: Any = None,
    n_random: int = 10,
    max_samples: int = 500,
    random_state: Any = None,
) -> Assessment:
    """Compare a selection with random columns on held-out rows.

    The rows are split several times. The selector is fitted to one side of each split, and its columns are
    compared with as many random columns on the other side. With ``goal="reconstruct"``, the measure is the
    error of reconstructing the other columns by ridge regression; with ``goal="clusters"``, the agreement
    (adjusted Rand index) of a clustering on the selected columns with the clusters that all columns show.

    Parameters
    ----------
    estimator : selector or sequence of str or int
        A scikit-learn selector, which is cloned, or a fixed list of columns.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    goal : {"reconstruct", "clusters"}, default="reconstruct"
        What the columns are for.
    n_clusters : int or "auto", default="auto"
        Number of clusters, for ``goal="clusters"``.
    clusterer : {"kmeans", "graph"}, default="kmeans"
        How rows are clustered on the selected columns: by K-means or :class:`~ufselect.GraphClustering`.
    groups : array-like of shape (n_samples,), optional
        Donor, replicate or batch of each row; rows of one group are held out together. By default,
        near-duplicate rows are held out together, and contiguous runs if neighbouring rows resemble each
        other.
    sample_weight, batch : None
        Not supported: any other value raises an error. Give batches as ``groups``.
    n_random : int, default=10
        Number of random sets of columns; three times as many if these do not decide.
    max_samples : int, default=500
        Maximum number of rows to use; if there are more, they are sampled.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the splits, the random columns and the clusterings.

    Returns
    -------
    Assessment
        Verdict, message, effect and stability, with the scores behind them.

    See Also
    --------
    ufselect.metrics.evaluate_selection : Score a selection against known classes.
    StableSelector : Select the columns that are selected from most halves of the rows.

    Notes
    -----
    The verdict is "better" if

    - the effect matters: the error is lower by 3 %, or the agreement is at least 0.3 and higher by 0.1 (10 %
      and 0.2 if contiguous runs are held out, which are few and long),
    - the selection is among the best tenth of the random sets, half of the ties counted: a Monte Carlo test
      of whether it is one of them [1]_, and
    - the effect has the same sign in all splits: a sign test.

    Splits share rows, so neither significance level is exact: ``benchmarks/calibration.py`` counts how often
    data without structure are called better. The splits are two halvings in both directions for clusters, and
    two divisions into thirds for reconstruction. The ridge penalty is the one with the least error in the
    other splits, for random columns too.

    Clusters count as found if the rows can be divided more cleanly, by four standard deviations, than
    Gaussian data with the same covariances. Of rows that nearly repeat each other, only one is used for that.
    Rows that make up a leading principal component by themselves are never held out.

    References
    ----------
    .. [1] A. C. A. Hope (1968), "A simplified Monte Carlo significance test procedure", Journal of the Royal
       Statistical Society B 30(3).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import ReconstructionSelector, assess
    >>> assess(ReconstructionSelector(10), load_digits().data, random_state=0).verdict
    'better'
    """
    check_choice("goal", goal, ("reconstruct", "clusters"))
    check_choice("clusterer", clusterer, ("kmeans", "graph"))
    if sample_weight is not None or batch is not None:
        raise ValueError(
            "assess does not support sample_weight and batch. Give batches as groups, so that each is "
            "held out as a whole; instead of weights, give rows sampled in proportion to them."
        )
    check_positive_int("n_random", n_random)
    check_positive_int("max_samples", max_samples)
    seed = seed_from(random_state)
    table = sample_rows(X, seed)[0] if is_dask(X) else tabular(X)
    table = table.tocsr() if sparse.issparse(table) else table
    table = table if hasattr(table, "shape") else np.asarray(table)
    return assess_rows(
        estimator, table, slice(None), goal, n_clusters, clusterer, groups, n_random, max_samples, seed
    )


def assess_rows(
    selector: Any,
    table: Any,
    rows: Any,
    goal: str,
    n_clusters: int | str,
    clusterer: str,
    groups: Any,
    n_random: int,
    max_samples: int,
    seed: int,
) -> Assessment:
    """Assess a selection on some rows of a table: indices, a mask or a slice. See `assess` for the rest.

    For ``goal="clusters"``, ``selector`` may also be a function that takes a `Reference` and returns columns.
    """
    if groups is not None and len(groups) != table.shape[0]:
        raise ValueError(f"groups has {len(groups)} entries, but X has {table.shape[0]} rows.")
    if goal == "reconstruct":  # these rows are made dense: 160 megabytes at most
        max_samples = min(max_samples, max(200, 20_000_000 // table.shape[1]))
    places = np.arange(table.shape[0])[rows]
    places = places[sampled_indices(places.size, max_samples, seed)]
    if places.size < table.shape[0]:
        table = _safe_indexing(table, places)
        groups = None if groups is None else np.asarray(groups)[places]
    if sparse.issparse(table):
        data = table.astype(np.float64)
    else:
        data = check_array(table, dtype=np.float64, ensure_all_finite="allow-nan")
        missing = np.isnan(data)  # replaced by the means of their columns
        means = np.where(missing, 0, data).sum(axis=0) / np.maximum(np.sum(~missing, axis=0), 1)
        data = np.where(missing, means, data)
    n_rows, n_features = data.shape
    centred = rows_of(data)
    outliers = outlying_rows(centred)
    notes = [outlier_note(places[outliers], "the selection was measured without")] if outliers.size else []
    inner = np.setdiff1d(np.arange(n_rows), outliers)
    centred = centred.without(outliers) if outliers.size else centred
    count = cluster_range(n_clusters, centred, seed)[0] if goal == "clusters" else None
    if count == 1:
        return Assessment(goal, "no better", n_features=n_features, n_clusters=1, notes=notes)
    if inner.size < max(12, 4 * (count or 1)):
        notes.append(f"{inner.size} rows are too few to hold some out.")
        return Assessment(goal, "undecided", n_features=n_features, n_clusters=count, notes=notes)
    scores, spread, _ = leading_scores(centred, min(20, n_features, inner.size - 1))
    groups = None if groups is None else np.asarray(groups)[inner]
    units, is_ordered, how = row_units(scores * spread, groups)
    powers: list[float] = []
    if count:
        # Replicates are neighbours of each other and would pass for clusters, so one of them is used.
        first = np.unique(units, return_index=True)[1]
        is_repeated = inner.size / 4 <= first.size < inner.size
        others = np.setdiff1d(np.arange(inner.size), first)
        single = centred.without(others) if is_repeated else centred
        powers, excess = clear_powers(single, count, n_draws=9)
        if excess < 4:
            return Assessment(goal, "no better", n_features=n_features, n_clusters=count, notes=notes)
    rng = np.random.default_rng(seed)
    measure: Any = (
        _Reconstruction(data, is_ordered, rng)
        if count is None
        else _Clusters(data, count, powers, clusterer, is_ordered, seed)
    )
    splits = [
        (inner[train], inner[test]) for train, test in row_splits(units, is_ordered, measure.n_parts, 2, rng)
    ]
    states = [measure.prepare(*split) for split in splits]
    is_fitted = hasattr(selector, "fit")
    if callable(selector) and not is_fitted:  # a function, which gets the clusters of the selecting half
        supports, is_fitted = [selector(states[place ^ 1]) for place in range(len(states))], True
    else:
        sides = [np.union1d(train, outliers) for train, _ in splits]
        supports = [_selected(selector, table, sides[0], n_features)]
        with without_warnings(DominatedByUnitsWarning, RepeatedColumnsWarning):  # given once already
            supports += [_selected(selector, table, side, n_features) for side in sides[1:]]
    if goal == "reconstruct" and max(support.size for support in supports) == n_features:
        notes.append("All columns are selected, so none is left to reconstruct.")
        return Assessment(goal, "no better", 1.0, (1.0, 1.0), n_features=n_features, notes=notes)
    ours = measure.values(states, [[support] for support in supports])[0]
    varying = np.flatnonzero(centred.squares() > 0)
    random = np.empty((0, len(splits)))
    for n_draws in (n_random, 2 * n_random):
        draws = [rng.permutation(varying) for _ in range(n_draws)]
        drawn = measure.values(states, [[draw[: support.size] for draw in draws] for support in supports])
        random = np.vstack([random, drawn])
        verdict, effect, interval = compare(ours, random, measure.sign, measure.min_effect)
        if verdict != "undecided" or min(interval) < 0 < max(interval):  # more draws would not decide it
            break
    # rare 0/1 columns without clusters reach an agreement of 0.22, planted clusters 0.5 and more
    if goal == "clusters" and verdict == "better" and ours.mean() < 0.3:
        verdict = "undecided"
    if goal == "reconstruct":  # from differences of logarithms to ratios of errors
        ours, random, effect = np.exp(ours), np.exp(random), float(np.exp(effect))
        interval = (float(np.exp(interval[0])), float(np.exp(interval[1])))
    n_selected = round(float(np.mean([support.size for support in supports])))
    rival = measure.other(states, n_selected)
    masks = np.array([np.isin(np.arange(n_features), support) for support in supports])
    return Assessment(
        goal,
        verdict,
        effect,
        interval,
        [
            {"columns": name, "mean": float(mean), "spread": float(spread)}
            for name, mean, spread in (
                ("selected", ours.mean(), ours.std()),
                ("random columns", random.mean(), random.mean(axis=1).std()),
                (measure.rival, rival, 0.0),
            )
        ],
        selection_stability(masks) if is_fitted else None,
        masks.mean(axis=0) if is_fitted else None,
        n_selected,
        n_features,
        count,
        [*notes, *how],
    )


def outlier_note(places: NDArray, done: str) -> str:
    """Name outlying rows, say what was done without them, and what to do."""
    named = listed([str(place) for place in places], 5)
    is_one = places.size == 1
    rows = f"Row {named} stands" if is_one else f"Rows {named} stand"
    it = "it" if is_one else "them"
    errors = "it is an error or a total, drop it" if is_one else "they are errors or totals, drop them"
    return f"{rows} far apart from all others, so {done} {it}; if {errors}."


def _selected(selector: Any, table: Any, rows: NDArray, n_features: int) -> NDArray:
    """Return the columns that a selector selects from some rows, or the given ones."""
    if not hasattr(selector, "fit"):
        names = np.asarray(table.columns, dtype=object) if hasattr(table, "columns") else None
        given = ColumnTable(n_features, names).indices("columns", selector)
        if not given.size:
            raise ValueError("The list of columns is empty; name at least one.")
        return given
    fitted = clone(selector).fit(_safe_indexing(table, rows))
    if not hasattr(fitted, "get_support"):
        raise TypeError(
            f"{type(fitted).__name__} has no get_support, so the columns it selects are unknown. Instead of "
            "a pipeline, transform X by the first steps and assess the selector."
        )
    return np.flatnonzero(fitted.get_support())


def compare(
    ours: NDArray, random: NDArray, sign: float = 1.0, min_effect: float = 0.0
) -> tuple[str, float, tuple[float, float]]:
    """Return verdict, effect and interval of a selection's values, one per split, against random sets.

    ``random`` has one row per set of columns and one column per split; with ``sign`` −1, less is better.
    """
    differences = ours - random.mean(axis=0)
    effect, low, high = float(differences.mean()), float(differences.min()), float(differences.max())
    direction = np.sign(effect)
    ahead = np.sign(direction * (ours.mean() - random.mean(axis=1)))
    if abs(effect) < min_effect:
        verdict = "no better"
    elif np.mean((1 + ahead) / 2) < 0.9 or min(direction * low, direction * high) <= 0:
        verdict = "undecided"
    else:
        verdict = "better" if sign * effect > 0 else "worse"
    return verdict, effect, (low, high)


class _Reconstruction:
    """The logarithm of the error of reconstructing other columns of held-out rows.

    The selected columns themselves do not count: among columns that have nothing in common, those that happen
    to vary most would seem the most informative.
    """

    n_parts = 3  # two thirds select, one third is held out
    sign = -1.0
    rival = "principal components"

    def __init__(self, data: Any, is_ordered: bool, rng: np.random.Generator) -> None:
        self.is_ordered = is_ordered
        # Unrelated drifts may run in parallel for a while, and few runs do not average that out.
        self.min_effect = 0.1 if is_ordered else 0.03
        # Enough columns to estimate the error over all of them.
        self.targets = np.sort(rng.permutation(data.shape[1])[:200])
        self.data = data.tocsc() if sparse.issparse(data) else data

    def prepare(self, train: NDArray, test: NDArray) -> tuple[NDArray, NDArray]:
        return train, test

    def values(self, states: Sequence[tuple[NDArray, NDArray]], sets: Sequence[Sequence[NDArray]]) -> NDArray:
        """Return one row per set of columns and one column per split.

        The ridge is that of least error in the other splits.
        """
        pairs = zip(states, sets, strict=True)
        errors = np.array([[self._errors(*state, columns) for columns in some] for state, some in pairs])
        elsewhere = errors.sum(axis=0) - errors
        return np.take_along_axis(errors, elsewhere.argmin(axis=2)[:, :, None], axis=2)[:, :, 0].T

    def _errors(self, train: NDArray, test: NDArray, columns: NDArray) -> NDArray:
        """Return the logarithm of the relative error for each ridge and, last, for predicting the mean: 0."""
        known, new = self._sides(np.setdiff1d(self.targets, columns), train, test)
        squares = np.einsum("ij,ij->j", new, new)
        total = float(squares.sum())
        if total == 0:
            return np.zeros(RIDGES.size + 1)
        ours, theirs = self._sides(columns, train, test)
        ours, roots, turn = in_row_space(ours)
        theirs = theirs / roots @ turn
        left = errors_by_ridge(
            np.hstack([ours.T @ ours, ours.T @ known]),
            np.hstack([theirs.T @ theirs, theirs.T @ new]),
            squares,
            RIDGES,
            np.ones(squares.size),
        )
        return np.append(np.log(np.maximum(left / total, 1e-24)) / 2, 0.0)

    def _sides(self, columns: NDArray, train: NDArray, test: NDArray) -> tuple[NDArray, NDArray]:
        """Return some columns of training and held-out rows, less the means of the former."""
        some = self.data[:, columns]
        some = some.toarray() if sparse.issparse(some) else some
        mean = some[train].mean(axis=0)
        # The level of a drifting column changes from run to run, so only its changes are reconstructed.
        return some[train] - mean, some[test] - (some[test].mean(axis=0) if self.is_ordered else mean)

    def other(self, states: Sequence[tuple[NDArray, NDArray]], count: int) -> float:
        sides = [self._sides(self.targets, *state) for state in states]
        return float(np.mean([component_errors(known, new, [count])[0] for known, new in sides]))


class _Clusters:
    """The agreement of a clustering on some columns with the clusters that the held-out rows show."""

    n_parts = 2  # each half selects once while the other is held out
    sign = 1.0
    rival = "all columns"

    def __init__(
        self, data: Any, n_clusters: int, powers: list[float], clusterer: str, is_ordered: bool, seed: int
    ) -> None:
        self.min_effect = 0.2 if is_ordered else 0.1  # as for reconstruction
        self.data, self.n_clusters, self.powers, self.clusterer = data, n_clusters, powers, clusterer
        self.seed, self.seeds = seed, kmeans_seeds(seed, 2)

    def prepare(self, train: NDArray, test: NDArray) -> Reference:
        return build_reference(rows_of(self.data[test]), self.n_clusters, self.seed, self.powers)

    def values(self, states: Sequence[Reference], sets: Sequence[Sequence[NDArray]]) -> NDArray:
        """Return one row per set of columns and one column per split."""
        pairs = zip(states, sets, strict=True)
        return np.array([[self._agreement(state, columns) for columns in some] for state, some in pairs]).T

    def _agreement(self, state: Reference, columns: NDArray) -> float:
        points = state.rows.points(columns)
        if self.clusterer == "graph":
            found = build_reference(rows_of(points), self.n_clusters, self.seed, self.powers).labels[None]
        else:
            found = kmeans_runs(points, self.n_clusters, self.seeds, "greedy-k-means++", is_exact=False)
        return float(rand_agreement(found, state.labels).mean())

    def other(self, states: Sequence[Reference], count: int) -> float:
        return float(self.values(states, [[np.arange(self.data.shape[1])]] * len(states)).mean())
