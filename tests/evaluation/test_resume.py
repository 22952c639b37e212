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

CHILD = textwrap.dedent(
    """
    import os, signal, sys, threading
    import numpy as np
    from ufselect.evaluation import compare

    store, data, n_events, delay = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    arrays = np.load(data)
    seen = 0

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    def listen(event):
        global seen
        seen += 1
        if seen == n_events:
            threading.Timer(delay, die).start() if delay else die()

    compare(arrays["X"], arrays["y"], ["MaxVariance", "DSCOFS"], [2, 4, 6], mode="oracle", quick=True,
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
    methods, counts = ["MaxVariance", "DSCOFS"], [2, 4, 6]
    compare(X, y, methods, counts, mode="oracle", quick=True, store=tmp_path / "whole.sqlite")
    n_whole = len(rows_of(tmp_path / "whole.sqlite")[0])

    sizes = []
    for n_events, delay in ((3, 0.0), (6, 0.004), (4, 0.0)):
        arguments = [str(tmp_path / "killed.sqlite"), str(tmp_path / "data.npz"), str(n_events), str(delay)]
        ended = subprocess.run([sys.executable, "-c", CHILD, *arguments], check=False, timeout=300)
        assert ended.returncode == -signal.SIGKILL
        sizes.append(sum(map(len, rows_of(tmp_path / "killed.sqlite"))))
    assert sizes == sorted(sizes)
    assert 0 < sizes[0] < n_whole

    compare(X, y, methods, counts, mode="oracle", quick=True, store=tmp_path / "killed.sqlite")
    assert rows_of(tmp_path / "killed.sqlite") == rows_of(tmp_path / "whole.sqlite")
