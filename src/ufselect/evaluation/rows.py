"""Flat rows: one for each method, parameter point and count, averaged over starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ufselect.evaluation.fitting import OK
from ufselect.evaluation.keys import Params
from ufselect.evaluation.methods import Method
from ufselect.evaluation.protocol import Problem
from ufselect.evaluation.store import Score, Selection


@dataclass(frozen=True)
class Row:
    """A grid point's result.

    ``acc_std`` and ``nmi_std`` are over all K-means runs of all starts; ``acc_start_std`` and
    ``nmi_start_std`` are over the means of the starts, 0 for a method without randomness.
    """

    dataset: str
    method: str
    label: str
    params: Params
    n_features: int
    n_starts: int
    n_runs: int
    acc_mean: float
    acc_std: float
    acc_start_std: float
    nmi_mean: float
    nmi_std: float
    nmi_start_std: float
    seconds: float
    subsets: tuple[str, ...]
    acc_runs: tuple[float, ...]
    nmi_runs: tuple[float, ...]
    note: str


def collect_rows(
    selections: Iterable[Selection],
    scores: Mapping[str, Score],
    methods: Sequence[Method],
    problem: Problem,
) -> list[Row]:
    """Join selections with their scores and average over starts; failed fits give no row."""
    labels = {method.key: method.label for method in methods}
    groups: dict[tuple[str, Params, int], list[Selection]] = defaultdict(list)
    for selection in selections:
        if selection.status == OK:
            groups[selection.method, selection.params, selection.n_features].append(selection)
    return [
        _row(problem.name, labels[key[0]], members, [scores[member.subset] for member in members])
        for key, members in groups.items()
    ]


def _row(dataset: str, label: str, members: list[Selection], scores: list[Score]) -> Row:
    acc = np.array([score.acc_runs for score in scores])
    nmi = np.array([score.nmi_runs for score in scores])
    first = members[0]
    return Row(
        dataset=dataset,
        method=first.method,
        label=label,
        params=first.params,
        n_features=first.n_features,
        n_starts=len(members),
        n_runs=scores[0].n_runs,
        acc_mean=float(acc.mean()),
        acc_std=float(acc.std()),
        acc_start_std=float(acc.mean(axis=1).std()),
        nmi_mean=float(nmi.mean()),
        nmi_std=float(nmi.std()),
        nmi_start_std=float(nmi.mean(axis=1).std()),
        seconds=float(np.mean([member.seconds for member in members])),
        subsets=tuple(member.subset for member in members),
        acc_runs=tuple(acc.ravel().tolist()),
        nmi_runs=tuple(nmi.ravel().tolist()),
        note="; ".join(sorted({member.note for member in members} - {""})),
    )
