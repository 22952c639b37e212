"""Pictures of a fitted selector, as in scikit-learn: ``…Display.from_estimator``. Needs matplotlib."""

from ufselect.plotting.convergence_display import ConvergenceDisplay
from ufselect.plotting.loadings_display import LoadingsDisplay
from ufselect.plotting.path_display import SelectionPathDisplay
from ufselect.plotting.pixels_display import PixelsDisplay
from ufselect.plotting.reconstruction_display import ReconstructionDisplay
from ufselect.plotting.scores_display import ScoresDisplay

__all__ = [
    "ConvergenceDisplay",
    "LoadingsDisplay",
    "PixelsDisplay",
    "ReconstructionDisplay",
    "ScoresDisplay",
    "SelectionPathDisplay",
]
