"""D-optimal leverage: large PCA loadings that do not repeat each other."""

from __future__ import annotations

from ufselect.common.checks import check_nonnegative
from ufselect.gram import GramOperator
from ufselect.selectors.base import Columns, Fitted, Groups
from ufselect.selectors.dimension import component_spectrum
from ufselect.selectors.gram_selector import GramSelector
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.solvers.d_optimal import d_optimal_scores

# The inverse starts at 1/ρ, and what rounding leaves of that after a row has joined is no leverage.
MIN_RIDGE = 1e-12


class DOptimalLeverage(GramSelector):
    r"""Select features with large PCA loadings in different directions.

    With :math:`v_j` the row of feature j in the m leading loadings, features are added one at a time so that

    .. math:: \log\det\Bigl(\rho I + \sum_{j \in C} v_j v_j^\top\Bigr)

    grows most: the D-optimal criterion of experimental design [1]_, regularised by ρ. A feature whose
    loadings point where earlier ones already point gains little, so that the choice is less redundant than
    that of :class:`~ufselect.PCALeverage`, to which it tends for large ρ.

    The cost is that of a truncated PCA and r d m operations more. Use it where many features are near copies
    of each other, as pixels or spectra are. Features with a large unit dominate: standardise first unless
    units are comparable.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number r of features, or their share.
    n_components : int or "auto", default="auto"
        Number m of components. ``"auto"`` keeps a component while its share of the variance is larger than
        that of a piece of a stick broken at random.
    ridge : float, default=0.01
        The weight ρ in units of the mean leverage :math:`\|v_j\|^2` of the r features where it is largest.
        Small values punish redundancy more; below 1e-12 rounding leaves nothing of them.
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
        Increase of the criterion: of a selected feature when it was added, of the others at the end.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    n_components_ : int
        The m used.

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
    order = 40
    honours = frozenset({"keep", "groups"})

    n_components_: int

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_components: int | str = "auto",
        ridge: float = 0.01,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.ridge = ridge
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _check_parameters(self) -> None:
        check_nonnegative("ridge", self.ridge)
        if self.ridge == 0:
            raise ValueError("ridge=0 leaves the criterion without a finite value; give a positive number.")
        if self.ridge < MIN_RIDGE:
            raise ValueError(f"ridge={self.ridge} is lost to rounding; give at least {MIN_RIDGE:.0e}.")

    def _fit_gram(self, gram: GramOperator, wanted: Wanted, progress: FitProgress) -> Fitted:
        loadings = component_spectrum(gram, self.n_components).vectors
        scores = d_optimal_scores(loadings, wanted.agenda, self.ridge)
        return Fitted(scores, {"n_components_": loadings.shape[1]})
