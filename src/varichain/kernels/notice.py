"""What a user hears of compilation: one line, and on a terminal a bar for each kernel. Loading is silent."""

from __future__ import annotations

import sys
from typing import Any

from numba.core import event

from varichain.kernels.cache import cache_folder
from varichain.kernels.fingerprint import count_functions


class CompilationNotice(event.Listener):  # type: ignore[misc]
    """Listens to Numba, which compiles a kernel and, inside, each function that the kernel reaches."""

    def __init__(self) -> None:
        """Nothing has been printed yet."""
        self.is_printed = False
        self._depth = 0  # of functions that are being compiled
        self._bar: Any = None

    def on_start(self, event: Any) -> None:
        """Called by Numba before it compiles any function."""
        function = event.data["dispatcher"].py_func
        if not function.__module__.startswith("varichain."):
            return
        self._depth += 1
        if not self.is_printed:
            self.is_printed = True
            print(
                "varichain: compiling kernels for this machine, once: seconds each, about a minute for those of whole "
                f"runs; kept in {cache_folder()}",
                file=sys.stderr,
            )
        if self._depth == 1 and sys.stderr.isatty():
            self._bar = _bar(function.__name__, count_functions(function))

    def on_end(self, event: Any) -> None:
        """Called by Numba after it has compiled any function."""
        if not event.data["dispatcher"].py_func.__module__.startswith("varichain."):
            return
        self._depth -= 1
        if self._bar is not None:
            self._bar.advance(self._bar.task_ids[0])
            if self._depth == 0:
                self._bar.stop()
                self._bar = None


def _bar(name: str, total: int) -> Any:
    """A bar on standard error, which goes when the kernel is done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("compiling {task.description}"), BarColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(name, total=total)
    bar.start()
    return bar
