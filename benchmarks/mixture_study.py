"""Which rules select columns for clusters, compared on development sets; the settled ones on held-out sets.

::

    python benchmarks/mixture_study.py development   # rules of PartitionSelector, alone and together
    python benchmarks/mixture_study.py held_out      # the settled ones, their rank, verdicts

The sets and their parts are those of ``labelled_sets.py``: a hash of the name decides, fixed before any
result was seen. 100 columns are selected, or a third of fewer than 200; the number of classes is given. ACC
is the mean of several runs of K-means. Labels gain if 95 of 100 random selections do worse; a verdict is
right if it says "better" on these sets, and not on others. Of more than 1,000 rows some are drawn.
Results go to ``benchmarks/results/mixture_study.json`` after every set with the commit of the code; sets that
are there are not repeated.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from common import code_version
from labelled_sets import labelled_sets

from ufselect import AutoSelector, PartitionSelector
from ufselect.metrics import evaluate_selection

RESULTS = Path(__file__).resolve().parent / "results" / "mixture_study.json"
MAX_ROWS = 1000


def number_selected(X: np.ndarray) -> int:
    """Return 100, or a third of fewer than 200 columns."""
    return 100 if X.shape[1] >= 200 else X.shape[1] // 3


def accuracy(X: np.ndarray, y: np.ndarray, columns: np.ndarray | None, n_runs: int) -> float:
    return float(evaluate_selection(X, y, columns, n_runs=n_runs, seeding="k-means++").acc_mean)


RULES = {
    "margin": "margin",
    "trace ratio": "trace-ratio",
    "embedding": "embedding",
    "margin, trace ratio": ("margin", "trace-ratio"),
    "margin, embedding": ("margin", "embedding"),
    "all three (default)": ("margin", "trace-ratio", "embedding"),
}


def compared(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return the accuracies by the rules of PartitionSelector, of random and of all columns."""
    k, c = number_selected(X), int(y.max()) + 1
    found = {}
    for name, rule in RULES.items():
        selector = PartitionSelector(k, n_clusters=c, rule=rule, random_state=0).fit(X)
        found[name] = accuracy(X, y, selector.support_, 10)
    rng = np.random.default_rng(0)
    draws = [accuracy(X, y, rng.permutation(X.shape[1])[:k], 2) for _ in range(5)]
    return found | {"random columns": float(np.mean(draws)), "all columns": accuracy(X, y, None, 5)}


def judged(X: np.ndarray, y: np.ndarray) -> dict[str, float | str]:
    """Return the accuracy of AutoSelector, its rank among 100 random selections, and its verdict."""
    selector = AutoSelector(number_selected(X), n_clusters=int(y.max()) + 1, random_state=0).fit(X)
    ours, rng = accuracy(X, y, selector.support_, 10), np.random.default_rng(0)
    draws = [accuracy(X, y, rng.permutation(X.shape[1])[: number_selected(X)], 2) for _ in range(100)]
    return {
        "AutoSelector": ours,
        "random columns": float(np.mean(draws)),
        "all columns": accuracy(X, y, None, 5),
        "better than random draws": float(np.mean(np.array(draws) < ours)),
        "verdict": selector.verdict_,
        "effect": selector.assessment_.effect,
    }


def table(found: dict[str, dict], part: str) -> dict[str, list]:
    """Return means over the sets of each kind of data, and for held-out sets the verdicts."""
    sets = [each for each in found.values() if each["part"] == part]
    kinds = [("all sets", sets), *((kind, [s for s in sets if s["kind"] == kind])
             for kind in sorted({s["kind"] for s in sets}))]  # fmt: skip
    names = [n for n, value in sets[0].items() if n not in ("part", "kind", "verdict", "effect", "shape")]
    rows = []
    for kind, some in kinds:
        means = [np.mean([each[name] for each in some]) for name in names]
        row = [kind, str(len(some)), *(f"{mean:.2f}" if mean <= 1 else f"{mean:.1f}" for mean in means)]
        if part == "held_out":
            gains = [each for each in some if each["better than random draws"] >= 0.95]
            others = [each for each in some if each not in gains]
            said = [sum(each["verdict"] == "better" for each in group) for group in (gains, others)]
            row += [f"{count} of {len(group)}" for count, group in zip(said, (gains, others), strict=True)]
            row.append(f"{(said[0] + len(others) - said[1]) / len(some):.0%}")
        rows.append(row)
    further = ["“better” where labels gain", "“better” where they do not", "verdicts that are right"]
    return {"columns": ["sets", "number", *names, *(further if part == "held_out" else [])], "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("development", "held_out"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else {}
    found = stored.setdefault("sets", {})
    warnings.simplefilter("ignore")
    for each in labelled_sets(options.part):
        if each.name in found:
            continue
        rows = np.sort(np.random.default_rng(0).permutation(len(each.X))[:MAX_ROWS])
        X = np.asarray(each.X[rows], dtype=np.float64)
        y = np.unique(each.y[rows], return_inverse=True)[1].ravel()
        shape = f"{X.shape[0]} × {X.shape[1]}, {y.max() + 1}"
        values = compared(X, y) if options.part == "development" else judged(X, y)
        found[each.name] = {"part": options.part, "kind": each.kind, "shape": shape, **values}
        stored[options.part] = {"code": code_version(), **table(found, options.part)}
        options.results.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(each.name, found[each.name], flush=True)


if __name__ == "__main__":
    main()
