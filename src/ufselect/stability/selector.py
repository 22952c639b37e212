"""StableSelector: features that a selector chooses again and again on halves of the data."""

from __future__ import annotations

from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from ufselect.common.checks import check_positive_int
from ufselect.common.seeds import generator
from ufselect.common.warn import warn_user
from ufselect.exceptions import UnreachableBoundWarning
from ufselect.metrics import selection_stability
from ufselect.selectors.base import unchanged_on_error
from ufselect.selectors.progress import FitProgress
from ufselect.stability.error_bound import ErrorBound, error_bound, smallest_threshold
from ufselect.stability.half_samples import (
    SEED_LIMIT,
    Experiment,
    FitStore,
    HalfFit,
    open_store,
    run_missing,
    stored_entropy,
)

FEWEST_SAMPLES = 4  # two a half


class StableSelector(MetaEstimatorMixin, SelectorMixin, BaseEstimator):
    r"""Select the features that a selector chooses on most halves of the data.

    The rows are split at random into two halves, again and again; a clone of the selector is fitted to each
    half with a seed of its own, and the frequency of a feature is the share of these fits that select it:
    stability selection with complementary pairs [1]_, [2]_. A feature is kept if its frequency reaches a
    threshold τ.

    With q features selected on average of p, and "falsely selected" for a feature that a half-sample selects
    no more often than a blind draw of q features would, the expected number of those kept is at most

    .. math:: \frac{1}{2\tau - 1}\,\frac{q^2}{p}

    whatever the data, and smaller where the distribution of each frequency is unimodal. ``threshold="auto"``
    takes the smallest τ for which the latter bound is at most ``max_false``; ``error_bound_`` holds both.

    The cost is that of ``n_resamples`` fits to half of the rows.

    Use it to tell the features that the data call for from those that this sample happened to favour. Of
    several copies of a feature each half may take another one, so that none is frequent: that the information
    is stable does not make the feature so.

    Parameters
    ----------
    selector : estimator
        Any scikit-learn selector, that is, with ``fit`` and ``get_support``.
    n_resamples : int, default=50
        Number of half-samples, an even number: two a pair.
    threshold : float or "auto", default="auto"
        Frequency from which a feature is kept, in (0, 1]; or chosen by the bound.
    max_false : int or float, default=0.1
        Most falsely selected features to expect: a number, or as a share in (0, 1) of q. Only for
        ``threshold="auto"``.
    warm_start : bool, default=False
        Whether to keep the fits, so that another ``fit`` to the same data with more half-samples makes only
        those that are missing.
    path : str, Path or None, default=None
        Folder for the fits, one file each: an interrupted run goes on where it stopped, in another process
        too.
    n_jobs : int or None, default=None
        Number of half-samples fitted at once. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the halves, and of the seeds that every ``random_state`` within the selector is set to.
    verbose : bool, default=False
        Log each half-sample.

    Attributes
    ----------
    frequencies_, scores_ : ndarray of shape (n_features,)
        Share of the half-samples that select each feature.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature by its frequency, 1 for the best; among equal ones by their mean rank over the
        half-samples.
    support_ : ndarray of shape (n_features,)
        Mask of the features whose frequency reaches ``threshold_``; there may be none.
    threshold_ : float
        The τ used.
    error_bound_ : ErrorBound
        ``threshold``, ``n_selected`` (q), ``worst_case`` and ``unimodal``: the most falsely selected features
        to expect.
    stability_ : float
        Agreement of the selections, 1 if all are the same and about 0 if they are drawn blindly [3]_.

    References
    ----------
    .. [1] N. Meinshausen, P. Bühlmann (2010), "Stability selection", Journal of the Royal Statistical Society
       B 72(4).
    .. [2] R. D. Shah, R. J. Samworth (2013), "Variable selection with error control: another look at
       stability selection", Journal of the Royal Statistical Society B 75(1).
    .. [3] S. Nogueira, K. Sechidis, G. Brown (2018), "On the stability of feature selection algorithms",
       Journal of Machine Learning Research 18(174).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import PCALeverage, StableSelector
    >>> pixels = load_digits().data
    >>> selector = PCALeverage(n_features_to_select=20, n_components=10)
    >>> stable = StableSelector(selector, n_resamples=20, random_state=0).fit(pixels)
    >>> bool(stable.error_bound_.unimodal <= 0.1 * 20)
    True
    """

    def __init__(
        self,
        selector: Any,
        n_resamples: int = 50,
        threshold: float | str = "auto",
        *,
        max_false: int | float = 0.1,
        warm_start: bool = False,
        path: str | Path | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.selector = selector
        self.n_resamples = n_resamples
        self.threshold = threshold
        self.max_false = max_false
        self.warm_start = warm_start
        self.path = path
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, **row_parameters: Any) -> Self:
        """Select on every half-sample and keep what is frequent.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data, as the selector takes them.
        y : array-like of shape (n_samples,), optional
            Target, for a selector that needs one.
        **row_parameters
            Further arguments of the selector's ``fit`` with one entry a row, such as ``sample_weight``.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            X = self._checked(X)
            y = y if y is None or hasattr(y, "iloc") else np.asarray(y)
            self._fit(X, y, self._routed(row_parameters))
        return self

    def _check_parameters(self) -> None:
        check_positive_int("n_resamples", self.n_resamples)
        if self.n_resamples % 2:
            raise ValueError(f"n_resamples={self.n_resamples} must be even: two halves a pair.")
        is_auto = isinstance(self.threshold, str) and self.threshold == "auto"
        if not is_auto and not (_is_number(self.threshold) and 0 < float(self.threshold) <= 1):
            raise ValueError(f'threshold must be a number in (0, 1] or "auto", not {self.threshold!r}.')
        if not _is_number(self.max_false) or not self.max_false > 0:
            raise ValueError(f"max_false must be a number above 0, not {self.max_false!r}.")
        if not isinstance(self.max_false, Integral) and self.max_false >= 1:
            raise ValueError(
                f"max_false={self.max_false!r} must be an integer number of features or a share in (0, 1)."
            )

    def _routed(self, row_parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments for the selector: those it has asked for, or all where routing is off."""
        given = {name: value for name, value in row_parameters.items() if value is not None}
        if not get_config()["enable_metadata_routing"]:
            return given
        return dict(process_routing(self, "fit", **given).selector.fit)

    def _checked(self, X: Any) -> Any:
        """Remember number and names of the features; the selector checks the values."""
        if not hasattr(X, "columns"):
            X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
        validate_data(self, X, skip_check_array=True)
        n_samples = _num_samples(X)
        if n_samples < FEWEST_SAMPLES:
            raise ValueError(
                f"X has {n_samples} sample(s), but a minimum of {FEWEST_SAMPLES} is required, two a half."
            )
        return X

    def _fit(self, X: Any, y: Any, arguments: dict[str, Any]) -> None:
        experiment = Experiment(self.selector, X, y, arguments, _num_samples(X), self._entropy())
        store = self._store(experiment)
        with FitProgress(self, X) as progress:
            fits = run_missing(
                experiment,
                store,
                self.n_resamples,
                self.n_jobs,
                lambda done: progress.note(f"{done} of {self.n_resamples} half-samples"),
            )
        self._set_fitted(fits)
        if self.warm_start:
            self._fits = (experiment.entropy, store)

    def _entropy(self) -> int:
        """Return the seed of the draws: that of the run that is taken up, or a new one."""
        if self.random_state is None:
            stored = None if self.path is None else stored_entropy(Path(self.path))
            if stored is not None:
                return stored
            if self.warm_start and hasattr(self, "_fits"):
                return self._fits[0]
        return int(generator(self.random_state).integers(SEED_LIMIT))

    def _store(self, experiment: Experiment) -> FitStore:
        if self.path is not None:
            return open_store(Path(self.path), experiment)
        fingerprint = experiment.fingerprint() if self.warm_start else ""
        if self.warm_start and hasattr(self, "_fits") and self._fits[1].fingerprint == fingerprint:
            return self._fits[1]
        return FitStore(fingerprint)

    def _set_fitted(self, fits: list[HalfFit]) -> None:
        supports = np.array([fit.support for fit in fits])
        self.frequencies_ = supports.mean(axis=0)
        self.scores_ = self.frequencies_.copy()
        self.error_bound_ = self._bound(float(supports.sum(axis=1).mean()), supports.shape[1])
        self.threshold_ = self.error_bound_.threshold
        # Frequencies are counts over n_resamples, compared as such: 0.58 must reach 29 of 50.
        self.support_ = supports.sum(axis=0) >= np.ceil(self.threshold_ * len(fits) - 1e-9)
        order = np.lexsort((np.mean([fit.place for fit in fits], axis=0), -self.frequencies_))
        self.ranking_ = np.empty(order.size, dtype=np.intp)
        self.ranking_[order] = np.arange(1, order.size + 1)
        self.stability_ = selection_stability(supports)

    def _bound(self, n_selected: float, n_features: int) -> ErrorBound:
        n_pairs = self.n_resamples // 2
        if not isinstance(self.threshold, str):
            return error_bound(float(self.threshold), n_selected, n_features, n_pairs)
        most = self.max_false if isinstance(self.max_false, Integral) else self.max_false * n_selected
        bound = smallest_threshold(float(most), n_selected, n_features, n_pairs)
        if bound.unimodal > most:
            warn_user(
                f"No threshold keeps the falsely selected features to max_false ({most:.3g}): with "
                f"{n_selected:.4g} of {n_features} selected on {self.n_resamples} half-samples, up to "
                f"{bound.unimodal:.3g} are expected even at the threshold 1 that is used. Select fewer "
                "features, raise n_resamples or max_false, or give a threshold.",
                UnreachableBoundWarning,
            )
        return bound

    def _get_support_mask(self) -> NDArray:
        check_is_fitted(self, "support_")
        return self.support_

    def get_metadata_routing(self) -> MetadataRouter:
        """Say which metadata the selector's ``fit`` takes."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(selector=self.selector, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.selector)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.target_tags.required = inner.target_tags.required
        return tags


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
