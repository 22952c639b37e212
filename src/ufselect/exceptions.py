"""The warnings and errors that a user may want to catch or silence."""


class InactiveConstraintWarning(UserWarning):
    """A constraint is so loose that it cannot shape the result."""


class ApproximationWarning(UserWarning):
    """A low-rank factor is too coarse, or too much is missing, for the ranking to be trusted."""


class UnreachableBoundWarning(UserWarning):
    """No threshold on selection frequencies keeps the error that was asked for."""


class ConstantDataError(ValueError):
    """No feature varies, so there is nothing to choose between."""

    def __init__(self) -> None:
        super().__init__("All features of X are constant, so there is nothing to choose between.")
