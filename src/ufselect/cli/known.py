"""The methods that the command line knows: the registry's, and those that tuning adds."""

from __future__ import annotations

from ufselect.selectors.base import UnsupervisedSelector
from ufselect.selectors.registry import all_selectors


def known_methods() -> dict[str, type[UnsupervisedSelector]]:
    """Return selectors by class name."""
    from ufselect import auto

    added = {
        name: value
        for name in auto.__all__
        if isinstance(value := getattr(auto, name), type) and issubclass(value, UnsupervisedSelector)
    }
    return {**all_selectors(), **added}
