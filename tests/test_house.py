"""The contributor's page: its files exist, and a tracer meets them in the order in which it lists them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import ufselect

PAGE = (Path(__file__).parents[1] / "docs" / "house.md").read_text(encoding="utf-8")
PACKAGE = Path(ufselect.__file__).parent


def walks():
    """Return the listed files by the heading of each walk."""
    parts = re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]
    return {
        part.split("\n", 1)[0]: re.findall(r"^\d+\. `([^`]+)`", part, flags=re.MULTILINE) for part in parts
    }


def first_entries(call):
    """Return the package's files in the order in which a call enters them."""
    entered = {}

    def note(frame, event, _):
        code = frame.f_code
        is_import = code.co_name == "<module>"
        if event == "call" and not is_import and code.co_filename.startswith(str(PACKAGE)):
            entered.setdefault(Path(code.co_filename).relative_to(PACKAGE).as_posix())

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(entered)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return np.repeat(3 * rng.standard_normal((3, 12)), 20, axis=0) + rng.standard_normal((60, 12))


def test_five_walks_of_files_that_exist():
    found = walks()
    assert len(found) == 5
    for files in found.values():
        assert len(files) == len(set(files)) >= 10
        assert all((PACKAGE / file).is_file() for file in files)


def as_dask(data):
    return pytest.importorskip("dask.array").from_array(data, chunks=(20, -1))


@pytest.mark.parametrize(
    ("heading", "selector", "hold"),
    [
        ("A fit in memory", ufselect.DSCOFS(3, n_components=2), np.asarray),
        ("A dask fit", ufselect.DSCOFS(3, n_components=2), as_dask),
        ("Choosing without labels", ufselect.AutoSelector(3, n_clusters=3, random_state=0), np.asarray),
    ],
)
def test_a_walk_goes_forward_only(data, heading, selector, hold):
    (files,) = (files for title, files in walks().items() if title.startswith(heading))
    held = hold(data)
    entered = first_entries(lambda: selector.fit(held))
    assert [file for file in entered if file in files] == files
