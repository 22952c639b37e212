"""The loadings of the kept features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.plotting.heat_map import heat_map
from ufselect.plotting.selected import feature_names_of, selected_by
from ufselect.plotting.style import new_axes, plain


@dataclass
class LoadingsDisplay:
    """Loadings as a heat map, one column per component.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    loadings : ndarray of shape (n_shown, n_components)
        Loadings of the features to show.
    feature_names : sequence of str
        Their names.

    Attributes
    ----------
    ax_, figure_
        Where :meth:`plot` has drawn.
    """

    loadings: NDArray
    feature_names: Sequence[str]

    @classmethod
    def from_estimator(
        cls, selector: Any, *, feature_names: Sequence[str] | None = None, n_shown: int = 40, ax: Any = None
    ) -> LoadingsDisplay:
        """Draw the loadings of a fitted selector.

        Parameters
        ----------
        selector : estimator
            A scikit-learn selector with ``components_``, after ``fit``.
        feature_names : sequence of str, optional
            Names of all features; without it those seen in ``fit``, else their positions.
        n_shown : int, default=40
            Most features to show, best first.
        ax : matplotlib Axes, optional
            Where to draw; into new ones without it.

        Returns
        -------
        LoadingsDisplay

        Raises
        ------
        ValueError
            If the method has no loadings.
        """
        selected = selected_by(selector)
        if not hasattr(selector, "components_"):
            raise ValueError(f"{type(selector).__name__} has no loadings to plot.")
        shown = selected.kept[:n_shown]
        names = feature_names_of(selector, feature_names, selected.support.size)
        loadings = np.asarray(selector.components_)[:, shown].T
        return cls(loadings, [names[j] for j in shown]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> LoadingsDisplay:
        """Draw with matplotlib."""
        ax = new_axes() if ax is None else ax
        limit = float(np.abs(self.loadings).max()) or 1.0
        colours = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
        image = ax.imshow(self.loadings, aspect="auto", interpolation="nearest", **colours)
        n_shown, n_components = self.loadings.shape
        ax.set_yticks(np.arange(n_shown), [plain(name) for name in self.feature_names])
        ax.set_xticks(np.arange(n_components), _numbers(n_components))
        ax.set_xlabel("component")
        ax.set_title("loadings of the kept features")
        ax.figure.colorbar(image, ax=ax, label="loading")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def to_svg(self) -> str:
        """Return the heat map as SVG for a page."""
        n_shown, n_components = self.loadings.shape
        title = f"Loadings of {n_shown} features on {n_components} components"
        return heat_map(self.loadings, self.feature_names, _numbers(n_components), title)


def _numbers(n_components: int) -> list[str]:
    return [str(number) for number in range(1, n_components + 1)]
