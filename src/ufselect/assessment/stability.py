"""Agreement of selections with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._utils.validation import as_numpy


def feature_similarity_rate(a: Any, b: Any) -> float:
    r"""Compute the share of features that two selections of equal size have in common.

    Parameters
    ----------
    a, b : array-like
        Each either the indices of the selected features, in any order, or a boolean mask over all features.

    Returns
    -------
    float
        A value in [0, 1].

    See Also
    --------
    selection_stability : Agreement of two or more selections, corrected for chance.

    Notes
    -----
    .. math:: \mathrm{FSR}(a, b) = \frac{|a \cap b|}{r}, \qquad r = |a| = |b|

    The DSCOFS paper gives this share in per cent, with r = 100, for the first 100 features of two rankings.

    Examples
    --------
    >>> from ufselect.metrics import feature_similarity_rate
    >>> feature_similarity_rate([3, 1, 4, 5], [9, 5, 1, 2])
    0.5
    >>> feature_similarity_rate([True, True, False], [True, False, True])
    0.5
    """
    first, second = selected_index(a, "a"), selected_index(b, "b")
    masks = [mask for mask in map(np.asarray, map(as_numpy, (a, b))) if mask.dtype == bool]
    if len(masks) == 2 and masks[0].size != masks[1].size:
        raise ValueError(f"The masks have {masks[0].size} and {masks[1].size} entries; give equal lengths.")
    if first.size != second.size:
        raise ValueError(
            f"The selections have {first.size} and {second.size} features; compare selections of equal size."
        )
    return np.intersect1d(first, second, assume_unique=True).size / first.size


def selected_index(features: Any, name: str, n_features: int | None = None) -> NDArray:
    """Return the indices of a mask or an index array; their range is checked if ``n_features`` is given."""
    index = np.asarray(as_numpy(features))
    if index.ndim != 1:
        raise ValueError(f"{name} must be a flat array of indices or a flat boolean mask.")
    if index.dtype == bool:
        if n_features not in (None, index.size):
            raise ValueError(f"{name} is a mask of {index.size} entries, but X has {n_features} features.")
        index = np.flatnonzero(index)
    elif index.size and not np.issubdtype(index.dtype, np.integer):
        raise ValueError(f"{name} must hold integer indices or booleans, not {index.dtype}.")
    if index.size == 0:
        raise ValueError(f"{name} selects no feature; give at least one.")
    if n_features is not None and (index.min() < 0 or index.max() >= n_features):
        raise ValueError(f"{name} must hold indices from 0 to {n_features - 1}.")
    if np.unique(index).size != index.size:
        raise ValueError(f"{name} holds a feature more than once; give each feature once.")
    return index


def selection_stability(masks: Any) -> float:
    r"""Compute the stability of repeated selections, corrected for chance.

    It is the index of Nogueira, Sechidis and Brown [1]_.

    Parameters
    ----------
    masks : array-like of shape (n_selections, n_features)
        One boolean (or 0/1) mask per row, for example ``support_`` of fits on bootstrap samples.

    Returns
    -------
    float
        1 for identical selections, with mean 0 for random ones; the least value is :math:`-1/(M - 1)` for M
        selections. If all masks are empty, or all are full, the formula is 0/0 and the value is 1.

    See Also
    --------
    feature_similarity_rate : Share of features that two selections have in common.
    ufselect.StableSelector : Select features by how often they are selected on subsamples.

    Notes
    -----
    .. math::

        \Phi = 1 - \frac{\frac{1}{d} \sum_{j=1}^{d} s_j^2}{\frac{\bar k}{d} (1 - \frac{\bar k}{d})},
        \qquad s_j^2 = \frac{M}{M - 1}\, p_j (1 - p_j)

    for M selections among d features, where :math:`p_j` is the share of selections with feature j and
    :math:`\bar k` the mean number of selected features.

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis and G. Brown (2018), "On the stability of feature selection
       algorithms", Journal of Machine Learning Research 18(174).

    Examples
    --------
    >>> from ufselect.metrics import selection_stability
    >>> selection_stability([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]])
    1.0
    >>> round(selection_stability([[1, 1, 0, 0], [1, 0, 1, 0]]), 12)
    0.0
    """
    chosen = np.asarray(as_numpy(masks))
    if chosen.ndim != 2 or chosen.shape[0] < 2 or chosen.shape[1] < 1:
        raise ValueError(
            f"masks must have at least two rows, one mask per row, but its shape is {chosen.shape}."
        )
    if chosen.dtype != bool and not np.isin(chosen, (0, 1)).all():
        raise ValueError(
            "masks must hold only True and False (or 1 and 0); turn index arrays into masks first."
        )
    n_selections = chosen.shape[0]
    frequency = chosen.astype(np.float64).mean(axis=0)
    share = frequency.mean()
    if share in (0.0, 1.0):
        return 1.0
    variance = n_selections / (n_selections - 1) * frequency * (1 - frequency)
    return float(1 - variance.mean() / (share * (1 - share)))
