"""How well the maps back reconstruct: ridge, kernel, auto, and rivals with their columns.

``python benchmarks/reconstruct_map.py FOLDER | python benchmarks/record.py reconstruct_map`` reads every .npz
of a folder, as ``reconstruct.py`` does, and prints means over the sets of

    ‖X − X̂‖ / ‖X − mean‖    on the 30 % of the rows that are held out,

two splits a set, for 20 and 50 columns, and 10 wavelengths of spectra. Ridge, kernel and auto have the same
columns of ReconstructionSelector. PySensors (``pip install python-sensors``) has its own columns, with as
many modes as columns, and either its own reconstruction or the ridge; the columns by CUR of skmatter (``pip
install skmatter``) and random columns have the ridge.

The half of a set is fixed by its name: the seven published sets, whose figures were known when the kernel map
was designed, and every set whose name has an even CRC-32 are development sets; the others are held out and
were evaluated once for the design of the map. The sets are those of ``reconstruct_sets.py``, the published
ones, and khan, nci60, pd_speech, tissues, breastcancer, nutrimouse and mfeat_* of ``labelled_sets.py``.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from zlib import crc32

import numpy as np
from common import print_table
from threadpoolctl import threadpool_limits

from reconstruct import data_sets, pysensors, random_errors, skmatter, split
from ufselect import ReconstructionSelector, Reconstructor
from ufselect.reconstruct.ridge import component_errors

PUBLISHED = ("coil20", "glioma", "isolet", "lung_discrete", "umist", "usps", "warppie10p")
SHOWN = {
    "as many principal components (need all columns)": "PCA",
    '`ReconstructionSelector`, **`regressor="auto"`**': "auto",
    '`ReconstructionSelector`, `regressor="kernel"`': "kernel",
    '`ReconstructionSelector`, `regressor="ridge"`': "ridge",
    'CUR of scikit-matter, `regressor="ridge"`': "CUR, ridge",
    'PySensors, `regressor="ridge"`': "PySensors, ridge",
    'random columns, `regressor="ridge"`': "random columns",
    "PySensors, its own reconstruction": "PySensors",
}
EXAMPLES = {
    "objects from 20 pixels": ("coil20", 20),
    "faces in many poses from 20 pixels": ("umist", 20),
    "fields seen from the air, 10 wavelengths": ("indianpines", 10),
    "sensors on a walking body, 20 of 90 values": ("daphnet", 20),
    "coffee spectra, 10 wavelengths": ("coffee_spectra", 10),
    "genes of tumours, 20": ("khan", 20),
    "genes of mice, 20": ("nutrimouse", 20),
}
SPECTRA = ("coffee", "coffee_spectra", "fermentation_spectra", "indianpines")


def half(name: str) -> str:
    """Return the half that a set belongs to: "development" or "held-out"."""
    return "development" if name in PUBLISHED or crc32(name.encode()) % 2 == 0 else "held-out"


def pysensors_error(train: np.ndarray, test: np.ndarray, count: int) -> float:
    """Return the error of PySensors' own columns and reconstruction."""
    mean = train.mean(axis=0)
    modes = min(count, min(train.shape) - 1)
    basis = import_module("pysensors.basis").SVD(n_basis_modes=modes, random_state=0)
    model = import_module("pysensors.reconstruction").SSPOR(basis=basis, n_sensors=count)
    model.fit(train - mean, quiet=True)
    rows = test - mean
    reconstructed = model.predict(rows[:, model.get_selected_sensors()])
    return float(np.linalg.norm(rows - reconstructed) / np.linalg.norm(rows))


def measure(X: np.ndarray, count: int) -> dict[str, float | str]:
    """Return the error of each map, mean of the splits."""
    found = defaultdict(list)
    for seed in range(2):
        train, test = split(X, seed)
        columns = ReconstructionSelector(count).fit(train).get_support(indices=True).tolist()
        ridge, auto = (Reconstructor(columns, name).fit(train) for name in ("ridge", "auto"))
        kernel = auto if auto.regressor_ == "kernel" else Reconstructor(columns, "kernel").fit(train)
        fits = {"ridge": ridge, "kernel": kernel, "auto": auto}
        for name, choose in (("PySensors, ridge", pysensors(min)), ("CUR, ridge", skmatter("CUR"))):
            fits[name] = Reconstructor(choose(train, count).tolist(), "ridge").fit(train)
        for name, fitted in fits.items():
            found[name].append(np.sqrt(max(1 - fitted.score(test), 0.0)))
        found["PySensors"].append(pysensors_error(train, test, count))
        found["PCA"].append(float(component_errors(train, test, [count])[0]))
        draws = random_errors(train, test, [count], 3, np.random.default_rng(seed))
        found["random columns"].append(draws.mean())
    return {name: round(float(np.mean(values)), 4) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the .npz files are")
    warnings.simplefilter("ignore")
    errors = {}
    with threadpool_limits(1):
        for name, X in data_sets(parser.parse_args().folder):
            counts = (10, 20, 50) if name in SPECTRA else (20, 50)
            errors[name] = {count: measure(X, count) for count in counts if count < X.shape[1]}
            print(name, errors[name], file=sys.stderr, flush=True)
    header, columns = [""], []
    for part in ("held-out", "development"):
        for count in (20, 50):
            of_part = [each[count] for name, each in errors.items() if half(name) == part and count in each]
            header.append(f"{len(of_part)} {part} sets: {count} columns")
            columns.append([short(np.mean([each[key] for each in of_part])) for key in SHOWN.values()])
    print_table("Maps", header, [*zip(SHOWN, *columns, strict=True)])
    rows = [
        [data, name, *(short(errors[name][count][key]) for key in ("ridge", "auto", "PCA"))]
        for data, (name, count) in EXAMPLES.items()
    ]
    print_table("Examples", ["data", "set", "linear", '`"auto"`', "as many principal components"], rows)


def short(error: float) -> str:
    """Return an error as it is written, without the zero before the point."""
    return f"{error:.3f}".lstrip("0")


if __name__ == "__main__":
    main()
