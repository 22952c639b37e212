"""Seven methods that the paper does not compare, by its protocol: ``python -m benchmarks.paper.newer``.

The plan, fixed before the run:

- The sets, 10, 20, …, 100 columns, K-means runs and screening are those of the study of the paper.
- **oracle**: labels choose the grid point and the number of columns, for ACC and NMI separately, as for the
  paper's eight methods. The grids are those of ``ufselect.evaluation.methods.PAPER_GRIDS``: IFPCA 1 point,
  MCFS 5, SPEC 15, InfFS 11, NDFS 7, RUFS 7, BSUFS 100.
- **fixed**: default parameters and 100 columns, no labels; random methods from five seeds.
- Beside them all columns, random columns and PCA leverage.
- Ranks by ACC in oracle mode of these seven and the paper's eight. The figures of the eight, and those of
  the best of 100 random selections, are of the stored tables ``acc_against_paper`` and ``acc_oracle``.

A method, a mode and a set are a cell, one line of JSON in FOLDER/newer.jsonl. A run that was stopped goes on
with the cells that are missing; cheap methods and sets come first. At the end, or with ``--table``, the
tables are written to ``benchmarks/results/reproduction``; a cell that is missing is shown as a gap.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.common import code_version
from benchmarks.paper.printed import SEVEN, TITLES
from benchmarks.paper.race import Race
from benchmarks.paper.rank_test import rank_test
from benchmarks.paper.tables import EIGHT, TABLE_COUNT
from benchmarks.record import tables

from ufselect.datasets import load_dataset
from ufselect.evaluation.methods import BEST_DRAW, choose_methods
from ufselect.evaluation.protocol import PAPER_COUNTS, Protocol, make_problem
from ufselect.evaluation.tables import METRICS, Row, Table, choose, main_table
from ufselect.registry import all_selectors

NEWER = ("IFPCA", "MCFS", "SPEC", "InfFS", "NDFS", "RUFS", "BSUFS")
CHEAP_FIRST = ("lung_discrete", "glioma", "umist", "warppie10p", "usps", "isolet", "coil20")
RESULTS = Path(__file__).resolve().parents[1] / "results" / "reproduction"


def run(path: Path) -> None:
    """Work on the cells that are missing, one after the other."""
    protocol = Protocol()
    known = {(row["mode"], row["method"], row["dataset"]) for row in stored_rows(path)}
    cells = []
    for name in CHEAP_FIRST:
        bunch = load_dataset(name)
        problem = make_problem(name, bunch.data, bunch.target, PAPER_COUNTS)
        for mode in ("fixed", "oracle"):
            counts = problem.counts if mode == "oracle" else problem.counts[-1:]
            for method in choose_methods(NEWER, mode, problem, protocol):
                if method.key != BEST_DRAW and (mode, method.key, name) not in known:
                    cells.append((mode, method, replace(problem, counts=counts)))
    last = ("NDFS", "RUFS")
    cells.sort(key=lambda cell: last.index(cell[1].key) if cell[1].key in last else -1)
    for mode, method, problem in cells:
        started = time.process_time()
        outcome = Race(protocol).run(problem, [method])
        best = [choose(outcome.rows, mode, metric)[problem.name, method.key] for metric in METRICS]
        facts = {"mode": mode, "code": code_version(), "failed": len(outcome.failures)}
        with path.open("a", encoding="utf-8") as file:
            for row in {row["params"] + str(row["n_features"]): row for row in best}.values():
                kept = {key: value for key, value in row.items() if key != "features"}
                file.write(json.dumps({**facts, **kept}) + "\n")
        print(problem.name, mode, method.key, f"{time.process_time() - started:.0f} s", flush=True)


def stored_rows(path: Path) -> list[Row]:
    """Return the rows of the finished cells."""
    return [*map(json.loads, path.read_text(encoding="utf-8").splitlines())] if path.exists() else []


def newer_tables(rows: list[Row], stored: dict[str, dict[str, float]]) -> list[Table]:
    """Return ACC and NMI by both modes, and the ranks of the paper's methods and the newer ones.

    ``stored`` has the oracle ACC of other rows, by label and set. A method that is finished on fewer than
    five sets has no rank; ranks are over the sets that all others have.
    """
    found = []
    for mode in ("oracle", "fixed"):
        own = [row for row in rows if row["mode"] == mode]
        for metric in METRICS:
            table = main_table(own, mode, metric, SEVEN, None if mode == "oracle" else TABLE_COUNT, TITLES)
            found.append(replace(table, name=f"newer_{table.name}"))
    accuracy = {label: dict(each) for label, each in stored.items()}
    for (name, _), row in choose((row for row in rows if row["mode"] == "oracle"), "oracle", "acc").items():
        accuracy.setdefault(row["label"], {})[name] = row["acc_mean"]
    group = {all_selectors()[method].label: "paper" for method in EIGHT}
    group |= {all_selectors()[method].label: "newer" for method in NEWER}
    ranked = [label for label in group if len(accuracy.get(label, {})) >= 5]
    sets = [name for name in SEVEN if all(name in accuracy[label] for label in ranked)]
    test = rank_test([[accuracy[label][name] for label in ranked] for name in sets], ranked)
    place = dict(zip(ranked, test.average_ranks, strict=True))
    apart = dict(zip(ranked, test.pairwise[ranked.index("DSCOFS")] < test.level, strict=True))
    body = [
        (
            label,
            group.get(label, "baseline"),
            f"{np.mean([each[name] for name in sets]):.2f}" if {*sets} <= each.keys() else "not finished",
            f"{place[label]:.2f}" if label in place else "–",
            ("yes" if apart[label] else "no") if label in place and label != "DSCOFS" else "–",
        )
        for label, each in sorted(accuracy.items(), key=lambda item: (place.get(item[0], 99.0), item[0]))
    ]
    title = (
        f"ACC, mean of {len(sets)} sets, and average ranks of the paper's methods, as it ran them, and of "
        f"newer ones; labels chose grid point and number of columns. Friedman p {test.p_value:.1e}; "
        f"critical difference {test.critical_difference:.2f}. Newer ones: ufselect "
        f"{', '.join(sorted({row['code'] for row in rows}))}."
    )
    columns = ("Method", "Group", "ACC", "Average rank", "Told from DSCOFS")
    return [*found, Table("newer_ranks", title, columns, tuple(body))]


def stored_accuracy() -> dict[str, dict[str, float]]:
    """Return the oracle ACC of the paper's methods, as it ran them, and of the best random selection."""
    names = {title: name for name, title in TITLES.items() if name in SEVEN}
    found: dict[str, dict[str, float]] = {}
    for title, label, _, here, *_ in _stored_table("acc_against_paper")["rows"]:
        if title in names and label != "All features":
            found.setdefault(label, {})[names[title]] = float(here.split()[0])
    table = _stored_table("acc_oracle")
    (best,) = (row for row in table["rows"] if row[0].startswith("Random, best"))
    found[best[0]] = {
        names[title]: float(cell.split()[0])
        for title, cell in zip(table["columns"], best, strict=True)
        if title in names
    }
    return found


def _stored_table(name: str) -> dict[str, list]:
    (table,) = tables((RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines()).values()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("study"), metavar="FOLDER")
    parser.add_argument("--table", action="store_true", help="write the tables of what is finished")
    asked = parser.parse_args()
    asked.output.mkdir(parents=True, exist_ok=True)
    path = asked.output / "newer.jsonl"
    if not asked.table:
        run(path)
    for table in newer_tables(stored_rows(path), stored_accuracy()):
        (RESULTS / f"{table.name}.md").write_text(table.to_markdown(), encoding="utf-8")
        print(table.to_markdown())


if __name__ == "__main__":
    main()
