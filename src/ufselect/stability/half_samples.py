"""Fits of a selector to complementary halves of the rows: drawn, run, kept and taken up again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ufselect.common.orphans import EndingWithParent

SEED_LIMIT = 2**31 - 1  # what every random_state takes


@dataclass(frozen=True)
class HalfFit:
    """What one half of the rows selects.

    Attributes
    ----------
    index : int
        Number of the half-sample; 2k and 2k + 1 are the halves of pair k.
    support : ndarray of bool
        The features selected.
    place : ndarray
        Place of each feature in the order of the fit from 0 for the best to 1, or ½ for all without an order.
    """

    index: int
    support: NDArray
    place: NDArray


@dataclass(frozen=True)
class Experiment:
    """Everything that a half-sample's fit depends on.

    Attributes
    ----------
    selector : estimator
        What is fitted; cloned, never changed.
    X, y : data and optional target
        All rows.
    row_parameters : mapping
        Arguments of ``fit`` with one entry a row, sliced with them.
    n_samples : int
        Number of rows.
    entropy : int
        Seed of everything random.
    """

    selector: Any
    X: Any
    y: Any
    row_parameters: Mapping[str, Any]
    n_samples: int
    entropy: int

    def fingerprint(self) -> str:
        """Return a digest of selector, data and seed: equal digests give equal fits."""
        return joblib.hash([clone(self.selector), self.entropy, self.X, self.y, dict(self.row_parameters)])

    def rows(self, index: int) -> NDArray:
        """Return the rows of a half-sample in order; the odd one out of an odd number is in neither half."""
        half = self.n_samples // 2
        shuffled = self._generator(index // 2, 0).permutation(self.n_samples)
        return np.sort(shuffled[:half] if index % 2 == 0 else shuffled[half : 2 * half])

    def run(self, index: int) -> HalfFit:
        """Fit a clone with a seed of its own to a half-sample."""
        rows = self.rows(index)
        fitted = with_seed(clone(self.selector), int(self._generator(index, 1).integers(SEED_LIMIT)))
        arguments = {name: _safe_indexing(values, rows) for name, values in self.row_parameters.items()}
        y = () if self.y is None else (_safe_indexing(self.y, rows),)
        fitted.fit(_safe_indexing(self.X, rows), *y, **arguments)
        support = np.asarray(fitted.get_support())
        return HalfFit(index, support, _place(fitted, support.size))

    def _generator(self, index: int, purpose: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=(purpose, index)))


def with_seed(selector: Any, seed: int) -> Any:
    """Set every ``random_state`` of a selector and of what it contains."""
    names = [name for name in selector.get_params() if name.split("__")[-1] == "random_state"]
    return selector.set_params(**dict.fromkeys(names, seed))


def _place(fitted: Any, n_features: int) -> NDArray:
    """Return the order of a fit as numbers from 0 to 1."""
    ranking = getattr(fitted, "ranking_", None)
    if ranking is None or np.shape(ranking) != (n_features,):
        return np.full(n_features, 0.5, dtype=np.float32)
    return ((np.asarray(ranking) - 1) / max(n_features - 1, 1)).astype(np.float32)


@dataclass
class FitStore:
    """Fits made so far, in memory and, with a folder, on disk, one file each.

    Attributes
    ----------
    fingerprint : str
        Of the experiment that they belong to.
    folder : Path or None
        Where files are kept.
    fits : dict
        By the number of the half-sample.
    """

    fingerprint: str
    folder: Path | None = None
    fits: dict[int, HalfFit] = field(default_factory=dict)

    def add(self, fit: HalfFit) -> None:
        """Keep a fit; its file appears whole or not at all."""
        self.fits[fit.index] = fit
        if self.folder is None:
            return
        path = self.folder / f"half_{fit.index:05d}.npz"
        partial = path.with_suffix(f".{os.getpid()}.part")
        with partial.open("wb") as file:
            np.savez_compressed(file, support=fit.support, place=fit.place)
        partial.replace(path)

    def load(self) -> None:
        """Take in what an earlier run has left in the folder."""
        assert self.folder is not None
        for path in sorted(self.folder.glob("half_*.npz")):
            index = int(path.stem.split("_")[1])
            try:
                with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                    self.fits[index] = HalfFit(index, stored["support"], stored["place"])
            except Exception as error:  # damaged bytes lead to errors of any type
                raise ValueError(f"{path} is damaged; delete it, and its fit is made again.") from error


def stored_entropy(folder: Path) -> int | None:
    """Return the seed of the run that a folder belongs to, None for a new folder."""
    stored = _manifest(folder)
    return None if stored is None else int(stored["entropy"])


def _manifest(folder: Path) -> dict[str, Any] | None:
    """Return what a folder says of the run that it belongs to, None for a new folder.

    Raises
    ------
    ValueError
        If it is damaged.
    """
    path = folder / "experiment.json"
    if not path.exists():
        return None
    try:
        stored = json.loads(path.read_text())
        return {"fingerprint": str(stored["fingerprint"]), "entropy": int(stored["entropy"])}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged; delete its folder or give another path.") from error


def open_store(folder: Path, experiment: Experiment) -> FitStore:
    """Open a folder for an experiment, with what is there already.

    Raises
    ------
    ValueError
        If the folder belongs to other data, another selector or another seed.
    """
    stored, fingerprint = _manifest(folder), experiment.fingerprint()
    if stored is not None:
        if stored["fingerprint"] != fingerprint:
            raise ValueError(
                f"{folder} holds half-samples of other data, another selector or another seed; "
                "give another path or delete it."
            )
    else:
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f"experiment.{os.getpid()}.part"
        partial.write_text(json.dumps({"fingerprint": fingerprint, "entropy": experiment.entropy}))
        partial.replace(folder / "experiment.json")
    store = FitStore(fingerprint, folder)
    store.load()
    return store


def run_missing(
    experiment: Experiment,
    store: FitStore,
    n_resamples: int,
    n_jobs: int | None,
    report: Callable[[int], None],
) -> list[HalfFit]:
    """Make the fits that a store lacks, and return the first ``n_resamples`` in order."""
    todo = [index for index in range(n_resamples) if index not in store.fits]
    done = n_resamples - len(todo)
    for fit in _results(experiment, todo, n_jobs):
        store.add(fit)
        done += 1
        report(done)
    return [store.fits[index] for index in range(n_resamples)]


def _results(experiment: Experiment, todo: list[int], n_jobs: int | None) -> Iterator[HalfFit]:
    run = EndingWithParent(experiment.run)
    jobs = (delayed(run)(index) for index in todo)
    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs)
