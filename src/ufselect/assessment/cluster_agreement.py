"""The measure for clusters: agreement of a clustering on some columns with the clusters of all columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.assessment.splits import RowSample
from ufselect.clusters.graph import (
    build_reference,
    cluster_range,
    kmeans_seeds,
    rand_agreement,
)
from ufselect.clusters.kmeans import kmeans_runs
from ufselect.graphs.scores import clear_powers, outlying_rows, rows_of


class ClusterAgreement:
    """The adjusted Rand index of a clustering on some columns with the clusters that held-out rows show.

    The clusters are those of a graph of neighbours in all columns. Rows that make a leading principal
    component by themselves are never held out.
    """

    n_parts = 2  # each half selects once while the other is held out
    repeats = (3, 6)  # more splits change few verdicts and take most of the time of a fit
    rival = "all columns"
    least_lead = (0.1, 0.2)

    def __init__(self, data: Any, n_clusters: int | str, clusterer: str, seed: int) -> None:
        self.clusterer, self.seed, self.seeds = clusterer, seed, kmeans_seeds(seed, 2)
        rows, outliers = rows_of(data), self.far_rows(data)
        self._inner = rows.without(outliers) if outliers.size else rows
        self.n_clusters: int = cluster_range(n_clusters, self._inner, seed)[0]
        self._outliers, self._powers = outliers, [0.0]

    def are_clear(self, sample: RowSample) -> bool:
        """Tell whether the rows can be divided more cleanly than Gaussian data, by four deviations."""
        # Replicates are neighbours of each other and would pass for clusters, so one of them is used.
        units, n_rows = np.delete(sample.units, self._outliers), self._inner.shape[0]
        first = np.unique(units, return_index=True)[1]
        is_repeated = n_rows / 4 <= first.size < n_rows
        single = self._inner.without(np.setdiff1d(np.arange(n_rows), first)) if is_repeated else self._inner
        self._powers, excess = clear_powers(single, self.n_clusters, n_draws=9)
        return excess >= 4

    def far_rows(self, data: Any) -> NDArray:
        return outlying_rows(rows_of(data))

    def figures(
        self, data: Any, train: NDArray, test: NDArray, sets: Sequence[NDArray]
    ) -> tuple[NDArray, NDArray]:
        """Return the agreement for the first set, for all columns and for the others; no gain by row."""
        reference = build_reference(rows_of(data[test]), self.n_clusters, self.seed, self._powers)

        def agreement(columns: NDArray) -> float:
            points = reference.rows.points(columns)
            if self.clusterer == "graph":
                labels = build_reference(rows_of(points), self.n_clusters, self.seed, self._powers).labels[
                    None
                ]
            else:
                labels = kmeans_runs(points, self.n_clusters, self.seeds, "greedy-k-means++", is_exact=False)
            return float(rand_agreement(labels, reference.labels).mean())

        ours, *random = [agreement(columns) for columns in sets]
        return np.array([ours, agreement(np.arange(data.shape[1])), *random]), np.zeros(test.size)

    def leads(self, ours: NDArray, random: NDArray) -> NDArray:
        return ours - random

    def is_enough(self, agreement: float) -> bool:
        # rare 0/1 columns without clusters reach an agreement of 0.22, planted clusters 0.5 and more
        return agreement >= 0.3
