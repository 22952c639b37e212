"""The warnings and errors that a user may want to catch or silence."""

from __future__ import annotations


class InactiveConstraintWarning(UserWarning):
    """A constraint is so loose that it has no effect."""


class ApproximationWarning(UserWarning):
    """The ranking is unreliable: a low-rank factor is too coarse, or too many values are missing."""


class DominatedByUnitsWarning(UserWarning):
    """One column has at least half of the variance and decides what is selected."""


class RepeatedColumnsWarning(UserWarning):
    """Two selected columns are nearly identical; set ``max_correlation`` to avoid this."""


class UnreachableBoundWarning(UserWarning):
    """No threshold on selection frequencies meets the requested error bound."""


class ConstantDataError(ValueError):
    """All features are constant, so there is nothing to select from."""

    def __init__(self) -> None:
        super().__init__("All features of X are constant, so there is nothing to select from.")


class TableError(ValueError):
    """A file cannot be read or written as asked; the message says what is wrong and what to do."""


class DatasetUnavailableError(OSError):
    """A data set is neither on this machine nor available from its source."""
