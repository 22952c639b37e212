"""How good a selection can be at best: upper bounds on the variance of a row-sparse projection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import Spectrum
from ufselect.sets.units import Units

NEGLIGIBLE = 5e-4  # gaps that round to 0.0 %
PROVEN_GAP = 1e-10  # sums of eigenvalues that differ by less, relatively, differ by rounding
ROUNDING = 1e-12  # relative slack that keeps rounding from turning a bound into a false claim


def bound_from_spectrum(spectrum: Spectrum, diagonal: NDArray, n_rows: int, n_components: int) -> float:
    r"""Bound the variance that ``n_rows`` features can carry along ``n_components`` orthonormal axes.

    .. math::

        \max_{X}\; \mathrm{Tr}(X^\top S X) \quad\text{s.t.}\quad X^\top X = I_m,\; \|X\|_{2,0} \le r

    is at most the sum of the m largest eigenvalues of S, at most the sum of the r largest diagonal entries,
    and at most the value of :func:`spectral_bound`; the smallest of the three is returned.

    Parameters
    ----------
    spectrum : Spectrum
        Leading eigenpairs of S, at least m unless its rank is smaller. More can only tighten the bound.
    diagonal : ndarray of shape (n_features,)
        The diagonal of S.
    n_rows, n_components : int
        r and m.

    Returns
    -------
    float
        In the units of S.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.gram import gram_operator
    >>> from ufselect.solvers.row_sparse.certificates import bound_from_spectrum
    >>> gram = gram_operator(np.random.default_rng(0).standard_normal((50, 8)) * np.arange(1, 9))
    >>> bound = bound_from_spectrum(gram.eigenpairs(2), gram.diag(), n_rows=3, n_components=2)
    """
    eigenvalues = float(spectrum.values[:n_components].sum(dtype=np.float64))
    variances = np.asarray(diagonal, dtype=np.float64)
    largest = float(np.sort(variances)[::-1][:n_rows].sum())
    spectral = spectral_bound(spectrum, n_rows, n_components, is_complete=False)
    return min(eigenvalues, largest, spectral) * (1 + ROUNDING)


def of_units(spectrum: Spectrum, units: Units) -> Spectrum:
    """Return eigenpairs with one entry for each group of features, the norm over it.

    What r rows can hold of an eigenvector at most, r groups can hold of these.
    """
    if units.is_single:
        return spectrum
    squares = np.square(spectrum.vectors, dtype=np.float64)
    return Spectrum(spectrum.values, np.sqrt([units.sums(column) for column in squares.T]).T)


def spectral_bound(spectrum: Spectrum, n_rows: int, n_components: int, *, is_complete: bool) -> float:
    r"""Bound the variance by how much of each eigenvector r rows can hold.

    With eigenpairs :math:`(\lambda_k, v_k)` the variance is :math:`\sum_k \lambda_k \theta_k` with
    :math:`\theta_k = \|X^\top v_k\|^2`. An X with r non-zero rows has
    :math:`\theta_k \le t_k`, the sum of the r largest squared entries of :math:`v_k`, and orthonormal
    columns give :math:`\sum_k \theta_k \le m`. Filling the largest eigenvalues first solves this linear
    programme. It is the relaxation by projections on eigenvectors of [1]_, [2]_ with the bound on each
    projection that row sparsity gives.

    Parameters
    ----------
    spectrum : Spectrum
        Leading eigenpairs.
    n_rows, n_components : int
        r and m.
    is_complete : bool
        Whether all non-zero eigenvalues are given; otherwise what the given pairs leave of m counts with the
        smallest of them.

    References
    ----------
    .. [1] S. S. Dey, M. Molinaro, G. Wang (2020), "Solving sparse principal component analysis with global
       support", arXiv:2006.01242.
    .. [2] G. Wang, S. S. Dey (2020), "Upper bounds for model-free row-sparse principal component analysis",
       ICML.
    """
    values = np.asarray(spectrum.values, dtype=np.float64)
    squares = np.asarray(spectrum.vectors, dtype=np.float64) ** 2
    first = len(squares) - n_rows
    shares = np.minimum(np.partition(squares, first, axis=0)[first:].sum(axis=0), 1.0)
    filled = np.minimum(np.cumsum(shares), n_components)
    theta = np.diff(filled, prepend=0.0)
    left = 0.0 if is_complete else float(n_components - filled[-1])
    return float(values @ theta) + left * float(values[-1])


def optimality_gap(captured: float, bound: float) -> float:
    """Return the largest share of the best possible variance that can be missing, between 0 and 1.

    It is 0 where the bound is reached up to rounding: what is captured is then proven to be the best.
    """
    gap = 1 - captured / bound if bound > 0 else 0.0
    return float(min(gap, 1.0)) if gap > PROVEN_GAP else 0.0


def optimality_message(gap: float) -> str:
    """Say what a gap means to a reader."""
    if gap < NEGLIGIBLE:
        return "provably the best possible, to within 0.05 %"
    return f"within {100 * gap:.1f} % of the best possible"
