"""UDFS, SPCAFS, FSPCA and SPCA-PSD against the original programs: CPU seconds of one BLAS thread.

Run with ``python benchmarks/spectral_methods.py``. The seconds of the originals are constants: those of the
authors' MATLAB programs under GNU Octave on one thread. Beside them stands the same computation
transcribed to NumPy, run here and cut off after a minute; ``--quick`` leaves it out. Objectives are those of
the method's own problem, lower is better. scikit-feature's UDFS is run too where it is installed
(``pip install --no-deps skfeature-chappers``).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from common import Case, against_originals, cpu_seconds, load, print_table
from scipy import linalg
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from ufselect.methods.fspca import FSPCA
from ufselect.methods.spcafs import SPCAFS
from ufselect.methods.spcapsd import SPCAPSD
from ufselect.methods.udfs import UDFS

ORIGINAL_SECONDS = {
    ("UDFS", "isolet"): 25.5,
    ("UDFS", "coil20"): 53.0,
    ("UDFS", "warppie10p"): 340.0,
    ("SPCAFS", "coil20"): 46.0,
    ("SPCAFS", "warppie10p"): 48.0,
    ("SPCA-PSD", "coil20"): 17.6,
    ("SPCA-PSD", "warppie10p"): 67.0,  # not finished by then
    ("FSPCA", "warppie10p"): 24.0,
    ("FSPCA", "glioma"): 145.0,
}
N_SELECTED = 100
TIME_LIMIT = 60.0
EPS = float(np.finfo(float).eps)

Objectives = Iterator[float]


def udfs_transcribed(X: np.ndarray, m: int) -> Objectives:
    n, d = X.shape
    neighbors = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X, return_distance=False)
    H = np.eye(6) - 1 / 6
    L = np.zeros((n, n))
    for members in neighbors:
        local = H @ X[members]
        L[np.ix_(members, members)] += H @ np.linalg.inv(local @ local.T + np.eye(6)) @ H
    M = X.T @ L @ X
    weights = np.ones(d)
    for _ in range(20):
        W = linalg.eigh(M + np.diag(weights))[1][:, :m]
        rows = np.sqrt(np.sum(W**2, axis=1) + EPS)
        weights = 0.5 / rows
        yield float(np.trace(W.T @ M @ W) + rows.sum())


def spcafs_transcribed(X: np.ndarray, m: int) -> Objectives:
    A = X - X.mean(axis=0)
    S = A.T @ A
    weights = np.ones(S.shape[0])
    previous = np.inf
    for _ in range(50):
        W = linalg.eigh(S - np.diag(weights))[1][:, -m:]
        squares = np.sum(W**2, axis=1) + EPS
        weights = 0.25 * squares**-0.75
        objective = float(-np.trace(W.T @ S @ W) + np.sum(squares**0.25))
        yield objective
        if abs(previous - objective) < 1e-6:
            return
        previous = objective


def spcapsd_transcribed(X: np.ndarray, m: int) -> Objectives:
    A = X - X.mean(axis=0)
    n, d = A.shape
    S = A.T @ A
    delta = 1e-3 if d < n else 1e-2
    rows = np.random.default_rng(0).random(d)
    previous = np.inf
    for _ in range(100):
        bound = S + np.diag(0.5 / np.sqrt(rows**2 + EPS) + delta)
        omega = linalg.solve(bound, S - 0.5 * np.eye(d), assume_a="pos")
        values, vectors = linalg.eigh((omega + omega.T) / 2)
        omega = (vectors * np.maximum(values, 0)) @ vectors.T
        rows = np.linalg.norm(omega, axis=1)
        objective = float(np.linalg.norm(A - A @ omega) ** 2 + rows.sum() + np.trace(omega))
        yield objective
        if abs(previous - objective) < 1e-5:
            return
        previous = objective


def fspca_transcribed(X: np.ndarray, m: int) -> Objectives:
    A = X - X.mean(axis=0)
    S = A.T @ A
    values, vectors = linalg.eigh(S)
    proxy = (vectors[:, -m:] * values[-m:]) @ vectors[:, -m:].T
    for _ in range(20):
        features = np.argsort(-np.diag(proxy), kind="stable")[:N_SELECTED]
        W = np.zeros((S.shape[0], m))
        W[features] = linalg.eigh(S[np.ix_(features, features)])[1][:, -m:]
        yield float(-np.trace(W.T @ S @ W))
        proxy = S @ W @ np.linalg.pinv(W.T @ S @ W) @ W.T @ S


CASES = {
    "UDFS": Case(lambda m: UDFS(N_SELECTED, n_clusters=m, max_iter=19, tol=0.0), udfs_transcribed),
    "SPCAFS": Case(lambda m: SPCAFS(N_SELECTED, n_components=m, tol=1e-12), spcafs_transcribed),
    "SPCA-PSD": Case(lambda m: SPCAPSD(N_SELECTED), spcapsd_transcribed),
    "FSPCA": Case(lambda m: FSPCA(N_SELECTED, n_components=m), fspca_transcribed),
}


def against_scikit_feature() -> None:
    if find_spec("skfeature") is None:
        print("\nscikit-feature: skipped, not installed (pip install --no-deps skfeature-chappers)")
        return
    from skfeature.function.sparse_learning_based.UDFS import udfs

    rows = []
    for name in ("lung_discrete", "usps"):
        X, m = load(name)
        selector = UDFS(N_SELECTED, n_clusters=m, tol=1e-4)  # their rule: a change below 1e-3
        ours = cpu_seconds(lambda s=selector, X=X: s.fit(X), repeats=3)
        theirs = cpu_seconds(lambda X=X, m=m: udfs(X, gamma=1.0, k=5, n_clusters=m, mode="raw"), repeats=1)
        rows.append([name, theirs, ours, theirs / ours])
    # Its M is not that of the method: each neighbourhood is replaced by those of the first six samples.
    print_table("UDFS against scikit-feature", ["data", "scikit-feature s", "ufselect s", "ratio"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out transcriptions and rivals")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        against_originals(CASES, ORIGINAL_SECONDS, TIME_LIMIT, quick=arguments.quick)
        if not arguments.quick:
            against_scikit_feature()


if __name__ == "__main__":
    main()
