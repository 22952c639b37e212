"""ReconstructionSelector: columns from which the others can be reconstructed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import SelectionRequest, kept_first
from ufselect.base import NON_NEGATIVE, FitResult, Interval, StrOptions
from ufselect.gram import GramOperator
from ufselect.gram.spectrum import rank_limit
from ufselect.reconstruct.placement import PlacedSelector
from ufselect.reconstruct.ridge import noise_variances
from ufselect.reconstruct.search import Problem, Search, centred_rows


@dataclass(kw_only=True, eq=False, repr=False)
class ReconstructionSelector(PlacedSelector):
    r"""Select the columns from which a linear map reconstructs all columns best.

    Use it if only a few columns will be measured instead of all: sensors, genes, wavelengths, questions.
    Columns with a large unit dominate: standardise first unless units are comparable.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=0.1
        Number r of columns, or a share of all columns. ``"auto"`` sets it by cross-validation; see
        ``count_curve_``. With a ``budget`` it is the maximum number.
    penalty : float or "auto", default="auto"
        Weight ρ of the penalty on the coefficients; ``"auto"`` derives it from the data.
    max_iter : int, default=2
        Maximum number of sweeps of exchanges; 0 for greedy steps alone.
    noise_variance : float, array-like of shape (n_features,) or dict, optional
        Variance of the noise with which the selected columns will be measured, in squared units of the data;
        of each column by name in a dict or a pandas Series. It takes the place of the default ``penalty``.
    {placement}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        r for the first selected column down to 1 for the last; below 1 for the rest, by the gain from adding
        them.
    ranking_ : ndarray of shape (n_features,)
        Rank of each column, 1 for the best; selected columns in the order in which greedy steps among them
        would select them.
    support_ : ndarray of shape (n_features,)
        Mask of the selected columns.
    penalty_ : float
        The ρ used.
    objective_history_ : list of float
        The error of the Notes, with its penalty, as a share of the variance: after the greedy steps and after
        each sweep; one value if the greedy selection was kept.
    n_iter_ : int
        Number of sweeps, also if their result was discarded.
    {count_curve}

    See Also
    --------
    Reconstructor : Reconstruct the other columns from the selected ones, and estimate the error.
    GreedyProjection : Greedy steps without exchanges and penalty.
    RedundancyFilter : Drop redundant columns without setting a number of columns.

    Notes
    -----
    With :math:`A` the centred data, the selected columns C are to have a small error

    .. math:: \min_W \|A - A_C W\|_F^2 + \rho \sum_{i \in C} S_{ii} \|w_i\|^2, \qquad S = A^\top A.

    Greedy steps add the column that lowers this error most. Sweeps then exchange each selected column for a
    better one, until no exchange helps, a sweep gains less than 1 %, or ``max_iter`` sweeps are done.

    The penalty reduces the influence of correlations that are large by chance. With ``penalty="auto"``, ρ is
    four times the Schäfer–Strimmer shrinkage intensity [1]_, times the share of the variance left unexplained
    by unpenalised greedy selection. It vanishes for many rows, and for columns without noise. With at most
    200 rows and more columns than rows, the leave-one-out error [2]_ ranks the columns of largest gain, so
    that no column is selected because of a single row (not with ``feature_groups``).

    ``penalty="auto"`` keeps the greedy selection of ``GreedyProjection(target="features")``, with ρ = 0,

    - if the columns span all others, so that no exchange can help;
    - with at most 200 rows that have heavy tails, where the shrinkage formula does not hold;
    - with few rows, unless the exchanged columns have a lower held-out error in five folds, by more than one
      standard error. "Few" means an effective sample size :math:`(\sum_i s_i)^2 / \sum_i s_i^2` of at most
      400, with :math:`s_i` the squared length of row i.

    A greedy step or an exchange costs three products with a d × r array and 2 d² operations for d ≤ n, 4 n d
    otherwise. More than 2000
    sparse columns of more than 5000 rows are represented by 2000 of them, drawn in proportion to their
    variance. ``penalty="auto"`` makes the greedy steps twice. A sweep that exchanges most columns costs as
    much as they do; ``max_iter=0`` makes no sweep.

    With ``noise_variance`` N, the penalty is :math:`n \sum_{i \in C} N_{ii} \|w_i\|^2`, and the error is the
    expected one of reconstructing the data from noisy measurements [3]_.

    References
    ----------
    .. [1] J. Schäfer and K. Strimmer (2005), "A shrinkage approach to large-scale covariance matrix
       estimation", Statistical Applications in Genetics and Molecular Biology 4(1).
    .. [2] D. M. Allen (1974), "The relationship between variable selection and data augmentation and a method
       for prediction", Technometrics 16(1).
    .. [3] A. A. Klishin, J. N. Kutz and K. Manohar (2023), "Data-induced interactions of sparse sensors",
       arXiv:2307.11838.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import ReconstructionSelector
    >>> pixels = load_digits().data
    >>> selector = ReconstructionSelector(n_features_to_select=20).fit(pixels)
    >>> round(selector.objective_history_[-1], 2)
    0.18
    >>> apart = ReconstructionSelector(5, min_distance=10).fit(pixels).get_support(indices=True)
    >>> bool((apart[1:] - apart[:-1] >= 10).all())
    True
    """

    label = "Reconstruction"
    supports = frozenset({"keep", "feature_groups"})
    # Rows decide between greedy and exchanged columns, so that the same ones are selected wherever X is.
    gathers_small_data = True

    penalty_: float = field(init=False)
    cost = "n d² + r d² (tall), n² d + r n d (wide)"

    _parameter_constraints: ClassVar = {
        "penalty": [NON_NEGATIVE, StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
    }

    penalty: float | str = "auto"
    max_iter: int = 2
    noise_variance: Any = None

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        placement = self._placement(gram, request, request.n_selected)
        # With a given penalty nothing is compared on held-out rows, and they need not be copied.
        is_given = self.penalty != "auto" or self.noise_variance is not None
        rows = None if is_given else centred_rows(request.data, gram, request.rows)
        problem = Problem(gram, placement, request.units, request.kept.tolist(), rows)
        problem.noise = self._noise(problem.gram, request)
        penalty, n_sweeps = 0.0 if self.penalty == "auto" else float(self.penalty), 0
        if not is_given:
            order, gains = problem.grown()
            columns = np.flatnonzero(np.isin(request.units.codes, order))
            # With heavy tails, neither the shrinkage, which is that of normal data, nor held-out rows predict
            # new rows.
            is_greedy = order.size == 0 or problem.is_heavy_tailed
            # Columns that span all others cannot be improved, except by the leave-one-out error.
            is_greedy = is_greedy or (problem.weights is None and columns.size >= rank_limit(gram))
            if not is_greedy:
                penalty = problem.penalty(columns)
        if is_given or not is_greedy:
            search, errors = self._exchanged(problem, penalty, request)
            n_sweeps = len(errors) - 1
            chosen = np.flatnonzero(np.isin(request.units.codes, search.chosen))
            is_greedy = not is_given and not problem.favours(chosen, columns)
        if is_greedy:
            penalty, errors = 0.0, [problem.share_left(columns)(0.0)]
        else:
            is_grown = placement.is_plain and not (search.n_exchanged or search.leaves_out or problem.start)
            order, gains = np.array(search.chosen) if is_grown else search.order(), search.gains_outside()
        attributes = {"penalty_": penalty, "objective_history_": errors, "n_iter_": n_sweeps}
        order = kept_first(order, request.kept)
        return self._placed(order, gains / problem.total, placement, attributes, request.units)

    def _exchanged(
        self, problem: Problem, penalty: float, request: SelectionRequest
    ) -> tuple[Search, list[float]]:
        """Return the search of least error, and its share of the variance before and after each sweep."""
        found = []
        # Gain per price alone can miss one expensive column that is worth all cheap ones.
        has_ratio = problem.placement.prices is not None and problem.placement.price_weight is None
        for compares_prices in (True, False) if has_ratio else (True,):
            leaves_out = self.noise_variance is None  # the leave-one-out error is that without noise
            search = Search(problem, penalty, compares_prices=compares_prices, leaves_out=leaves_out)
            search = search.grow()
            errors = [max(search.error() / problem.total, 0.0)]  # below 0 only by rounding
            # any as many columns as the rank reconstruct the rows of the fit
            spans = len(search.members) >= rank_limit(problem.gram)
            for sweep in range(1, 1 + (0 if spans else self.max_iter)):
                before, search = search, search.sweep().grow()
                errors.append(max(search.error() / problem.total, 0.0))
                if compares_prices and request.progress is not None:
                    request.progress(sweep, errors[-1])
                after, least = errors[-1] + search.price, 0.99 * (errors[-2] + before.price)
                if search.n_exchanged == before.n_exchanged or after > least:  # the next would gain less
                    break
            found.append((search, errors))
        return min(found, key=lambda pair: pair[1][-1])

    def _noise(self, gram: GramOperator, request: SelectionRequest) -> NDArray | float:
        """Return n times the noise variance of each column in the operator's units; 0 without noise."""
        if self.noise_variance is None:
            return 0.0
        variances = noise_variances(request.table, self.noise_variance)[request.columns]
        return gram.n_samples * (variances / gram.scale / gram.scale)

    def _path(self, request: SelectionRequest) -> Callable[[GramOperator, int], NDArray]:
        # A penalty from the data is that of the first fold, which shares most rows with the others. The
        # leave-one-out error is not used: it would take too long for a curve.
        default = None if self.noise_variance is None else 0.0
        penalty = default if self.penalty == "auto" else float(self.penalty)

        def first_units(gram: GramOperator, count: int) -> NDArray:
            nonlocal penalty
            placement = self._placement(gram, request, max(count, request.kept.size))
            problem = Problem(gram, placement, request.units, request.kept.tolist())
            problem.noise = self._noise(problem.gram, request)
            if penalty is None:
                columns = np.flatnonzero(np.isin(request.units.codes, problem.grown()[0]))
                penalty = 0.0 if problem.is_heavy_tailed else problem.penalty(columns)
            search = Search(problem, penalty, leaves_out=False).grow()
            return np.array(search.chosen[:count], dtype=np.intp)

        return first_units
