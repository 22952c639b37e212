"""Workers of a killed process do not live on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from ufselect.common.orphans import EndingWithParent

CHILD = textwrap.dedent(
    """
    import os, sys, time
    from pathlib import Path
    from ufselect.evaluation.execute import execute

    def work(folder, task):
        Path(folder, str(os.getpid())).touch()
        time.sleep(600)

    list(execute(work, (sys.argv[1],), [0, 1], n_jobs=2))
    """
)
PATIENCE = 60  # seconds on a busy machine; without a watch the workers stay for ten minutes


def wait_for(condition):
    for _ in range(10 * PATIENCE):
        if condition():
            return True
        time.sleep(0.1)
    return False


def is_running(pid: str) -> bool:
    status = Path("/proc", pid, "stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"  # a zombie has ended
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
def test_workers_of_a_killed_process_end(tmp_path):
    workers = tmp_path / "workers"
    workers.mkdir()
    parent = subprocess.Popen([sys.executable, "-c", CHILD, str(workers)])
    try:
        assert wait_for(lambda: len(list(workers.iterdir())) == 2)
        pids = [path.name for path in workers.iterdir()]
        assert all(map(is_running, pids))
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert wait_for(lambda: not any(map(is_running, pids)))


def test_nothing_is_watched_where_the_work_is_done_at_home():
    before = os.getpid()
    assert EndingWithParent(max)(2, 3) == 3
    assert os.getpid() == before
