"""Reconstruct all columns from the selected ones."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.utils import check_array, get_tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ufselect._utils.columns import ColumnTable
from ufselect._utils.messages import listed
from ufselect._utils.validation import (
    as_numpy,
    has_missing,
    is_dask,
    is_lazy_table,
    is_out_of_core,
    like,
    tabular,
)
from ufselect.base import NON_NEGATIVE, check_columns, unchanged_on_error
from ufselect.gram import gram_operator, reduce_data
from ufselect.reconstruct.kernel import MOST_LANDMARKS, ColumnMap, bend, linear_errors, some_rows
from ufselect.reconstruct.ridge import LEAST_ROWS, N_FOLDS, LinearMap, dense, map_weights
from ufselect.reconstruct.selector import ReconstructionSelector

NUMBERS = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class Reconstructor(TransformerMixin, BaseEstimator):
    r"""Select columns and reconstruct all others from them, by a linear or nonlinear map.

    The linear map, ridge regression, works for every kind of data. The nonlinear map, kernel ridge
    regression, reconstructs images, spectra and speech better, but hardly genes. ``regressor="auto"`` uses it
    if its leave-one-out error is lower by more than one standard error. A column that the kernel or a given
    regressor reconstructs worse than its mean, on held-out rows, is set to its mean.

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
        a dict or a pandas Series.

    Attributes
    ----------
    estimator_ : selector
        The fitted selector.
    support_ : ndarray of shape (n_features,)
        Mask of the selected columns.
    mean_ : ndarray of shape (n_features,)
        Means of the columns.
    regressor_ : "ridge", "kernel" or regressor
        The map used; a regressor that was given is fitted.
    errors_ : dict
        Errors of the maps compared, as in ``error_``: of "ridge" and "kernel" leaving out one row at a time,
        of a given regressor and "ridge" in five folds.
    reason_ : str
        Why this map is used.
    column_map_ : object
        The linear or nonlinear map as arrays.
    weights_ : ndarray of shape (n_selected, n_features)
        The linear map W, selected columns in the order of the data. For rows far from those of ``fit``, the
        nonlinear map changes gradually to it.
    ridge_ : float
        The λ of the linear map; infinite if no map is better than the mean.
    column_errors_ : ndarray of shape (n_features,)
        Error of each reconstructed column on held-out rows, in units of the error of its mean: 0 is perfect,
        1 no better than the mean.
    reconstructable_ : ndarray of shape (n_features,)
        Mask of the columns that are reconstructed better than by their mean.
    standard_deviations_ : ndarray of shape (n_features,)
        Standard deviation of the error of each reconstructed column, noise included, in units of the data.
    error_ : float
        Error of all columns together on held-out rows, in units of the error of the mean.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    ReconstructionSelector : Select the columns only.
    ufselect.metrics.variance_reconstructed : The share of variance that given columns reconstruct.
    ufselect.plotting.ReconstructionDisplay : Plot the error against the number of columns.

    Notes
    -----
    With :math:`c` the means of the columns, C the selected ones and S the Gram matrix of the centred data,
    the linear map is

    .. math:: \hat x = c + W^\top (x_C - c_C), \qquad W = (S_{CC} + \lambda D + n N)^{-1} S_{C:},

    with :math:`D_{ii}` halfway from :math:`S_{ii}` to the mean over C, and N the variances of the noise with
    which C is measured. Without noise the selected columns are returned unchanged. The ridge λ is the one of
    least error on held-out rows in five folds, among 21 values and the mean alone. Data that are not in
    memory are read once, and no rows are held out: λ is then the shrinkage of least expected squared error of
    the correlations, and errors are those of the fit, corrected for the number of columns.

    The kernel is a linear plus a Gaussian one. All columns have one unit: in units of its own deviation, a
    heavy-tailed column would spoil the reconstruction of new rows. The kernel has at most 1,000 landmark rows
    (with more rows it is Nyström's approximation) and is fitted to at most 20,000. Besides the data it needs
    80 megabytes of memory and 1,000 × n_features numbers for the map.

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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select columns and fit the map from them to all columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data. If the selector works through the Gram matrix, also anything else that its ``fit``
            takes, including data with missing values.
        y : array-like of shape (n_samples,), optional
            Passed to the selector; those of this library ignore it.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._validate_params()
            X, rows, limit = as_numpy(X), None, ""
            if is_out_of_core(X):
                n_features, X = check_columns(self, X, reset=True), reduce_data(X)
                gram, limit = X.gram, "the data are not in memory"
                if gram.mean is None:
                    raise ValueError(
                        "X has no means of its columns; pass mean to gram_from_covariance, or pass rows in "
                        "memory."
                    )
            else:
                rows = self._checked(tabular(X), ensure_min_samples=2)
                n_features = rows.shape[1]
                if sparse.issparse(rows):
                    limit = "the data are sparse"
                if has_missing(rows.data if limit else rows):
                    gram = gram_operator(rows)
                    observed = np.nanmean(rows.toarray() if limit else rows, axis=0)
                    gram.mean, rows, limit = observed, None, "values are missing"
                elif not limit and len(rows) < LEAST_ROWS:
                    limit = f"there are fewer than {LEAST_ROWS} rows"
            table, noise = ColumnTable(n_features, getattr(self, "feature_names_in_", None)), None
            if self.noise_variance is not None:
                limit = limit or "noise_variance is given"
                is_common = isinstance(self.noise_variance, Real)
                given = [self.noise_variance] * n_features if is_common else self.noise_variance
                noise = table.numbers("noise_variance", given)
                if noise.ndim != 1 or not np.all(np.isfinite(noise) & (noise >= 0)):
                    raise ValueError(
                        "noise_variance must be one number of at least 0, or one for each column."
                    )
            if limit and self.regressor not in ("auto", "ridge"):
                raise ValueError(f'Only the linear map can be used, because {limit}; use regressor="auto".')
            self.estimator_ = self._selector(table).fit(X, y)
            self.support_ = np.asarray(self.estimator_.get_support())
            columns = np.flatnonzero(self.support_)
            ridge = None if self.ridge == "auto" else float(self.ridge)
            if rows is None:
                linear = LinearMap.from_gram(gram, columns, ridge, noise)
            else:
                linear = LinearMap.from_rows(rows, columns, ridge, noise)
            self._linear, self.mean_, self.weights_, self.ridge_ = (
                linear, linear.mean, linear.weights, linear.ridge,
            )  # fmt: skip
            self.column_errors_, self.reconstructable_ = linear.column_errors, linear.reconstructable
            self.standard_deviations_, self.error_ = linear.standard_deviations, linear.error
            self.regressor_, self.errors_ = "ridge", {"ridge": self.error_}
            self._sample: NDArray | None = None
            self.reason_ = f"The linear map, because {limit}." if limit else 'regressor="ridge".'
            measured = dense(np.zeros((0, columns.size)) if rows is None else rows[:, columns])
            self.column_map_ = ColumnMap.of(linear, measured - self.mean_[columns], columns)
            if rows is not None and not limit and self.regressor != "ridge":
                # With more rows the kernel would take minutes.
                most = 20_000 if isinstance(self.regressor, str) else len(rows)
                self._compare(np.asarray(some_rows(rows, most), dtype=np.float64))
        return self

    def _checked(self, X: Any, **options: Any) -> Any:
        """Return numbers, with missing values if the selector takes them."""
        finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        return validate_data(self, X, ensure_all_finite=finite, **options, **NUMBERS)

    def _selector(self, table: ColumnTable) -> Any:
        """Return the selector to fit; given columns become its ``keep``."""
        if self.estimator is None:
            return ReconstructionSelector()
        if hasattr(self.estimator, "fit"):
            return clone(self.estimator)
        keep = table.indices("estimator", self.estimator)
        return ReconstructionSelector(keep.size, keep=keep)

    def _compare(self, rows: NDArray) -> None:
        """Fit the requested map to dense rows, and use it instead of the linear one if it is better."""
        n_rows, columns, others = len(rows), self.column_map_.columns, ~self.support_
        squares = np.square(rows - self.mean_).sum(axis=0)
        if not np.any(squares[others] > 0):
            self.reason_ = "The linear map, because no other column varies."
            return
        if isinstance(self.regressor, str):
            squares *= (n_rows / (n_rows - 1)) ** 2  # each row less the mean of the others
            bent, errors, kernel = bend(self.column_map_, rows)
            gains = linear_errors(self._linear, rows, columns) - kernel
            by_name = {"ridge": float((gains + kernel).sum()), "kernel": float(kernel.sum())}
            self.errors_ = {name: float(np.sqrt(each / squares.sum())) for name, each in by_name.items()}
            is_better = gains.sum() > np.std(gains, ddof=1) * np.sqrt(n_rows)
            self.reason_ = (
                f"The kernel's leave-one-out error is {self.errors_['kernel']:.3f}, "
                f"{'' if is_better else 'not '}more than one standard error below the linear map's "
                f"{self.errors_['ridge']:.3f}."
            )
            if self.regressor == "auto" and not is_better:
                return
            self.column_map_, self.regressor_ = bent, "kernel"
        else:
            values, targets = rows[:, columns], rows[:, others]
            self.regressor_ = clone(self.regressor).fit(values, targets)
            folds = PredefinedSplit(np.arange(n_rows) % N_FOLDS)
            found = cross_val_predict(self.regressor, values, targets, cv=folds)
            errors = np.zeros(rows.shape[1])
            errors[others] = np.square(targets - found.reshape(targets.shape)).sum(axis=0)
            self.errors_["regressor"] = float(np.sqrt(errors.sum() / squares.sum()))
            self.reason_ = "The regressor was given."
        self._sample = some_rows(rows, MOST_LANDMARKS)
        errors = np.minimum(errors, squares)
        self.reconstructable_ = (errors < squares) | self.support_
        self.column_errors_ = np.sqrt(errors / np.where(squares > 0, squares, 1.0))
        self.standard_deviations_ = np.sqrt(errors / n_rows)
        self.error_ = float(np.sqrt(errors.sum() / squares.sum()))

    def _reconstruct(self, values: NDArray) -> NDArray:
        """Return all columns from values of the selected ones."""
        found, others = self.column_map_.predict(values), ~self.support_
        if not isinstance(self.regressor_, str):
            predicted = self.regressor_.predict(values).reshape(len(values), -1)
            found[:, others] = np.where(self.reconstructable_[others], predicted, self.mean_[others])
        return found

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

    def inverse_transform(self, X: Any) -> NDArray:
        """Reconstruct all columns.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_selected)
            Values of the selected columns, in the order of the data; a frame must have their names.

        Returns
        -------
        X_reconstructed : ndarray of shape (n_samples, n_features)

        Raises
        ------
        ValueError
            If the number of columns is wrong, or a frame has other names or another order of columns.
        """
        check_is_fitted(self, "weights_")
        values = check_array(tabular(as_numpy(X)), accept_sparse=True, dtype=[np.float64, np.float32])
        values = values.toarray() if hasattr(values, "toarray") else values
        if values.shape[1] != len(self.weights_):
            raise ValueError(
                f"X has {values.shape[1]} columns, but {len(self.weights_)} were selected; pass only those."
            )
        given, known = list(getattr(X, "columns", ())), getattr(self, "feature_names_in_", None)
        if given and all(isinstance(name, str) for name in given):
            asked = [f"x{j}" if known is None else str(known[j]) for j in np.flatnonzero(self.support_)]
            if sorted(given) == sorted(asked) and given != asked:
                raise ValueError(
                    "X has the selected columns in another order than fit; order them as "
                    f"get_feature_names_out() does: {listed(asked)}."
                )
            # without names in fit any names are accepted
            if known is not None and given != asked:
                others = [name for name in given if name not in asked]
                raise ValueError(
                    f"X has columns that were not selected: {listed(others or given)}; give those of "
                    f"get_feature_names_out(): {listed(asked)}."
                )
        return like(self._reconstruct(values).astype(values.dtype, copy=False), X)

    def is_far(self, X: Any) -> NDArray:
        """Return which rows are far from all rows of ``fit``; their errors may be larger than expected.

        Up to 1,000 rows of ``fit`` are compared. A row is far if its distance to the nearest exceeds 1.5
        times the distance within which 95 % of them have their nearest. After a fit without rows in memory
        no row is far.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_selected)
            Values of the selected columns, in the order of the data.

        Returns
        -------
        far : ndarray of shape (n_samples,)
            Mask of the rows.
        """
        check_is_fitted(self, "weights_")
        return self.column_map_.is_far(check_array(tabular(X), dtype=np.float64))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance that is reconstructed: 1 less the squared relative error.

        The selected columns are used as they are in X, without added noise. For the error to expect with
        ``noise_variance``, see ``error_``, or pass rows that were measured with that noise.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, best not among those of ``fit``.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        float
            1 for perfect; 0 for no better than the means of ``fit``.
        """
        return 1 - self._relative_error(*self._both(X)) ** 2

    def curve(self, X: Any, counts: int | Sequence[int] | None = None) -> list[dict[str, Any]]:
        """Return the error of reconstructing from fewer of the selected columns, the best by their ranking.

        As in :meth:`score`, the values of X are used as they are. The linear map from fewer columns follows
        from that of all; other maps are fitted again, to at most 1,000 rows of ``fit``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, best not among those of ``fit``.
        counts : int or sequence of int, optional
            One or several numbers of columns, at most as many as were selected; by default up to ten, evenly
            spread.

        Returns
        -------
        list of dict
            One dict per count with ``count`` and ``error``, the error in units of the error of the mean.
        """
        rows, reconstructed = self._both(X)
        chosen = np.flatnonzero(self.support_)
        ranks = getattr(self.estimator_, "ranking_", None)
        order = np.arange(chosen.size) if ranks is None else np.argsort(np.asarray(ranks)[chosen])
        if counts is None:
            counts = np.unique(np.linspace(1, chosen.size, min(10, chosen.size)).round()).astype(int).tolist()
        asked = [counts] if isinstance(counts, int | np.integer) else list(counts)
        if not all(isinstance(count, int | np.integer) and 1 <= count <= chosen.size for count in asked):
            raise ValueError(
                f"counts must be whole numbers between 1 and the {chosen.size} selected columns."
            )
        table = []
        for count in asked:
            places = order[:count]
            part = chosen[places]
            if count == chosen.size:
                found = reconstructed
            elif self._sample is not None:
                regressor = self.regressor_ if isinstance(self.regressor_, str) else self.regressor
                fewer = Reconstructor(part.tolist(), regressor).fit(self._sample)
                found = fewer.inverse_transform(rows[:, np.sort(part)])
            else:
                noise_sums = self._linear.noise_sums[places]
                weights = map_weights(self._linear.cross[places], part, self.ridge_, noise_sums)
                if self.noise_variance is None:
                    weights[:, part] = np.eye(part.size)
                found = (rows - self.mean_)[:, part] @ weights + self.mean_
            table.append({"count": int(count), "error": self._relative_error(rows, found)})
        return table

    def get_feature_names_out(self, input_features: Any = None) -> NDArray:
        """Return the names of the selected columns."""
        check_is_fitted(self, "weights_")
        return self.estimator_.get_feature_names_out(input_features)

    def _both(self, X: Any) -> tuple[NDArray, NDArray]:
        """Return rows, and rows reconstructed from their selected columns."""
        check_is_fitted(self, "weights_")
        X = X.compute() if is_dask(X) else as_numpy(X)
        rows = dense(validate_data(self, tabular(X), reset=False, **NUMBERS))
        return rows, self._reconstruct(rows[:, self.support_])

    def _relative_error(self, rows: NDArray, reconstructed: NDArray) -> float:
        """Return the error of reconstructed rows in units of the mean's error; 0 if that is 0."""
        total = float(np.linalg.norm(rows - self.mean_))
        return float(np.linalg.norm(rows - reconstructed)) / total if total > 0 else 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        selector = self.estimator if hasattr(self.estimator, "fit") else ReconstructionSelector
        tags.input_tags.allow_nan = bool(getattr(selector, "accepts_missing", False))
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
