"""What label-free selection and clustering reach on labelled data: selectors, clusterers, cost.

    UFSELECT_DATA=folder python benchmarks/label_free_study.py [--seeds 5] [--sets coil20 usps ...]
        [--parts selections clusterers] [--title "seven sets"]
        [--json benchmarks/results/label_free.json]

Every npz file of the folder with arrays X and y and at least 30 features takes part; the labels are used for
scoring alone. 100 features are selected, or a third of fewer than 200. ACC is the mean over 30 runs of
K-means with plain k-means++ seeding, or that of one graph clustering. Costs are CPU times in one process:
the smaller of two fits over the smallest of the runs of PCA between the fits; a busy machine makes the ratio
larger.
Results are written to the JSON file under the title after every set, beside parts run before, and the tables
to one with ``_tables`` in its name. Leiden takes part if leidenalg is there.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from common import cpu_seconds, geometric_mean, print_table
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph

from ufselect import DSCOFS, AutoSelector, GraphClustering, GreedyProjection, PCALeverage, RandomSubset
from ufselect.metrics import clustering_accuracy, evaluate_selection

MIN_FEATURES = 30
RANDOM_DRAWS = 3
FIT_REPEATS = 2
KMEANS_RUNS = 30
# As scanpy does: principal-component scores and neighbours for Leiden.
LEIDEN_SCORES = 50
LEIDEN_NEIGHBORS = 15
# Seeds for which every random method runs; beyond them only the default does, clusters given and not, and for
# graph clustering.
FULL_SEEDS = 1
GIVEN = "AutoSelector, clusters given"
UNKNOWN = 'AutoSelector, n_clusters="auto"'
FOR_GRAPH = 'AutoSelector, clusterer="graph"'
UNTIMED = ("random subsets", "all features")


def data_sets(names: list[str] | None) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Yield name, data and classes of the labelled files in the folder UFSELECT_DATA."""
    for path in sorted(Path(os.environ["UFSELECT_DATA"]).glob("*.npz")):
        with np.load(path) as arrays:
            if names is not None and path.stem not in names:
                continue
            X, y = np.asarray(arrays["X"], dtype=np.float64), np.asarray(arrays["y"]).ravel()
        if X.shape[1] >= MIN_FEATURES:
            yield path.stem, X, np.unique(y, return_inverse=True)[1]


def number_selected(X: NDArray) -> int:
    """Return 100, or a third of fewer than 200 features."""
    return 100 if X.shape[1] >= 200 else X.shape[1] // 3


def selectors(r: int, c: int, X: NDArray, seed: int) -> dict[str, Any]:
    """Return the selectors of the table: all for the first seeds, then the default."""
    m = min(c, X.shape[1], len(X) - 1)
    seeded = {
        GIVEN: AutoSelector(r, n_clusters=c, random_state=seed),
        UNKNOWN: AutoSelector(r, random_state=seed),
        'AutoSelector, candidates="dscofs"': AutoSelector(
            r, n_clusters=c, candidates="dscofs", random_state=seed
        ),
        FOR_GRAPH: AutoSelector(r, n_clusters=c, clusterer="graph", random_state=seed),
    }
    fixed = {
        "PCA leverage": PCALeverage(r, n_components=m),
        "DSCOFS": DSCOFS(r),
        'DSCOFS, init="graph"': DSCOFS(r, n_components=m, init="graph"),
        'DSCOFS, init="graph", μ = 10, 1': DSCOFS(r, n_components=m, init="graph", mu_entry=10, mu_row=1),
        "greedy projection (fastcan's criterion)": GreedyProjection(r, n_components=m),
    }
    if seed >= FULL_SEEDS:
        return {name: seeded[name] for name in (GIVEN, UNKNOWN, FOR_GRAPH)}
    return {**fixed, **seeded}


def whitened(X: NDArray, c: int) -> NDArray:
    return PCA(min(2 * c, *X.shape) if min(X.shape) > 2 * c else min(X.shape) - 1, whiten=True).fit_transform(
        X
    )


def clusterers(X: NDArray, c: int, seed: int) -> dict[str, Callable[[], NDArray]]:
    """Return clusterings of all features by name."""
    spectral = {"n_clusters": c, "affinity": "nearest_neighbors", "random_state": seed}
    return {
        "K-means, ten greedy starts": lambda: KMeans(c, n_init=10, random_state=seed).fit_predict(X),
        "K-means on whitened scores": lambda: KMeans(c, n_init=10, random_state=seed).fit_predict(
            whitened(X, c)
        ),
        "Ward": lambda: AgglomerativeClustering(c).fit_predict(X),
        "Gaussian mixture, whitened scores": lambda: GaussianMixture(
            c, covariance_type="diag", random_state=seed
        ).fit_predict(whitened(X, c)),
        "HDBSCAN": lambda: HDBSCAN(copy=True).fit_predict(X),
        "SpectralClustering": lambda: SpectralClustering(**spectral).fit_predict(X),
        "SpectralClustering, whitened scores": lambda: SpectralClustering(**spectral).fit_predict(
            whitened(X, c)
        ),
        "GraphClustering": lambda: GraphClustering(c, random_state=seed).fit_predict(X),
        'GraphClustering, n_clusters="auto"': lambda: GraphClustering(random_state=seed).fit_predict(X),
        **({"Leiden": lambda: leiden(X, seed)} if find_spec("leidenalg") else {}),
    }


def leiden(X: NDArray, seed: int) -> NDArray:
    """Cluster the graph of nearest neighbours in principal-component scores by modularity."""
    import igraph
    import leidenalg

    scores = PCA(min(LEIDEN_SCORES, min(X.shape) - 1), random_state=seed).fit_transform(X)
    directed = kneighbors_graph(scores, min(LEIDEN_NEIGHBORS, len(X) - 1))
    sources, targets = directed.maximum(directed.T).nonzero()
    graph = igraph.Graph(
        n=len(X), edges=list(zip(sources.tolist(), targets.tolist(), strict=True))
    ).simplify()
    found = leidenalg.find_partition(graph, leidenalg.ModularityVertexPartition, seed=seed)
    return np.array(found.membership)


def scored(X: NDArray, y: NDArray, features: NDArray | None, seed: int = 0) -> tuple[float, float, float]:
    """Return ACC and NMI of K-means and ACC of graph clustering, with a seed, on some features."""
    score = evaluate_selection(X, y, features, n_runs=KMEANS_RUNS, seeding="k-means++")
    part = X if features is None else X[:, features]
    labels = GraphClustering(int(y.max()) + 1, random_state=seed).fit_predict(part)
    return score.acc_mean, score.nmi_mean, 100 * clustering_accuracy(y, labels)


def selection_results(X: NDArray, y: NDArray, n_seeds: int) -> dict[str, list[tuple[float, ...]]]:
    """Return, for each selector, the scores and the CPU time in units of PCA(n_clusters) for each seed."""
    r, c = number_selected(X), int(y.max()) + 1
    draws = [RandomSubset(r, random_state=k).fit(X).support_ for k in range(RANDOM_DRAWS)]
    results: dict[str, list[tuple[float, ...]]] = {
        "random subsets": [(*scored(X, y, draw), 0.0) for draw in draws],
        "all features": [(*scored(X, y, None, seed), 0.0) for seed in range(n_seeds)],
    }
    unit = np.inf
    for seed in range(n_seeds):
        for name, selector in selectors(r, c, X, seed).items():
            seconds = cpu_seconds(lambda selector=selector: selector.fit(X), FIT_REPEATS)
            unit = min(unit, cpu_seconds(lambda: PCA(c, random_state=0).fit(X)))
            results.setdefault(name, []).append((*scored(X, y, selector.support_, seed), seconds))
    return {name: [(*entry[:3], entry[3] / unit) for entry in entries] for name, entries in results.items()}


def clusterer_results(X: NDArray, y: NDArray, n_seeds: int) -> dict[str, list[float]]:
    """Return the ACC of each clusterer on all features for each seed."""
    c = int(y.max()) + 1
    results: dict[str, list[float]] = {}
    for seed in range(min(n_seeds, FULL_SEEDS)):
        for name, cluster in clusterers(X, c, seed).items():
            results.setdefault(name, []).append(100 * clustering_accuracy(y, cluster()))
    return results


@dataclass(frozen=True)
class Tables:
    """Prints tables and keeps them, as columns and rows, for the documentation."""

    title: str
    kept: dict[str, dict[str, list]] = field(default_factory=dict)

    def add(self, name: str, results: dict[str, Any], value: Callable[[Any], float]) -> dict[str, float]:
        """Print one row per method and one column per set; return the means."""
        names = list(results)
        rows, means = [], {}
        for method in results[names[0]]:
            values = [value(results[name][method]) for name in names]
            means[method] = float(np.mean(values))
            rows.append([method, *(f"{v:.1f}" for v in values), f"{means[method]:.1f}"])
        columns = ["method", *names, "mean"]
        print_table(name, columns, rows)
        self.kept[f"{self.title}: {name}"] = {"columns": columns, "rows": rows}
        return means


def seed_spread(results: dict[str, dict[str, Any]]) -> dict[str, list[float]]:
    """Return the mean over the sets for each seed that all of them have, for label-free selectors."""
    methods = [m for m in next(iter(results.values())) if m.startswith("AutoSelector")]
    n_seeds = {method: min(len(result[method]) for result in results.values()) for method in methods}
    return {
        method: [float(np.mean([r[method][s][0] for r in results.values()])) for s in range(n_seeds[method])]
        for method in methods
    }


def summary(tables: Tables, results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Print the tables of the parts that have been run, each by set, and return what they say on average."""
    print(f"\n## {tables.title}")

    def mean_of(column: int) -> Callable[[Any], float]:
        return lambda entries: float(np.mean([entry[column] for entry in entries]))

    means: dict[str, dict[str, float]] = {}
    if results["clusterers"]:
        means["clusterers_acc"] = tables.add(
            "ACC of clusterers on all features",
            results["clusterers"],
            lambda entries: float(np.mean(entries)),
        )
    selections = results["selections"]
    if not selections:
        return {"means": means}
    means["kmeans_acc"] = tables.add("ACC of K-means", selections, mean_of(0))
    means["kmeans_nmi"] = tables.add("NMI of K-means", selections, mean_of(1))
    means["graph_acc"] = tables.add("ACC of graph clustering", selections, mean_of(2))
    by_seed = seed_spread(selections)
    for method, per_seed in by_seed.items():
        print(f"{method}: by seed {[round(v, 2) for v in per_seed]}, std {np.std(per_seed):.2f}")
    costs = {
        method: geometric_mean([entry[3] for result in selections.values() for entry in result[method]])
        for method in next(iter(selections.values()))
        if method not in UNTIMED
    }
    print("CPU time over PCA(n_clusters), geometric mean:", {m: round(v, 1) for m, v in costs.items()})
    return {"means": means, "by_seed": by_seed, "cpu_over_pca": costs}


PARTS: dict[str, Callable[[NDArray, NDArray, int], Any]] = {
    "selections": selection_results,
    "clusterers": clusterer_results,
}


def main() -> None:
    """Run the study on a folder of labelled files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--title", default="labelled sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    known = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    before = known.get(options.title, {})
    results: dict[str, dict[str, Any]] = {part: before.get(part, {}) for part in PARTS}
    for name, X, y in data_sets(options.sets):
        print(f"{name}: {X.shape[0]} × {X.shape[1]}, {y.max() + 1} classes", flush=True)
        for part in options.parts:
            results[part][name] = rounded(PARTS[part](X, y, options.seeds))
        setting = {"seeds": options.seeds, "kmeans_runs": KMEANS_RUNS}
        tables = Tables(options.title)
        known[options.title] = {**setting, **summary(tables, results), **results}
        if options.json:
            write(options.json, known)
            add_to(options.json.with_stem(f"{options.json.stem}_tables"), tables.kept)


def write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def add_to(path: Path, content: dict[str, Any]) -> None:
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    write(path, {**known, **content})


def rounded(value: Any) -> Any:
    """Return nested results with two decimals."""
    if isinstance(value, dict):
        return {key: rounded(entry) for key, entry in value.items()}
    return [rounded(entry) for entry in value] if isinstance(value, (list, tuple)) else round(float(value), 2)


if __name__ == "__main__":
    main()
