"""Which features are kept as their number grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.plotting.selected import feature_names_of
from ufselect.plotting.style import COLOURS, KEPT, matplotlib, new_axes, plain, quiet
from ufselect.selectors.path import DSCOFSPath

# What a square can say, in the order of `SelectionPathDisplay.states`.
STATES = (("not kept", "white"), ("kept", KEPT), ("enters", COLOURS[2]), ("leaves", COLOURS[1]))


@dataclass
class SelectionPathDisplay:
    """Features against feature counts: which are kept, which enter, which leave.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    masks : ndarray of shape (n_counts, n_shown)
        Which of the shown features each count keeps.
    counts : sequence of int
        The counts.
    feature_names : sequence of str
        Names of the shown features.

    Attributes
    ----------
    ax_, figure_
        Where :meth:`plot` has drawn.
    """

    masks: NDArray
    counts: Sequence[int]
    feature_names: Sequence[str]

    @classmethod
    def from_estimator(
        cls,
        path: DSCOFSPath,
        *,
        entry_sparsity: float | int | None = None,
        feature_names: Sequence[str] | None = None,
        n_shown: int = 40,
        ax: Any = None,
    ) -> SelectionPathDisplay:
        """Draw which features are selected for each feature count of a path.

        Parameters
        ----------
        path : DSCOFSPath
            From :func:`ufselect.dscofs_path`.
        entry_sparsity : float, int or None, optional
            Which of the path's entry sparsities to show; the first where it is not one of them.
        feature_names : sequence of str, optional
            Names of all features; their positions without it.
        n_shown : int, default=40
            Most features to show: those selected for the most counts.
        ax : matplotlib Axes, optional
            Where to draw; into new ones without it.

        Returns
        -------
        SelectionPathDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from ufselect import dscofs_path
        >>> from ufselect.plotting import SelectionPathDisplay
        >>> path = dscofs_path(load_wine().data, (2, 4, 6), (0.5,), n_components=2)
        >>> SelectionPathDisplay.from_estimator(path).masks.sum(axis=1)
        array([2, 4, 6])
        """
        sparsity = entry_sparsity if entry_sparsity in path.entry_sparsity else path.entry_sparsity[0]
        masks = np.array([path.support(count, sparsity) for count in path.n_features_to_select])
        ranks = path.ranking(path.n_features_to_select[-1], sparsity)
        shown = np.lexsort((ranks, -masks.sum(axis=0)))[: min(n_shown, int(masks.any(axis=0).sum()))]
        names = feature_names_of(path, feature_names, masks.shape[1])
        display = cls(masks[:, shown], path.n_features_to_select, [names[j] for j in shown])
        return display.plot(ax=ax)

    def states(self) -> NDArray[np.intp]:
        """Return for each count and feature 0 if it is not kept, 1 if it is, 2 if it enters, 3 if it leaves.

        Entering and leaving is by comparison with the count before; at the first count nothing does.
        """
        kept = np.asarray(self.masks, dtype=bool)
        before = np.vstack([kept[:1], kept[:-1]])
        return np.select([kept & before, kept & ~before, ~kept & before], [1, 2, 3])

    def plot(self, *, ax: Any = None) -> SelectionPathDisplay:
        """Draw with matplotlib."""
        ax = new_axes() if ax is None else ax
        colours = matplotlib("colors").ListedColormap([colour for _, colour in STATES])
        ax.pcolormesh(
            self.states().T, cmap=colours, vmin=0, vmax=len(STATES) - 1, edgecolors="#E3E6EA", linewidth=0.6
        )
        square = matplotlib("patches").Patch
        keys = [square(facecolor=colour, label=name) for name, colour in STATES[1:]]
        ax.legend(handles=keys, loc="lower left", fontsize="small")
        ax.set_xticks(np.arange(len(self.counts)) + 0.5, [str(count) for count in self.counts])
        ax.set_yticks(np.arange(len(self.feature_names)) + 0.5, [plain(name) for name in self.feature_names])
        ax.invert_yaxis()
        ax.set_xlabel("number of features")
        ax.set_title("features selected along the path")
        quiet(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
