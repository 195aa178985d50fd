"""The bar that shows how far a sweep is."""

from __future__ import annotations

from types import TracebackType
from typing import Any


class Bar:
    """A bar on standard error: trials done and failed, rate, time left, and who works."""

    def __init__(self, is_shown: bool, total: int, before: int) -> None:
        """Begin with so many of all trials done before."""
        self._bar: Any = None
        self._task: Any = None
        self._before = before
        if is_shown:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}"), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._task = self._bar.add_task("", total=total, completed=before, words="")

    def __enter__(self) -> Bar:
        """Show it."""
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Leave it as it is."""
        if self._bar is not None:
            self._bar.stop()

    def at(self, count: int, failed: int, workers: str) -> None:
        """Show how many trials are done and failed."""
        if self._bar is not None:
            speed = self._bar.tasks[0].speed
            rate = f"{speed:.3g}/s, " if speed else ""
            words = f"{rate}{failed} failed, {workers}"
            self._bar.update(self._task, completed=self._before + count, words=words)
