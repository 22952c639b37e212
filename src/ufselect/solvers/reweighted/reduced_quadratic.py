"""A quadratic whose rows with a large added diagonal are eliminated before the eigenproblem is solved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.solvers.reweighted.quadratic import FormedQuadratic, Semidefinite

HEAVY = 1e4  # the error is the square of its inverse, about 1e-8
WORTHWHILE = 0.8  # share of light rows above which eliminating the others costs more than it saves


class ReducedQuadratic:
    r"""M as the reweighted eigenproblem needs it, at the cost of its light rows.

    A row that the penalty has driven to nearly zero has a large entry D in the added diagonal. With A the
    light and I the heavy rows, the lowest eigenvectors of the sum are, to second order in
    :math:`\|M\| / D`, those of the Schur complement on A, and follow from them on I:

    .. math::

        M_{AA} + \mathrm{diag}_A - M_{AI} D^{-1} M_{IA}, \qquad W_I = -D^{-1} M_{IA} W_A.

    Rows count as heavy if D is more than 10⁴ times the largest entry of M, so that the eigenvectors are
    accurate to about 1e-8.

    Parameters
    ----------
    quadratic : Semidefinite
        The matrix M.
    """

    def __init__(self, quadratic: Semidefinite) -> None:
        self.quadratic = quadratic

    @property
    def order(self) -> int:
        return self.quadratic.order

    @property
    def size(self) -> float:
        return self.quadratic.size

    def matmat(self, vectors: NDArray) -> NDArray:
        return self.quadratic.matmat(vectors)

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        heavy = diagonal > HEAVY * (self.size + float(diagonal.min()))
        n_light = int(np.count_nonzero(~heavy))
        if n_light < count or n_light > WORTHWHILE * self.quadratic.direct_order:
            return self.quadratic.lowest(diagonal, count, start)
        return self._eliminate(diagonal, np.flatnonzero(~heavy), np.flatnonzero(heavy), count, start)

    def _eliminate(
        self, diagonal: NDArray, light: NDArray, heavy: NDArray, count: int, start: NDArray
    ) -> NDArray:
        columns = self.quadratic.columns(light)
        coupling = columns[heavy]
        stiffness = (diagonal[heavy] + self.quadratic.diagonal[heavy])[:, None]
        correction = coupling.T @ (coupling / stiffness)
        reduced = FormedQuadratic(columns[light] - correction, floor=-float(correction.trace()))
        vectors = np.zeros((self.order, count))
        vectors[light] = reduced.lowest(diagonal[light], count, start[light])[:, :count]
        vectors[heavy] = -(coupling @ vectors[light]) / stiffness
        return _orthonormal(vectors)


def _orthonormal(vectors: NDArray) -> NDArray:
    """Return nearly orthonormal columns made orthonormal without mixing rows."""
    triangle = linalg.cholesky(vectors.T @ vectors, check_finite=False)
    return linalg.solve_triangular(triangle, vectors.T, trans="T", check_finite=False).T
