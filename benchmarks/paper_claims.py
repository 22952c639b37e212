"""The single figures that the pages on the method and on the paper state, each measured in one place.

For each of the seven data sets, with as many components as classes and 100 features:

- how many selected features stay when the proximal weight of the Y- and Z-steps is 0, and when the average
  with the last value is that of the exact proximal steps, (μX + τ last) / (μ + τ), where the paper drops μ;
- how many agree between the default tolerance and a settled run, and the accuracy of both;
- PCA leverage with the automatic number of components, with as many as classes, and at the best count.

Also the smallest eigenvalue of UDFS's matrix M beside its largest, which tells whether M has a null space,
and on how many of 20 draws of the synthetic sets DSCOFS finds the true features, with the variances of the
noise columns in either order.

On Isolet, the power step and PenCF over a part of the paper's grid (α = 0.1 and 0.5 with all 49 pairs of
penalties, 100 columns, one random start); on wide sets UDFS as its toolbox runs it; and what a little noise
changes in SOGFS. And how much of the variance 20 columns make known, beside 20 principal components.

``python benchmarks/paper_claims.py --write`` renews ``results/paper_claims.json``; without it the figures are
only printed. Names of parts as arguments measure these alone. UFSELECT_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest import mock

import joblib
import numpy as np
from common import REAL_SETS, code_version
from numpy.typing import NDArray
from record import tables
from scipy import linalg
from sklearn.decomposition import PCA
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import NearestNeighbors

# The folder above, for the paper's methods; run as a script, only the benchmarks' own is known.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.paper.choice import best
from benchmarks.paper.methods import paper_grid
from benchmarks.paper.printed import TITLES, published
from benchmarks.paper.race import Race

from ufselect import DSCOFS, SOGFS, UDFS, PCALeverage, ReconstructionSelector, Reconstructor
from ufselect._solver.reweighted import smoothness_quadratic
from ufselect._utils.threads import one_blas_thread
from ufselect.compare.methods import PAPER_COUNTS, Method, Protocol, make_problem, published_points
from ufselect.compare.runner import METRICS
from ufselect.datasets import load_dataset
from ufselect.datasets.shapes import SHAPES, among_noise
from ufselect.dscofs import algorithm
from ufselect.metrics import evaluate_selection
from ufselect.published.udfs import local_scatter_laplacian

RESULTS = Path(__file__).with_name("results") / "paper_claims.json"
COUNT = 100
N_DRAWS = 20
EPSILON = np.finfo(float).eps
SETTLED = {"tol": 1e-7, "max_iter": 1000}


def measure(name: str) -> dict[str, float]:
    """Return the figures of one data set."""
    bunch = load_dataset(name)
    X, y = bunch.data, bunch.target
    n_classes = len(np.unique(y))

    def accuracy(selector) -> float:
        return evaluate_selection(X, y, selector.support_, 50, "k-means++").acc_mean

    given = DSCOFS(COUNT, n_components=n_classes).fit(X)
    free = DSCOFS(COUNT, n_components=n_classes, tau=0.0).fit(X)
    with exact_proximal_steps(given):
        weighted = DSCOFS(COUNT, n_components=n_classes).fit(X)
    early, settled = DSCOFS(COUNT).fit(X), DSCOFS(COUNT, **SETTLED).fit(X)
    leverage = {m: PCALeverage(COUNT, n_components=m).fit(X) for m in ("auto", n_classes)}
    by_count = [
        evaluate_selection(X, y, leverage[n_classes].ranking_ <= count, 50, "k-means++").acc_mean
        for count in PAPER_COUNTS
    ]
    return {
        "same without proximal weight": int(np.sum(given.support_ & free.support_)),
        "same with exact proximal steps": int(np.sum(given.support_ & weighted.support_)),
        "same when settled": int(np.sum(early.support_ & settled.support_)),
        "ACC of defaults": accuracy(early),
        "ACC when settled": accuracy(settled),
        "ACC of PCA leverage, m auto": accuracy(leverage["auto"]),
        "ACC of PCA leverage, m classes": by_count[-1],
        "ACC of PCA leverage, m classes, best count": max(by_count),
    }


@contextmanager
def exact_proximal_steps(selector: DSCOFS) -> Iterator[None]:
    """Weigh X by its penalty in the averages of the Y- and Z-steps, which are made in turn."""
    memories = cycle((selector.tau / selector.mu_entry, selector.tau / selector.mu_row))
    average = algorithm.proximal_average
    with mock.patch.object(
        algorithm, "proximal_average", lambda X, last, _: average(X, last, next(memories))
    ):
        yield


def smallest_eigenvalue(name: str) -> float:
    """Return the smallest eigenvalue of UDFS's M for λ = 1, as a share of the largest."""
    X = load_dataset(name).data
    X = X - X.mean(axis=0)
    near = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X, return_distance=False)
    M = X.T @ (local_scatter_laplacian(X, near, 1.0) @ X)
    values = np.linalg.eigvalsh((M + M.T) / 2)
    return float(values[0] / values[-1])


def found_by_turn(kind: str) -> list[int]:
    """Return how often DSCOFS finds the true features, with the variances in either order."""
    solved = [0, 0]
    for draw in range(N_DRAWS):
        points, _ = SHAPES[kind](np.random.RandomState(draw))
        for turn in (0, 1):
            # With the true columns swapped the noise takes their moments in the other order.
            X = among_noise(points[:, ::-1] if turn else points, 7, np.random.RandomState(N_DRAWS + draw))
            solved[turn] += np.flatnonzero(DSCOFS(2).fit(X).support_).tolist() == [3, 4]
    return solved


def x_steps() -> dict[str, Any]:
    """Compare the X-steps over a part of the paper's grid on Isolet, from one random start."""
    bunch = load_dataset("isolet")
    problem = make_problem("isolet", bunch.data, bunch.target, [COUNT])
    grid = paper_grid(problem, 1)
    points = [point for point in grid.points if point["entry_sparsity"] in (0.1, 0.5)]
    methods = [
        replace(grid, key=step, points=tuple({**point, "x_solver": step} for point in points))
        for step in ("power", "pencf")
    ]
    outcome = Race(Protocol(), screening_runs=5).run(problem, methods)

    def by_point(step: str) -> dict[str, Any]:
        rows = [row for row in outcome.screened if row["method"] == step]
        return {row["params"].replace(f'"x_solver": "{step}"', ""): row for row in rows}

    power, pencf = by_point("power"), by_point("pencf")
    shared = [len({*power[key]["features"][0]} & {*pencf[key]["features"][0]}) for key in power]
    rows_by_step = []
    for label, step, rows in (("power step", "power", power), ("PenCF", "pencf", pencf)):
        means = [row["acc_mean"] for row in rows.values()]
        final = [row for row in outcome.rows if row["method"] == step]
        chosen = [f"{best(final, metric)[f'{metric}_mean']:.1f}" for metric in METRICS]
        rows_by_step.append([label, f"{np.mean(means):.1f} ± {np.std(means):.1f}", *chosen])
    both = f"{np.mean(shared):.0f} ({min(shared)}–{max(shared)})"
    columns = [
        "X-step",
        f"ACC, mean of {len(shared)} points",
        "best ACC",
        "best NMI",
        "columns shared, of 100",
    ]
    return {"columns": columns, "rows": [[*row, both] for row in rows_by_step], "code": code_version()}


def columns_and_components() -> dict[str, Any]:
    """Return the share of the variance known on held-out rows from 20 columns and from 20 components."""
    rows = []
    for name in REAL_SETS:
        X = load_dataset(name).data.astype(float)
        shares = []
        for train, test in ShuffleSplit(5, test_size=1 / 3, random_state=0).split(X):
            model, pca = Reconstructor(ReconstructionSelector(20)).fit(X[train]), PCA(20).fit(X[train])
            unknown = np.sum((X[test] - pca.inverse_transform(pca.transform(X[test]))) ** 2)
            known = 1 - unknown / np.sum((X[test] - X[train].mean(axis=0)) ** 2)
            shares.append((model.score(X[test]), known))
        cells = [
            f"{100 * np.mean(each):.1f} ± {100 * np.std(each):.1f}" for each in zip(*shares, strict=True)
        ]
        rows.append([TITLES[name], *cells])
        print(rows[-1], flush=True)
    return {
        "columns": ["data set", "20 columns", "20 principal components"],
        "rows": rows,
        "code": code_version(),
    }


LOWEST: dict[tuple[str, float], NDArray] = {}


def lowest_by_lapack(data_key: str, reg: float, m: int, make: Callable[[], NDArray]) -> NDArray:
    """Return the m lowest eigenvectors of M as LAPACK returns them, computed once for each λ."""
    if (data_key, reg) not in LOWEST:
        M = make()
        LOWEST[data_key, reg] = linalg.eigh((M + M.T) / 2, subset_by_index=(0, m - 1))[1]
    return LOWEST[data_key, reg]


class ToolboxUDFS(UDFS):
    """UDFS as its toolbox runs it: twenty steps, at first with whatever lowest eigenvectors LAPACK returns.

    On more than a thousand columns only the first step is by LAPACK, once for each λ, since the later ones
    have unique eigenvectors.
    """

    def _fit(self, X, request):
        data = X - X.mean(axis=0)
        near = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X, return_distance=False)
        laplacian, m = local_scatter_laplacian(data, near, self.reg), self.n_clusters
        if X.shape[1] <= 1000:
            M = data.T @ (laplacian @ data)
            weights = np.ones(len(M))
            for _ in range(20):
                W = np.linalg.eigh((M + M.T) / 2 + self.gamma * np.diag(weights))[1][:, :m]
                weights = 0.5 / np.sqrt((W**2).sum(axis=1) + EPSILON)
            return np.linalg.norm(W, axis=1), {}
        W = lowest_by_lapack(joblib.hash(X), self.reg, m, lambda: data.T @ (laplacian @ data))
        quadratic = smoothness_quadratic(data, laplacian)
        for _ in range(19):
            weights = 0.5 / np.sqrt((W**2).sum(axis=1) + EPSILON)
            W = quadratic.lowest(self.gamma * weights, m, W)[:, :m]
        return np.linalg.norm(W, axis=1), {}


def toolbox_udfs() -> dict[str, Any]:
    """Return the best figures of UDFS over the paper's grid with arbitrary eigenvectors."""
    lines = []
    stored = {
        metric: {(row[0], row[1]): row[3] for row in stored_table(f"{metric}_against_paper")["rows"]}
        for metric in METRICS
    }
    for name in ("lung_discrete", "umist", "warppie10p", "glioma"):
        bunch = load_dataset(name)
        problem = make_problem(name, bunch.data, bunch.target, PAPER_COUNTS)
        methods = [Method("toolbox", "toolbox", ToolboxUDFS, tuple(published_points(UDFS, problem)))]
        rows = Race(Protocol()).run(problem, methods).rows
        line = [TITLES[name]]
        for metric in METRICS:
            printed, ours = published(metric, name, "UDFS"), stored[metric][TITLES[name], "UDFS"]
            line += [
                f"{printed.mean:.1f}",
                f"{best(rows, metric)[f'{metric}_mean']:.1f}",
                f"{float(ours.split()[0]):.1f}",
            ]
        lines.append(line)
        print(line, flush=True)
    parts = [
        f"{metric.upper()}, {what}"
        for metric in METRICS
        for what in ("printed", "like the toolbox", "ufselect")
    ]
    return {"columns": ["Data set", *parts], "rows": lines, "code": code_version()}


def stored_table(name: str) -> dict[str, list]:
    """Return a table of the stored study."""
    path = RESULTS.parent / "reproduction" / f"{name}.md"
    (table,) = tables(path.read_text(encoding="utf-8").splitlines()).values()
    return table


def sogfs_and_noise() -> dict[str, dict[str, float]]:
    """Return what relative noise of a millionth changes in SOGFS, before and after its neighbours are anew.

    From the sixth iteration on neighbours are searched in the projected data.
    """
    changes = {}
    for name in ("lung_discrete", "usps"):
        bunch = load_dataset(name)
        n_classes = len(np.unique(bunch.target))
        noise = 1e-6 * np.random.default_rng(0).standard_normal(bunch.data.shape)
        first, other = (
            SOGFS(COUNT, n_clusters=n_classes, n_components=n_classes).fit(X)
            for X in (bunch.data, bunch.data * (1 + noise))
        )
        both = zip(first.objective_history_, other.objective_history_, strict=False)
        differences = [abs(two / one - 1) for one, two in both]
        changes[name] = {
            "relative difference of the objective up to iteration 5": float(f"{max(differences[:6]):.1e}"),
            "later": float(f"{max(differences[6:]):.1e}"),
            "columns shared": int(np.sum(first.support_ & other.support_)),
        }
    return changes


def seven_sets() -> dict[str, Any]:
    """Return the figures of the seven data sets."""
    sets = {}
    for name in REAL_SETS:
        sets[name] = {what: round(value, 2) for what, value in measure(name).items()}
        print(name, sets[name], flush=True)
    return sets


PARTS: dict[str, Callable[[], Any]] = {
    "sets": seven_sets,
    "smallest eigenvalue of M": lambda: {
        name: float(f"{smallest_eigenvalue(name):.1e}") for name in ("usps", "isolet", "coil20")
    },
    "draws solved, variances in either order": lambda: {kind: found_by_turn(kind) for kind in SHAPES},
    "X-steps on Isolet": x_steps,
    "UDFS of the toolbox": toolbox_udfs,
    "SOGFS and noise": sogfs_and_noise,
    "Columns and components": columns_and_components,
}


def main() -> None:
    """Measure, print and, if asked, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="*", help=f"what to measure: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--write", action="store_true", help="renew the committed results")
    asked = parser.parse_args()
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measured = {part: PARTS[part]() for part in asked.part or PARTS}
    if "sets" in measured:
        rows = [*measured["sets"].values()]
        measured["mean"] = {what: round(float(np.mean([row[what] for row in rows])), 2) for what in rows[0]}
    print(json.dumps(measured, indent=1))
    if asked.write:
        stored = json.loads(RESULTS.read_text(encoding="utf-8"))
        stored["code"] |= dict.fromkeys(measured, code_version())
        RESULTS.write_text(json.dumps(stored | measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
