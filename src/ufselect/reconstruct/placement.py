"""Which columns may be selected together, by costs, regions and positions, and how many are enough."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from ufselect._columns import SelectionRequest, Units, ranks_from_scores
from ufselect._utils.validation import has_missing
from ufselect.base import NON_NEGATIVE, POSITIVE, FitResult, GramSelector
from ufselect.gram import GramOperator, RowInfo, gram_operator
from ufselect.gram.spectrum import rank_limit
from ufselect.reconstruct.ridge import LEAST_ROWS, dense, ridge_units, value_folds


@dataclass
class Placement:
    """The rules for selecting ``size`` of the ``allowed`` columns, or at most as many with a ``budget``.

    Their ``prices`` may add up to the ``budget``. ``regions`` has the region of each column, numbered from 0;
    ``least`` and ``most`` bound the columns selected in each. ``positions`` has one row per column.
    ``price_weight`` is what a unit of price takes off the gain of a column, as a share of all that could be
    gained; without it greedy steps compare gains per price.
    """

    allowed: NDArray
    size: int
    prices: Any = None
    budget: float = np.inf
    price_weight: float | None = None
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

    def open_to(self, members: Sequence[int], *, is_last: bool = False) -> NDArray:
        """Return the mask of the columns that may join these members without breaking a rule.

        Places that regions still need to reach their minimum are reserved for them: all places if the column
        is to be the last.
        """
        mask = self.allowed.copy()
        if self.regions is not None:
            counts = self._region_counts(members)
            needed = np.maximum(self.least - counts, 0)
            mask &= (counts < self.most)[self.regions]
            if len(members) + needed.sum() >= (len(members) + 1 if is_last else self.size):
                mask &= needed[self.regions] > 0
        if self.positions is not None and len(members) > 0:
            radius = np.nextafter(self.min_distance, 0.0)
            for near in self._tree.query_ball_point(self.positions[list(members)], radius):
                mask[near] = False
        if self.prices is not None:
            # Sums near the budget are exact, so that ten columns at 0.1 fit a budget of 1.
            paid = self.prices[list(members)]
            totals = self.prices + math.fsum(paid)
            fits = totals <= self.budget
            near = np.flatnonzero(np.abs(totals - self.budget) <= 1e-9 * self.budget)
            for price in np.unique(self.prices[near]):
                fits[near[self.prices[near] == price]] = math.fsum([*paid, price]) <= self.budget
            mask &= fits
        return mask

    def worth(self, gains: NDArray, total: float, columns: NDArray | slice = slice(None)) -> NDArray:
        """Return what greedy steps compare: gains less their price, or per price and free columns first.

        ``total`` is what all columns could gain together, the unit of the weight of prices.
        """
        if self.prices is None:
            return gains
        prices = self.prices[columns]
        if self.price_weight is not None:
            return gains - self.price_weight * total * prices
        is_free = (prices == 0) & (gains > 0)
        if is_free.any():
            return np.where(is_free, gains, -np.inf)
        return gains / np.where(prices > 0, prices, 1.0)

    def is_met_by(self, members: Sequence[int] | NDArray) -> bool:
        """Return whether there are enough columns, of which no rule allows more or fewer."""
        is_full = np.isfinite(self.budget) or len(members) == self.size
        return is_full and self.unmet(members).size == 0

    def completion(self, members: Sequence[int], gains: NDArray, node_limit: int) -> NDArray | None:
        """Return the columns of a set with these members that meets all rules, of large gains together.

        If that breaks the budget by rounding, it is the cheapest set. None if there is none, or none was
        found among so many nodes of the search.
        """
        size = self.allowed.size
        kept = np.isin(np.arange(size), members)
        least = 1 if np.isfinite(self.budget) else self.size
        rules = [LinearConstraint(np.ones((1, size)), least, self.size)]
        if self.regions is not None:
            belongs = np.arange(self.least.size)[:, None] == self.regions
            rules.append(LinearConstraint(belongs, self.least, self.most))
        if self.positions is not None:
            rules.append(LinearConstraint(self._near_sets(), -np.inf, 1))
        goals = [(-gains / (gains.max() or 1.0), 0.01)]
        if np.isfinite(self.budget):
            rules.append(LinearConstraint(self.prices[None], -np.inf, self.budget))
            goals.append((self.prices, 0.0))
        for goal, gap in goals:
            result = milp(
                goal,
                integrality=np.ones(size),
                bounds=Bounds(kept, kept | self.allowed),
                constraints=rules,
                options={"node_limit": node_limit, "mip_rel_gap": gap},
            )
            chosen = None if result.x is None else np.flatnonzero(result.x > 0.5)
            if chosen is not None and not self.broken_by(chosen):
                return chosen
        return None

    def _near_sets(self) -> sparse.csr_array:
        """Return sets of columns of which one may be selected, a row each: pairs, or neighbours on a line."""
        size = self.allowed.size
        if self.positions.shape[1] > 1:
            pairs = self._tree.query_pairs(np.nextafter(self.min_distance, 0.0), output_type="ndarray")
            starts, columns = np.arange(0, pairs.size + 1, 2), pairs.ravel()
        else:
            order = np.argsort(self.positions[:, 0], kind="stable")
            line = self.positions[order, 0]
            stops = np.array([np.searchsorted(line - first, self.min_distance) for first in line])
            sets = [order[first : stops[first]] for first in np.flatnonzero(np.diff(stops, prepend=0))]
            starts, columns = np.cumsum([0, *map(len, sets)]), np.concatenate(sets)
        return sparse.csr_array((np.ones(columns.size), columns, starts), shape=(starts.size - 1, size))

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

    def unmet(self, members: Sequence[int] | NDArray) -> NDArray:
        """Return the regions with fewer columns than their minimum."""
        if self.regions is None:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(self._region_counts(members) < self.least)

    def _region_counts(self, members: Sequence[int] | NDArray) -> NDArray:
        return np.bincount(self.regions[list(members)], minlength=self.least.size)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.positions)


@dataclass(kw_only=True, eq=False, repr=False)
class PlacedSelector(GramSelector):
    """Base class of selectors that add columns one at a time, with ``"auto"`` counts, costs and positions.

    A subclass implements ``_fit_gram`` and ``_path(request)``, which returns a function: given a Gram
    operator and a count, it returns the units that the method would select first.
    """

    chooses_count = True

    costs: Any = None
    budget: float | None = None
    cost_weight: float | None = None
    regions: Any = None
    quotas: Mapping[Any, Any] | None = None
    positions: Any = None
    min_distance: float | None = None

    count_curve_: dict[str, NDArray] = field(init=False)

    _parameter_constraints: ClassVar = {
        "budget": [NON_NEGATIVE, None],
        "cost_weight": [NON_NEGATIVE, None],
        "min_distance": [POSITIVE, None],
        "quotas": [Mapping, None],
    }

    @abstractmethod
    def _path(self, request: SelectionRequest) -> Callable[[GramOperator, int], NDArray]:
        """Return a function of a Gram operator and a count that returns so many units, best first."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if (self.costs is None) != (self.budget is None and self.cost_weight is None):
            raise ValueError("costs go together with budget or cost_weight; give both or neither.")
        if (self.regions is None) != (self.quotas is None):
            raise ValueError("regions and quotas go together; give both or neither.")
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
        if X is None:
            raise ValueError(
                'n_features_to_select="auto" holds out rows, which only data in memory have; give a number.'
            )
        if has_missing(X.data if sparse.issparse(X) else X):
            raise ValueError(
                'n_features_to_select="auto" reconstructs held-out rows, which must have no missing values; '
                "fill them in or give a number."
            )
        chosen, curve = count_curve(X, self._path(request), units=request.units, rows=request.rows)
        n_selected = max(chosen, request.kept.size)
        scores, attributes = super()._fit(X, replace(request, n_selected=n_selected))
        return scores, {**attributes, "count_curve_": curve, "n_selected": n_selected}

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
            if not np.all(np.isfinite(prices) & (prices >= 0)):
                raise ValueError("costs must be finite numbers of at least 0.")
            rules |= {"prices": prices[request.columns]}
            if self.budget is not None:
                rules["budget"] = float(self.budget)
            if self.cost_weight is not None:
                rules["price_weight"] = float(self.cost_weight)
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
        if np.isfinite(placement.budget) and order.size == 0:
            raise ValueError(f"budget={self.budget} is less than the cost of any column; raise it.")
        if self._is_ruled and not placement.is_met_by(order):
            raise ValueError(
                f"No {placement.size} columns that meet the constraints were found, only {order.size}; lower "
                "n_features_to_select or min_distance, or raise quotas."
            )
        scores = gains / (1 + gains.sum())
        scores[order] = placement.size - np.arange(order.size)
        if not self._is_ruled:
            return units.of_rows(scores), attributes
        ranking = ranks_from_scores(scores)
        return scores, {**attributes, "ranking_": ranking, "support_": ranking <= order.size}


def count_curve(
    X: Any,
    path: Callable[[GramOperator, int], NDArray],
    *,
    units: Units | None = None,
    rows: RowInfo | None = None,
) -> tuple[int, dict[str, NDArray]]:
    r"""Return how many columns are enough, and the curve by which that was found, as in ``count_curve_``.

    The count is the smallest whose value is within 0.01 of the largest: the share of the variance explained
    less the share of units measured. Beyond it a unit adds hardly more than if nothing had anything in
    common. Two random orders of units and the principal components of each fold are beside it.

    A fifth of the rows of X is held out in turn; given the Gram operator of the others and a number, ``path``
    returns that many units, best first: up to half of them, with at most 100 columns and fewer than the rows
    of a fold.
    """
    n_samples, n_features = X.shape
    if n_samples < LEAST_ROWS:
        raise ValueError(
            f'n_features_to_select="auto" holds out rows and needs at least {LEAST_ROWS} of them, not '
            f"{n_samples}; give a number."
        )
    units = Units.single(n_features) if units is None else units
    out = value_folds(X, rows)
    most_columns = min(100, n_samples - max(fold.size for fold in out) - 2)
    fits = np.cumsum(np.sort(units.sizes)[::-1]) <= most_columns
    max_count = max(1, min(units.count // 2, int(fits.sum())))
    # every count up to 20, then steps of 10 %
    steps = np.append(np.arange(1, 20), np.ceil(20 * 1.1 ** np.arange(100)))
    counts = np.unique(np.minimum(steps, max_count)).astype(int)
    known, random, components, rng = [], [], [], np.random.default_rng(0)
    for gram, held_out in fold_data(X, rows, out):
        parts = [units.members(int(unit)) for unit in path(gram, max_count)]
        known.append(_known_by_count(gram, held_out, parts, counts))
        varying = np.unique(units.codes[np.asarray(gram.diag() > 0)])
        for _ in range(2):
            parts = [units.members(int(unit)) for unit in rng.permutation(varying)[:max_count]]
            random.append(_known_by_count(gram, held_out, parts, counts))
        vectors = gram.eigenpairs(min(max_count, min(gram.shape[0], gram.n_samples - 1))).vectors
        seen = np.square(held_out @ np.asarray(vectors, dtype=np.float64)).sum(axis=0)
        seen = np.cumsum(seen) / max(np.square(held_out).sum(), 1e-300)
        components.append(seen[np.minimum(counts, seen.size) - 1])
    score, beside = (np.mean(shares, axis=0).max(axis=1) for shares in (known, random))  # of the best ridge
    value = score - counts / units.count
    enough = int(np.argmax(value >= value.max() - 0.01))
    return int(counts[enough]), {
        "n_features": counts,
        "score": score,
        "random": beside,
        "components": np.mean(components, axis=0),
        "chosen": np.arange(counts.size) == enough,
    }


def fold_data(X: Any, rows: RowInfo | None, folds: list[NDArray]) -> Iterator[tuple[GramOperator, NDArray]]:
    """Yield S of the other rows, and held-out rows less the mean of the others, in units of S.

    A held-out row of weight w is multiplied by the root of w; the mean is that of its own batch.
    """
    info = RowInfo(np.ones(X.shape[0])) if rows is None else rows
    for fold in folds:
        is_out = np.isin(np.arange(X.shape[0]), fold)
        stay, known = info.of(~is_out), np.unique(info.batches[~is_out])
        # 500 held-out rows are enough for an error known to a few per cent
        out = np.flatnonzero(is_out & np.isin(info.batches, known))[:500]
        kept = X[~is_out]
        gram = gram_operator(kept, rows=stay.scaled())
        if rows is None:
            centres = np.asarray(gram.mean, dtype=np.float64)
        else:
            centres = stay.means(kept)[np.searchsorted(known, info.batches[out])]
        yield gram, info.of(out).rooted((dense(X[out]) - centres) / gram.scale)


def _known_by_count(gram: GramOperator, held_out: NDArray, parts: list[NDArray], counts: NDArray) -> NDArray:
    """Return the share of the variance of all columns explained, a row per count and a column per ridge.

    The maps from the first column, the first two and so on follow from one Cholesky factor, each by one more
    term.
    """
    columns, ends = np.concatenate(parts), np.cumsum([part.size for part in parts])
    ends = ends[np.minimum(counts, ends.size) - 1]
    cross = np.asarray(gram.columns(columns), dtype=np.float64).T
    units = np.diag(ridge_units(cross[:, columns].diagonal()))
    squares = np.einsum("ij,ij->j", held_out, held_out)
    known = []
    # little more than rounding, some, and much
    for ridge in (max(1e-10, 100 * np.finfo(gram.dtype).eps), 1e-3, 0.1):
        root = linalg.cholesky(cross[:, columns] + ridge * units, lower=True, check_finite=False)
        fitted = linalg.solve_triangular(root, cross, lower=True, check_finite=False)
        seen = linalg.solve_triangular(root, held_out[:, columns].T, lower=True, check_finite=False)
        overlaps = np.tril(2 * (seen @ seen.T))
        overlaps[np.diag_indices(columns.size)] /= 2
        left = squares + np.cumsum(fitted * (overlaps @ fitted - 2 * (seen @ held_out)), axis=0)
        others = left.sum(axis=1) - np.tril(left[:, columns]).sum(axis=1)
        known.append(1 - others[ends - 1] / np.maximum(squares.sum(), 1e-300))
    return np.array(known).T
