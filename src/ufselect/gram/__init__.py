"""The action of S = AᵀA for the centred data A, never formed unless forming it is cheaper."""

from ufselect.gram.accumulate import GramAccumulator
from ufselect.gram.base import GramOperator
from ufselect.gram.dense import FormedGram, dense_gram
from ufselect.gram.factory import block_source, gram_operator, is_out_of_core, reduce_data
from ufselect.gram.implicit import ImplicitGram
from ufselect.gram.lowrank import FactoredGram
from ufselect.gram.reduction import ReducedData, ReductionSummary
from ufselect.gram.sketch import TruncatedGram
from ufselect.gram.sparse import SparseGram
from ufselect.gram.spectrum import Spectrum, suggest_n_components
from ufselect.gram.stores import open_blocks

__all__ = [
    "FactoredGram",
    "FormedGram",
    "GramAccumulator",
    "GramOperator",
    "ImplicitGram",
    "ReducedData",
    "ReductionSummary",
    "SparseGram",
    "Spectrum",
    "TruncatedGram",
    "block_source",
    "dense_gram",
    "gram_operator",
    "is_out_of_core",
    "open_blocks",
    "reduce_data",
    "suggest_n_components",
]
