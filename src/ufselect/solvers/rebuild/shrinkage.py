"""How much of the correlations between columns is sampling noise."""

from __future__ import annotations

import numpy as np

from ufselect.gram import GramOperator

# The best linear shrinkage of a covariance matrix is not the best for a set chosen from it: the choice
# prefers correlations that chance has made large. Twice the share did best on the development sets.
CHOICE_BIAS = 2.0
MOST_SHRINKAGE = 0.9


def diagonal_penalty(gram: GramOperator, squared_norm: float, bias: float = CHOICE_BIAS) -> float:
    r"""Return the weight ρ of the penalties :math:`\pi_j = \rho S_{jj}`, from the data.

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
    bias : float, optional
        Factor of ρ: 1 for a map from given columns, by default what choosing them asks for.

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
    return bias * share / (1 - share)
