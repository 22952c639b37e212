"""GreedyProjection and DOptimalLeverage: greedy selection of features that are not redundant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ufselect._columns import SelectionRequest, UnitRequest, Units
from ufselect._solver.determinant import greedy_determinant
from ufselect.base import Columns, FitResult, GramSelector, Groups
from ufselect.gram import GramOperator
from ufselect.gram.spectrum import component_spectrum
from ufselect.reconstruct.placement import PlacedSelector, Placement


def gram_blocks(gram: GramOperator, units: Units) -> list[NDArray]:
    """Return the block of S of each unit, an array for each batch of units of one size."""
    return [
        np.array([gram.subgram(rows) for rows in members], dtype=np.float64) for _, members in units.batches
    ]


def squared_blocks(gram: GramOperator, units: Units) -> list[NDArray]:
    """Return the block of S² of each unit, as `gram_blocks` does."""

    def squared(rows: NDArray) -> NDArray:
        columns = np.asarray(gram.columns(rows), dtype=np.float64)
        return columns.T @ columns

    return [np.array([squared(rows) for rows in members]) for _, members in units.batches]


def outer(vectors: NDArray) -> NDArray:
    """Return the outer product of each row with itself."""
    return vectors[:, :, None] * vectors[:, None, :]


def crossed(left: NDArray, right: NDArray) -> NDArray:
    """Return the outer products of the rows of two arrays, plus their transposes."""
    products = left[:, :, None] * right[:, None, :]
    return products + products.transpose(0, 2, 1)


def block_gains(variances: NDArray, products: NDArray, floors: NDArray) -> NDArray:
    r"""Return :math:`\mathrm{Tr}(R_{GG}^{+} N_{GG})` of each unit G: what it adds to the explained target.

    For each unit, ``variances`` has a block of R, the residual of S, and ``products`` one of N, its inner
    products through the target. An eigenvalue of R up to the unit's floor counts as spanned.
    """
    values, vectors = np.linalg.eigh(variances)
    seen = np.sum(vectors * (products @ vectors), axis=1)
    outside = values > floors[:, None]
    return np.sum(np.where(outside, np.maximum(seen, 0) / np.where(outside, values, 1.0), 0.0), axis=1)


class GivenTargets:
    r"""Targets T, orthonormal columns over the samples, given as :math:`T^\top A` in the operator's units."""

    def __init__(self, products: NDArray, units: Units) -> None:
        self.products = products
        self.units = units
        self.total = float(len(products))

    def gains(self, residual: NDArray) -> NDArray:
        """Return what each feature would add, given its residual variance."""
        return np.einsum("ij,ij->j", self.products, self.products) / residual

    def blocks(self, batch: int) -> NDArray:
        """Return the inner products through the target of the features of each unit of a batch."""
        products = self.products[:, self.units.batches[batch][1]].transpose(1, 2, 0)
        return products @ products.transpose(0, 2, 1)

    def deflate(self, column: NDArray, chosen: int, root: float, earlier: NDArray) -> None:
        """Remove a direction: a column of the residual Gram matrix over the root of its pivot."""
        self.products = self.products - np.outer(self.products[:, chosen] / root, column)


class AllFeatures:
    r"""All features as the target: the squared residual Gram matrix :math:`R^2`, on its diagonal and units.

    A direction c changes R to :math:`R - cc^\top`, so :math:`R^2` loses
    :math:`c(Rc)^\top + (Rc)c^\top - \|c\|^2 cc^\top`: two products with a vector per step, and no residual
    matrix (Farahat et al., 2013; see `GreedyProjection`). Methods as in `GivenTargets`.
    """

    def __init__(self, gram: GramOperator, units: Units, norms: NDArray | None = None) -> None:
        self.gram = gram
        self.units = units
        self.explained = gram.squared_column_norms() if norms is None else norms
        self.squared = squared_blocks(gram, units)
        self.total = gram.trace()

    def gains(self, residual: NDArray) -> NDArray:
        return np.maximum(self.explained, 0) / residual

    def blocks(self, batch: int) -> NDArray:
        return self.squared[batch]

    def deflate(self, column: NDArray, chosen: int, root: float, earlier: NDArray) -> None:
        product = self.gram.matmat(column.astype(self.gram.dtype)[:, None])[:, 0]
        image = np.asarray(product, dtype=np.float64) - earlier.T @ (earlier @ column)
        length = float(column @ column)
        self.explained = self.explained - 2 * column * image + length * np.square(column)
        for blocks, (_, members) in zip(self.squared, self.units.batches, strict=True):
            blocks -= crossed(column[members], image[members]) - length * outer(column[members])


Target = GivenTargets | AllFeatures


def greedy_projection(
    gram: GramOperator,
    target: Target,
    request: UnitRequest,
    allowed: NDArray,
    placement: Placement | None = None,
    taken: Sequence[int] = (),
) -> tuple[NDArray, NDArray]:
    r"""Select features whose span explains most of a target, one unit at a time.

    Maximises :math:`\|P_C T\|_F^2` by a pivoted Cholesky factorisation of S with the largest gain as pivot.
    With R the residual of S and N its inner products through the target, a unit G adds
    :math:`\mathrm{Tr}(R_{GG}^{+} N_{GG})`.

    The target is changed in place. ``allowed`` marks the features to select from; kept units need not be
    among them. A ``placement`` is for single features only; features ``taken`` before count for it, but not
    for the span. Returns the selected units, first one first and fewer than requested if they span all
    allowed features, and what each unit would add at the end: 0 for those selected or spanned.
    """
    units, blocks = request.units, gram_blocks(gram, request.units)
    residual = np.asarray(gram.diag(), dtype=np.float64).copy()
    # A feature whose residual has fallen to a thousand roundings of its variance lies in the span.
    floor = residual * np.finfo(gram.dtype).eps * 1e3
    is_open = allowed & (residual > floor)
    factor = np.zeros((request.units.most_rows(request.n_selected), residual.size))
    rank = 0
    order: list[int] = []

    def add(unit: int) -> None:
        """Add the features of a unit; those that lie in the span have no effect."""
        nonlocal rank
        for feature in units.members(unit):
            if residual[feature] > floor[feature]:
                earlier = factor[:rank]
                own = np.asarray(gram.columns(np.array([feature]))[:, 0], dtype=np.float64)
                root = np.sqrt(residual[feature])
                column = (own - earlier.T @ earlier[:, feature]) / root
                target.deflate(column, int(feature), root, earlier)
                factor[rank] = column
                rank += 1
                np.subtract(residual, np.square(column), out=residual)
                np.logical_and(is_open, residual > floor, out=is_open)
                for block, (_, members) in zip(blocks, units.batches, strict=True):
                    block -= outer(column[members])
            is_open[feature] = False
        order.append(unit)

    for unit in request.kept:
        add(int(unit))
    while True:
        gains = units.sums(np.where(is_open, target.gains(np.where(is_open, residual, 1.0)), 0.0))
        open_units = units.sums(is_open) > 0
        for batch, (several, members) in enumerate(units.batches):
            part = open_units[several]
            floors = floor[members[part]].max(axis=1)
            gains[several[part]] = block_gains(blocks[batch][part], target.blocks(batch)[part], floors)
        may_join = open_units if placement is None else open_units & placement.open_to([*taken, *order])
        if len(order) >= request.n_selected or not np.any(may_join):
            return np.array(order, dtype=np.intp), gains
        gains_open = np.where(may_join, gains, -np.inf)
        add(int(np.argmax(gains_open if placement is None else placement.worth(gains_open, target.total))))


def choose_in_rounds(
    gram: GramOperator,
    make_target: Callable[[], Target],
    request: UnitRequest,
    placement: Placement | None = None,
) -> tuple[NDArray, NDArray]:
    """Select greedily; once the selected features span all others, a new round begins among the rest.

    If greedy steps end where no further feature may join, they begin anew with a plan that leaves room.
    Returns the units in the order of selection, and what each other unit would add in the last round.
    """
    allowed = gram.diag() > 0
    order = np.empty(0, dtype=np.intp)
    gains = np.zeros(request.units.count)
    while order.size < request.n_selected and (order.size < request.kept.size or np.any(allowed)):
        chosen, gains = greedy_projection(
            gram, make_target(), request.after(order), allowed, placement, order.tolist()
        )
        if chosen.size == 0:
            break
        order = np.append(order, chosen)
        allowed[np.isin(request.units.codes, chosen)] = False
    if placement is not None and placement.plan is None and not placement.is_met_by(order):
        guided = placement.guided(request.kept)
        if guided.plan is not None:
            return choose_in_rounds(gram, make_target, request, guided)
    return order, gains


class GreedyProjection(PlacedSelector):
    r"""Select features whose span explains the data, one feature at a time.

    Use it if many features are redundant. With few samples a few features span all others, noise included:
    ``ReconstructionSelector`` guards against that.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=0.1
        Number of features, or a share of all features. ``"auto"`` sets it by the held-out reconstruction
        error; see ``count_curve_``. With a ``budget`` it is the maximum number.
    target : {"scores", "features"}, default="scores"
        What the selected features should explain: ``n_components`` principal-component scores, scaled to
        equal variance so that weak directions count as much as strong ones [1]_, or all features, which is
        column subset selection for reconstruction [2]_.
    {n_components}
        Not used for ``target="features"``.
    {placement}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        r for the first selected feature down to 1 for the last; below 1 for the others: their share of what
        is unexplained.
    {ranking_and_support}
    n_components_ : int
        With ``target="scores"``: the m used.
    {count_curve}

    See Also
    --------
    ReconstructionSelector : Also exchanges columns and shrinks noise; use it for reconstruction.
    DOptimalLeverage : Uses the PCA loadings only; faster with many features.

    Notes
    -----
    With :math:`P_C` the projection onto the span of the selected columns of the centred data A, features are
    added greedily to maximise

    .. math:: \|P_C\,T\|_F^2,

    with T the m scaled scores :math:`U_m`, or A.

    Each step costs one or two products of S with a vector, 2 d² operations for d ≤ n and 4 n d otherwise, and
    d times the number of features selected so far. Once the selected features span all others, a new round
    begins among the rest. Constant features come last.

    References
    ----------
    .. [1] S. Zhang, T. Wang, L. Sun, K. Worden and E. J. Cross (2025), "Canonical-correlation-based fast
       feature selection for structural health monitoring", Mechanical Systems and Signal Processing 223.
    .. [2] A. K. Farahat, A. Ghodsi and M. S. Kamel (2013), "Efficient greedy feature selection for
       unsupervised learning", Knowledge and Information Systems 35.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect import GreedyProjection
    >>> rng = np.random.default_rng(0)
    >>> three = rng.standard_normal((100, 3))
    >>> copies = three[:, [0, 0, 1, 1, 2, 2]]
    >>> chosen = GreedyProjection(n_features_to_select=3, n_components=3).fit(copies)
    >>> sorted(chosen.get_support(indices=True) // 2)
    [np.int64(0), np.int64(1), np.int64(2)]
    """

    label = "Greedy projection"
    cost = "n d² + r d² (tall), n² d + r n d (wide)"
    supports = frozenset({"keep", "feature_groups"})

    _parameter_constraints: ClassVar = {"target": [StrOptions({"scores", "features"})]}

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.1,
        *,
        target: str = "scores",
        n_components: int | str = "auto",
        costs: Any = None,
        budget: float | None = None,
        cost_weight: float | None = None,
        regions: Any = None,
        quotas: Mapping[Any, Any] | None = None,
        positions: Any = None,
        min_distance: float | None = None,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        feature_groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep, exclude, feature_groups, max_correlation)
        self.target = target
        self.n_components = n_components
        self.costs = costs
        self.budget = budget
        self.cost_weight = cost_weight
        self.regions = regions
        self.quotas = quotas
        self.positions = positions
        self.min_distance = min_distance

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        placement = self._placement(gram, request, request.n_selected)
        make_target, attributes = self._target(gram, request)
        rules = placement if self._is_ruled else None
        order, gains = choose_in_rounds(gram, make_target, request, rules)
        return self._placed(order, gains, placement, attributes, request.units)

    def _path(self, request: SelectionRequest) -> Callable[[GramOperator, int], NDArray]:
        def first_units(gram: GramOperator, count: int) -> NDArray:
            part = replace(request, n_selected=max(count, request.kept.size))
            placement = self._placement(gram, request, part.n_selected) if self._is_ruled else None
            return choose_in_rounds(gram, self._target(gram, request)[0], part, placement)[0][:count]

        return first_units

    def _target(
        self, gram: GramOperator, request: SelectionRequest
    ) -> tuple[Callable[[], Target], dict[str, Any]]:
        """Return a function that makes the target, and its fitted attributes."""
        units = request.units
        if self.target == "features":
            return lambda: AllFeatures(gram, units), {}
        spectrum = component_spectrum(gram, self.n_components)
        # of the whitened scores with the centred data
        products = np.sqrt(np.asarray(spectrum.values, dtype=np.float64))[:, None] * spectrum.vectors.T
        return lambda: GivenTargets(products, units), {"n_components_": spectrum.values.size}


class DOptimalLeverage(GramSelector):
    r"""Select features with large PCA loadings in different directions.

    Use it if many features are nearly identical, such as pixels or the wavelengths of spectra: a feature
    gains little if its loadings have the direction of selected ones. Features with a large unit dominate:
    standardise first unless units are comparable.

    Parameters
    ----------
    {n_features_to_select}
    {n_components}
    ridge : float, default=0.01
        The weight ρ in units of the mean leverage :math:`\|v_j\|^2` of the r features where it is largest.
        Small values penalise redundancy more; values below 1e-12 would be lost to rounding.
    basis : array-like of shape (n_features, n_components), optional
        Modes to use in place of the PCA loadings, such as Fourier modes or those of earlier data.
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Increase of the criterion: of a selected feature when it was added, of the others at the end.
    {ranking_and_support}
    n_components_ : int
        The m used.

    See Also
    --------
    PCALeverage : The limit for large ρ; simpler, but its selection may be redundant.
    GreedyProjection : Selects features by how much of the data their span explains; slower.

    Notes
    -----
    With :math:`v_j` the row of feature j in the m leading loadings, features are added one at a time so that

    .. math:: \log\det\Bigl(\rho I + \sum_{j \in C} v_j v_j^\top\Bigr)

    grows most: the D-optimal criterion of experimental design [1]_, regularised by ρ. The cost is that of a
    truncated PCA plus r d m operations.

    References
    ----------
    .. [1] F. Pukelsheim (2006), "Optimal design of experiments", SIAM.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import DOptimalLeverage
    >>> pixels = load_digits().data
    >>> DOptimalLeverage(n_features_to_select=20, n_components=10).fit_transform(pixels).shape
    (1797, 20)
    """

    label = "D-optimal leverage"
    cost = "n d² + r d m (tall), n² d + r d m (wide)"
    supports = frozenset({"keep", "feature_groups"})

    _parameter_constraints: ClassVar = {
        # the inverse starts at 1/ρ; for smaller ρ, rounding after the first update exceeds the leverages
        "ridge": [Interval(Real, 1e-12, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_components: int | str = "auto",
        ridge: float = 0.01,
        basis: Any = None,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        feature_groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep, exclude, feature_groups, max_correlation)
        self.n_components = n_components
        self.ridge = ridge
        self.basis = basis

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        if self.basis is None:
            loadings = component_spectrum(gram, self.n_components).vectors
        else:
            loadings = request.table.numbers("basis", self.basis)[request.columns]
            if loadings.ndim != 2 or not np.all(np.isfinite(loadings)):
                raise ValueError("basis must have a row of finite numbers for each column of X.")
        leverage = request.units.sums(np.square(loadings, dtype=np.float64).sum(axis=1))
        smallest = leverage.size - request.n_selected
        largest = np.partition(leverage, smallest)[smallest:]
        gains = greedy_determinant(loadings, request, self.ridge * float(largest.mean()))[1]
        return request.units.of_rows(gains), {"n_components_": loadings.shape[1]}
