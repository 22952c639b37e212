"""The warnings and errors that a user may want to catch or silence."""

from __future__ import annotations

from ufselect._utils.messages import Sentence, Setting


class InactiveConstraintWarning(UserWarning):
    """A constraint is so loose that it cannot shape the result."""


class ApproximationWarning(UserWarning):
    """A low-rank factor is too coarse, or too much is missing, for the ranking to be trusted."""


class DominatedByUnitsWarning(UserWarning):
    """One column has most of the variance, so that its unit decides what is selected."""


class UnreachableBoundWarning(UserWarning):
    """No threshold on selection frequencies keeps the error that was asked for."""


class ConstantDataError(ValueError):
    """No feature varies, so there is nothing to choose between."""

    def __init__(self) -> None:
        super().__init__("All features of X are constant, so there is nothing to choose between.")


class TableError(ValueError):
    """A file cannot be read or written as asked.

    Attributes
    ----------
    sentence : Sentence
        What is wrong and what to do; its settings can be worded as flags.
    """

    def __init__(self, *parts: str | Setting) -> None:
        self.sentence = Sentence(*parts)
        super().__init__(self.sentence)


class DatasetUnavailableError(OSError):
    """A data set is neither on this machine nor to be had from its source."""
