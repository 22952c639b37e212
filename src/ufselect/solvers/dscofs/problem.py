"""The penalised double-sparsity problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator
from ufselect.sets.units import RowRules, Units


@dataclass(frozen=True)
class DoubleSparsePCA:
    r"""Double-sparsity constrained PCA with the two sparsity constraints penalised.

    .. math::

        \min_{X, Y, Z}\; -\mathrm{Tr}(X^\top S X) + \mu_1 \|X - Y\|_F^2 + \mu_2 \|X - Z\|_F^2
        \quad\text{s.t.}\quad X^\top X = I,\; \|Y\|_0 \le s,\; \|Z\|_{2,0} \le r

    Attributes
    ----------
    gram : GramOperator
        S, divided by the square of its ``scale``; all penalties are in the same units.
    n_rows, n_entries : int
        r and s. With ``n_entries`` equal to all entries and ``mu_entry`` zero there is no entry constraint.
    mu_row, mu_entry : float
        :math:`\mu_2` and :math:`\mu_1`.
    tau : float
        Proximal weight :math:`\tau_1` of the X-step.
    memory : float
        Share :math:`\tau_2 = \tau_3` with which Y and Z remember their last value.
    unit : float
        What counts as 1 in the stopping rule and in the bounds on step sizes.
    leading_variance : float
        Mean of the m largest eigenvalues of S, beside which penalties are small or large; 0 if not known.
    rules : RowRules or None
        Groups of rows that count as one in r, and rows that Z keeps in any case; None without any.
    """

    gram: GramOperator
    n_rows: int
    n_entries: int
    mu_row: float
    mu_entry: float
    tau: float
    memory: float
    unit: float
    leading_variance: float = 0.0
    rules: RowRules | None = None

    @property
    def units(self) -> Units:
        """The rows that count as one in r."""
        return Units.single(self.gram.shape[0]) if self.rules is None else self.rules.units

    @property
    def constrains_rows(self) -> bool:
        """Whether fewer rows, or groups of them, may differ from zero than there are."""
        return self.n_rows < (self.gram.shape[0] if self.rules is None else self.rules.units.count)

    def pull(self, Y: NDArray, Z: NDArray) -> NDArray:
        r"""Return :math:`\mu_1 Y + \mu_2 Z`, which draws X towards its sparse copies."""
        total = self.mu_entry * Y
        total += self.mu_row * Z
        return total

    def linear(self, X: NDArray, Y: NDArray, Z: NDArray) -> NDArray:
        r"""Return :math:`B = \mu_1 Y + \mu_2 Z + \tau_1 X`, the linear part of the X-step."""
        total = self.pull(Y, Z)
        total += self.tau * X
        return total

    def ascent(self, X: NDArray, product: NDArray, Y: NDArray, Z: NDArray) -> NDArray:
        """Return ``SX + B``, given ``product = S @ X``.

        It is half the negative gradient of the X-step at X, up to a multiple of X.
        """
        total = self.linear(X, Y, Z)
        total += product
        return total

    def objective(self, X: NDArray, product: NDArray, Y: NDArray, Z: NDArray) -> float:
        """Return f(X, Y, Z), given ``product = S @ X``."""
        return (
            -inner(X, product) + self.mu_entry * squared_distance(X, Y) + self.mu_row * squared_distance(X, Z)
        )


def squared_distance(first: NDArray, second: NDArray) -> float:
    """Return the squared Frobenius distance."""
    difference = first - second
    return inner(difference, difference)


def inner(first: NDArray, second: NDArray) -> float:
    """Return the Frobenius inner product; transposed, because the iterates are column-major."""
    return float(np.vdot(first.T, second.T))
