"""Every selector of the registry on the labelled sets, beside 100 random selections of the same size.

::

    python benchmarks/methods.py --minutes 30  # again until nothing is left; finished cells are kept
    python benchmarks/methods.py --table | python benchmarks/record.py methods
    python benchmarks/methods.py --methods MCFS NDFS --again  # some methods anew, then --table as above

The sets are those of ``labelled_sets.py`` (of the five views of mfeat only the pixels), at most 500 rows of
each, standardised where `AutoScaler` finds different units. Methods have default parameters,
``random_state=0`` and no labels; 20, 50 and 100 columns are selected, as far as that is at most half of
them, and half of fewer than 40 columns. A method and a set are a cell, one line of JSON in
``UFSELECT_LABELLED/methods.jsonl``, with the commit of its code; the cheap methods come first. A fit may take
5 CPU seconds; the entry is "too slow" if one does not end by then.

- **ACC and NMI**: 10 runs of K-means with as many clusters as classes, the labels for scoring only.
- **Rank among random**: per cent of 100 random selections of the same size that score lower, half of
  the ties included; 50 is what random columns have. The mean over the counts is the rank on a set.
- **Better, worse**: the rank is above, or below, that of 95 of the 100 random selections themselves,
  each taken as the method. By chance both happen on 5 per cent of the sets.
- **Graph clustering**: the same rank of the ACC of `GraphClustering`, at the middle count, among ten
  random selections.
- **Reconstruction**: the rank of the error on held-out rows at the middle count, among ten random
  selections: columns selected, and the linear map fitted, on one half of the rows, and the other way round.
- **Stability**: agreement of the columns from the two halves (Nogueira et al. 2018), 0 by chance, 1 if
  equal.
- **Friedman and Nemenyi** over sets, on the rank of ACC in whole per cent. Where a method gave no columns,
  it has the 50 of random ones.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from common import code_version, print_table
from labelled_sets import FOLDER, LabelledSet, labelled_sets
from paper.rank_test import rank_test
from threadpoolctl import threadpool_limits

from ufselect import GraphClustering
from ufselect._registry import all_selectors
from ufselect.base import UnsupervisedSelector
from ufselect.metrics import clustering_accuracy, evaluate_selection, selection_stability
from ufselect.preprocessing import AutoScaler
from ufselect.reconstruct.ridge import LinearMap

COUNTS = (20, 50, 100)
MOST_ROWS = 500
N_RANDOM, N_RANDOM_SLOW, N_RUNS = 100, 10, 10
SECONDS = 5.0
VIEWS = ("mfeat_fac", "mfeat_fou", "mfeat_kar", "mfeat_zer")  # of the rows of mfeat_pix
# Those that take seconds on some sets come last, so that a run that is cut off has the others whole.
SLOW = (
    "BSUFS", "UDFS", "NDFS", "RUFS", "SPCAFS", "SPCAPSD", "RNE", "SOGFS", "ConstrainedDSCOFS",
    "AutoSelector", "TSFS",
)  # fmt: skip
ROWS = FOLDER / "methods.jsonl"
NONE = "–"


class JudgedSet:
    """A labelled set as the methods get it, and the scores of random columns on it."""

    def __init__(self, each: LabelledSet) -> None:
        rows = np.sort(np.random.default_rng(0).permutation(len(each.X))[:MOST_ROWS])
        self.name, self.y = each.name, each.y[rows]
        self.X = np.asarray(AutoScaler().fit_transform(each.X[rows]))
        n_features = self.X.shape[1]
        self.counts = [count for count in COUNTS if 2 * count <= n_features] or [n_features // 2]
        shuffled = np.random.default_rng(1).permutation(len(rows))
        self.halves = np.sort(shuffled[::2]), np.sort(shuffled[1::2])
        rng = np.random.default_rng(2)
        self.random = [rng.permutation(n_features) for _ in range(N_RANDOM)]

    def clustering(self, columns: np.ndarray) -> tuple[float, float]:
        """Return ACC and NMI of K-means on the columns."""
        score = evaluate_selection(self.X, self.y, columns, n_runs=N_RUNS)
        return score.acc_mean, score.nmi_mean

    def graph_clustering(self, columns: np.ndarray) -> float:
        """Return the ACC of graph clustering on the columns."""
        found = GraphClustering(int(self.y.max()) + 1, random_state=0).fit_predict(self.X[:, columns])
        return 100 * clustering_accuracy(self.y, found)

    def reconstruction(self, columns: np.ndarray, half: int) -> float:
        """Return the error on the other half of the rows, in units of that of the means."""
        known, new = self.X[self.halves[half]], self.X[self.halves[1 - half]]
        fitted = LinearMap.from_rows(known, columns, None, None)
        centred = new - fitted.mean
        return float(np.linalg.norm(centred - centred[:, columns] @ fitted.weights) / np.linalg.norm(centred))

    def random_scores(self) -> dict[str, Any]:
        """Return what random columns have: one list for each count, and all columns."""
        middle = self.counts[len(self.counts) // 2]
        pairs = [[self.clustering(order[:count]) for order in self.random] for count in self.counts]
        slow = self.random[:N_RANDOM_SLOW]
        return {
            "ACC": [[acc for acc, _ in each] for each in pairs],
            "NMI": [[nmi for _, nmi in each] for each in pairs],
            "graph": [[self.graph_clustering(order[:middle]) for order in slow]],
            "error": [[self.reconstruction(order[:middle], 0) for order in slow]],
            "all": self.clustering(np.arange(self.X.shape[1])),
        }

    def scores(self, selector: type[UnsupervisedSelector]) -> dict[str, Any]:
        """Return the scores of a method, one entry for each count."""
        started = time.process_time()
        whole = selections(selector, self.X, self.counts)
        seconds = time.process_time() - started
        pairs = [self.clustering(columns) for columns in whole]
        middle = len(whole) // 2
        halves = [selections(selector, self.X[rows], self.counts) for rows in self.halves]
        masks = [[np.isin(np.arange(self.X.shape[1]), columns) for columns in half] for half in halves]
        return {
            "ACC": [acc for acc, _ in pairs],
            "NMI": [nmi for _, nmi in pairs],
            "graph": [self.graph_clustering(whole[middle])],
            "error": [
                float(np.mean([self.reconstruction(half[middle], side) for side, half in enumerate(halves)]))
            ],
            "stability": [selection_stability(pair) for pair in zip(*masks, strict=True)],
            "seconds": seconds / (1 if selector.is_nested else len(self.counts)),
        }


def selections(selector: type[UnsupervisedSelector], X: np.ndarray, counts: list[int]) -> list[np.ndarray]:
    """Return the columns that a method selects for each count, within the seconds for each fit."""
    seed = {"random_state": 0} if selector.is_stochastic else {}
    if selector.is_nested:
        order = np.argsort(fitted(selector(counts[-1], **seed), X).ranking_)
        return [order[:count] for count in counts]
    return [np.flatnonzero(fitted(selector(count, **seed), X).support_) for count in counts]


def fitted(selector: UnsupervisedSelector, X: np.ndarray) -> UnsupervisedSelector:
    """Fit, or raise TimeoutError after so many CPU seconds."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return selector.fit(X)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def judged() -> Iterable[LabelledSet]:
    """Return the sets, the smallest first."""
    return [each for each in labelled_sets() if each.name not in VIEWS]


def methods() -> dict[str, type[UnsupervisedSelector]]:
    """Return the selectors that can run, the cheap ones first."""
    found = all_selectors()
    del found["RandomSubset"]
    return dict(sorted(found.items(), key=lambda item: SLOW.index(item[0]) if item[0] in SLOW else -1))


def stored_rows() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the finished cells by method and set."""
    lines = ROWS.read_text(encoding="utf-8").splitlines() if ROWS.exists() else []
    return {(row["method"], row["set"]): row for row in map(json.loads, lines)}


def run(minutes: float, names: list[str] | None, again: bool) -> None:
    """Work on the cells of some or all methods, until so many CPU minutes are over.

    ``again`` renews those that are finished.
    """
    deadline = time.process_time() + 60 * minutes
    sets = {each.name: JudgedSet(each) for each in judged()}
    done = {cell for cell in stored_rows() if not again or cell[0] == "random"}
    tasks = [(name, each) for name, each in methods().items() if names is None or name in names]
    for method, selector in [("random", None), *tasks]:
        for name, data in sets.items():
            if (method, name) in done:
                continue
            if time.process_time() > deadline:
                return
            row: dict[str, Any] = {"method": method, "set": name, "code": code_version()}
            try:
                row |= data.random_scores() if selector is None else data.scores(selector)
            except TimeoutError:
                row["missing"] = "too slow"
            except (ValueError, RuntimeError) as error:
                row["missing"] = str(error)
            with ROWS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        print(method, f"{time.process_time():.0f} s", flush=True)


def percentile(value: float, others: list[float]) -> float:
    """Return the per cent of other scores that are lower, half of the ties included."""
    compared = np.asarray(others)
    return 100 * float(np.mean(compared < value) + np.mean(compared == value) / 2)


def set_rank(row: dict[str, Any], random: dict[str, Any], measure: str) -> float:
    """Return the mean over the counts of the rank among random selections; small errors rank high."""
    sign = -1 if measure == "error" else 1
    return float(
        np.mean(
            [
                percentile(sign * value, [sign * other for other in others])
                for value, others in zip(row[measure], random[measure], strict=True)
            ]
        )
    )


def noise_band(random: dict[str, Any]) -> tuple[float, float]:
    """Return the 5th and 95th percentile of the ranks that random selections have among each other."""
    table = np.array(random["ACC"])
    ranks = [
        np.mean([percentile(value, each) for value, each in zip(draw, table, strict=True)])
        for draw in table.T
    ]
    return float(np.quantile(ranks, 0.05)), float(np.quantile(ranks, 0.95))


def tables() -> None:
    """Print what the cells of the methods that are finished on all sets say."""
    rows = stored_rows()
    random = {name: row for (method, name), row in rows.items() if method == "random"}
    about = {each.name: each for each in judged() if each.name in random}
    names = list(about)
    kinds = {
        "images": [name for name in names if about[name].kind == "images"],
        "genes": [name for name in names if about[name].kind == "genes"],
        "other": [name for name in names if about[name].kind not in ("images", "genes")],
        "held-out sets": [name for name in names if about[name].part == "held_out"],
    }
    lines: dict[str, list[str]] = {}
    on_sets: dict[str, dict[str, str]] = {}
    missing: dict[str, list[tuple[str, str]]] = {}
    for method in methods():
        if not all((method, name) in rows for name in names):
            continue
        cells = {name: rows[method, name] for name in names if "missing" not in rows[method, name]}
        lines[method] = line_of(cells, random, kinds)
        on_sets[method] = {
            name: mean([set_rank(cells[name], random[name], "ACC")] if name in cells else [])
            for name in names
        }
        missing[method] = [(rows[method, name]["missing"], name) for name in names if name not in cells]
    shown = [method for method in all_selectors() if method in lines]
    scores = [[50.0 if on_sets[method][name] == NONE else float(on_sets[method][name]) for method in shown]
              for name in names]  # fmt: skip
    test = rank_test(scores, shown)
    average = dict(zip(shown, test.average_ranks, strict=True))
    header = (
        "method", "all sets", *kinds, "better %", "worse %", "NMI", "graph clustering", "reconstruction",
        "stability", "CPU s", "sets", "no answer", "average rank",
    )  # fmt: skip
    overall = dict(zip(shown, np.mean(scores, axis=0), strict=True))
    print_table(
        "Methods",
        header,
        [
            [method, f"{overall[method]:.0f}", *lines[method], len(names) - len(missing[method]),
             len(missing[method]), f"{average[method]:.1f}"]
            for method in sorted(shown, key=lambda method: -overall[method])
        ],
    )  # fmt: skip
    best = min(average, key=lambda method: average[method])
    apart = [method for method in shown if test.pairwise[shown.index(best), shown.index(method)] < test.level]
    everything = {
        name: np.mean([percentile(random[name]["all"][0], each) for each in random[name]["ACC"]])
        for name in names
    }
    facts = {
        "sets": len(names),
        **{f"sets: {kind}": len(chosen) for kind, chosen in kinds.items()},
        "methods": len(shown),
        "Friedman p": f"{test.p_value:.1e}",
        "critical difference": f"{test.critical_difference:.1f}",
        "best average rank": best,
        "worse than that, Nemenyi": ", ".join(apart) or "none",
        "not run on all sets": ", ".join(method for method in methods() if method not in shown) or "none",
        "rank of all columns": mean(everything.values()),
        "rank of all columns, held-out sets": mean(everything[name] for name in kinds["held-out sets"]),
        "code": "; ".join(sorted({row["code"] for row in rows.values()})),
    }
    print_table("Facts", ("fact", "value"), list(facts.items()))
    print_table(
        "Sets",
        ("set", "kind", "part", "rows", "columns", "classes", "random ACC", "all columns ACC", *shown),
        [
            [name, each.kind, each.part, min(len(each.X), MOST_ROWS), each.X.shape[1], each.y.max() + 1]
            + [f"{np.mean(random[name]['ACC']):.1f}", f"{random[name]['all'][0]:.1f}"]
            + [on_sets[method][name] for method in shown]
            for name, each in about.items()
        ],
    )
    print_table(
        "No answer",
        ("method", "reason", "set"),
        [(method, *each) for method in shown for each in missing[method]],
    )


def mean(values: Iterable[float]) -> str:
    """Return a mean in whole numbers, or a dash for none."""
    found = list(values)
    return f"{np.mean(found):.0f}" if found else NONE


def line_of(cells: dict[str, Any], random: dict[str, Any], kinds: dict[str, list[str]]) -> list[str]:
    """Return what the table says of a method by its cells, from the rank on images to the CPU seconds."""
    ranks = {
        measure: {name: set_rank(cell, random[name], measure) for name, cell in cells.items()}
        for measure in ("ACC", "NMI", "graph", "error")
    }
    bands = {name: noise_band(random[name]) for name in cells}
    return [
        *(mean(ranks["ACC"][name] for name in chosen if name in cells) for chosen in kinds.values()),
        mean(100.0 * (rank > bands[name][1]) for name, rank in ranks["ACC"].items()),
        mean(100.0 * (rank < bands[name][0]) for name, rank in ranks["ACC"].items()),
        *(mean(ranks[measure].values()) for measure in ("NMI", "graph", "error")),
        f"{np.mean([np.mean(cell['stability']) for cell in cells.values()]):.2f}",
        f"{np.median([cell['seconds'] for cell in cells.values()]):.2g}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="CPU minutes after which to stop")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="only these methods")
    parser.add_argument("--again", action="store_true", help="renew finished cells of the methods")
    parser.add_argument("--table", action="store_true", help="print the tables of what is finished")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.table:
        tables()
        return
    with threadpool_limits(1):
        run(arguments.minutes, arguments.methods, arguments.again)


if __name__ == "__main__":
    main()
