"""Pictures of one fitted selector: scores, convergence, pixels, path, loadings.

Every function draws into the given Axes, or into new ones, and returns them. Matplotlib is imported when
something is drawn. Colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ufselect.selectors.path import DSCOFSPath

KEPT, DROPPED, INK = "#0072B2", "#B8BEC6", "#333333"


def plot_scores(
    selector: Any, *, feature_names: Sequence[str] | None = None, n_shown: int = 30, ax: Any = None
) -> Any:
    """Draw the scores of the best features as bars, the selected ones in colour.

    Parameters
    ----------
    selector : UnsupervisedSelector
        After ``fit``.
    feature_names : sequence of str, optional
        Names of all features; without it those seen in ``fit``, else their positions.
    n_shown : int, default=30
        Most bars to draw.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ufselect import DSCOFS
    >>> from ufselect.plotting.selection import plot_scores
    >>> selector = DSCOFS(n_features_to_select=5, n_components=2, entry_sparsity=None).fit(load_wine().data)
    >>> len(plot_scores(selector, n_shown=8).patches)
    8
    """
    check_is_fitted(selector, "scores_")
    ax = _axes(ax)
    order = np.argsort(selector.ranking_)[:n_shown]
    names = _names(selector, feature_names)
    colours = [KEPT if selector.support_[j] else DROPPED for j in order]
    ax.barh(np.arange(order.size), selector.scores_[order], color=colours, height=0.75)
    ax.set_yticks(np.arange(order.size), [_plain(names[j]) for j in order])
    ax.set_ylim(order.size - 0.4, -0.6)
    ax.set_xlabel("score")
    ax.set_title(f"{int(selector.support_.sum())} of {selector.scores_.size} features kept")
    _quiet(ax)
    return ax


def plot_convergence(selector: Any, *, ax: Any = None) -> Any:
    """Draw the objective over the iterations.

    Parameters
    ----------
    selector : UnsupervisedSelector
        An iterative one, after ``fit``.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the method does not iterate.
    """
    check_is_fitted(selector, "scores_")
    if not hasattr(selector, "objective_history_"):
        raise ValueError(f"{type(selector).__name__} does not iterate and has no convergence to plot.")
    ax = _axes(ax)
    history = np.asarray(selector.objective_history_)
    ax.plot(np.arange(history.size), history, color=KEPT, marker="o", markersize=3.5, linewidth=1.6)
    ax.set_xlabel("iteration")
    ax.set_ylabel("objective")
    ax.xaxis.set_major_locator(import_module("matplotlib.ticker").MaxNLocator(integer=True))
    ended = "converged" if getattr(selector, "converged_", True) else "stopped before convergence"
    ax.set_title(f"{ended} after {history.size - 1} iterations")
    _quiet(ax)
    return ax


def plot_pixels(
    selector: Any,
    image_shape: tuple[int, int],
    *,
    order: str = "C",
    background: NDArray | None = None,
    ax: Any = None,
) -> Any:
    """Draw which pixels of an image were selected.

    Parameters
    ----------
    selector : UnsupervisedSelector
        After ``fit`` on images.
    image_shape : (int, int)
        Rows and columns of the images.
    order : {"C", "F"}, default="C"
        "F" where the pixels run down the columns first.
    background : ndarray of shape (n_features,), optional
        An image to draw beneath, such as the mean of the data.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the shape does not have as many pixels as there are features.
    """
    check_is_fitted(selector, "support_")
    if image_shape[0] * image_shape[1] != selector.support_.size:
        raise ValueError(
            f"An image of {image_shape[0]} × {image_shape[1]} pixels does not fit "
            f"{selector.support_.size} features; give the true image_shape."
        )
    ax = _axes(ax)
    chosen = _picture(selector.support_, image_shape, order)
    base = np.zeros(chosen.size) if background is None else np.asarray(background, dtype=float)
    faint = 2.5 * float(base.max()) or 1.0  # so that the chosen pixels stand out
    ax.imshow(_picture(base, image_shape, order), cmap="Greys", vmax=faint, interpolation="nearest")
    patches = import_module("matplotlib.patches")
    for row, column in np.argwhere(chosen):
        square = patches.Rectangle(
            (column - 0.5, row - 0.5), 1, 1, facecolor=KEPT, edgecolor="white", linewidth=1.2
        )
        ax.add_patch(square)
    ax.set(xticks=[], yticks=[], title=f"{int(chosen.sum())} of {chosen.size} pixels kept")
    return ax


def plot_path(
    path: DSCOFSPath,
    *,
    entry_sparsity: float | int | None = None,
    feature_names: Sequence[str] | None = None,
    n_shown: int = 40,
    ax: Any = None,
) -> Any:
    """Draw which features are selected for each feature count of a path.

    Parameters
    ----------
    path : DSCOFSPath
        From :func:`ufselect.dscofs_path`.
    entry_sparsity : float, int or None, optional
        Which of the path's entry sparsities to show; the first where it is not one of them.
    feature_names : sequence of str, optional
        Names of all features.
    n_shown : int, default=40
        Most features to show: those selected for the most counts.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
    """
    sparsity = entry_sparsity if entry_sparsity in path.entry_sparsity else path.entry_sparsity[0]
    ax = _axes(ax)
    masks = np.array([path.support(count, sparsity) for count in path.n_features_to_select])
    ranks = path.ranking(path.n_features_to_select[-1], sparsity)
    often = np.lexsort((ranks, -masks.sum(axis=0)))[: min(n_shown, int(masks.any(axis=0).sum()))]
    colours = import_module("matplotlib.colors").ListedColormap(["white", KEPT])
    ax.pcolormesh(masks[:, often].T, cmap=colours, vmin=0, vmax=1, edgecolors="#E3E6EA", linewidth=0.6)
    ax.set_xticks(np.arange(masks.shape[0]) + 0.5, [str(count) for count in path.n_features_to_select])
    names = feature_names if feature_names is not None else [str(j) for j in range(masks.shape[1])]
    ax.set_yticks(np.arange(often.size) + 0.5, [_plain(str(names[j])) for j in often])
    ax.invert_yaxis()
    ax.set_xlabel("number of features")
    ax.set_title("features selected along the path")
    _quiet(ax)
    return ax


def plot_loadings(
    selector: Any, *, feature_names: Sequence[str] | None = None, n_shown: int = 40, ax: Any = None
) -> Any:
    """Draw the loadings of the selected features as a heat map, one column a component.

    Parameters
    ----------
    selector : UnsupervisedSelector
        One with ``components_``, after ``fit``.
    feature_names : sequence of str, optional
        Names of all features.
    n_shown : int, default=40
        Most features to show, best first.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the method has no loadings.
    """
    check_is_fitted(selector, "scores_")
    if not hasattr(selector, "components_"):
        raise ValueError(f"{type(selector).__name__} has no loadings to plot.")
    ax = _axes(ax)
    kept = min(n_shown, int(selector.support_.sum()))
    order = np.argsort(selector.ranking_)[:kept]
    values = np.asarray(selector.components_)[:, order].T
    limit = float(np.abs(values).max()) or 1.0
    image = ax.imshow(values, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
    names = _names(selector, feature_names)
    ax.set_yticks(np.arange(kept), [_plain(names[j]) for j in order])
    ax.set_xticks(np.arange(values.shape[1]), [str(k + 1) for k in range(values.shape[1])])
    ax.set_xlabel("component")
    ax.set_title("loadings of the kept features")
    ax.figure.colorbar(image, ax=ax, label="loading")
    return ax


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        pyplot = import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError('Plotting needs matplotlib: pip install "ufselect[plot]".') from error
    return pyplot.subplots(layout="constrained")[1]


def _names(selector: Any, given: Sequence[str] | None) -> list[str]:
    n_features = selector.scores_.size
    found = given if given is not None else getattr(selector, "feature_names_in_", range(n_features))
    if len(found) != n_features:
        raise ValueError(f"{len(found)} feature names were given for {n_features} features.")
    return [str(name) for name in found]


def _plain(name: str) -> str:
    """Return a name that Matplotlib shows as it is: "$" would begin a formula; long names are cut."""
    shown = name if len(name) <= 28 else f"{name[:27]}…"
    return shown.replace("$", r"\$")


def _picture(values: NDArray, image_shape: tuple[int, int], order: str) -> NDArray:
    return np.reshape(values, image_shape, order=order)  # type: ignore[call-overload]


def _quiet(ax: Any) -> None:
    """Take away the lines that say nothing."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.tick_params(length=3, colors=INK)
