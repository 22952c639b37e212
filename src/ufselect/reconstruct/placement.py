"""Which columns may be selected together: costs and budget, regions and quotas, positions and distances."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from ufselect._columns import SelectionRequest, Units, ranks_from_scores
from ufselect._utils.validation import has_missing, is_out_of_core
from ufselect.base import POSITIVE, FitResult, GramSelector
from ufselect.gram import GramOperator
from ufselect.gram.spectrum import rank_limit
from ufselect.reconstruct.ridge import count_curve


@dataclass(frozen=True)
class Placement:
    """The rules for selecting at most ``size`` of the ``allowed`` columns.

    Their ``prices`` may add up to the ``budget``. ``regions`` has the region of each column, numbered from 0;
    ``least`` and ``most`` bound the columns selected in each. ``positions`` has one row per column.
    """

    allowed: NDArray
    size: int
    prices: Any = None
    budget: float = np.inf
    region_names: Any = None
    regions: Any = None
    least: Any = None
    most: Any = None
    positions: Any = None
    min_distance: float = 0.0

    @property
    def is_plain(self) -> bool:
        """Whether any allowed columns may be selected together."""
        return self.prices is None and self.regions is None and self.positions is None

    def open_to(self, members: Sequence[int]) -> NDArray:
        """Return the mask of the columns that may join these members without breaking a rule.

        Places and costs that regions still need to reach their minimum are reserved for them.
        """
        mask = self.allowed.copy()
        reserved: NDArray | float = 0.0
        if self.regions is not None:
            counts = self._region_counts(members)
            needed = np.maximum(self.least - counts, 0)
            mask &= (counts < self.most)[self.regions]
            if len(members) + needed.sum() >= self.size:
                mask &= needed[self.regions] > 0
            if self.prices is not None and needed.any():
                # for each column, the least cost of what regions still need once it has joined
                cheapest = np.full(needed.size, np.inf)
                np.minimum.at(cheapest, self.regions[self.allowed], self.prices[self.allowed])
                cheapest[needed == 0] = 0.0
                reserved = float(needed @ cheapest) - cheapest[self.regions]
        if self.positions is not None and len(members) > 0:
            radius = np.nextafter(self.min_distance, 0.0)
            for near in self._tree.query_ball_point(self.positions[list(members)], radius):
                mask[near] = False
        if self.prices is not None:
            # Sums near the budget are exact, so that ten columns at 0.1 fit a budget of 1.
            paid = self.prices[list(members)]
            totals = self.prices + math.fsum(paid) + reserved
            fits = totals <= self.budget
            near = np.flatnonzero(np.abs(totals - self.budget) <= 1e-9 * self.budget)
            for price in np.unique(self.prices[near]):
                same = near[self.prices[near] == price]
                exact = math.fsum([*paid, price]) + np.broadcast_to(reserved, fits.shape)[same]
                fits[same] = exact <= self.budget
            mask &= fits
        return mask

    def broken_by(self, members: NDArray) -> str:
        """Return the name of a rule that these columns break, or an empty string."""
        if self.prices is not None and math.fsum(self.prices[members]) > self.budget:
            return "budget"
        if self.regions is not None and np.any(self._region_counts(members) > self.most):
            return "quotas"
        if self.positions is None:
            return ""
        closest = pdist(self.positions[members]).min(initial=np.inf)
        return "min_distance" if closest < self.min_distance else ""

    def unmet(self, members: NDArray) -> NDArray:
        """Return the regions with fewer columns than their minimum."""
        if self.regions is None:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(self._region_counts(members) < self.least)

    def _region_counts(self, members: Sequence[int] | NDArray) -> NDArray:
        return np.bincount(self.regions[list(members)], minlength=self.least.size)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.positions)


class PlacedSelector(GramSelector):
    """Base class of selectors that add columns one at a time, with ``"auto"`` counts, costs and positions.

    A subclass implements ``_fit_gram`` and ``_path(request)``, which returns a function: given a Gram
    operator and a count, it returns the units that the method would select first.
    """

    chooses_count = True

    costs: Any
    budget: float | None
    regions: Any
    quotas: Mapping[Any, Any] | None
    positions: Any
    min_distance: float | None

    count_curve_: list[dict[str, Any]]

    _parameter_constraints: ClassVar = {"budget": [POSITIVE, None], "min_distance": [POSITIVE, None]}

    @abstractmethod
    def _path(self, request: SelectionRequest) -> Callable[[GramOperator, int], NDArray]:
        """Return a function of a Gram operator and a count that returns so many units, best first."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for first, second in (("costs", "budget"), ("regions", "quotas")):
            if (getattr(self, first) is None) != (getattr(self, second) is None):
                raise ValueError(f"{first} and {second} go together; give both or neither.")
        if self.positions is not None and self.min_distance is None:
            raise ValueError("positions are used only with min_distance; set min_distance or drop positions.")
        if self._is_ruled and (self.feature_groups is not None or self.max_correlation is not None):
            raise ValueError(
                "groups and max_correlation cannot be combined with costs, regions or min_distance; drop one."
            )

    @property
    def _is_ruled(self) -> bool:
        return self.costs is not None or self.regions is not None or self.min_distance is not None

    def _needs_rows(self) -> bool:
        return True  # some are held out

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        if not self._is_auto:
            return super()._fit(X, request)
        if is_out_of_core(X):
            raise ValueError(
                'n_features_to_select="auto" holds out rows, which only data in memory have; give a number.'
            )
        if has_missing(X.data if sparse.issparse(X) else X):
            raise ValueError(
                'n_features_to_select="auto" reconstructs held-out rows, which must have no missing values; '
                "fill them in or give a number."
            )
        chosen, curve = count_curve(X, self._path(request), units=request.units, rows=request.rows)
        request = replace(request, n_selected=max(chosen, request.kept.size))
        scores, attributes = super()._fit(X, request)
        return scores, {**attributes, "count_curve_": curve}

    def _n_leading(self, request: SelectionRequest, attributes: Mapping[str, Any]) -> int:
        return attributes.get("n_components_", request.n_selected)

    def _placement(self, gram: GramOperator, request: SelectionRequest, size: int) -> Placement:
        """Return the rules for selecting so many of the columns that the method gets."""
        rank_limit(gram)  # raises an error if all columns are constant
        rules: dict[str, Any] = {}
        if self.costs is not None:
            prices = request.table.numbers("costs", self.costs)
            if prices.ndim != 1:
                raise ValueError("costs must hold one number per column.")
            if not np.all(np.isfinite(prices) & (prices > 0)):
                raise ValueError("costs must be finite numbers above 0.")
            rules |= {"prices": prices[request.columns], "budget": float(self.budget or 0)}
        if self.regions is not None:
            names, codes, least, most = self._region_bounds(request)
            if least.sum() > size:
                raise ValueError(f"quotas ask for {least.sum()} columns, more than the {size} to select.")
            rules |= {"region_names": names, "regions": codes[request.columns], "least": least, "most": most}
        if self.min_distance is not None:
            if self.positions is None:
                places = np.arange(request.n_features, dtype=np.float64)
            else:
                places = request.table.numbers("positions", self.positions)
            places = places[:, None] if places.ndim == 1 else places
            if places.ndim != 2 or not np.all(np.isfinite(places)):
                raise ValueError("positions must hold finite coordinates for each column.")
            rules |= {"positions": places[request.columns], "min_distance": float(self.min_distance)}
        placement = Placement(np.asarray(gram.diag() > 0), size, **rules)
        kept = np.flatnonzero(np.isin(request.units.codes, request.kept))
        broken = placement.broken_by(kept) if rules else ""
        if broken:
            raise ValueError(f"The columns in keep violate {broken}; keep fewer columns, or change {broken}.")
        return placement

    def _region_bounds(self, request: SelectionRequest) -> tuple[list[Any], NDArray, NDArray, NDArray]:
        """Return the regions, that of each column, and the least and most columns of each.

        Columns in no region come last, as one without quota.
        """
        names, codes = request.table.labels("regions", self.regions)
        codes[codes < 0] = len(names)
        most = np.bincount(codes, minlength=len(names) + 1)
        least = np.zeros_like(most)
        for label, quota in (self.quotas or {}).items():
            if label not in names:
                raise ValueError(f"quotas name the region {label!r}, which no column has.")
            place = names.index(label)
            pair = quota if isinstance(quota, (tuple, list)) else (0, quota)
            whole = len(pair) == 2 and all(isinstance(bound, Integral) for bound in pair)
            if not whole or not 0 <= pair[0] <= pair[1]:
                raise ValueError(
                    f"The quota of region {label!r} must be the most columns or a pair (least, most), not "
                    f"{quota!r}."
                )
            if pair[0] > most[place]:
                raise ValueError(
                    f"The quota of region {label!r} asks for {pair[0]} of its {most[place]} columns."
                )
            least[place], most[place] = pair[0], min(pair[1], most[place])
        return names, codes, least, most

    def _placed(
        self, order: NDArray, gains: NDArray, placement: Placement, attributes: dict[str, Any], units: Units
    ) -> FitResult:
        """Turn an order of units into scores and, if there are rules, into a selection."""
        unmet = placement.unmet(order)
        if unmet.size > 0:
            label = placement.region_names[unmet[0]]
            raise ValueError(
                f"quotas ask for {placement.least[unmet[0]]} columns of region {label!r}, but the other "
                "constraints leave no room for them; lower that quota or relax the other constraints."
            )
        if placement.prices is not None and order.size == 0:
            raise ValueError(f"budget={self.budget} is less than the cost of any column; raise it.")
        if self._is_ruled and placement.prices is None and order.size < placement.size:
            raise ValueError(
                f"Only {order.size} columns meet the constraints, not {placement.size}; lower "
                "n_features_to_select or min_distance, or raise quotas."
            )
        scores = gains / (1 + gains.sum())
        scores[order] = placement.size - np.arange(order.size)
        if not self._is_ruled:
            return units.of_rows(scores), attributes
        ranking = ranks_from_scores(scores)
        return scores, {**attributes, "ranking_": ranking, "support_": ranking <= order.size}
