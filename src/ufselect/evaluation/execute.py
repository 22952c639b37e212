"""Carrying out tasks: here, in processes, or on a dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from joblib import Parallel, delayed

from ufselect.common.orphans import EndingWithParent

Task = TypeVar("Task")
Result = TypeVar("Result")


def execute(
    work: Callable[..., Result], shared: tuple, tasks: Sequence[Task], n_jobs: int = 1, client: Any = None
) -> Iterator[tuple[Task, Result]]:
    """Yield ``(task, work(*shared, task))`` for every task, in the order in which they end.

    Parameters
    ----------
    work : callable
        A function of this package, so that other processes can import it.
    shared : tuple
        First arguments of every call, sent once to each worker.
    tasks : sequence
        Last argument, one per call.
    n_jobs : int
        Processes; 1 works in this one.
    client : dask.distributed.Client, optional
        A cluster to use instead of processes.
    """
    if client is not None:
        yield from _on_cluster(work, shared, tasks, client)
    elif n_jobs == 1 or len(tasks) < 2:
        for task in tasks:
            yield task, work(*shared, task)
    else:
        # One task at a time: joblib would put slow tasks that follow quick ones into one batch, and a batch
        # is written down, and safe from an interruption, only as a whole.
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        paired = EndingWithParent(_paired)
        yield from parallel(delayed(paired)(work, shared, task) for task in tasks)


def _paired(work: Callable[..., Result], shared: tuple, task: Task) -> tuple[Task, Result]:
    return task, work(*shared, task)


def _on_cluster(work: Callable, shared: tuple, tasks: Sequence, client: Any) -> Iterator[tuple]:
    from dask.distributed import as_completed

    # Keys by content could be freed by an earlier stage while this one asks for them.
    sent = client.scatter(list(shared), broadcast=True, hash=False)
    futures = [client.submit(_unpacked, work, task, *sent, pure=False) for task in tasks]
    for future in as_completed(futures):
        yield future.result()


def _unpacked(work: Callable[..., Result], task: Task, *shared: Any) -> tuple[Task, Result]:
    return task, work(*shared, task)
