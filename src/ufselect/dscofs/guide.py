"""The guide of DSCOFS: what the rows should show, and the scatter matrix of the columns that show it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._columns import SelectionRequest
from ufselect._utils.validation import as_numpy, has_missing, tabular
from ufselect.exceptions import ConstantDataError
from ufselect.gram.operator import FactoredGram, GramOperator
from ufselect.gram.rows import power_of_two_near
from ufselect.gram.spectrum import auto_n_components
from ufselect.graphs.scores import (
    Rows,
    centred_basis,
    clear_powers,
    end_clearly,
    mean_graph,
    rows_of,
    sampled_rows,
    score_ladder,
    smooth_vectors,
)

# Chosen on 26 labelled sets, see benchmarks/guide.py.
NOISE_POWER = 1.5
MAX_PARTIAL_CORRELATION = 0.5
MIN_VECTORS = 5
MIN_RELATIVE_SCORE = 0.5  # of the last column by score; below, a column does not replace a better one
CHANCE_FACTOR = 2.0  # products are shrunk as if a random guide explained so many times its share
LEAST_NOISE = 0.1  # of the median deviation: a column with hardly any noise must not outweigh all others


class GuidedGram(FactoredGram):
    r"""The scatter matrix of the guided table :math:`V^\top A \, \mathrm{diag}(w)^{-a}`.

    A is the centred data, V the guide, with orthonormal and centred columns, and :math:`w_j` the norm of
    column j of :math:`(I - V V^\top) A`.
    """

    def __init__(self, data: Rows, vectors: NDArray, rows: NDArray) -> None:
        products = np.asarray(vectors.T @ data.matrix)
        squares, explained = data.squares(), np.square(products).sum(axis=0)
        varies = squares > 0
        if not varies.any():
            raise ConstantDataError
        noise = np.sqrt(np.maximum(squares - explained, LEAST_NOISE**2 * np.median(squares[varies])))
        table = products / noise**NOISE_POWER
        # Shrunk as by Stein's estimator: a random guide explains 1 / doubt times the noise. Not quite to
        # zero, so that columns that the guide does not explain are ranked too.
        doubt = max(len(rows) - 1 - len(products), 1) / len(products)
        explained = np.maximum(explained, np.finfo(float).tiny)
        table *= np.sqrt(np.maximum(1 - CHANCE_FACTOR * np.square(noise) / (doubt * explained), 0.01))
        table /= power_of_two_near(float(np.abs(table).max()))
        super().__init__(table, len(rows))
        in_order = np.argsort(rows)
        self.vectors, self.rows = vectors[in_order], rows[in_order]
        self.noise = noise * data.unit / np.sqrt(len(rows))  # a standard deviation in the units of X
        self.residual = ResidualGram(data.gram, products / data.gram.scale)


class ResidualGram(GramOperator):
    """The scatter matrix of what a guide leaves of the columns, from their products with its vectors."""

    def __init__(self, whole: GramOperator, products: NDArray) -> None:
        self.whole, self.products = whole, products
        self.shape, self.dtype, self.n_samples = whole.shape, whole.dtype, whole.n_samples
        self.scale = whole.scale

    def matmat(self, vectors: NDArray) -> NDArray:
        return self.whole.matmat(vectors) - self.products.T @ (self.products @ vectors)

    def diag(self) -> NDArray:
        left = self.whole.diag() - np.square(self.products).sum(axis=0)
        return np.maximum(left, 1e-9 * self.whole.diag())  # what is left of a column that is in the guide

    def columns(self, indices: NDArray) -> NDArray:
        return self.whole.columns(indices) - self.products.T @ self.products[:, indices]

    def subgram(self, indices: NDArray) -> NDArray:
        return self.columns(indices)[indices]


def guided_gram(
    request: SelectionRequest, guide: Any, n_components: int | str, max_samples: int, seed: int
) -> GuidedGram:
    """Return the scatter matrix of the columns by a guide: the user's, or the graph of neighbours of rows."""
    X = request.data
    if X is None:
        raise ValueError(
            "guide needs rows in memory; fit to an array or a sample of rows, or use "
            'AutoSelector(goal="clusters"), which samples the rows itself.'
        )
    if has_missing(X.data if sparse.issparse(X) else X):
        raise ValueError("guide needs rows without missing values; fill them in first.")
    if request.rows is not None:
        raise ValueError("With a guide, sample_weight and batch have no effect; leave them out.")
    if not isinstance(guide, str):
        return GuidedGram(rows_of(X), targets(guide, X.shape[0]), np.arange(X.shape[0]))
    rows, places = sampled_rows(X, max_samples, seed)
    if isinstance(n_components, str):  # a single component may be a nuisance
        n_components = max(MIN_VECTORS, auto_n_components(rows.gram))
    return GuidedGram(rows, graph_vectors(rows, n_components), places)


def targets(guide: Any, n_rows: int) -> NDArray:
    """Return an orthonormal basis of the columns of a user's guide, without their means."""
    values = np.asarray(as_numpy(tabular(guide, "guide") if np.ndim(guide) == 2 else guide))
    if values.ndim not in (1, 2) or values.dtype.kind not in "biuf":
        raise ValueError(
            "guide must be a table of numbers with a row for each row of X; turn classes into one column "
            "each, as pandas.get_dummies does."
        )
    values = values.reshape(len(values), -1).astype(np.float64)
    if len(values) != n_rows:
        raise ValueError(f"guide has {len(values)} rows, but X has {n_rows}; give one for each row of X.")
    if not np.isfinite(values).all():
        raise ValueError("guide holds values that are missing or infinite; fill them in first.")
    deviations = values.std(axis=0)
    basis = centred_basis(values / np.where(deviations > 0, deviations, 1))
    if basis.shape[1] == 0:
        raise ValueError("guide is constant; give vectors that vary over the rows.")
    return basis


def graph_vectors(rows: Rows, count: int) -> NDArray:
    """Return the smoothest vectors of the graph of neighbours in leading scores, orthonormal and centred.

    It is the graph by which :class:`~ufselect.GraphClustering` finds as many clusters as vectors. There are
    at least five vectors, unless the eigenvalues clearly end with as many as asked for: then further ones
    would only divide clusters.
    """
    scores, spread, _, widths = score_ladder(rows, count)
    graph = mean_graph(scores, spread, widths, clear_powers(rows, count)[0])
    values, vectors = smooth_vectors(graph, max(count, MIN_VECTORS) + 1)
    if end_clearly(values, count + 1):
        vectors = vectors[:, : count + 1]
    return centred_basis(vectors)[:, : max(count, MIN_VECTORS)]
