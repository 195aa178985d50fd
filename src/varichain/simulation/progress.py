"""Progress of long runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from varichain.spatial.checks import flag

_QUIET_FOR = 0.5  # [s]: shorter runs show nothing


class Progress:
    """A bar on standard error with simulated time, rate, real-time factor and time left.

    It appears only if the run takes longer than half a second, and is removed at the end.
    """

    def __init__(self, shown: bool | Callable[[float, float], Any], start: float, end: float) -> None:
        """Prepare for a run from `start` to `end` [s]; `shown` may be a function of time and end."""
        self._shown = shown if callable(shown) else flag(shown, "progress")
        self._start, self._end = start, end
        self._begun = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        """Begin."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def at(self, now: float) -> None:
        """Show the time that the run has reached."""
        if callable(self._shown):
            self._shown(now, self._end)
        elif self._shown and time.perf_counter() - self._begun > _QUIET_FOR:
            if self._bar is None:
                self._open()
            wall = time.perf_counter() - self._begun
            factor = (now - self._start) / wall
            self._bar.update(self._task, completed=now - self._start, speed=f"{factor:.2f}x real time")

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("simulating"),
            BarColumn(),
            TextColumn("{task.completed:.2f} of {task.total:.2f} s"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._task = self._bar.add_task("", total=self._end - self._start, speed="")
        self._bar.start()
