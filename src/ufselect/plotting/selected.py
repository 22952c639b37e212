"""What a fitted selector says, whichever library it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted


@dataclass(frozen=True)
class Selected:
    """A selection.

    Attributes
    ----------
    support : ndarray of shape (n_features,)
        Mask of the kept features.
    ranking : ndarray of shape (n_features,)
        Ranks 1, 2, …, the kept features first.
    scores : ndarray of shape (n_features,) or None
        Scores, higher is better; None where the selector has none.
    """

    support: NDArray
    ranking: NDArray
    scores: NDArray | None

    @property
    def kept(self) -> NDArray[np.intp]:
        """The kept features, best first."""
        return np.argsort(self.ranking)[: int(self.support.sum())]


def selected_by(selector: Any) -> Selected:
    """Read a fitted scikit-learn selector.

    ``get_support`` gives the kept features. They are ranked by ``ranking_`` and, where that has ties or is
    absent, by ``scores_``, then by position.

    Raises
    ------
    TypeError
        If there is no ``get_support``.
    sklearn.exceptions.NotFittedError
        If it has not been fitted.
    """
    if not hasattr(selector, "get_support"):
        raise TypeError(
            f"{type(selector).__name__} has no get_support; pass a fitted selector such as DSCOFS or "
            "scikit-learn's SelectKBest."
        )
    check_is_fitted(selector)
    support = np.asarray(selector.get_support())
    scores, ranks = (_by_feature(selector, name, support.size) for name in ("scores_", "ranking_"))
    by_score = np.zeros(support.size) if scores is None else np.nan_to_num(-scores, nan=np.inf)
    by_rank = np.zeros(support.size) if ranks is None else ranks
    order = np.lexsort((np.arange(support.size), by_score, by_rank, ~support))
    ranking = np.empty(support.size, dtype=np.intp)
    ranking[order] = np.arange(1, support.size + 1)
    return Selected(support, ranking, scores)


def feature_names_of(selector: Any, given: Sequence[str] | None, n_features: int) -> list[str]:
    """Return the given names, else those seen in ``fit``, else positions.

    Raises
    ------
    ValueError
        If there are more or fewer names than features.
    """
    found = given if given is not None else getattr(selector, "feature_names_in_", range(n_features))
    if len(found) != n_features:
        raise ValueError(f"{len(found)} feature names were given for {n_features} features.")
    return [str(name) for name in found]


def _by_feature(selector: Any, name: str, n_features: int) -> NDArray | None:
    """Return an attribute that holds one number per feature, or None."""
    values = np.asarray(getattr(selector, name, None))
    return values if values.shape == (n_features,) and values.dtype.kind in "iuf" else None
