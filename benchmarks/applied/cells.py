"""Fifty genes for 700 blood cells of ``pbmc68k_reduced``, from logarithms of counts; compared with scanpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from ufselect import DSCOFS, AutoSelector, GraphClustering, PCALeverage, ReconstructionSelector
from ufselect.metrics import clustering_accuracy, evaluate_selection, neighbours_kept
from ufselect.reconstruct.known_share import KnownShare

from .shared import Columns, Table, random_columns, split

N_GENES = 50
N_DRAWS = 10
N_RUNS = 20
N_SEEDS = 3
N_SPLITS = 3
# Markers by which the tutorials of Seurat and scanpy name the cells of blood; those that the data have are
# used.
MARKERS = ("CD8A", "MS4A1", "CD79A", "NKG7", "GNLY", "LYZ", "CD14", "FCGR3A", "MS4A7", "FCER1A", "CST3")

Chooser = Callable[[np.ndarray], Columns]  # from the cells that may be looked at, to genes


@dataclass(frozen=True)
class Blood:
    """The cells: what is selected from and clustered, the object of logarithms, types, names of genes."""

    X: np.ndarray
    logs: Any
    types: np.ndarray
    genes: list[str]

    @classmethod
    def load(cls) -> Blood:
        import scanpy

        cells = scanpy.datasets.pbmc68k_reduced()
        types, logs = cells.obs["bulk_labels"].to_numpy(), cells.raw.to_adata()
        return cls(logs.X.toarray().astype(np.float64), logs, types, list(cells.var_names))

    def by(self, selector: Any) -> Chooser:
        """Return what chooses as a selector does."""
        return lambda rows: np.flatnonzero(selector.fit(self.X[rows]).get_support())

    def by_dispersion(self, flavor: str) -> Chooser:
        """Return what takes the genes of largest normalised dispersion, as scanpy does."""
        return lambda rows: np.sort(self.ranked_by_dispersion(rows, flavor)[:N_GENES])

    def ranked_by_dispersion(self, rows: np.ndarray, flavor: str = "seurat") -> Columns:
        """Return all genes, those of largest normalised dispersion first."""
        import scanpy

        found = scanpy.pp.highly_variable_genes(self.logs[rows].copy(), flavor=flavor, inplace=False)
        return np.argsort(-found["dispersions_norm"].to_numpy(), kind="stable")

    def kmeans(self, genes: Columns) -> list[float]:
        """Return ACC and NMI of K-means on some genes, in per cent."""
        score = evaluate_selection(self.X, self.types, genes, n_runs=N_RUNS)
        return [score.acc_mean, score.nmi_mean]

    def scores(self, genes: Columns) -> list[float]:
        """Return ACC and NMI of K-means and of a graph clustering, and the neighbours kept, in per cent."""
        n_types = np.unique(self.types).size
        graph = [
            GraphClustering(n_types, random_state=seed).fit_predict(self.X[:, genes])
            for seed in range(N_SEEDS)
        ]
        information = [
            normalized_mutual_info_score(self.types, labels, average_method="geometric") for labels in graph
        ]
        return [
            *self.kmeans(genes),
            100 * float(np.mean([clustering_accuracy(self.types, labels) for labels in graph])),
            100 * float(np.mean(information)),
            100 * neighbours_kept(self.X, genes),
        ]

    def reconstructed(self, choosers: Sequence[Chooser]) -> list[float]:
        """Return the share of the variance of held-out cells that is reconstructed, in per cent.

        One value a split; each split has another of the choosers, which differ by their seed.
        """
        shares = []
        for seed in range(N_SPLITS):
            train, test = split(len(self.X), seed)
            genes = choosers[seed % len(choosers)](train)
            shares.append(100 * KnownShare(self.X[train], self.X[test]).of(genes))
        return shares

    def add(self, table: Table, name: str, labels: str, choosers: Sequence[Chooser], score: Callable) -> None:
        """Add a row to a table: what a score says of choices from all cells, and the reconstructed share."""
        everyone = np.arange(len(self.X))
        scores = [score(choose(everyone)) for choose in choosers]
        table.add(name, labels, *np.transpose(scores), self.reconstructed(choosers))


def measure() -> dict[str, dict]:
    """Return the tables of fifty genes and that of an extended panel."""
    blood = Blood.load()
    return {"cells": fifty_genes(blood), "cells, panel": extended_panel(blood)}


def fifty_genes(blood: Blood) -> dict:
    """Return what fifty genes tell of the cell types, of neighbours and of the other genes."""
    figures = ["K-means ACC", "K-means NMI", "graph ACC", "graph NMI", "neighbours kept", "reconstructed"]
    table = Table(figures, [1] * len(figures))
    n_genes = len(blood.genes)
    draws = list(random_columns(n_genes, N_GENES, N_DRAWS))
    for name, choosers in {
        f"all {n_genes} genes": [lambda _: np.arange(n_genes)],
        "random genes": [lambda _, draw=draw: draw for draw in draws],
        "PCALeverage": [blood.by(PCALeverage(N_GENES))],
        "scanpy: dispersion, seurat": [blood.by_dispersion("seurat")],
        "scanpy: dispersion, cell_ranger": [blood.by_dispersion("cell_ranger")],
        "DSCOFS": [blood.by(DSCOFS(N_GENES))],
        "ReconstructionSelector": [blood.by(ReconstructionSelector(N_GENES))],
        "AutoSelector": [
            blood.by(AutoSelector(N_GENES, goal="clusters", random_state=seed)) for seed in range(N_SEEDS)
        ],
    }.items():
        blood.add(table, name, "no", choosers, blood.scores)
    return table.record()


def extended_panel(blood: Blood) -> dict:
    """Return what a panel of known markers tells, and what more genes up to fifty add."""
    panel = np.array([blood.genes.index(gene) for gene in MARKERS if gene in blood.genes])
    table = Table(["K-means ACC", "K-means NMI", "reconstructed"], [1] * 3)

    def appended(ranked: Callable[[np.ndarray], Columns]) -> Chooser:
        def choose(rows: np.ndarray) -> Columns:
            order = ranked(rows)
            return np.append(panel, order[~np.isin(order, panel)][: N_GENES - panel.size])

        return choose

    def without_keep(rows: np.ndarray) -> Columns:
        return np.argsort(ReconstructionSelector(N_GENES).fit(blood.X[rows]).ranking_)

    draws = [np.random.default_rng(seed).permutation(len(blood.genes)) for seed in range(N_DRAWS)]
    for name, choosers in {
        f"panel of {panel.size} alone": [lambda _: panel],
        "panel + random genes": [appended(lambda _, draw=draw: draw) for draw in draws],
        "panel + scanpy: dispersion, seurat": [appended(blood.ranked_by_dispersion)],
        "panel + ReconstructionSelector, without keep": [appended(without_keep)],
        "ReconstructionSelector(keep=panel)": [blood.by(ReconstructionSelector(N_GENES, keep=panel))],
        "AutoSelector(keep=panel)": [
            blood.by(AutoSelector(N_GENES, goal="clusters", keep=panel, random_state=seed))
            for seed in range(N_SEEDS)
        ],
    }.items():
        blood.add(table, name, "panel from tutorials", choosers, blood.kmeans)
    return table.record()
