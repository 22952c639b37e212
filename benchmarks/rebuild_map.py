"""How well the maps back reconstruct: ridge, kernel, auto, PySensors, PCA and random columns.

``python benchmarks/rebuild_map.py FOLDER --half development --write FILE`` reads every .npz of a folder, as
``rebuild.py`` does, and prints the mean over its sets of

    ‖X − X̂‖ / ‖X − mean‖    on the 30 % of the rows that are held out,

two splits a set, for 20 and 50 columns, and 10 wavelengths of spectra. Ridge, kernel and auto have the same
columns of RebuildSelector. PySensors (``pip install python-sensors``) has its own columns and its own
reconstruction, with as many modes as columns. Random columns have the linear map.

The half of a set is fixed by its name: the seven published sets, whose figures were known when the kernel map
was designed, and every set whose name has an even CRC-32 are for development; the others are held out and
were looked at once. The sets are those of ``rebuild_sets.py``, the published ones, and khan, nci60,
pd_speech, tissues, breastcancer, nutrimouse and mfeat_* of ``labelled_sets.py``. ``--times`` prints the CPU
time of a fit at 2,000 rows in units of that with ridge instead.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from zlib import crc32

import numpy as np
from common import print_table
from rebuild import data_sets, random_errors, split
from threadpoolctl import threadpool_limits

from ufselect import RebuildSelector, Reconstructor
from ufselect.methods.rebuild.ridge import component_errors

PUBLISHED = ("coil20", "glioma", "isolet", "lung_discrete", "umist", "usps", "warppie10p")
SHOWN = {
    "PCA with as many components (needs all columns)": "PCA",
    '**`regressor="auto"`**': "auto",
    '`regressor="kernel"`': "kernel",
    '`regressor="ridge"`': "ridge",
    "random columns, ridge": "random columns",
    "PySensors 0.4.3, its own columns and reconstruction, as many modes": "PySensors",
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
    rebuilt = model.predict(rows[:, model.get_selected_sensors()])
    return float(np.linalg.norm(rows - rebuilt) / np.linalg.norm(rows))


def measure(X: np.ndarray, count: int) -> dict[str, float | str]:
    """Return the error of each map, mean of the splits, and how often auto has bent."""
    found = defaultdict(list)
    for seed in range(2):
        train, test = split(X, seed)
        columns = RebuildSelector(count).fit(train).get_support(indices=True).tolist()
        ridge, auto = (Reconstructor(columns, name).fit(train) for name in ("ridge", "auto"))
        is_bent = auto.regressor_ == "kernel"
        kernel = auto if is_bent else Reconstructor(columns, "kernel").fit(train)
        for name, fitted in (("ridge", ridge), ("kernel", kernel), ("auto", auto)):
            found[name].append(np.sqrt(max(1 - fitted.score(test), 0.0)))
        found["PySensors"].append(pysensors_error(train, test, count))
        found["PCA"].append(float(component_errors(train, test, [count])[0]))
        draws = random_errors(train, test, [count], 3, np.random.default_rng(seed))
        found["random columns"].append(draws.mean())
        found["bent"].append(float(is_bent))
    return {name: round(float(np.mean(values)), 4) for name, values in found.items()}


def print_times(folder: Path) -> None:
    """Print the CPU time of a fit at 2,000 rows with auto, over that with ridge; medians of five."""
    rows = []
    for name, X in data_sets(folder):
        if len(X) < 2000:
            continue
        for count in (20, 50):
            seconds = defaultdict(list)
            for _ in range(5):
                for regressor in ("ridge", "auto"):
                    started = time.process_time()
                    Reconstructor(RebuildSelector(count), regressor).fit(X[:2000])
                    seconds[regressor].append(time.process_time() - started)
            ridge, auto = (float(np.median(seconds[regressor])) for regressor in ("ridge", "auto"))
            cells = [f"{ridge:.3f}", f"{auto:.3f}", f"{auto / ridge:.1f}"]
            rows.append([f"{name}, {X.shape[1]} columns", count, *cells])
    print_table("CPU seconds of a fit at 2,000 rows", ["data", "selected", "ridge", "auto", "ratio"], rows)


def table_of(known: dict[str, dict]) -> dict[str, list]:
    """Return the means over the sets of both halves, as the guide shows them."""
    columns, cells = [""], [[name] for name in SHOWN]
    for part in ("held-out", "development"):
        for count in ("20", "50"):
            tables = [table[count] for table in known[part].values() if count in table]
            columns.append(f"{len(tables)} {part} sets: {count} columns")
            for row, key in zip(cells, SHOWN.values(), strict=True):
                row.append(f"{np.mean([table[key] for table in tables]):.3f}".lstrip("0"))
    return {"columns": columns, "rows": cells}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the .npz files are")
    parser.add_argument("--half", choices=("development", "held-out"), default="development")
    parser.add_argument("--write", type=Path, help="file for all figures, as JSON; a half is added to it")
    parser.add_argument("--times", action="store_true", help="time fits at 2,000 rows instead")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if arguments.times:
            print_times(arguments.folder)
            return
        figures = {}
        for name, X in data_sets(arguments.folder):
            if half(name) == arguments.half:
                counts = (10, 20, 50) if name in SPECTRA else (20, 50)
                figures[name] = {str(count): measure(X, count) for count in counts if count < X.shape[1]}
                print(name, figures[name], flush=True)
    maps = list(next(iter(figures.values()))["20"])
    for count in ("10", "20", "50"):
        tables = [table[count] for table in figures.values() if count in table]
        if not tables:
            continue
        worst = max(table["auto"] - table["ridge"] for table in tables)
        rows = [[name, f"{np.mean([table[name] for table in tables]):.3f}"] for name in maps]
        print_table(f"{count} columns, mean of {len(tables)} {arguments.half} sets", ["map", "error"], rows)
        print(f"largest rise of auto over ridge: {worst:.4f}")
    if arguments.write is not None:
        known = json.loads(arguments.write.read_text(encoding="utf-8")) if arguments.write.exists() else {}
        known[arguments.half] = figures
        if {"held-out", "development"} <= known.keys():
            known["table"] = table_of(known)
        arguments.write.write_text(json.dumps(known, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
