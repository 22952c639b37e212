"""Columns from which the others can be rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

from numpy.typing import NDArray

from ufselect.common.checks import check_nonnegative
from ufselect.gram import GramOperator, RowLayout
from ufselect.selectors.base import Columns, Fitted, Groups
from ufselect.selectors.choice import kept_first
from ufselect.selectors.placed import PlacedSelector
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.solvers.rebuild.choose import choose_columns, first_columns
from ufselect.solvers.rebuild.evidence import Rows


class RebuildSelector(PlacedSelector):
    r"""Select the columns from which a linear map rebuilds all columns best.

    With :math:`A` the centred data and C the selected columns, it looks for a small

    .. math:: \min_W \|A - A_C W\|_F^2 + \rho \sum_{i \in C} S_{ii} \|w_i\|^2, \qquad S = A^\top A.

    Columns are added one at a time, each the one that lowers this error most; then sweeps of exchanges let
    each selected column make way for another one that lowers it further, until none does or ``max_iter``
    sweeps are over. An exchange never raises the error.

    The penalty keeps correlations that chance has made large from deciding. Its weight ρ comes from the data:
    four times the shrinkage of least expected squared error of the correlations [1]_, times the share of the
    variance that greedy steps without it leave; it vanishes as rows grow in number, and where columns have no
    noise. With at most 200 rows and more columns than rows, the leave-one-out error [2]_ decides among
    the columns of largest gain, so that no single row recommends a column.

    What ``GreedyProjection(target="features")`` takes stays, with ρ = 0 and no exchanges, unless a penalty is
    given, where there is no evidence for other columns: where these do not rebuild rows left out better by
    more than the standard error of the difference (what a single row gains is just that), or where a few of
    at most 200 rows hold more of the variance than in any normal data. Rows are left out while they amount to
    400 or fewer, each counted by its share of the variance, where they are in memory, have no gaps and no
    more than 20 million entries.

    A greedy step costs a product of S with a vector, 2 d² operations for d ≤ n and 4 n d otherwise, and three
    products with an array of d × r; so does a sweep for each column it exchanges. Where rows are left out, it
    costs two products of the data with a vector, and a sweep as much for each column that it looks at. More
    than 2000 sparse columns are represented by 2000 of them, drawn in proportion to their variance.

    Use it where few columns are to be measured in place of all: sensors, genes, wavelengths, questions. To
    rebuild the columns, and for the error of it, see :class:`~ufselect.Reconstructor`. Columns with a large
    unit dominate: standardise first unless units are comparable.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=0.1
        Number r of columns, or their share. ``"auto"`` chooses it by cross-validation; see ``count_curve_``.
        With a ``budget`` it is the most columns.
    penalty : float or "auto", default="auto"
        The weight ρ.
    max_iter : int, default=2
        Most sweeps of exchanges; 0 for greedy steps alone.
    costs : array-like of shape (n_features,), optional
        What each column costs, above 0. Greedy steps then take the largest gain per cost.
    budget : float, optional
        What all selected columns may cost together.
    regions : array-like of shape (n_features,), optional
        A label for each column.
    quotas : mapping, optional
        For a label the most columns it may hold, or a pair of the least and the most.
    positions : array-like of shape (n_features,) or (n_features, n_dimensions), optional
        Where each column lies; by default at its number. Pixels have two coordinates, wavelengths one.
    min_distance : float, optional
        Least distance between the positions of two selected columns.
    keep, exclude : sequence of str or int, default=None
        Columns, by name or index, that are selected in any case, or never. Excluded columns have no part in
        the fit.
    groups : sequence or dict, default=None
        One label per column, None for a column of its own; or names of groups with their columns. A group is
        selected whole or not at all, by what its columns add together, and counts as one feature; then the
        leave-one-out error has no part in the choice.
    max_correlation : float, default=None
        A column whose absolute correlation with a better one exceeds this waits until no other is left. Sets
        of identical columns are then listed in ``duplicates_``, for data in memory.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        For the t-th selected column r + 1 − t; for the others their share, below 1, of what could still be
        gained by one column more.
    ranking_ : ndarray of shape (n_features,)
        Rank of each column, 1 for the best; the selected ones in the order in which greedy steps among them
        would take them.
    support_ : ndarray of shape (n_features,)
        Mask of the selected columns.
    penalty_ : float
        The ρ used.
    objective_history_ : list of float
        The error as a share of the variance, after the greedy steps and after each sweep; of greedy steps
        alone where what they take stays.
    n_iter_ : int
        Number of sweeps, also where they were in vain.
    count_curve_ : list of dict
        With ``n_features_to_select="auto"``: for each ``count`` the held-out ``error``, its
        ``standard_error`` and whether it was ``chosen``, with a ``note`` beside the chosen one.

    References
    ----------
    .. [1] J. Schäfer and K. Strimmer (2005), "A shrinkage approach to large-scale covariance matrix
       estimation", Statistical Applications in Genetics and Molecular Biology 4(1).
    .. [2] D. M. Allen (1974), "The relationship between variable selection and data augmentation and a method
       for prediction", Technometrics 16(1).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import RebuildSelector
    >>> pixels = load_digits().data
    >>> selector = RebuildSelector(n_features_to_select=20).fit(pixels)
    >>> round(selector.objective_history_[-1], 2)
    0.18
    >>> apart = RebuildSelector(n_features_to_select=5, min_distance=10).fit(pixels)
    >>> bool((apart.get_support(indices=True)[1:] - apart.get_support(indices=True)[:-1] >= 10).all())
    True
    """

    label = "Rebuild"
    order = 55
    honours = frozenset({"keep", "groups"})

    penalty_: float
    objective_history_: list[float]
    n_iter_: int
    cost = "n d² + r d² (tall), n² d + r n d (wide)"

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.1,
        *,
        penalty: float | str = "auto",
        max_iter: int = 2,
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
        self.penalty = penalty
        self.max_iter = max_iter
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
        if self.penalty != "auto":
            check_nonnegative("penalty", self.penalty)
        if isinstance(self.max_iter, bool) or not isinstance(self.max_iter, Integral) or self.max_iter < 0:
            raise ValueError(f"max_iter must be an integer of at least 0, not {self.max_iter!r}.")

    def _fit_known(
        self,
        X: Any,
        layout: RowLayout | None,
        gram: GramOperator,
        wanted: Wanted,
        progress: FitProgress,
    ) -> Fitted:
        # With a penalty given nothing is compared on rows left out, and they need not be copied.
        rows = Rows.of(X, gram, layout) if self._given_penalty() is None else None
        return self._fit_gram(gram, wanted, progress, rows)

    def _fit_gram(
        self, gram: GramOperator, wanted: Wanted, progress: FitProgress, rows: Rows | None = None
    ) -> Fitted:
        placement = self._placement(gram, wanted, wanted.n_selected)
        choice = choose_columns(
            gram,
            placement,
            max_sweeps=self.max_iter,
            penalty=self._given_penalty(),
            start=wanted.kept.tolist(),
            units=wanted.units,
            rows=rows,
            on_sweep=progress,
        )
        attributes = {
            "penalty_": choice.penalty,
            "objective_history_": choice.errors,
            "n_iter_": choice.n_sweeps,
        }
        order = kept_first(choice.order, wanted.kept)
        return self._placed(order, choice.gains, placement, attributes, wanted.n_selected, wanted.units)

    def _path(self, wanted: Wanted) -> Callable[[GramOperator, int], NDArray]:
        return first_columns(
            lambda gram, size: self._placement(gram, wanted, size),
            wanted.kept.tolist(),
            self._given_penalty(),
            wanted.units,
        )

    def _given_penalty(self) -> float | None:
        return None if self.penalty == "auto" else float(self.penalty)
