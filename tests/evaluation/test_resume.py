"""A run that is killed at any moment ends, once resumed, with the rows of an undisturbed one."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest

from ufselect.evaluation import ResultStore, compare

METHODS, COUNTS = ["MaxVariance", "PCALeverage", "DSCOFS", "SPCAFS"], [2, 3, 4, 5, 6]
N_KILLS = 10
CHILD = textwrap.dedent(
    """
    import os, random, signal, sys, threading
    import numpy as np
    from ufselect.evaluation import compare
    from tests.evaluation.test_resume import COUNTS, METHODS

    store, data, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    arrays, rng = np.load(data), random.Random(seed)
    n_events, seen = rng.randint(1, 3), 0

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    def listen(event):
        # An event comes after every fit and every score; soon after it the next is on its way.
        global seen
        seen += 1
        if seen == n_events:
            threading.Timer(rng.uniform(0, 0.02), die).start()

    compare(arrays["X"], arrays["y"], METHODS, COUNTS, mode="oracle", quick=True,
            store=store, progress=listen)
    """
)


def rows_of(path):
    with ResultStore(path) as store:
        return [replace(row, seconds=0.0) for row in store.selections()], list(store.scores())


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_killed_runs_end_with_the_same_rows(tmp_path, blobs):
    X, y = blobs
    np.savez(tmp_path / "data.npz", X=X, y=y)
    compare(X, y, METHODS, COUNTS, mode="oracle", quick=True, store=tmp_path / "whole.sqlite")
    n_whole = sum(map(len, rows_of(tmp_path / "whole.sqlite")))

    sizes = []
    for seed in range(N_KILLS):
        arguments = [str(tmp_path / "killed.sqlite"), str(tmp_path / "data.npz"), str(seed)]
        ended = subprocess.run([sys.executable, "-c", CHILD, *arguments], check=False, timeout=300)
        assert ended.returncode == -signal.SIGKILL
        sizes.append(sum(map(len, rows_of(tmp_path / "killed.sqlite"))))
    assert sizes == sorted(sizes)
    assert 0 < sizes[0] < sizes[-1]
    assert sizes[N_KILLS // 2] < n_whole  # most kills hit a run that was still computing

    compare(X, y, METHODS, COUNTS, mode="oracle", quick=True, store=tmp_path / "killed.sqlite")
    assert rows_of(tmp_path / "killed.sqlite") == rows_of(tmp_path / "whole.sqlite")
