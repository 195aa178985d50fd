"""Rows shared out among threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

from varichain.spatial.checks import count_number

MOST_THREADS = 1000
_LISTEN = 0.1  # [s]


def checked_threads(threads: Any) -> int:
    """Number of threads; None is one for every core that this process may use."""
    if threads is None:
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
        return len(cores)
    return count_number(threads, "threads", MOST_THREADS)


def share(
    work: Callable[[int, int, int], object],
    n: int,
    threads: int,
    at_once: int,
    cancel: Callable[[], object] | None = None,
) -> None:
    """Let threads call work(thread, first, end) until all of n rows are done, `at_once` of them a call.

    Whoever is free takes the next rows: which thread gets which does not matter to a result that depends on its row
    alone. An error or Ctrl-C ends it after the rows in work. Work that takes long must be ended by `cancel`;
    the calling thread, the only one that hears Ctrl-C, then takes no part in it.
    """
    starts = count(0, at_once)
    failures: list[BaseException] = []

    def fail(error: BaseException) -> None:
        failures.append(error)
        if cancel is not None:
            cancel()

    def labour(thread: int) -> None:
        try:
            for first in starts:
                if first >= n or failures:
                    return
                work(thread, first, min(first + at_once, n))
        except BaseException as error:
            fail(error)

    first_helper = 1 if cancel is None else 0
    helpers = [threading.Thread(target=labour, args=(k,)) for k in range(first_helper, min(threads, -(-n // at_once)))]
    for helper in helpers:
        helper.start()
    if cancel is None:
        labour(0)
    for helper in helpers:
        _wait_for(helper, fail)
    if failures:
        raise failures[0]


def _wait_for(helper: threading.Thread, fail: Callable[[BaseException], None]) -> None:
    """Wait until a thread has ended, whatever happens meanwhile."""
    while helper.is_alive():
        try:
            helper.join(_LISTEN)  # without an end, some systems would not let Ctrl-C through
        except KeyboardInterrupt as error:
            fail(error)
