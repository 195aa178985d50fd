"""Ctrl-C while a solver works: noted, and obeyed after the iteration."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """Notes Ctrl-C between entry and exit, in the main thread; elsewhere there is none to note.

    Attributes:
        came: Whether it came.
    """

    def __init__(self) -> None:
        """Begin without."""
        self.came = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        """Take the signal."""
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Give it back."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.came = True
