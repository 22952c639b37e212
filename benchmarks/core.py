"""DSCOFS against PCA, fastcan, SparsePCA and abess: CPU seconds of one BLAS thread, in one process.

Run with ``python benchmarks/core.py``; rivals that are not installed are skipped with a reason
(``pip install "ufselect[bench]"``). ``--quick`` leaves out the slow rivals.
"""

from __future__ import annotations

import argparse
import tracemalloc
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
from scipy import sparse
from sklearn.decomposition import PCA, SparsePCA
from threadpoolctl import threadpool_limits

from ufselect import DSCOFS, dscofs_path

AUTHORS_ISOLET_OBJECTIVE = -9613.2
AUTHORS_ISOLET_SECONDS = 242.0


def against_pca() -> None:
    rows, default, settled = [], [], []
    for name in REAL_SETS:
        X, m = load(name)
        pca = cpu_seconds(lambda X=X, m=m: PCA(n_components=m).fit(X), repeats=15)
        early = DSCOFS(100, n_components=m)
        late = DSCOFS(100, n_components=m, tol=1e-7, max_iter=5000)
        t_early = cpu_seconds(lambda X=X, s=early: s.fit(X), repeats=15)
        t_late = cpu_seconds(lambda X=X, s=late: s.fit(X), repeats=10)
        default.append(t_early / pca)
        settled.append(t_late / pca)
        rows.append(
            (
                name,
                1e3 * pca,
                1e3 * t_early,
                default[-1],
                early.n_iter_,
                1e3 * t_late,
                settled[-1],
                late.n_iter_,
            )
        )
    rows.append(("geometric mean", "", "", geometric_mean(default), "", "", geometric_mean(settled), ""))
    header = ("data", "PCA ms", "fit ms", "ratio", "steps", "settled ms", "settled ratio", "settled steps")
    print_table("A fit of 100 features against scikit-learn's PCA(n_components=m)", header, rows)


def path_against_fits() -> None:
    rows, ratios = [], []
    counts, shares = range(10, 101, 10), [round(0.1 * k, 1) for k in range(1, 10)]
    for name in REAL_SETS:
        X, m = load(name)
        separate = cpu_seconds(
            lambda X=X, m=m: [
                DSCOFS(r, n_components=m, entry_sparsity=a).fit(X) for r in counts for a in shares
            ],
            repeats=1,
        )
        path = cpu_seconds(lambda X=X, m=m: dscofs_path(X, counts, shares, n_components=m), repeats=2)
        ratios.append(separate / path)
        rows.append((name, separate, path, separate / path))
    rows.append(("geometric mean", "", "", geometric_mean(ratios)))
    print_table(
        "dscofs_path on the 10 × 9 grid against 90 fits",
        ("data", "90 fits s", "path s", "times faster"),
        rows,
    )


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
    ours = cpu_seconds(lambda: DSCOFS(100, n_components=m).fit(X))
    rows: list[tuple[object, ...]] = [("DSCOFS", ours, 1.0, ours, 1.0)]
    for name, package, run in _rivals(X, m, quick):
        if find_spec(package) is None:
            print(f"{name}: skipped, {package} is not installed.")
            continue
        seconds = cpu_seconds(run, repeats=1)
        rows.append((name, seconds, seconds / ours))
        with threadpool_limits(1):
            alone = cpu_seconds(run, repeats=1) if seconds < 10 else seconds
        rows[-1] += (alone, alone / ours)
    print_table(
        "100 of 617 features on Isolet",
        ("method", "CPU s", "times DSCOFS", "no OpenMP either, CPU s", "times DSCOFS without it"),
        rows,
    )


def _rivals(X: np.ndarray, m: int, quick: bool) -> list[tuple[str, str, Callable[[], object]]]:
    def fastcan_pca() -> object:
        from fastcan import FastCan

        return FastCan(100, verbose=0).fit(X, PCA(m).fit_transform(X))

    def abess_single() -> object:
        from abess import SparsePCA as AbessPCA

        return AbessPCA(support_size=100).fit(X)

    rivals = [
        ("fastcan, PCA targets", "fastcan", fastcan_pca),
        ("abess SparsePCA, one component", "abess", abess_single),
    ]
    if not quick:
        rivals.append(("scikit-learn SparsePCA", "sklearn", lambda: SparsePCA(m, random_state=0).fit(X)))
    return rivals


def memory(quick: bool) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for title, shape in (("tall", (20_000, 500)), ("square", (2000, 2000)), ("wide", (400, 20_000))):
        X = rng.standard_normal(shape)
        rows.append(
            (
                f"dense {title} {shape[0]} × {shape[1]}",
                X.nbytes / 2**20,
                _peak(X) / 2**20,
                _peak(X) / X.nbytes,
            )
        )
    shape = (20_000, 4000) if quick else (100_000, 20_000)
    S = sparse.random_array(shape, density=0.01, format="csr", rng=rng)
    stored = S.data.nbytes + S.indices.nbytes + S.indptr.nbytes
    peak = _peak(S)
    rows.append((f"sparse {shape[0]} × {shape[1]}, 1 %", stored / 2**20, peak / 2**20, peak / stored))
    print_table("Peak extra memory of a fit (20 components)", ("data", "data MB", "extra MB", "ratio"), rows)


def _peak(X: object) -> int:
    tracemalloc.start()
    DSCOFS(100, n_components=20).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out rivals that take minutes")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    print(f"Measured on {data_source()}, one BLAS thread, CPU seconds.")
    with threadpool_limits(1, user_api="blas"):
        against_pca()
        path_against_fits()
        isolet_demonstration()
        against_rivals(quick)
        memory(quick)


if __name__ == "__main__":
    main()
