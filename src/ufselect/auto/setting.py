"""What a choice without labels works with, worked out from the data and the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ufselect.auto.counts import cluster_count, count_to_judge_by
from ufselect.auto.judges import GraphJudge, Judge, KMeansJudge, RebuildJudge
from ufselect.auto.pool import Candidate, Shared, default_pool, dscofs_pool, given_pool, rebuild_pool
from ufselect.auto.reference import Reference, build_reference
from ufselect.auto.rows import rows_of
from ufselect.auto.sampling import sampled_indices, seed_from
from ufselect.selectors.wishes import Wanted

DSCOFS_ONLY = "dscofs"
# Two stay where one of three is held out, as many as every selector needs.
LEAST_ROWS_TO_REBUILD = 3


@dataclass(frozen=True)
class Setting:
    """What candidates are fitted to and judged by, and which they are.

    ``share`` says how far the clusters are from Gaussian data to a perfect cut, 0 where none were counted and
    None where none are asked for; ``chosen`` are the rows that are judged by.
    """

    shared: Shared
    judge: Judge
    pool: list[Candidate]
    reference: Reference | None
    share: float | None
    chosen: NDArray
    seed: int


def setting_for(
    X: Any,
    wanted: Wanted,
    max_samples: int,
    *,
    goal: str,
    clusterer: str,
    candidates: Sequence[Any] | str | None,
    n_clusters: int | str,
    random_state: Any,
) -> Setting:
    """Return the setting for some data; the parameters are those of `AutoSelector`.

    Raises
    ------
    ValueError
        If there are too few rows to hold some out, or the candidates or clusters asked for cannot be had.
    """
    pool = None if candidates is None or isinstance(candidates, str) else given_pool(candidates)
    seed = seed_from(random_state)
    chosen = sampled_indices(X.shape[0], max_samples, seed)
    sample = X if chosen.size == X.shape[0] else X[chosen]
    if goal == "rebuild":
        if X.shape[0] < LEAST_ROWS_TO_REBUILD:
            raise ValueError(
                f'goal="rebuild" holds out rows and needs at least {LEAST_ROWS_TO_REBUILD} of them, not '
                f"{X.shape[0]}; give more rows."
            )
        judge: Judge = RebuildJudge(sample, seed)
        return Setting(Shared(X, None, wanted), judge, pool or rebuild_pool(), None, None, chosen, seed)
    rows = rows_of(sample)
    count = cluster_count(n_clusters, rows, seed)
    reference = build_reference(rows, count_to_judge_by(count, rows), seed)
    share = reference.share if count > 1 else 0.0  # without clusters the verdict says so
    judge = (KMeansJudge if clusterer == "kmeans" else GraphJudge)(reference, seed)
    if candidates == DSCOFS_ONLY:
        pool = dscofs_pool(reference)
    pool = pool or default_pool(clusterer, n_clusters, seed, max_samples)
    return Setting(Shared(X, reference, wanted), judge, pool, reference, share, chosen, seed)
