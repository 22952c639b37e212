"""What any choice of columns is to be compared with: random columns, and as many principal components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import gram_operator
from ufselect.solvers.rebuild.ridge import map_from_rows


def rebuild_error(train: Any, test: NDArray, columns: NDArray) -> float:
    """Return the error of rebuilding test rows from columns, in units of the error of the mean.

    Parameters
    ----------
    train : ndarray or sparse matrix of shape (n_samples, n_features)
        Rows to which the map and its ridge are fitted.
    test : ndarray of shape (n_rows, n_features)
        Rows to rebuild.
    columns : ndarray
        The columns to rebuild from.
    """
    columns = np.sort(columns)
    found = map_from_rows(train, columns, None, None)
    rows = test - found.mean
    return float(np.linalg.norm(rows - rows[:, columns] @ found.weights) / np.linalg.norm(rows))


def random_errors(
    train: Any, test: NDArray, counts: Sequence[int], n_draws: int, rng: np.random.Generator
) -> NDArray:
    """Return the errors of random columns: a row a draw, a column a count."""
    draws = [rng.permutation(test.shape[1])[: max(counts)] for _ in range(n_draws)]
    return np.array([[rebuild_error(train, test, draw[:count]) for count in counts] for draw in draws])


def component_errors(train: Any, test: NDArray, counts: Sequence[int]) -> NDArray:
    """Return the errors of as many principal components, which no columns can beat in span."""
    gram = gram_operator(train)
    vectors = np.asarray(gram.eigenpairs(max(counts)).vectors, dtype=np.float64)
    rows = test - np.asarray(gram.mean, dtype=np.float64)
    scores = rows @ vectors
    total = float(np.vdot(rows, rows))
    left = total - np.cumsum(np.square(scores).sum(axis=0))
    places = np.minimum(counts, left.size) - 1
    return np.sqrt(np.maximum(left[places], 0.0) / total)
