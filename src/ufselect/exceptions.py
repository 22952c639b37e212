"""The warnings and errors that a user may want to catch or silence."""

from __future__ import annotations


class InactiveConstraintWarning(UserWarning):
    """A constraint is so loose that it cannot shape the result."""


class ApproximationWarning(UserWarning):
    """A low-rank factor is too coarse, or too much is missing, for the ranking to be trusted."""


class DominatedByUnitsWarning(UserWarning):
    """One column has half of the variance or more, so that it decides what is selected."""


class RepeatedColumnsWarning(UserWarning):
    """Two selected columns say the same, because no ``max_correlation`` was set."""


class UnreachableBoundWarning(UserWarning):
    """No threshold on selection frequencies keeps the error that was asked for."""


class ConstantDataError(ValueError):
    """No feature varies, so there is nothing to choose between."""

    def __init__(self) -> None:
        super().__init__("All features of X are constant, so there is nothing to choose between.")


class TableError(ValueError):
    """A file cannot be read or written as asked.

    Its message says what is wrong and what to do, with parameters between backquotes.
    """


class DatasetUnavailableError(OSError):
    """A data set is neither on this machine nor available from its source."""
