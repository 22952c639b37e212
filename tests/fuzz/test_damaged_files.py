"""Bytes changed at random in a file of every format: one sentence with the file's name, or a table."""

from __future__ import annotations

import pytest

from tests.fuzz.cases import fifth
from tests.fuzz.damage import WRITERS, flip_bytes


@pytest.mark.parametrize("name", WRITERS)
def test_flipped_bytes(name, tmp_path):
    try:
        flip_bytes(name, len(fifth(range(25))), 1, tmp_path)
    except ImportError as error:
        pytest.skip(f"needs {error.name}")
