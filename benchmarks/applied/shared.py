"""What the applications share: tables, random columns, columns of a selector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

Columns = np.ndarray
N_DRAWS = 20  # random selections


@dataclass
class Table:
    """A table of evidence: first the method and whether labels were used to select, then figures."""

    figures: Sequence[str]
    digits: Sequence[int]
    told: str = "labels used"
    rows: list[list[str]] = field(default_factory=list)

    def add(self, method: str, labels: str, *values: Sequence[float]) -> None:
        """Add a row; each figure is given by all its values and shown as mean ± standard deviation."""
        shown = [cell(value, digits) for value, digits in zip(values, self.digits, strict=True)]
        self.rows.append([method, labels, *shown])

    def record(self) -> dict[str, list]:
        """Return the table as the result files hold it."""
        return {"columns": ["columns by", self.told, *self.figures], "rows": self.rows}


def cell(values: Sequence[float], digits: int) -> str:
    """Return mean ± standard deviation, or one value alone, or a dash where a value is missing."""
    found = np.asarray(values, dtype=float)
    if np.isnan(found).any():
        return "–"
    mean = f"{found.mean():.{digits}f}"
    return mean if found.size == 1 else f"{mean} ± {found.std():.{digits}f}"


def random_columns(n_columns: int, count: int, n_draws: int = N_DRAWS) -> Iterator[Columns]:
    """Yield random columns, seeded one by one."""
    for seed in range(n_draws):
        yield np.sort(np.random.default_rng(seed).permutation(n_columns)[:count])


def split(n_rows: int, seed: int, test_share: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to select and fit with, and the held-out rows."""
    order = np.random.default_rng(seed).permutation(n_rows)
    n_test = round(test_share * n_rows)
    return order[n_test:], order[:n_test]
