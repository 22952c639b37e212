"""The tables of a study: our figures in all modes, beside those that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.paper.ablation import ablation_table
from benchmarks.paper.choice import (
    best,
    best_of_each_start,
    choose,
    grouped,
    main_table,
    method_labels,
    words_of,
)
from benchmarks.paper.methods import AS_RUN, PAPER_GRID
from benchmarks.paper.printed import (
    AVERAGE_RANKS,
    FRIEDMAN_P,
    METHODS,
    TITLES,
    TOLD_APART,
    TSFS,
    published,
)
from benchmarks.paper.rank_test import LEVEL, RankTest, rank_test
from benchmarks.paper.shapes import shapes_table

from ufselect._registry import all_selectors
from ufselect.compare.compare import Table
from ufselect.compare.methods import ALL_FEATURES, BEST_DRAW
from ufselect.compare.runner import METRICS, Row

if TYPE_CHECKING:
    from benchmarks.paper.study import Study

# The paper's largest count: where labels choose nothing, figures are compared there.
TABLE_COUNT = 100
EIGHT = METHODS[1:]
NEWER = ("IFPCA", "MCFS", "SPEC", "InfFS", "NDFS", "RUFS", "BSUFS")
BASELINES = (ALL_FEATURES, "RandomSubset", BEST_DRAW, "PCALeverage")


def study_tables(study: Study) -> list[Table]:
    """Return every table of a study, in reading order."""
    oracle = study.rows("oracle")
    tables = [
        main_table(
            study.rows(mode), mode, metric, study.datasets, None if mode == "oracle" else TABLE_COUNT, TITLES
        )
        for mode in study.outcomes
        for metric in METRICS
    ]
    available = [name for name in study.datasets if name in study.problems]
    of_paper = [name for name in available if name in TITLES]
    if any(name in TITLES for name in study.datasets):
        tables += [paper_table(oracle, metric, study.datasets) for metric in METRICS]
        tables += [paper_grid_table(oracle, study.datasets), means_table(oracle, of_paper)]
    deep = teacher_student_table(oracle, available)
    tables += [] if deep is None else [deep]
    tables.append(optimism_table(oracle, available))
    for method, name, space in (
        ("DSCOFS", "ablation", "our search"),
        (PAPER_GRID, "ablation_paper_grid", "the paper's grid"),
    ):
        ablations = {dataset: each[method] for dataset, each in study.ablations.items() if method in each}
        if ablations:
            tables.append(ablation_table(ablations, study.datasets, name, space))
    tables.append(stability_table(study, available))
    ranked = ranked_sets(study)
    test = eight_rank_test(oracle, ranked)
    tables += [] if test is None else [paper_ranks_table(test, ranked)]
    both = all_ranks_table(oracle, ranked)
    tables += [] if both is None else [both]
    tables += [curve_table(oracle, metric, available) for metric in METRICS]
    minutes = tuple((part, f"{spent:.1f}") for part, spent in study.minutes.items())
    duration = Table(
        "duration",
        "Minutes of this run, without what an earlier one had stored.",
        ("Part", "Minutes"),
        minutes,
    )
    return [*tables, time_table(study, available), shapes_table(study.shapes), duration]


def paper_table(rows: Sequence[Row], metric: str, datasets: Sequence[str]) -> Table:
    """Return our oracle figures beside the paper's, with the difference and its verdict.

    Methods of which we have two settings are compared by that of the paper; the other is beside it.
    """
    chosen = choose(rows, "oracle", metric)
    labels = method_labels(rows)
    body = []
    for name in datasets:
        for method in METHODS:
            theirs = published(metric, name, method)
            if theirs is None or not {method, AS_RUN.get(method, method)} & set(labels):
                continue
            here, ours = chosen.get((name, AS_RUN.get(method, method))), chosen.get((name, method))
            gap = None if here is None else here[f"{metric}_mean"] - theirs.mean
            body.append(
                (
                    TITLES.get(name, name),
                    "All features" if method == ALL_FEATURES else all_selectors()[method].label,
                    f"{theirs.mean:.2f} ± {theirs.std:.2f}"
                    + ("" if theirs.n_features is None else f" ({theirs.n_features})"),
                    "not available" if here is None else words_of(here, metric),
                    "–" if gap is None else f"{gap:+.2f}",
                    "–" if gap is None else verdict(gap, theirs.std),
                    "–" if ours is here else words_of(ours, metric),
                )
            )
    columns = (
        "Data set", "Method", "Paper", "Here, as the paper ran it", "Difference", "Verdict", "Here, ours",
    )  # fmt: skip
    title = (
        f"{metric.upper()} in the paper and here, tuned with labels. Within: at most one of the paper's "
        "standard deviations below. As the paper ran it: its grid for DSCOFS, t = 1 for LapScore, α = 10³ "
        "for RNE. Ours: our own settings of these three."
    )
    return Table(f"{metric}_against_paper", title, columns, tuple(body))


def verdict(difference: float, std: float) -> str:
    """Say how a difference from the paper compares with the paper's standard deviation."""
    if difference >= 0:
        return "at or above"
    return "within" if -difference <= std else "below"


def means_table(rows: Sequence[Row], datasets: Sequence[str]) -> Table:
    """Return each method's mean over the data sets, here and in the paper."""
    body = []
    chosen = {metric: choose(rows, "oracle", metric) for metric in METRICS}
    printed_for = {AS_RUN.get(method, method): method for method in METHODS}
    for method, label in method_labels(rows).items():
        cells = [label]
        for metric in METRICS:
            ours = [chosen[metric].get((name, method)) for name in datasets]
            theirs = [published(metric, name, printed_for.get(method, "")) for name in datasets]
            cells.append(_mean([row and row[f"{metric}_mean"] for row in ours]))
            cells.append(_mean([figure and figure.mean for figure in theirs]))
        body.append(tuple(cells))
    title = f"Means over {len(datasets)} data sets, tuned with labels, here and in the paper."
    return Table("means", title, ("Method", "ACC", "ACC, paper", "NMI", "NMI, paper"), tuple(body))


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.2f}" if values and len(known) == len(values) else "–"


def paper_grid_table(rows: Sequence[Row], datasets: Sequence[str]) -> Table:
    """Return DSCOFS by the published grid, with the spread over starts, beside the paper and our search."""
    body = []
    for name in datasets:
        cells = [TITLES.get(name, name)]
        for metric in METRICS:
            theirs = published(metric, name, "DSCOFS")
            of_grid = [row for row in rows if (row["dataset"], row["method"]) == (name, PAPER_GRID)]
            ours = choose([row for row in rows if row["dataset"] == name], "oracle", metric).get(
                (name, "DSCOFS")
            )
            values = [row[f"{metric}_mean"] for row in best_of_each_start(of_grid, metric)]
            least_most = f" ({min(values):.2f}–{max(values):.2f}, {len(values)} starts)" if values[1:] else ""
            cells.append("–" if theirs is None else f"{theirs.mean:.2f}")
            cells.append(f"{np.mean(values):.2f}{least_most}" if values else "not available")
            cells.append("–" if ours is None else f"{ours[f'{metric}_mean']:.2f}")
        body.append(tuple(cells))
    title = (
        "DSCOFS in the paper, on the paper's grid and by our search. The paper's grid: 441 points with "
        "unscaled penalties; point and number of columns tuned with labels for each random start; mean over "
        "the starts, range in brackets. Ours: 96 points, eight starts among them."
    )
    parts = [f"{metric.upper()}, {what}" for metric in METRICS for what in ("paper", "paper's grid", "ours")]
    return Table("paper_grid", title, ("Data set", *parts), tuple(body))


def teacher_student_table(rows: Sequence[Row], datasets: Sequence[str]) -> Table | None:
    """Return TSFS beside the paper's figures for it and beside DSCOFS; None where it was not run."""
    body = []
    chosen = {metric: choose(rows, "oracle", metric) for metric in METRICS}
    for name in datasets:
        if (name, "TSFS") not in chosen["acc"]:
            continue
        cells = [TITLES.get(name, name)]
        for metric, printed in zip(METRICS, TSFS.get(name, (None, None)), strict=True):
            cells.append("–" if printed is None else f"{printed:.2f}")
            cells += [words_of(chosen[metric].get((name, method)), metric) for method in ("TSFS", PAPER_GRID)]
        body.append(tuple(cells))
    if not body:
        return None
    title = (
        "TSFS in the paper and here, and DSCOFS on the paper's grid. Penalty and number of columns tuned "
        "with labels for each seed; mean over the seeds."
    )
    parts = [f"{m.upper()}, {what}" for m in METRICS for what in ("TSFS, paper", "TSFS here", "DSCOFS here")]
    return Table("tsfs", title, ("Data set", *parts), tuple(body))


def optimism_table(rows: Sequence[Row], datasets: Sequence[str]) -> Table:
    """Return how much of each best mean is the luck of its K-means runs.

    The point is chosen by half of the runs and scored by the other half, both ways; the mean of the two is
    free of that luck, though not of the labels' choice.
    """
    groups = grouped(rows, "dataset", "method")
    body = []
    for method, label in method_labels(rows).items():
        cells = [label]
        for metric in METRICS:
            starts = [grouped(groups.get((name, method), []), "start").values() for name in datasets]
            if all(starts):
                whole = [np.mean([max(r[f"{metric}_mean"] for r in run) for run in each]) for each in starts]
                split = [np.mean([nested_mean(run, metric) for run in each]) for each in starts]
                cells += [f"{np.mean(whole):.2f}", f"{np.mean(split):.2f}"]
            else:
                cells += ["–", "–"]
        body.append(tuple(cells))
    columns = ("Method", *(f"{m.upper()}, {what}" for m in METRICS for what in ("best", "held-out runs")))
    title = (
        "Best mean over all K-means runs, and the mean of held-out runs: tuned with labels on one half of "
        f"the runs, scored on the other. Means over {len(datasets)} data sets."
    )
    return Table("optimism", title, columns, tuple(body))


def nested_mean(rows: Sequence[Row], metric: str) -> float:
    """Return the mean, both ways, of the runs of one half at the point that is best by the other half."""
    runs = np.array([row[f"{metric}_runs"] for row in rows])
    if runs.shape[1] < 2:
        return float(runs.mean(axis=1).max())
    first, second = (half.mean(axis=1) for half in np.array_split(runs, [runs.shape[1] // 2], axis=1))
    return float(np.mean([second[np.argmax(first)], first[np.argmax(second)]]))


def stability_table(study: Study, available: Sequence[str]) -> Table:
    """Return the stability of each method's selection on each data set."""
    stabilities = study.stabilities
    body = tuple(
        (
            label,
            *(
                f"{stabilities[name][method]:.2f}" if method in stabilities[name] else "–"
                for name in available
            ),
        )
        for method, label in method_labels(study.rows("fixed")).items()
        if method != ALL_FEATURES
    )
    title = (
        "Stability of the selection with default parameters over bootstrap samples: 1 for always the same "
        "columns, 0 for chance."
    )
    return Table("stability", title, ("Method", *(TITLES.get(name, name) for name in available)), body)


def printed_rank_test(datasets: Sequence[str]) -> RankTest:
    """Rank the eight methods by the figures that the paper prints for some data sets."""
    figures = [[published("acc", name, method) for method in EIGHT] for name in datasets]
    return rank_test([[figure.mean for figure in row if figure] for row in figures])


def ranked_sets(study: Study) -> list[str]:
    """Return the data sets over which methods are ranked: the paper's, or all if fewer than two are."""
    of_paper = [name for name in study.problems if name in TITLES]
    return of_paper if len(of_paper) > 1 else [*study.problems]


def eight_rank_test(rows: Sequence[Row], datasets: Sequence[str]) -> RankTest | None:
    """Rank the paper's eight methods by our figures; None where one has no figure or sets are too few."""
    chosen = choose(rows, "oracle", "acc")
    keys = [AS_RUN.get(method, method) for method in EIGHT]
    if len(datasets) < 2 or any((name, key) not in chosen for name in datasets for key in keys):
        return None
    return rank_test([[chosen[name, key]["acc_mean"] for key in keys] for name in datasets])


def paper_ranks_table(test: RankTest, datasets: Sequence[str]) -> Table:
    """Set our ranks beside those of the printed figures on the same sets and those that the paper prints.

    Data sets that are not the paper's have our ranks alone.
    """
    same, whole = (
        printed_rank_test([*datasets]) if {*datasets} <= {*TITLES} else None,
        printed_rank_test([*TITLES]),
    )

    # Whether Nemenyi's test tells each method from DSCOFS, the last of the eight.
    def told(each: RankTest) -> list[str]:
        gaps = np.abs(each.average_ranks - each.average_ranks[-1])
        return [*("yes" if gap > each.critical_difference else "no" for gap in gaps[:-1]), "–"]

    in_paper = [*("yes" if method in TOLD_APART else "no" for method in EIGHT[:-1]), "–"]
    cells = {
        "Method": [all_selectors()[method].label for method in EIGHT],
        "Rank here": [f"{rank:.2f}" for rank in test.average_ranks],
        "Printed": [f"{AVERAGE_RANKS[method]:g}" for method in EIGHT],
        "Differs from DSCOFS here": told(test),
        "In the paper": in_paper,
    }
    title = f"Average ranks of the paper's eight methods by ACC. Friedman p: {test.p_value:.2g} here"
    critical = f"Critical difference {test.critical_difference:.2f} and {whole.critical_difference:.2f}."
    if same is not None:
        cells[f"Printed figures, {len(datasets)} sets"] = [f"{rank:.2f}" for rank in same.average_ranks]
        cells[f"By the printed figures, {len(datasets)} sets"] = told(same)
        title += f", {same.p_value:.2g} from the printed figures on these {len(datasets)} sets"
    title += f", {whole.p_value:.2g} on all {len(TITLES)} (printed: {FRIEDMAN_P:g}). {critical}"
    return Table("ranks_paper", title, tuple(cells), tuple(zip(*cells.values(), strict=True)))


def all_ranks_table(rows: Sequence[Row], datasets: Sequence[str]) -> Table | None:
    """Rank the paper's methods, run as in the paper, and newer ones, with baselines beside them.

    None without DSCOFS, another method or a second data set.
    """
    chosen, labels = choose(rows, "oracle", "acc"), method_labels(rows)
    label_of = {AS_RUN.get(method, method): all_selectors()[method].label for method in (*EIGHT, *NEWER)}
    ranked = [key for key in label_of if all((name, key) in chosen for name in datasets)]
    if len(datasets) < 2 or len(ranked) < 3 or PAPER_GRID not in ranked:
        return None
    scores = {
        key: [chosen[name, key]["acc_mean"] for name in datasets]
        for key in (*ranked, *BASELINES)
        if key in labels
    }
    test = rank_test([[scores[key][place] for key in ranked] for place in range(len(datasets))])
    rank = dict(zip(ranked, test.average_ranks, strict=True))
    differs = dict(zip(ranked, test.pairwise[ranked.index(PAPER_GRID)] < LEVEL, strict=True))
    body = [
        (
            label_of.get(key, labels[key]),
            "newer" if key in NEWER else "paper" if key in rank else "baseline",
            f"{np.mean(scores[key]):.2f}",
            f"{rank[key]:.2f}" if key in rank else "–",
            "–" if key not in rank or key == PAPER_GRID else "yes" if differs[key] else "no",
        )
        for key in sorted(scores, key=lambda key: (rank.get(key, np.inf), labels[key]))
    ]
    title = (
        f"Mean ACC of {len(datasets)} sets and average ranks, for the paper's methods run as in the paper "
        f"and for newer ones. Grid point and number of columns tuned with labels. "
        f"Friedman p {test.p_value:.1e}; critical difference {test.critical_difference:.2f}."
    )
    return Table(
        "ranks_all", title, ("Method", "Group", "ACC", "Average rank", "Differs from DSCOFS"), tuple(body)
    )


def curve_table(rows: Sequence[Row], metric: str, datasets: Sequence[str]) -> Table:
    """Return the best means of the paper's eight methods at each number of columns."""
    label_of = {AS_RUN.get(method, method): all_selectors()[method].label for method in EIGHT}
    cells = grouped(rows, "dataset", "method", "n_features")
    counts = sorted({count for _, key, count in cells if key in label_of})
    means = {cell: f"{best(group, metric)[f'{metric}_mean']:.2f}" for cell, group in cells.items()}
    body = []
    for name in datasets:
        (whole,) = (
            mean for (dataset, key, _), mean in means.items() if (dataset, key) == (name, ALL_FEATURES)
        )
        lines = {
            label: [means.get((name, key, count)) for count in counts] for key, label in label_of.items()
        }
        run = [any(column) for column in zip(*lines.values(), strict=True)]
        lines = {"All features": [whole if each else None for each in run], **lines}
        body += [
            (TITLES.get(name, name), label, *(cell or "–" for cell in line))
            for label, line in lines.items()
            if any(line)
        ]
    title = (
        f"{metric.upper()} of the paper's eight methods, run as in the paper, at each number of columns. "
        "Grid point tuned with labels at each number; DSCOFS and RNE are means over random starts."
    )
    return Table(f"curves_{metric}", title, ("Data set", "Method", *map(str, counts)), tuple(body))


def time_table(study: Study, datasets: Sequence[str]) -> Table:
    """Return accuracy and time of the paper's eight methods at their best."""
    chosen = choose(study.rows("oracle"), "oracle", "acc")
    body = tuple(
        (
            TITLES.get(name, name),
            all_selectors()[method].label,
            f"{chosen[name, key]['acc_mean']:.2f}",
            f"{chosen[name, key]['n_features']}",
            f"{study.seconds[name][key]:.2g}",
        )
        for name in datasets
        for method, key in ((method, AS_RUN.get(method, method)) for method in EIGHT)
        if key in study.seconds[name]
    )
    title = (
        "Best ACC, tuned with labels, and CPU seconds of the fit behind it (of the first start), one thread."
    )
    return Table("time", title, ("Data set", "Method", "ACC", "Columns", "CPU seconds"), body)
