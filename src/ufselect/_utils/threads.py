"""How many threads BLAS has: one for a while, or in a program of ours all for large data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock

from threadpoolctl import threadpool_limits

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
LARGE = 1e10  # n d², above which a product of matrices takes a second on one core
_has_default = False


def default_to_one_thread() -> None:
    """Let NumPy and scikit-learn begin with one thread each, unless the environment says otherwise.

    Threads of K-means that wait for those of BLAS take more time than they save: 29 instead of 5 seconds of
    two cores. Call it before NumPy is imported.
    """
    global _has_default
    if not os.environ.keys() & set(VARIABLES):
        _has_default = True
        os.environ["OMP_NUM_THREADS"] = "1"


def blas_threads_for(n_rows: int, n_columns: int) -> AbstractContextManager[object]:
    """Give BLAS all cores inside if data are large and it has one by default."""
    is_large = _has_default and n_rows * n_columns**2 > LARGE
    return threadpool_limits(os.cpu_count(), user_api="blas") if is_large else nullcontext()


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
