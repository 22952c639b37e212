"""Reconstruct all columns from the selected ones."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils._set_output import _get_container_adapter
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ufselect._utils.validation import (
    ColumnTable,
    as_numpy,
    check_array,
    has_missing,
    is_dask,
    is_lazy_table,
    is_out_of_core,
    like,
    listed,
    tabular,
    validate_data,
)
from ufselect.base import NON_NEGATIVE, HasMethods, StrOptions, check_columns, unchanged_on_error
from ufselect.gram import gram_operator, reduce_data
from ufselect.gram.rows import power_of_two_near
from ufselect.reconstruct.kernel import MOST_LANDMARKS, ColumnMap, bend, linear_errors, some_rows
from ufselect.reconstruct.ridge import LEAST_ROWS, LinearMap, dense, noise_variances, ridge_units, row_folds
from ufselect.reconstruct.selector import ReconstructionSelector

NUMBERS = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class Reconstructor(TransformerMixin, BaseEstimator):
    r"""Select columns and reconstruct all others from them, by a linear or nonlinear map.

    The linear map, ridge regression, works for every kind of data. The nonlinear map, kernel ridge
    regression, reconstructs some data better. ``regressor="auto"`` uses it if its error on held-out rows is
    lower by more than one standard error. A column that the kernel or a
    given regressor reconstructs worse than its mean, on held-out rows, is set to its mean.

    Parameters
    ----------
    estimator : selector, list of columns or None, default=None
        What selects the columns: a selector of this library, any other object with ``fit`` and
        ``get_support``, or the columns themselves, by name or position. None uses
        ``ReconstructionSelector()``.
    regressor : {"auto", "ridge", "kernel"} or regressor, default="auto"
        The map to all columns. A scikit-learn regressor is fitted to the selected columns, with all others as
        targets. Sparse, missing and out-of-core data, fewer than ten rows and ``noise_variance`` need
        "ridge", which "auto" then uses.
    ridge : float or "auto", default="auto"
        The weight λ of the linear map; ``"auto"`` minimises the held-out error.
    noise_variance : float, array-like of shape (n_features,) or dict, optional
        Variance of the noise with which the selected columns will be measured; that of each column by name in
        a dict or a pandas Series. The default selector takes it into account.

    Attributes
    ----------
    estimator_ : selector
        The fitted selector.
    support_ : ndarray of shape (n_features,)
        Mask of the selected columns.
    mean_ : ndarray of shape (n_features,)
        Means of the columns.
    score_ : float
        Share of the variance of all columns explained on held-out rows of ``fit``; :meth:`score` gives it for
        new rows.
    map_scores_ : dict
        The same for each of the maps compared: "ridge" and "kernel", or "ridge" and "regressor".
    regressor_ : "ridge", "kernel" or regressor
        The map used; a regressor that was given is fitted.
    reason_ : str
        Why this map is used.
    column_map_ : object
        The linear or nonlinear map as arrays.
    weights_ : ndarray of shape (n_selected, n_features)
        The linear map W, selected columns in the order of the data. For rows far from those of ``fit``, the
        nonlinear map changes gradually to it.
    unit_ : float
        The power of two in which the map calculates; 1 unless the data are extreme or not in memory.
    ridge_ : float
        The λ of the linear map; infinite if no map is better than the mean.
    column_errors_ : ndarray of shape (n_features,)
        Error of each reconstructed column on held-out rows, in units of the error of its mean: 0 is perfect,
        1 no better than the mean.
    reconstructable_ : ndarray of shape (n_features,)
        Mask of the columns that are reconstructed better than by their mean.
    standard_deviations_ : ndarray of shape (n_features,)
        Standard deviation of the error of each reconstructed column, noise included, in units of the data.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    ReconstructionSelector : Select the columns only.
    ufselect.assess : Compare a selection with random columns by the same measure.
    ufselect.plotting.ReconstructionDisplay : Plot the measure against the number of columns.

    Notes
    -----
    With :math:`c` the means of the columns, C the selected ones and S the Gram matrix of the centred data,
    the linear map is

    .. math:: \hat x = c + W^\top (x_C - c_C), \qquad W = (S_{CC} + \lambda D + n N)^{-1} S_{C:},

    with :math:`D_{ii}` halfway from :math:`S_{ii}` to the mean over C, and N the variances of the noise with
    which C is measured. Without noise the selected columns are returned unchanged. The ridge λ minimises the
    error on held-out rows in five folds, among 21 values and infinity, which gives the means. Data
    outside memory are read once, so no rows are held out: λ is then the shrinkage of least expected squared
    error of the correlations, and errors are estimated by generalised cross-validation.

    A missing value of a selected column is predicted from the other selected ones by the same formula, and
    the standard deviations of that row grow by what this leaves uncertain.

    The kernel is the sum of a linear and a Gaussian one. It takes the columns in their given units:
    standardised, a heavy-tailed column could spoil the reconstruction of new rows. The kernel has at most
    1,000 landmark rows (with more rows it is Nyström's approximation) and is fitted to at most 20,000.
    Besides the data it needs 80 megabytes of memory and 1,000 × n_features numbers for the map.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import ReconstructionSelector, Reconstructor
    >>> pixels = load_digits().data
    >>> reconstructor = Reconstructor(ReconstructionSelector(20)).fit(pixels[:1200])
    >>> measured = reconstructor.transform(pixels[1200:])
    >>> measured.shape, reconstructor.inverse_transform(measured).shape
    ((597, 20), (597, 64))
    >>> round(reconstructor.score(pixels[1200:]), 2)
    0.88
    """

    _parameter_constraints: ClassVar = {
        "estimator": "no_validation",
        "regressor": [StrOptions({"auto", "ridge", "kernel"}), HasMethods(["fit", "predict"])],
        "ridge": [NON_NEGATIVE, StrOptions({"auto"})],
        "noise_variance": "no_validation",
    }

    def __init__(
        self,
        estimator: Any = None,
        regressor: Any = "auto",
        *,
        ridge: float | str = "auto",
        noise_variance: Any = None,
    ) -> None:
        self.estimator = estimator
        self.regressor = regressor
        self.ridge = ridge
        self.noise_variance = noise_variance

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:
        """Select columns and fit the map from them to all columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data. If the selector works through the Gram matrix, also anything else that its ``fit``
            takes, including data with missing values.
        y : array-like of shape (n_samples,), optional
            Passed to the selector; those of this library ignore it.
        groups : array-like of shape (n_samples,), optional
            A label for each row, such as person or object. Rows of one label are held out together, so that
            the map, its errors and standard deviations are those for new persons or objects.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._validate_params()
            X, rows, limit, unit = as_numpy(X), None, "", 1.0
            if is_out_of_core(X):
                n_features, X = check_columns(self, X, reset=True), reduce_data(X)
                gram, limit = X, "the data are not in memory"
                if gram.mean is None:
                    raise ValueError(
                        "X has no means of its columns; pass mean to gram_from_covariance, or pass rows in "
                        "memory."
                    )
            else:
                rows = self._checked(tabular(X), ensure_min_samples=2)
                n_samples, n_features = rows.shape
                values = rows.data if sparse.issparse(rows) else rows
                limit = "the data are sparse" if sparse.issparse(rows) else ""
                largest = max(np.nanmax(values, initial=0.0), -np.nanmin(values, initial=0.0))
                if not 1e-100 < largest < 1e100:  # squares would leave the range of numbers
                    unit = power_of_two_near(float(largest))
                    rows = rows / unit
                if has_missing(values):
                    gram = gram_operator(rows)
                    gram.mean = np.nanmean(rows.toarray() if limit else rows, axis=0)
                    rows, limit = None, "values are missing"
                elif not limit and n_samples < LEAST_ROWS:
                    limit = f"there are fewer than {LEAST_ROWS} rows"
            table, noise = ColumnTable(n_features, getattr(self, "feature_names_in_", None)), None
            if rows is None:
                unit *= gram.scale
            if self.noise_variance is not None:
                limit = limit or "noise_variance is given"
                noise = noise_variances(table, self.noise_variance) / unit / unit
            if limit and self.regressor not in ("auto", "ridge"):
                raise ValueError(f'Only the linear map can be used, because {limit}; use regressor="auto".')
            if groups is not None and rows is None:
                raise ValueError(f"Groups of rows cannot be held out, because {limit}; leave out groups.")
            self.estimator_ = self._selector(table).fit(X, y)
            self.support_ = np.asarray(self.estimator_.get_support())
            self.unit_ = unit
            self._sample: tuple[NDArray, NDArray] | None = None
            columns = np.flatnonzero(self.support_)
            ridge = None if self.ridge == "auto" else float(self.ridge)
            if rows is None:
                linear = LinearMap.from_gram(gram, columns, ridge, noise)
                measured = np.zeros((0, columns.size))
            else:
                labels, folds = row_folds(n_samples, groups)
                linear = LinearMap.from_rows(rows, columns, ridge, noise, folds)
                measured = dense(rows[:, columns]) - linear.mean[columns]
            self._use_linear(linear, measured)
            self.regressor_, self.map_scores_ = "ridge", {"ridge": self.score_}
            self.reason_ = f"The linear map, because {limit}." if limit else 'regressor="ridge".'
            if rows is not None and not limit and self.regressor != "ridge":
                # With more rows the kernel would take minutes.
                places = some_rows(n_samples, 20_000 if isinstance(self.regressor, str) else n_samples)
                self._compare(np.asarray(rows[places], dtype=np.float64), labels[places], folds[places])
        return self

    def _checked(self, X: Any, **options: Any) -> Any:
        """Return numbers, with missing values if the selector takes them."""
        finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        return validate_data(self, X, ensure_all_finite=finite, **options, **NUMBERS)

    def _selector(self, table: ColumnTable) -> Any:
        """Return the selector to fit; given columns become its ``keep``."""
        if self.estimator is None:
            return ReconstructionSelector(noise_variance=self.noise_variance)
        if hasattr(self.estimator, "fit"):
            return clone(self.estimator)
        keep = table.indices("estimator", self.estimator)
        return ReconstructionSelector(keep.size, keep=keep)

    def _use_linear(self, linear: LinearMap, measured: NDArray) -> None:
        """Use a linear map, given the selected columns of the rows of the fit, less their mean."""
        self._linear = linear
        self._use(ColumnMap.of(linear, measured), linear.errors, linear.totals, linear.n_samples)

    def _use(self, column_map: ColumnMap, errors: NDArray, totals: NDArray, n_samples: int) -> None:
        """Use a map with these squared errors of columns on held-out rows, and those of their means."""
        total = float(totals.sum())
        self.column_map_, self.ridge_ = column_map, column_map.ridge
        self.mean_, self.weights_ = self.unit_ * column_map.mean, column_map.weights
        self.reconstructable_ = (errors < totals) | (self.support_ & (self.noise_variance is None))
        self.column_errors_ = np.sqrt(errors / np.where(totals > 0, totals, 1.0))
        self.standard_deviations_ = self.unit_ * np.sqrt(errors / n_samples)
        self.score_ = float(1 - errors.sum() / total) if total > 0 else 1.0

    def _compare(self, rows: NDArray, labels: NDArray, folds: NDArray) -> None:
        """Fit the requested map to dense rows, and use it instead of the linear one if it is better."""
        linear, n_rows, others = self._linear, len(rows), ~self.support_
        totals = linear.totals * (n_rows / linear.n_samples)
        if not np.any(totals[others] > 0):
            self.reason_ = "The linear map, because no other column varies."
            return
        if isinstance(self.regressor, str):
            bent, errors, by_row = bend(self.column_map_, rows, folds)
            gains = np.bincount(labels, linear_errors(linear, rows, folds) - by_row)
            is_better = gains.sum() > np.std(gains, ddof=1) * np.sqrt(gains.size)
            self.map_scores_["kernel"] = float(1 - np.minimum(errors, totals).sum() / totals.sum())
            shares = [f"{100 * self.map_scores_[name]:.1f} %" for name in ("kernel", "ridge")]
            self.reason_ = (
                f"On held-out rows {shares[0]} of the variance are explained by the kernel, "
                f"{'' if is_better else 'not '}more than one standard error above the {shares[1]} by the "
                "linear map."
            )
            if self.regressor == "auto" and not is_better:
                return
            bent.coefficients[:, errors >= totals] = 0.0
            bent.offset[:, errors >= totals] = bent.slope[:, errors >= totals] = 0.0
            self.regressor_ = "kernel"
        else:
            values, targets, bent = rows[:, self.support_], rows[:, others], self.column_map_
            self.regressor_ = clone(self.regressor).fit(values, targets)
            guess = cross_val_predict(self.regressor, values, targets, cv=PredefinedSplit(folds))
            errors = np.zeros(rows.shape[1])
            errors[others] = np.square(targets - guess.reshape(targets.shape)).sum(axis=0)
            self.reason_ = "The regressor was given."
        kept = some_rows(n_rows, MOST_LANDMARKS)
        self._sample = rows[kept], labels[kept]
        self._use(bent, np.minimum(errors, totals), totals, n_rows)
        self.map_scores_[self.regressor_ if isinstance(self.regressor_, str) else "regressor"] = self.score_

    def fewer(self, n_features_to_select: int) -> Self:
        """Return a fitted copy that uses only the best of the selected columns, by the selector's ranking.

        No new fit of the selector is needed, and the columns are a part of those selected now; a new fit with
        this number may find better ones. The linear map follows from the moments of its fit; other maps are
        fitted again, to at most 1,000 of its rows.

        Parameters
        ----------
        n_features_to_select : int
            Number of columns, at most as many as are selected.

        Returns
        -------
        Reconstructor
        """
        check_is_fitted(self, "weights_")
        chosen, ranks = np.flatnonzero(self.support_), getattr(self.estimator_, "ranking_", None)
        if ranks is None:
            raise ValueError(
                f"{type(self.estimator_).__name__} does not rank the selected columns; fit it again with "
                "fewer."
            )
        count = n_features_to_select
        if not isinstance(count, int | np.integer) or not 1 <= count <= chosen.size:
            raise ValueError(f"Give a whole number between 1 and the {chosen.size} selected columns.")
        places = np.sort(np.argsort(np.asarray(ranks)[chosen])[:count])
        part = copy(self)
        part.estimator_, part.support_ = copy(self.estimator_), np.zeros_like(self.support_)
        part.support_[chosen[places]] = True
        part.estimator_.support_ = part.support_
        if count == chosen.size:
            return part
        if self._sample is None:
            landmarks = self.column_map_.landmarks[:, places] * self.column_map_.unit
            part._use_linear(self._linear.fewer(places), landmarks)
            part.map_scores_ = {"ridge": part.score_}
        else:
            regressor = self.regressor_ if isinstance(self.regressor_, str) else self.regressor
            again = Reconstructor(chosen[places], regressor).fit(self._sample[0], groups=self._sample[1])
            kept, state = {"estimator_", "feature_names_in_", *self.get_params(deep=False)}, part.__dict__
            state.update({name: value for name, value in vars(again).items() if name not in kept})
            part.unit_, part.mean_ = self.unit_, self.unit_ * part.mean_
            part.standard_deviations_ = self.unit_ * part.standard_deviations_
        return part

    def transform(self, X: Any) -> Any:
        """Return the selected columns.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or dask collection of shape (n_samples, n_features)
            The data.

        Returns
        -------
        X_selected : of the kind of X, of shape (n_samples, n_selected)
        """
        check_is_fitted(self, "weights_")
        if not is_dask(X) and not is_lazy_table(X):
            X = tabular(X, on_device=True)
            self._checked(as_numpy(X), reset=False)
        return self.estimator_.transform(X)

    def inverse_transform(self, X: Any, *, return_std: bool = False) -> Any:
        """Reconstruct all columns.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_selected)
            Values of the selected columns. A frame may have its columns in any order, and further ones, if
            ``fit`` knew names. An array must have the order of the data, as :meth:`transform` and
            :meth:`get_feature_names_out` give it, not that of ranks or of the list of columns. A missing
            value, NaN, is predicted from the other selected columns.
        return_std : bool, default=False
            Whether to return the standard deviation of the error of each value too, in units of the data.

        Returns
        -------
        X_reconstructed : ndarray or data frame of shape (n_samples, n_features)
            All columns in the order of the data; a frame if ``set_output`` asks for one.
        std : ndarray of shape (n_samples, n_features)
            Only if ``return_std``. Larger for rows with missing values, not for rows that are far away.

        Raises
        ------
        ValueError
            If columns are missing, or if an array has the columns in the order of their ranks.
        """
        measured = self._measured(X)
        values, added, codes = self.column_map_.complete(measured)
        found: Any = like((self.unit_ * self._reconstruct(values)).astype(measured.dtype, copy=False), X)
        adapter = _get_container_adapter("transform", self)
        if adapter is not None:
            names = _check_feature_names_in(self, None)
            found = adapter.create_container(found, X, names)
        if not return_std:
            return found
        spread = np.sqrt(np.square(self.standard_deviations_ / self.unit_) + added) * self.unit_
        return found, like(spread[codes].astype(measured.dtype, copy=False), X)

    def _measured(self, X: Any) -> NDArray:
        """Return values of the selected columns in the order of the data, in the units of the map."""
        check_is_fitted(self, "weights_")
        names, known = list(getattr(X, "columns", ())), getattr(self, "feature_names_in_", None)
        is_named = bool(names) and all(isinstance(name, str) for name in names)
        asked = list(_check_feature_names_in(self, None)[self.support_])
        if is_named and set(asked) <= set(names):
            X = X[asked]
        elif is_named and known is not None:
            absent = [name for name in asked if name not in names]
            raise ValueError(f"X lacks selected columns: {listed(absent)}; it needs {listed(asked)}.")
        values = check_array(tabular(as_numpy(X)), ensure_all_finite="allow-nan", **NUMBERS)
        values = values.toarray() if sparse.issparse(values) else values
        if values.shape[1] != len(asked):
            raise ValueError(
                f"X has {values.shape[1]} columns, but {len(asked)} were selected; pass only those, in the "
                "order of the data, as transform returns them."
            )
        values = values / self.unit_
        if not is_named:
            self._refuse_other_order(values)
        return values

    def _refuse_other_order(self, values: NDArray) -> None:
        """Raise an error if values are like the rows of the fit in the order of ranks, or of the list, alone.

        The mean squared Mahalanobis distance of such rows, per column, is about 1. In another order than that
        of the data rows are farther from those of the fit; rows that drifted are so in any order.
        """
        chosen, map_ = np.flatnonzero(self.support_), self.column_map_
        if self.estimator is not None and not hasattr(self.estimator, "fit"):
            listed = self.estimator_.keep[np.isin(self.estimator_.keep, chosen)]
            order, what = np.searchsorted(chosen, listed), "list of columns"
        else:
            ranks = np.asarray(getattr(self.estimator_, "ranking_", np.arange(self.support_.size)))
            order, what = np.argsort(ranks[chosen]), "ranking"
        values = values[~np.isnan(values).any(axis=1)]
        if not len(values) or np.array_equal(order, np.arange(order.size)):
            return
        inner = map_.covariance + np.diag(0.01 * ridge_units(map_.covariance.diagonal()))

        def distances(rows: NDArray) -> NDArray:
            rows = (rows - map_.mean[chosen]) / map_.unit
            return np.einsum("ij,ji->i", rows, np.linalg.solve(inner, rows.T)) / order.size

        given, other = distances(values), distances(values[:, np.argsort(order)])
        n_rows, gains = len(values), given - other
        is_closer = gains.mean() > 5 * gains.std() / np.sqrt(n_rows) + 10 / n_rows
        if other.mean() < 1.5 and given.mean() > 1.1 and is_closer:
            raise ValueError(
                f"X has the selected columns in the order of the {what}; give them in the order of the data, "
                "as transform returns them, or as a frame with their names."
            )

    def is_far(self, X: Any) -> NDArray:
        """Return which rows are far from all rows of ``fit``; their errors may be larger than expected.

        Up to 1,000 rows of ``fit`` are compared. A row is far if its distance to the nearest exceeds 1.5
        times the distance within which 95 % of them have their nearest. After a fit without rows in memory
        no row is far.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_selected)
            Values of the selected columns, as for :meth:`inverse_transform`.

        Returns
        -------
        far : ndarray of shape (n_samples,)
            Mask of the rows.
        """
        return self.column_map_.is_far(self.column_map_.complete(self._measured(X))[0])

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of all columns explained by the selected ones.

        Selected columns count in full, without added noise, all others as far as they are reconstructed. For
        the share to expect with ``noise_variance``, see ``score_``, or pass rows that were measured with
        that noise.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, best not among those of ``fit``. Missing values do not count; those in selected columns are
            predicted from the other selected ones.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        float
            1 for perfect; 0 for no better than the means of ``fit``.
        """
        return self._share(self._rows(X))

    def curve(self, X: Any, counts: int | Sequence[int] | None = None) -> dict[str, NDArray]:
        """Return the score of fewer of the selected columns, as :meth:`fewer` selects them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, best not among those of ``fit``.
        counts : int or sequence of int, optional
            One or several numbers of columns, at most as many as were selected; by default up to ten, evenly
            spread.

        Returns
        -------
        dict of ndarray
            ``n_features`` and ``score``.
        """
        rows, most = self._rows(X), len(self.weights_)
        if counts is None:
            counts = np.unique(np.linspace(1, most, min(10, most)).round()).astype(int).tolist()
        asked = [counts] if isinstance(counts, int | np.integer) else list(counts)
        scores = [self.fewer(count)._share(rows) for count in asked]
        return {"n_features": np.array(asked), "score": np.array(scores)}

    def get_feature_names_out(self, input_features: Any = None) -> NDArray:
        """Return the names of the selected columns."""
        check_is_fitted(self, "weights_")
        return self.estimator_.get_feature_names_out(input_features)

    def _rows(self, X: Any) -> NDArray:
        """Return rows in the units of the map."""
        check_is_fitted(self, "weights_")
        X = X.compute() if is_dask(X) else as_numpy(X)
        allowed = {"ensure_all_finite": "allow-nan", **NUMBERS}
        return dense(validate_data(self, tabular(X), reset=False, **allowed)) / self.unit_

    def _reconstruct(self, values: NDArray) -> NDArray:
        """Return all columns from values of the selected ones, in the units of the map."""
        found, others = self.column_map_.predict(values), ~self.support_
        if not isinstance(self.regressor_, str):
            predicted = self.regressor_.predict(values).reshape(len(values), -1)
            is_better = self.reconstructable_[others]
            found[:, others] = np.where(is_better, predicted, self.column_map_.mean[others])
        return found

    def _share(self, rows: NDArray) -> float:
        total = np.nansum(np.square(rows - self.column_map_.mean))
        values = self.column_map_.complete(rows[:, self.support_])[0]
        left = np.nansum(np.square(rows - self._reconstruct(values)))
        return float(1 - left / total) if total > 0 else 1.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        selector = self.estimator if hasattr(self.estimator, "fit") else ReconstructionSelector
        tags.input_tags.allow_nan = bool(getattr(selector, "accepts_missing", False))
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
