"""What every selector shares: validate, fit, rank, mask."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ufselect.blocks import ReducedData, ReductionSummary, is_out_of_core, reduce_data
from ufselect.blocks.dask import is_dask
from ufselect.common.sparse_structure import check_sparse
from ufselect.gram import GramOperator, gram_operator
from ufselect.selectors.large import (
    accumulate,
    check_columns,
    open_if_stored,
    select_columns,
    summarise_reduction,
)
from ufselect.selectors.progress import CallbackSupportMixin, FitProgress, with_callbacks

# The grid over which published comparisons tune a regulariser.
PAPER_REGULARISERS = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6)


@dataclass(frozen=True)
class Fitted:
    """What a method's ``_fit`` returns.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        One score per feature, higher is better.
    attributes : mapping
        Further attributes of the fitted selector.
    n_leading : int or None
        Leading components of S on which the scores rest, where that is not ``n_components_`` among the
        attributes; without either they rest on the diagonal alone.
    ranking : ndarray of shape (n_features,) or None
        Ranks by the scores, where the method has worked them out already.
    """

    scores: NDArray
    attributes: Mapping[str, Any] = field(default_factory=dict)
    n_leading: int | None = None
    ranking: NDArray | None = None


class UnsupervisedSelector(CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """Base class of all selectors.

    A subclass stores its parameters in ``__init__`` and implements ``_fit(X, n_selected, progress)``, which
    returns a :class:`Fitted` record. The attributes are set only after ``_fit`` has returned, so that an
    interrupted fit leaves no half-fitted estimator.

    Attributes
    ----------
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
    order : int
        Place in tables of a comparison; higher comes later.
    is_nested : bool
        Whether one ranking serves every number of features; else a comparison fits anew for each.
    on_request : bool
        Whether comparisons leave it out unless it is named.
    is_baseline : bool
        Whether every comparison carries it.
    paper_grid : mapping of str to tuple
        Parameters and values over which published comparisons tune the method.
    """

    accepts_sparse: ClassVar[bool] = False
    is_stochastic: ClassVar[bool] = False
    label: ClassVar[str]
    cost: ClassVar[str]
    requires: ClassVar[tuple[str, ...]] = ()
    order: ClassVar[int] = 1000  # after the library's own
    is_nested: ClassVar[bool] = False
    on_request: ClassVar[bool] = False
    is_baseline: ClassVar[bool] = False
    paper_grid: ClassVar[Mapping[str, tuple]] = {}

    n_features_to_select: int | float
    scores_: NDArray
    ranking_: NDArray
    support_: NDArray
    n_features_in_: int
    feature_names_in_: NDArray

    @abstractmethod
    def _fit(self, X: Any, n_selected: int, progress: FitProgress) -> Fitted:
        """Score the features of validated data."""

    def _check_parameters(self) -> None:
        """Refuse bad parameters; called once, before the data are read."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data, without missing values. Selectors that work through the Gram matrix also take a dask
            array or data frame, a memory-mapped array, the path of a parquet directory, zarr or HDF5 store,
            a :class:`~ufselect.blocks.GramAccumulator`, or a Gram operator.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            self._fit_to(open_if_stored(X))
        return self

    def _fit_to(self, X: Any) -> None:
        """Bring data into memory and fit to them."""
        X = validated(self, self._in_memory(X))
        n_selected = resolve_feature_count(self.n_features_to_select, X.shape[1])
        with FitProgress(self, X) as progress:
            fitted = self._fit(X, n_selected, progress)
        self._set_fitted(fitted, n_selected)

    def _in_memory(self, X: Any) -> Any:
        """Return X if it is in memory or can be mapped into it.

        Raises
        ------
        TypeError
            If it is elsewhere.
        """
        if is_out_of_core(X) and not isinstance(X, np.memmap):
            raise TypeError(
                f"{type(self).__name__} needs the data in memory: pass X.compute() or a sample of its rows, "
                "or use a selector that works through the Gram matrix, such as DSCOFS."
            )
        return X

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

    def _set_fitted(self, fitted: Fitted, n_selected: int) -> None:
        for stale in {"_accumulator", "reduction_"} & vars(self).keys():
            delattr(self, stale)
        for name, value in fitted.attributes.items():
            setattr(self, name, value)
        self.scores_ = fitted.scores
        self.ranking_ = ranks_from_scores(fitted.scores) if fitted.ranking is None else fitted.ranking
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


class GramSelector(UnsupervisedSelector):
    """Base class of the selectors that use nothing of the data but their Gram matrix.

    A subclass implements ``_fit_gram(gram, n_selected, progress)``. Dense and sparse data, dask collections,
    memory maps, stores, batches and accumulators reach it as one
    :class:`~ufselect.gram.GramOperator`.

    Attributes
    ----------
    copies_wide_data : bool
        Whether wide dense data are centred once in a copy; else they are in every product, which takes less
        memory and pays where products are few.
    """

    accepts_sparse = True
    copies_wide_data: ClassVar[bool] = True

    reduction_: ReductionSummary

    @abstractmethod
    def _fit_gram(self, gram: GramOperator, n_selected: int, progress: FitProgress) -> Fitted:
        """Score the features of data known through their Gram operator."""

    def _fit(self, X: Any, n_selected: int, progress: FitProgress) -> Fitted:
        return self._fit_gram(gram_operator(X, copy=self.copies_wide_data), n_selected, progress)

    def _fit_to(self, X: Any) -> None:
        if not is_out_of_core(X):
            super()._fit_to(X)
            return
        source = gram_source(self, X)
        n_selected = resolve_feature_count(self.n_features_to_select, source.n_features)
        self._fit_reduced(source.read(), n_selected)

    def _fit_reduced(self, reduced: ReducedData, n_selected: int) -> None:
        with FitProgress(self, reduced) as progress:
            fitted = self._fit_gram(reduced.gram, n_selected, progress)
        n_leading = fitted.n_leading or fitted.attributes.get("n_components_")
        summary = summarise_reduction(reduced, n_leading)
        self._set_fitted(fitted, n_selected)
        self.reduction_ = summary

    def partial_fit(self, X: Any, y: Any = None) -> Self:
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
            self._check_parameters()
            check_sparse(X, "The batch")
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
            self._fit_reduced(reduce_data(accumulator), n_selected)
            self._accumulator = accumulator
        return self


@dataclass(frozen=True)
class GramSource:
    """Data whose features have been counted and whose rows are yet to be read."""

    n_features: int
    read: Callable[[], ReducedData]


def gram_source(selector: GramSelector, X: Any) -> GramSource:
    """Look at data, wherever they are, and return how to get their Gram operator."""
    X = open_if_stored(X)
    if is_out_of_core(X):
        n_features = check_columns(selector, X, reset=True)
        return GramSource(n_features, lambda: reduce_data(X, _components_asked(selector)))
    data = validated(selector, X)
    gram = partial(gram_operator, data, copy=selector.copies_wide_data)
    return GramSource(data.shape[1], lambda: ReducedData(gram(), 1, "given"))


def _components_asked(selector: GramSelector) -> int | None:
    """Return the number of leading components that will be needed, where it is a given number."""
    asked = getattr(selector, "n_components", None)
    return int(asked) if isinstance(asked, Integral) else None


def validated(selector: UnsupervisedSelector, X: Any) -> Any:
    """Return data in memory as the selector takes them, and let it remember number and names of features."""
    check_sparse(X, "X")
    return validate_data(
        selector,
        X,
        accept_sparse="csr" if selector.accepts_sparse else False,
        dtype=[np.float64, np.float32],
        ensure_min_samples=2,
    )


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
