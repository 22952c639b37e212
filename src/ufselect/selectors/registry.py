"""Finds every public selector by looking through this folder."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from importlib.util import find_spec

from ufselect.selectors.base import UnsupervisedSelector


def all_selectors() -> dict[str, type[UnsupervisedSelector]]:
    """Return the selectors of this package by class name, sorted.

    A class is found when its module lies in this folder, so that the common checks, the benchmarks and
    the documentation's tables take up a new method without being edited.
    """
    package = importlib.import_module("ufselect.selectors")
    found: dict[str, type[UnsupervisedSelector]] = {}
    for module_info in pkgutil.iter_modules(package.__path__, "ufselect.selectors."):
        module = importlib.import_module(module_info.name)
        for name, value in vars(module).items():
            if (
                inspect.isclass(value)
                and issubclass(value, UnsupervisedSelector)
                and value.__module__ == module.__name__
                and not inspect.isabstract(value)
                and not name.startswith("_")
            ):
                found[name] = value
    return dict(sorted(found.items()))


def missing_requirements(selector: type[UnsupervisedSelector]) -> list[str]:
    """Return the optional packages that a selector needs and that are not installed."""
    return [name for name in selector.requires if find_spec(name) is None]
