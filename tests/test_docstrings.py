"""The examples in docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import ufselect

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(ufselect.__path__, "ufselect.")
    if not module.name.endswith("__main__")
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_public_selectors_have_an_example_and_an_equation():
    from ufselect.registry import all_selectors

    for name, selector in all_selectors().items():
        text = selector.__doc__ or ""
        assert ">>>" in text, f"{name} has no example"
        assert "Parameters" in text, f"{name} documents no parameters"
