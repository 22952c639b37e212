"""Flat rows: one for each method, parameter point and count, averaged over starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

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
    ``nmi_start_std`` are over the means of the starts, 0 for a method without randomness. ``start`` is the
    seed of the one start behind the row where labels choose anew for each, None elsewhere.
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
    start: int | None = None


def collect_rows(
    selections: Iterable[Selection],
    scores: Mapping[str, Score],
    methods: Sequence[Method],
    problem: Problem,
) -> list[Row]:
    """Join selections with their scores and average over starts; failed fits give no row.

    A method with ``starts_apart`` keeps a row for each start.
    """
    labels = {method.key: method.label for method in methods}
    apart = {method.key for method in methods if method.starts_apart}
    groups: dict[tuple[str, Params, int, int | None], list[Selection]] = defaultdict(list)
    for selection in selections:
        if selection.status == OK:
            start = selection.seed if selection.method in apart else None
            groups[selection.method, selection.params, selection.n_features, start].append(selection)
    return [
        _row(problem.name, labels[key[0]], members, [scores[member.subset] for member in members], key[3])
        for key, members in groups.items()
    ]


def mean_over_starts(rows: Sequence[Row]) -> Row:
    """Return the mean of one row for each start; its count is the commonest, of equally common the least."""
    if len(rows) == 1:
        return rows[0]
    acc, nmi = (np.array([getattr(row, f"{metric}_mean") for row in rows]) for metric in ("acc", "nmi"))
    counts = [row.n_features for row in rows]
    acc_runs, nmi_runs = (
        tuple(run for row in rows for run in getattr(row, f"{metric}_runs")) for metric in ("acc", "nmi")
    )
    return replace(
        rows[0],
        n_features=min(counts, key=lambda count: (-counts.count(count), count)),
        n_starts=len(rows),
        acc_mean=float(acc.mean()),
        acc_std=float(np.std(acc_runs)),
        acc_start_std=float(acc.std()),
        nmi_mean=float(nmi.mean()),
        nmi_std=float(np.std(nmi_runs)),
        nmi_start_std=float(nmi.std()),
        seconds=float(np.mean([row.seconds for row in rows])),
        subsets=tuple(subset for row in rows for subset in row.subsets),
        acc_runs=acc_runs,
        nmi_runs=nmi_runs,
        start=None,
    )


def _row(dataset: str, label: str, members: list[Selection], scores: list[Score], start: int | None) -> Row:
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
        start=start,
    )
