"""How much of the correlations between columns is sampling noise."""

from __future__ import annotations

import numpy as np

from ufselect.gram import GramOperator

# Beyond this share nothing would be left to tell columns apart.
MOST_SHRINKAGE = 0.9


def shrinkage_weight(gram: GramOperator, squared_norm: float) -> float:
    r"""Return the weight ρ of penalties :math:`\rho S_{jj}` that shrinks correlations best.

    Shrinking the off-diagonal entries of S by :math:`1 - \alpha` is the same as penalties with
    :math:`\rho = \alpha / (1 - \alpha)`. For normal data the variance of an entry is
    :math:`(S_{ii} S_{jj} + S_{ij}^2) / n`, so that the α of least expected squared error [1]_ is

    .. math:: \alpha = \frac1n \,
              \frac{\sum_{i \ne j} S_{ii} S_{jj} + S_{ij}^2}{\sum_{i \ne j} S_{ij}^2}.

    Parameters
    ----------
    gram : GramOperator
        S of the centred data.
    squared_norm : float
        :math:`\|S\|_F^2`.

    References
    ----------
    .. [1] J. Schäfer and K. Strimmer (2005), "A shrinkage approach to large-scale covariance matrix
       estimation", Statistical Applications in Genetics and Molecular Biology 4(1).
    """
    diagonal = np.asarray(gram.diag(), dtype=np.float64)
    squares = float(diagonal @ diagonal)
    off_diagonal = max(squared_norm - squares, 0.0)
    noise = (diagonal.sum() ** 2 - squares + off_diagonal) / gram.n_samples
    share = min(noise / off_diagonal, MOST_SHRINKAGE) if off_diagonal > 0 else MOST_SHRINKAGE
    return share / (1 - share)
