"""Which label-free criterion picks the best selection, and what does a new data set get?

Every candidate of AutoSelector's pool selects features on every data set; labels then tell how good each pick
would have been. Two things are chosen leave-one-data-set-out: criterion and pool, and AutoSelector's own
settings (whitening, widths, softness of the margin, and what it compares partitions with).

    python benchmarks/label_free_study.py [--runs 50] [--sets coil20 usps ...] [--json results.json]

Sets whose files are not found are left out; see ufselect.datasets for where they are looked for.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.preprocessing import scale

from ufselect.auto import AutoSelector
from ufselect.auto.criteria import neighbour_agreement, neighbour_graph, principal_scores
from ufselect.auto.pool import Shared, default_pool
from ufselect.auto.reference import build_reference
from ufselect.auto.rules import RULES, centre_margin
from ufselect.auto.sampling import kmeans_seeds
from ufselect.auto.selector import N_RUNS
from ufselect.datasets import DatasetUnavailableError, load_dataset
from ufselect.gram import gram_operator
from ufselect.metrics import evaluate_selection, normalized_mutual_info
from ufselect.metrics.kmeans import kmeans_runs
from ufselect.selectors.base import ranks_from_scores
from ufselect.selectors.baselines import PCALeverage, RandomSubset
from ufselect.selectors.dscofs import DSCOFS
from ufselect.selectors.greedy import GreedyProjection

REAL = ("coil20", "usps", "lung_discrete", "glioma", "umist", "warppie10p", "isolet")
BUNDLED = {"digits": 20, "wine": 5, "breast_cancer": 8}
GENERATED = ("nuisance", "blobs", "mixed")
SEED = 0


def generated(kind: str) -> tuple[NDArray, NDArray]:
    """Return seven clusters seen by 40 features, hidden by noise or by strong nuisance directions."""
    rng = np.random.default_rng(GENERATED.index(kind))
    y = rng.integers(7, size=350)
    signal = (2 * rng.standard_normal((7, 12))[y] + rng.standard_normal((350, 12))) @ rng.standard_normal(
        (12, 40)
    )
    noise = 3 * rng.standard_normal((350, 100))
    nuisance = rng.standard_normal((350, 2))
    if kind == "blobs":
        return np.hstack([signal, noise]), y
    carried = 12 * nuisance @ rng.standard_normal((2, 60)) + rng.standard_normal((350, 60))
    if kind == "mixed":
        signal = signal + 6 * nuisance @ rng.standard_normal((2, 40))
    return np.hstack([signal, noise, carried]), y


def load(name: str) -> tuple[NDArray, NDArray, int]:
    """Return data, labels and the number of features to select."""
    if name in GENERATED:
        return *generated(name), 20
    bunch = load_dataset(name)
    X = np.asarray(bunch.data, dtype=np.float64)
    return (scale(X) if name in ("wine", "breast_cancer") else X), bunch.target, BUNDLED.get(name, 100)


@dataclass
class Study:
    """Candidates of one data set: their labels from K-means, and what the true labels say about them."""

    name: str
    shared: Shared
    n_clusters: int
    clusterings: dict[str, NDArray]
    acc: dict[str, float]
    nmi: dict[str, float]


def study(name: str, n_runs: int) -> Study:
    """Fit and score every candidate of the default pool."""
    X, y, n_selected = load(name)
    n_clusters = len(np.unique(y))
    gram = gram_operator(X)
    spectrum = gram.eigenpairs(min(2 * n_clusters, len(X) - 1, X.shape[1]))
    shared = Shared(X, gram, spectrum, build_reference(X, n_clusters, SEED), n_selected)
    result = Study(name, shared, n_clusters, {}, {}, {})
    for candidate in default_pool(n_selected, n_clusters, shared, SEED, len(X)):
        features = np.flatnonzero(ranks_from_scores(candidate.scores(shared)) <= n_selected)
        points = np.ascontiguousarray(shared.reference.A[:, features])
        label = generic_name(candidate.name, n_clusters)
        result.clusterings[label] = kmeans_runs(points, n_clusters, kmeans_seeds(SEED, N_RUNS), "k-means++")
        score = evaluate_selection(X, y, features, n_runs=n_runs, seeding="k-means++")
        result.acc[label], result.nmi[label] = score.acc_mean, score.nmi_mean
    return result


def generic_name(name: str, n_clusters: int) -> str:
    """Say the number of components in units of the number of clusters."""
    for width, label in ((2 * n_clusters, "2c"), (n_clusters, "c"), (round(1.5 * n_clusters), "1.5c")):
        name = name.replace(f"m={width} ", f"m={label} ")
        name = name[: -len(f"m={width}")] + f"m={label}" if name.endswith(f"m={width}") else name
    return name


def graph_criterion(
    widths: tuple[float, ...], power: float, k: int = 5
) -> Callable[[Study], dict[str, float]]:
    """Return chance-corrected agreement with neighbours in scores weighted by a power of the spectrum."""

    def criterion(s: Study) -> dict[str, float]:
        A = s.shared.reference.A
        counts = [min(max(1, round(w * s.n_clusters)), min(A.shape[0] - 1, A.shape[1])) for w in widths]
        scores, values = principal_scores(A, gram_operator(A), max(counts))
        graph = neighbour_graph(scores * values**power, [min(c, scores.shape[1]) for c in counts], k)
        return {name: float(neighbour_agreement(runs, graph).mean()) for name, runs in s.clusterings.items()}

    return criterion


def chosen_graph(s: Study) -> dict[str, float]:
    graph = s.shared.reference.graph
    return {name: float(neighbour_agreement(runs, graph).mean()) for name, runs in s.clusterings.items()}


def reference_partition(s: Study) -> dict[str, float]:
    labels = s.shared.reference.labels
    return {
        name: float(np.mean([normalized_mutual_info(labels, run) for run in runs]))
        for name, runs in s.clusterings.items()
    }


def restart_stability(s: Study) -> dict[str, float]:
    return {
        name: float(np.mean([normalized_mutual_info(a, b) for a, b in combinations(runs, 2)]))
        for name, runs in s.clusterings.items()
    }


def agreement_with_others(s: Study) -> dict[str, float]:
    first = {name: runs[0] for name, runs in s.clusterings.items()}
    return {
        name: float(
            np.mean([normalized_mutual_info(own, other) for key, other in first.items() if key != name])
        )
        for name, own in first.items()
    }


CRITERIA: dict[str, Callable[[Study], dict[str, float]]] = {
    "restart stability": restart_stability,
    "agreement with the other candidates": agreement_with_others,
    "neighbours, raw scores": graph_criterion((1.0, 1.5, 2.0), 1.0),
    "neighbours, half whitened": graph_criterion((1.0, 1.5, 2.0), 0.5),
    "neighbours, whitened, m = c": graph_criterion((1.0,), 0.0),
    "neighbours, whitened, m = c, k = 10": graph_criterion((1.0,), 0.0, 10),
    "neighbours, whitened, m = 2c": graph_criterion((2.0,), 0.0),
    "neighbours, whitened, averaged over m": graph_criterion((1.0, 1.5, 2.0), 0.0),
    "neighbours, whitening by gap, averaged (AutoSelector)": chosen_graph,
    "NMI with the reference partition": reference_partition,
}


def in_pool(pool: str, name: str) -> bool:
    """Tell whether a candidate belongs to a pool: all, or all that do not look at the judge's graph."""
    return pool == "all" or not name.startswith("graph partition")


def pick(values: dict[str, float], pool: str) -> str:
    return max((name for name in values if in_pool(pool, name)), key=values.__getitem__)


def criteria_tables(studies: list[Study]) -> dict:
    """Print what each criterion picks in each pool, and the figure that a new data set would get."""
    values = {label: [criterion(s) for s in studies] for label, criterion in CRITERIA.items()}
    picked: dict[tuple[str, str], list[float]] = {}
    for pool in ("classical", "all"):
        print(f"\n### ACC of the pick, pool: {pool}\n")
        header("criterion", [s.name for s in studies], ["mean", "rank corr."])
        for label, per_set in values.items():
            acc = [s.acc[pick(v, pool)] for s, v in zip(studies, per_set, strict=True)]
            picked[label, pool] = acc
            rank = [
                spearmanr(*zip(*[(v[n], s.acc[n]) for n in v if in_pool(pool, n)], strict=True))[0]
                for s, v in zip(studies, per_set, strict=True)
            ]
            row(label, acc, [f"{np.mean(acc):.2f}", f"{np.nanmean(rank):.2f}"])
        best = [max(a for n, a in s.acc.items() if in_pool(pool, n)) for s in studies]
        row("best by labels", best, [f"{np.mean(best):.2f}", ""])
    held_out = []
    for place, s in enumerate(studies):
        others = {key: np.mean(np.delete(acc, place)) for key, acc in picked.items()}
        key = max(others, key=others.__getitem__)
        held_out.append(picked[key][place])
        print(f"\nwithout {s.name}: {key[0]}, pool {key[1]} → {picked[key][place]:.1f}", end="")
    print(f"\n\nCriterion and pool chosen leave-one-data-set-out: mean ACC {np.mean(held_out):.2f}")
    return {"leave_one_out": held_out, "picked": {" | ".join(key): acc for key, acc in picked.items()}}


POWER_RULES = {"by gap": (0.0, 0.5, 1.0), "whitened": (0.0,), "half": (0.5,)}
WIDTH_RULES = {"c": (1.0,), "c, 1.5c, 2c": (1.0, 1.5, 2.0), "2c": (2.0,)}
SOFTNESSES = (0.3, 0.5, 1.0)
Setting = tuple[str, str, float, str]


def settings_of(s: Study, n_runs: int) -> dict[Setting, float]:
    """Return the ACC of the pick under every combination of AutoSelector's settings."""
    X, y, n_selected = load(s.name)
    A = s.shared.reference.A
    known: dict[bytes, tuple[NDArray, float]] = {}

    def judged(scores: NDArray) -> tuple[NDArray, float]:
        features = np.flatnonzero(ranks_from_scores(scores) <= n_selected)
        key = features.tobytes()
        if key not in known:
            points = np.ascontiguousarray(A[:, features])
            runs = kmeans_runs(points, s.n_clusters, kmeans_seeds(SEED, N_RUNS), "k-means++")
            score = evaluate_selection(X, y, features, n_runs=n_runs, seeding="k-means++")
            known[key] = (runs, score.acc_mean)
        return known[key]

    classical = [(s.clusterings[n], s.acc[n]) for n in s.acc if in_pool("classical", n)]
    found: dict[Setting, float] = {}
    for (power, powers), (width, widths) in product(POWER_RULES.items(), WIDTH_RULES.items()):
        reference = build_reference(X, s.n_clusters, SEED, powers, widths)
        rules = [judged(rule(reference, n_selected)) for name, rule in RULES.items() if name != "margin"]
        for softness in SOFTNESSES:
            options = [*classical, *rules, judged(centre_margin(reference, n_selected, softness))]
            agreement = [float(neighbour_agreement(runs, reference.graph).mean()) for runs, _ in options]
            labels = reference.labels
            nmi = [
                float(np.mean([normalized_mutual_info(labels, run) for run in runs])) for runs, _ in options
            ]
            found[power, width, softness, "graph"] = options[int(np.argmax(agreement))][1]
            found[power, width, softness, "partition"] = options[int(np.argmax(nmi))][1]
    return found


def settings_table(studies: list[Study], n_runs: int) -> dict:
    """Print what AutoSelector's settings would have given, chosen without the set on which they are used."""
    per_set = [settings_of(s, n_runs) for s in studies]
    means = {key: float(np.mean([found[key] for found in per_set])) for key in per_set[0]}
    ordered = sorted(means, key=means.__getitem__, reverse=True)
    print(f"\n### AutoSelector's settings: {len(means)} combinations\n")
    print("| whitening | widths | softness | compared with | mean ACC |\n|---|---|---|---|---|")
    default = ("by gap", "c, 1.5c, 2c", 0.5, "graph")
    for label, key in (("best", ordered[0]), ("median", ordered[len(ordered) // 2]), ("worst", ordered[-1])):
        print(f"| {key[0]} | {key[1]} | {key[2]} | {key[3]} | {means[key]:.2f} ({label}) |")
    print(f"| {default[0]} | {default[1]} | {default[2]} | {default[3]} | {means[default]:.2f} (default) |")
    held_out = []
    for place, s in enumerate(studies):
        rest = [found for k, found in enumerate(per_set) if k != place]
        key = max(means, key=lambda key: np.mean([found[key] for found in rest]))
        held_out.append(per_set[place][key])
        print(f"\nwithout {s.name}: {', '.join(map(str, key))} → {held_out[-1]:.1f}", end="")
    print(f"\n\nSettings chosen leave-one-data-set-out: mean ACC {np.mean(held_out):.2f}", flush=True)
    return {"held_out": held_out, "means": {str(key): value for key, value in means.items()}}


def method_table(studies: list[Study], n_runs: int) -> dict:
    """Print single methods beside AutoSelector, ACC and NMI."""
    names = [s.name for s in studies]
    table: dict[str, list[tuple[float, float]]] = {}
    for s in studies:
        X, y, r = load(s.name)
        c = s.n_clusters
        selectors = {
            "all features": None,
            "PCA leverage": PCALeverage(r, n_components=min(c, X.shape[1])),
            "DSCOFS, default": DSCOFS(r),
            "greedy projection (fastcan's criterion)": GreedyProjection(r, n_components=min(c, X.shape[1])),
            "AutoSelector, clusters given": AutoSelector(r, n_clusters=c, random_state=SEED),
            'AutoSelector, n_clusters="auto"': AutoSelector(r, random_state=SEED),
        }
        draws = [RandomSubset(r, random_state=k).fit(X).support_ for k in range(5)]
        random = [
            evaluate_selection(X, y, draw, n_runs=max(1, n_runs // 5), seeding="k-means++") for draw in draws
        ]
        table.setdefault("random subset", []).append(
            (np.mean([q.acc_mean for q in random]), np.mean([q.nmi_mean for q in random]))
        )
        for label, selector in selectors.items():
            start = time.process_time()
            features = None if selector is None else selector.fit(X).support_
            seconds = time.process_time() - start
            score = evaluate_selection(X, y, features, n_runs=n_runs, seeding="k-means++")
            table.setdefault(label, []).append((score.acc_mean, score.nmi_mean))
            if isinstance(selector, AutoSelector):
                winner = selector.report_[0]["candidate"]
                print(f"{s.name}: {label}: c = {selector.n_clusters_}, {seconds:.1f} s, {winner}")
        best = max(s.acc, key=s.acc.__getitem__)
        table.setdefault("best of the pool by labels", []).append((s.acc[best], s.nmi[best]))
    for column, measure in enumerate(("ACC", "NMI")):
        print(f"\n### {measure}\n")
        header("method", names, ["mean"])
        for label, pairs in table.items():
            row(label, [p[column] for p in pairs], [f"{np.mean([p[column] for p in pairs]):.2f}"])
    return table


def header(first: str, names: list[str], extra: list[str]) -> None:
    print("| " + " | ".join([first, *names, *extra]) + " |")
    print("|---" * (1 + len(names) + len(extra)) + "|")


def row(label: str, values: list[float], extra: list[str]) -> None:
    print("| " + " | ".join([label, *(f"{v:.1f}" for v in values), *extra]) + " |", flush=True)


def main() -> None:
    """Run the study on the real sets, then on the bundled and generated ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--sets", nargs="+", default=[*REAL, *BUNDLED, *GENERATED])
    parser.add_argument("--json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = {}
    for title, group in (
        ("Real sets, 100 features", REAL),
        ("Bundled and generated sets", (*BUNDLED, *GENERATED)),
    ):
        studies = []
        for name in [n for n in group if n in options.sets]:
            try:
                studies.append(study(name, options.runs))
            except DatasetUnavailableError as error:
                print(f"{name} left out: {error}")
        if studies:
            print(f"\n## {title}")
            methods = method_table(studies, options.runs)
            criteria = criteria_tables(studies)
            settings = settings_table(studies, options.runs)
            results[title] = {"methods": methods, "criteria": criteria, "settings": settings}
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file)


if __name__ == "__main__":
    main()
