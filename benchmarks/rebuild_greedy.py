"""RebuildSelector beside greedy steps: what it gains, what it risks, what it costs; and what a curve costs.

``python benchmarks/rebuild_greedy.py FOLDER...`` reads every .npz of some folders that holds an array ``X``
with more than 20 columns. For 20 and 50 columns and two splits it prints how the errors on the 30 % of the
rows that took no part differ from those of ``GreedyProjection(target="features")``, and the ratio of their
CPU times. ``--curve`` prints instead what ``n_features_to_select="auto"`` costs in fits of the largest count
of its curve, over all rows. Times are CPU times of one thread, the least of up to three runs. ``--write
FILE`` keeps every figure, after each set.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from common import print_table
from rebuild import COUNTS, N_SPLITS, data_sets, split
from threadpoolctl import threadpool_limits

from ufselect import GreedyProjection, RebuildSelector
from ufselect.methods.rebuild.ridge import held_out_error

# One run is enough where it takes long; the least of a few tells what the machine's other work has added.
ENOUGH_SECONDS = 0.03
MOST_RUNS = 3


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a run returns, and its least CPU seconds."""
    seconds: list[float] = []
    while not seconds or (sum(seconds) < ENOUGH_SECONDS and len(seconds) < MOST_RUNS):
        started = time.process_time()
        result = run()
        seconds.append(time.process_time() - started)
    return result, min(seconds)


def compare(X: np.ndarray) -> dict[str, dict[str, dict[str, float]]]:
    """Return errors and seconds of both, by split and count."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for seed in range(N_SPLITS):
        train, test = split(X, seed)
        found[str(seed)] = {}
        for count in COUNTS:
            size = min(count, X.shape[1] - 1)
            row = found[str(seed)][str(count)] = {}
            for name, selector in (
                ("greedy", GreedyProjection(size, target="features")),
                ("rebuild", RebuildSelector(size)),
            ):
                fitted, row[f"{name}_seconds"] = timed(partial(selector.fit, train))
                row[f"{name}_error"] = held_out_error(train, test, fitted.get_support(indices=True))
    return found


def curve_cost(X: np.ndarray) -> dict[str, float]:
    """Return the CPU seconds of a fit that chooses its count, and of one of the largest count tried."""
    fitted, auto_seconds = timed(lambda: RebuildSelector("auto").fit(X))
    largest = fitted.count_curve_[-1]["count"]
    _, fit_seconds = timed(lambda: RebuildSelector(largest).fit(X))
    chosen = int(fitted.support_.sum())
    return {"auto_seconds": auto_seconds, "fit_seconds": fit_seconds, "counts": largest, "chosen": chosen}


def print_comparison(figures: dict[str, dict[str, dict[str, dict[str, float]]]]) -> None:
    """Print a row a set, and what all sets have in common."""
    rows = []
    for name, splits in figures.items():
        cells = [
            f"{row['rebuild_error'] - row['greedy_error']:+.4f}"
            for count in COUNTS
            for row in (splits[str(seed)][str(count)] for seed in range(N_SPLITS))
        ]
        ratios = [f"{ratio(splits, count):.1f}" for count in COUNTS]
        rows.append([name, *cells, *ratios])
    header = ["set", *(f"{count} columns, split {seed}" for count in COUNTS for seed in range(N_SPLITS))]
    print_table("RebuildSelector less greedy steps", [*header, *(f"time, {count}" for count in COUNTS)], rows)
    summary = []
    for count in COUNTS:
        differences = [mean_difference(splits, count) for splits in figures.values()]
        ratios = np.array([ratio(splits, count) for splits in figures.values()])
        summary.append(
            [
                count,
                f"{np.mean(differences):+.4f}",
                f"{max(differences):+.4f}",
                f"{np.median(ratios):.1f}",
                f"{np.exp(np.mean(np.log(ratios))):.1f}",
                f"{ratios.max():.1f}",
            ]
        )
    header = ["columns", "mean difference", "worst set", "median of time ratios", "geometric mean", "largest"]
    print_table(f"RebuildSelector and greedy steps on {len(figures)} sets", header, summary)


def mean_difference(splits: dict[str, dict[str, dict[str, float]]], count: int) -> float:
    """Return how much larger the error is than that of greedy steps, over the splits."""
    rows = [split[str(count)] for split in splits.values()]
    return float(np.mean([row["rebuild_error"] - row["greedy_error"] for row in rows]))


def ratio(splits: dict[str, dict[str, dict[str, float]]], count: int) -> float:
    """Return how many times the time of greedy steps it takes, over the splits."""
    rows = [split[str(count)] for split in splits.values()]
    return sum(row["rebuild_seconds"] for row in rows) / sum(row["greedy_seconds"] for row in rows)


def print_curves(figures: dict[str, dict[str, float]]) -> None:
    """Print what the curves cost."""
    rows = [
        [
            name,
            row["counts"],
            row["chosen"],
            f"{row['auto_seconds'] / row['fit_seconds']:.1f}",
        ]
        for name, row in figures.items()
    ]
    header = ["set", "counts", "chosen", 'fit with "auto", in fits']
    print_table("What a curve costs", header, rows)
    ratios = np.array([row["auto_seconds"] / row["fit_seconds"] for row in figures.values()])
    print(f"At most 3 fits on {np.sum(ratios <= 3)} of {ratios.size} sets, median {np.median(ratios):.2f}.")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", help="where the .npz files are")
    parser.add_argument("--curve", action="store_true", help="time the choice of a count instead")
    parser.add_argument("--write", type=Path, help="file for all figures, as JSON")
    arguments = parser.parse_args()
    figures: dict[str, Any] = {}
    with threadpool_limits(1):
        for folder in arguments.folders:
            for name, X in data_sets(folder):
                figures[name] = curve_cost(X) if arguments.curve else compare(X)
                if arguments.write is not None:
                    arguments.write.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    (print_curves if arguments.curve else print_comparison)(figures)


if __name__ == "__main__":
    main()
