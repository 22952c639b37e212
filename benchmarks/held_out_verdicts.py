"""AutoSelector on held-out labelled sets: accuracy, rank among random selections, and verdict.

    python benchmarks/held_out_verdicts.py

The sets are those of ``labelled_sets.py``: a hash of the name decides which are held out, fixed before any
result was seen. 100 columns are selected, or a third of fewer than 200; the number of classes is given. ACC
is the mean of several runs of K-means. Labels agree if 95 of 100 random selections do worse; a verdict is
right if it says "yes" on these sets, and not on others. Of more than 1,000 rows some are drawn. Results
go to ``benchmarks/results/held_out_verdicts.json`` after every set with the commit of the code; sets that are
there are not repeated.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from common import code_version
from labelled_sets import labelled_sets

from ufselect import AutoSelector
from ufselect.metrics import evaluate_selection

RESULTS = Path(__file__).resolve().parent / "results" / "held_out_verdicts.json"
FIGURES = ("AutoSelector", "random columns", "all columns", "random selections beaten")
MAX_ROWS = 1000


def accuracy(X: np.ndarray, y: np.ndarray, columns: np.ndarray | None, n_runs: int) -> float:
    return float(evaluate_selection(X, y, columns, n_runs=n_runs, seeding="k-means++").acc_mean)


def judged(X: np.ndarray, y: np.ndarray) -> dict[str, float | str]:
    """Return the accuracy of AutoSelector, its rank among 100 random selections, and its verdict."""
    n_selected = 100 if X.shape[1] >= 200 else X.shape[1] // 3
    selector = AutoSelector(n_selected, goal="clusters", n_clusters=int(y.max()) + 1, random_state=0).fit(X)
    ours, rng = accuracy(X, y, selector.support_, 10), np.random.default_rng(0)
    draws = [accuracy(X, y, rng.permutation(X.shape[1])[:n_selected], 2) for _ in range(100)]
    beaten = float(np.mean(np.array(draws) < ours))
    figures = (ours, float(np.mean(draws)), accuracy(X, y, None, 5), beaten)
    return {**dict(zip(FIGURES, figures, strict=True)), "verdict": selector.verdict_}


def table(sets: list[dict]) -> dict[str, list]:
    """Return means and counts of verdicts, over all sets and over those of each kind of data."""
    rows = []
    for kind in ("all sets", *sorted({each["kind"] for each in sets})):
        some = [each for each in sets if kind in ("all sets", each["kind"])]
        *accuracies, beaten = (np.mean([each[name] for each in some]) for name in FIGURES)
        gains = [each["random selections beaten"] >= 0.95 for each in some]
        said = [each["verdict"] == "yes" for each in some]
        where = [
            sum(s for s, gain in zip(said, gains, strict=True) if gain is which) for which in (True, False)
        ]
        rows.append(
            [
                kind,
                str(len(some)),
                *(f"{mean:.1f}" for mean in accuracies),
                f"{100 * beaten:.0f} %",
                f"{where[0]} of {sum(gains)}",
                f"{where[1]} of {len(some) - sum(gains)}",
                f"{100 * np.mean(np.equal(said, gains)):.0f} %",
            ]
        )
    said = ["“yes” where labels agree", "“yes” where they do not", "verdicts that are right"]
    return {"columns": ["sets", "number", *FIGURES, *said], "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else {}
    found = stored.setdefault("sets", {})
    warnings.simplefilter("ignore")
    for each in labelled_sets("held_out"):
        if each.name in found:
            continue
        rows = np.sort(np.random.default_rng(0).permutation(len(each.X))[:MAX_ROWS])
        X = np.asarray(each.X[rows], dtype=np.float64)
        y = np.unique(each.y[rows], return_inverse=True)[1].ravel()
        shape = f"{X.shape[0]} × {X.shape[1]}, {y.max() + 1}"
        found[each.name] = {"kind": each.kind, "shape": shape, **judged(X, y)}
        stored["Held-out sets"] = {"code": code_version(), **table(list(found.values()))}
        options.results.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(each.name, found[each.name], flush=True)


if __name__ == "__main__":
    main()
