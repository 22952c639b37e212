"""Quadratics in every representation, and the dense matrices that they stand for."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from ufselect.gram import gram_operator
from ufselect.solvers.reweighted.quadratic import FactoredQuadratic, FormedQuadratic, NegativeGram


def low_rank(n, d, seed=0, rank=6):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + 0.3 * rng.standard_normal((n, d))


def dense_lowest(matrix, count):
    return linalg.eigh(matrix)[1][:, :count]


def forms(n=12, d=40):
    """Return −S and FᵀF in every representation, with the dense matrix each stands for."""
    A = low_rank(n, d)
    A -= A.mean(axis=0)
    S = A.T @ A
    largest = linalg.eigvalsh(S)[-1]
    operator = gram_operator(sparse.csr_array(A))
    return {
        "formed": (FormedQuadratic(-S, -largest), -S),
        "products": (NegativeGram(operator, -largest / operator.scale**2), -S / operator.scale**2),
        "factored": (FactoredQuadratic(A), S),
    }
