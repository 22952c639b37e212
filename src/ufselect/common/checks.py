"""Checks of parameters: one sentence that says what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_nonnegative(name: str, value: Any) -> None:
    """Refuse anything but a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, not {value!r}.")


def check_positive_int(name: str, value: Any) -> None:
    """Refuse anything but an integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, not {value!r}.")


def check_jobs(name: str, value: Any) -> None:
    """Refuse anything but an integer other than 0, or None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value == 0):
        raise ValueError(f"{name} must be a number of jobs, -1 for all processors, or None, not {value!r}.")


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse anything but one of the given words."""
    if value not in choices:
        listed = ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, not {value!r}.")
