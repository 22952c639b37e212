"""Counting products with a Gram operator, for tests and benchmarks."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ufselect.gram import GramOperator


class CountingGram:
    """A Gram operator that counts its products.

    Parameters
    ----------
    gram : GramOperator
        What does the work; everything but ``matmat`` is passed on.
    """

    def __init__(self, gram: GramOperator) -> None:
        self.gram = gram
        self.n_products = 0

    def matmat(self, vectors: NDArray) -> NDArray:
        """Return ``S @ vectors`` and count one."""
        self.n_products += 1
        return self.gram.matmat(vectors)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.gram, name)
