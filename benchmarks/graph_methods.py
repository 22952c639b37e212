"""LaplacianScore, RNE and SOGFS against the original programs: CPU seconds of one thread.

Run with ``python benchmarks/graph_methods.py``. The seconds of the originals are constants: those of the
authors' MATLAB programs under GNU Octave on one thread. Beside them stands the same computation
transcribed to NumPy, run here and cut off after two minutes; ``--quick`` leaves it out. Objectives are lower
for better: that of RNE at the end, that of SOGFS's projection for the initial graph, which is the same for
both. scikit-feature's Laplacian score is run too where it is installed
(``pip install --no-deps skfeature-chappers``). ``--large`` scores 100,000 samples and reports the memory.
"""

from __future__ import annotations

import argparse
import resource
import warnings
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from common import Case, against_originals, cpu_seconds, load, print_table
from threadpoolctl import threadpool_limits

from ufselect.graphs import nearest_neighbors
from ufselect.methods._sets import project_simplex
from ufselect.methods.laplacian_score import LaplacianScore
from ufselect.methods.rne import RNE, lle_weights
from ufselect.methods.sogfs import SOGFS, adaptive_weights

ORIGINAL_SECONDS = {
    ("LapScore", "isolet"): 0.3,
    ("RNE", "isolet"): 11.4,
    ("RNE", "coil20"): 24.0,
    ("SOGFS", "isolet"): 60.0,  # not finished by then
    ("SOGFS", "umist"): 31.0,
}
N_SELECTED = 100
N_NEIGHBORS = 5
TIME_LIMIT = 120.0
LARGE_SHAPE = (100_000, 200)
EPS = float(np.finfo(float).eps)

Objectives = Iterator[float]


def laplacian_score_transcribed(X: np.ndarray, m: int) -> Objectives:
    """Form all distances and dense matrices."""
    squared = _squared_distances(X)
    np.fill_diagonal(squared, np.inf)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :N_NEIGHBORS]
    distances = np.take_along_axis(squared, nearest, axis=1)
    W = np.zeros_like(squared)
    np.put_along_axis(W, nearest, np.exp(-distances / (2 * np.mean(np.sqrt(distances)) ** 2)), axis=1)
    W = np.maximum(W, W.T)
    D = W.sum(axis=1)
    centred = X - D @ X / D.sum()
    scores = 1 - np.einsum("ij,ij->j", centred, W @ centred) / (D @ centred**2)
    yield float(np.mean(scores))


def rne_transcribed(X: np.ndarray, m: int) -> Objectives:
    """Make all 50 × 30 multiplications with dense matrices."""
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    R = X - lle_weights(X, nearest_neighbors(X, N_NEIGHBORS)[0]) @ X
    G = R.T @ R
    positive, negative = np.maximum(G, 0), np.maximum(-G, 0)
    H = np.random.default_rng(0).random((X.shape[1], N_SELECTED))
    M, Y, gamma, alpha = R @ H, np.zeros((X.shape[0], N_SELECTED)), 10.0, 1e3
    for _ in range(50):
        RM, RY = R.T @ M, R.T @ Y
        gain = gamma * np.maximum(RM, 0) + np.maximum(RY, 0)
        loss = gamma * np.maximum(-RM, 0) + np.maximum(-RY, 0) + EPS
        for _ in range(30):
            H = H / np.sqrt(np.sum(H**2, axis=0) + EPS)
            above = alpha * H + gain + gamma * (negative @ H)
            H = H * np.sqrt(above / (alpha * (H @ (H.T @ H)) + loss + gamma * (positive @ H)))
        images = R @ H
        T = images - Y / gamma
        M = np.sign(T) * np.maximum(np.abs(T) - 1 / gamma, 0)
        Y = Y + gamma * (M - images)
        gamma *= 1.1
        yield float(np.abs(images).sum() + alpha / 4 * np.sum((H.T @ H - np.eye(N_SELECTED)) ** 2))


def sogfs_transcribed(X: np.ndarray, m: int) -> Objectives:
    """Take full eigendecompositions of dense matrices; yield the objective for the initial graph."""
    X = X - X.mean(axis=0)
    X = X / np.linalg.norm(X, axis=0)
    n = X.shape[0]
    nearest, distances = nearest_neighbors(X, N_NEIGHBORS + 1)
    nearest = nearest[:, :N_NEIGHBORS]
    weights, regularisers = adaptive_weights(distances**2)
    r = rank_weight = regularisers.mean()
    S = np.zeros((n, n))
    np.put_along_axis(S, nearest, weights, axis=1)
    L = _laplacian(S)
    F = np.linalg.eigh(L)[1][:, :m]
    W, objective = _projection(L, X, m)
    yield objective
    for step in range(1, 51):
        to_f, to_x = _squared_distances(F), _squared_distances(X @ W)
        if step > 5:
            nearest = nearest_neighbors(X @ W, N_NEIGHBORS)[0]
        total = np.take_along_axis(to_x + rank_weight * to_f, nearest, axis=1)
        S = np.zeros((n, n))
        np.put_along_axis(S, nearest, project_simplex(-total / (2 * r)), axis=1)
        L = _laplacian(S)
        W, _ = _projection(L, X, m)
        values, vectors = np.linalg.eigh(L)
        if values[:m].sum() > 1e-9:
            rank_weight, F = 2 * rank_weight, vectors[:, :m]
        elif values[: m + 1].sum() < 1e-11:
            rank_weight /= 2
        elif step > 1:
            return
        yield objective


def _projection(L: np.ndarray, X: np.ndarray, m: int) -> tuple[np.ndarray, float]:
    M = X.T @ L @ X
    weights, last = np.ones(X.shape[1]), np.inf
    for _ in range(100):
        W = np.linalg.eigh(M + np.diag(weights))[1][:, :m]
        rows = np.sqrt(np.sum(W**2, axis=1) + EPS)
        weights = 0.5 / rows
        objective = float(np.trace(W.T @ M @ W) + rows.sum())
        if abs(last - objective) < 1e-6:
            break
        last = objective
    return W, objective


def _laplacian(S: np.ndarray) -> np.ndarray:
    S = (S + S.T) / 2
    return np.diag(S.sum(axis=0)) - S


def _squared_distances(points: np.ndarray) -> np.ndarray:
    norms = np.sum(points**2, axis=1)
    return np.maximum(norms[:, None] + norms - 2 * points @ points.T, 0)


CASES = {
    "LapScore": Case(
        lambda m: LaplacianScore(N_SELECTED),
        laplacian_score_transcribed,
        lambda s: float(-np.mean(s.scores_)),
    ),
    "RNE": Case(lambda m: RNE(N_SELECTED, random_state=0), rne_transcribed),
    "SOGFS": Case(
        lambda m: SOGFS(N_SELECTED, n_clusters=m, n_components=m),
        sogfs_transcribed,
        lambda s: s.objective_history_[0],
    ),
}


def against_scikit_feature() -> None:
    if find_spec("skfeature") is None:
        print("\nscikit-feature: skipped, not installed (pip install --no-deps skfeature-chappers)")
        return
    try:
        from skfeature.function.similarity_based.lap_score import lap_score
        from skfeature.utility.construct_W import construct_W
    except ImportError as error:
        print(f"\nscikit-feature: skipped, it does not import ({error})")
        return

    def theirs(X: np.ndarray, t: float) -> np.ndarray:
        W = construct_W(X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=5, t=t)
        return lap_score(X, W=W, mode="index")

    rows = []
    for name in ("lung_discrete", "usps", "umist", "coil20", "isolet"):
        X, _ = load(name)
        # The same kernel; but it also joins each sample to itself, which changes a few ranks.
        t = float(nearest_neighbors(X, N_NEIGHBORS)[1].mean())
        selector = LaplacianScore(N_SELECTED)
        ours_seconds = cpu_seconds(lambda s=selector, X=X: s.fit(X))
        their_seconds = cpu_seconds(lambda X=X, t=t: theirs(X, t), repeats=3)
        common = np.intersect1d(theirs(X, t)[:N_SELECTED], np.flatnonzero(selector.support_)).size
        rows.append([name, their_seconds, ours_seconds, their_seconds / ours_seconds, common])
    header = ["data", "scikit-feature s", "ufselect s", "ratio", f"common of first {N_SELECTED}"]
    print_table("Laplacian score against scikit-feature", header, rows)


def many_samples() -> None:
    X = np.random.default_rng(0).standard_normal(LARGE_SHAPE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = cpu_seconds(lambda: LaplacianScore(20).fit(X), repeats=1)
    extra = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    header = ["samples", "features", "CPU s", "data MB", "extra memory MB"]
    print_table("Laplacian score of many samples", header, [[*LARGE_SHAPE, seconds, X.nbytes / 2**20, extra]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out transcriptions and rivals")
    parser.add_argument("--large", action="store_true", help="score 100,000 samples, which takes minutes")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        if arguments.large:
            many_samples()
            return
        against_originals(CASES, ORIGINAL_SECONDS, TIME_LIMIT, quick=arguments.quick)
        if not arguments.quick:
            against_scikit_feature()


if __name__ == "__main__":
    main()
