"""Shapes in the plane with added noise features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ufselect._utils.validation import check_choice

POINTS_PER_CLASS = 500


def make_noisy_shapes(kind: str, n_noise: int = 7, random_state: Any = None) -> tuple[NDArray, NDArray]:
    """Generate two features that form a shape in the plane, and Gaussian noise features.

    As in the DSCOFS paper, the fourth and fifth of the 2 + ``n_noise`` features hold the shape. The noise
    features are independent of the classes and of each other; they alternate between the means and variances
    of the two true features.

    Parameters
    ----------
    kind : {"two_spirals", "banana", "dartboard"}
        Two interleaved spirals (2 × 500 points), two interlocked crescents (2 × 500 points) or four
        concentric circles (4 × 250 points). Spirals and circles are the points of the published files; the
        crescents are random, from a model of the published ones.
    n_noise : int, default=7
        Number of noise features. With fewer than three, the true features come last.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise and the crescents.

    Returns
    -------
    X : ndarray of shape (1000, 2 + n_noise)
        The data. The true features are columns 3 and 4, counted from 0.
    y : ndarray of shape (1000,)
        The classes, counted from 0.

    See Also
    --------
    load_dataset : Load published data sets, among them the original shapes.

    Examples
    --------
    >>> from ufselect.datasets import make_noisy_shapes
    >>> X, y = make_noisy_shapes("dartboard", random_state=0)
    >>> X.shape
    (1000, 9)
    """
    check_choice("kind", kind, SHAPES)
    if isinstance(n_noise, bool) or not isinstance(n_noise, int | np.integer) or n_noise < 0:
        raise ValueError(f"n_noise must be an integer of at least 0, not {n_noise!r}.")
    rng = check_random_state(random_state)
    points, classes = SHAPES[kind](rng)
    return among_noise(points, n_noise, rng), classes


def among_noise(points: NDArray, n_noise: int, rng: np.random.RandomState) -> NDArray:
    """Put two features behind the first three noise features and before the others.

    The paper says that the noise has the means and variances of the true features, but not which column has
    which; here they alternate.
    """
    source = np.arange(n_noise) % 2
    noise = rng.normal(points.mean(axis=0)[source], points.std(axis=0)[source], (len(points), n_noise))
    return np.hstack([noise[:, :3], points, noise[:, 3:]])


def _two_spirals(rng: np.random.RandomState) -> tuple[NDArray, NDArray]:
    """Increase the radius from 1.5 to 6.5 over one and a half turns; the second class is the mirror image."""
    step = np.arange(POINTS_PER_CLASS)
    radius, angle = 1.5 + 0.01 * step, 6 * np.pi * step / 1000
    first = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([first, -first]), np.repeat([0, 1], POINTS_PER_CLASS)


def _dartboard(rng: np.random.RandomState) -> tuple[NDArray, NDArray]:
    """Put 250 points evenly on each of four circles around (-0.5, 0.5)."""
    angle = 2 * np.pi * np.arange(250) / 250
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    rings = [radius * circle for radius in (0.4, 0.3, 0.2, 0.1)]
    return np.vstack(rings) + [-0.5, 0.5], np.repeat(np.arange(4), 250)


def _banana(rng: np.random.RandomState) -> tuple[NDArray, NDArray]:
    """Scatter points around two half ellipses, one open below and one open above."""
    upper = _arc(rng, centre=(0.406, 0.502), axes=(0.21, 0.37))
    lower = _arc(rng, centre=(0.619, 0.743), axes=(0.25, -0.51))
    return np.vstack([upper, lower]), np.repeat([0, 1], POINTS_PER_CLASS)


def _arc(rng: np.random.RandomState, centre: tuple[float, float], axes: tuple[float, float]) -> NDArray:
    angle = rng.uniform(0, np.pi, POINTS_PER_CLASS)
    curve = np.column_stack([np.cos(angle), np.sin(angle)]) * axes + centre
    return curve + rng.normal(0, 0.018, curve.shape)


SHAPES: dict[str, Callable[[np.random.RandomState], tuple[NDArray, NDArray]]] = {
    "two_spirals": _two_spirals,
    "banana": _banana,
    "dartboard": _dartboard,
}
