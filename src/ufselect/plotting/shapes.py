"""Points in the plane of two features, and pixels of a selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.plotting.style import COLOURS, MARKERS, tidy


def plot_plane(X: NDArray, y: NDArray, features: Sequence[int], title: str, ax: Any) -> None:
    """Draw the samples in the plane of two features, a colour and a marker for each class."""
    first, second = features
    for position, label in enumerate(np.unique(y)):
        own = y == label
        ax.scatter(
            X[own, first],
            X[own, second],
            s=4,
            color=COLOURS[position % len(COLOURS)],
            marker=MARKERS[position % len(MARKERS)],
            linewidths=0,
            rasterized=True,
        )
    tidy(ax, title, f"Feature {first + 1}", f"Feature {second + 1}")
    ax.set_xticks([])
    ax.set_yticks([])


def plot_chosen_pixels(
    features: Sequence[int], X: NDArray, image_shape: tuple[int, int], order: str, title: str, ax: Any
) -> None:
    """Draw the mean image in grey and the selected pixels over it."""
    picture = X.mean(axis=0).reshape(image_shape, order=order)
    chosen = np.zeros(X.shape[1], dtype=bool)
    chosen[list(features)] = True
    mask = chosen.reshape(image_shape, order=order)  # type: ignore[call-overload]
    overlay = np.zeros((*image_shape, 4))
    overlay[mask] = (0.902, 0.624, 0.0, 0.9)
    ax.imshow(picture, cmap="gray", interpolation="nearest")
    ax.imshow(overlay, interpolation="nearest")
    tidy(ax, title)
    ax.set_xticks([])
    ax.set_yticks([])
