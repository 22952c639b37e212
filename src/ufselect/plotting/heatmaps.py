"""Matrices as images: loadings under kinds of sparsity, and sensitivity to two parameters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.evaluation.rows import Row
from ufselect.plotting.style import tidy

SHOWN_ROWS = 160


def plot_loadings(matrix: NDArray, title: str, ax: Any) -> None:
    """Draw the magnitudes of a loading matrix, features downwards; white is exactly zero.

    Where there are more features than a figure has lines, each line shows the largest of a few neighbours,
    so that no kept feature is lost.
    """
    block = -(-len(matrix) // SHOWN_ROWS)
    padded = np.pad(np.abs(matrix), ((0, -len(matrix) % block), (0, 0)))
    pooled = padded.reshape(-1, block, matrix.shape[1]).max(axis=1)
    magnitudes = np.ma.masked_equal(pooled, 0.0)
    largest = float(pooled.max()) or 1.0
    ax.imshow(
        magnitudes,
        aspect="auto",
        interpolation="nearest",
        cmap="viridis_r",
        vmin=0.0,
        vmax=0.6 * largest,
        extent=(-0.5, matrix.shape[1] - 0.5, len(pooled) * block, 0),
    )
    ax.set_ylim(len(matrix), 0)
    shown = range(0, matrix.shape[1], 1 + matrix.shape[1] // 6)
    ax.set_xticks(shown, [component + 1 for component in shown])
    share = np.count_nonzero(matrix) / matrix.size
    tidy(ax, f"{title}, {share:.0%} kept", "Component", "Feature")
    ax.spines[["top", "right"]].set_visible(True)


def plot_sensitivity(rows: Sequence[Row], metric: str, ax: Any) -> Any:
    """Draw DSCOFS's best mean at each number of features and entry share, and return the image.

    Parameters
    ----------
    rows : sequence of Row
        Rows of DSCOFS on one data set, with ``entry_sparsity`` among their parameters.
    """
    values: dict[tuple[int, float], float] = {}
    for row in rows:
        cell = row.n_features, json.loads(row.params)["entry_sparsity"]
        values[cell] = max(values.get(cell, -np.inf), getattr(row, f"{metric}_mean"))
    counts, shares = sorted({cell[0] for cell in values}), sorted({cell[1] for cell in values})
    grid = np.array([[values.get((count, share), np.nan) for count in counts] for share in shares])
    image = ax.imshow(grid, aspect="auto", origin="lower", cmap="cividis")
    ax.set_xticks(range(len(counts)), counts)
    ax.set_yticks(range(len(shares)), [f"{share:g}" for share in shares])
    middle = np.nanmean([np.nanmin(grid), np.nanmax(grid)])
    for (i, j), value in np.ndenumerate(grid):
        if np.isfinite(value):
            colour = "white" if value < middle else "black"
            ax.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=7, color=colour)
    tidy(ax, rows[0].dataset, "Number of features r", "Entry share α")
    return image
