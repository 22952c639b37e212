"""The base classes: ``fit`` validates data and sets attributes, ``_fit`` or ``_fit_gram`` scores features."""

from __future__ import annotations

import inspect
import logging
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._array_api import supported_float_dtypes
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions  # noqa: F401
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from ufselect._columns import SelectionRequest, choose, identical_columns, selection_request
from ufselect._utils.validation import (
    as_numpy,
    canonical_csr,
    check_frame,
    device_namespace,
    is_dask,
    is_lazy_table,
    is_out_of_core,
    like,
    tabular,
    validate_data,
    warn_user,
    without_warnings,
)
from ufselect.exceptions import ApproximationWarning, DominatedByUnitsWarning, RepeatedColumnsWarning
from ufselect.gram import (
    GramAccumulator,
    GramOperator,
    MissingSummary,
    ReductionSummary,
    RowInfo,
    reduce_data,
    row_info,
)
from ufselect.gram.dask import check_collection, is_frame
from ufselect.gram.operator import device_gram
from ufselect.gram.reduce import MAX_ORDER, in_memory_if_small, reduction_summary, sample_rows

Method = TypeVar("Method", bound=Callable)


class CallbackSupportMixin:
    """Replace scikit-learn's class of this name, which version 1.8 does not have."""


def with_callbacks(method: Method) -> Method:
    """Replace scikit-learn's decorator, whose types would hide that ``fit`` returns the selector."""
    return method


if not TYPE_CHECKING:
    with suppress(ImportError):
        from sklearn.callback import CallbackSupportMixin, with_callbacks

logger = logging.getLogger("ufselect")
# Descriptions of parameters and attributes that many selectors share.
SHARED = {
    "n_features_to_select": """\
n_features_to_select : int or float, default=0.1
    Number r of features to select, or a share of all features.""",
    "n_components": """\
n_components : int or "auto", default="auto"
    Number m of components. ``"auto"`` follows the broken-stick rule: it keeps a component while its share of
    the variance exceeds that of the corresponding piece of a randomly broken stick.""",
    "n_clusters": """\
n_clusters : int or "auto", default="auto"
    Number c of clusters. ``"auto"`` is the number of components by the broken-stick rule, at least 2: those
    whose share of the variance exceeds that of the corresponding piece of a randomly broken stick.""",
    "n_neighbors": """\
n_neighbors : int, default=5
    Number k of neighbours; lowered to n_samples − 1, with a warning, if there are fewer samples. Of samples
    at equal distances, those closer to the mean come first, so the order of the rows does not matter.""",
    "bandwidth": """\
bandwidth : float or "auto", default="auto"
    Bandwidth t of the heat kernel :math:`\\exp(-\\|x_i - x_j\\|^2 / 2t^2)`; ``"auto"`` is the mean distance
    to the k neighbours.""",
    "max_iter": """\
max_iter : int, default=100
    Maximum number of iterations.""",
    "random_start": """\
random_state : int, RandomState, Generator or None, default=None
    Seed of the random start.""",
    "verbose": """\
verbose : bool, default=False
    Log each iteration.""",
    "constraints": """\
keep, exclude : sequence of str or int, default=None
    Columns, by name or index, that are always or never selected. Excluded columns are not used in the fit.
feature_groups : sequence or dict, default=None
    One label per column, None for a column in no group; or a dict of group names to columns. A group is
    selected as a whole or not at all, and counts as one feature. Labels in a dict or a pandas Series go by
    column name.
max_correlation : float or None, default=None (AutoSelector: 0.999)
    Skip columns whose absolute correlation with a higher-ranked one exceeds this, unless too few remain. For
    data in memory, ``duplicates_`` then lists the sets of identical columns.""",
    "placement": """\
costs : array-like of shape (n_features,) or dict, optional
    Cost of each column, at least 0, for ``budget`` or ``cost_weight``. With a budget alone, each greedy step
    selects the column with the largest gain per cost. Costs, regions and positions in a dict or a pandas
    object go by column name.
budget : float, optional
    Maximum total cost of the selected columns.
cost_weight : float, optional
    What a unit of cost takes off the gain of a column, as a share of the whole variance.
regions : array-like of shape (n_features,) or dict, optional
    Region of each column, as a label; None for a column in no region.
quotas : mapping, optional
    Maximum number of columns to select in a region, or a pair (minimum, maximum), by label.
positions : array-like of shape (n_features,) or (n_features, n_dimensions), or dict, optional
    Position of each column, by default its index. Pixels have two coordinates, wavelengths one.
min_distance : float, optional
    Minimum distance between the positions of two selected columns.""",
    "count_curve": """\
count_curve_ : dict of ndarray
    With ``n_features_to_select="auto"``, for each number ``n_features`` tried: the ``score``, which is the
    share of the variance of all columns explained on held-out rows; the same for ``random`` columns and
    principal ``components``; and whether the number was ``chosen``: the smallest whose score less the share
    of columns measured is within 0.01 of the largest. More columns would add little beyond their own
    variance.""",
    "iterations": """\
objective_history_ : ndarray
    Objective at the start and after each iteration, for PCA methods in units of the data
    squared; non-increasing.
n_iter_ : int
    Number of iterations.
converged_ : bool
    Whether the relative decrease of the objective fell to ``tol`` within ``max_iter``.""",
    "ranking_and_support": """\
ranking_ : ndarray of shape (n_features,)
    Rank of each feature, 1 for the best.
support_ : ndarray of shape (n_features,)
    Mask of the selected features.""",
}


class FitProgress:
    """Report the start, the iterations and the end of a fit, to the log and to callbacks.

    It is the context manager around a selector's ``_fit``. A method calls it once per iteration, as
    ``progress(iteration, objective)``, or passes it to a solver as its callback.
    """

    def __init__(self, estimator: Any, X: Any) -> None:
        self._estimator = estimator
        self._X = X
        self._context: Any = None
        self._log = ExitStack()

    def __enter__(self) -> FitProgress:
        if getattr(self._estimator, "verbose", False):
            if not logger.hasHandlers():  # the user has not set up logging
                handler = logging.StreamHandler()
                handler.setFormatter(logging.Formatter("%(message)s"))
                logger.addHandler(handler)
                self._log.callback(logger.removeHandler, handler)
            if logger.getEffectiveLevel() > logging.INFO:
                self._log.callback(logger.setLevel, logger.level)
                logger.setLevel(logging.INFO)
        if getattr(self._estimator, "_skl_callbacks", None):
            self._context = self._estimator._init_callback_context(
                max_subtasks=getattr(self._estimator, "max_iter", None)
            )
            self._context.call_on_fit_task_begin(estimator=self._estimator, X=self._X)
        return self

    def __call__(self, iteration: int, objective: float) -> None:
        self.note(f"iteration {iteration}, objective {objective:.10g}")

    def note(self, message: str) -> None:
        """Report a step that has no objective."""
        if getattr(self._estimator, "verbose", False):
            logger.info("%s: %s", type(self._estimator).__name__, message)
        if self._context is not None:
            step = self._context.subcontext(task_name="iteration")
            step.call_on_fit_task_begin(estimator=self._estimator)
            step.call_on_fit_task_end(estimator=self._estimator)

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if self._context is not None and kind is None:
            self._context.call_on_fit_task_end(estimator=self._estimator, X=self._X)
        self._log.close()


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was when a fit fails or is interrupted."""
    state: dict[str, Any] = vars(estimator)
    before = dict(state)
    try:
        yield
    except BaseException:
        state.clear()
        state.update(before)
        raise


def check_columns(selector: Any, X: Any, *, reset: bool) -> int:
    """Check the number and names of the features, or store them with ``reset``; return the number."""
    if is_dask(X):
        check_collection(X)
    if (is_dask(X) and is_frame(X)) or is_lazy_table(X):
        check_frame(X)
    if is_dask(X) and is_frame(X):
        stand_in = X._meta
    elif hasattr(X, "collect_schema"):
        stand_in = X.collect_schema().to_frame()
    elif is_lazy_table(X):
        stand_in = X.schema.empty_table()
    else:
        if not hasattr(X, "n_features") and len(X.shape) != 2:
            raise ValueError(f"X must have two dimensions, rows and columns, not {len(X.shape)}.")
        n_features = int(X.n_features if hasattr(X, "n_features") else X.shape[1])
        if n_features == 0:
            raise ValueError("X has no columns, but at least 1 is required.")
        stand_in = np.empty((1, n_features))
    validate_data(selector, stand_in, skip_check_array=True, reset=reset)
    if getattr(X, "feature_names", None) is not None:  # an accumulator or operator
        selector.feature_names_in_ = X.feature_names
    return stand_in.shape[1]


def as_numbers(selector: Any, X: Any, **options: Any) -> Any:
    """Return data in single or double precision, with options of scikit-learn's ``validate_data``."""
    xp, dtypes = device_namespace(X), [np.float64, np.float32]
    if xp is not None:  # half precision, which some libraries have, is widened as NumPy's is
        dtypes = [each for each in supported_float_dtypes(xp, X.device) if xp.finfo(each).bits >= 32]
    try:
        return validate_data(selector, X, dtype=dtypes, **options)
    except ValueError as error:
        if "contains NaN" in str(error):
            raise ValueError(
                f"Input X contains NaN, but {type(selector).__name__} cannot handle missing values: fill "
                "them first, for instance with SimpleImputer, or use ReconstructionSelector or DSCOFS."
            ) from error
        raise


Columns = Sequence[str] | Sequence[int] | NDArray
Groups = Sequence[Any] | Mapping[Any, Columns] | NDArray
FitResult = NDArray | tuple[NDArray, dict[str, Any]]

# Constraints of parameters, for ``_parameter_constraints``; scikit-learn has no public ones.
SEED = Interval(Integral, 0, None, closed="left")
AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")


@dataclass(eq=False, repr=False)
class CommonParameters:
    """The parameters of nearly all selectors."""

    n_features_to_select: Any = 0.1
    _: KW_ONLY
    keep: Columns | None = None
    exclude: Columns | None = None
    feature_groups: Groups | None = None
    max_correlation: float | None = None


class UnsupervisedSelector(CommonParameters, CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """Base class of all selectors.

    A subclass stores its parameters in ``__init__`` and implements ``_fit(X, request)``, which returns one
    score per feature, higher is better, or a pair of scores and a dict of further attributes. A method that
    ranks and selects features itself returns ``ranking_`` and ``support_`` in the dict. It reports an
    iteration with ``request.progress(iteration, objective)``. The attributes are set only after ``_fit`` has
    returned, so that an interrupted fit leaves no half-fitted estimator.

    ``keep``, ``exclude``, ``feature_groups`` and ``max_correlation`` work for every subclass whose
    ``__init__`` takes them: ``_fit`` gets X without the excluded columns, and the ranking by scores puts kept
    columns first, ranks groups by their mean score and skips redundant columns. A method whose criterion
    includes some of these constraints reads them from ``request`` and names them in ``supports``.

    Attributes
    ----------
    accepts_sparse : bool
        Whether ``_fit`` takes SciPy sparse data; it then receives CSR.
    accepts_device_arrays : bool
        Whether ``fit`` takes arrays of other libraries, with scikit-learn's array API dispatch on.
    accepts_missing : bool
        Whether NaN in the data marks a missing value; else it is refused.
    samples_rows : bool
        Whether ``fit`` takes a dask collection, of which it uses a sample of the rows.
    is_stochastic : bool
        Whether the result depends on ``random_state``.
    chooses_count : bool
        Whether ``n_features_to_select`` may be ``"auto"``; ``_fit`` then returns ``n_selected``, the number
        of groups and single columns, in the dict.
    label : str
        The method's name in tables and figures.
    cost : str
        Leading cost of a fit in n (samples), d (features), m (components) and k (neighbours).
    is_nested : bool
        Whether one ranking serves every number of features; otherwise comparisons fit each number separately.
    depends_on_scale : bool
        Whether the units of the columns matter; ``fit`` then warns if one column has most of the variance.
    supports : frozenset of {"keep", "feature_groups"}
        Constraints that are part of the method's criterion; the others only affect its ranking.
    feature_axes : mapping of str to int
        Names of fitted attributes, besides the common ones, with the axis that has one entry per feature.

    See Also
    --------
    GramSelector : Base class for a method that needs only the Gram matrix of the data.
    register : Add a selector of your own to comparisons, checks and tables.
    """

    accepts_sparse: ClassVar[bool] = False
    accepts_device_arrays: ClassVar[bool] = False
    accepts_missing: ClassVar[bool] = False
    samples_rows: ClassVar[bool] = False
    is_stochastic: ClassVar[bool] = False
    chooses_count: ClassVar[bool] = False
    label: ClassVar[str]
    cost: ClassVar[str]
    is_nested: ClassVar[bool] = False
    depends_on_scale: ClassVar[bool] = True
    supports: ClassVar[frozenset[str]] = frozenset()
    feature_axes: ClassVar[Mapping[str, int]] = {"components_": 1}
    copies_wide_data: ClassVar[bool] = True
    optional_attributes: ClassVar[tuple[str, ...]] = ("duplicates_",)  # None where they do not apply

    # A subclass adds its own parameters and overrides those that have another meaning there. Parameters that
    # count or name columns are checked against X.
    _parameter_constraints: ClassVar[dict[str, list]] = {
        "max_correlation": [Interval(Real, 0, 1, closed="right"), None],
        "random_state": [SEED, np.random.RandomState, np.random.Generator, None],
        "verbose": ["verbose"],
        "n_components": [AT_LEAST_ONE, StrOptions({"auto"})],
        "n_clusters": [AT_LEAST_ONE, StrOptions({"auto"})],
        "n_neighbors": [AT_LEAST_ONE],
        "bandwidth": [POSITIVE, StrOptions({"auto"})],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NON_NEGATIVE],
        "n_jobs": [AT_LEAST_ONE, Interval(Integral, None, -1, closed="right"), None],
    }

    scores_: NDArray
    ranking_: NDArray
    support_: NDArray
    n_features_in_: int
    feature_names_in_: NDArray
    duplicates_: list[NDArray] | None
    # of the methods that have them
    components_: NDArray
    n_components_: int
    n_clusters_: int
    n_neighbors_: int
    objective_history_: Any
    n_iter_: int
    converged_: bool

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = vars(cls).get("_parameter_constraints", {})
        cls._parameter_constraints = {**super(cls, cls)._parameter_constraints, **own}
        if cls.__doc__:  # replace lines such as {constraints} by the shared text
            text = inspect.cleandoc(cls.__doc__)
            cls.__doc__ = re.sub(
                r"^\{(\w+)\}$", lambda match: SHARED.get(match[1], match[0]), text, flags=re.MULTILINE
            )

    @abstractmethod
    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        """Score the features of validated data."""

    def _check_parameters(self) -> None:
        """Raise an error for invalid or incompatible parameters; called once, before the data are read."""
        self._validate_params()

    @property
    def _is_auto(self) -> bool:
        """Whether the method is to find the number of columns."""
        asked = self.n_features_to_select
        return self.chooses_count and isinstance(asked, str) and asked == "auto"

    def _request(self, n_features: int) -> SelectionRequest:
        """Return what is requested of data with so many columns: all, if the number is yet to be found."""
        asked = 1.0 if self._is_auto else self.n_features_to_select
        return selection_request(self, n_features, asked)

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Select the features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data, without missing values.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        self
        """
        return self._fit_all(X)

    def _fit_all(self, X: Any, sample_weight: Any = None, batch: Any = None) -> Self:
        """Check parameters and data, fit, rank, and set all attributes; on an error nothing changes."""
        with unchanged_on_error(self):
            data, request = self._prepared(X, sample_weight, batch)
            names = getattr(self, "feature_names_in_", None)
            has_choice = request.kept.size < request.n_selected  # else keep names all selected columns
            if self.depends_on_scale and has_choice:
                warn_if_dominated(request, names)
            # a selector fitted inside this one would repeat them
            ours = (DominatedByUnitsWarning, RepeatedColumnsWarning)
            with FitProgress(self, data) as progress, without_warnings(*ours):
                request = replace(request, progress=progress)
                scores, attributes = with_attributes(self._fit(request.data, request))
            if "n_selected" in attributes:
                request = replace(request, n_selected=attributes.pop("n_selected"))
            if "ranking_" not in attributes:
                ranking, support = choose(scores, request, lambda: request.gram)
                attributes |= {"ranking_": ranking, "support_": support}
            if request.data is not None and self.max_correlation is not None:
                attributes["duplicates_"] = identical_columns(data)
            elif request.data is not None and has_choice:
                warn_if_repeated(request.data, attributes, request.columns, names)
            attributes = dict.fromkeys(self.optional_attributes) | attributes | {"scores_": scores}
            for name, value in for_all_columns(attributes, self.feature_axes, request).items():
                setattr(self, name, value)
            move_fitted_to(self, X)
        return self

    def _prepared(self, X: Any, sample_weight: Any = None, batch: Any = None) -> tuple[Any, SelectionRequest]:
        """Check parameters and data; return the data, or their Gram matrix, and what is requested of them."""
        self._check_parameters()
        data, rows = self._checked_data(X, sample_weight, batch)
        request = self._request(self.n_features_in_)
        if isinstance(data, GramOperator):
            return data, replace(request, reduced=data)
        allowed = data[:, request.columns] if request.excludes else data
        if rows is not None:
            allowed, rows = rows.counted(allowed)
            rows = rows.scaled()
        return data, replace(request, data=allowed, rows=rows, copies=self.copies_wide_data)

    def _checked_data(self, X: Any, sample_weight: Any, batch: Any) -> tuple[Any, RowInfo | None]:
        """Return the data as ``_fit`` takes them, and the weights and batches of their rows.

        The number and names of the features are stored.
        """
        if self.samples_rows and is_dask(X):
            X, sampled, n_rows = sample_rows(X, getattr(self, "random_state", 0))
            whole = row_info(None, batch, n_rows)
            batch = None if whole is None or whole.labels is None else whole.labels[sampled]
        if is_out_of_core(X) and not isinstance(X, np.memmap):
            raise TypeError(
                f"{type(self).__name__} needs the data in memory: pass X.compute(), for a lazy table "
                "X.collect() or X.to_table(), or a sample of its rows, "
                "or use a selector that works through the Gram matrix, such as DSCOFS."
            )
        X = tabular(as_numpy(X) if self.accepts_device_arrays else X)
        # Sorted indices and no duplicates, since it is their sum that must be finite.
        X = canonical_csr(X) if sparse.issparse(X) and self.accepts_sparse else X
        X = as_numbers(
            self,
            X,
            accept_sparse="csr" if self.accepts_sparse else False,
            ensure_all_finite="allow-nan" if self.accepts_missing else True,
            ensure_min_samples=2,
        )
        return X, row_info(as_numpy(sample_weight), as_numpy(batch), X.shape[0])

    def transform(self, X: Any) -> Any:
        """Return the selected columns; those of a dask collection or a LazyFrame stay lazy.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or dask collection of shape (n_samples, n_features)
            The data.

        Returns
        -------
        X_selected : of the kind of X, of shape (n_samples, n_selected)
        """
        check_is_fitted(self, "support_")
        # scikit-learn would turn a polars frame into an array, and its columns into one type
        stays_polars = hasattr(X, "collect_schema") and (
            is_lazy_table(X) or _get_output_config("transform", self)["dense"] == "polars"
        )
        xp, fitted = device_namespace(X), device_namespace(getattr(self, "support_", None))
        if fitted is not None and xp is not fitted:
            raise ValueError(
                f"Inputs passed to {type(self).__name__}.transform() must use the same namespace as those of "
                f"fit(), {fitted.__name__}; convert X, or fit to NumPy arrays, which work with all libraries."
            )
        if xp is not None:
            X = validate_data(
                self,
                tabular(X, on_device=True),
                dtype=None,
                reset=False,
                ensure_all_finite="allow-nan" if self.accepts_missing else True,
            )
            return xp.take(X, like(np.flatnonzero(self._get_support_mask()), X), axis=1)
        if not is_dask(X) and not stays_polars:
            return super().transform(tabular(X))
        mask = self._get_support_mask()
        check_columns(self, X, reset=False)
        if stays_polars:
            return X.select(np.asarray(X.collect_schema().names())[mask].tolist())
        columns = np.flatnonzero(mask)
        return X[[X.columns[column] for column in columns]] if is_frame(X) else X[:, columns]

    def inverse_transform(self, X: Any) -> Any:
        """Return X with columns of zeros in place of the dropped ones.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_selected)
            The selected columns.

        Returns
        -------
        X_all : of the kind of X, of shape (n_samples, n_features)
        """
        return like(super().inverse_transform(as_numpy(X)), X)

    def _get_support_mask(self) -> NDArray:
        check_is_fitted(self, "support_")
        return np.asarray(as_numpy(self.support_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.accepts_sparse
        tags.input_tags.allow_nan = self.accepts_missing
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.non_deterministic = False
        tags.array_api_support = self.accepts_device_arrays
        return tags


def warn_if_dominated(request: SelectionRequest, names: NDArray | None) -> None:
    """Warn if one of at least three columns has half of the variance, estimated on about 20,000 values.

    It must also have ten times the median variance: of a few columns in one unit, one may well have half.
    """
    X, columns = request.data, request.columns
    if columns.size < 3:
        return
    if X is None:
        variance = request.gram.diag()
    else:
        rows = X[:: max(1, min(X.shape[0] // 50, X.shape[0] * X.shape[1] // 20_000))]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        known = ~np.isnan(rows)
        count = np.maximum(known.sum(axis=0), 1)  # a column may have no value in these rows
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.sum(rows, axis=0, where=known, dtype=np.float64) / count
            variance = np.nan_to_num(np.sum(np.square(rows - mean), axis=0, where=known) / count)
    with np.errstate(over="ignore"):
        largest, total = int(np.argmax(variance)), float(variance.sum())
    has_half = total > 0 and np.isfinite(total) and variance[largest] >= 0.5 * total
    if has_half and variance[largest] >= 10 * np.median(variance):
        column = int(columns[largest])
        name = f"Column {column}" if names is None else str(names[column])
        warn_user(
            f"{name} has {100 * min(variance[largest] / total, 0.999):.3g} % of the variance, so its unit "
            "decides what is selected. If columns have different units, put AutoScaler before the selector.",
            DominatedByUnitsWarning,
        )


def warn_if_repeated(X: Any, fitted: Mapping[str, Any], columns: NDArray, names: NDArray | None) -> None:
    """Warn if two of the best 500 selected columns are correlated above 0.999.

    Pairs are searched for on a hundred rows, which is cheap compared with any fit, and confirmed on all rows.
    Columns with missing values are not compared.
    """
    n_rows, support = X.shape[0], fitted["support_"]
    if n_rows < 10 or support.all():  # few rows correlate by chance
        return
    best = np.argsort(fitted["ranking_"])[: min(500, int(support.sum()))]

    def correlated(rows: Any, chosen: NDArray) -> NDArray:
        part = rows[:, chosen].toarray() if sparse.issparse(rows) else rows.take(chosen, axis=1)
        with np.errstate(all="ignore"):  # constant and very large columns
            part = part - part.mean(axis=0, dtype=np.float64)
            part /= np.sqrt(np.einsum("ij,ij->j", part, part))
            return np.abs(part.T @ part)

    pairs = best[np.argwhere(np.triu(correlated(X[:: -(-n_rows // 100)], best) > 0.99, 1))]
    repeated = [pair for pair in pairs[:20] if correlated(X, pair)[0, 1] > 0.999]
    if repeated:
        one, other = (f"column {j}" if names is None else str(names[j]) for j in columns[repeated[0]])
        more = "" if len(pairs) == 1 else ", and there may be more such pairs"
        warn_user(
            f"Selected columns repeat each other: {one} and {other} are correlated above 0.999{more}. Set "
            "max_correlation=0.999, or put RedundancyFilter before the selector.",
            RepeatedColumnsWarning,
        )


def with_attributes(result: FitResult) -> tuple[NDArray, dict[str, Any]]:
    """Return the scores and further attributes of a fit that may have returned scores only."""
    return (result[0], dict(result[1])) if isinstance(result, tuple) else (result, {})


def for_all_columns(
    attributes: Mapping[str, Any], axes: Mapping[str, int], request: SelectionRequest
) -> dict[str, Any]:
    """Return attributes with entries for all columns of X: excluded ones get the lowest score and no weight.

    ``axes`` has the axis of the columns in attributes besides the common ones.
    """
    scores = attributes["scores_"]
    spread = {
        name: request.spread(attributes[name], axis)
        for name, axis in {"support_": 0, **axes}.items()
        if attributes.get(name) is not None
    }
    ranking = request.spread_ranks(attributes["ranking_"])
    return {
        **attributes,
        **spread,
        "scores_": request.spread(scores, filler=scores.min()),
        "ranking_": ranking,
    }


def move_fitted_to(estimator: Any, X: Any) -> None:
    """Put fitted arrays into the library and on the device of X, as scikit-learn's estimators do."""
    if device_namespace(X) is not None:
        for name in vars(estimator).keys() - estimator.get_params(deep=False).keys():
            value = getattr(estimator, name)
            if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
                setattr(estimator, name, like(value, X))


class GramSelector(UnsupervisedSelector):
    """Base class of the selectors that use only the Gram matrix of the data.

    A subclass implements ``_fit_gram(gram, request)``. Dense and sparse data, dask collections,
    memory maps, stores, batches and accumulators reach it as one
    :class:`~ufselect.gram.GramOperator`.

    Attributes
    ----------
    copies_wide_data : bool
        Whether wide dense data are copied and centred once. Otherwise they are centred in every product,
        which takes less memory and is faster if products are few.
    gathers_small_data : bool
        Whether dask data and lazy tables of at most 20 million entries are brought into memory.

    See Also
    --------
    UnsupervisedSelector : Base class for a method that needs the rows of the data.
    register : Add a selector of your own to comparisons, checks and tables.
    """

    accepts_sparse = True
    accepts_device_arrays = True
    accepts_missing = True
    optional_attributes = (*UnsupervisedSelector.optional_attributes, "reduction_", "missing_")
    gathers_small_data: ClassVar[bool] = False

    reduction_: ReductionSummary | None
    missing_: MissingSummary | None
    _accumulator: GramAccumulator | None

    @abstractmethod
    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        """Score the features of data known through their Gram operator."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, batch: Any = None) -> Self:
        """Select the features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data; NaN marks a missing value. Also a dask array or data frame, a polars LazyFrame, a
            pyarrow dataset, a memory-mapped array, a :class:`~ufselect.gram.GramAccumulator`, or what
            :func:`~ufselect.gram_from_covariance` returns.
        y : ignored
            Present for scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row: an integer weight equals that many copies of the row, 0 ignores the row.
            Weights that sum to less than the number of rows are rescaled to a mean of 1.
        batch : array-like of shape (n_samples,), optional
            A label for each row, such as donor, day or plate. Each batch is centred separately, so that
            differences between batches are not mistaken for structure. An accumulator or an operator holds
            no rows, so that neither weights nor batches can be given for it.

        Returns
        -------
        self
        """
        self._fit_all(X, sample_weight, batch)
        self._accumulator = None
        return self

    def _checked_data(self, X: Any, sample_weight: Any, batch: Any) -> tuple[Any, RowInfo | None]:
        """Return data in memory, or else the Gram matrix to which they are reduced, and their rows."""
        xp = device_namespace(X)
        if xp is not None and sample_weight is None and batch is None and not self._needs_rows():
            options = {"ensure_all_finite": "allow-nan", "ensure_min_samples": 2}
            gram = device_gram(as_numbers(self, tabular(X, on_device=True), **options), xp)
            if gram is not None:
                return gram, None
        X = in_memory_if_small(X) if self.gathers_small_data else X
        if not is_out_of_core(X):
            return super()._checked_data(X, sample_weight, batch)
        self._request(check_columns(self, X, reset=True))  # raises errors before the data are read
        asked = getattr(self, "n_components", None)
        n_components = int(asked) if isinstance(asked, Integral) else None
        return reduce_data(X, n_components, sample_weight=sample_weight, batch=batch), None

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        """Fit to the Gram operator of the data, wherever they are."""
        gram = self._gram(request)
        scores, attributes = with_attributes(self._fit_gram(gram, request))
        missing = gram.missing
        if missing is not None and missing.route == "pairwise" and missing.correction > 0.1:
            warn_user(
                f"{missing.share:.0%} of X is missing, so some pairs of features share too few rows: "
                f"the Gram matrix is inconsistent and was changed by {missing.correction:.0%}. Pass X as "
                "an array in memory, where missing values are filled in, or drop the features that have "
                "the most of them.",
                ApproximationWarning,
            )
        if request.reduced is not None:
            attributes["reduction_"] = reduction_summary(
                request.reduced, self._n_leading(request, attributes)
            )
        return scores, {**attributes, "missing_": missing}

    def _gram(self, request: SelectionRequest) -> GramOperator:
        """Return the Gram operator that the method gets."""
        return request.gram

    def _needs_rows(self) -> bool:
        """Whether the Gram matrix alone would give another result than rows in memory do."""
        return self.max_correlation is not None

    def _n_leading(self, request: SelectionRequest, attributes: Mapping[str, Any]) -> int | None:
        """Return how many leading components of S the scores depend on; None if only on its diagonal."""
        return attributes.get("n_components_")

    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, batch: Any = None) -> Self:
        """Add a batch of rows and select the features from all batches so far.

        Memory does not grow with the number of batches. Each call solves the problem again; to solve it
        only once, fill a :class:`~ufselect.gram.GramAccumulator` with all batches and pass it to ``fit``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The batch; the first one needs two rows. NaN marks a missing value.
        y : ignored
            Present for scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row, as in ``fit``.
        batch : array-like of shape (n_samples,), optional
            A label for each row, as in ``fit``: for all calls or for none. The rows of a label are centred
            together, over all calls.

        Returns
        -------
        self
        """
        earlier = getattr(self, "_accumulator", None)
        with unchanged_on_error(self):
            self._check_parameters()
            data = as_numbers(
                self,
                tabular(as_numpy(X), "The batch"),
                reset=earlier is None,
                accept_sparse="csr",
                ensure_all_finite="allow-nan",
                ensure_min_samples=2 if earlier is None else 1,
            )
            if data.shape[1] > MAX_ORDER:
                raise ValueError(
                    "partial_fit holds a matrix of n_features² numbers, so it takes at most "
                    f"{MAX_ORDER} features, not {data.shape[1]}; select fewer with MaxVariance first."
                )
            accumulator = GramAccumulator() if earlier is None else GramAccumulator().merge(earlier)
            accumulator.update(data, as_numpy(sample_weight), as_numpy(batch))
            accumulator.feature_names = getattr(self, "feature_names_in_", None)
            self._fit_all(accumulator)
            self._accumulator = accumulator
            move_fitted_to(self, X)
        return self
