"""What there is to say about a fitted selector."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ufselect.metrics import selection_stability
from ufselect.report import keeping
from ufselect.report.keeping import Kept

logger = logging.getLogger("ufselect")

SAMPLE_ROWS, SAMPLE_CELLS = 2000, 8 << 20
SAMPLE_TARGETS = 2000
NEIGHBOUR_ROWS = 1000
N_RANDOM = 20
REFIT_ROWS = 5000
REFIT_SHARE = 0.8
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
    scores, ranking : ndarray of shape (n_features,)
        Scores, higher is better, and ranks.
    ranked : ndarray of shape (n_selected,)
        The kept features, best first.
    means, deviations : ndarray of shape (n_selected,)
        Mean and standard deviation of the kept features.
    among_kept : ndarray of shape (n_selected, n_selected)
        Correlations among the kept features.
    speaker, spoken_r : ndarray of shape (n_features,)
        For each feature the kept one it correlates with most, as a place in ``ranked``, and the correlation.
    variance, neighbourhood, redundancy : Kept
        Shares for the selection, for random subsets and for all features.
    frequencies : ndarray of shape (n_features,) or None
        How often each feature was chosen on resampled rows.
    stability : float or None
        Nogueira's index of these selections, 1 for identical ones and about 0 for random ones.
    loadings : ndarray of shape (n_selected, n_components) or None
        Loadings of the kept features.
    history : ndarray or None
        Objective over the iterations.
    converged : bool or None
        Whether the method met its stopping rule.
    image_shape, image_order, mean_image
        For images.
    """

    method: str
    parameters: Mapping[str, Any]
    n_samples: int
    feature_names: list[str]
    scores: NDArray
    ranking: NDArray
    ranked: NDArray
    means: NDArray
    deviations: NDArray
    among_kept: NDArray
    speaker: NDArray
    spoken_r: NDArray
    variance: Kept
    neighbourhood: Kept | None
    redundancy: Kept | None
    frequencies: NDArray | None
    stability: float | None
    n_resamples: int
    loadings: NDArray | None
    history: NDArray | None
    converged: bool | None
    image_shape: tuple[int, int] | None
    image_order: str
    mean_image: NDArray | None

    @property
    def n_features(self) -> int:
        """Number of all features."""
        return self.scores.size

    @property
    def n_selected(self) -> int:
        """Number of kept features."""
        return self.ranked.size

    def stands_for(self, place: int) -> NDArray[np.intp]:
        """Return the dropped features that the kept one at a rank speaks for, closest first."""
        dropped = (
            (self.speaker == place) & (self.ranking > self.n_selected) & (np.abs(self.spoken_r) >= FAINT)
        )
        found = np.flatnonzero(dropped)
        return found[np.argsort(-np.abs(self.spoken_r[found]), kind="stable")]

    def unspoken(self) -> int:
        """Return how many dropped features correlate with no kept one to speak of."""
        return int(np.sum((self.ranking > self.n_selected) & (np.abs(self.spoken_r) < FAINT)))

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
    n_resamples: int = 10,
    random_state: int = 0,
) -> Explanation:
    """Find out what a selection keeps, what each kept feature stands for, and how stable it is.

    Costly parts work on a sample: variance on at most 2000 rows, neighbourhoods on 1000, resampling on 5000.

    Parameters
    ----------
    selector : UnsupervisedSelector
        Fitted on ``X``.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
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
    check_is_fitted(selector, "support_")
    names = _names(selector, X, feature_names)
    data = _rows_of(X)
    rng = np.random.default_rng(random_state)
    ranked = np.argsort(selector.ranking_)[: int(selector.support_.sum())]
    n_rows = int(np.clip(SAMPLE_CELLS // data.shape[1], 4 * ranked.size, SAMPLE_ROWS))
    sample = keeping.draw_sample(data, n_rows, SAMPLE_TARGETS, rng)
    kept = sample.columns(ranked)
    with_kept = keeping.correlations(kept, sample.centred)
    speaker = np.abs(with_kept).argmax(axis=0)
    subsets = keeping.random_subsets(data.shape[1], ranked.size, N_RANDOM, rng)
    frequencies, stability = _resampled(selector, data, ranked.size, n_resamples, rng)
    components = getattr(selector, "components_", None)
    return Explanation(
        method=type(selector).label,
        parameters={name: value for name, value in selector.get_params().items() if name != "verbose"},
        n_samples=data.shape[0],
        feature_names=names,
        scores=np.asarray(selector.scores_),
        ranking=np.asarray(selector.ranking_),
        ranked=ranked,
        means=np.asarray(data[:, ranked].mean(axis=0)).ravel(),
        deviations=kept.std(axis=0),
        among_kept=with_kept[:, ranked],
        speaker=speaker,
        spoken_r=with_kept[speaker, np.arange(data.shape[1])],
        variance=Kept(
            keeping.variance_rebuilt(sample, ranked),
            np.array([keeping.variance_rebuilt(sample, subset) for subset in subsets]),
            1.0,
        ),
        neighbourhood=_neighbourhood(sample.centred[:NEIGHBOUR_ROWS], ranked, subsets),
        redundancy=_redundancy(sample, ranked, subsets),
        frequencies=frequencies,
        stability=stability,
        n_resamples=n_resamples,
        loadings=None if components is None else np.asarray(components)[:, ranked].T,
        history=_optional(selector, "objective_history_"),
        converged=getattr(selector, "converged_", None),
        image_shape=image_shape,
        image_order=image_order,
        mean_image=None if image_shape is None else np.asarray(data.mean(axis=0)).ravel(),
    )


def _names(selector: Any, X: Any, given: Sequence[str] | None) -> list[str]:
    n_features = selector.scores_.size
    if given is None:
        given = getattr(selector, "feature_names_in_", [f"feature_{j}" for j in range(1, n_features + 1)])
    if len(given) != n_features or X.shape[1] != n_features:
        raise ValueError(
            f"The selector was fitted on {n_features} features, X has {X.shape[1]} and "
            f"{len(given)} names were given; "
            "pass the data of fit and one name a feature."
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


def _neighbourhood(centred: NDArray, ranked: NDArray, subsets: list[NDArray]) -> Kept | None:
    n_neighbors = min(keeping.N_NEIGHBORS, centred.shape[0] // 5)
    if n_neighbors < 2:
        return None
    reference = keeping.neighbours_of(centred, n_neighbors)
    random = [keeping.neighbourhood_kept(reference, centred[:, subset]) for subset in subsets]
    return Kept(keeping.neighbourhood_kept(reference, centred[:, ranked]), np.array(random), 1.0)


def _redundancy(sample: keeping.Sample, ranked: NDArray, subsets: list[NDArray]) -> Kept | None:
    if ranked.size < 2:
        return None
    random = [keeping.largest_correlations(sample.columns(subset)).mean() for subset in subsets]
    chosen = float(keeping.largest_correlations(sample.columns(ranked)).mean())
    return Kept(chosen, np.array(random), float("nan"))


def _resampled(
    selector: Any, data: Any, n_selected: int, n_resamples: int, rng: np.random.Generator
) -> tuple[NDArray | None, float | None]:
    """Refit on random rows; return how often each feature is chosen, and the stability index."""
    n_rows = min(REFIT_ROWS, int(REFIT_SHARE * data.shape[0]))
    if n_resamples < 2 or n_rows < 4:
        return None, None
    masks = []
    for turn in range(n_resamples):
        rows = np.sort(rng.choice(data.shape[0], n_rows, replace=False))
        again = clone(selector).set_params(n_features_to_select=n_selected)
        if "verbose" in again.get_params():
            again.set_params(verbose=False)
        logger.info("resampling %d of %d", turn + 1, n_resamples)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit itself has already said what is wrong
            masks.append(again.fit(data[rows]).support_)
    stacked = np.array(masks)
    stability = None if n_selected == data.shape[1] else float(selection_stability(stacked))
    return stacked.mean(axis=0), stability
