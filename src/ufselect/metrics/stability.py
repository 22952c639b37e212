"""Agreement of selections with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._utils.validation import as_numpy


def feature_similarity_rate(a: Any, b: Any) -> float:
    r"""Return the share of features that two selections of equal size have in common.

    .. math:: \mathrm{FSR}(a, b) = \frac{|a \cap b|}{r}, \qquad r = |a| = |b|

    The DSCOFS paper takes r = 100, the first 100 features of two rankings, and prints it in per cent.

    Parameters
    ----------
    a, b : array-like
        Each either the indices of the selected features, in any order, or a boolean mask over all features.

    Returns
    -------
    float
        A value in [0, 1]; multiply by 100 for the paper's per cent.

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
        raise ValueError(f"The masks cover {masks[0].size} and {masks[1].size} features; they must be equal.")
    if first.size != second.size:
        raise ValueError(
            f"The selections have {first.size} and {second.size} features; compare selections of equal size."
        )
    return np.intersect1d(first, second, assume_unique=True).size / first.size


def selected_index(features: Any, name: str, n_features: int | None = None) -> NDArray:
    """Return the distinct indices that a mask or an index array names; None leaves their range open."""
    index = np.asarray(as_numpy(features))
    if index.ndim != 1:
        raise ValueError(f"{name} must be a flat array of indices or a flat boolean mask.")
    if index.dtype == bool:
        if n_features not in (None, index.size):
            raise ValueError(f"{name} is a mask of {index.size} entries for {n_features} features.")
        index = np.flatnonzero(index)
    elif index.size and not np.issubdtype(index.dtype, np.integer):
        raise ValueError(f"{name} must hold integer indices or booleans, not {index.dtype}.")
    if index.size == 0:
        raise ValueError(f"{name} selects no feature.")
    if n_features is not None and (index.min() < 0 or index.max() >= n_features):
        raise ValueError(f"{name} must lie between 0 and {n_features - 1}.")
    if np.unique(index).size != index.size:
        raise ValueError(f"{name} names a feature more than once.")
    return index


def selection_stability(masks: Any) -> float:
    r"""Return the stability of repeated selections, corrected for chance.

    .. math::

        \Phi = 1 - \frac{\frac{1}{d} \sum_{j=1}^{d} s_j^2}{\frac{\bar k}{d} (1 - \frac{\bar k}{d})},
        \qquad s_j^2 = \frac{M}{M - 1}\, p_j (1 - p_j)

    for M selections among d features, where :math:`p_j` is the share of selections that hold feature j and
    :math:`\bar k` the mean number of selected features [1]_. It is 1 for identical selections and has
    mean 0 for random ones; its least value is :math:`-1/(M - 1)`.

    Parameters
    ----------
    masks : array-like of shape (n_selections, n_features)
        One boolean (or 0/1) mask per row, for example ``support_`` of fits on bootstrap samples.

    Returns
    -------
    float
        If every mask is empty, or every mask is full, the formula is 0/0 and the value is 1: the
        selections are identical.

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
            f"masks must be a table of at least two selections, one per row, not of shape {chosen.shape}."
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
