"""Greedy D-optimal choice of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.sets.units import Units
from ufselect.solvers.agenda import Agenda


def d_optimal_scores(loadings: NDArray, agenda: Agenda, ridge: float) -> NDArray:
    """Return each feature's gain in a greedy D-optimal choice; the units chosen have the largest.

    ``ridge`` is in units of the mean leverage of the units where it is largest, as many as are chosen. The
    agenda's first units score what they gained, whatever that is.
    """
    leverage = agenda.units.sums(np.square(loadings, dtype=np.float64).sum(axis=1))
    smallest = leverage.size - agenda.n_chosen
    largest = np.partition(leverage, smallest)[smallest:]
    order, gains = greedy_determinant(loadings, agenda, ridge * float(largest.mean()))
    added = order[agenda.first.size :]
    if added.size:
        # Gains fall by theory; where they are equal up to rounding the order of choice decides.
        gains[added] = np.minimum.accumulate(gains[added])
        rest = np.ones(gains.size, dtype=bool)
        rest[order] = False
        gains[rest] = np.minimum(gains[rest], np.nextafter(gains[added[-1]], -np.inf))
    return agenda.units.of_rows(gains)


def greedy_determinant(rows: NDArray, agenda: Agenda, ridge: float) -> tuple[NDArray, NDArray]:
    r"""Choose units of rows so that :math:`\log\det(\rho I + \sum v_j v_j^\top)` grows most, one at a time.

    The gain of a row is :math:`\log(1 + v_j^\top M^{-1} v_j)` with M the matrix so far, that of several rows
    V :math:`\log\det(I + V M^{-1} V^\top)`. The function is submodular: gains never grow, and the greedy
    value is at least 1 − 1/e of the best one's increase [1]_.

    Parameters
    ----------
    rows : ndarray of shape (n_features, n_components)
        One vector per feature.
    agenda : Agenda
        How many units to choose, and which first.
    ridge : float
        The positive weight ρ: the larger, the less a row similar to those chosen is marked down.

    Returns
    -------
    order : ndarray of shape (n_chosen,)
        The units chosen, first one first.
    gains : ndarray of shape (n_units,)
        Gain of each chosen unit when it was chosen, and of each other unit at the end.

    References
    ----------
    .. [1] G. L. Nemhauser, L. A. Wolsey and M. L. Fisher (1978), "An analysis of approximations for
       maximizing submodular set functions", Mathematical Programming 14.
    """
    design = _Design(np.asarray(rows, dtype=np.float64), agenda.units, ridge)
    chosen = np.zeros(agenda.units.count, dtype=bool)
    order = np.empty(agenda.n_chosen, dtype=np.intp)
    recorded = np.empty(agenda.units.count)
    for step in range(agenda.n_chosen):
        gains = np.where(chosen, -np.inf, design.gains())
        unit = int(agenda.first[step] if step < agenda.first.size else np.argmax(gains))
        order[step], recorded[unit], chosen[unit] = unit, gains[unit], True
        design.add(unit)
    recorded[~chosen] = design.gains()[~chosen]
    return order, recorded


class _Design:
    """The inverse of M = ρI + Σ vvᵀ and each row's leverage vᵀM⁻¹v."""

    def __init__(self, rows: NDArray, units: Units, ridge: float) -> None:
        self.rows = rows
        self.units = units
        self.inverse = np.eye(rows.shape[1]) / ridge
        self.leverage = np.einsum("ij,ij->i", rows, rows) / ridge

    def gains(self) -> NDArray:
        """Return by how much the log-determinant grows if each unit joins."""
        gains = np.zeros(self.units.count)
        gains[self.units.codes] = np.log1p(self.leverage)
        for units, members in self.units.batches:
            blocks = self.rows[members]
            grown = np.eye(members.shape[1]) + blocks @ self.inverse @ blocks.transpose(0, 2, 1)
            gains[units] = np.linalg.slogdet(grown)[1]
        return gains

    def add(self, unit: int) -> None:
        """Let the rows of a unit join."""
        for row in self.rows[self.units.members(unit)]:
            direction = self.inverse @ row
            shrink = 1 + row @ direction
            self.inverse -= np.outer(direction, direction / shrink)
            self.leverage -= np.square(self.rows @ direction) / shrink
            np.maximum(self.leverage, 0, out=self.leverage)
