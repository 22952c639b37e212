"""Which pixels of an image are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.plotting.selected import selected_by
from ufselect.plotting.style import KEPT, matplotlib, new_axes
from ufselect.plotting.svg import frame

# The brightest pixel of the image beneath gets this part of full black, so that the kept ones stand out.
FAINT = 0.4
# Side of a pixel on a page: an image about as wide as a phone, and squares that can be pointed at.
PICTURE_WIDTH, SMALLEST_CELL, LARGEST_CELL = 340, 3, 40
# Share of a pixel's square that is filled; the rest keeps neighbours apart.
FILLED = 0.94


@dataclass
class PixelsDisplay:
    """The kept pixels over an image.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    support : ndarray of shape (n_features,)
        Mask of the kept pixels.
    image_shape : (int, int)
        Rows and columns of the images.
    order : {"C", "F"}, default="C"
        "F" where the pixels run down the columns first.
    background : ndarray of shape (n_features,), optional
        An image to draw beneath, such as the mean of the data.

    Attributes
    ----------
    ax_, figure_
        Where :meth:`plot` has drawn.

    Raises
    ------
    ValueError
        If the shape does not have as many pixels as there are features.
    """

    support: NDArray
    image_shape: tuple[int, int]
    order: str = "C"
    background: NDArray | None = None

    def __post_init__(self) -> None:
        n_rows, n_columns = self.image_shape
        if n_rows * n_columns != self.support.size:
            raise ValueError(
                f"An image of {n_rows} × {n_columns} pixels does not fit {self.support.size} features; give "
                "the true image_shape."
            )

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        image_shape: tuple[int, int],
        *,
        order: str = "C",
        background: NDArray | None = None,
        ax: Any = None,
    ) -> PixelsDisplay:
        """Draw the pixels that a fitted selector keeps.

        Parameters
        ----------
        selector : estimator
            Any scikit-learn selector, after ``fit`` on images.
        image_shape, order, background
            As above.
        ax : matplotlib Axes, optional
            Where to draw; into new ones without it.

        Returns
        -------
        PixelsDisplay
        """
        return cls(selected_by(selector).support, image_shape, order, background).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> PixelsDisplay:
        """Draw with matplotlib."""
        ax = new_axes() if ax is None else ax
        chosen = self._picture(self.support)
        base = np.zeros(chosen.size) if self.background is None else np.asarray(self.background, dtype=float)
        darkest = float(base.max()) / FAINT or 1.0
        ax.imshow(self._picture(base), cmap="Greys", vmax=darkest, interpolation="nearest")
        rectangle = matplotlib("patches").Rectangle
        for row, column in np.argwhere(chosen):
            place = (column - 0.5, row - 0.5)
            ax.add_patch(rectangle(place, 1, 1, facecolor=KEPT, edgecolor="white", linewidth=self._edge()))
        ax.set(xticks=[], yticks=[], title=f"{int(chosen.sum())} of {chosen.size} pixels kept")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def to_svg(self, feature_names: Sequence[str]) -> str:
        """Return the picture as SVG for a page; pointing at a pixel tells its name."""
        n_rows, n_columns = self.image_shape
        cell = float(np.clip(PICTURE_WIDTH / max(self.image_shape), SMALLEST_CELL, LARGEST_CELL))
        base = np.zeros(self.support.size) if self.background is None else self.background
        low, high = float(base.min()), float(base.max())
        parts = []
        for (i, j), feature in np.ndenumerate(self._picture(np.arange(self.support.size))):
            shade = (float(base[feature]) - low) / ((high - low) or 1.0)
            kept = bool(self.support[feature])
            kind = 'class="kept"' if kept else f'class="ink" fill-opacity="{0.06 + FAINT * shade:.3f}"'
            tip = escape(f"{feature_names[feature]}: {'kept' if kept else 'dropped'}")
            parts.append(
                f'<rect x="{cell * j:.1f}" y="{cell * i:.1f}" width="{cell * FILLED:.2f}" '
                f'height="{cell * FILLED:.2f}" {kind} data-tip="{tip}"/>'
            )
        title = (
            f"Image of {n_rows} × {n_columns} pixels; the {int(self.support.sum())} kept ones are coloured."
        )
        return frame(cell * n_columns, cell * n_rows, title, "".join(parts))

    def _picture(self, values: NDArray) -> NDArray:
        return np.reshape(values, self.image_shape, order=self.order)  # type: ignore[call-overload]

    def _edge(self) -> float:
        """Return the width of a square's edge in points: less where pixels are small."""
        return min(1.2, 12 / max(self.image_shape))
