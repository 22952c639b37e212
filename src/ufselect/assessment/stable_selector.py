"""StableSelector: features that a selector selects repeatedly on halves of the data."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import (
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    check_memory,
    validate_data,
)

from ufselect._utils.validation import (
    check_frame,
    check_positive_int,
    generator,
    is_dask,
    tabular,
    warn_user,
    without_warnings,
)
from ufselect.assessment.splits import SEED_LIMIT
from ufselect.assessment.stability import selection_stability
from ufselect.base import AT_LEAST_ONE, FitProgress, HasMethods, Interval, unchanged_on_error
from ufselect.exceptions import UnreachableBoundWarning
from ufselect.gram.rows import order_of_rows


@dataclass(eq=False, repr=False)
class StableSelector(MetaEstimatorMixin, SelectorMixin, BaseEstimator):
    r"""Select the features that a selector selects on most halves of the data.

    Stability selection with complementary pairs [1]_, [2]_: the rows are repeatedly split at random into two
    halves, and a clone of the selector is fitted to each half with its own seed. The frequency of a feature
    is the share of these fits that select it; a feature is selected if its frequency reaches a threshold τ.

    Use it to separate the features that the data support from those that this sample happened to favour. It
    can miss redundant features: each half may select a different one of them, so that none is frequent.

    Parameters
    ----------
    estimator : selector
        Any scikit-learn selector, with ``fit`` and ``get_support``.
    n_resamples : int, default=50
        Number of half-samples, an even number: two per pair.
    threshold : float or "auto", default="auto"
        Frequency from which a feature is selected, in (0, 1]; ``"auto"`` finds it by the bound in Notes.
    max_false : int or float, default=0.1
        Maximum expected number of falsely selected features, or their share in (0, 1) of the number q that a
        half-sample selects on average. Only for ``threshold="auto"``.
    memory : str, Path, joblib.Memory or None, default=None
        Where to store the fits: an interrupted run continues where it stopped, and a larger ``n_resamples``
        reuses earlier fits. Needs a ``random_state``.
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
        Mask of the features whose frequency reaches ``threshold_``; a warning says if there are none.
    threshold_ : float
        The τ used.
    error_bound_ : ErrorBound
        ``threshold``, ``n_selected`` (q), and two bounds on the expected number of falsely selected features,
        ``worst_case`` and ``unimodal``.
    stability_ : float
        Agreement of the selections: 1 if all are the same, about 0 if they are random [3]_.

    See Also
    --------
    assess : Measure the stability of a selector without changing its selection.
    ufselect.metrics.selection_stability : Compute the stability of given selections.

    Notes
    -----
    :class:`~ufselect.assessment.stable_selector.ErrorBound` has the bounds. ``threshold="auto"`` uses the
    smallest τ for which the bound ``unimodal`` is at most ``max_false``.

    The cost is that of ``n_resamples`` fits to half of the rows.

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

    _parameter_constraints: ClassVar = {
        "estimator": [HasMethods("fit")],
        "n_jobs": [AT_LEAST_ONE, Interval(Integral, None, -1, closed="right"), None],
    }

    estimator: Any
    n_resamples: int = 50
    threshold: float | str = "auto"
    _: KW_ONLY
    max_false: int | float = 0.1
    memory: Any = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False

    def fit(self, X: Any, y: Any = None, **row_parameters: Any) -> Self:
        """Fit the selector to every half-sample and select the frequent features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data, in any form that the selector accepts.
        y : array-like of shape (n_samples,), optional
            Target, for a selector that needs one.
        **row_parameters
            Further arguments of the selector's ``fit`` with one entry per row, such as ``sample_weight``.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            if is_dask(X) and hasattr(X, "columns"):
                check_frame(X)
            X = X.compute() if is_dask(X) else X
            X = tabular(X)
            if not hasattr(X, "columns"):
                X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
            validate_data(self, X, skip_check_array=True)  # the selector checks the values
            if _num_samples(X) < 4:
                raise ValueError(
                    f"X has {_num_samples(X)} sample(s), but a minimum of 4 is required, two per half."
                )
            y = y if y is None or hasattr(y, "iloc") else np.asarray(y)
            self._set_fitted(self._half_fits(X, y, self._row_arguments(X, row_parameters)))
        return self

    def _check_parameters(self) -> None:
        self._validate_params()
        check_positive_int("n_resamples", self.n_resamples)
        if self.n_resamples % 2:
            raise ValueError(f"n_resamples={self.n_resamples} must be even: each split gives two halves.")
        is_auto = isinstance(self.threshold, str) and self.threshold == "auto"
        if not is_auto and not (_is_number(self.threshold) and 0 < float(self.threshold) <= 1):
            raise ValueError(f'threshold must be a number in (0, 1] or "auto", not {self.threshold!r}.')
        if not _is_number(self.max_false) or not self.max_false > 0:
            raise ValueError(f"max_false must be a number above 0, not {self.max_false!r}.")
        if not isinstance(self.max_false, Integral) and self.max_false >= 1:
            raise ValueError(
                f"max_false={self.max_false!r} must be an integer number of features or a share in (0, 1)."
            )

    def _row_arguments(self, X: Any, row_parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments for the selector: those it requests, or all if metadata routing is off."""
        given = {name: value for name, value in row_parameters.items() if value is not None}
        if get_config()["enable_metadata_routing"]:
            given = dict(process_routing(self, "fit", **given).estimator.fit)
        for name, value in given.items():
            given[name] = value if hasattr(value, "iloc") else np.asarray(value)
            if np.ndim(given[name]) != 1:
                raise ValueError(f"{name} must have one entry per row, not the shape {np.shape(value)}.")
            check_consistent_length(X, given[name])
        return given

    def _half_fits(self, X: Any, y: Any, arguments: dict[str, Any]) -> list[tuple[NDArray, NDArray]]:
        memory = check_memory(str(self.memory) if isinstance(self.memory, Path) else self.memory)
        content = "" if memory.location is None else joblib.hash([X, y, arguments])
        # The data are identified by one digest, so that they are not digested again for each half.
        fit_half = memory.cache(_half_fit, ignore=["X", "y", "arguments", "order"])
        entropy = int(generator(self.random_state).integers(SEED_LIMIT))
        values = X if sparse.issparse(X) else np.asarray(X)
        is_numeric = values.dtype.kind in "biuf"  # else the selector makes numbers of them
        order = order_of_rows(values) if is_numeric else np.arange(len(values))
        jobs = (
            delayed(fit_half)(self.estimator, X, y, arguments, order, content, entropy, index)
            for index in range(self.n_resamples)
        )
        fits = []
        with FitProgress(self, X) as progress:
            for fit in Parallel(n_jobs=self.n_jobs, return_as="generator")(jobs):
                fits.append(fit)
                progress.note(f"{len(fits)} of {self.n_resamples} half-samples")
        return fits

    def _set_fitted(self, fits: list[tuple[NDArray, NDArray]]) -> None:
        supports = np.array([support for support, _ in fits])
        self.frequencies_ = supports.mean(axis=0)
        self.scores_ = self.frequencies_.copy()
        self.error_bound_ = self._bound(float(supports.sum(axis=1).mean()), supports.shape[1])
        self.threshold_ = self.error_bound_.threshold
        # Frequencies are counts over n_resamples, compared as such: 0.58 must reach 29 of 50.
        self.support_ = supports.sum(axis=0) >= np.ceil(self.threshold_ * len(fits) - 1e-9)
        if not self.support_.any():
            warn_user(
                f"No column is selected: the largest frequency is {self.frequencies_.max():.2f}, below the "
                f"threshold {self.threshold_:.2f}. Give a lower threshold, or a larger max_false.",
                UserWarning,
            )
        order = np.lexsort((np.mean([place for _, place in fits], axis=0), -self.frequencies_))
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
                f"No threshold limits the falsely selected features to max_false ({most:.3g}): with "
                f"{n_selected:.4g} of {n_features} selected on {self.n_resamples} half-samples, up to "
                f"{bound.unimodal:.3g} are expected even at the threshold 1, which is used. Select fewer "
                "features, raise n_resamples or max_false, or give a threshold.",
                UnreachableBoundWarning,
            )
        return bound

    def _get_support_mask(self) -> NDArray:
        check_is_fitted(self, "support_")
        return self.support_

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata are routed to the selector's ``fit``."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.target_tags.required = inner.target_tags.required
        return tags


def _half_fit(
    selector: Any,
    X: Any,
    y: Any,
    arguments: dict[str, Any],
    order: NDArray,
    content: str,
    entropy: int,
    index: int,
) -> tuple[NDArray, NDArray]:
    """Return what one half of the rows selects, and the place of each feature from 0 for the best to 1.

    Without a ranking, all features are at 0.5. Halves are drawn from the rows in ``order``; ``content`` is a
    digest of the data, for the stored fits.
    """
    rows = np.sort(order[half_of_rows(order.size, index, entropy)])
    drawn = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(1, index)))
    fitted = with_seed(clone(selector), int(drawn.integers(SEED_LIMIT)))
    target = () if y is None else (_safe_indexing(y, rows),)
    row_arguments = {name: _safe_indexing(values, rows) for name, values in arguments.items()}
    with nullcontext() if index == 0 else without_warnings(Warning):  # they would say the same
        fitted.fit(_safe_indexing(X, rows), *target, **row_arguments)
    support = np.asarray(fitted.get_support())
    ranking = getattr(fitted, "ranking_", None)
    if ranking is None or np.shape(ranking) != support.shape:
        return support, np.full(support.size, 0.5)
    return support, (np.asarray(ranking) - 1) / max(support.size - 1, 1)


def half_of_rows(n_rows: int, index: int, entropy: int) -> NDArray:
    """Return the rows of a half-sample; 2k and 2k + 1 are the halves of pair k (an odd row is dropped)."""
    drawn = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(0, index // 2)))
    shuffled, half = drawn.permutation(n_rows), n_rows // 2
    return np.sort(shuffled[:half] if index % 2 == 0 else shuffled[half : 2 * half])


def with_seed(selector: Any, seed: int) -> Any:
    """Set every ``random_state`` of a selector and of what it contains."""
    names = [name for name in selector.get_params() if name.split("__")[-1] == "random_state"]
    return selector.set_params(**dict.fromkeys(names, seed))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


@dataclass(frozen=True)
class ErrorBound:
    r"""Bounds on the number of falsely selected features for a threshold.

    A feature has *low selection probability* if a half-sample selects it with a probability of at most
    :math:`\theta = q / p`, with q features selected of p on average: no more often than a random draw would.
    For the features selected in a share τ > ½ of the 2B half-samples of B complementary pairs, the expected
    number of those of low selection probability is at most :math:`q^2 / ((2\tau - 1)\,p)` whatever the method
    and the data, and, if the distribution of a frequency over the draws of rows is unimodal and
    :math:`\theta \le 1/\sqrt 3`, at most :math:`C(\tau, B)\, q^2 / p` with

    .. math::

        C(\tau, B) = \begin{cases}
            \frac{1}{2\,(2\tau - 1 - 1/(2B))}, &
                \tfrac12 + \min\{\theta^2,\, \tfrac{1}{2B} + \tfrac34 \theta^2\} < \tau \le \tfrac34, \\
            \frac{4\,(1 - \tau + 1/(2B))}{1 + 1/B}, & \tfrac34 < \tau \le 1.
        \end{cases}

    Attributes
    ----------
    threshold : float
        Share τ of the half-samples.
    n_selected : float
        Features q that a half-sample selects, on average.
    worst_case : float
        Most features of low selection probability to expect among those above the threshold, whatever the
        data.
    unimodal : float
        The same if frequencies have unimodal distributions; never above ``worst_case``.

    See Also
    --------
    ufselect.StableSelector : Select features by their frequency over half-samples.
    """

    threshold: float
    n_selected: float
    worst_case: float
    unimodal: float


def error_bound(threshold: float, n_selected: float, n_features: int, n_pairs: int) -> ErrorBound:
    """Return the bounds for a threshold above ½; both are infinite at ½ and below."""
    if threshold <= 0.5:
        return ErrorBound(threshold, n_selected, np.inf, np.inf)
    by_chance, theta, half_step = n_selected**2 / n_features, n_selected / n_features, 1 / (2 * n_pairs)
    worst_case = by_chance / (2 * threshold - 1)
    excess = 2 * threshold - 1 - half_step
    constant = np.inf  # C(τ, B), if the theorem does not hold
    if theta <= 1 / np.sqrt(3) and threshold > 0.75:
        constant = 4 * (1 - threshold + half_step) / (1 + 1 / n_pairs)
    elif theta <= 1 / np.sqrt(3) and excess > 0:
        lowest = 0.5 + min(theta**2, half_step + 0.75 * theta**2)
        constant = 1 / (2 * excess) if threshold > lowest else np.inf
    return ErrorBound(threshold, n_selected, worst_case, min(worst_case, by_chance * constant))


def smallest_threshold(max_false: float, n_selected: float, n_features: int, n_pairs: int) -> ErrorBound:
    """Return the bound of the smallest frequency above ½ that meets ``max_false``, or else that of 1."""
    for count in range(n_pairs + 1, 2 * n_pairs + 1):
        bound = error_bound(count / (2 * n_pairs), n_selected, n_features, n_pairs)
        if bound.unimodal <= max_false:
            break
    return bound
