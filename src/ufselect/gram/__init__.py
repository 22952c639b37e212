"""The action of S = AᵀA for the centred data A, never formed unless forming it is cheaper."""

from ufselect.gram.operator import (
    FactoredGram,
    FormedGram,
    GramOperator,
    ImplicitGram,
    LowRankGram,
    MissingSummary,
    RestrictedGram,
    TallGram,
    correlations,
    gram_operator,
)
from ufselect.gram.rows import RowInfo, row_info
from ufselect.gram.sparse import SparseGram
from ufselect.gram.spectrum import Spectrum, suggest_n_components

__all__ = [
    "FactoredGram",
    "FormedGram",
    "GramOperator",
    "ImplicitGram",
    "LowRankGram",
    "MissingSummary",
    "RestrictedGram",
    "RowInfo",
    "SparseGram",
    "Spectrum",
    "TallGram",
    "correlations",
    "gram_operator",
    "row_info",
    "suggest_n_components",
]
