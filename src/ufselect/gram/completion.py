r"""Missing entries of centred data, filled in by a shrunken low-rank fit.

With A the deviations in units of each column's spread, missing entries zero at first, repeat until they
settle (regularised iterative PCA [1]_, an expectation-maximisation scheme for low rank plus noise):

.. math::

    \hat A = A\, V\, \mathrm{diag}\bigl(1 - \sigma^2 / \lambda_k\bigr)\, V^\top, \qquad
    \sigma^2 = \frac{\mathrm{Tr}\,A^\top A - \sum_k \lambda_k}{p - K},

with :math:`\lambda_k, V` the K leading eigenpairs of :math:`A^\top A` and p the number of eigenvalues that
could differ from zero; observed entries stay, missing ones take their value of :math:`\hat A`. Directions no
stronger than noise are shrunk away, so that K need not be tuned: half of p, or 64 where that is fewer.

A fitted value varies less than an observed one by the noise about the fit. The variance of the observed
residuals, once for each entry filled in, is what the diagonal of S lacks.

References
----------
.. [1] J. Josse, F. Husson (2012), "Handling missing values in exploratory multivariate data analysis
   methods", Journal de la Société Française de Statistique 153(2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect.gram.centring import row_blocks
from ufselect.gram.rows import RowLayout

MAX_RANK = 64  # more gained nothing on the data sets of benchmarks/missing_values.py
MAX_ROUNDS = 20  # further ones follow the noise: 20 agreed best with complete data, of 20, 50 and 100
# Share of the filled-in values that a round may still change: their own error is many times that.
TOL = 1e-3
START_SEED = 20240917
START_PRODUCTS = 4  # from random vectors to near the leading ones


@dataclass(frozen=True)
class Completed:
    """Deviations without gaps, and the sum of squares that each column lacks for having been filled in.

    Attributes
    ----------
    deviations : ndarray of shape (n_samples, n_features)
        Centred within each batch.
    lacking : ndarray of shape (n_features,)
        What to add to the diagonal of S.
    n_rounds : int
        Rounds made.
    """

    deviations: NDArray
    lacking: NDArray
    n_rounds: int


def complete(deviations: NDArray, layout: RowLayout) -> Completed:
    """Fill in the NaN of deviations from the observed means, in place."""
    missing = np.isnan(deviations)
    deviations[missing] = 0.0
    unit = _spread(deviations, missing, layout)
    deviations /= unit
    fit = _Fit(deviations, layout)
    n_rounds, change = 0, np.inf
    while n_rounds < MAX_ROUNDS and change > TOL:
        change = fit.fill(missing)
        n_rounds += 1
    lacking = fit.residual_variance(missing) * layout.total(missing)
    deviations -= layout.spread_out(layout.means(deviations))
    deviations *= unit
    return Completed(deviations, lacking * np.square(unit), n_rounds)


def _spread(zero_filled: NDArray, missing: NDArray, layout: RowLayout) -> NDArray:
    """Return the standard deviation of the observed entries of each column, 1 where they do not vary."""
    observed = layout.total(~missing)
    squares = layout.total(np.square(zero_filled))
    variance = np.divide(squares, observed, out=np.zeros_like(squares), where=observed > 0)
    return np.where(variance > 0, np.sqrt(variance), 1.0).astype(zero_filled.dtype)


class _Fit:
    """The shrunken low-rank fit to data that change from round to round, which it starts from the last."""

    def __init__(self, data: NDArray, layout: RowLayout) -> None:
        self.data = data
        self.layout = layout
        order = min(layout.n_samples - 1, data.shape[1])
        self.order = order
        rank = min(order // 2, MAX_RANK)
        rng = np.random.default_rng(START_SEED)
        self.basis = rng.standard_normal((data.shape[1], rank)).astype(data.dtype)
        self.mean = layout.means(data)
        for _ in range(START_PRODUCTS):
            self._turn()

    def _turn(self) -> NDArray:
        """Turn the basis towards the leading eigenvectors; return their scores."""
        weighted = self.layout.weighted(self._scores(self.basis))
        product = weighted.T @ self.data - self.layout.batch_sums(weighted).T @ self.mean
        self.basis = np.linalg.qr(product.T)[0]
        return self._scores(self.basis)

    def _scores(self, vectors: NDArray) -> NDArray:
        return self.data @ vectors - self.layout.spread_out(self.mean @ vectors)

    def fill(self, missing: NDArray) -> float:
        """Give missing entries their fitted values; return how much they changed, relative to their size."""
        self.mean = self.layout.means(self.data)
        scores = self._turn()
        values, rotation = np.linalg.eigh(scores.T @ self.layout.weighted(scores))
        self.loadings = (rotation * self._kept_share(values)) @ rotation.T @ self.basis.T
        self.scores = scores
        changed = size = 0.0
        for rows, fitted in self._fitted():
            gaps = missing[rows]
            before, after = self.data[rows][gaps], fitted[gaps]
            changed += float(np.square(after - before).sum())
            size += float(np.square(after).sum())
            self.data[rows][gaps] = after
        return np.sqrt(changed / size) if size else 0.0

    def _kept_share(self, values: NDArray) -> NDArray:
        """Return 1 − σ²/λ of each direction, 0 where noise is stronger."""
        means = self.layout.batch_weights() @ np.square(self.mean)
        total = float(self.layout.total(np.square(self.data)).sum() - means.sum())
        noise = max(total - float(values.sum()), 0.0) / max(self.order - values.size, 1)
        return np.clip(1 - np.divide(noise, values, out=np.full_like(values, np.inf), where=values > 0), 0, 1)

    def _fitted(self):
        for rows in row_blocks(self.data.shape[0], self.data.shape[1] * self.data.itemsize):
            yield rows, self.scores[rows] @ self.loadings + self.layout.spread_out(self.mean, rows)

    def residual_variance(self, missing: NDArray) -> NDArray:
        """Return the mean squared difference between observed entries and fit, for each column."""
        squares = np.zeros(self.data.shape[1])
        for rows, fitted in self._fitted():
            residuals = np.where(missing[rows], 0.0, self.data[rows] - fitted)
            squares += self.layout.total(np.square(residuals), rows)
        observed = self.layout.total(~missing)
        return np.divide(squares, observed, out=np.zeros_like(squares), where=observed > 0)
