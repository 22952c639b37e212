"""What a greedy method is to choose."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ufselect.sets.units import Units


@dataclass(frozen=True)
class Agenda:
    """What is to be chosen.

    Attributes
    ----------
    n_chosen : int
        Number of units to choose, the first ones included.
    units : Units
        Which features join together.
    first : ndarray of int
        Units that are chosen before any others.
    """

    n_chosen: int
    units: Units
    first: NDArray

    @classmethod
    def of_features(cls, n_chosen: int, n_features: int) -> Agenda:
        """Choose single features, none of them given."""
        return cls(n_chosen, Units.single(n_features), np.empty(0, dtype=np.intp))

    def after(self, order: NDArray) -> Agenda:
        """Return what is left to choose once some units, the first ones among them, are chosen."""
        return replace(self, n_chosen=self.n_chosen - order.size, first=self.first[order.size :])

    def columns_of(self, units: NDArray) -> NDArray:
        """Return the features of some units, unit by unit."""
        return np.concatenate([self.units.members(int(unit)) for unit in units])

    @property
    def capacity(self) -> int:
        """Most features that so many units have."""
        return self.units.most_rows(self.n_chosen)
