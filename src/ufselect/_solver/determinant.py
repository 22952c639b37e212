"""Greedy selection of rows in different directions, by the determinant of their scatter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import UnitRequest


def greedy_determinant(rows: NDArray, request: UnitRequest, ridge: float) -> tuple[NDArray, NDArray]:
    r"""Select units of rows so that :math:`\log\det(\rho I + \sum v_j v_j^\top)` grows most, one at a time.

    The gain of a row is :math:`\log(1 + v_j^\top M^{-1} v_j)` with M the matrix so far, that of several rows
    V :math:`\log\det(I + V M^{-1} V^\top)`. The function is submodular: gains never grow, and the greedy
    value is at least 1 − 1/e of the best one's increase (Nemhauser, Wolsey and Fisher 1978, Math. Program.
    14). The larger ρ, the ``ridge``, the less a row similar to selected ones is penalised.

    Returns the selected units, first one first, and the gain of each: of the others at the end.
    """
    rows, units = np.asarray(rows, dtype=np.float64), request.units
    inverse = np.eye(rows.shape[1]) / ridge  # of M
    leverage = np.einsum("ij,ij->i", rows, rows) / ridge
    order: list[int] = []
    recorded = np.empty(units.count)
    while True:
        gains = np.zeros(units.count)
        gains[units.codes] = np.log1p(leverage)
        for several, members in units.batches:
            blocks = rows[members]
            grown = np.eye(members.shape[1]) + blocks @ inverse @ blocks.transpose(0, 2, 1)
            gains[several] = np.linalg.slogdet(grown)[1]
        gains[order] = -np.inf
        if len(order) == request.n_selected:
            break
        step = len(order)
        unit = int(request.kept[step] if step < request.kept.size else np.argmax(gains))
        recorded[unit] = gains[unit]
        order.append(unit)
        for row in rows[units.members(unit)]:
            direction = inverse @ row
            shrink = 1 + row @ direction
            inverse -= np.outer(direction, direction / shrink)
            leverage -= np.square(rows @ direction) / shrink
            np.maximum(leverage, 0, out=leverage)
    gains[order] = recorded[order]
    added = np.array(order[request.kept.size :], dtype=np.intp)
    if added.size:
        # Gains fall in theory; if they are equal up to rounding, the order of selection decides.
        gains[added] = np.minimum.accumulate(gains[added])
        rest = np.ones(gains.size, dtype=bool)
        rest[order] = False
        gains[rest] = np.minimum(gains[rest], np.nextafter(gains[added[-1]], -np.inf))
    return np.array(order, dtype=np.intp), gains
