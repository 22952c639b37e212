"""Greedy choice of features, one unit at a time, through products with the Gram matrix alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.gram import GramOperator, Spectrum
from ufselect.sets.units import Units
from ufselect.solvers.agenda import Agenda

# A feature whose residual has fallen to this many roundings of its variance lies in the span of those chosen.
SPENT_SHARE = 1e3


class Target(Protocol):
    """What the chosen features are to explain: its products with what they leave of every feature."""

    def gains(self, residual: NDArray) -> NDArray:
        """Return what each feature would add, given what is left of its variance."""

    def block(self, unit: int) -> NDArray:
        """Return the inner products of the features of a unit through the target."""

    def deflate(self, column: NDArray, chosen: int, root: float, earlier: NDArray) -> None:
        """Take out a direction: a column of the residual Gram matrix over the root of its pivot."""


class GivenTargets:
    r"""Targets T, orthonormal columns over the samples, given as :math:`T^\top A` in the operator's units."""

    def __init__(self, products: NDArray, units: Units) -> None:
        self.products = products
        self.units = units

    def gains(self, residual: NDArray) -> NDArray:
        return np.einsum("ij,ij->j", self.products, self.products) / residual

    def block(self, unit: int) -> NDArray:
        products = self.products[:, self.units.members(unit)]
        return products.T @ products

    def deflate(self, column: NDArray, chosen: int, root: float, earlier: NDArray) -> None:
        self.products = self.products - np.outer(self.products[:, chosen] / root, column)


class AllFeatures:
    r"""All features as the target: the squared residual Gram matrix :math:`R^2`, on its diagonal and units.

    A direction c changes R to :math:`R - cc^\top`, so :math:`R^2` loses
    :math:`c(Rc)^\top + (Rc)c^\top - \|c\|^2 cc^\top`: two products with a vector a step, and no residual
    matrix [1]_.

    References
    ----------
    .. [1] A. K. Farahat, A. Ghodsi and M. S. Kamel (2013), "Efficient greedy feature selection for
       unsupervised learning", Knowledge and Information Systems 35.
    """

    def __init__(self, gram: GramOperator, units: Units) -> None:
        self.gram = gram
        self.units = units
        self.explained = gram.squared_column_norms()
        self.blocks = {int(unit): _squared_block(gram, units.members(unit)) for unit in units.shared}

    def gains(self, residual: NDArray) -> NDArray:
        return np.maximum(self.explained, 0) / residual

    def block(self, unit: int) -> NDArray:
        return self.blocks[unit]

    def deflate(self, column: NDArray, chosen: int, root: float, earlier: NDArray) -> None:
        image = _product(self.gram, column) - earlier.T @ (earlier @ column)
        length = float(column @ column)
        self.explained = self.explained - 2 * column * image + length * np.square(column)
        for unit, block in self.blocks.items():
            members = self.units.members(unit)
            c, seen = column[members], image[members]
            crossed = np.outer(c, seen)
            self.blocks[unit] = block - crossed - crossed.T + length * np.outer(c, c)


def _squared_block(gram: GramOperator, members: NDArray) -> NDArray:
    columns = np.asarray(gram.columns(members), dtype=np.float64)
    return columns.T @ columns


def score_products(spectrum: Spectrum) -> NDArray:
    """Return the products of the whitened principal-component scores with the centred data."""
    return np.sqrt(np.asarray(spectrum.values, dtype=np.float64))[:, None] * spectrum.vectors.T


def greedy_projection(
    gram: GramOperator, target: Target, agenda: Agenda, allowed: NDArray
) -> tuple[NDArray, NDArray]:
    r"""Choose features whose span explains most of a target, one unit at a time.

    Maximises :math:`\|P_C T\|_F^2`. With R what the chosen features leave of S and N its inner products
    through the target, a unit G adds :math:`\mathrm{Tr}(R_{GG}^{+} N_{GG})`.

    Parameters
    ----------
    gram : GramOperator
        S of the centred data.
    target : Target
        What is to be explained; changed on the way.
    agenda : Agenda
        How many units to choose, and which first.
    allowed : ndarray of bool
        The features to choose from; the agenda's first units need not be among them.

    Returns
    -------
    order : ndarray
        The units chosen, first one first; fewer than asked for once they span all allowed features.
    gains : ndarray of shape (n_units,)
        What each unit would add at the end; 0 for those chosen or spent.
    """
    growth = _Growth(gram, target, agenda, allowed)
    for unit in agenda.first:
        growth.add(int(unit))
    gains = growth.gains()
    while len(growth.order) < agenda.n_chosen and np.any(growth.open_units()):
        growth.add(int(np.argmax(np.where(growth.open_units(), gains, -np.inf))))
        gains = growth.gains()
    return np.array(growth.order, dtype=np.intp), gains


class _Growth:
    """A pivoted Cholesky factorisation of S whose pivots the gains decide.

    Column j of the residual Gram matrix is that of S less what the chosen features explain.
    """

    def __init__(self, gram: GramOperator, target: Target, agenda: Agenda, allowed: NDArray) -> None:
        self.gram = gram
        self.target = target
        self.units = agenda.units
        self.residual = np.asarray(gram.diag(), dtype=np.float64).copy()
        self.floor = self.residual * np.finfo(gram.dtype).eps * SPENT_SHARE
        self.open = allowed & (self.residual > self.floor)
        self.factor = np.zeros((agenda.capacity, self.residual.size))
        self.rank = 0
        self.order: list[int] = []
        self.blocks = {
            int(unit): gram.subgram(self.units.members(unit)).astype(np.float64) for unit in self.units.shared
        }

    def open_units(self) -> NDArray:
        """Mark the units that have a feature outside the span."""
        return self.units.sums(self.open) > 0

    def gains(self) -> NDArray:
        """Return what each unit would add, 0 where it is not open."""
        columns = np.where(self.open, self.target.gains(np.where(self.open, self.residual, 1.0)), 0.0)
        gains = self.units.sums(columns)
        is_open = self.open_units()
        for unit in self.units.shared[is_open[self.units.shared]]:
            gains[unit] = self._block_gain(int(unit))
        return gains

    def add(self, unit: int) -> None:
        """Let the features of a unit join, those that lie in the span without effect."""
        for feature in self.units.members(unit):
            if self.residual[feature] > self.floor[feature]:
                self._pivot(int(feature))
            self.open[feature] = False
        self.order.append(unit)

    def _pivot(self, feature: int) -> None:
        earlier = self.factor[: self.rank]
        own = np.asarray(self.gram.columns(np.array([feature]))[:, 0], dtype=np.float64)
        root = np.sqrt(self.residual[feature])
        column = (own - earlier.T @ earlier[:, feature]) / root
        self.target.deflate(column, feature, root, earlier)
        self.factor[self.rank] = column
        self.rank += 1
        self.residual -= np.square(column)
        self.open &= self.residual > self.floor

    def _block_gain(self, unit: int) -> float:
        members = self.units.members(unit)
        factor = self.factor[: self.rank, members]
        values, vectors = linalg.eigh(self.blocks[unit] - factor.T @ factor, check_finite=False)
        kept = values > self.floor[members].max()
        seen = np.einsum("ik,ij,jk->k", vectors[:, kept], self.target.block(unit), vectors[:, kept])
        return float(np.maximum(seen, 0) @ (1 / values[kept]))


def scores_of_rounds(gram: GramOperator, make_target: Callable[[], Target], agenda: Agenda) -> NDArray:
    """Choose greedily in rounds; once the chosen span all others, the next round is among the rest.

    The t-th unit chosen scores n_chosen + 1 − t, the others the share, below 1, of what remains to explain.
    """
    allowed = gram.diag() > 0
    order = np.empty(0, dtype=np.intp)
    gains = np.zeros(agenda.units.count)
    while order.size < agenda.n_chosen and (order.size < agenda.first.size or np.any(allowed)):
        chosen, gains = greedy_projection(gram, make_target(), agenda.after(order), allowed)
        order = np.append(order, chosen)
        allowed[agenda.columns_of(chosen)] = False
    scores = gains / (1 + gains.sum())
    scores[order] = agenda.n_chosen - np.arange(order.size)
    return agenda.units.of_rows(scores)


def _product(gram: GramOperator, vector: NDArray) -> NDArray:
    column = vector.astype(gram.dtype)[:, None]
    return np.asarray(gram.matmat(column)[:, 0], dtype=np.float64)
