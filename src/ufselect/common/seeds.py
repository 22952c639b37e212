"""One source of randomness from scikit-learn's ``random_state``."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def check_seed(name: str, value: Any) -> None:
    """Refuse anything but an integer of at least 0, a RandomState, a Generator or None."""
    if isinstance(value, (np.random.RandomState, np.random.Generator)) or value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ValueError(
            f"{name} must be an integer of at least 0, a RandomState, a Generator or None, not {value!r}."
        )


def generator(random_state: Any) -> np.random.Generator:
    """Return a NumPy generator for an int, a RandomState, a Generator or None."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    return np.random.default_rng(random_state)
