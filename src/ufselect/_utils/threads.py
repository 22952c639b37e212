"""One BLAS thread for a while, also if several of our own threads ask for it at overlapping times."""

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
    """Limit BLAS to one thread inside; the first caller to enter sets the limit, the last to leave lifts it.

    Limits hold for the whole process. If each caller restored what it found, one that entered after another
    would restore the limit of that other, which would then stay.
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
