"""What every selector shares: validate, fit, rank, mask."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ufselect.selectors.progress import CallbackSupportMixin, FitProgress, with_callbacks

PAPER_REGULARISERS = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6)


@dataclass(frozen=True)
class Fitted:
    """What a method's ``_fit`` returns: one score a feature, higher is better, and further attributes."""

    scores: NDArray
    attributes: Mapping[str, Any] = field(default_factory=dict)


class UnsupervisedSelector(CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """Base class of all selectors.

    A subclass stores its parameters in ``__init__`` and implements ``_fit(X, n_selected, progress)``, which
    returns a :class:`Fitted` record. The attributes are set only after ``_fit`` has returned, so that an
    interrupted fit leaves no half-fitted estimator.

    Class attributes
    ----------------
    accepts_sparse : bool
        Whether ``_fit`` takes SciPy sparse data; it then receives CSR.
    is_stochastic : bool
        Whether the result depends on ``random_state``.
    label : str
        The method's name in tables and figures.
    cost : str
        Leading cost of a fit in n (samples), d (features), m (components) and k (neighbours).
    requires : tuple of str
        Optional packages, by import name, without which ``fit`` cannot run.
    paper_grid : mapping of str to tuple
        Parameters and values over which published comparisons tune the method.
    """

    accepts_sparse: ClassVar[bool] = False
    is_stochastic: ClassVar[bool] = False
    label: ClassVar[str]
    cost: ClassVar[str]
    requires: ClassVar[tuple[str, ...]] = ()
    paper_grid: ClassVar[Mapping[str, tuple]] = {}

    n_features_to_select: int | float

    @abstractmethod
    def _fit(self, X: Any, n_selected: int, progress: FitProgress) -> Fitted:
        """Score the features of validated data."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> UnsupervisedSelector:
        """Choose the features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data, without missing values.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        self
        """
        X = validate_data(
            self,
            X,
            accept_sparse="csr" if self.accepts_sparse else False,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
        )
        n_selected = resolve_feature_count(self.n_features_to_select, X.shape[1])
        with FitProgress(self, X) as progress:
            fitted = self._fit(X, n_selected, progress)
        self._set_fitted(fitted, n_selected)
        return self

    def _set_fitted(self, fitted: Fitted, n_selected: int) -> None:
        for name, value in fitted.attributes.items():
            setattr(self, name, value)
        self.scores_ = fitted.scores
        self.ranking_ = ranks_from_scores(fitted.scores)
        self.support_ = self.ranking_ <= n_selected

    def _get_support_mask(self) -> NDArray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.accepts_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.non_deterministic = False
        return tags


def ranks_from_scores(scores: NDArray) -> NDArray:
    """Return distinct ranks, 1 for the highest score; among equal scores the lower index comes first."""
    ranking = np.empty(scores.size, dtype=np.intp)
    ranking[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
    return ranking


def resolve_feature_count(requested: int | float, n_features: int) -> int:
    """Turn ``n_features_to_select`` into a number of features.

    Raises
    ------
    TypeError, ValueError
        If it is neither a count from 1 to n_features nor a share in (0, 1].
    """
    if isinstance(requested, bool) or not isinstance(requested, Real):
        raise TypeError(
            f"n_features_to_select must be an integer or a share in (0, 1], not {type(requested).__name__}."
        )
    if isinstance(requested, Integral):
        if not 1 <= requested <= n_features:
            raise ValueError(
                f"n_features_to_select={requested} must be between 1 and the {n_features} features of X."
            )
        return int(requested)
    if not 0 < requested <= 1:
        raise ValueError(f"n_features_to_select={requested} must be an integer count or a share in (0, 1].")
    return max(1, round(float(requested) * n_features))


def resolve_auto(name: str, value: int | str, automatic: Callable[[], int]) -> int:
    """Turn a parameter that is an integer ≥ 1 or ``"auto"`` into an integer.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if isinstance(value, str) and value == "auto":
        return automatic()
    if isinstance(value, Integral) and not isinstance(value, bool) and value >= 1:
        return int(value)
    raise ValueError(f'{name} must be an integer of at least 1 or "auto", not {value!r}.')
