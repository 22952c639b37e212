"""Collections without rows and columns are refused by name; workers with little memory get the sketch."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect import AutoSelector, LaplacianScore, MaxVariance

dask = pytest.importorskip("dask")
dask_array = pytest.importorskip("dask.array")


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (dask_array.arange(5), "two dimensions"),
        (dask_array.ones(()), "two dimensions"),
        (dask.delayed(np.ones)((3, 2)), "from_delayed"),
        (
            dask_array.from_delayed(dask.delayed(np.ones)((3, 2)), (3, np.nan), dtype=float),
            "compute_chunk_sizes",
        ),
    ],
    ids=["one dimension", "none", "delayed", "unknown columns"],
)
@pytest.mark.parametrize("selector", [MaxVariance, LaplacianScore, AutoSelector])
def test_other_shapes_are_refused(selector, X, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        selector(1).fit(X)


def test_a_dask_series_has_no_columns():
    pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    series = frames.from_pandas(pandas.Series([1.0, 2.0, 3.0]), npartitions=1)
    for selector in (MaxVariance(1), LaplacianScore(1)):
        with pytest.raises(ValueError, match="two dimensions"):
            selector.fit(series)


@pytest.mark.parametrize(("share", "route"), [(10**9, "formed"), (5000, "gathered")])
def test_workers_with_little_memory_do_not_merge_whole_matrices(share, route, monkeypatch):
    monkeypatch.setattr("ufselect.gram.dask.smallest_share_of_memory", lambda: share)
    X = np.random.default_rng(0).standard_normal((60, 20)) * np.arange(1, 21)
    selector = MaxVariance(3).fit(dask_array.from_array(X, chunks=(20, 20)))
    assert selector.reduction_.route == route
    assert selector.get_support(indices=True).tolist() == [17, 18, 19]
