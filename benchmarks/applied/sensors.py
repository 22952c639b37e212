"""Few pixels instead of all: the faces of scikit-image's ``lfw_subset``, compared with PySensors."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ufselect import DSCOFS, GreedyProjection, PCALeverage, ReconstructionSelector
from ufselect.reconstruct.ridge import component_errors, held_out_error

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


def pysensors_fit(train: np.ndarray, count: int) -> Any:
    """Return PySensors' model of centred faces, with as many modes as sensors; the modes are exact."""
    n_modes = min(count, min(train.shape) - 1)
    basis = import_module("pysensors.basis").SVD(n_basis_modes=n_modes, algorithm="arpack", random_state=0)
    model = import_module("pysensors.reconstruction").SSPOR(basis=basis, n_sensors=count)
    return model.fit(train - train.mean(axis=0), quiet=True)


def pysensors_error(train: np.ndarray, test: np.ndarray, count: int) -> float:
    """Return the error of PySensors' own maps from its sensors to all pixels: the better of its two."""
    model = pysensors_fit(train, count)
    rows = test - train.mean(axis=0)
    measured = rows[:, model.get_selected_sensors()]
    found = [model.predict(measured, method=method) for method in (None, "unregularized")]
    return float(min(np.linalg.norm(each - rows) for each in found) / np.linalg.norm(rows))


def measure() -> dict[str, dict]:
    """Return errors against the number of pixels, on held-out faces."""
    return {"sensors": against_counts(load())}


def against_counts(faces: np.ndarray) -> dict:
    """Return ‖X − X̂‖ / ‖X − mean‖ for numbers of pixels."""
    splits = [tuple(faces[part] for part in split(len(faces), seed)) for seed in range(N_SPLITS)]

    def by(choose: Callable) -> list[list[float]]:
        return [[held_out_error(train, test, choose(train, c)) for train, test in splits] for c in COUNTS]

    def selected(make: Callable) -> list[list[float]]:
        return by(lambda train, count: np.flatnonzero(make(count).fit(train).get_support()))

    draws = {count: list(random_columns(faces.shape[1], count, N_DRAWS)) for count in COUNTS}
    table = Table([f"{count} pixels" for count in COUNTS], [3] * len(COUNTS))
    floor = [component_errors(train, test, COUNTS) for train, test in splits]
    table.add("PCA of all pixels, as many components", "no", *np.transpose(floor))
    drawn = [
        [held_out_error(train, test, draw) for draw in draws[count] for train, test in splits]
        for count in COUNTS
    ]
    table.add("random pixels", "no", *drawn)
    for name, make in {
        "PCALeverage": PCALeverage,
        "DSCOFS": DSCOFS,
        "GreedyProjection": lambda count: GreedyProjection(count, target="features"),
        "ReconstructionSelector": ReconstructionSelector,
    }.items():
        table.add(name, "no", *selected(make))
    table.add(
        "PySensors: QR, the same map",
        "no",
        *by(lambda train, count: pysensors_fit(train, count).get_selected_sensors()),
    )
    own = [[pysensors_error(train, test, count) for train, test in splits] for count in COUNTS]
    table.add("PySensors: QR, its own map", "no", *own)
    return table.record()
