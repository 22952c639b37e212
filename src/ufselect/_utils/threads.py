"""One thread of BLAS for a while, also where several of our own ask for that at overlapping times."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

_lock = Lock()
_n_inside = 0
_limits: threadpool_limits | None = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread inside; the first to enter sets that and the last to leave undoes it.

    Limits hold for the whole process. Were each caller to restore what it found, one that entered after
    another would restore that other's limit and leave it behind for good.
    """
    global _n_inside, _limits
    with _lock:
        _n_inside += 1
        if _n_inside == 1:
            _limits = threadpool_limits(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            if _n_inside == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None
