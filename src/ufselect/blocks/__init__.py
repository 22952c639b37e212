"""Data outside memory, read block by block and reduced to a Gram operator."""

from typing import TYPE_CHECKING

from ufselect._utils.imports import lazy
from ufselect.blocks.accumulate import GramAccumulator, gram_from_covariance
from ufselect.blocks.reduce import (
    ReducedData,
    ReductionSummary,
    block_source,
    reduce_data,
)

if TYPE_CHECKING:
    from ufselect.blocks.open import open_blocks

__all__ = [
    "GramAccumulator",
    "ReducedData",
    "ReductionSummary",
    "block_source",
    "gram_from_covariance",
    "open_blocks",
    "reduce_data",
]
__getattr__ = lazy("ufselect.blocks", {"open_blocks": "ufselect.blocks.open"})  # it needs all readers
