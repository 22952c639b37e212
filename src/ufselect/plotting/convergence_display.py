"""The objective over the iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ufselect.plotting.style import KEPT, matplotlib, new_axes, quiet
from ufselect.plotting.svg import CHART_WIDTH, frame, line, number, tick

# Below this share of the descent the differences are rounding.
LEAST_GAP = 1e-12
# From so many iterations on the points of the page's line are small.
MANY_POINTS = 60


@dataclass
class ConvergenceDisplay:
    """The course of one fit.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    history : ndarray of shape (n_iterations + 1,)
        Objective at the start and after each iteration.
    converged : bool
        Whether the stopping rule was met.

    Attributes
    ----------
    ax_, figure_
        Where :meth:`plot` has drawn.
    """

    history: NDArray
    converged: bool = True

    @classmethod
    def from_estimator(cls, selector: Any, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw the objective of a fitted selector.

        Parameters
        ----------
        selector : estimator
            An iterative one, with ``objective_history_``, after ``fit``.
        ax : matplotlib Axes, optional
            Where to draw; into new ones without it.

        Returns
        -------
        ConvergenceDisplay

        Raises
        ------
        ValueError
            If the method does not iterate.
        """
        check_is_fitted(selector)
        if not hasattr(selector, "objective_history_"):
            raise ValueError(f"{type(selector).__name__} does not iterate and has no convergence to plot.")
        history = np.asarray(selector.objective_history_)
        return cls(history, bool(getattr(selector, "converged_", True))).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw the objective with matplotlib."""
        ax = new_axes() if ax is None else ax
        ax.plot(
            np.arange(self.history.size), self.history, color=KEPT, marker="o", markersize=3.5, linewidth=1.6
        )
        ax.set_xlabel("iteration")
        ax.set_ylabel("objective")
        ax.xaxis.set_major_locator(matplotlib("ticker").MaxNLocator(integer=True))
        ended = "converged" if self.converged else "stopped before convergence"
        ax.set_title(f"{ended} after {self.history.size - 1} iterations")
        quiet(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def plot_gap(self, ax: Any, **style: Any) -> ConvergenceDisplay:
        """Draw how far the objective still is above its last value, as a share of its whole descent.

        Histories of several data sets then share one pair of axes; ``style`` is for the line.
        """
        descent = self.history[0] - self.history[-1]
        gap = (self.history - self.history[-1]) / (descent if descent > 0 else 1.0)
        ax.semilogy(np.arange(gap.size - 1), np.maximum(gap[:-1], LEAST_GAP), **style)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def to_svg(self) -> str:
        """Return the objective as SVG for a page."""
        history = self.history
        width, height, left, bottom, top = CHART_WIDTH, 220.0, 86.0, 180.0, 14.0
        low, high = float(history.min()), float(history.max())
        span = (high - low) or 1.0
        step = (width - left - 16) / max(1, history.size - 1)
        points = [
            (left + step * k, bottom - (bottom - top) * (v - low) / span) for k, v in enumerate(history)
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        radius = 4 if history.size < MANY_POINTS else 2.5
        dots = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="kept" '
            f'data-tip="iteration {k}: {number(float(history[k]))}"/>'
            for k, (x, y) in enumerate(points)
        )
        axis = (
            line(left, bottom, width - 8, bottom)
            + line(left, top, left, bottom)
            + tick(left - 6, top + 5, number(high), "end")
            + tick(left - 6, bottom + 2, number(low), "end")
            + tick(left, bottom + 20, "start")
            + tick(width - 8, bottom + 20, f"iteration {history.size - 1}", "end")
        )
        title = (
            f"Objective over {history.size - 1} iterations, from {number(history[0])} "
            f"to {number(history[-1])}."
        )
        return frame(width, height, title, f'{axis}<polyline points="{path}" class="line"/>{dots}')
