r"""The reweighted eigenproblem: a quadratic on the Stiefel manifold with an :math:`\ell_{2,p}` penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect.solvers.iterate import Descent
from ufselect.solvers.reweighted.quadratic import Quadratic

EPSILON = float(np.finfo(np.float64).eps)  # the ε of the published programs
RESOLUTION = 1e-14  # relative decrease that rounding of a sum of squares still shows
LARGE = 1e3  # diagonal over M, from which a row read off the eigen-equation is the more accurate one


def row_penalty(squared_norms: NDArray, p: float) -> float:
    r"""Return :math:`\sum_j (\|w_j\|^2 + \varepsilon)^{p/2}`, the smoothed :math:`\|W\|_{2,p}^p`."""
    return float(np.sum((squared_norms + EPSILON) ** (p / 2)))


def row_weights(squared_norms: NDArray, p: float) -> NDArray:
    r"""Return :math:`\tfrac{p}{2} (\|w_j\|^2 + \varepsilon)^{(p-2)/2}`, the slopes of the row penalty.

    The penalty is concave in the squared row norms for p ≤ 2, so that these weights turn it into a
    quadratic that lies above it and touches it at the current rows.

    Parameters
    ----------
    squared_norms : ndarray of shape (n_rows,)
        Squared Euclidean norms of the rows.
    p : float
        Exponent in (0, 2].

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.solvers.reweighted.eigenproblem import row_weights
    >>> row_weights(np.array([1.0, 4.0]), p=1).round(6).tolist()
    [0.5, 0.25]
    """
    return p / 2 * (squared_norms + EPSILON) ** ((p - 2) / 2)


@dataclass(frozen=True)
class Projection:
    """A point of the run: the vectors, guards perhaps behind them, their squared row norms, the objective."""

    vectors: NDArray
    squared_norms: NDArray
    objective: float


class ReweightedEigenproblem(Descent):
    r"""Minimise a quadratic and a row penalty over matrices with orthonormal columns:

    .. math::

        \min_{W^\top W = I}\; \mathrm{Tr}(W^\top M W) + \gamma \sum_j (\|w_j\|^2 + \varepsilon)^{p/2}.

    Each step puts the row weights of the current W on the diagonal of M and takes the lowest eigenvectors of
    the sum: the exact minimiser of a quadratic above the objective, which therefore never rises.

    Parameters
    ----------
    quadratic : Quadratic
        The matrix M.
    n_components : int
        Number of columns of W.
    gamma : float
        Weight of the penalty.
    p : float
        Exponent in (0, 2].
    vectors : ndarray of shape (order, any)
        Vectors near the start, from which the first eigenproblem is solved.
    squared_norms : ndarray of shape (order,)
        Squared row norms of the start, or their mean where the start is one of many.
    quadratic_value : float
        The value of the quadratic at the start.
    unit : float
        What the stopping rule adds to the objective's size.
    """

    resolution = RESOLUTION

    def __init__(
        self,
        quadratic: Quadratic,
        n_components: int,
        gamma: float,
        p: float,
        *,
        vectors: NDArray,
        squared_norms: NDArray,
        quadratic_value: float,
        unit: float = 0.0,
    ) -> None:
        self.quadratic = quadratic
        self.n_components = n_components
        self.gamma = gamma
        self.p = p
        self.unit = unit
        self._start = Projection(
            vectors, squared_norms, quadratic_value + gamma * row_penalty(squared_norms, p)
        )

    def init(self) -> Projection:
        return self._start

    def step(self, state: Projection) -> Projection:
        diagonal = self.gamma * row_weights(state.squared_norms, self.p)
        vectors = self.quadratic.lowest(diagonal, self.n_components, state.vectors)
        wanted = vectors[:, : self.n_components]
        product = self.quadratic.matmat(wanted)
        value = float(np.vdot(wanted, product))
        vectors[:, : self.n_components] = self._with_sharp_rows(wanted, product, diagonal)
        squared_norms = np.einsum("ij,ij->i", wanted, wanted)
        penalty = self.gamma * row_penalty(squared_norms, self.p)
        objective = value + penalty
        if objective > state.objective and state is not self._start:
            return state  # nothing is left but rounding
        if 0 < objective - state.objective <= RESOLUTION * (abs(value) + penalty):
            objective = state.objective  # a start may be a mean, which cannot be kept; the rise is rounding
        return Projection(vectors, squared_norms, objective)

    def _with_sharp_rows(self, vectors: NDArray, product: NDArray, diagonal: NDArray) -> NDArray:
        """Return eigenvectors whose rows have full relative accuracy where the diagonal is large.

        Row j of ``(M + diag(δ)) w = θ w`` says ``w_j = −(M w)_j / (δ_j − θ)``. Where δ_j is large this is
        much smaller than the rounding of w, but it ranks the features that the penalty has all but removed.
        """
        weighed = diagonal[:, None] * vectors
        values = np.einsum("ij,ij->j", vectors, product + weighed)
        large = diagonal > LARGE * max(self.quadratic.size, float(np.abs(values).max()))
        sharp = vectors.copy()
        sharp[large] = -product[large] / (diagonal[large, None] - values)
        return sharp
