"""Few pixels instead of all: the faces of scikit-image's ``lfw_subset``, compared with PySensors.

The figures are shares of the variance of all pixels known on held-out faces, in per cent. PySensors runs as
in ``unseen.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.decomposition import PCA
from unseen import mapped, pysensors, pysensors_share, share

from ufselect import DSCOFS, GreedyProjection, PCALeverage, ReconstructionSelector

from .shared import Table, random_columns, split

N_FACES = 100  # the first half; the rest are pieces of background
SIDE = 25
COUNTS = (10, 20, 40)
N_SPLITS = 5
N_DRAWS = 20


def load() -> np.ndarray:
    """Return one row a face."""
    import skimage.data

    return skimage.data.lfw_subset()[:N_FACES].reshape(N_FACES, SIDE * SIDE).astype(float)


def measure() -> dict[str, dict]:
    """Return shares against the number of pixels, on held-out faces."""
    return {"sensors": against_counts(load())}


def against_counts(faces: np.ndarray) -> dict:
    """Return the shares for numbers of pixels."""
    splits = [tuple(faces[part] for part in split(len(faces), seed)) for seed in range(N_SPLITS)]

    def by(select: Callable) -> list[list[float]]:
        return [[mapped(train, test, select(train, c), "ridge") for train, test in splits] for c in COUNTS]

    def selected(make: Callable) -> list[list[float]]:
        return by(lambda train, count: np.flatnonzero(make(count).fit(train).get_support()))

    def by_components(train: np.ndarray, test: np.ndarray, count: int) -> float:
        model = PCA(count).fit(train)
        return share(train, test, [], model.inverse_transform(model.transform(test)))

    table = Table([f"{count} pixels" for count in COUNTS], [1] * len(COUNTS))
    components = [[by_components(train, test, c) for train, test in splits] for c in COUNTS]
    table.add("PCA of all pixels, as many components", "no", *components)
    drawn = [
        [
            mapped(*rows, draw, "ridge")
            for draw in random_columns(faces.shape[1], c, N_DRAWS)
            for rows in splits
        ]
        for c in COUNTS
    ]
    table.add("random pixels", "no", *drawn)
    for name, make in {
        "PCALeverage": PCALeverage,
        "DSCOFS": DSCOFS,
        "GreedyProjection": lambda count: GreedyProjection(count, target="features"),
        "ReconstructionSelector": ReconstructionSelector,
    }.items():
        table.add(name, "no", *selected(make))
    sensors = by(lambda train, count: pysensors(train, count).get_selected_sensors())
    table.add("PySensors: QR, the same map", "no", *sensors)
    own = [[pysensors_share(train, test, count) for train, test in splits] for count in COUNTS]
    table.add("PySensors: QR, its own map", "no", *own)
    return table.record()
