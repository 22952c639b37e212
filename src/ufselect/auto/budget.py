"""How many rows there is time to judge by."""

from __future__ import annotations

# Rows of a first answer, which is there if a better one takes too long: few enough to take a small part of
# the time, and as many as tell powers of the singular values from each other.
PILOT_ROWS = 200
# Power of the number of rows with which the time grows. It was between 1 and 1.25 from the pilot's rows to
# 1,000 and 1,560 (USPS, Isolet); the search for neighbours alone has 2.
GROWTH = 1.5


def affordable_rows(n_rows: int, seconds: float, left: float) -> int:
    """Return how many rows can be judged by in the time that is left, by what the pilot's rows took.

    ``seconds`` are those of the clusters, the comparison and one candidate.
    """
    if left <= seconds:
        return PILOT_ROWS
    return min(n_rows, round(PILOT_ROWS * (left / seconds) ** (1 / GROWTH)))
