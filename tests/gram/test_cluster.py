"""A real cluster of two processes with little memory: the result of one process, through faults too."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from tests.gram.test_large import CONTAINERS, N_FEATURES, N_SELECTED, X, assert_same_fit

from ufselect import DSCOFS, MaxVariance
from ufselect.gram import dask as blocks_dask
from ufselect.gram import reduce

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
LIMIT = 512 * 2**20


@pytest.fixture(scope="module", autouse=True)
def client():
    """Start the workers once for this module; idle ones take time from the other tests."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=":0"
        ) as cluster,
        cluster.get_client() as client,
    ):
        yield client


@pytest.mark.parametrize("container", ["both ways", "sparse", "frame"])
def test_workers_give_the_result_of_an_array(container):
    found = DSCOFS(n_features_to_select=N_SELECTED).fit(CONTAINERS[container](None))
    assert_same_fit(found, DSCOFS(n_features_to_select=N_SELECTED).fit(X))


def test_a_sketch_is_made_on_workers(monkeypatch):
    monkeypatch.setattr(reduce, "MAX_ORDER", 20)
    selector = DSCOFS(n_features_to_select=N_SELECTED, n_components=3, entry_sparsity=0.05)
    expected = selector.fit(X).support_
    found = selector.fit(CONTAINERS["both ways"](None))
    assert found.reduction_.route == "sketched"
    np.testing.assert_array_equal(found.support_, expected)


def die_once(block, mark, block_info=None):
    """Kill the worker that reads the third block for the first time."""
    if block_info[0]["chunk-location"][0] == 2 and not os.path.exists(mark):
        Path(mark).touch()
        os._exit(1)
    return block


def test_worker_killed_in_the_middle(tmp_path):
    array = da.from_array(X, chunks=(30, -1)).map_blocks(
        die_once, mark=str(tmp_path / "died"), dtype=float, meta=np.empty((0, 0))
    )
    found = DSCOFS(n_features_to_select=N_SELECTED).fit(array)
    assert (tmp_path / "died").exists()
    assert_same_fit(found, DSCOFS(n_features_to_select=N_SELECTED).fit(X))


def test_infinity_on_a_worker_names_the_block():
    broken = X.copy()
    broken[150, 2] = np.inf
    selector = MaxVariance()
    with pytest.raises(ValueError, match=r"Block 2 of X \(rows 140 to 209\) contains NaN or infinity"):
        selector.fit(da.from_array(broken, chunks=(70, -1)))
    assert vars(selector) == MaxVariance().get_params()


def fail_to_read(block, block_info=None):
    if block_info[0]["chunk-location"][0] == 1:
        raise OSError("checksum mismatch")
    return block


def test_corrupt_block_on_a_worker_is_named():
    array = da.from_array(X, chunks=(70, -1)).map_blocks(fail_to_read, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"Block 1 of X \(rows 70 to 139\) cannot be read: checksum"):
        MaxVariance().fit(array)


def test_interrupt_leaves_the_estimator_as_it_was(client, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    fresh = DSCOFS(n_features_to_select=N_SELECTED)
    fitted = DSCOFS(n_features_to_select=N_SELECTED).fit(X)
    support = fitted.support_
    streamed = MaxVariance(n_features_to_select=3).partial_fit(X[:60])
    collected = streamed._accumulator.n_samples
    monkeypatch.setattr(client, "gather", interrupt)
    monkeypatch.setattr(MaxVariance, "_fit_gram", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(da.from_array(X, chunks=(70, -1)))
    assert not [name for name in vars(fresh) if name.endswith("_")]
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(da.from_array(X[:, :20], chunks=(70, -1)))
    assert fitted.n_features_in_ == N_FEATURES
    np.testing.assert_array_equal(fitted.support_, support)
    with pytest.raises(KeyboardInterrupt):
        streamed.partial_fit(X[60:])
    assert streamed._accumulator.n_samples == collected


def read_nothing(block):
    raise AssertionError("a block was read")


def test_the_share_of_a_worker_leaves_room_for_its_libraries():
    assert blocks_dask.smallest_share_of_memory() == pytest.approx(0.6 * LIMIT - 2**28)


def test_a_block_that_no_worker_holds_is_refused_before_it_is_read():
    X = da.random.default_rng(0).standard_normal((80_000, 200), chunks=(40_000, 200))
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
    selector = MaxVariance(1).fit(da.from_array(X, chunks=(20, 3000)))
    assert selector.reduction_.route == "gathered"
    assert selector.get_support(indices=True).tolist() == [7]
