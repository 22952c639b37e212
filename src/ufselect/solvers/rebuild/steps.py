"""What greedy steps without a penalty take, and what they leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.gram import GramOperator
from ufselect.sets.units import Units
from ufselect.solvers.agenda import Agenda
from ufselect.solvers.greedy import AllFeatures, choose_in_rounds
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.rebuild.search import ColumnSearch


@dataclass(frozen=True)
class Choice:
    """Columns chosen for rebuilding all columns.

    Attributes
    ----------
    order : ndarray
        The chosen units, the one that explains most first.
    gains : ndarray of shape (n_units,)
        By how much each unit outside would lower the error, as a share of the variance; 0 for those chosen.
    errors : list of float
        Regularised error as a share of the variance, after the greedy steps and after each sweep.
    penalty : float
        The weight ρ of the penalties.
    n_sweeps : int
        Number of sweeps, also where what they led to gave way to greedy steps.
    """

    order: NDArray
    gains: NDArray
    errors: list[float]
    penalty: float
    n_sweeps: int


@dataclass(frozen=True)
class GreedySteps:
    """Units in the order in which greedy steps take them, and their columns.

    ``blocks`` returns the covariances of these columns and their inner products through the targets;
    ``gains`` is what each other unit would add, and ``total`` the trace of S.
    """

    order: NDArray
    columns: NDArray
    gains: NDArray
    blocks: Callable[[], tuple[NDArray, NDArray]]
    total: float

    @cached_property
    def _components(self) -> tuple[NDArray, NDArray]:
        """The eigenvalues of the correlations of the columns, and what each component explains times them."""
        inner, products = self.blocks()
        roots = np.sqrt(inner.diagonal())
        values, vectors = linalg.eigh(inner / np.outer(roots, roots), check_finite=False)
        turn = vectors / roots[:, None]
        return values, np.einsum("ij,ij->j", turn, products @ turn)

    def share_left(self, weight: float = 0.0) -> float:
        """Return the share of the variance that the columns leave with penalties of some weight.

        Components that only rounding tells from nothing explain nothing.
        """
        if self.columns.size == 0:
            return 1.0
        values, explained = self._components
        known = values > values.size * np.finfo(np.float64).eps * values[-1]
        shares = explained[known] / (values[known] + weight)
        return max(1 - float(shares.sum()) / self.total, 0.0)  # below 0 by rounding alone

    def choice(self, n_sweeps: int = 0) -> Choice:
        """Return the columns as a choice of no penalty and no exchanges, perhaps after sweeps in vain."""
        gains = self.gains / self.total
        gains[self.order] = 0.0
        return Choice(self.order, gains, [self.share_left()], 0.0, n_sweeps)


def greedy_steps(
    gram: GramOperator, placement: Placement, units: Units, start: Sequence[int], norms: NDArray
) -> GreedySteps:
    """Take units as ``GreedyProjection(target="features")`` does, in further rounds if need be.

    Parameters
    ----------
    gram : GramOperator
        S of the centred data.
    placement : Placement
        How many units, and which columns may be chosen together.
    units : Units
        Which columns join together.
    start : sequence of int
        Units that come first.
    norms : ndarray of shape (n_features,)
        The squared norms of the columns of S.
    """
    agenda = Agenda(placement.size, units, np.array(start, dtype=np.intp))
    rules = placement if units.is_single else None
    order, gains = choose_in_rounds(gram, lambda: AllFeatures(gram, units, norms), agenda, rules)
    columns = np.flatnonzero(np.isin(units.codes, order))

    def blocks() -> tuple[NDArray, NDArray]:
        own = np.asarray(gram.columns(columns), dtype=np.float64)
        return own[columns], own.T @ own

    return GreedySteps(order, columns, gains, blocks, gram.trace())


def steps_of(search: ColumnSearch) -> GreedySteps:
    """Return the steps that a search without a penalty has taken."""
    span = search.span
    return GreedySteps(
        np.array(search.chosen, dtype=np.intp),
        np.array(span.members, dtype=np.intp),
        search.gains_outside(),
        span.blocks_of_members,
        span.total,
    )
