"""The methods that the command line knows."""

from __future__ import annotations

from ufselect.registry import all_selectors as known_methods

__all__ = ["known_methods"]
