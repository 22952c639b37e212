"""Worker processes that end with the process that started them, also where that was killed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from threading import Thread
from typing import Any

SECONDS_BETWEEN_LOOKS = 0.5


class EndingWithParent:
    """A function for worker processes that, once called in one, lets it end soon after its parent.

    A killed process cannot tell its workers to stop, and they would wait for more work for minutes. Each
    looks now and then whether its parent is still the one that made this object. Elsewhere, in a thread or
    on a cluster, the function is called and nothing else happens.

    Parameters
    ----------
    work : callable
        What to call.
    """

    def __init__(self, work: Callable[..., Any]) -> None:
        self.work = work
        self.parent = os.getpid()

    def __call__(self, *arguments: Any) -> Any:
        if os.getppid() == self.parent:
            _watch(self.parent)
        return self.work(*arguments)


@cache  # one watch a process
def _watch(parent: int) -> None:
    Thread(target=_end_with, args=(parent,), daemon=True, name="ufselect-parent-watch").start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)
