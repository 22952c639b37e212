"""Greedy choice of features, one unit at a time, through products with the Gram matrix alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ufselect.common.deadline import check_time
from ufselect.gram import GramOperator, Spectrum
from ufselect.sets.units import Units
from ufselect.solvers.agenda import Agenda
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.unit_blocks import block_gains, crossed, gram_blocks, outer, squared_blocks

# A feature whose residual has fallen to this many roundings of its variance lies in the span of those chosen.
SPENT_SHARE = 1e3


class Target(Protocol):
    """What the chosen features are to explain: its products with what they leave of every feature."""

    def gains(self, residual: NDArray) -> NDArray:
        """Return what each feature would add, given what is left of its variance."""

    def blocks(self, batch: int) -> NDArray:
        """Return the inner products through the target of the features of each unit of a batch."""

    def deflate(self, column: NDArray, chosen: int, root: float, earlier: NDArray) -> None:
        """Take out a direction: a column of the residual Gram matrix over the root of its pivot."""


class GivenTargets:
    r"""Targets T, orthonormal columns over the samples, given as :math:`T^\top A` in the operator's units."""

    def __init__(self, products: NDArray, units: Units) -> None:
        self.products = products
        self.units = units

    def gains(self, residual: NDArray) -> NDArray:
        return np.einsum("ij,ij->j", self.products, self.products) / residual

    def blocks(self, batch: int) -> NDArray:
        products = self.products[:, self.units.batches[batch][1]].transpose(1, 2, 0)
        return products @ products.transpose(0, 2, 1)

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

    def __init__(self, gram: GramOperator, units: Units, norms: NDArray | None = None) -> None:
        self.gram = gram
        self.units = units
        self.explained = gram.squared_column_norms() if norms is None else norms
        self.squared = squared_blocks(gram, units)

    def gains(self, residual: NDArray) -> NDArray:
        return np.maximum(self.explained, 0) / residual

    def blocks(self, batch: int) -> NDArray:
        return self.squared[batch]

    def deflate(self, column: NDArray, chosen: int, root: float, earlier: NDArray) -> None:
        image = _product(self.gram, column) - earlier.T @ (earlier @ column)
        length = float(column @ column)
        self.explained = self.explained - 2 * column * image + length * np.square(column)
        for blocks, (_, members) in zip(self.squared, self.units.batches, strict=True):
            blocks -= crossed(column[members], image[members]) - length * outer(column[members])


def score_products(spectrum: Spectrum) -> NDArray:
    """Return the products of the whitened principal-component scores with the centred data."""
    return np.sqrt(np.asarray(spectrum.values, dtype=np.float64))[:, None] * spectrum.vectors.T


def greedy_projection(
    gram: GramOperator,
    target: Target,
    agenda: Agenda,
    allowed: NDArray,
    placement: Placement | None = None,
    taken: Sequence[int] = (),
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
    placement : Placement, optional
        Which features may be chosen together, where units are single features, and what they cost.
    taken : sequence of int, optional
        Features chosen before, which count for the placement and not for the span.

    Returns
    -------
    order : ndarray
        The units chosen, first one first; fewer than asked for once they span all allowed features.
    gains : ndarray of shape (n_units,)
        What each unit would add at the end; 0 for those chosen or spent.
    """
    growth = _Growth(gram, target, agenda, allowed, placement, taken)
    for unit in agenda.first:
        growth.add(int(unit))
    gains = growth.gains()
    prices = 1.0 if placement is None or placement.costs is None else placement.costs.prices
    while len(growth.order) < agenda.n_chosen and np.any(growth.may_join()):
        check_time()
        growth.add(int(np.argmax(np.where(growth.may_join(), gains / prices, -np.inf))))
        gains = growth.gains()
    return np.array(growth.order, dtype=np.intp), gains


class _Growth:
    """A pivoted Cholesky factorisation of S whose pivots the gains decide.

    Column j of the residual Gram matrix is that of S less what the chosen features explain.
    """

    def __init__(
        self,
        gram: GramOperator,
        target: Target,
        agenda: Agenda,
        allowed: NDArray,
        placement: Placement | None,
        taken: Sequence[int],
    ) -> None:
        self.gram = gram
        self.target = target
        self.placement = placement
        self.taken = taken
        self.units = agenda.units
        self.residual = np.asarray(gram.diag(), dtype=np.float64).copy()
        self.floor = self.residual * np.finfo(gram.dtype).eps * SPENT_SHARE
        self.open = allowed & (self.residual > self.floor)
        self.factor = np.zeros((agenda.capacity, self.residual.size))
        self.rank = 0
        self.order: list[int] = []
        self.blocks = gram_blocks(gram, self.units)

    def open_units(self) -> NDArray:
        """Mark the units that have a feature outside the span."""
        return self.units.sums(self.open) > 0

    def may_join(self) -> NDArray:
        """Mark the open units that the placement lets in."""
        if self.placement is None:
            return self.open_units()
        return self.open_units() & self.placement.open_to([*self.taken, *self.order])

    def gains(self) -> NDArray:
        """Return what each unit would add, 0 where it is not open."""
        columns = np.where(self.open, self.target.gains(np.where(self.open, self.residual, 1.0)), 0.0)
        gains = self.units.sums(columns)
        is_open = self.open_units()
        for batch, (units, _) in enumerate(self.units.batches):
            gains[units[is_open[units]]] = self._block_gains(batch, is_open[units])
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
        for blocks, (_, members) in zip(self.blocks, self.units.batches, strict=True):
            blocks -= outer(column[members])

    def _block_gains(self, batch: int, is_open: NDArray) -> NDArray:
        """Return what each open unit of a batch would add."""
        members = self.units.batches[batch][1][is_open]
        floors = self.floor[members].max(axis=1)
        return block_gains(self.blocks[batch][is_open], self.target.blocks(batch)[is_open], floors)


def scores_of_rounds(gram: GramOperator, make_target: Callable[[], Target], agenda: Agenda) -> NDArray:
    """Return scores that order features as greedy projection chooses them in rounds.

    The t-th unit chosen scores n_chosen + 1 − t, the others the share, below 1, of what remains to explain.
    """
    order, gains = choose_in_rounds(gram, make_target, agenda)
    scores = gains / (1 + gains.sum())
    scores[order] = agenda.n_chosen - np.arange(order.size)
    return agenda.units.of_rows(scores)


def choose_in_rounds(
    gram: GramOperator, make_target: Callable[[], Target], agenda: Agenda, placement: Placement | None = None
) -> tuple[NDArray, NDArray]:
    """Choose greedily; once the chosen span all others, the next round is among the rest.

    Returns the units in the order in which they were chosen, and what each other one would add in the last
    round.
    """
    allowed = gram.diag() > 0
    order = np.empty(0, dtype=np.intp)
    gains = np.zeros(agenda.units.count)
    while order.size < agenda.n_chosen and (order.size < agenda.first.size or np.any(allowed)):
        chosen, gains = greedy_projection(
            gram, make_target(), agenda.after(order), allowed, placement, order.tolist()
        )
        if chosen.size == 0:
            break
        order = np.append(order, chosen)
        allowed[agenda.columns_of(chosen)] = False
    return order, gains


def _product(gram: GramOperator, vector: NDArray) -> NDArray:
    column = vector.astype(gram.dtype)[:, None]
    return np.asarray(gram.matmat(column)[:, 0], dtype=np.float64)
