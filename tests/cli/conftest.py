"""Every command is called in a folder of its own, on a wide terminal."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("UFSELECT_DATA", raising=False)
    monkeypatch.setenv("UFSELECT_CACHE", str(tmp_path / "cache"))
    return tmp_path
