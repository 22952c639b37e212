"""What every selector shares: validate, fit, rank, mask."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ufselect.blocks import is_out_of_core
from ufselect.blocks.dask import is_dask
from ufselect.common.checks import check_jobs
from ufselect.common.containers import tabular
from ufselect.common.seeds import check_seed
from ufselect.common.sparse_structure import canonical_csr
from ufselect.gram import GramOperator, gram_operator
from ufselect.selectors.choice import Choice, choose
from ufselect.selectors.duplicates import identical_columns
from ufselect.selectors.large import (
    check_columns,
    naming_the_store,
    open_if_stored,
    select_columns,
)
from ufselect.selectors.progress import CallbackSupportMixin, FitProgress, with_callbacks
from ufselect.selectors.rows import RowMetadata, refuse_row_metadata
from ufselect.selectors.wishes import Wanted, check_max_correlation, wanted_of

Columns = Sequence[str] | Sequence[int] | NDArray
Groups = Sequence[Any] | Mapping[Any, Columns] | NDArray

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
    choice : Choice or None
        Ranking and selection by the scores, where the method has worked them out already.
    """

    scores: NDArray
    attributes: Mapping[str, Any] = field(default_factory=dict)
    n_leading: int | None = None
    choice: Choice | None = None


class UnsupervisedSelector(CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """Base class of all selectors.

    A subclass stores its parameters in ``__init__`` and implements ``_fit(X, wanted, progress)``, which
    returns a :class:`Fitted` record. The attributes are set only after ``_fit`` has returned, so that an
    interrupted fit leaves no half-fitted estimator.

    ``keep``, ``exclude``, ``groups`` and ``max_correlation`` work for every subclass whose ``__init__`` takes
    them: X comes without the excluded columns, and the ranking by the scores puts kept columns first, takes
    groups by their mean score and lets near copies wait. A method that can do better finds in ``wanted``
    what is asked for, and says so in ``honours``.

    Attributes
    ----------
    accepts_sparse : bool
        Whether ``_fit`` takes SciPy sparse data; it then receives CSR.
    accepts_missing : bool
        Whether NaN in the data marks a missing value; else it is refused.
    is_stochastic : bool
        Whether the result depends on ``random_state``.
    chooses_count : bool
        Whether ``n_features_to_select`` may be ``"auto"``.
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
    honours : frozenset of {"keep", "groups"}
        Wishes that enter the method's criterion; the others only enter its ranking.
    feature_axes : mapping of str to int
        Fitted attributes, beyond the common ones, with one entry per feature along an axis.
    """

    accepts_sparse: ClassVar[bool] = False
    accepts_missing: ClassVar[bool] = False
    is_stochastic: ClassVar[bool] = False
    chooses_count: ClassVar[bool] = False
    label: ClassVar[str]
    cost: ClassVar[str]
    requires: ClassVar[tuple[str, ...]] = ()
    order: ClassVar[int] = 1000  # after the library's own
    is_nested: ClassVar[bool] = False
    on_request: ClassVar[bool] = False
    is_baseline: ClassVar[bool] = False
    paper_grid: ClassVar[Mapping[str, tuple]] = {}
    honours: ClassVar[frozenset[str]] = frozenset()
    feature_axes: ClassVar[Mapping[str, int]] = {"components_": 1}

    n_features_to_select: int | float
    keep: Columns | None = None
    exclude: Columns | None = None
    groups: Groups | None = None
    max_correlation: float | None = None

    scores_: NDArray
    ranking_: NDArray
    support_: NDArray
    n_features_in_: int
    feature_names_in_: NDArray
    duplicates_: list[NDArray]

    @abstractmethod
    def _fit(self, X: Any, wanted: Wanted, progress: FitProgress) -> Fitted:
        """Score the features of validated data."""

    def _check_parameters(self) -> None:
        """Refuse bad parameters; called once, before the data are read."""

    def _wanted(self, n_features: int) -> Wanted:
        """Return what is asked for of so many columns."""
        return wanted_of(self, n_features)

    @with_callbacks
    def fit(self, X: Any, y: Any = None, **row_metadata: Any) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data, without missing values.
        y : ignored
            Present for scikit-learn's pipelines.
        **row_metadata
            ``sample_weight`` and ``batch`` are refused: this method has no meaning for them.

        Returns
        -------
        self
        """
        refuse_row_metadata(self, row_metadata)
        return self._fit_with(X, RowMetadata())

    def _fit_with(self, X: Any, rows: RowMetadata) -> Self:
        with unchanged_on_error(self), naming_the_store(X):
            self._check()
            self._fit_to(open_if_stored(X), rows)
        return self

    def _check(self) -> None:
        check_max_correlation(self.max_correlation)
        check_seed("random_state", getattr(self, "random_state", None))
        check_jobs("n_jobs", getattr(self, "n_jobs", None))
        self._check_parameters()

    def _fit_to(self, X: Any, rows: RowMetadata) -> None:
        """Bring data into memory and fit to them."""
        X = validated(self, self._in_memory(X))
        wanted = self._wanted(X.shape[1])
        allowed = wanted.restrict(X)
        with FitProgress(self, X) as progress:
            fitted = self._fit_rows(allowed, rows, wanted, progress)
        choice = choice_of(fitted, wanted, lambda: gram_operator(allowed))
        self._set_fitted(fitted, choice, wanted)
        if self.max_correlation is not None:
            self.duplicates_ = identical_columns(X)

    def _fit_rows(self, X: Any, rows: RowMetadata, wanted: Wanted, progress: FitProgress) -> Fitted:
        """Score the features of validated data, for methods that know of weights or batches."""
        return self._fit(X, wanted, progress)

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
            return super().transform(tabular(X))
        check_is_fitted(self, "support_")
        check_columns(self, X, reset=False)
        return select_columns(X, self.support_)

    def inverse_transform(self, X: Any) -> Any:
        """Return the selected columns at their places, and zeros in all others.

        To rebuild the other columns from the selected ones, see :class:`~ufselect.Reconstructor`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_selected)
            Values of the selected columns.

        Returns
        -------
        X_original : of shape (n_samples, n_features)
        """
        return super().inverse_transform(X)

    def _set_fitted(self, fitted: Fitted, choice: Choice, wanted: Wanted) -> None:
        """Set the attributes."""
        for stale in {"_accumulator", "reduction_", "duplicates_", "missing_"} & vars(self).keys():
            delattr(self, stale)
        for name, value in fitted.attributes.items():
            setattr(self, name, value)
        self.scores_, self.ranking_, self.support_ = fitted.scores, choice.ranking, choice.support
        self._spread(wanted)

    def _spread(self, wanted: Wanted) -> None:
        """Extend what is fitted to all columns of X: excluded ones get the least score and no weight."""
        for name, axis in {"support_": 0, **self.feature_axes}.items():
            if name in vars(self):
                setattr(self, name, wanted.spread(getattr(self, name), axis))
        self.scores_ = wanted.spread(self.scores_, filler=self.scores_.min())
        self.ranking_ = wanted.spread_ranks(self.ranking_)

    def _get_support_mask(self) -> NDArray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.accepts_sparse
        tags.input_tags.allow_nan = self.accepts_missing
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.non_deterministic = False
        return tags


def validated(selector: UnsupervisedSelector, X: Any) -> Any:
    """Return data in memory as the selector takes them, and let it remember number and names of features.

    Sparse data come with sorted indices and without duplicates, whose sum is what is checked to be finite.
    """
    X = tabular(X)
    if sparse.issparse(X) and selector.accepts_sparse:
        X = canonical_csr(X)
    return as_numbers(
        selector,
        X,
        accept_sparse="csr" if selector.accepts_sparse else False,
        ensure_all_finite="allow-nan" if selector.accepts_missing else True,
        ensure_min_samples=2,
    )


def as_numbers(selector: Any, X: Any, **options: Any) -> Any:
    """Return data in single or double precision, as scikit-learn's ``validate_data`` does with its options.

    Raises
    ------
    TypeError, ValueError
        If they are no table of numbers.
    """
    try:
        # scikit-learn sums all entries to find one that is not finite
        with np.errstate(over="ignore", invalid="ignore"):
            return validate_data(selector, X, dtype=[np.float64, np.float32], **options)
    except ValueError as error:
        if not str(error).startswith("setting an array element"):
            raise
        raise ValueError("X has rows of different lengths; give each as many values.") from error


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


def choice_of(fitted: Fitted, wanted: Wanted, gram: Callable[[], GramOperator]) -> Choice:
    """Return the ranking and selection by the scores, as the method made it or as every method's is made."""
    return choose(fitted.scores, wanted, gram) if fitted.choice is None else fitted.choice


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
