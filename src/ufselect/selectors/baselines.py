"""The baselines that every comparison carries."""

from __future__ import annotations

from typing import Any

from ufselect.gram import gram_operator
from ufselect.selectors.base import Fitted, UnsupervisedSelector
from ufselect.selectors.progress import FitProgress


class MaxVariance(UnsupervisedSelector):
    """The features of largest variance."""

    accepts_sparse = True
    label = "Max variance"
    cost = "n d"

    def __init__(self, n_features_to_select: int | float = 0.1) -> None:
        self.n_features_to_select = n_features_to_select

    def _fit(self, X: Any, n_selected: int, progress: FitProgress) -> Fitted:
        return Fitted(gram_operator(X).diag())
