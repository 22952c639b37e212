# ruff: noqa: T201
"""What every selector finds on many tables: record it before a change inside the package, compare it after.

    python -m tests.golden record FILE.npz
    python -m tests.golden compare FILE.npz [--only DSCOFS,FSPCA] [--table digits,wide]

``compare`` fits all cases again and prints each one that is not identical, under its gravest difference. It
exits with 1 if the type of an error, a support, a clustering or a ranking differs, or if cases of the record
were not run; not for other attributes, messages and warnings, nor for rounding (1e-6 of the largest entry).

Only public names are used, so that the script outlives a move of modules. Real tables are read from the
folder ``UFSELECT_DATA``, else from ``shared/data`` in a folder above; without it they are left out. A record
depends on processor and libraries: make it on the machine that compares, and do not commit it.
"""

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import dask
import dask.array
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs
from threadpoolctl import threadpool_limits

from ufselect import GraphClustering, MaxVariance, RebuildSelector, Reconstructor, StableSelector, dscofs_path
from ufselect.registry import all_selectors

# These see at most 300 × 120 of a table.
EXPENSIVE = {
    "AutoSelector", "ConstrainedDSCOFS", "GraphClustering", "PartitionSelector", "RNE", "SOGFS", "SPCAFS",
    "SPCAPSD", "StableSelector", "TSFS", "UDFS", "dscofs_path",
}  # fmt: skip
CONTAINER_TABLES = ("digits", "breast_cancer", "lung_discrete", "counts")
PARAMETER_TABLES = ("digits", "lung_discrete", "wide")
PARAMETERS = {
    "DSCOFS": [
        {"init": "graph"}, {"init": "random", "n_init": 3}, {"x_solver": "power"}, {"x_solver": "pencf"},
        {"entry_sparsity": None}, {"entry_sparsity": 0.5, "n_components": 4}, {"n_components": 4},
        {"n_components": 4, "x_solver": "pencf"}, {"n_features_to_select": 0.2},
        {"penalty_scale": "absolute", "mu_entry": 1.0}, {"n_components": 3, "max_iter": 5, "tol": 0.0},
    ],
    "ConstrainedDSCOFS": [{"n_components": 3}, {"entry_sparsity": 0.3}, {"init": "random", "n_init": 3}],
    "AutoSelector": [{"goal": "rebuild"}, {"candidates": "dscofs"}, {"n_clusters": 3}],
    "FSPCA": [{"refine": False}, {"n_components": 4}], "SPCAPSD": [{"gamma": 10.0, "eta": 0.1}],
    "SPCAFS": [{"p": 1.0}, {"gamma": 100.0}, {"n_components": 4}], "PCALeverage": [{"n_components": 4}],
    "LaplacianScore": [{"n_neighbors": 10}, {"bandwidth": 10.0}], "PartitionSelector": [{"n_clusters": 3}],
    "UDFS": [{"n_clusters": 4}, {"gamma": 0.01, "reg": 10.0}], "RNE": [{"alpha": 1.0}, {"n_components": 3}],
    "SOGFS": [{"n_clusters": 4}, {"p": 0.5, "n_components": 3}], "GraphClustering": [{"n_clusters": 3}],
    "GreedyProjection": [{"target": "features"}, {"n_components": 4}, {"min_distance": 3}],
    "RebuildSelector": [
        {"n_features_to_select": "auto"}, {"n_features_to_select": 1}, {"penalty": 0.0}, {"min_distance": 3},
        {"penalty": 0.1, "max_iter": 0},
    ], "DOptimalLeverage": [{"n_components": 4, "ridge": 0.1}],
}  # fmt: skip
# By gravity.
STATUSES = (
    "not run", "error changed", "support differs", "ranking differs", "attribute missing or added",
    "attribute differs", "message changed", "equal to rounding", "identical",
)  # fmt: skip
FAILURES = STATUSES[:4]


class DSCOFSGrid:
    """`dscofs_path` in the manner of an estimator."""

    def __init__(self, n_selected):
        self.counts, self.parameters = (n_selected, max(1, n_selected // 2)), {"n_components": 3}

    def get_params(self):
        return dict.fromkeys(["keep", "exclude", "groups", "max_correlation"])

    def set_params(self, **parameters):
        self.parameters |= parameters

    def fit(self, X, **details):
        path = dscofs_path(X, self.counts, (0.3, 0.6, None), **self.parameters, **details)
        for name in ("supports", "rankings", "scores", "objective", "n_iter", "converged", "n_components"):
            setattr(self, f"{name}_", getattr(path, name))


def estimators():
    """Return by name a function from the number of columns to an estimator."""
    return {name: kind for name, kind in all_selectors().items() if name != "TSFS" or find_spec("torch")} | {
        "StableSelector": lambda count: StableSelector(MaxVariance(count), n_resamples=10),
        "Reconstructor": lambda count: Reconstructor(MaxVariance(count)),
        "Reconstructor(RebuildSelector)": lambda count: Reconstructor(RebuildSelector(count)),
        "GraphClustering": lambda count: GraphClustering(),
        "dscofs_path": DSCOFSGrid,
    }


def tables():
    """Return the tables by name."""
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(60, 20)) * np.linspace(1, 2, 20)
    mixed = plain @ rng.normal(size=(20, 20))
    found = {
        "digits": load_digits().data[::4], "breast_cancer": load_breast_cancer().data,
        "wine": load_wine().data, "blobs": make_blobs(200, 15, centers=4, random_state=0)[0],
        "wide": rng.normal(size=(30, 150)) + rng.normal(size=(30, 1)),
        "constant": np.column_stack([plain, np.zeros((60, 2)), np.full((60, 3), [0.1, -7.25, 1e6])]),
        "duplicates": np.column_stack([mixed, mixed[:, :6], -mixed[:, 3:5], 2 * mixed[:, 7]]),
        "rank_one": np.outer(rng.normal(size=50), rng.normal(size=30)),
        "tiny": mixed * 1e-150, "huge": mixed * 1e150, "units": mixed * 10.0 ** np.linspace(-6, 6, 20),
        "far_mean": plain + 1e8 * (np.arange(20) == 4),
        "three_rows": rng.normal(size=(3, 25)), "all_equal": np.full((10, 12), 3.5),
        "counts": rng.poisson(0.05 + 2 * rng.random(2300) ** 8, size=(120, 2300)).astype(float),
    }  # fmt: skip
    above = [str(folder / "shared/data") for folder in Path(__file__).resolve().parents]
    folder = next(filter(os.path.isdir, [os.environ.get("UFSELECT_DATA", ""), *above]), "")
    for name, step in {"lung_discrete": 1, "usps": 3, "isolet": 5, "warppie10p": 2}.items():
        if (path := Path(folder, f"{name}.npz")).exists():
            found[name] = np.load(path)["X"][::step].astype(float)
    return found


def containers(X):
    """Return by name what holds the table, the parameters to set and the details of rows to fit with."""
    n, d = X.shape
    rng = np.random.default_rng(1)
    gaps = np.where(rng.random(X.shape) < 0.03, np.nan, X)
    weight = {"sample_weight": rng.uniform(0.5, 2, n) * (rng.random(n) > 0.1)}
    batch = {"batch": np.arange(n) % 3}
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(d)])
    lazy = dask.array.from_array(X, chunks=(-(-n // 4), d))
    stored = np.memmap(tempfile.TemporaryFile(), dtype=float, mode="w+", shape=X.shape)  # noqa: SIM115
    stored[:] = X
    keep, exclude, apart = {"keep": [d - 1, 2]}, {"exclude": [0, d // 2]}, {"max_correlation": 0.7}
    return {
        "float32": (X.astype(np.float32), {}, {}), "fortran": (np.asfortranarray(X), {}, {}),
        "csr": (sparse.csr_array(X), {}, {}), "frame": (frame, {}, {}), "dask": (lazy, {}, {}),
        "memmap": (stored, {}, {}), "nan": (gaps, {}, {}),
        "weight": (X, {}, weight), "batch": (X, {}, batch), "partial_fit": (X, {}, weight),
        "keep": (X, keep, {}), "exclude": (X, exclude, {}), "max_correlation": (X, apart, {}),
        "groups": (X, {"groups": [j // 3 for j in range(d)]}, {}),
        "wishes": (X, keep | exclude | apart | {"groups": [j // 2 for j in range(d)]}, {}),
        "frame names": (frame, {"keep": ["column 3", "column 4"], "exclude": ["column 1"]}, {}),
        "csr weight batch": (sparse.csr_array(X), {}, weight | batch),
        "csr wishes": (sparse.csr_array(X), keep | exclude, {}),
        "nan weight batch": (gaps, keep | exclude, weight | batch),
        "dask wishes": (lazy, keep | exclude | apart, weight),
    }  # fmt: skip


def cases(is_wanted):
    """Yield the name of each case, its estimator, the data and the details of rows."""
    for table, whole in tables().items():
        for name, make in estimators().items():
            kind = name.partition("(")[0]
            if not is_wanted(name, table):
                continue
            steps = [-(-size // most) for size, most in zip(whole.shape, (300, 120), strict=True)]
            X = whole[:: steps[0], :: steps[1]].copy() if kind in EXPENSIVE else whole
            fits = {"dense": (X, {}, {})}
            if table in CONTAINER_TABLES:
                fits |= containers(X)
            if table in PARAMETER_TABLES:
                fits |= {str(parameters): (X, parameters, {}) for parameters in PARAMETERS.get(name, ())}
            for fit, (data, parameters, details) in fits.items():
                estimator = make(max(2, min(30, X.shape[1] // 6)))
                known = estimator.get_params()
                within = "selector__" if "selector" in known else ""
                parameters = {f"{within}{parameter}": value for parameter, value in parameters.items()}
                if "random_state" in known:
                    parameters["random_state"] = 0
                has_way = fit != "partial_fit" or hasattr(estimator, "partial_fit")
                if has_way and parameters.keys() <= known.keys():
                    estimator.set_params(**parameters)
                    yield f"{name}|{table}|{fit}", estimator, data, details


def fitted(estimator, data, details, in_parts):
    """Fit, and return the fitted numbers, the warnings and the error as arrays by name."""
    found = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if in_parts:
                for rows in np.array_split(np.arange(len(data)), 3):
                    estimator.partial_fit(data[rows], **{key: value[rows] for key, value in details.items()})
            else:
                estimator.fit(data, **details)
            if isinstance(estimator, Reconstructor):
                found["rebuilt"] = estimator.inverse_transform(estimator.transform(data))
                found["score"] = estimator.score(data)
        except Exception as error:
            found |= {"error": type(error).__name__, "message": str(error)}
        # Parameters of the chosen method are not results, and reports hold times.
        for name in set(dir(estimator)) - {"best_params_", "report_"}:
            if name.endswith("_") and not name.startswith("_"):
                found |= flat(name, getattr(estimator, name, None))
    found["warnings"] = sorted({f"{each.category.__name__}: {each.message}" for each in caught})
    arrays = {name: np.asarray(value) for name, value in found.items()}
    arrays = {name: value.astype(str) if value.dtype == object else value for name, value in arrays.items()}
    return {name: value for name, value in arrays.items() if value.size <= 100_000}


def flat(name, value):
    """Return the numbers and texts in an attribute by name."""
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], dict):
        value = {key: [row.get(key) for row in value] for key in value[0]}
    if isinstance(value, dict):
        return {f"{name}.{key}": entry for key, inner in value.items() for entry in flat("", inner).values()}
    value = value.toarray() if sparse.issparse(value) else value
    entries = value if isinstance(value, (list, tuple)) else [value]
    is_plain = all(isinstance(entry, (bool, int, float, str, np.generic)) for entry in entries)
    return {name: value} if is_plain or isinstance(value, np.ndarray) else {}


def difference(old, new):
    """Return the largest difference of two arrays relative to the first one's largest entry."""
    is_float = old.dtype.kind == "f"
    if old.dtype != new.dtype or old.shape != new.shape:
        return np.inf
    if np.array_equal(old, new, equal_nan=is_float):
        return 0.0
    finite = np.isfinite(old) if is_float else np.zeros(old.shape, bool)
    if not np.array_equal(old[~finite], new[~finite], equal_nan=is_float):
        return np.inf
    scale = np.abs(old[finite]).max() or np.finfo(float).tiny
    return max(float(np.abs(new[finite] / scale - old[finite] / scale).max()), 1e-300)


def judged(old, new):
    """Return the status of a case and what differs."""
    found = {status: [] for status in STATUSES}
    for name in sorted(old.keys() | new.keys()):
        before, after = (each.get(name, np.asarray("none")) for each in (old, new))
        distance = difference(before, after)
        what = f"{name} {distance:.1e}"
        if distance == 0:
            continue
        if name in ("error", "message", "warnings"):
            kind = "error changed" if name == "error" else "message changed"
            what = f"{name} {str(before)[:150]} -> {str(after)[:150]}"
        elif name.startswith(("support", "labels")):
            kind = "support differs"
        elif name.startswith("ranking"):
            kind = "ranking differs"
        elif name not in old or name not in new:
            kind = "attribute missing or added"
            what = f"{name} {'added' if name in new else 'missing'}"
        else:
            kind = "equal to rounding" if distance <= 1e-6 else "attribute differs"
        found[kind].append(what)
    status = next((status for status in STATUSES if found[status]), "identical")
    return status, "; ".join(entry for entries in found.values() for entry in entries)


def main():
    """Record or compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__.split("\n")[0])
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of selectors, with commas")
    parser.add_argument("--table", type=lambda text: text.split(","), help="names of tables, with commas")
    options = parser.parse_args()
    is_compared = options.action == "compare"
    stored = np.load(options.file) if is_compared else {}
    record = {}
    for key in stored:
        case, attribute = key.split("::")
        record.setdefault(case, {})[attribute] = key

    def is_wanted(name, table):
        kind = name.partition("(")[0]
        return kind in (options.only or [kind]) and table in (options.table or [table])

    new, spent, before, statuses = {}, Counter(), Counter(), Counter()
    with threadpool_limits(1), dask.config.set(scheduler="sync"):
        for case, estimator, data, details in cases(is_wanted):
            name = case.partition("|")[0]
            start = time.process_time()
            result = fitted(estimator, data, details, case.endswith("partial_fit"))
            result["cpu"] = np.asarray(time.process_time() - start)
            new |= {f"{case}::{attribute}": value for attribute, value in result.items()}
            spent[name] += result.pop("cpu")
            status, what = "recorded", ""
            if is_compared:
                old = {attribute: stored[key] for attribute, key in record.pop(case, {}).items()}
                before[name] += old.pop("cpu", 0)
                status, what = judged(old, result) if old else ("not in the record", "")
            statuses[status] += 1
            if status not in ("recorded", "identical"):
                print(f"{case}: {status}: {what[:500]}", flush=True)
    for case in record:
        if is_wanted(*case.split("|")[:2]):
            statuses["not run"] += 1
            print(f"{case}: not run")
    if not is_compared:
        options.file.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(options.file, **new)
    for name, seconds in spent.most_common():
        print(f"{name:32s}{seconds:8.2f} s" + (f" (record {before[name]:.2f} s)" if is_compared else ""))
    print(f"{spent.total():.1f} s:", ", ".join(f"{n} {status}" for status, n in statuses.most_common()))
    unknown = {*(options.only or [])} - {name.partition("(")[0] for name in spent}
    sys.exit(f"No case for {sorted(unknown)}" if unknown else any(statuses[each] for each in FAILURES))


if __name__ == "__main__":
    main()
