"""Bytes changed at random in a file of every format: one sentence with the file's name, or a table."""

from __future__ import annotations

import pytest

from tests.fuzz.damage import WRITERS, flip_bytes

N_FLIPS = 50  # a thousand over all formats; ``python -m tests.fuzz --flips 1000`` makes as many in each


@pytest.mark.parametrize("name", WRITERS)
def test_flipped_bytes(name, tmp_path):
    try:
        flip_bytes(name, N_FLIPS, 1, tmp_path)
    except ImportError as error:
        pytest.skip(f"needs {error.name}")
