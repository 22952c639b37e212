"""Selectors that use nothing of the data but their Gram matrix: one door for all kinds of data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

from ufselect.blocks import ReducedData, ReductionSummary, is_out_of_core, reduce_data
from ufselect.common.containers import tabular
from ufselect.gram import GramOperator, MissingSummary, RestrictedGram, gram_operator
from ufselect.selectors.base import (
    Fitted,
    UnsupervisedSelector,
    as_numbers,
    choice_of,
    unchanged_on_error,
    validated,
)
from ufselect.selectors.large import (
    accumulate,
    check_columns,
    open_if_stored,
    summarise_reduction,
)
from ufselect.selectors.progress import FitProgress, with_callbacks
from ufselect.selectors.rows import RowMetadata, missing_summary
from ufselect.selectors.wishes import Wanted


class GramSelector(UnsupervisedSelector):
    """Base class of the selectors that use nothing of the data but their Gram matrix.

    A subclass implements ``_fit_gram(gram, wanted, progress)``. Dense and sparse data, dask collections,
    memory maps, stores, batches and accumulators reach it as one
    :class:`~ufselect.gram.GramOperator`.

    Attributes
    ----------
    copies_wide_data : bool
        Whether wide dense data are centred once in a copy; else they are in every product, which takes less
        memory and pays where products are few.
    """

    accepts_sparse = True
    accepts_missing = True
    copies_wide_data: ClassVar[bool] = True

    reduction_: ReductionSummary
    missing_: MissingSummary

    @abstractmethod
    def _fit_gram(self, gram: GramOperator, wanted: Wanted, progress: FitProgress) -> Fitted:
        """Score the features of data known through their Gram operator."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, batch: Any = None) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data; NaN marks a missing value. Also a dask array or data frame, a memory-mapped array, the
            path of a parquet directory, zarr or HDF5 store, a :class:`~ufselect.blocks.GramAccumulator`, or a
            Gram operator.
        y : ignored
            Present for scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: an integer weight equals so many copies of the row, 0 leaves it out.
            Weights that sum to less than the number of rows are taken in proportion, with a mean of 1.
        batch : array-like of shape (n_samples,), optional
            A label for each row, such as donor, day or plate. Each batch is centred by itself, so that
            differences between batches are not taken for structure. Neither can be given for an accumulator
            or an operator, whose rows are gone.

        Returns
        -------
        self
        """
        return self._fit_with(X, RowMetadata(sample_weight, batch))

    def _fit(self, X: Any, wanted: Wanted, progress: FitProgress) -> Fitted:
        return self._fit_rows(X, RowMetadata(), wanted, progress)

    def _fit_rows(self, X: Any, rows: RowMetadata, wanted: Wanted, progress: FitProgress) -> Fitted:
        X, layout = rows.laid_out(X)
        gram = gram_operator(X, copy=self.copies_wide_data, layout=layout)
        fitted = with_missing(gram, self._fit_known(X, gram, wanted, progress))
        return replace(fitted, choice=choice_of(fitted, wanted, lambda: gram))

    def _fit_known(self, X: Any, gram: GramOperator, wanted: Wanted, progress: FitProgress) -> Fitted:
        """Score the features of data whose rows are in memory, for methods that can make use of them."""
        return self._fit_gram(gram, wanted, progress)

    def _fit_to(self, X: Any, rows: RowMetadata) -> None:
        if not is_out_of_core(X):
            super()._fit_to(X, rows)
            return
        rows.refuse_unless_rows(X)
        source = gram_source(self, X, rows)
        wanted = self._wanted(source.n_features)
        self._fit_reduced(source.read(), wanted)

    def _fit_reduced(self, reduced: ReducedData, wanted: Wanted) -> None:
        gram = restricted(reduced.gram, wanted)
        with FitProgress(self, reduced) as progress:
            fitted = with_missing(reduced.gram, self._fit_gram(gram, wanted, progress))
        n_leading = fitted.n_leading or fitted.attributes.get("n_components_")
        summary = summarise_reduction(reduced, n_leading)
        self._set_fitted(fitted, choice_of(fitted, wanted, lambda: gram), wanted)
        self.reduction_ = summary

    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, batch: Any = None) -> Self:
        """Take in a batch of rows and choose the features anew from all batches so far.

        Memory does not grow with the number of batches. Each call solves the problem again; to take in
        many batches before solving once, fill a :class:`~ufselect.blocks.GramAccumulator` and pass that to
        ``fit``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The batch; the first one needs two rows. NaN marks a missing value.
        y : ignored
            Present for scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts, as in ``fit``.
        batch : array-like of shape (n_samples,), optional
            A label for each row, as in ``fit``: for all calls or for none. Rows of one label are centred by
            themselves, over all calls.

        Returns
        -------
        self
        """
        earlier = getattr(self, "_accumulator", None)
        with unchanged_on_error(self):
            self._check()
            data = as_numbers(
                self,
                tabular(X, "The batch"),
                reset=earlier is None,
                accept_sparse="csr",
                ensure_all_finite="allow-nan",
                ensure_min_samples=2 if earlier is None else 1,
            )
            wanted = self._wanted(data.shape[1])
            accumulator = accumulate(earlier, data, sample_weight, batch)
            self._fit_reduced(reduce_data(accumulator), wanted)
            self._accumulator = accumulator
        return self


@dataclass(frozen=True)
class GramSource:
    """Data whose features have been counted and whose rows are yet to be read."""

    n_features: int
    read: Callable[[], ReducedData]


def gram_source(selector: GramSelector, X: Any, rows: RowMetadata | None = None) -> GramSource:
    """Look at data, wherever they are, and return how to get their Gram operator."""
    rows = rows or RowMetadata()
    X = open_if_stored(X)
    if is_out_of_core(X):
        n_features = check_columns(selector, X, reset=True)
        return GramSource(
            n_features,
            lambda: reduce_data(
                X, _components_asked(selector), sample_weight=rows.sample_weight, batch=rows.batch
            ),
        )
    data = validated(selector, X)
    gram = partial(gram_operator, data, copy=selector.copies_wide_data)
    return GramSource(data.shape[1], lambda: ReducedData(gram(), 1, "given"))


def with_missing(gram: GramOperator, fitted: Fitted) -> Fitted:
    """Add to a fit what was done about missing values, if there were any."""
    summary = missing_summary(gram)
    if summary is None:
        return fitted
    return replace(fitted, attributes={**fitted.attributes, "missing_": summary})


def _components_asked(selector: GramSelector) -> int | None:
    """Return the number of leading components that will be needed, where it is a given number."""
    asked = getattr(selector, "n_components", None)
    return int(asked) if isinstance(asked, Integral) else None


def restricted(gram: GramOperator, wanted: Wanted) -> GramOperator:
    """Return the operator of the columns that are not excluded."""
    return RestrictedGram(gram, wanted.columns) if wanted.excludes else gram
