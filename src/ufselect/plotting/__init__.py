"""Pictures: of a fitted selector here, of studies in the modules of this room. Needs matplotlib."""

from ufselect.plotting.selection import (
    plot_convergence,
    plot_loadings,
    plot_path,
    plot_pixels,
    plot_scores,
)

__all__ = ["plot_convergence", "plot_loadings", "plot_path", "plot_pixels", "plot_scores"]
