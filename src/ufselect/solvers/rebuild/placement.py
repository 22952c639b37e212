"""Which columns may be chosen together: what they cost, where they lie, how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

# Sums this near to the budget, relative to it, are added up without rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Costs:
    """What each column costs, and what all may cost together."""

    prices: NDArray
    budget: float

    def affordable(self, members: Sequence[int], reserved: NDArray | float) -> NDArray:
        """Return the mask of the columns that can be paid besides the members and what is reserved.

        Near the budget sums are exact, so that ten columns at 0.1 fit a budget of 1.
        """
        spent = math.fsum(self.prices[list(members)])
        totals = self.prices + spent + reserved
        mask = totals <= self.budget
        near = np.flatnonzero(np.abs(totals - self.budget) <= ROUNDING * self.budget)
        for price in np.unique(self.prices[near]):
            same = near[self.prices[near] == price]
            exact = math.fsum([*self.prices[list(members)], price])
            mask[same] = exact + np.broadcast_to(reserved, mask.shape)[same] <= self.budget
        return mask


@dataclass(frozen=True)
class Regions:
    """The region of each column as a code, and the least and most columns that each may hold."""

    codes: NDArray
    least: NDArray
    most: NDArray

    def of_columns(self, columns: NDArray) -> Regions:
        """Return the same for some of the columns."""
        return replace(self, codes=self.codes[columns])

    def counts(self, members: Sequence[int] | NDArray) -> NDArray:
        return np.bincount(self.codes[list(members)], minlength=self.least.size)


@dataclass(frozen=True)
class Spacing:
    """Positions of the columns, one row each, and the least distance between two chosen ones."""

    positions: NDArray
    min_distance: float
    tree: cKDTree = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tree", cKDTree(self.positions))

    def nearest(self, members: NDArray) -> float:
        """Return the least distance between two of some columns."""
        return float(pdist(self.positions[members]).min(initial=np.inf))

    def too_near(self, members: Sequence[int]) -> NDArray:
        """Return the columns nearer than the least distance to one of the members."""
        radius = np.nextafter(self.min_distance, 0.0)
        near = self.tree.query_ball_point(self.positions[list(members)], radius)
        return np.unique(np.concatenate([np.asarray(found, dtype=np.intp) for found in near]))


@dataclass(frozen=True)
class Placement:
    """The rules of a choice of at most ``size`` columns.

    Attributes
    ----------
    allowed : ndarray of bool
        The columns that may be chosen at all.
    size : int
        Most columns.
    costs : Costs, optional
    regions : Regions, optional
    spacing : Spacing, optional
    """

    allowed: NDArray
    size: int
    costs: Costs | None = None
    regions: Regions | None = None
    spacing: Spacing | None = None

    @property
    def is_plain(self) -> bool:
        """Whether any allowed columns may be chosen together."""
        return self.costs is None and self.regions is None and self.spacing is None

    def open_to(self, members: Sequence[int]) -> NDArray:
        """Return the mask of the columns that may join these members without breaking a rule.

        Where regions must hold some columns, places and money that these still need are kept for them.
        """
        mask = self.allowed.copy()
        needed = np.zeros(0, dtype=np.intp)
        if self.regions is not None:
            counts = self.regions.counts(members)
            needed = np.maximum(self.regions.least - counts, 0)
            codes = self.regions.codes
            mask &= counts[codes] < self.regions.most[codes]
            if len(members) + needed.sum() >= self.size:
                mask &= needed[codes] > 0
        if self.spacing is not None and len(members) > 0:
            mask[self.spacing.too_near(members)] = False
        if self.costs is not None:
            mask &= self.costs.affordable(members, self._reserved(needed))
        return mask

    def broken_by(self, members: NDArray) -> str:
        """Return the name of a rule that some columns break together, or nothing."""
        if members.size > self.size:
            return "n_features_to_select"
        if self.costs is not None and math.fsum(self.costs.prices[members]) > self.costs.budget:
            return "budget"
        if self.regions is not None and np.any(self.regions.counts(members) > self.regions.most):
            return "quotas"
        if self.spacing is not None and self.spacing.nearest(members) < self.spacing.min_distance:
            return "min_distance"
        return ""

    def unmet(self, members: NDArray) -> NDArray:
        """Return the codes of the regions that hold fewer columns than they must."""
        if self.regions is None:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(self.regions.counts(members) < self.regions.least)

    def _reserved(self, needed: NDArray) -> NDArray | float:
        """Return, for each column, the least that the regions in need will cost once it has joined."""
        if self.costs is None or self.regions is None or not needed.any():
            return 0.0
        codes, prices = self.regions.codes, self.costs.prices
        cheapest = np.full(needed.size, np.inf)
        np.minimum.at(cheapest, codes[self.allowed], prices[self.allowed])
        each = np.where(needed > 0, cheapest, 0.0)
        return float(needed @ each) - np.where(needed[codes] > 0, each[codes], 0.0)
