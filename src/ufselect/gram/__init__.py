"""The action of S = AᵀA for centred data A, wherever the rows are; formed only where that is cheaper."""

from ufselect.gram.operator import (
    FactoredGram,
    FormedGram,
    GramOperator,
    ImplicitGram,
    LowRankGram,
    MissingSummary,
    RestrictedGram,
    SparseGram,
    TallGram,
    correlations,
    gram_operator,
)
from ufselect.gram.rows import RowInfo, row_info
from ufselect.gram.spectrum import Spectrum, suggest_n_components

from ufselect.gram.accumulate import GramAccumulator, gram_from_covariance  # isort: skip
from ufselect.gram.reduce import ReductionSummary, reduce_data  # isort: skip

__all__ = [
    "FactoredGram",
    "FormedGram",
    "GramAccumulator",
    "GramOperator",
    "ImplicitGram",
    "LowRankGram",
    "MissingSummary",
    "ReductionSummary",
    "RestrictedGram",
    "RowInfo",
    "SparseGram",
    "Spectrum",
    "TallGram",
    "correlations",
    "gram_from_covariance",
    "gram_operator",
    "reduce_data",
    "row_info",
    "suggest_n_components",
]
