"""Threads of bars of progress."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import ufselect


def our_threads():
    """Return all but the listeners of scikit-learn's callbacks, which it leaves waiting after any fit."""
    return {thread for thread in threading.enumerate() if "_accept" not in thread.name}


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_bar_of_progress_leaves_no_threads_behind(method):
    callback = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    X = np.random.default_rng(0).standard_normal((30, 6))
    selector = ufselect.DSCOFS(2).set_callbacks(callback.ProgressBar())
    before = our_threads()
    for _ in range(3):
        getattr(selector, method)(X)
    # A thread that was told to end may still be ending; those of earlier tests may end meanwhile.
    deadline = time.monotonic() + 30
    while our_threads() - before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert our_threads() <= before
