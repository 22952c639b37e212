"""Which pixels, and which frames, carry a sequence: a film made of pans over four pictures of scikit-image.

A window of 24 × 24 pixels goes across each picture, reduced to 64 rows, on a circle; the four scenes have
120, 60, 24 and 12 frames. Camera noise is added, a standard deviation of 2 % of the grey range. What the film
shows is known, so that a choice of frames can be checked: does every scene have one?
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.cluster import KMeans

from ufselect import DSCOFS, PCALeverage, RebuildSelector
from ufselect.methods.rebuild.ridge import component_errors, held_out_error

from .shared import Columns, Table, random_columns, split

PICTURES = ("camera", "coins", "moon", "page")
LENGTHS = (120, 60, 24, 12)
WINDOW = 24
HEIGHT = 64
NOISE = 0.02
COUNTS = (8, 16, 32)
N_SPLITS = 5


def film(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return one row a frame, and the scene of each."""
    import skimage.data
    from skimage.transform import resize

    rng = np.random.default_rng(seed)
    frames, scenes = [], []
    for scene, (name, length) in enumerate(zip(PICTURES, LENGTHS, strict=True)):
        picture = getattr(skimage.data, name)() / 255
        width = round(HEIGHT * picture.shape[1] / picture.shape[0])
        small = resize(picture, (HEIGHT, width), anti_aliasing=True)
        room = np.array(small.shape) - WINDOW
        for turn in np.linspace(0, 2 * np.pi, length, endpoint=False):
            row, column = np.rint(room * (1 + np.array([np.sin(turn), np.cos(turn)])) / 2).astype(int)
            frames.append(small[row : row + WINDOW, column : column + WINDOW].ravel())
            scenes.append(scene)
    return np.array(frames) + NOISE * rng.standard_normal((len(frames), WINDOW**2)), np.array(scenes)


def equidistant(n_frames: int, count: int) -> Columns:
    """Return the middles of so many equal parts of the film."""
    return ((np.arange(count) + 0.5) * n_frames / count).astype(int)


def nearest_to_centres(frames: np.ndarray, count: int) -> Columns:
    """Return the frame nearest to each centre of K-means: a usual rule for key frames."""
    centres = KMeans(count, n_init=10, random_state=0).fit(frames)
    return np.unique(centres.transform(frames).argmin(axis=0))


def measure() -> dict[str, dict]:
    """Return the table of pixels and that of frames."""
    frames, scenes = film()
    return {"frames, pixels": pixels(frames), "frames, key frames": key_frames(frames, scenes)}


def pixels(frames: np.ndarray) -> dict:
    """Return the error of rebuilding frames left out from few pixels."""
    splits = [tuple(frames[part] for part in split(len(frames), seed)) for seed in range(N_SPLITS)]
    table = Table([f"{count} pixels" for count in COUNTS], [3] * len(COUNTS))
    floor = [component_errors(train, test, COUNTS) for train, test in splits]
    table.add("PCA of all pixels, as many components", "no", *np.transpose(floor))
    drawn = [
        [held_out_error(*part, draw) for draw in random_columns(frames.shape[1], count) for part in splits]
        for count in COUNTS
    ]
    table.add("random pixels", "no", *drawn)
    for selector in (PCALeverage, DSCOFS, RebuildSelector):
        errors = [
            [held_out_error(train, test, selector(c).fit(train).get_support(True)) for train, test in splits]
            for c in COUNTS
        ]
        table.add(selector.__name__, "no", *errors)
    return table.record()


def key_frames(frames: np.ndarray, scenes: np.ndarray) -> dict:
    """Return the error of rebuilding all frames from a few, on pixels left out, and the scenes among them.

    Frames are the columns here and pixels the rows.
    """
    splits = [split(frames.shape[1], seed) for seed in range(N_SPLITS)]
    film_of_pixels = frames.T

    def judged(choose: Callable, count: int) -> tuple[list[float], list[float]]:
        errors, seen = [], []
        for train, test in splits:
            chosen = choose(film_of_pixels[train], count)
            errors.append(held_out_error(film_of_pixels[train], film_of_pixels[test], chosen))
            seen.append(np.unique(scenes[chosen]).size)
        return errors, seen

    def by(selector: Callable) -> list[Callable]:
        return [lambda X, count: selector(count).fit(X).get_support(True)]

    draws = {count: list(random_columns(len(frames), count)) for count in COUNTS}
    figures = [f"{count} frames" for count in COUNTS] + [f"scenes of {len(PICTURES)}, {COUNTS[0]} frames"]
    table = Table(figures, [3] * len(COUNTS) + [1])
    for name, choosers in {
        "random frames": [lambda _, count, s=s: draws[count][s] for s in range(len(draws[COUNTS[0]]))],
        "equidistant": [lambda X, count: equidistant(X.shape[1], count)],
        "nearest to the centres of K-means": [lambda X, count: nearest_to_centres(X.T, count)],
        "PCALeverage": by(PCALeverage),
        "DSCOFS": by(DSCOFS),
        "RebuildSelector": by(RebuildSelector),
    }.items():
        found = [[judged(choose, count) for choose in choosers] for count in COUNTS]
        errors = [[error for values, _ in cell for error in values] for cell in found]
        table.add(name, "no", *errors, [scene for _, values in found[0] for scene in values])
    return table.record()
