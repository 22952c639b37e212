"""Data outside memory, read block by block and reduced to a Gram operator."""

from ufselect.blocks.accumulate import GramAccumulator
from ufselect.blocks.open import open_blocks
from ufselect.blocks.reduce import (
    ReducedData,
    ReductionSummary,
    block_source,
    is_out_of_core,
    reduce_data,
)
from ufselect.blocks.sketch import TruncatedGram

__all__ = [
    "GramAccumulator",
    "ReducedData",
    "ReductionSummary",
    "TruncatedGram",
    "block_source",
    "is_out_of_core",
    "open_blocks",
    "reduce_data",
]
