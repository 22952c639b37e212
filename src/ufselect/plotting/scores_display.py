"""The scores of the features, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.plotting.selected import Selected, feature_names_of, selected_by
from ufselect.plotting.style import DROPPED, KEPT, new_axes, plain, quiet
from ufselect.plotting.svg import CHART_WIDTH, frame, line, number, tick

# Bars on a page: more would be thinner than a pixel.
MOST_POINTS = 400
LETTER = 7.0  # pixels of a letter beside an axis, at most


@dataclass
class ScoresDisplay:
    """Scores as bars, best first, the kept features in colour.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    scores : ndarray of shape (n_features,)
        Scores in the order of the ranks.
    feature_names : sequence of str
        Names in the same order.
    n_selected : int
        How many of them are kept.

    Attributes
    ----------
    ax_, figure_
        Where :meth:`plot` has drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ufselect import DSCOFS
    >>> from ufselect.plotting import ScoresDisplay
    >>> selector = DSCOFS(n_features_to_select=5, n_components=2, entry_sparsity=None).fit(load_wine().data)
    >>> display = ScoresDisplay.from_estimator(selector, n_shown=8)
    >>> len(display.ax_.patches)
    8
    """

    scores: NDArray
    feature_names: Sequence[str]
    n_selected: int

    @classmethod
    def from_estimator(
        cls, selector: Any, *, feature_names: Sequence[str] | None = None, n_shown: int = 30, ax: Any = None
    ) -> ScoresDisplay:
        """Draw the scores of a fitted selector.

        Parameters
        ----------
        selector : estimator
            Any fitted scikit-learn selector with ``scores_``.
        feature_names : sequence of str, optional
            Names of all features; without it those seen in ``fit``, else their positions.
        n_shown : int, default=30
            Most bars to draw.
        ax : matplotlib Axes, optional
            Where to draw; into new ones without it.

        Returns
        -------
        ScoresDisplay

        Raises
        ------
        ValueError
            If the selector gives no scores.
        """
        selected = selected_by(selector)
        if selected.scores is None:
            raise ValueError(f"{type(selector).__name__} has no scores to plot.")
        names = feature_names_of(selector, feature_names, selected.support.size)
        return cls.from_selected(selected, selected.scores, names).plot(n_shown=n_shown, ax=ax)

    @classmethod
    def from_selected(cls, selected: Selected, scores: NDArray, names: Sequence[str]) -> ScoresDisplay:
        """Arrange scores by rank, and draw nothing."""
        order = np.argsort(selected.ranking)
        return cls(scores[order], [names[j] for j in order], int(selected.support.sum()))

    def plot(self, *, n_shown: int = 30, ax: Any = None) -> ScoresDisplay:
        """Draw with matplotlib, the best at the top."""
        ax = new_axes() if ax is None else ax
        n_shown = min(n_shown, self.scores.size)
        colours = [KEPT if place < self.n_selected else DROPPED for place in range(n_shown)]
        ax.barh(np.arange(n_shown), self.scores[:n_shown], color=colours, height=0.75)
        ax.set_yticks(np.arange(n_shown), [plain(name) for name in self.feature_names[:n_shown]])
        ax.set_ylim(n_shown - 0.4, -0.6)
        ax.set_xlabel("score")
        ax.set_title(f"{self.n_selected} of {self.scores.size} features kept")
        quiet(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def to_svg(self) -> str:
        """Return all scores as SVG for a page, the best on the left."""
        width, height, bottom, top = CHART_WIDTH, 240.0, 204.0, 14.0
        low, high = score_range(self.scores)
        left = max(56.0, 12 + LETTER * max(len(number(low)), len(number(high))))
        step = (width - left - 10) / self.scores.size
        bars = []
        places = self._drawn()
        for place, end in zip(places, np.append(places[1:], self.scores.size), strict=True):
            share = score_share(self.scores[place], low, high)
            tall = max(1.0, (bottom - top) * share)
            bar = max(0.8, step * (end - place) - (1 if step > 4 else 0))
            kind = "kept" if place < self.n_selected else "dropped"
            tip = escape(f"{place + 1}. {self.feature_names[place]}: {number(float(self.scores[place]))}")
            bars.append(
                f'<rect x="{left + step * place:.2f}" y="{bottom - tall:.2f}" width="{bar:.2f}" '
                f'height="{tall:.2f}" class="{kind}" data-tip="{tip}"/>'
            )
        axis = (
            line(left, bottom, width - 8, bottom)
            + tick(left - 6, top + 6, number(high), "end")
            + tick(left - 6, bottom, number(low), "end")
            + tick(left, bottom + 18, "rank 1")
            + tick(width - 8, bottom + 18, f"rank {self.scores.size:,}", "end")
        )
        title = (
            f"Scores of all {self.scores.size} features, best first; the first {self.n_selected} are kept."
        )
        return frame(width, height, title, axis + "".join(bars))

    def _drawn(self) -> NDArray[np.intp]:
        """Return the places that get a bar: evenly spread ones, and the last kept one."""
        spread = np.linspace(0, self.scores.size - 1, min(self.scores.size, MOST_POINTS)).astype(int)
        return np.unique(np.append(spread, [self.n_selected - 1]))


def score_range(scores: NDArray) -> tuple[float, float]:
    """Return the ends of the axis: zero or less, and the largest finite score."""
    finite = scores[np.isfinite(scores)]
    return min(0.0, float(finite.min(initial=0.0))), float(finite.max(initial=0.0))


def score_share(score: float, low: float, high: float) -> float:
    """Return how far along the axis a score lies; infinite ones at its ends, missing ones at its start."""
    if np.isnan(score):
        return 0.0
    return (min(max(float(score), low), high) - low) / ((high - low) or 1.0)
