"""What every selector shares: validate, fit, rank, mask."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ufselect.blocks import reduce_data
from ufselect.blocks.dask import is_dask
from ufselect.selectors.large import (
    accumulate,
    check_columns,
    goes_out_of_core,
    open_if_stored,
    reduce_for,
    select_columns,
    summarise_reduction,
)
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
    reduces_to : {"gram", "rows"} or None
        What data that are not in memory are reduced to before ``_fit``: "gram" if it uses nothing but
        ``gram_operator(X)`` and ``X.shape``, "rows" if a sample of the rows will do, None if neither.
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
    reduces_to: ClassVar[str | None] = None
    is_stochastic: ClassVar[bool] = False
    label: ClassVar[str]
    cost: ClassVar[str]
    requires: ClassVar[tuple[str, ...]] = ()
    paper_grid: ClassVar[Mapping[str, tuple]] = {}

    n_features_to_select: int | float

    @abstractmethod
    def _fit(self, X: Any, n_selected: int, progress: FitProgress) -> Fitted:
        """Score the features of validated data."""

    def _check_parameters(self) -> None:
        """Refuse bad parameters before data that are not in memory are read."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> UnsupervisedSelector:
        """Choose the features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data, without missing values. Selectors that work through the Gram matrix also take a dask
            array or data frame, a memory-mapped array, the path of a parquet directory, zarr or HDF5 store,
            or a :class:`~ufselect.blocks.GramAccumulator`.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            X, n_selected = self._prepare(open_if_stored(X))
            with FitProgress(self, X) as progress:
                fitted = self._fit(X, n_selected, progress)
            self._set_fitted(fitted, n_selected, X)
        return self

    def _prepare(self, X: Any) -> tuple[Any, int]:
        """Return validated data, or what data outside memory are reduced to, and the number to select."""
        if goes_out_of_core(self, X):
            n_features = check_columns(self, X, reset=True)
            n_selected = resolve_feature_count(self.n_features_to_select, n_features)
            self._check_parameters()
            return reduce_for(self, X), n_selected
        X = validate_data(
            self,
            X,
            accept_sparse="csr" if self.accepts_sparse else False,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
        )
        return X, resolve_feature_count(self.n_features_to_select, X.shape[1])

    @available_if(lambda selector: selector.reduces_to == "gram")
    def partial_fit(self, X: Any, y: Any = None) -> UnsupervisedSelector:
        """Take in a batch of rows and choose the features anew from all batches so far.

        Memory does not grow with the number of batches. Each call solves the problem again; to take in
        many batches before solving once, fill a :class:`~ufselect.blocks.GramAccumulator` and pass that to
        ``fit``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The batch; the first one needs two rows.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        self
        """
        earlier = getattr(self, "_accumulator", None)
        with unchanged_on_error(self):
            batch = validate_data(
                self,
                X,
                reset=earlier is None,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_min_samples=2 if earlier is None else 1,
            )
            n_selected = resolve_feature_count(self.n_features_to_select, batch.shape[1])
            accumulator = accumulate(earlier, batch)
            reduced = reduce_data(accumulator)
            with FitProgress(self, reduced) as progress:
                fitted = self._fit(reduced, n_selected, progress)
            self._set_fitted(fitted, n_selected, reduced)
            self._accumulator = accumulator
        return self

    def transform(self, X: Any) -> Any:
        """Return the selected columns; those of a dask collection stay lazy.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or dask collection of shape (n_samples, n_features)
            The data.

        Returns
        -------
        X_selected : of the kind of X, of shape (n_samples, n_selected)
        """
        X = open_if_stored(X)
        if not is_dask(X):
            return super().transform(X)
        check_is_fitted(self, "support_")
        check_columns(self, X, reset=False)
        return select_columns(X, self.support_)

    def _set_fitted(self, fitted: Fitted, n_selected: int, X: Any) -> None:
        summary = summarise_reduction(X, fitted.attributes)
        for stale in {"_accumulator", "reduction_"} & vars(self).keys():
            delattr(self, stale)
        if summary is not None:
            self.reduction_ = summary
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


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was when a fit fails or is interrupted."""
    state: dict[str, Any] = vars(estimator)
    before = dict(state)
    try:
        yield
    except BaseException:
        state.clear()
        state.update(before)
        raise


def ranks_from_scores(scores: NDArray) -> NDArray:
    """Return distinct ranks, 1 for the highest score; among equal scores the lower index comes first."""
    order = np.argsort(-scores)
    ordered = scores[order]
    if np.any(ordered[1:] == ordered[:-1]):  # a stable sort takes ten times as long, so only for ties
        order = np.argsort(-scores, kind="stable")
    ranking = np.empty(scores.size, dtype=np.intp)
    ranking[order] = np.arange(1, scores.size + 1)
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
