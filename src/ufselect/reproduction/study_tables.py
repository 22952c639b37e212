"""The tables of a reproduction, in reading order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ufselect.evaluation.choice import METRICS
from ufselect.evaluation.rank_test import RankTest
from ufselect.evaluation.tables import Table, counted_table, main_table, method_labels
from ufselect.reproduction.ablation import ablation_table
from ufselect.reproduction.findings import TABLE_COUNT, Study
from ufselect.reproduction.paper import SEVEN, TITLES
from ufselect.reproduction.paper_grid import PAPER_GRID
from ufselect.reproduction.paper_ranks import paper_ranks_table
from ufselect.reproduction.paper_tables import (
    means_table,
    optimism_table,
    paper_grid_table,
    paper_table,
    teacher_student_table,
)
from ufselect.reproduction.synthetic import shapes_table


def study_tables(study: Study) -> list[Table]:
    """Return every table of a study."""
    oracle = study.rows("oracle")
    tables = [
        main_table(
            study.rows(mode),
            mode,
            metric,
            study.datasets,
            None if mode == "oracle" else TABLE_COUNT,
            TITLES,
        )
        for mode in study.outcomes
        for metric in METRICS
    ]
    available = [name for name in study.datasets if name in study.problems]
    of_paper = [name for name in available if name in SEVEN]
    if any(name in TITLES for name in study.datasets):
        tables += [paper_table(oracle, metric, study.datasets) for metric in METRICS]
        tables += [paper_grid_table(oracle, study.datasets), means_table(oracle, of_paper)]
    deep = teacher_student_table(oracle, available)
    tables += [] if deep is None else [deep]
    tables.append(optimism_table(oracle, available))
    tables += list(_ablation_tables(study))
    if study.stabilities:
        tables.append(_stability_table(study, available))
    if study.paper_test is not None:
        tables.append(paper_ranks_table(study.paper_test, of_paper))
    if study.test is not None:
        tables.append(_rank_table(study.test))
    tables.append(shapes_table(study.shapes))
    return tables


def _ablation_tables(study: Study) -> Iterator[Table]:
    spaces = {"DSCOFS": ("ablation", "our space"), PAPER_GRID: ("ablation_paper_grid", "the paper's grid")}
    for method, (name, space) in spaces.items():
        found = {dataset: each[method] for dataset, each in study.ablations.items() if method in each}
        if found:
            yield ablation_table(found, study.datasets, name, space)


def _stability_table(study: Study, available: Sequence[str]) -> Table:
    labels = method_labels(study.rows("fixed"))
    words = {
        label: {
            TITLES.get(n, n): f"{study.stabilities[n][m]:.2f}" for n in available if m in study.stabilities[n]
        }
        for m, label in labels.items()
        if m != "AllFeatures"
    }
    title = (
        "Stability of the selection at default parameters over bootstrap samples: 1 always the same "
        "features, 0 no better than chance."
    )
    return counted_table("stability", title, "Method", words)


def _rank_table(test: RankTest) -> Table:
    order = np.argsort(test.average_ranks, kind="stable")
    body = tuple((test.labels[i], f"{test.average_ranks[i]:.2f}") for i in order)
    title = (
        f"Average ranks by ACC over {test.n_datasets} data sets, oracle. Friedman p = {test.p_value:.2g}; "
        f"critical difference {test.critical_difference:.2f} (Nemenyi, level {test.level:g})."
    )
    return Table("ranks", title, ("Method", "Average rank"), body)
