"""Data outside memory, read block by block and reduced to a Gram operator."""

from ufselect.blocks.accumulate import GramAccumulator, gram_from_covariance
from ufselect.blocks.open import open_blocks
from ufselect.blocks.reduce import (
    ReducedData,
    ReductionSummary,
    block_source,
    reduce_data,
)

__all__ = [
    "GramAccumulator",
    "ReducedData",
    "ReductionSummary",
    "block_source",
    "gram_from_covariance",
    "open_blocks",
    "reduce_data",
]
