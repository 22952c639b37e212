"""A quadratic whose rows with a large added diagonal are eliminated before the eigenproblem is solved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.solvers.reweighted.quadratic import FactoredQuadratic, FormedQuadratic

HEAVY = 1e4
WORTHWHILE = 0.8


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
    quadratic : FormedQuadratic or FactoredQuadratic
        A positive semidefinite M.
    """

    def __init__(self, quadratic: FormedQuadratic | FactoredQuadratic) -> None:
        self.quadratic = quadratic
        if isinstance(quadratic, FormedQuadratic):
            self.diagonal = quadratic.matrix.diagonal().copy()
        else:
            self.diagonal = np.einsum("ij,ij->j", quadratic.factor, quadratic.factor)

    @property
    def order(self) -> int:
        return self.quadratic.order

    @property
    def size(self) -> float:
        return float(self.diagonal.max())

    def matmat(self, vectors: NDArray) -> NDArray:
        return self.quadratic.matmat(vectors)

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        heavy = diagonal > HEAVY * (self.size + float(diagonal.min()))
        n_light = int(np.count_nonzero(~heavy))
        if n_light < count or n_light > WORTHWHILE * self._direct_order():
            return self.quadratic.lowest(diagonal, count, start)
        return self._eliminate(diagonal, np.flatnonzero(~heavy), np.flatnonzero(heavy), count, start)

    def _direct_order(self) -> int:
        """Return up to which order the light rows are solved faster by themselves."""
        if isinstance(self.quadratic, FactoredQuadratic):
            return self.quadratic.factor.shape[0]
        return self.order

    def _eliminate(
        self, diagonal: NDArray, light: NDArray, heavy: NDArray, count: int, start: NDArray
    ) -> NDArray:
        columns = self._columns(light)
        coupling = columns[heavy]
        stiffness = (diagonal[heavy] + self.diagonal[heavy])[:, None]
        correction = coupling.T @ (coupling / stiffness)
        reduced = FormedQuadratic(columns[light] - correction, floor=-float(correction.trace()))
        vectors = np.zeros((self.order, count))
        vectors[light] = reduced.lowest(diagonal[light], count, start[light])[:, :count]
        vectors[heavy] = -(coupling @ vectors[light]) / stiffness
        return _orthonormal(vectors)

    def _columns(self, indices: NDArray) -> NDArray:
        if isinstance(self.quadratic, FormedQuadratic):
            return self.quadratic.matrix[:, indices]
        return self.quadratic.factor.T @ self.quadratic.factor[:, indices]


def _orthonormal(vectors: NDArray) -> NDArray:
    """Return nearly orthonormal columns made orthonormal without mixing rows."""
    triangle = linalg.cholesky(vectors.T @ vectors, check_finite=False)
    return linalg.solve_triangular(triangle, vectors.T, trans="T", check_finite=False).T
