"""Compare the CPU time of DSCOFS with PCA, the authors' program, fastcan, SparsePCA and abess.

    python benchmarks/core.py [--quick] | python benchmarks/record.py core

All run in one process with one BLAS thread, except the authors' program: its figures are those of one run
under GNU Octave. Rivals that are not installed are skipped (``pip install "ufselect[bench]"`` installs them),
and ``--quick`` leaves out those that take minutes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from common import (
    DATA_DIR,
    REAL_SETS,
    cpu_seconds,
    data_source,
    geometric_mean,
    load,
    print_table,
)
from sklearn.decomposition import PCA, SparsePCA
from threadpoolctl import threadpool_limits

from ufselect import DSCOFS

AUTHORS_ISOLET_OBJECTIVE = -9613.2  # these two of a run under GNU Octave, not repeated here
AUTHORS_ISOLET_SECONDS = 242.0


def against_pca() -> None:
    rows, default, tight = [], [], []
    for name in REAL_SETS:
        X, m = load(name)
        pca = cpu_seconds(lambda X=X, m=m: PCA(n_components=m).fit(X), repeats=15)
        early = DSCOFS(100, n_components=m)
        late = DSCOFS(100, n_components=m, tol=1e-7, max_iter=5000)
        t_early = cpu_seconds(lambda X=X, s=early: s.fit(X), repeats=15)
        t_late = cpu_seconds(lambda X=X, s=late: s.fit(X), repeats=10)
        default.append(t_early / pca)
        tight.append(t_late / pca)
        fits = (1e3 * t_early, default[-1], early.n_iter_, 1e3 * t_late, tight[-1], late.n_iter_)
        rows.append((name, 1e3 * pca, *fits))
    rows.append(("geometric mean", "", "", geometric_mean(default), "", "", geometric_mean(tight), ""))
    fit = ("fit ms", "ratio", "steps")
    header = ("data", "PCA ms", *fit, *(f"{column}, tol=1e-7" for column in fit))
    print_table("A fit of 100 features against scikit-learn's PCA(n_components=m)", header, rows)


def isolet_demonstration() -> None:
    reference = Path(DATA_DIR).parent / "reference" / "isolet_demo.npz"
    if not reference.exists():
        print("\nIsolet demonstration: skipped, the authors' starting point is not here.")
        return
    X, _ = load("isolet")
    with np.load(reference, allow_pickle=False) as stored:
        start = stored["start"]
    selector = DSCOFS(
        100,
        n_components=26,
        entry_sparsity=0.1,
        mu_row=1.0,
        mu_entry=1e6,
        penalty_scale="absolute",
        init=start,
    )
    seconds = cpu_seconds(lambda: selector.fit(X), repeats=3)
    reached = selector.objective_history_[-1]
    assert reached <= AUTHORS_ISOLET_OBJECTIVE
    rows = [
        ("authors' program", AUTHORS_ISOLET_SECONDS, AUTHORS_ISOLET_OBJECTIVE),
        ("ufselect", seconds, float(reached)),
    ]
    print_table("The authors' Isolet demonstration", ("program", "CPU s", "objective"), rows)


def against_rivals(quick: bool) -> None:
    X, m = load("isolet")

    def fastcan_pca() -> object:
        from fastcan import FastCan

        return FastCan(100, verbose=0).fit(X, PCA(m).fit_transform(X))

    def abess_single() -> object:
        from abess import SparsePCA as AbessPCA

        return AbessPCA(support_size=100).fit(X)

    rivals: list[tuple[str, str, Callable[[], object]]] = [
        ("fastcan, PCA targets", "fastcan", fastcan_pca),
        ("abess SparsePCA, one component", "abess", abess_single),
    ]
    if not quick:
        rivals.append(("scikit-learn SparsePCA", "sklearn", lambda: SparsePCA(m, random_state=0).fit(X)))
    ours = cpu_seconds(lambda: DSCOFS(100, n_components=m).fit(X))
    rows: list[tuple[object, ...]] = [("DSCOFS", ours, 1.0, ours, 1.0)]
    for name, package, run in rivals:
        if find_spec(package) is None:
            print(f"{name}: skipped, {package} is not installed.")
            continue
        seconds = cpu_seconds(run, repeats=1)
        with threadpool_limits(1):
            alone = cpu_seconds(run, repeats=1) if seconds < 10 else seconds
        rows.append((name, seconds, seconds / ours, alone, alone / ours))
    header = ("method", "CPU s", "times DSCOFS", "CPU s without OpenMP", "times DSCOFS without OpenMP")
    print_table("100 of 617 features on Isolet", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out rivals that take minutes")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    print(f"Measured on {data_source()}, one BLAS thread, CPU seconds.")
    with threadpool_limits(1, user_api="blas"):
        against_pca()
        isolet_demonstration()
        against_rivals(quick)


if __name__ == "__main__":
    main()
