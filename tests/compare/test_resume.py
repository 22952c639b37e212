"""A run that is stopped is taken up again; what has changed is computed anew; runs do not harm each other."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import ufselect
from ufselect.compare import compare

METHODS, COUNTS = ["MaxVariance", "DSCOFS", "SPCAFS"], [2, 4, 6]
KILLED = textwrap.dedent(
    """
    import os, signal, sys
    import numpy as np
    from ufselect.compare import compare
    from tests.compare.test_resume import COUNTS, METHODS

    # read before forking: children would share the place in the open file
    data = dict(np.load(sys.argv[2]))

    def run(n_events):
        # An event comes after every fit and every score; soon after it the next is on its way.
        def listen(event):
            nonlocal n_events
            n_events -= 1
            if n_events == 0:
                signal.setitimer(signal.ITIMER_REAL, 0.01)

        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        compare(data["X"], data["y"], METHODS, COUNTS, mode="oracle", quick=True, store=sys.argv[1],
                progress=listen)

    for at_once in ([2], [10, 20]):  # the second and the third run share the folder
        children = []
        for n_events in at_once:
            children.append(os.fork())
            if children[-1] == 0:
                run(n_events)
                os._exit(0)
        for child in children:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    """
)


def rows_of(result):
    return [{**row, "seconds": 0.0} for row in result.rows]


def stored(folder):
    return sum(1 for _ in Path(folder).rglob("output.pkl"))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_killed_runs_end_with_the_same_rows(tmp_path, blobs):
    X, y = blobs
    np.savez(tmp_path / "data.npz", X=X, y=y)
    whole = compare(X, y, METHODS, COUNTS, mode="oracle", quick=True, store=tmp_path / "whole")
    files = [str(tmp_path / "killed"), str(tmp_path / "data.npz")]
    subprocess.run([sys.executable, "-W", "error", "-c", KILLED, *files], check=True, timeout=300)
    assert 20 <= stored(tmp_path / "killed") < stored(tmp_path / "whole")
    resumed = compare(X, y, METHODS, COUNTS, mode="oracle", quick=True, store=tmp_path / "killed")
    assert rows_of(resumed) == rows_of(whole)
    assert stored(tmp_path / "killed") == stored(tmp_path / "whole")


def test_a_second_run_computes_nothing(blobs, tmp_path):
    settings = {"mode": "oracle", "quick": True, "store": tmp_path}
    calls = []  # an event each
    first = compare(*blobs, ["DSCOFS"], COUNTS, progress=calls.append, **settings)
    second = compare(*blobs, ["DSCOFS"], COUNTS, **settings)
    assert first.rows == second.rows  # with the seconds of the first
    assert stored(tmp_path) == len(calls)


def test_one_more_method_leaves_the_others_as_they_are(blobs, tmp_path):
    before = compare(*blobs, ["MaxVariance"], [2], n_runs=2, store=tmp_path)
    after = compare(*blobs, ["MaxVariance", "SPCAFS"], [2], n_runs=2, store=tmp_path)
    assert [row for row in after.rows if row["method"] != "SPCAFS"] == before.rows


def test_results_of_a_changed_version_are_computed_anew(blobs, tmp_path, monkeypatch):
    X, y = blobs
    compare(X, y, ["MaxVariance"], [2], n_runs=2, store=tmp_path)
    before = stored(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(ufselect, "__version__", "another")
        compare(X, y, ["MaxVariance"], [2], n_runs=2, store=tmp_path)
    assert stored(tmp_path) == 2 * before


def test_a_damaged_result_is_computed_anew(tmp_path, blobs):
    X, y = blobs
    first = compare(X, y, ["MaxVariance"], [2], n_runs=2, store=tmp_path)
    for file in tmp_path.rglob("output.pkl"):
        file.write_bytes(file.read_bytes()[:-20])
    second = compare(X, y, ["MaxVariance"], [2], n_runs=2, store=tmp_path)
    assert rows_of(first) == rows_of(second)
