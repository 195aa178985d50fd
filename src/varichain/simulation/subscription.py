"""Subscriptions to the frames of a live run: each keeps the newest frame only, so that a slow reader delays nobody."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from types import TracebackType
from typing import Self

from varichain.simulation.live_frames import LiveFrame


class Subscription:
    """Subscription to the frames of a run; `with run.subscribe() as frames:` closes it at the end."""

    def __init__(self, end: Callable[[Subscription], None]) -> None:
        """Wait for frames; `end` is called when the subscription is closed."""
        self._changed = Condition()
        self._newest: LiveFrame | None = None
        self._has_ended = False
        self._end = end

    def put(self, frame: LiveFrame) -> None:
        """Replace the newest frame."""
        with self._changed:
            self._newest = frame
            self._changed.notify_all()

    def next(self, timeout: float | None = None) -> LiveFrame | None:
        """Newest frame, as soon as there is an unread one; None after `timeout` [s], or when the run is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._newest is not None or self._has_ended, timeout)
            frame, self._newest = self._newest, None
            return frame

    @property
    def has_ended(self) -> bool:
        """Whether no frame will come."""
        return self._has_ended

    def close(self) -> None:
        """End the subscription; a thread that waits in `next` gets None."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()
        self._end(self)

    def __enter__(self) -> Self:
        """Nothing to do."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Close."""
        self.close()
