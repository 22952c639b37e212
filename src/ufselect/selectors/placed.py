"""Selectors whose columns may cost something, lie somewhere, and be as many as it takes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator
from ufselect.selectors.base import Fitted, GramSelector, resolve_feature_count
from ufselect.selectors.dimension import rank_limit
from ufselect.selectors.progress import FitProgress
from ufselect.solvers.rebuild.counts import count_curve
from ufselect.solvers.rebuild.placement import Costs, Placement, Regions, Spacing


class PlacedSelector(GramSelector):
    """Base class of the selectors that add columns one at a time: ``"auto"`` counts, costs and places.

    A subclass implements ``_fit_gram`` and ``_path()``, which returns a function of a Gram operator and a
    count that gives the first columns it would take.
    """

    n_features_to_select: int | float | str  # type: ignore[assignment]
    count_curve_: list[dict[str, Any]]

    def __init__(
        self,
        n_features_to_select: int | float | str,
        *,
        costs: Any,
        budget: float | None,
        regions: Any,
        quotas: Mapping[Any, Any] | None,
        positions: Any,
        min_distance: float | None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.costs = costs
        self.budget = budget
        self.regions = regions
        self.quotas = quotas
        self.positions = positions
        self.min_distance = min_distance

    @abstractmethod
    def _path(self) -> Callable[[GramOperator, int], NDArray]:
        """Return what gives the first columns that it would take, best first."""

    def _check_parameters(self) -> None:
        for first, second in (("costs", "budget"), ("regions", "quotas")):
            if (getattr(self, first) is None) != (getattr(self, second) is None):
                raise ValueError(f"{first} and {second} go together; give both or neither.")
        if self.positions is not None and self.min_distance is None:
            raise ValueError("positions serve min_distance; give both, or neither.")
        for name in ("budget", "min_distance"):
            value = getattr(self, name)
            if value is not None and not _is_positive(value):
                raise ValueError(f"{name} must be a finite number above 0, not {value!r}.")

    def _feature_count(self, n_features: int) -> int:
        if isinstance(self.n_features_to_select, str) and self.n_features_to_select == "auto":
            return n_features
        return resolve_feature_count(self.n_features_to_select, n_features)

    def _fit(self, X: Any, n_selected: int, progress: FitProgress) -> Fitted:
        if self.n_features_to_select != "auto":
            return super()._fit(X, n_selected, progress)
        curve = count_curve(X, self._path())
        fitted = super()._fit(X, curve.chosen, progress)
        return Fitted(
            fitted.scores,
            {**fitted.attributes, "count_curve_": curve.table()},
            fitted.n_leading,
            fitted.ranking,
            min(curve.chosen, fitted.n_selected or curve.chosen),
        )

    def _fit_reduced(self, reduced: Any, n_selected: int) -> None:
        if self.n_features_to_select == "auto":
            raise ValueError(
                'n_features_to_select="auto" holds out rows, which only data in memory have; give a number.'
            )
        super()._fit_reduced(reduced, n_selected)

    def _placement(self, gram: GramOperator, size: int) -> Placement:
        """Return the rules of the choice.

        Raises
        ------
        ValueError
            If no column varies, or if a rule does not fit the data.
        """
        rank_limit(gram)
        n_features = gram.shape[0]
        return Placement(
            np.asarray(gram.diag() > 0),
            size,
            None if self.costs is None else _costs(self.costs, float(self.budget or 0), n_features),
            None if self.regions is None else _regions(self.regions, self.quotas or {}, size, n_features),
            None
            if self.min_distance is None
            else Spacing(_positions(self.positions, n_features), float(self.min_distance)),
        )

    def _placed(
        self,
        order: NDArray,
        gains: NDArray,
        placement: Placement,
        attributes: Mapping[str, Any],
        n_leading: int | None,
    ) -> Fitted:
        """Turn an order of columns into scores.

        Raises
        ------
        ValueError
            If the rules left room for fewer columns than asked for.
        """
        self._refuse_shortage(order, placement)
        scores = gains / (1 + gains.sum())
        scores[order] = placement.size - np.arange(order.size)
        ruled = placement.costs or placement.regions or placement.spacing
        return Fitted(scores, attributes, n_leading, n_selected=order.size if ruled else None)

    def _refuse_shortage(self, order: NDArray, placement: Placement) -> None:
        unmet = placement.unmet(order)
        if unmet.size > 0:
            label = np.unique(np.asarray(self.regions))[unmet[0]]
            raise ValueError(
                f"quotas ask for {placement.regions.least[unmet[0]]} columns of region {label!r}, which the "  # type: ignore[union-attr]
                "other rules leave no room for; lower that quota or loosen the other rules."
            )
        if placement.costs is not None and order.size == 0:
            raise ValueError(f"budget={self.budget} is less than any column costs; raise it.")
        bound = placement.regions is not None or placement.spacing is not None
        if bound and placement.costs is None and order.size < placement.size:
            raise ValueError(
                f"Only {order.size} columns could be placed, not {placement.size}; lower "
                "n_features_to_select or min_distance, or raise quotas."
            )


def _is_positive(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < np.inf


def _costs(costs: Any, budget: float, n_features: int) -> Costs:
    prices = np.asarray(costs, dtype=np.float64)
    if prices.shape != (n_features,):
        raise ValueError(f"costs must hold one number for each of the {n_features} columns.")
    if not np.all(np.isfinite(prices) & (prices > 0)):
        raise ValueError("costs must be finite numbers above 0.")
    return Costs(prices, budget)


def _regions(regions: Any, quotas: Mapping[Any, Any], size: int, n_features: int) -> Regions:
    labels = np.asarray(regions)
    if labels.shape != (n_features,):
        raise ValueError(f"regions must hold one label for each of the {n_features} columns.")
    names, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    least, most = np.zeros(names.size, dtype=np.intp), sizes.copy()
    places = {name: place for place, name in enumerate(names.tolist())}
    for label, quota in quotas.items():
        if label not in places:
            raise ValueError(f"quotas name the region {label!r}, which no column has.")
        place = places[label]
        least[place], most[place] = _bounds(label, quota, int(sizes[place]))
    if least.sum() > size:
        raise ValueError(f"quotas ask for {least.sum()} columns, more than the {size} to select.")
    return Regions(codes, least, most)


def _bounds(label: Any, quota: Any, n_columns: int) -> tuple[int, int]:
    """Return the least and the most columns of a region."""
    pair = quota if isinstance(quota, (tuple, list)) else (0, quota)
    whole = len(pair) == 2 and all(isinstance(bound, Integral) for bound in pair)
    if not whole or not 0 <= pair[0] <= pair[1]:
        raise ValueError(
            f"The quota of region {label!r} must be the most columns or a pair (least, most), not {quota!r}."
        )
    if pair[0] > n_columns:
        raise ValueError(f"The quota of region {label!r} asks for {pair[0]} of its {n_columns} columns.")
    return int(pair[0]), min(int(pair[1]), n_columns)


def _positions(positions: Any, n_features: int) -> NDArray:
    if positions is None:
        return np.arange(n_features, dtype=np.float64)[:, None]
    places = np.asarray(positions, dtype=np.float64)
    places = places[:, None] if places.ndim == 1 else places
    if places.ndim != 2 or len(places) != n_features or not np.all(np.isfinite(places)):
        raise ValueError(f"positions must hold finite coordinates for each of the {n_features} columns.")
    return places
