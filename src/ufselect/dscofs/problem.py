"""PCA with two sparse copies, the penalised double-sparsity problem, and bounds on what it can reach."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import UnitRequest, Units
from ufselect._solver.sets import Support, project_entries, project_rows
from ufselect.gram import GramOperator, Spectrum

PROVEN_GAP = 1e-10  # sums of eigenvalues that differ by less, relatively, differ by rounding


class SplitPCA(ABC):
    r"""PCA whose loadings X are pulled towards an entry-sparse copy Y and a row-sparse copy Z.

    .. math::

        \min_{X, Y, Z}\; -\mathrm{Tr}(X^\top S X) + \mu_1 \|X - Y\|_F^2 + \mu_2 \|X - Z\|_F^2 + g(Y) + h(Z)
        \quad\text{s.t.}\quad X^\top X = I

    A subclass is a choice of g and h: their proximal maps, `entry_step` and `row_step`, and their values,
    `penalty`, 0 for the indicator of a set. The proximal alternating loop needs nothing else.
    """

    gram: GramOperator  # S; all penalties are in its units
    mu_row: float
    mu_entry: float
    tau: float  # proximal weight τ₁ of the X-step
    memory: float  # proximal weight τ₂ = τ₃ of the Y- and the Z-step
    unit: float  # what counts as 1 in the stopping rule and in the bounds on step sizes
    leading_variance: float  # mean of the m largest eigenvalues, with which penalties are compared; or 0

    @abstractmethod
    def entry_step(self, X: NDArray, Y: NDArray, last: Support | None) -> tuple[NDArray, Support | None]:
        """Return the Y after X and the last Y, and its support (flat); None if all entries are kept."""

    @abstractmethod
    def row_step(self, X: NDArray, Z: NDArray, last: Support | None) -> tuple[NDArray, Support | None]:
        """Return the Z after X and the last Z, and the support of its rows; None if all are kept."""

    def penalty(self, Y: NDArray, Z: NDArray) -> float:
        """Return g(Y) + h(Z)."""
        return 0.0

    def pull(self, Y: NDArray, Z: NDArray) -> NDArray:
        r"""Return :math:`\mu_1 Y + \mu_2 Z`, which pulls X towards its sparse copies."""
        total = self.mu_entry * Y
        total += self.mu_row * Z
        return total

    def ascent(self, X: NDArray, product: NDArray, Y: NDArray, Z: NDArray) -> NDArray:
        r"""Return :math:`SX + \mu_1 Y + \mu_2 Z + \tau_1 X`, given ``product = S @ X``.

        It is half the negative gradient of the X-step at X, up to a multiple of X.
        """
        total = self.pull(Y, Z)
        total += self.tau * X
        total += product
        return total

    def objective(self, X: NDArray, product: NDArray | None, Y: NDArray, Z: NDArray) -> float:
        """Return f(X, Y, Z), given ``product = S @ X`` if it is known."""
        captured = self.gram.captured(X) if product is None else inner(X, product)
        to_entries = self.mu_entry * squared_distance(X, Y)
        return -captured + to_entries + self.mu_row * squared_distance(X, Z) + self.penalty(Y, Z)


@dataclass(frozen=True)
class DoubleSparsePCA(SplitPCA):
    """Double-sparsity constrained PCA: Y has at most s entries, Z at most r rows that are not zero.

    With ``n_entries`` equal to all entries and ``mu_entry`` zero there is no entry constraint.
    """

    gram: GramOperator
    n_rows: int  # r
    n_entries: int  # s
    mu_row: float
    mu_entry: float
    tau: float
    memory: float
    unit: float
    leading_variance: float = 0.0
    rules: UnitRequest | None = None  # groups that count as one in r, and rows that Z always keeps

    @property
    def units(self) -> Units:
        """The rows that count as one in r."""
        return Units.single(self.gram.shape[0]) if self.rules is None else self.rules.units

    def entry_step(self, X: NDArray, Y: NDArray, last: Support | None) -> tuple[NDArray, Support | None]:
        if self.n_entries >= X.size:
            return X, None
        average = proximal_average(X, Y, self.memory)
        return project_entries(average, self.n_entries, last, out=average)

    def row_step(self, X: NDArray, Z: NDArray, last: Support | None) -> tuple[NDArray, Support | None]:
        if self.n_rows >= (len(X) if self.rules is None else self.rules.units.count):
            return X, None
        average = proximal_average(X, Z, self.memory)
        return project_rows(average, self.n_rows, last, out=average, rules=self.rules)


def penalty_unit(
    gram: GramOperator, spectrum: Spectrum, penalties: Mapping[str, float], *, is_relative: bool
) -> float:
    """Return a penalty of 1 in units of the operator; raise an error if penalties would overflow.

    Relative penalties are in units of the largest eigenvalue of S, absolute ones in those of the data.
    """
    unit = float(spectrum.values[0]) if is_relative else 1 / gram.scale / gram.scale
    largest = float(np.finfo(gram.dtype).max) ** 0.4  # its square leaves a fifth of the range for sums
    for name, value in penalties.items():
        if not value * unit < largest:
            raise ValueError(
                f"{name}={value} is too large for data of this scale and would overflow; "
                f"use a value below {largest / unit:.0e}, or rescale X."
            )
    return unit


def proximal_average(X: NDArray, last: NDArray, memory: float) -> NDArray:
    """Return the paper's ``(X + τ last) / (1 + τ)``."""
    average = last - X
    average *= memory / (1 + memory)
    average += X
    return average


def squared_distance(first: NDArray, second: NDArray) -> float:
    """Return the squared Frobenius distance."""
    difference = first - second
    return inner(difference, difference)


def inner(first: NDArray, second: NDArray) -> float:
    """Return the Frobenius inner product, column by column: in float32 one long sum loses digits."""
    return float(np.vecdot(first.T, second.T).sum(dtype=np.float64))


def variance_bound(
    spectrum: Spectrum, diagonal: NDArray, n_rows: int, n_components: int, units: Units | None = None
) -> float:
    r"""Bound the variance that ``n_rows`` features can have along ``n_components`` orthonormal axes.

    .. math::

        \max_{X}\; \mathrm{Tr}(X^\top S X) \quad\text{s.t.}\quad X^\top X = I_m,\; \|X\|_{2,0} \le r

    is at most the sum of the m largest eigenvalues of S, at most the sum of the r largest diagonal entries,
    and at most the value of :func:`spectral_bound`; the smallest of the three is returned. If rows come in
    groups, a group counts as one row, with the norm over it in each eigenvector and the sum over it in the
    diagonal of S. The spectrum has at least m pairs unless the rank is smaller; more can only tighten the
    bound.
    """
    if units is not None and not units.is_single:
        squares = np.square(spectrum.vectors, dtype=np.float64)
        norms = np.sqrt([units.sums(column) for column in squares.T]).T
        spectrum, diagonal = Spectrum(spectrum.values, norms, spectrum.error), units.sums(diagonal)
    eigenvalues = float(spectrum.values[:n_components].sum(dtype=np.float64))
    largest = float(np.sort(np.asarray(diagonal, dtype=np.float64))[::-1][:n_rows].sum())
    spectral = spectral_bound(spectrum, n_rows, n_components, is_complete=False)
    # Rounding must not make the bound too small.
    return min(eigenvalues, largest, spectral) * (1 + max(spectrum.error, 1e-12))


def spectral_bound(spectrum: Spectrum, n_rows: int, n_components: int, *, is_complete: bool) -> float:
    r"""Bound the variance by how much of each eigenvector r rows can hold.

    With eigenpairs :math:`(\lambda_k, v_k)` the variance is :math:`\sum_k \lambda_k \theta_k` with
    :math:`\theta_k = \|X^\top v_k\|^2`. An X with r non-zero rows has :math:`\theta_k \le t_k`, the sum of
    the r largest squared entries of :math:`v_k`, and orthonormal columns give :math:`\sum_k \theta_k \le m`.
    Filling the largest eigenvalues first solves this linear programme. It is the relaxation by projections on
    eigenvectors of Dey, Molinaro and Wang (2020, arXiv:2006.01242) and Wang and Dey (2020, ICML), with the
    bound on each projection that row sparsity gives. Unless the spectrum ``is_complete``, with all non-zero
    eigenvalues, the rest of m counts with the smallest given eigenvalue.
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

    It is 0 if the bound is reached up to rounding: the captured variance is then proven to be the best.
    """
    gap = 1 - captured / bound if bound > 0 else 0.0
    return float(min(gap, 1.0)) if gap > PROVEN_GAP else 0.0


def optimality_message(gap: float) -> str:
    """Return the meaning of a gap in words."""
    if gap < 5e-4:  # would read 0.0 %
        return "provably the best possible, to within 0.05 %"
    return f"within {100 * gap:.1f} % of the best possible"
