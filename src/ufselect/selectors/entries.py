"""The parameter ``entry_sparsity``: how many entries of a loading matrix may differ from zero."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from ufselect.common.warn import warn_user
from ufselect.exceptions import InactiveConstraintWarning

# Share of the r·m entries of the selected rows that "auto" keeps: of 0.2, 0.4, 0.6, 0.8 and all it gave the
# best clusters on fifteen labelled sets.
AUTO_SHARE = 0.4


def check_entry_sparsity(value: Any) -> None:
    """Refuse anything but "auto", a share in (0, 1], a count of at least 1 or None."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return
    is_count = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
    is_share = isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1
    if not is_count and not is_share:
        raise ValueError(f'entry_sparsity must be "auto", a share in (0, 1], a count or None, not {value!r}.')


def resolve_entry_count(
    entry_sparsity: float | int | str | None, n_features: int, n_components: int, n_rows: int
) -> int:
    """Return s, the number of entries kept of an n_features × n_components matrix with n_rows non-zero rows.

    Raises
    ------
    ValueError
        If more entries are asked for than there are, or fewer than columns: no such matrix is orthonormal.
    """
    check_entry_sparsity(entry_sparsity)
    total = n_features * n_components
    if entry_sparsity is None:
        return total
    if isinstance(entry_sparsity, str):
        return max(n_components, round(AUTO_SHARE * n_rows * n_components))
    if isinstance(entry_sparsity, Integral):
        count = int(entry_sparsity)
    else:
        count = int(np.floor(entry_sparsity * total * (1 + 1e-12)))  # 0.1 · 30 is 3, rounding aside
    if count < n_components:
        raise ValueError(
            f"entry_sparsity={entry_sparsity} keeps {count} of the {total} entries of the loading matrix; "
            f"{n_components} orthonormal columns need at least {n_components}: raise entry_sparsity."
        )
    if count > total:
        raise ValueError(
            f"entry_sparsity={entry_sparsity} is more than the {total} entries of the loading matrix; "
            f"use at most {total}, or None."
        )
    return count


def warn_if_entries_cannot_bind(n_entries: int, n_rows: int, n_components: int, n_features: int) -> None:
    """Warn when every matrix with ``n_rows`` non-zero rows meets the entry constraint anyway."""
    if n_entries >= n_rows * n_components:
        warn_user(
            f"The entry constraint has no effect: {n_entries} entries are allowed and {n_rows} features have "
            f"{n_rows * n_components}. Set entry_sparsity below {n_rows / n_features:.3g}, or to None to "
            "drop the constraint.",
            InactiveConstraintWarning,
        )
