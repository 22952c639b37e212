"""Rows held out in turn, beside the Gram operator of all other rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.gram import FormedGram, GramOperator, gram_operator
from ufselect.gram.centring import centre_and_scale
from ufselect.gram.dense import FORM_RATIO
from ufselect.gram.rows import RowLayout, row_layout

# Held-out rows of a fold: enough for an error known to a few per cent.
MOST_HELD_OUT = 500
# A variance of which the rows that stay have no more than so many roundings: none is left.
ROUNDINGS = 1e3


@dataclass(frozen=True)
class Fold:
    """S of the rows that stay, and rows held out, less the mean of those that stay, in units of S.

    A held-out row of weight w is multiplied by the root of w, and less the mean of its own batch.
    """

    gram: GramOperator
    held_out: NDArray


def split_folds(X: Any, n_folds: int, layout: RowLayout | None = None) -> Iterator[Fold]:
    """Yield the folds of dense or sparse rows: every so-and-so-many-th row is held out in turn.

    Raises
    ------
    ValueError
        If all rows held out come from batches that no other row has.
    """
    n_samples, n_features = X.shape
    if layout is not None:
        yield from (_laid_out_fold(X, _mask(n_samples, n_folds, fold), layout) for fold in range(n_folds))
    elif not sparse.issparse(X) and n_features <= FORM_RATIO * n_samples:  # as for all rows together
        yield from _downdated_folds(X, n_folds)
    else:
        yield from (_plain_fold(X, _mask(n_samples, n_folds, fold)) for fold in range(n_folds))


def _mask(n_samples: int, n_folds: int, fold: int) -> NDArray:
    return np.arange(n_samples) % n_folds == fold


def _plain_fold(X: Any, is_out: NDArray) -> Fold:
    gram = gram_operator(X[~is_out])
    rows = _dense(X[np.flatnonzero(is_out)[:MOST_HELD_OUT]])
    return Fold(gram, (rows - np.asarray(gram.mean, dtype=np.float64)) / gram.scale)


def _downdated_folds(X: NDArray, n_folds: int) -> Iterator[Fold]:
    """Form the products of each fold's rows once, so that all folds take no longer than one S.

    S of the rows that stay is that of all rows, less that of the rows held out, less the shift of the mean;
    in float64, whatever the data, as differences lose digits.
    """
    mean, scale = centre_and_scale(X)
    parts = [(X[fold::n_folds].astype(np.float64) - mean) / scale for fold in range(n_folds)]
    products = [part.T @ part for part in parts]
    total = np.sum(products, axis=0)
    sums = [part.sum(axis=0) for part in parts]
    all_sums = np.sum(sums, axis=0)  # what rounding has left in the mean
    for part, product, own in zip(parts, products, sums, strict=True):
        n_left = X.shape[0] - len(part)
        shift = (all_sums - own) / n_left
        matrix = total - product - n_left * np.outer(shift, shift)
        constant = matrix.diagonal() <= ROUNDINGS * np.finfo(np.float64).eps * total.diagonal()
        matrix[constant] = matrix[:, constant] = 0
        gram = FormedGram(matrix, n_left, scale, mean + scale * shift)
        yield Fold(gram, part[:MOST_HELD_OUT] - shift)


def _laid_out_fold(X: Any, is_out: NDArray, layout: RowLayout) -> Fold:
    stay = np.flatnonzero(~is_out)
    known, batches = np.unique(layout.batches[stay], return_inverse=True)
    part = row_layout(layout.weights[stay], batches)
    gram = gram_operator(X[stay], layout=part)
    out = np.flatnonzero(is_out & np.isin(layout.batches, known))[:MOST_HELD_OUT]
    if out.size == 0:
        raise ValueError(
            'n_features_to_select="auto" holds out rows, and some batches have no other row than those held '
            "out; give a number."
        )
    centres = part.means(X[stay])[np.searchsorted(known, layout.batches[out])]
    rows = (_dense(X[out]) - centres) / gram.scale
    return Fold(gram, rows * np.sqrt(layout.weights[out])[:, None])


def _dense(rows: Any) -> NDArray:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
