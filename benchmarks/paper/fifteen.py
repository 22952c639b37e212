"""Fifteen methods by the paper's protocol, its eight and seven newer ones.

``python -m benchmarks.paper.fifteen -o FOLDER``, then the same with ``--table``.

The plan was fixed before the run. DSCOFS has one start here, three in the study of the paper.

- The sets, 10, 20, …, 100 columns, K-means runs and screening are those of the study of the paper.
- **oracle**: labels choose the grid point and the number of columns, for ACC and NMI separately. The paper's
  eight are run as it ran them (441 points and one random start for DSCOFS, t = 1 for LapScore, α = 10³ for
  RNE); the grids of the newer ones are those of ``ufselect.compare.methods.PAPER_GRIDS``: IFPCA 1 point,
  MCFS 5, SPEC 15, InfFS 11, NDFS 7, RUFS 7, BSUFS 100.
- **fixed**: the newer ones with default parameters and 100 columns, no labels; random ones from five seeds.
- Beside them all columns, random columns and PCA leverage.
- Curves of the eight over the number of columns (the paper's Figures 5, 6) and time on Isolet (Figure 2).
- Ranks by ACC in oracle mode of all fifteen. The figures of the eight there, and those of the best of 100
  random selections, are of the stored tables ``acc_against_paper`` (three starts) and ``acc_oracle``.

A method, a mode and a set are a cell, some lines of JSON in FOLDER/fifteen.jsonl. A run that was stopped
goes on with the cells that are missing, cheap sets first. The tables are written to
``benchmarks/results/reproduction``; a cell that is missing is shown as a gap.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.common import code_version
from benchmarks.paper.experiments import seconds_of_fits
from benchmarks.paper.methods import AS_RUN, paper_grid, rivals_as_run
from benchmarks.paper.printed import SEVEN, TIMED_SET, TITLES
from benchmarks.paper.race import Race
from benchmarks.paper.rank_test import rank_test
from benchmarks.paper.tables import EIGHT, TABLE_COUNT
from benchmarks.record import tables as tables_in

from ufselect._registry import all_selectors
from ufselect.compare.methods import ALL_FEATURES, BEST_DRAW, Method, choose_methods
from ufselect.compare.protocol import PAPER_COUNTS, Problem, Protocol, make_problem
from ufselect.compare.tables import (
    METRICS,
    Row,
    Table,
    best,
    best_of_each_start,
    choose,
    grouped,
    main_table,
)
from ufselect.datasets import load_dataset

NEWER = ("IFPCA", "MCFS", "SPEC", "InfFS", "NDFS", "RUFS", "BSUFS")
OF_THE_PAPER = {AS_RUN.get(method, method): all_selectors()[method].label for method in EIGHT}
CHEAP_FIRST = ("lung_discrete", "glioma", "umist", "warppie10p", "usps", "isolet", "coil20")
RESULTS = Path(__file__).resolve().parents[1] / "results" / "reproduction"


def run(path: Path, minutes: float, sets: list[str], methods: list[str]) -> None:
    """Work on the cells that are missing, one after the other, until so many CPU minutes are over."""
    deadline = time.process_time() + 60 * minutes
    known = {(row["mode"], row["method"], row["dataset"]) for row in stored_rows(path)}
    for name in sets:
        bunch = load_dataset(name)
        problem = make_problem(name, bunch.data, bunch.target, PAPER_COUNTS)
        for mode, method in cells(problem, methods):
            if (mode, method.key, name) in known:
                continue
            if time.process_time() > deadline:
                return
            started = time.process_time()
            counts = problem.counts if mode == "oracle" else problem.counts[-1:]
            runner = Race(Protocol())
            outcome = runner.run(replace(problem, counts=counts), [method])
            # The best of each start at each count: what curves, tables and the best count of all rest on.
            groups = grouped(outcome.rows, "n_features").values()
            rows = [
                row for group in groups for metric in METRICS for row in best_of_each_start(group, metric)
            ]
            facts = {"mode": mode, "code": code_version(), "failed": len(outcome.failures)}
            if (mode, name) == ("oracle", TIMED_SET) and method.selector is not None:
                chosen = best_of_each_start(rows, "acc")[:1]
                facts["seconds_of_best"] = seconds_of_fits(runner, problem, chosen)[method.key]
            with path.open("a", encoding="utf-8") as file:
                for row in {(row["params"], row["n_features"], row["start"]): row for row in rows}.values():
                    kept = {key: value for key, value in row.items() if key != "features"}
                    file.write(json.dumps({**facts, **kept}) + "\n")
            print(name, mode, method.key, f"{time.process_time() - started:.0f} s", flush=True)


def cells(problem: Problem, names: list[str]) -> Iterator[tuple[str, Method]]:
    """Yield mode and method of the cells of a data set, for the methods asked for and the baselines."""
    protocol = Protocol()
    newer = [name for name in NEWER if name in names]
    for method in choose_methods(newer, "fixed", problem, protocol):
        yield "fixed", method
    as_run = {AS_RUN.get(name, name) for name in EIGHT if name in names}
    eight = [
        *choose_methods(EIGHT, "oracle", problem, protocol),
        *rivals_as_run(problem),
        paper_grid(problem, 1),
    ]
    yield from (
        ("oracle", method)
        for method in choose_methods(newer, "oracle", problem, protocol)
        if method.key != BEST_DRAW
    )
    yield from (("oracle", method) for method in eight if method.key in as_run)


def stored_rows(path: Path) -> list[Row]:
    """Return the rows of the finished cells, without their columns."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [{**json.loads(line), "features": []} for line in lines]


def newer_tables(rows: list[Row], stored: dict[str, dict[str, float]]) -> list[Table]:
    """Return ACC and NMI by both modes, and the ranks of the paper's methods and the newer ones.

    ``stored`` has the oracle ACC of other rows, by label and set. A method that is finished on fewer than
    five sets has no rank; ranks are over the sets that all others have.
    """
    found = []
    rows = [row for row in rows if row["method"] not in OF_THE_PAPER]
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
        f"Mean ACC of {len(sets)} sets and average ranks, for the paper's methods run as in the paper and "
        f"for newer ones. Grid point and number of columns tuned with labels. Friedman p {test.p_value:.1e}; "
        f"critical difference {test.critical_difference:.2f}."
    )
    columns = ("Method", "Group", "ACC", "Average rank", "Differs from DSCOFS")
    return [*found, Table("newer_ranks", title, columns, tuple(body))]


def curve_tables(rows: list[Row]) -> list[Table]:
    """Return the best means of the paper's eight at each count, and accuracy and time on Isolet.

    They are of the sets on which all eight are finished.
    """
    own = [row for row in rows if row["mode"] == "oracle" and row["method"] in (ALL_FEATURES, *OF_THE_PAPER)]
    cells = grouped(own, "dataset", "method")
    sets = [name for name in SEVEN if all((name, key) in cells for key in (ALL_FEATURES, *OF_THE_PAPER))]
    found = []
    for metric in METRICS:
        body = []
        for name in sets:
            for key, label in {ALL_FEATURES: "All features", **OF_THE_PAPER}.items():
                counts = grouped(cells[name, key], "n_features")
                means = {count: best(group, metric)[f"{metric}_mean"] for (count,), group in counts.items()}
                whole = means.popitem()[1] if key == ALL_FEATURES else None
                body.append(
                    (TITLES[name], label, *(f"{whole or means[count]:.2f}" for count in PAPER_COUNTS))
                )
        title = (
            f"{metric.upper()} of the paper's eight methods, run as in the paper, at each number of columns. "
            f"Grid point tuned with labels at each number; DSCOFS from one random start."
        )
        columns = ("Data set", "Method", *map(str, PAPER_COUNTS))
        found.append(Table(f"curves_{metric}", title, columns, tuple(body)))
    timed = {key: best(cells[TIMED_SET, key], "acc") for key in OF_THE_PAPER if TIMED_SET in sets}
    found.append(
        Table(
            "time",
            f"Best ACC on {TITLES[TIMED_SET]} and CPU seconds of the fit behind it, one thread.",
            ("Method", "ACC", "Columns", "CPU seconds"),
            tuple(
                (
                    OF_THE_PAPER[key],
                    f"{row['acc_mean']:.2f}",
                    f"{row['n_features']}",
                    f"{row['seconds_of_best']:.2g}",
                )
                for key, row in timed.items()
            ),
        )
    )
    return found


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
    (table,) = tables_in((RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines()).values()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("study"), metavar="FOLDER")
    parser.add_argument("--minutes", type=float, default=np.inf, help="CPU minutes after which to stop")
    parser.add_argument("--dataset", nargs="+", default=CHEAP_FIRST, help="only these data sets")
    parser.add_argument("--methods", nargs="+", default=(*NEWER, *EIGHT), help="only these methods")
    parser.add_argument("--table", action="store_true", help="write the tables of what is finished")
    asked = parser.parse_args()
    asked.output.mkdir(parents=True, exist_ok=True)
    path = asked.output / "fifteen.jsonl"
    if not asked.table:
        run(path, asked.minutes, asked.dataset, asked.methods)
        return
    rows = stored_rows(path)
    code = ", ".join(sorted({row["code"] for row in rows}))
    tables = curve_tables(rows)
    if {*NEWER} & {row["method"] for row in rows}:
        tables += newer_tables(rows, stored_accuracy())
    for table in tables:
        text = f"{table.to_markdown()}\nCode: ufselect {code}.\n"
        (RESULTS / f"{table.name}.md").write_text(text, encoding="utf-8")
        print(text)


if __name__ == "__main__":
    main()
