"""Progress of a fit: scikit-learn's callbacks where the installed version has them, and the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn 1.8 has no callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn offers no callbacks."""

    def with_callbacks(method: Callable) -> Callable:
        """Return the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "FitProgress", "with_callbacks"]

logger = logging.getLogger("ufselect")


class FitProgress:
    """Reports the start, the iterations and the end of one fit.

    Used as a context manager around a selector's ``_fit``; a method calls it once an iteration as
    ``progress(iteration, objective)``, or passes it to a solver as its callback.
    """

    def __init__(self, estimator: Any, X: Any) -> None:
        self._estimator = estimator
        self._X = X
        self._verbose = bool(getattr(estimator, "verbose", False))
        self._context: Any = None
        self._hide_log: Callable[[], None] | None = None

    def __enter__(self) -> FitProgress:
        if self._verbose:
            self._hide_log = show_log()
        if hasattr(self._estimator, "_init_callback_context"):
            self._context = self._estimator._init_callback_context(
                max_subtasks=getattr(self._estimator, "max_iter", None)
            )
            self._context.call_on_fit_task_begin(estimator=self._estimator, X=self._X)
        return self

    def __call__(self, iteration: int, objective: float) -> None:
        self.note(f"iteration {iteration}, objective {objective:.10g}")

    def note(self, message: str) -> None:
        """Report a step that has no objective."""
        if self._verbose:
            logger.info("%s: %s", type(self._estimator).__name__, message)
        if self._context is not None:
            step = self._context.subcontext(task_name="iteration")
            step.call_on_fit_task_begin(estimator=self._estimator)
            step.call_on_fit_task_end(estimator=self._estimator)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._context is not None and kind is None:
            self._context.call_on_fit_task_end(estimator=self._estimator, X=self._X)
        if self._hide_log is not None:
            self._hide_log()


def show_log() -> Callable[[], None]:
    """Let ``verbose=True`` be seen where the user has not set up logging; return what undoes it."""
    undo = ExitStack()
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
        undo.callback(logger.removeHandler, handler)
    if logger.getEffectiveLevel() > logging.INFO:
        undo.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.INFO)
    return undo.close
