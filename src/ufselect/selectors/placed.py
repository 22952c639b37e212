"""Selectors whose columns may cost something, lie somewhere, and be as many as it takes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.blocks import ReducedData
from ufselect.gram import GramOperator
from ufselect.gram.factory import has_missing
from ufselect.selectors.base import Fitted
from ufselect.selectors.choice import Choice, ranks_from_scores
from ufselect.selectors.dimension import rank_limit
from ufselect.selectors.gram_selector import GramSelector
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.rows import RowMetadata
from ufselect.selectors.wishes import Wanted, Wishes
from ufselect.sets.units import Units
from ufselect.solvers.rebuild.counts import count_curve
from ufselect.solvers.rebuild.placement import Costs, Placement, Regions, Spacing


class PlacedSelector(GramSelector):
    """Base class of the selectors that add columns one at a time: ``"auto"`` counts, costs and places.

    A subclass implements ``_fit_gram`` and ``_path(wanted)``, which returns a function of a Gram operator and
    a count that gives the first units it would take.
    """

    chooses_count = True

    n_features_to_select: int | float | str  # type: ignore[assignment]
    costs: Any
    budget: float | None
    regions: Any
    quotas: Mapping[Any, Any] | None
    positions: Any
    min_distance: float | None

    count_curve_: list[dict[str, Any]]

    @abstractmethod
    def _path(self, wanted: Wanted) -> Callable[[GramOperator, int], NDArray]:
        """Return what gives the first units that it would take, best first."""

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
        self._check_wishes()

    def _check_wishes(self) -> None:
        """Refuse wishes about columns that the rules, or the choice of a count, cannot heed."""
        if self._is_ruled and (self.groups is not None or self.max_correlation is not None):
            raise ValueError(
                "groups and max_correlation do not go with costs, regions or min_distance; drop one of them."
            )

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.n_features_to_select, str) and self.n_features_to_select == "auto"

    @property
    def _is_ruled(self) -> bool:
        return self.costs is not None or self.regions is not None or self.min_distance is not None

    def _wanted(self, n_features: int) -> Wanted:
        # While the count is open, all columns are wanted.
        return Wishes.of(self, n_features).wanted(1.0) if self._is_auto else super()._wanted(n_features)

    def _fit_rows(self, X: Any, rows: RowMetadata, wanted: Wanted, progress: FitProgress) -> Fitted:
        if not self._is_auto:
            return super()._fit_rows(X, rows, wanted, progress)
        counted, layout = rows.laid_out(X)
        _refuse_gaps(counted)
        curve = count_curve(counted, self._path(wanted), units=wanted.units, layout=layout)
        count = max(curve.chosen, wanted.kept.size)
        fitted = super()._fit_rows(X, rows, replace(wanted, n_selected=count), progress)
        return replace(fitted, attributes={**fitted.attributes, "count_curve_": curve.table()})

    def _fit_reduced(self, reduced: ReducedData, wanted: Wanted) -> None:
        if self._is_auto:
            raise ValueError(
                'n_features_to_select="auto" holds out rows, which only data in memory have; give a number.'
            )
        super()._fit_reduced(reduced, wanted)

    def _placement(self, gram: GramOperator, wanted: Wanted, size: int) -> Placement:
        """Return the rules of the choice of so many of the columns that the method gets.

        Raises
        ------
        ValueError
            If no column varies, if a rule does not fit the data, or if the columns to keep break one.
        """
        rank_limit(gram)
        n_features = wanted.n_features
        part = wanted.columns
        costs = regions = spacing = None
        if self.costs is not None:
            costs = Costs(_prices(self.costs, n_features)[part], float(self.budget or 0))
        if self.regions is not None:
            regions = _regions(self.regions, self.quotas or {}, size, n_features).of_columns(part)
        if self.min_distance is not None:
            spacing = Spacing(_positions(self.positions, n_features)[part], float(self.min_distance))
        placement = Placement(np.asarray(gram.diag() > 0), size, costs, regions, spacing)
        broken = placement.broken_by(kept_columns(wanted)) if self._is_ruled else ""
        if broken:
            raise ValueError(f"The columns to keep break {broken}; keep fewer, or change it.")
        return placement

    def _placed(
        self,
        order: NDArray,
        gains: NDArray,
        placement: Placement,
        attributes: Mapping[str, Any],
        n_leading: int | None,
        units: Units,
    ) -> Fitted:
        """Turn an order of units into scores and, where rules decided their number, into a choice.

        Raises
        ------
        ValueError
            If the rules left room for fewer columns than asked for.
        """
        self._refuse_shortage(order, placement)
        scores = gains / (1 + gains.sum())
        scores[order] = placement.size - np.arange(order.size)
        if not self._is_ruled:
            return Fitted(units.of_rows(scores), attributes, n_leading)
        ranking = ranks_from_scores(scores)
        return Fitted(scores, attributes, n_leading, Choice(ranking, ranking <= order.size))

    def _refuse_shortage(self, order: NDArray, placement: Placement) -> None:
        unmet = placement.unmet(order)
        if placement.regions is not None and unmet.size > 0:
            label = np.unique(np.asarray(self.regions))[unmet[0]]
            raise ValueError(
                f"quotas ask for {placement.regions.least[unmet[0]]} columns of region {label!r}, which the "
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


def _refuse_gaps(X: Any) -> None:
    """Refuse missing values where rows are to be held out and rebuilt."""
    if has_missing(X.data if sparse.issparse(X) else X):
        raise ValueError(
            'n_features_to_select="auto" rebuilds rows held out, which must have no missing values; fill '
            "them in or give a number."
        )


def kept_columns(wanted: Wanted) -> NDArray:
    """Return the columns to keep, in terms of those that the method gets."""
    return np.flatnonzero(np.isin(wanted.units.codes, wanted.kept))


def _is_positive(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < np.inf


def _prices(costs: Any, n_features: int) -> NDArray:
    prices = np.asarray(costs, dtype=np.float64)
    if prices.shape != (n_features,):
        raise ValueError(f"costs must hold one number for each of the {n_features} columns.")
    if not np.all(np.isfinite(prices) & (prices > 0)):
        raise ValueError("costs must be finite numbers above 0.")
    return prices


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
