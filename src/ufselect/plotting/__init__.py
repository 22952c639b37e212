"""Pictures of a fitted selector, as in scikit-learn: ``…Display.from_estimator``. Needs matplotlib."""

from ufselect.plotting.displays import (
    ConvergenceDisplay,
    LoadingsDisplay,
    PixelsDisplay,
    ReconstructionDisplay,
    RedundancyDisplay,
    ScoresDisplay,
    SelectionPathDisplay,
)

__all__ = [
    "ConvergenceDisplay",
    "LoadingsDisplay",
    "PixelsDisplay",
    "ReconstructionDisplay",
    "RedundancyDisplay",
    "ScoresDisplay",
    "SelectionPathDisplay",
]
