"""IF-PCA: select the features that are far from normal, as many as Higher Criticism finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtr

from ufselect._columns import SelectionRequest
from ufselect.base import FitResult, UnsupervisedSelector
from ufselect.exceptions import ConstantDataError
from ufselect.gram.rows import row_blocks


@dataclass(kw_only=True, eq=False, repr=False)
class IFPCA(UnsupervisedSelector):
    r"""Select features whose values are far from a normal distribution, and choose how many.

    IF-PCA [1]_ was made for gene expression: few rows and many columns, most of them about normal. A feature
    that differs between clusters is a mixture, and a mixture is not normal. The Kolmogorov–Smirnov statistic
    compares each feature with a normal distribution, and Higher Criticism chooses how many to select.
    Nothing has to be tuned.

    Do not use it if features are not normal for other reasons: pixels, counts, shares and categories all
    score high. Each feature is scored alone, so redundant ones are selected together. ``"auto"`` always
    selects some features: from a few to half of them even if all are normal noise.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        Number r of features to select, or their share; ``"auto"`` selects those above the threshold of
        Higher Criticism.
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The statistics :math:`\psi_j`; 0 for constant features, which come last.
    {ranking_and_support}
    pvalues_ : ndarray of shape (n_features,)
        P-values of the renormalised statistics; 1 for constant features.
    n_influential_ : int
        Number of features above the threshold of Higher Criticism, whatever ``n_features_to_select`` is.

    See Also
    --------
    MaxVariance : A simpler ranking of single features, better on the genes of our benchmark.
    MCFS : Find clusters from neighbouring rows, without assuming normal features.
    ReconstructionSelector : Select few columns from which the others can be reconstructed.

    Notes
    -----
    Let :math:`F_j` be the empirical distribution of feature j, standardised by its own mean and standard
    deviation. The statistic is

    .. math:: \psi_j = \sqrt n\, \sup_t |F_j(t) - \Phi(t)| .

    Most features are assumed to have no clusters but not to be exactly normal. The statistics are therefore
    shifted and scaled to the median and the quartiles of their distribution for normal data (Efron's
    empirical null), which is simulated once for each number of rows, with a fixed seed. [1]_ uses mean and
    standard deviation, which strong clusters inflate until half of all features are selected. With the sorted
    p-values :math:`\pi_{(1)} \le \dots \le \pi_{(d)}`,

    .. math::

        \mathrm{HC}_k = \frac{\sqrt d\, (k/d - \pi_{(k)})}
            {\sqrt{\max\{\sqrt n\, (k/d - \pi_{(k)}), 0\} + k/d}},

    and the k with the largest value, among k ≤ d/2 with :math:`\pi_{(k)} > \log(d) / d`, is the number of
    features. [1]_ then clusters the rows by PCA on them. Without clusters the largest value is due to chance
    and may be at any k; [1]_ does not test for this either, and selects as many.

    Costs n log n d. Columns, dense or sparse, are processed in blocks. The scales of features do not matter.

    References
    ----------
    .. [1] J. Jin and W. Wang (2016), "Influential features PCA for high dimensional clustering", The Annals
       of Statistics 44(6).

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect import IFPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 500))
    >>> X[:40, :20] += 8  # twenty columns tell two clusters apart
    >>> selector = IFPCA().fit(X)
    >>> bool(selector.support_[:20].all()), bool(selector.n_influential_ < 40)
    (True, True)
    """

    accepts_sparse = True
    chooses_count = True
    label = "IF-PCA"
    cost = "n log n d"
    is_nested = True
    depends_on_scale = False
    feature_axes: ClassVar = {"pvalues_": 0}

    pvalues_: NDArray = field(init=False)
    n_influential_: int = field(init=False)

    n_features_to_select: int | float | str = field(default="auto", kw_only=False)

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        scores = normality_statistics(X)
        varying = np.flatnonzero(scores)
        if varying.size == 0:
            raise ConstantDataError
        pvalues = np.ones(scores.size)
        pvalues[varying] = empirical_null_pvalues(scores[varying], X.shape[0])
        threshold = np.sort(scores)[-higher_criticism_count(pvalues[varying], X.shape[0])]
        attributes = {
            "pvalues_": pvalues,
            "n_influential_": int(np.count_nonzero(scores >= threshold)),
        }
        if self._is_auto:
            n_selected = np.count_nonzero(request.units.means(scores) >= threshold)
            attributes["n_selected"] = max(1, int(n_selected), request.kept.size)
        return scores, attributes


def normality_statistics(X: Any) -> NDArray:
    """Return √n times the largest distance of each standardised feature to Φ, 0 for constant features."""
    n_samples, n_features = X.shape
    X = X.tocsc() if sparse.issparse(X) else X
    steps = np.arange(n_samples + 1)[:, None] / n_samples
    statistics = np.zeros(n_features)
    for columns in row_blocks(n_features, 8 * n_samples, 2**24, min_rows=1):
        block = X[:, columns].toarray() if sparse.issparse(X) else X[:, columns]
        values = np.sort(block.astype(np.float64), axis=0) / 2  # differences of the largest numbers overflow
        middle, spread = values[n_samples // 2], values[-1] - values[0]
        varies = spread > 0
        values = (values[:, varies] - middle[varies]) / spread[varies]  # in a range where squares are safe
        values -= values.mean(axis=0)
        values /= values.std(axis=0, ddof=1)
        heights = ndtr(values)
        distance = np.maximum(steps[1:] - heights, heights - steps[:-1]).max(axis=0)
        statistics[columns][varies] = np.sqrt(n_samples) * distance
    return statistics


def empirical_null_pvalues(statistics: NDArray, n_samples: int) -> NDArray:
    """Return the p-values of statistics that are shifted and scaled to the quartiles of normal data."""
    # More than 200 rows change the distribution by less than the simulation does.
    null = null_statistics(min(n_samples, 200))
    lower, middle, upper = np.quantile(null, [0.25, 0.5, 0.75])
    first, median, third = np.quantile(statistics, [0.25, 0.5, 0.75])
    unit = (upper - lower) / (third - first) if third > first else 1.0
    values = middle + unit * (statistics - median)
    pvalues = (null.size - np.searchsorted(null, values, side="left")) / null.size
    # In the last hundredth the logarithm falls about linearly with the square of the statistic.
    tail = null[-null.size // 100 :]
    if tail[-1] <= tail[0] * (1 + 1e-6):  # two or three rows: all columns have the same statistic
        return pvalues
    shares = np.arange(tail.size, 0, -1) / null.size
    slope, height = np.polyfit(tail**2, np.log(shares), 1)
    with np.errstate(under="ignore"):
        return np.where(values > tail[0], np.minimum(np.exp(height + slope * values**2), shares[0]), pvalues)


@lru_cache(maxsize=8)
def null_statistics(n_samples: int, n_draws: int = 10_000) -> NDArray:
    """Return the sorted statistics of simulated normal features."""
    normal = np.random.default_rng(0).standard_normal((n_samples, n_draws))
    return np.sort(normality_statistics(normal))


def higher_criticism_count(pvalues: NDArray, n_samples: int) -> int:
    """Return the number of features above the threshold of Higher Criticism, at least 1."""
    n_features = pvalues.size
    ordered = np.sort(pvalues)
    shares = np.arange(1, n_features + 1) / n_features
    excess = shares - ordered
    criticism = np.sqrt(n_features) * excess / np.sqrt(np.maximum(np.sqrt(n_samples) * excess, 0) + shares)
    allowed = (shares <= 0.5) & (ordered > np.log(n_features) / n_features)
    if not allowed.any():
        return max(1, n_features // 2)
    return int(np.argmax(np.where(allowed, criticism, -np.inf))) + 1
