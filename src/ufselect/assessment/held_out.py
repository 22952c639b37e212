"""Compare a selection with random columns on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ufselect._utils.messages import listed
from ufselect._utils.threads import one_blas_thread
from ufselect._utils.validation import check_choice, check_positive_int, is_dask, tabular
from ufselect.assessment.splits import row_splits, row_units
from ufselect.blocks.reduce import sample_rows
from ufselect.clusters.counts import cluster_count
from ufselect.clusters.graph import (
    build_reference,
    gaussian_excess,
    kmeans_seeds,
    leading_scores,
    outlying_rows,
    partition_agreement,
    rows_of,
    sampled_indices,
    seed_from,
)
from ufselect.methods._columns import ColumnTable
from ufselect.methods.rebuild.ridge import LinearMap, component_errors
from ufselect.metrics.kmeans import kmeans_runs
from ufselect.metrics.stability import selection_stability

LEAST_ROWS = 12


@dataclass(frozen=True)
class Assessment:
    """What :func:`assess` found.

    Attributes
    ----------
    goal : {"rebuild", "clusters"}
        What the columns are for.
    verdict : {"better", "no better", "worse", "undecided"}
        How the selection compares with random columns on held-out rows.
    effect : float
        For reconstruction the error over that of random columns, below 1 is better; for clusters the
        agreement minus that of random columns, above 0 is better. NaN if nothing was measured.
    interval : tuple of float
        95 % confidence interval of the effect over the splits.
    table : list of dict
        One row for the selection, for random columns and for all columns or, for reconstruction, as many
        principal components: ``columns``, ``mean`` over the splits and ``spread`` (standard deviation over
        the splits, for random columns over the draws). Empty if nothing was measured.
    stability : float or None
        Chance-corrected agreement of the selections from different rows: 1 for the same columns, 0 for
        chance [1]_. None for a fixed list of columns.
    frequencies : ndarray of shape (n_features,) or None
        Share of the selections that have each column.
    n_selected, n_features, n_clusters : int
        Sizes; ``n_clusters`` is None for reconstruction and 1 where no clusters were found.
    notes : list of str
        How rows were held out, where that is not at random, and which rows were set aside.

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
    def message(self) -> str:
        """What was found, in plain words."""
        return " ".join([*self._finding(), *self.notes])

    def _finding(self) -> list[str]:
        if self.n_clusters == 1:
            return [
                'No cluster structure found. To keep columns that represent the others, use goal="rebuild".'
            ]
        if not self.table:
            return []
        k, d = self.n_selected, self.n_features
        ours, random = self.mean("selected"), self.mean("random columns")
        if self.goal == "rebuild":
            measured = f"a relative error of {ours:.2g} on held-out rows"
            found = f"From these {k} columns the other {d - k} are reconstructed with {measured}"
            compared = {
                "better": f"; {k} random columns leave {random:.2g}.",
                "no better": f"; {k} random columns do about as well ({random:.2g}).",
            }
        else:
            everything = self.mean("all columns")
            than = "better than" if ours > everything else "less well than"
            than = "about as well as" if abs(ours - everything) < 0.05 else than
            measured = f"(agreement {ours:.2f} and {everything:.2f} on held-out rows)"
            found = f"These {k} columns show the {self.n_clusters} clusters {than} all {d} {measured}"
            compared = {
                "better": f"; {k} random columns do worse ({random:.2f}).",
                "no better": f"; {k} random columns do about as well ({random:.2f}).",
            }
        compared["worse"] = f", but {k} random columns do better ({random:.2g}): use another selector."
        compared["undecided"] = (
            f"; {k} random columns have {random:.2g}. There are too few rows to tell whether the difference "
            "is real."
        )
        sentences = [found + compared[self.verdict]]
        if self.stability is not None:
            word = "nearly the same" if self.stability >= 0.75 else "partly other"
            word = word if self.stability >= 0.4 else "mostly other"
            sentences.append(
                f"From other rows {word} columns are selected (stability {self.stability:.2f} of 1)."
            )
        return sentences

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the selection beside random columns; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default into new ones.

        Returns
        -------
        ax : matplotlib Axes
        """
        from ufselect._utils.imports import import_extra

        ax = import_extra("matplotlib.pyplot", "Plotting", "plot").subplots()[1] if ax is None else ax
        names = [row["columns"] for row in self.table]
        bars = ax.barh(
            names,
            [row["mean"] for row in self.table],
            xerr=[row["spread"] for row in self.table],
            color="0.75",
        )
        for bar in bars[:1]:
            bar.set_color("C0")
        ax.invert_yaxis()
        errors = self.goal == "rebuild"
        ax.set_xlabel("relative reconstruction error" if errors else "agreement with the clusters")
        ax.set_title({"undecided": "undecided"}.get(self.verdict, f"{self.verdict} than random columns"))
        return ax


def assess(
    selector: Any,
    X: Any,
    *,
    goal: str = "rebuild",
    n_clusters: int | str = "auto",
    clusterer: str = "kmeans",
    row_groups: Any = None,
    n_random: int = 20,
    max_samples: int = 1000,
    random_state: Any = None,
) -> Assessment:
    """Tell how good a selection is on rows that it has not seen.

    Rows are split several times. The selector sees one side; the other side measures its columns beside as
    many random ones. For ``goal="rebuild"`` that is the error of reconstructing the other columns by ridge
    regression, for ``goal="clusters"`` the agreement (normalised mutual information) of a clustering on the
    selected columns with the clusters that the held-out rows show by themselves, in all columns.

    Parameters
    ----------
    selector : estimator or sequence of str or int
        A scikit-learn selector, which is cloned, or a fixed list of columns.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    goal : {"rebuild", "clusters"}, default="rebuild"
        What the columns are for.
    n_clusters : int or "auto", default="auto"
        Number of clusters, for ``goal="clusters"``.
    clusterer : {"kmeans", "graph"}, default="kmeans"
        What clusters the selected columns: K-means, or :class:`~ufselect.GraphClustering`.
    row_groups : array-like of shape (n_samples,), optional
        Donor, replicate or batch of each row; rows of one group are held out together. Without it
        near-duplicate rows are, and where neighbouring rows resemble each other contiguous runs are held out.
    n_random : int, default=20
        Random sets of columns; three times as many are drawn where these do not decide.
    max_samples : int, default=1000
        Most rows to work on; more are sampled.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the splits, the random columns and the clusterings.

    Returns
    -------
    Assessment

    Notes
    -----
    "Better" takes an effect that matters (an error lower by 3 %, an agreement higher by 0.05), a confidence
    interval on that side of no effect, and a place among the best twentieth of the random sets. The interval
    is that of the corrected resampled t-test [1]_: splits share rows, so that their differences vary less
    than those of new data would. Clusters have to be cut more cleanly, by four standard deviations, than
    Gaussian data with the same covariances; where they are not, none were found. Rows that make a leading
    principal component by themselves are never held out.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio (2003), "Inference for the generalization error", Machine Learning 52.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import RebuildSelector, assess
    >>> assess(RebuildSelector(10), load_digits().data, random_state=0).verdict
    'better'
    """
    check_choice("goal", goal, ("rebuild", "clusters"))
    check_choice("clusterer", clusterer, ("kmeans", "graph"))
    check_positive_int("n_random", n_random)
    check_positive_int("max_samples", max_samples)
    seed = seed_from(random_state)
    table = sample_rows(X, seed)[0] if is_dask(X) else tabular(X)
    table = table.tocsr() if sparse.issparse(table) else table
    table = table if hasattr(table, "shape") else np.asarray(table)
    if goal == "rebuild":  # whose rows are made dense: 160 megabytes at most
        max_samples = min(max_samples, max(200, 20_000_000 // table.shape[1]))
    places = sampled_indices(table.shape[0], max_samples, seed)
    if places.size < table.shape[0]:
        table = _safe_indexing(table, places)
        row_groups = None if row_groups is None else np.asarray(row_groups)[places]
    with one_blas_thread():  # products this small only lose time in threads
        return _assess(selector, table, places, goal, n_clusters, clusterer, row_groups, n_random, seed)


def _assess(
    selector: Any,
    table: Any,
    places: NDArray,
    goal: str,
    n_clusters: int | str,
    clusterer: str,
    row_groups: Any,
    n_random: int,
    seed: int,
) -> Assessment:
    data = _numbers(table)
    n_rows, n_features = data.shape
    rows = rows_of(data)
    outliers = outlying_rows(rows)
    notes = [_outlier_note(places[outliers])] if outliers.size else []
    inner = np.setdiff1d(np.arange(n_rows), outliers)
    rows = rows.without(outliers) if outliers.size else rows
    count = cluster_count(n_clusters, rows, seed) if goal == "clusters" else None
    is_enough = inner.size >= max(LEAST_ROWS, 4 * (count or 1))
    if count == 1 or (count and is_enough and gaussian_excess(rows, count, seed) < 4):
        return Assessment(goal, "no better", n_features=n_features, n_clusters=1, notes=notes)
    if not is_enough:
        notes.append(f"{inner.size} rows are too few to hold some out, so the selection was not assessed.")
        return Assessment(goal, "undecided", n_features=n_features, n_clusters=count, notes=notes)
    scores = leading_scores(rows, min(20, n_features, inner.size - 1))
    row_groups = None if row_groups is None else np.asarray(row_groups)[inner]
    units, is_ordered, how = row_units(scores.values * scores.spread, row_groups)
    rng = np.random.default_rng(seed)
    measure = (
        _Reconstruction(data, is_ordered, rng) if count is None else _Clusters(data, count, clusterer, seed)
    )
    splits = [
        (inner[train], inner[test]) for train, test in row_splits(units, is_ordered, *measure.parts, rng)
    ]
    supports = [_selected(selector, table, np.union1d(train, outliers), n_features) for train, _ in splits]
    varying = np.flatnonzero(rows.squares() > 0)
    draws = [rng.permutation(varying) for _ in range(3 * n_random)]
    prepared = [measure.prepare(train, test) for train, test in splits]
    ours = np.array(
        [measure.values(state, [support])[0] for state, support in zip(prepared, supports, strict=True)]
    )
    ratio = float(np.mean([test.size / train.size for train, test in splits]))
    random = np.empty((0, len(splits)))
    for some in (draws[:n_random], draws[n_random:]):
        drawn = [
            measure.values(state, [draw[: support.size] for draw in some])
            for state, support in zip(prepared, supports, strict=True)
        ]
        random = np.vstack([random, np.transpose(drawn)])
        verdict, effect, interval = compare(ours, random, ratio, measure.sign, measure.least_effect)
        if verdict != "undecided":
            break
    if goal == "rebuild":  # from differences of logarithms to ratios of errors
        ours, random, effect = np.exp(ours), np.exp(random), float(np.exp(effect))
        interval = (float(np.exp(interval[0])), float(np.exp(interval[1])))
    others = np.mean(
        [measure.other(state, support.size) for state, support in zip(prepared, supports, strict=True)],
        axis=0,
    )
    is_fitted = hasattr(selector, "fit")
    masks = np.array([np.isin(np.arange(n_features), support) for support in supports])
    return Assessment(
        goal,
        verdict,
        effect,
        interval,
        [
            {"columns": "selected", "mean": float(ours.mean()), "spread": float(ours.std())},
            {
                "columns": "random columns",
                "mean": float(random.mean()),
                "spread": float(random.mean(axis=1).std()),
            },
            {"columns": measure.rival, "mean": float(others), "spread": 0.0},
        ],
        selection_stability(masks) if is_fitted else None,
        masks.mean(axis=0) if is_fitted else None,
        round(float(np.mean([support.size for support in supports]))),
        n_features,
        count,
        [*notes, *how],
    )


def _numbers(table: Any) -> Any:
    """Return a table as numbers, missing ones in place of the means of their columns."""
    if sparse.issparse(table):
        return table.astype(np.float64)
    data = np.asarray(table, dtype=np.float64)
    missing = np.isnan(data)
    return np.where(missing, np.nanmean(data, axis=0), data) if missing.any() else data


def _outlier_note(places: NDArray) -> str:
    named = listed([str(place) for place in places], 5)
    if places.size == 1:
        return f"Row {named} stands far apart from all others; if it is an error, drop it and select again."
    return f"Rows {named} stand far apart from all others; if they are errors, drop them and select again."


def _selected(selector: Any, table: Any, rows: NDArray, n_features: int) -> NDArray:
    """Return the columns that a selector selects from some rows, or the given ones."""
    if not hasattr(selector, "fit"):
        names = np.asarray(table.columns, dtype=object) if hasattr(table, "columns") else None
        return ColumnTable(n_features, names).indices("columns", selector)
    return np.flatnonzero(clone(selector).fit(_safe_indexing(table, rows)).get_support())


def compare(
    ours: NDArray, random: NDArray, ratio: float, sign: float = 1.0, least_effect: float = 0.0
) -> tuple[str, float, tuple[float, float]]:
    """Return verdict, effect and interval of a selection's values, one a split, beside those of random sets.

    ``ratio`` is the number of held-out over that of training rows; with ``sign`` −1 less is better.
    """
    differences = ours - random.mean(axis=0)
    effect, n_splits = float(differences.mean()), ours.size
    error = float(differences.std(ddof=1)) * np.sqrt(1 / n_splits + ratio)
    margin = error * float(stats.t.ppf(0.975, n_splits - 1))
    beaten = sign * (ours.mean() - random.mean(axis=1))
    share = np.count_nonzero(beaten > 0 if sign * effect > 0 else beaten < 0) / len(random)
    verdict = "no better"
    if abs(effect) >= least_effect:
        is_clear = abs(effect) > margin and share >= 0.95
        verdict = ("better" if sign * effect > 0 else "worse") if is_clear else "undecided"
    return verdict, effect, (float(effect - margin), float(effect + margin))


class _Reconstruction:
    """The logarithm of the error of reconstructing other columns of held-out rows.

    The columns themselves do not count: of columns that have nothing in common those that happen to vary most
    would seem to tell more than others.
    """

    parts = (3, 2)  # two thirds select, one third is held out; twice
    sign = -1.0
    least_effect = 0.03
    rival = "principal components"

    def __init__(self, data: Any, is_ordered: bool, rng: np.random.Generator) -> None:
        self.is_ordered = is_ordered
        # Enough columns to tell the error over all of them.
        self.targets = np.sort(rng.permutation(data.shape[1])[:200])
        self.data = data.tocsc() if sparse.issparse(data) else data

    def prepare(self, train: NDArray, test: NDArray) -> tuple[NDArray, NDArray]:
        return train, test

    def values(self, state: tuple[NDArray, NDArray], sets: Sequence[NDArray]) -> list[float]:
        return [float(np.log(max(self._error(*state, columns), 1e-12))) for columns in sets]

    def _error(self, train: NDArray, test: NDArray, columns: NDArray) -> float:
        needed = np.concatenate([columns, np.setdiff1d(self.targets, columns)])
        data = self._dense(needed)
        known, new, size = data[train], data[test], columns.size
        found = LinearMap.from_rows(known, np.arange(size), in_runs=self.is_ordered)
        # The level of a drifting column wanders from run to run: what is reconstructed is how it moves.
        new = new - (new.mean(axis=0) if self.is_ordered else found.mean)
        total = float(np.linalg.norm(new[:, size:]))
        rest = new[:, size:] - new[:, :size] @ found.weights[:, size:]
        return float(np.linalg.norm(rest)) / total if total > 0 else 1.0

    def _dense(self, columns: NDArray) -> NDArray:
        some = self.data[:, columns]
        return some.toarray() if sparse.issparse(some) else some

    def other(self, state: tuple[NDArray, NDArray], count: int) -> float:
        train, test = state
        targets = self._dense(self.targets)
        return float(component_errors(targets[train], targets[test], [count])[0])


class _Clusters:
    """The agreement of a clustering on some columns with the clusters that the held-out rows show."""

    parts = (2, 3)  # halves, in both directions, three times
    sign = 1.0
    least_effect = 0.05
    rival = "all columns"

    def __init__(self, data: Any, n_clusters: int, clusterer: str, seed: int) -> None:
        self.data = data
        self.n_clusters = n_clusters
        self.clusterer = clusterer
        self.seed = seed

    def prepare(self, train: NDArray, test: NDArray) -> tuple[Any, NDArray]:
        rows = rows_of(self.data[test])
        return rows, build_reference(rows, self.n_clusters, self.seed, (0.0, 0.5)).labels

    def values(self, state: tuple[Any, NDArray], sets: Sequence[NDArray]) -> list[float]:
        rows, labels = state
        return [float(partition_agreement(self._clustered(rows, columns), labels).mean()) for columns in sets]

    def _clustered(self, rows: Any, columns: NDArray) -> NDArray:
        points = rows.points(columns)
        if self.clusterer == "graph":
            return build_reference(rows_of(points), self.n_clusters, self.seed, (0.0, 0.5)).labels[None]
        seeds = kmeans_seeds(self.seed, 3)
        return kmeans_runs(points, self.n_clusters, seeds, "greedy-k-means++", is_exact=False)

    def other(self, state: tuple[Any, NDArray], count: int) -> float:
        return self.values(state, [np.arange(self.data.shape[1])])[0]
