"""GreedyProjection and DOptimalLeverage: greedy selection of features that are not redundant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import SelectionRequest, UnitRequest
from ufselect.base import FitResult, GramSelector, Interval, StrOptions
from ufselect.gram import GramOperator
from ufselect.gram.spectrum import component_spectrum
from ufselect.reconstruct.placement import PlacedSelector
from ufselect.reconstruct.search import Problem


@dataclass(kw_only=True, eq=False, repr=False)
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

    target: str = "scores"
    n_components: int | str = "auto"

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        problem, attributes = self._problem(gram, request, request.n_selected)
        order, gains = problem.grown()
        return self._placed(order, gains, problem.placement, attributes, request.units)

    def _path(self, request: SelectionRequest) -> Callable[[GramOperator, int], NDArray]:
        def first_units(gram: GramOperator, count: int) -> NDArray:
            return self._problem(gram, request, max(count, request.kept.size))[0].grown()[0][:count]

        return first_units

    def _problem(
        self, gram: GramOperator, request: SelectionRequest, size: int
    ) -> tuple[Problem, dict[str, Any]]:
        """Return the problem of selecting so many units, and fitted attributes."""
        placement, start = self._placement(gram, request, size), request.kept.tolist()
        if self.target == "features":
            return Problem(gram, placement, request.units, start), {}
        spectrum = component_spectrum(gram, self.n_components)
        # products of the centred data with the whitened scores
        targets = spectrum.vectors * np.sqrt(np.asarray(spectrum.values, dtype=np.float64))
        problem = Problem(gram, placement, request.units, start, targets=targets)
        return problem, {"n_components_": spectrum.values.size}


@dataclass(kw_only=True, eq=False, repr=False)
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

    n_components: int | str = "auto"
    ridge: float = 0.01
    basis: Any = None

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
        gains = greedy_determinant(loadings, request, self.ridge * float(largest.mean()))
        return request.units.of_rows(gains), {"n_components_": loadings.shape[1]}


def greedy_determinant(rows: NDArray, request: UnitRequest, ridge: float) -> NDArray:
    r"""Return by how much each selected unit raises the criterion, and each other one would at the end.

    The gain of a row is :math:`\log(1 + v_j^\top M^{-1} v_j)` with M the matrix so far, that of several rows
    V :math:`\log\det(I + V M^{-1} V^\top)`. The function is submodular: gains never grow, and the greedy
    value is at least 1 − 1/e of the best one's increase (Nemhauser, Wolsey and Fisher 1978, Math. Program.
    14). The larger ρ, the ``ridge``, the less a row similar to selected ones is penalised.
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
    return gains
