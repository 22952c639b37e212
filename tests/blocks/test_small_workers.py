"""A real cluster whose workers have little memory: another route, or a sentence before anything is read."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ufselect import MaxVariance
from ufselect.blocks import dask as blocks_dask

pytest.importorskip("distributed")
dask_array = pytest.importorskip("dask.array")
pytestmark = pytest.mark.usefixtures("client")
LIMIT = 512 * 2**20  # of each worker of the cluster that all tests share


def read_nothing(block):
    raise AssertionError("a block was read")


def test_the_share_of_a_worker_leaves_room_for_its_libraries():
    assert blocks_dask.smallest_share_of_memory() == pytest.approx(0.6 * LIMIT - 2**28)


def test_a_block_that_no_worker_holds_is_refused_before_it_is_read():
    X = dask_array.random.default_rng(0).standard_normal((80_000, 200), chunks=(40_000, 200))
    unreadable = X.map_blocks(read_nothing, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"^A block of X takes 61 MiB, but .* 51 MiB") as refusal:
        MaxVariance(2).fit(unreadable)
    most_rows = int(re.search(r"call X\.rechunk\(\((\d+), -1\)\)", str(refusal.value))[1])
    assert MaxVariance(2).fit(X.rechunk((most_rows, -1))).reduction_.route == "formed"


def test_a_matrix_that_no_worker_can_merge_is_not_formed():
    """A record of 3,000 features takes 36 MB, and eleven of them more than the worker has."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3000))
    X[:, 7] *= 30
    selector = MaxVariance(1).fit(dask_array.from_array(X, chunks=(20, 3000)))
    assert selector.reduction_.route == "gathered"
    assert selector.get_support(indices=True).tolist() == [7]
