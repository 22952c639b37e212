"""What there is to say about a fitted selector."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ufselect.metrics import selection_stability
from ufselect.metrics.label_free import nearest, rebuilt_share, shared_neighbours
from ufselect.plotting.reconstruction_display import ReconstructionDisplay
from ufselect.plotting.selected import Selected, selected_by
from ufselect.report.measures import (
    Kept,
    Sample,
    column_means,
    correlations,
    draw_sample,
    largest_correlations,
    random_subsets,
)
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.stability import SEED_LIMIT, with_seed

logger = logging.getLogger("ufselect")

# Enough rows for shares good to a per cent; with many features fewer, so that the sample takes 64 MB at most.
SAMPLE_ROWS, SAMPLE_CELLS = 2000, 8 << 20
# A least-squares fit of a subset must be determined: at least this many rows per kept feature.
ROWS_PER_FEATURE = 4
SAMPLE_TARGETS = 2000
# Distances of all pairs: a million numbers.
NEIGHBOUR_ROWS = 1000
N_NEIGHBORS = 10
# Neighbours of a sample must be few among all samples to mean nearness.
ROWS_PER_NEIGHBOUR = 5
# Their mean is good to a fifth of their spread.
N_RANDOM = 20
REFIT_ROWS = 5000
REFIT_SHARE = 0.8
LEAST_REFIT_ROWS = 4
# Correlations below explain less than a tenth of a feature's variance.
FAINT = 0.3


@dataclass(frozen=True)
class Explanation:
    """The facts that a report shows.

    Attributes
    ----------
    method : str
        The method's name.
    parameters : mapping
        Its parameters.
    n_samples : int
        Rows of the data.
    feature_names : list of str
        Names of all features.
    is_unsupervised : bool
        Whether the method is known to use no labels.
    selected : Selected
        Kept features, ranks and scores; scores are None where the method has none.
    means, deviations : ndarray of shape (n_selected,)
        Mean and standard deviation of the kept features.
    among_kept : ndarray of shape (n_selected, n_selected)
        Correlations among the kept features.
    closest, closest_r : ndarray of shape (n_features,)
        For each feature the kept one it correlates with most, as a place in ``ranked``, and the correlation.
    variance, neighbourhood, redundancy : Kept
        Shares for the selection, for random subsets and for all features.
    frequencies : ndarray of shape (n_features,) or None
        How often each feature was chosen on resampled rows.
    stability : float or None
        Nogueira's index of these selections, 1 for identical ones and about 0 for random ones.
    refit_note : str
        Why there are no refits though they were asked for; empty otherwise.
    loadings : ndarray of shape (n_selected, n_components) or None
        Loadings of the kept features.
    history : ndarray or None
        Objective over the iterations.
    counts : ReconstructionDisplay or None
        Held-out errors against counts, where the method chose the number of features.
    converged : bool or None
        Whether the method met its stopping rule.
    image_shape, image_order, mean_image
        For images.
    """

    method: str
    parameters: Mapping[str, Any]
    n_samples: int
    feature_names: list[str]
    is_unsupervised: bool
    selected: Selected
    means: NDArray
    deviations: NDArray
    among_kept: NDArray
    closest: NDArray
    closest_r: NDArray
    variance: Kept
    neighbourhood: Kept | None
    redundancy: Kept | None
    frequencies: NDArray | None
    stability: float | None
    n_resamples: int
    refit_note: str
    loadings: NDArray | None
    history: NDArray | None
    counts: ReconstructionDisplay | None
    converged: bool | None
    image_shape: tuple[int, int] | None
    image_order: str
    mean_image: NDArray | None

    @property
    def scores(self) -> NDArray | None:
        """Scores of all features, higher is better."""
        return self.selected.scores

    @property
    def ranking(self) -> NDArray:
        """Ranks of all features, 1 for the best."""
        return self.selected.ranking

    @cached_property
    def ranked(self) -> NDArray[np.intp]:
        """The kept features, best first."""
        return self.selected.kept

    @property
    def n_features(self) -> int:
        """Number of all features."""
        return self.ranking.size

    @property
    def n_selected(self) -> int:
        """Number of kept features."""
        return self.ranked.size

    def stands_for(self, place: int) -> NDArray[np.intp]:
        """Return the dropped features that the kept one at a place stands for, closest first."""
        near = np.abs(self.closest_r) >= FAINT
        found = np.flatnonzero(~self.selected.support & near & (self.closest == place))
        return found[np.argsort(-np.abs(self.closest_r[found]), kind="stable")]

    def n_alone(self) -> int:
        """Return how many dropped features correlate with no kept one to speak of."""
        return int(np.sum(~self.selected.support & (np.abs(self.closest_r) < FAINT)))

    def _repr_html_(self) -> str:
        from ufselect.report.selection_page import report_html

        page = escape(report_html(self, title=self.method), quote=True)
        return f'<iframe title="Report" style="width:100%;height:40em;border:0" srcdoc="{page}"></iframe>'


def explain(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    image_order: str = "C",
    n_resamples: int = 10,
    random_state: int = 0,
    sample_weight: Any = None,
    batch: Any = None,
) -> Explanation:
    """Find out what a selection keeps, what each kept feature stands for, and how stable it is.

    Costly parts work on a sample: variance on at most 2000 rows, neighbourhoods on 1000, resampling on 5000.
    Missing values count as the mean of their column there.

    Parameters
    ----------
    selector : estimator
        Any scikit-learn selector, fitted on ``X``; ``scores_`` and ``ranking_`` are shown where it has them.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,), optional
        Labels or targets for refits of a selector that needs them; without them it is not refitted, and the
        report says so.
    feature_names : sequence of str, optional
        Names of the features; without it those seen in ``fit``.
    image_shape : (int, int), optional
        Rows and columns, where features are pixels.
    image_order : {"C", "F"}, default="C"
        "F" where pixels run down the columns first.
    n_resamples : int, default=10
        How often to refit on 80 % of the rows; 0 for no such check.
    random_state : int, default=0
        Seed of samples and subsets.
    sample_weight, batch : array-like of shape (n_samples,), optional
        What ``fit`` was told of the rows. Rows of weight 0 are left out, the others count alike; each batch
        is taken about its own mean.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import DSCOFS
    >>> from ufselect.report import explain
    >>> X = scale(load_wine().data)
    >>> selector = DSCOFS(n_features_to_select=5, n_components=2).fit(X)
    >>> explanation = explain(selector, X, n_resamples=3)
    >>> explanation.n_selected, explanation.variance.random.size
    (5, 20)
    """
    selected = selected_by(selector)
    names = _names(selector, X, feature_names, selected.support.size)
    data = _rows_of(X)
    rng = np.random.default_rng(random_state)
    ranked = selected.kept
    if not ranked.size:
        raise ValueError(f"{type(selector).__name__} keeps no feature, so there is nothing to explain.")
    n_rows = int(np.clip(SAMPLE_CELLS // data.shape[1], ROWS_PER_FEATURE * ranked.size, SAMPLE_ROWS))
    told = {
        name: np.asarray(values)
        for name, values in (("sample_weight", sample_weight), ("batch", batch))
        if values is not None
    }
    sample = draw_sample(data, n_rows, SAMPLE_TARGETS, rng, **told)
    kept = sample.columns(ranked)
    with_kept = correlations(kept, sample.centred)
    closest = np.abs(with_kept).argmax(axis=0)
    subsets = random_subsets(data.shape[1], ranked.size, N_RANDOM, rng)
    masks, refit_note = _resampled(selector, data, y, told, ranked.size, n_resamples, rng)
    components = getattr(selector, "components_", None)
    return Explanation(
        method=getattr(selector, "label", type(selector).__name__),
        parameters={name: value for name, value in selector.get_params().items() if name != "verbose"},
        n_samples=data.shape[0],
        feature_names=names,
        is_unsupervised=isinstance(selector, UnsupervisedSelector),
        selected=selected,
        means=column_means(data[:, ranked]),
        deviations=kept.std(axis=0),
        among_kept=with_kept[:, ranked],
        closest=closest,
        closest_r=with_kept[closest, np.arange(data.shape[1])],
        variance=_variance(sample, ranked, subsets),
        neighbourhood=_neighbourhood(sample.centred[:NEIGHBOUR_ROWS], ranked, subsets),
        redundancy=_redundancy(sample, ranked, subsets),
        frequencies=None if masks is None else masks.mean(axis=0),
        stability=None if masks is None or ranked.size == data.shape[1] else selection_stability(masks),
        n_resamples=n_resamples,
        refit_note=refit_note,
        loadings=None if components is None else np.asarray(components)[:, ranked].T,
        history=_optional(selector, "objective_history_"),
        counts=ReconstructionDisplay.of_counts(selector) if hasattr(selector, "count_curve_") else None,
        converged=getattr(selector, "converged_", None),
        image_shape=image_shape,
        image_order=image_order,
        mean_image=None if image_shape is None else column_means(data),
    )


def _names(selector: Any, X: Any, given: Sequence[str] | None, n_features: int) -> list[str]:
    if given is None:
        given = getattr(selector, "feature_names_in_", [f"feature_{j}" for j in range(1, n_features + 1)])
    if len(given) != n_features or X.shape[1] != n_features:
        raise ValueError(
            f"The selector was fitted on {n_features} features, X has {X.shape[1]} and "
            f"{len(given)} names were given; pass the data of fit and one name per feature."
        )
    return [str(name) for name in given]


def _rows_of(X: Any) -> Any:
    """Return an array or a CSR array of the data."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    return X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)


def _optional(selector: Any, name: str) -> NDArray | None:
    value = getattr(selector, name, None)
    return None if value is None else np.asarray(value)


def _variance(sample: Sample, ranked: NDArray, subsets: list[NDArray]) -> Kept:
    target = sample.columns(sample.targets)
    chosen, *random = (rebuilt_share(sample.columns(subset), target) for subset in (ranked, *subsets))
    return Kept(chosen, np.array(random), 1.0)


def _neighbourhood(centred: NDArray, ranked: NDArray, subsets: list[NDArray]) -> Kept | None:
    n_neighbors = min(N_NEIGHBORS, centred.shape[0] // ROWS_PER_NEIGHBOUR)
    if n_neighbors < 2:
        return None
    reference = nearest(centred, n_neighbors)
    chosen, *random = (
        shared_neighbours(reference, nearest(centred[:, subset], n_neighbors))
        for subset in (ranked, *subsets)
    )
    return Kept(chosen, np.array(random), 1.0)


def _redundancy(sample: Sample, ranked: NDArray, subsets: list[NDArray]) -> Kept | None:
    if ranked.size < 2:
        return None
    random = [largest_correlations(sample.columns(subset)).mean() for subset in subsets]
    chosen = float(largest_correlations(sample.columns(ranked)).mean())
    return Kept(chosen, np.array(random), float("nan"))


def _resampled(
    selector: Any,
    data: Any,
    y: Any,
    told: Mapping[str, NDArray],
    n_selected: int,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[NDArray | None, str]:
    """Refit on random rows; return the mask of each selection, or None and why there are none."""
    n_rows = min(REFIT_ROWS, int(REFIT_SHARE * data.shape[0]))
    if n_resamples < 2 or n_rows < LEAST_REFIT_ROWS:
        return None, ""
    masks = []
    for turn in range(n_resamples):
        rows = np.sort(rng.choice(data.shape[0], n_rows, replace=False))
        again = clone(selector).set_params(**_refit_settings(selector, n_selected))
        with_seed(again, int(rng.integers(SEED_LIMIT)))  # a fixed seed would make a blind draw look stable
        logger.info("resampling %d of %d", turn + 1, n_resamples)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit itself has already said what is wrong
            try:
                facts = {name: values[rows] for name, values in told.items()}
                again.fit(data[rows], None if y is None else np.asarray(y)[rows], **facts)
            except (TypeError, ValueError) as error:
                if y is not None or isinstance(selector, UnsupervisedSelector):
                    raise
                return None, f"The selection was not repeated, since it needs y: {error}"
        masks.append(again.get_support())
    return np.array(masks), ""


def _refit_settings(selector: Any, n_selected: int) -> dict[str, Any]:
    """Return what a refit changes: the count is that of the whole data, and nothing is printed."""
    wanted = {"n_features_to_select": n_selected, "verbose": False}
    if getattr(selector, "groups", None) is not None:
        del wanted["n_features_to_select"]  # it counts groups, not columns
    return {name: value for name, value in wanted.items() if name in selector.get_params()}
