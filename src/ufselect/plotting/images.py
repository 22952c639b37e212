"""The picture of a selection of pixels: where they are, and what they can rebuild."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.plotting.pixels_display import PixelsDisplay
from ufselect.plotting.scores_display import ScoresDisplay
from ufselect.plotting.style import KEPT, matplotlib

# What fits a figure of this width with readable names.
N_EXAMPLES = 6
MOST_BARS = 14
ROWS = ("original", "pixels kept", "rebuilt from them")


def pixel_figure(
    selector: Any,
    X: NDArray,
    image_shape: tuple[int, int],
    *,
    order: str = "C",
    examples: Any = None,
    feature_names: Any = None,
) -> Any:
    """Draw the chosen pixels, their scores, and images rebuilt from them by least squares.

    Parameters
    ----------
    selector : UnsupervisedSelector
        Fitted on ``X``.
    X : ndarray of shape (n_samples, n_features)
        Images, one per row.
    image_shape : (int, int)
        Rows and columns of the images.
    order : {"C", "F"}, default="C"
        "F" where the pixels run down the columns first.
    examples : sequence of int, optional
        Rows of X to rebuild; the first six without it.
    feature_names : sequence of str, optional
        Names of the pixels.

    Returns
    -------
    matplotlib Figure
    """
    shown = np.arange(min(N_EXAMPLES, X.shape[0])) if examples is None else np.asarray(examples)
    figure = matplotlib("figure").Figure(figsize=(12.5, 4.3), layout="constrained", facecolor="white")
    left, middle, right = figure.subfigures(1, 3, width_ratios=[0.95, 1.0, 1.6])
    PixelsDisplay.from_estimator(
        selector, image_shape, order=order, background=X.mean(axis=0), ax=left.subplots()
    )
    bars = ScoresDisplay.from_estimator(
        selector, feature_names=feature_names, n_shown=MOST_BARS, ax=middle.subplots()
    )
    bars.ax_.set_title("best scores", fontsize=12)
    share = _rebuild_grid(right, selector, X, image_shape, order, shown)
    right.suptitle(f"they rebuild {share:.0%} of the variance of all pixels", fontsize=12)
    return figure


def _rebuild_grid(
    figure: Any, selector: Any, X: NDArray, image_shape: tuple[int, int], order: str, shown: NDArray
) -> float:
    mean = X.mean(axis=0)
    centred = X - mean
    kept = centred[:, selector.support_]
    weights = np.linalg.lstsq(kept, centred, rcond=None)[0]
    rebuilt = kept @ weights
    low, high = float(X.min()), float(X.max())
    grid = figure.subplots(len(ROWS), shown.size)
    hidden = np.where(selector.support_, X[shown], np.nan)
    for row, images in enumerate((X[shown], hidden, rebuilt[shown] + mean)):
        for ax, image in zip(grid[row], images, strict=True):
            picture = np.reshape(image, image_shape, order=order)  # type: ignore[call-overload]
            ax.set_facecolor("#EDEFF2")
            ax.imshow(picture, cmap="Greys", vmin=low, vmax=high, interpolation="nearest")
            ax.set(xticks=[], yticks=[])
            for spine in ax.spines.values():
                spine.set_color(KEPT if row == 1 else "#C9CED6")
        grid[row][0].set_ylabel(ROWS[row])
    return 1 - float(np.sum((centred - rebuilt) ** 2) / np.sum(centred**2))
