"""Rebuilds all columns from the selected ones."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from ufselect.blocks import is_out_of_core, reduce_data
from ufselect.blocks.dask import is_dask
from ufselect.common.containers import tabular
from ufselect.common.wording import listed
from ufselect.selectors.base import unchanged_on_error
from ufselect.selectors.large import check_columns, open_if_stored
from ufselect.selectors.rebuild import RebuildSelector
from ufselect.solvers.rebuild.ridge import LinearMap, map_from_gram, map_from_rows, ridge_weights


class Reconstructor(TransformerMixin, BaseEstimator):
    r"""Select columns and rebuild all others from them by a linear map.

    With :math:`c` the means of the columns, C the selected ones and S the Gram matrix of the centred data,

    .. math:: \hat x = c + W^\top (x_C - c_C), \qquad W = (S_{CC} + \lambda D + n N)^{-1} S_{C:},

    with :math:`D_{ii}` halfway from :math:`S_{ii}` to the mean over C, and N the variances of the noise with
    which C is measured. Without noise the selected columns come back as they are. The ridge λ is the one
    that rebuilds rows left out best, out of 21 and of the mean alone, in five folds. A column that the map
    rebuilds worse than its mean does, on rows left out, is rebuilt by its mean.

    Data that are not in memory are read once. Their rows cannot be left out: λ is then the shrinkage of least
    expected squared error of the correlations, and errors are those of the fit, corrected for the number of
    columns.

    Parameters
    ----------
    selector : selector or None, default=None
        What selects the columns: a selector of this library or any other object with ``fit`` and
        ``get_support``. None takes ``RebuildSelector()``.
    ridge : float or "auto", default="auto"
        The weight λ.
    noise_variance : float or array-like of shape (n_features,), optional
        Variance of the noise with which columns will be measured when they are to be rebuilt from.

    Attributes
    ----------
    selector_ : selector
        The fitted selector.
    support_ : ndarray of shape (n_features,)
        Mask of the selected columns.
    mean_ : ndarray of shape (n_features,)
        Means of the columns.
    weights_ : ndarray of shape (n_selected, n_features)
        The map W, selected columns in the order of the data.
    ridge_ : float
        The λ used; infinite where no map does better than the mean.
    column_errors_ : ndarray of shape (n_features,)
        Error of each rebuilt column on rows left out, in units of the error of its mean: 0 is perfect,
        1 no better than the mean.
    rebuildable_ : ndarray of shape (n_features,)
        Mask of the columns that are rebuilt better than by their mean.
    standard_deviations_ : ndarray of shape (n_features,)
        Standard deviation of the error of each rebuilt column, noise included, in the units of the data.
    error_ : float
        Error of all columns together on rows left out, in units of the error of the mean.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import RebuildSelector, Reconstructor
    >>> pixels = load_digits().data
    >>> reconstructor = Reconstructor(RebuildSelector(20)).fit(pixels[:1200])
    >>> measured = reconstructor.transform(pixels[1200:])
    >>> measured.shape, reconstructor.inverse_transform(measured).shape
    ((597, 20), (597, 64))
    >>> round(reconstructor.score(pixels[1200:]), 2)
    0.82
    """

    def __init__(
        self, selector: Any = None, *, ridge: float | str = "auto", noise_variance: Any = None
    ) -> None:
        self.selector = selector
        self.ridge = ridge
        self.noise_variance = noise_variance

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select columns and fit the map back.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data, without missing values; where the selector works through the Gram matrix, also what its
            ``fit`` takes besides.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_ridge()
            X = open_if_stored(X)
            found = self._fit_reduced(X) if is_out_of_core(X) else self._fit_rows(X)
            self._set_map(found)
        return self

    def _fit_rows(self, X: Any) -> LinearMap:
        rows = validate_data(
            self, tabular(X), accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        self.selector_ = self._selector().fit(X)
        return map_from_rows(rows, self._chosen(), self._given_ridge(), self._noise(rows.shape[1]))

    def _fit_reduced(self, X: Any) -> LinearMap:
        n_features = check_columns(self, X, reset=True)
        noise = self._noise(n_features)
        reduced = reduce_data(X)
        self.selector_ = self._selector().fit(reduced)
        if reduced.gram.mean is None:
            raise ValueError(
                "What X was reduced to does not tell its means; give fewer columns, or rows in memory."
            )
        return map_from_gram(reduced.gram, self._chosen(), self._given_ridge(), noise)

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
        if not is_dask(X):
            X = tabular(X)
            validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self.selector_.transform(X)

    def inverse_transform(self, X: Any) -> NDArray:
        """Rebuild all columns.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_selected)
            Values of the selected columns, in the order of the data; a frame must have their names.

        Returns
        -------
        X_rebuilt : ndarray of shape (n_samples, n_features)

        Raises
        ------
        ValueError
            If there are more or fewer columns, or the names of a frame are others or in another order.
        """
        check_is_fitted(self, "weights_")
        values = check_array(tabular(X), accept_sparse=True, dtype=[np.float64, np.float32])
        values = values.toarray() if hasattr(values, "toarray") else values
        if values.shape[1] != len(self.weights_):
            raise ValueError(
                f"X has {values.shape[1]} columns, but {len(self.weights_)} were selected; give those alone."
            )
        self._check_names(X)
        rebuilt = (values - self.mean_[self.support_]) @ self.weights_ + self.mean_
        return rebuilt.astype(values.dtype, copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance that is rebuilt: 1 less the squared relative error.

        The selected columns are taken as they stand in X. No noise is added to them, so with
        ``noise_variance`` this is what the map is worth for X as it is; for what to expect of noisy values,
        see ``error_``, or give rows that have been measured with that noise.

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
        check_is_fitted(self, "weights_")
        rows = self._centred(X)
        return 1 - relative_error(rows, rows[:, self.support_] @ self.weights_) ** 2

    def curve(self, X: Any, counts: int | Sequence[int] | None = None) -> list[dict[str, Any]]:
        """Return the error of rebuilding from fewer of the selected columns, the best ones by their ranking.

        As in :meth:`score`, the values of X are taken as they stand.

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
            One row a count with ``count`` and ``error``, the error in units of the error of the mean.
        """
        check_is_fitted(self, "weights_")
        rows = self._centred(X)
        chosen = np.flatnonzero(self.support_)
        order = np.argsort(self._ranks(chosen))
        if counts is None:
            counts = np.unique(np.linspace(1, chosen.size, min(10, chosen.size)).round()).astype(int).tolist()
        asked = [counts] if isinstance(counts, int | np.integer) else list(counts)
        if not all(isinstance(count, int | np.integer) and 1 <= count <= chosen.size for count in asked):
            raise ValueError(
                f"counts must be whole numbers between 1 and the {chosen.size} selected columns."
            )
        return [
            {"count": int(count), "error": relative_error(rows, self._rebuilt_from(rows, order[:count]))}
            for count in asked
        ]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray:
        """Return the names of the selected columns."""
        check_is_fitted(self, "weights_")
        return self.selector_.get_feature_names_out(input_features)

    def _check_names(self, X: Any) -> None:
        """Refuse a frame whose columns are not the selected ones in their order."""
        given = list(getattr(X, "columns", ()))
        if not given or not all(isinstance(name, str) for name in given):
            return
        known = getattr(self, "feature_names_in_", None)
        places = np.flatnonzero(self.support_)
        wanted = [f"x{j}" for j in places] if known is None else [str(known[j]) for j in places]
        if sorted(given) == sorted(wanted) and given != wanted:
            raise ValueError(
                "X has the selected columns in another order than fit; order them as get_feature_names_out() "
                f"does: {listed(wanted)}."
            )
        # without names in fit there is nothing that other names could contradict
        if known is not None and given != wanted:
            others = [name for name in given if name not in wanted]
            raise ValueError(
                f"X has columns that were not selected: {listed(others or given)}; give those of "
                f"get_feature_names_out(): {listed(wanted)}."
            )

    def _rebuilt_from(self, rows: NDArray, places: NDArray) -> NDArray:
        """Return centred rows rebuilt from some of the selected columns, by the same ridge."""
        part = np.flatnonzero(self.support_)[places]
        weights = ridge_weights(self._cross[places], part, self.ridge_, self._noise_sums[places])
        weights[:, ~self.rebuildable_] = 0.0
        if self.noise_variance is None:
            weights[:, part] = np.eye(part.size)
        return rows[:, part] @ weights

    def _ranks(self, chosen: NDArray) -> NDArray:
        ranks = getattr(self.selector_, "ranking_", None)
        return np.arange(chosen.size) if ranks is None else np.asarray(ranks)[chosen]

    def _centred(self, X: Any) -> NDArray:
        rows = validate_data(
            self, tabular(X), accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        return (rows.toarray() if hasattr(rows, "toarray") else rows) - self.mean_

    def _selector(self) -> Any:
        return RebuildSelector() if self.selector is None else clone(self.selector)

    def _chosen(self) -> NDArray:
        return np.flatnonzero(self.selector_.get_support())

    def _check_ridge(self) -> None:
        given = self.ridge
        is_number = isinstance(given, Real) and not isinstance(given, bool) and float(given) >= 0
        if not is_number and given != "auto":
            raise ValueError(f'ridge must be "auto" or a number of at least 0, not {given!r}.')

    def _given_ridge(self) -> float | None:
        return None if self.ridge == "auto" else float(self.ridge)

    def _noise(self, n_features: int) -> NDArray | None:
        if self.noise_variance is None:
            return None
        noise = np.asarray(self.noise_variance, dtype=np.float64)
        if noise.shape not in ((), (n_features,)) or not np.all(np.isfinite(noise) & (noise >= 0)):
            raise ValueError(
                "noise_variance must be one number of at least 0, or one for each of the "
                f"{n_features} columns."
            )
        return np.broadcast_to(noise, (n_features,))

    def _set_map(self, found: LinearMap) -> None:
        self.support_ = np.asarray(self.selector_.get_support())
        self.mean_ = found.mean
        self.weights_ = found.weights
        self.ridge_ = found.ridge
        self.column_errors_ = found.column_errors
        self.rebuildable_ = found.rebuildable
        self.standard_deviations_ = found.standard_deviations
        self.error_ = found.error
        self._cross = found.cross
        self._noise_sums = found.noise_sums

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def relative_error(rows: NDArray, rebuilt: NDArray) -> float:
    """Return the error of rebuilt centred rows in units of the error of the mean; 0 where there is none."""
    total = float(np.linalg.norm(rows))
    return float(np.linalg.norm(rows - rebuilt)) / total if total > 0 else 0.0
