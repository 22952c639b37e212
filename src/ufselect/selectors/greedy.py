"""Greedy forward selection of features that together explain the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from ufselect.common.checks import check_choice
from ufselect.gram import GramOperator
from ufselect.selectors.base import Columns, Fitted, Groups
from ufselect.selectors.dimension import component_spectrum
from ufselect.selectors.placed import PlacedSelector
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.solvers.greedy import (
    AllFeatures,
    GivenTargets,
    Target,
    choose_in_rounds,
    score_products,
    scores_of_rounds,
)

TARGETS = ("scores", "features")


class GreedyProjection(PlacedSelector):
    r"""Select features whose span explains the data, one feature at a time.

    With :math:`P_C` the projection onto the span of the selected columns of the centred data A, features are
    added greedily to maximise

    .. math:: \|P_C\,T\|_F^2, \qquad T = U_m \text{ or } T = A.

    ``target="scores"`` takes :math:`U_m`, the m leading principal-component scores scaled to equal variance,
    so that weak directions count as much as strong ones [1]_. ``target="features"`` takes all features:
    column subset selection, which keeps what is needed to reconstruct the data [2]_.

    Each step costs one or two products of S with a vector, 2 d² operations for d ≤ n and 4 n d otherwise, and
    d times the number of features chosen so far. Features in the span of those selected
    wait: once the selected ones span all others, a further round begins among the rest. Constant features
    come last.

    Use it where many features repeat each other. What the features have in common with noise is kept too:
    on few samples the span soon explains everything.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=0.1
        Number of features, or their share. ``"auto"`` chooses it by the error of rebuilding rows left out;
        see ``count_curve_``. With a ``budget`` it is the most features.
    target : {"scores", "features"}, default="scores"
        What the selected features should explain.
    n_components : int or "auto", default="auto"
        Number m of scores. ``"auto"`` keeps a component while its share of the variance is larger than that
        of a piece of a stick broken at random. Not used for ``target="features"``.
    costs : array-like of shape (n_features,), optional
        What each feature costs, above 0. Greedy steps then take the largest gain per cost.
    budget : float, optional
        What all selected features may cost together.
    regions : array-like of shape (n_features,), optional
        A label for each column.
    quotas : mapping, optional
        For a label the most columns it may hold, or a pair of the least and the most.
    positions : array-like of shape (n_features,) or (n_features, n_dimensions), optional
        Where each column lies; by default at its number. Pixels have two coordinates, wavelengths one.
    min_distance : float, optional
        Least distance between the positions of two selected features.
    keep, exclude : sequence of str or int, default=None
        Columns, by name or index, that are selected in any case, or never. Excluded columns have no part in
        the fit.
    groups : sequence or dict, default=None
        One label per column, None for a column of its own; or names of groups with their columns. A group is
        selected whole or not at all, and counts as one feature.
    max_correlation : float, default=None
        A column whose absolute correlation with a better one exceeds this waits until no other is left. Sets
        of identical columns are then listed in ``duplicates_``, for data in memory.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        For the t-th selected feature r + 1 − t; for the others their share, below 1, of what remains to be
        explained.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best; the first ones in the order in which they were chosen.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    count_curve_ : list of dict
        With ``n_features_to_select="auto"``: for each ``count`` the held-out ``error`` of rebuilding the
        others, its ``standard_error`` and whether it was ``chosen``, with a ``note`` beside the chosen one.

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
    order = 50
    honours = frozenset({"keep", "groups"})

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.1,
        *,
        target: str = "scores",
        n_components: int | str = "auto",
        costs: Any = None,
        budget: float | None = None,
        regions: Any = None,
        quotas: Mapping[Any, Any] | None = None,
        positions: Any = None,
        min_distance: float | None = None,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.n_components = n_components
        self.costs = costs
        self.budget = budget
        self.regions = regions
        self.quotas = quotas
        self.positions = positions
        self.min_distance = min_distance
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("target", self.target, TARGETS)

    def _fit_gram(self, gram: GramOperator, wanted: Wanted, progress: FitProgress) -> Fitted:
        placement = self._placement(gram, wanted, wanted.agenda.capacity)
        make_target, n_leading = self._target(gram, wanted)
        if not self._is_ruled:
            return Fitted(scores_of_rounds(gram, make_target, wanted.agenda), n_leading=n_leading)
        order, gains = choose_in_rounds(gram, make_target, wanted.agenda, placement)
        return self._placed(order, gains, placement, {}, n_leading, wanted.units)

    def _path(self, wanted: Wanted) -> Callable[[GramOperator, int], NDArray]:
        def first_units(gram: GramOperator, count: int) -> NDArray:
            agenda = replace(wanted.agenda, n_chosen=max(count, wanted.kept.size))
            placement = self._placement(gram, wanted, agenda.n_chosen) if self._is_ruled else None
            return choose_in_rounds(gram, self._target(gram, wanted)[0], agenda, placement)[0][:count]

        return first_units

    def _target(self, gram: GramOperator, wanted: Wanted) -> tuple[Callable[[], Target], int]:
        """Return what makes the target, and the leading components that it rests on."""
        units = wanted.agenda.units
        if self.target == "features":
            return lambda: AllFeatures(gram, units), wanted.n_selected
        spectrum = component_spectrum(gram, self.n_components)
        products = score_products(spectrum)
        return lambda: GivenTargets(products, units), spectrum.values.size
