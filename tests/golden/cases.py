"""What the golden record holds: selections of every selector, and what the command line reads and selects."""

from __future__ import annotations

import contextlib
import csv
import inspect
import io
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import ufselect
from ufselect.cli import main

NASTY = Path(__file__).resolve().parents[3] / "shared" / "nasty"
RECORD = Path(__file__).with_name("record.json")
SCORE_TOLERANCE = 1e-4  # relative to the largest score
SMALL: dict[str, dict[str, Any]] = {  # settings with which a fit takes some milliseconds
    "DSCOFS": {"max_iter": 10},
    "ConstrainedDSCOFS": {"n_components": 2, "max_iter": 20},
    "SOGFS": {"n_clusters": 2, "n_components": 2, "max_iter": 3},
    "UDFS": {"n_clusters": 2, "max_iter": 5},
    "NDFS": {"max_iter": 10},
    "RUFS": {"max_iter": 10},
    "RNE": {"max_iter": 5, "n_components": 3},
    "TSFS": {"max_iter": 1, "hidden": 4},
    "SPCAFS": {"max_iter": 10},
    "SPCAPSD": {"max_iter": 10},
    "BSUFS": {"max_iter": 10},
    "AutoSelector": {"n_clusters": 2, "max_samples": 30},
}


def selectors() -> dict[str, Callable[..., Any]]:
    """Return the selectors among the public names that can run here."""
    public = {name: getattr(ufselect, name) for name in ufselect.__all__}
    found = {
        name: each
        for name, each in public.items()
        if inspect.isclass(each)
        and issubclass(each, ufselect.UnsupervisedSelector)
        and not inspect.isabstract(each)
    }
    return {**found, "StableSelector": partial(ufselect.StableSelector, ufselect.PCALeverage(4), 10)}


def _structured(rng: np.random.Generator, n: int, d: int, rank: int = 3, noise: float = 0.2) -> np.ndarray:
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + noise * rng.standard_normal(
        (n, d)
    )


def tables() -> dict[str, np.ndarray]:
    """Return tables of different kinds by name."""
    rng = np.random.default_rng(11)
    copies = _structured(rng, 30, 10)
    copies[:, [3, 7]] = copies[:, [1, 2]]
    constant = _structured(rng, 30, 10)
    constant[:, [0, 5]] = 3.25
    blobs = np.repeat(4 * rng.standard_normal((3, 12)), 14, axis=0) + rng.standard_normal((42, 12))
    thin = np.where(rng.random((40, 14)) < 0.3, rng.standard_normal((40, 14)), 0.0)
    return {
        "low rank": _structured(rng, 40, 12),
        "noise": rng.standard_normal((30, 10)),
        "wide": _structured(rng, 14, 36),
        "copies": copies,
        "constant columns": constant,
        "blobs": blobs,
        "integers": rng.integers(0, 5, (30, 9)).astype(float),
        "thin": thin,
        "shifted": _structured(rng, 30, 10) + 1e4 * rng.standard_normal(10),
        "huge": 1e140 * _structured(rng, 30, 10),
        "iris": load_iris().data[::3],
        "wine": load_wine().data[::4],
        "cancer": load_breast_cancer().data[::12, :20],
        "digits": load_digits().data[::30, 8:40],
    }


def _frame(X: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])


def _dask(X: np.ndarray) -> Any:
    import dask.array as da

    return da.from_array(X, chunks=(len(X) // 2, -1))


CONTAINERS: dict[str, Callable[[np.ndarray], Any]] = {
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_array,
    "pandas": _frame,
    "dask": _dask,
}


def settings(X: np.ndarray) -> Iterator[tuple[str, Callable[[np.ndarray], Any], dict, dict]]:
    """Yield what is tried with one table: a name, a container, parameters and arguments of ``fit``."""
    names = [f"f{j}" for j in range(X.shape[1])]
    for name, container in CONTAINERS.items():
        yield name, container, {}, {}
    yield (
        "constraints",
        _frame,
        {"keep": [names[1]], "exclude": names[-2:], "feature_groups": {"g": names[3:5]}},
        {},
    )
    yield "max_correlation", np.asarray, {"max_correlation": 0.8}, {}
    missing = np.where(np.random.default_rng(3).random(X.shape) < 0.06, np.nan, X)
    yield "missing", lambda _: missing, {}, {}
    weights = 1.0 + np.arange(len(X)) % 3
    yield "weights", np.asarray, {}, {"sample_weight": weights}
    yield "batches", np.asarray, {}, {"batch": np.arange(len(X)) % 2}


# Every table is fitted as an array; these also in other ways. Slow methods take a third of them.
IN_OTHER_WAYS = ("noise", "wide", "blobs", "thin")
SLOW = ("AutoSelector", "ConstrainedDSCOFS", "SOGFS", "StableSelector", "TSFS")


def fit(
    selector: Callable[..., Any], X: Any, parameters: dict[str, Any], arguments: dict[str, Any]
) -> dict[str, Any] | str:
    """Return ranking, support and scores, or the kind of error that refuses the data."""
    known = inspect.signature(selector).parameters
    if not parameters.keys() <= known.keys():
        return "no such parameter"
    always = {"n_features_to_select": 4, "random_state": 0}
    always = {name: always[name] for name in always.keys() & known.keys()}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            fitted = selector(**always, **parameters).fit(X, **arguments)
        except (TypeError, ValueError) as error:
            return type(error).__name__
    return {
        "ranking": fitted.ranking_.tolist(),
        "support": np.flatnonzero(fitted.support_).tolist(),
        "scores": [float(f"{score:.5g}") for score in fitted.scores_],
    }


def selections(name: str) -> dict[str, Any]:
    """Return the selections of one selector by table and, after a slash, the way it is given."""
    selector, small, found = selectors()[name], SMALL.get(name, {}), {}
    chosen = list(tables().items())[2 if name in SLOW else 0 :: 3 if name in SLOW else 1]
    for table, X in chosen:
        found[table] = fit(selector, X, small, {})
        if table in IN_OTHER_WAYS:
            for way, container, parameters, arguments in settings(X):
                outcome = fit(selector, container(X), {**small, **parameters}, arguments)
                if isinstance(outcome, dict):
                    del outcome["scores"]
                found[f"{table} / {way}"] = outcome
    return found


def command_line(path: Path) -> dict[str, Any]:
    """Return how ``ufselect select`` ends with a file: the columns selected, their order, and their roles."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        ranking = Path(folder, "ranking.tsv")
        line = ["ufselect", "select", str(path), "-k", "3", "--json", "--ranking", str(ranking)]
        out = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(patch.object(sys, "argv", line))
        warnings.simplefilter("ignore")
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        if code:
            return {"exit code": code}
        record = json.loads(out.getvalue())
        with ranking.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file, delimiter="\t") if row["rank"]]
    data = record["data"]
    return {
        "exit code": code,
        "selected": [feature["name"] for feature in record["result"]["features"]],
        "ranked": [row["column"] for row in rows][:12],
        "shape": [data["n_samples"], data["n_features"]],
        "id": data["id_column"],
        "labels": data["label_column"],
        "left out": [column["name"] for column in data["left_out"]],
        "scaling": record["scaling"]["used"],
    }


def close(scores: list[float], expected: list[float], tolerance: float) -> bool:
    """Return whether scores are equal up to a share of the largest."""
    return bool(np.allclose(scores, expected, rtol=0, atol=tolerance * np.abs(expected).max(initial=0)))
