"""Work through many rows a few at a time."""

from __future__ import annotations

from collections.abc import Iterator

# A block that stays in the cache between the steps done on it.
BLOCK_BYTES = 2**21
# Fewer rows at once make matrix products slow.
MIN_BLOCK_ROWS = 128


def row_blocks(
    n_rows: int, row_bytes: int, block_bytes: int = BLOCK_BYTES, min_rows: int = MIN_BLOCK_ROWS
) -> Iterator[slice]:
    """Cut ``range(n_rows)`` into slices of about ``block_bytes`` each, two megabytes by default."""
    step = max(min_rows, block_bytes // max(row_bytes, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
