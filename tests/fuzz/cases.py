"""One case: a selector with parameters, data in a container; and what must hold of it, whatever they are."""

from __future__ import annotations

import inspect
import os
import tempfile
import traceback
import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from tests.fuzz.data import CONTAINERS, DATA, ON_DISK, digest, frozen
from tests.selectors import RUNNABLE as SELECTORS
from ufselect import MaxVariance, PCALeverage
from ufselect.exceptions import ApproximationWarning, InactiveConstraintWarning

OUR_WARNINGS = (InactiveConstraintWarning, ApproximationWarning, ConvergenceWarning)
REFUSALS = (ValueError, TypeError)
# Words that only other libraries' internals use; a user cannot act on them.
INTERNAL = ("LAPACK", "ARPACK", "broadcast", "must not contain infs", "WRITEBACKIFCOPY", "zero-size", "minor")
WEIGHTS: tuple[Any, ...] = (0.0, *(10.0**n for n in (-300, -15, -6, -2, 0, 2, 6, 150, 300)), -1.0)
WEIGHTS = (*WEIGHTS, np.nan, np.inf, "x", None)
COUNTS: tuple[Any, ...] = (1, 2, 3, 5, "auto", "auto", 0, -1, 10**6, 2.5, True, None, "few")
VALUES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        ("gamma", "reg", "eta", "alpha", "mu_entry", "mu_row", "tau", "bandwidth", "ridge"), WEIGHTS
    ),
    **dict.fromkeys(("n_components", "n_clusters", "n_neighbors"), COUNTS),
    "p": (0.5, 1.0, 2.0, 1e-3, 0.0, 3.0, np.nan, "x"),
    "entry_sparsity": (0.1, 0.5, 1.0, 1, 3, None, 0.0, 2.0, -1, np.nan, "x"),
    "max_iter": (1, 3, 20, 0, -1, 2.5, "x"),
    "tol": (0.0, 1e-6, 1e-2, 1.0, -1.0, np.nan, "x"),
    "random_state": (0, 1, 2**32 - 1, None, "abc", -1, 1.5),
    "n_jobs": (1, 2, None, 0, "x"),
    "x_solver": ("power", "rotated", "pencf", "other"),
    "init": ("pca", "random", None, "other", np.ones(3)),
    "n_init": (1, 2, 0, "x"),
    "penalty_scale": ("relative", "absolute", "other"),
    "refine": (True, False),
    "max_samples": (2, 10, 2000, 0, "x"),
}
SELECTED: tuple[Any, ...] = (1, 2, 3, 0.1, 0.5, 1.0, 10**6, 0, -1, 1.5, "x", True, None, np.nan)


T = TypeVar("T")


def fifth(cases: Iterable[T]) -> list[T]:
    """Return every fifth of some cases, or all of them in ``python -m tests.fuzz``."""
    return list(cases)[:: 1 if os.environ.get("UFSELECT_FUZZ") == "whole" else 5]


@dataclass(frozen=True)
class Case:
    """What is fitted to what.

    Attributes
    ----------
    selector, data, container : str
        Names in the tables above.
    shape : tuple of int
        Rows and columns.
    seed : int
        Seed of the data.
    parameters : dict
        Those that differ from the defaults.
    """

    selector: str
    data: str
    container: str
    shape: tuple[int, int]
    seed: int
    parameters: dict[str, Any] = field(default_factory=dict)


class Defect(AssertionError):
    """A promise that does not hold."""


def draw(rng: np.random.Generator) -> Case:
    """Draw a case."""
    selector = str(rng.choice(list(SELECTORS)))
    shape = (int(rng.choice([1, 2, 3, 5, 12, 20, 30, 40, 60])), int(rng.choice([1, 2, 3, 6, 12, 40, 140])))
    return Case(
        selector,
        str(rng.choice(list(DATA))),
        str(rng.choice(list(CONTAINERS))),
        shape,
        int(rng.integers(2**31)),
        _parameters(selector, rng),
    )


def _parameters(selector: str, rng: np.random.Generator) -> dict[str, Any]:
    known = inspect.signature(SELECTORS[selector]).parameters
    chosen = {name: _one_of(VALUES[name], rng) for name in known if name in VALUES and rng.random() < 0.15}
    chosen["n_features_to_select"] = _one_of(SELECTED if rng.random() < 0.2 else SELECTED[:6], rng)
    if "candidates" in known:
        chosen["candidates"] = [PCALeverage(), MaxVariance()] if rng.random() < 0.7 else None
    if "random_state" in known:
        chosen.setdefault("random_state", 0)
    return chosen


def _one_of(values: tuple[Any, ...], rng: np.random.Generator) -> Any:
    return values[int(rng.integers(len(values)))]


def run(case: Case) -> str:
    """Fit twice, check every promise and return "fitted" or "refused".

    Raises
    ------
    Defect
        If a promise does not hold.
    """
    rng = np.random.default_rng(case.seed)
    with np.errstate(all="ignore"):
        X = DATA[case.data](rng, *case.shape)
    with tempfile.TemporaryDirectory() if case.container in ON_DISK else nullcontext("") as folder:
        try:
            given = frozen(CONTAINERS[case.container](X, Path(folder)))
        except REFUSALS:
            return "refused"  # an accumulator refuses NaN by itself
        before, state = digest(given), _process_state()
        outcome = _fit(case, given)
        if digest(given) != before:
            raise Defect("the input was changed")
        if _process_state() != state:
            raise Defect("the state of the process was changed")
        if isinstance(outcome, str):
            return outcome
        _check_fitted(outcome, X.shape[1])
        again = _fit(case, given)
        is_drawn = case.parameters.get("random_state", 0) is None
        if not is_drawn and not np.array_equal(again.scores_, outcome.scores_):
            raise Defect("a second fit to the same data gives other scores")
    return "fitted"


def _fit(case: Case, X: Any) -> Any:
    """Return the fitted selector, or "refused"."""
    selector = clone(SELECTORS[case.selector]()).set_params(**case.parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome: Any = selector
        try:
            selector.fit(X)
        except REFUSALS as error:
            _check_refusal(selector, error)
            outcome = "refused"
        except Exception as error:
            raise Defect(f"{type(error).__name__}: {error} {_where(error)}") from error
    for warning in caught:
        _check_warning(warning)
    return outcome


def _check_warning(warning: warnings.WarningMessage) -> None:
    # Ours point at the caller's line.
    is_ours = issubclass(warning.category, UserWarning) and warning.filename == __file__
    if not is_ours and not issubclass(warning.category, OUR_WARNINGS):
        name, line = warning.category.__name__, f"{warning.filename}:{warning.lineno}"
        raise Defect(f"{name}: {warning.message} at {line}")


def _where(error: BaseException) -> str:
    """Return the innermost line of ours."""
    ours = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if f"{os.sep}ufselect{os.sep}" in frame.filename
    ]
    return f"at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""


def _check_refusal(selector: Any, error: Exception) -> None:
    message = str(error)
    if not message or any(word in message for word in INTERNAL) or isinstance(error, np.linalg.LinAlgError):
        raise Defect(f"a raw error: {type(error).__name__}: {message} {_where(error)}") from error
    if hasattr(selector, "support_"):
        raise Defect("a refused fit leaves a fitted selector")


def _check_fitted(selector: Any, n_features: int) -> None:
    if selector.scores_.shape != (n_features,) or not np.all(np.isfinite(selector.scores_)):
        raise Defect(f"scores are not finite: {selector.scores_}")
    if not np.array_equal(np.sort(selector.ranking_), np.arange(1, n_features + 1)):
        raise Defect("ranks are not 1, 2, …")
    if not 1 <= selector.support_.sum() <= n_features:
        raise Defect("the mask is empty")
    is_reordered = selector.max_correlation is not None  # columns too alike come later
    if not is_reordered and np.any(np.diff(selector.scores_[np.argsort(selector.ranking_)]) > 0):
        raise Defect("ranks do not follow the scores")


@cache  # looking for the libraries takes longer than most fits
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _process_state() -> tuple[Any, ...]:
    return (
        tuple(pool["num_threads"] for pool in _controller().info() if pool["user_api"] == "blas"),
        len(warnings.filters),
        tuple(sorted(np.geterr().items())),
        hash(np.random.get_state()[1].tobytes()),  # noqa: NPY002 - the global state, which no fit may touch
    )


def outcome(seed: int, number: int) -> str:
    """Return "fitted", "refused", or what is wrong with one case of a seed."""
    case = case_number(seed, number)
    try:
        return run(case)
    except Defect as defect:
        return f"case {number}: {defect}\n    {case}"


def case_number(seed: int, number: int) -> Case:
    """Return one case of a seed."""
    return draw(np.random.default_rng([seed, number]))
