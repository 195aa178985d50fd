"""Progress of a solver."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from varichain.spatial.checks import flag

_QUIET_FOR = 0.5  # [s]: shorter searches show nothing


class Showing:
    """A line on standard error with iteration, cost and what equations are off; removed at the end."""

    def __init__(self, shown: bool | Callable[[int, float, float], Any]) -> None:
        """Prepare; `shown` may be a function of the three numbers."""
        self._shown = shown if callable(shown) else flag(shown, "progress")
        self._line: Any = None
        self._begun = time.perf_counter()

    def __enter__(self) -> Showing:
        """Begin."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Remove the line."""
        if self._line is not None:
            self._line.stop()

    def at(self, iteration: int, cost: float, off: float) -> None:
        """Show an iteration."""
        if callable(self._shown):
            self._shown(iteration, cost, off)
        elif self._shown and time.perf_counter() - self._begun > _QUIET_FOR:
            if self._line is None:
                self._open()
            self._line.update(f"optimising: iteration {iteration}, cost {cost:.6g}, equations off by {off:.1e}")

    def _open(self) -> None:
        from rich.console import Console
        from rich.status import Status

        self._line = Status("", console=Console(file=sys.stderr))
        self._line.start()
