"""Where a writer puts things: a queue, and behind it a growing file or memory."""

from __future__ import annotations

import time
from typing import Any

from varichain.errors import TraceFileError
from varichain.spatial.arrays import Array
from varichain.trace.draft import EpochDraft
from varichain.trace.frames import checksum_in
from varichain.trace.journal import N_FIRST, Journal
from varichain.trace.queue import Text, Waiting
from varichain.trace.records import packed, unpacked
from varichain.trace.samples import Rows


class Sink:
    """Gathers texts and samples, and writes them together.

    Attributes:
        journal: The file; None if there is none, or if it cannot be written any more.
    """

    def __init__(self, journal: Journal | None, chunk_rows: int, chunk_seconds: float) -> None:
        """Write when `chunk_rows` samples wait, or when the last writing was `chunk_seconds` [s] ago."""
        self.journal = journal
        self._chunk_rows = chunk_rows
        self._chunk_seconds = chunk_seconds
        self._queue: list[Text | Waiting] = []
        self._n_waiting = 0
        self._n_frames = N_FIRST
        self._flushed_at = time.monotonic()

    def put_plain(self, kind: bytes, entry: dict[str, Any], what: str) -> dict[str, Any]:
        """Put plain values; they come back as they will from the file, the caller's no more.

        Raises:
            InputError: They are not plain; nothing is put then.
        """
        content = packed(entry, what)
        self.put(kind, content)
        return unpacked(content)

    def put(self, kind: bytes, content: bytes) -> None:
        """Put a frame of text."""
        self._queue.append(Text(self._next_number(), kind, content))

    def put_rows(self, epoch: EpochDraft, rows: Array) -> None:
        """Put samples of the last epoch.

        Raises:
            TraceFileError: They were to be written, and cannot be.
        """
        waiting = self._queue[-1] if self._queue else None
        if not isinstance(waiting, Waiting) or waiting.is_sealed:
            waiting = Waiting(self._next_number(), epoch, self.n_samples(epoch))
            self._queue.append(waiting)
        waiting.parts.append(rows)
        self._n_waiting += len(rows)
        if self._n_waiting >= self._chunk_rows or time.monotonic() - self._flushed_at >= self._chunk_seconds:
            self.flush()

    def n_samples(self, epoch: EpochDraft) -> int:
        """Number of an epoch's samples, those that wait included."""
        waiting = [item.first + item.n for item in self._waiting() if item.epoch is epoch]
        return waiting[-1] if waiting else epoch.n

    def rows_of(self, epoch: EpochDraft) -> dict[int, Rows]:
        """All samples of an epoch, those that wait included."""
        waiting = [item for item in self._waiting() if item.epoch is epoch]
        return epoch.rows | {item.number: item.rows_in_memory() for item in waiting}

    def flush(self) -> None:
        """Write what waits.

        Interrupted anywhere, by Ctrl-C for example, all of it can be done again: nothing is there twice.

        Raises:
            TraceFileError: The file cannot be written; everything is kept in memory from now on.
        """
        self._flushed_at, self._n_waiting = time.monotonic(), 0
        for item in self._waiting():
            item.is_sealed = True
        if self.journal is not None:
            self._write(self.journal)
        else:
            for item in self._waiting():
                item.enter(item.rows_in_memory())
        self._queue = []

    def publish(self) -> None:
        """Give the file its name.

        Raises:
            TraceFileError: That is not possible; everything is kept in memory from now on.
        """
        if self.journal is not None:
            try:
                self.journal.publish()
            except TraceFileError:
                self._leave(self.journal)
                raise

    def _write(self, journal: Journal) -> None:
        frames = [item.frame() for item in self._queue]
        try:
            places = journal.write(frames)
        except TraceFileError:
            self._leave(journal)
            raise
        for item, place, parts in zip(self._queue, places, frames, strict=True):
            if isinstance(item, Waiting):
                item.enter(item.rows_in(journal.file, place, checksum_in(parts[0])))

    def _leave(self, journal: Journal) -> None:
        """Go on in memory; what is in the file is read from there."""
        self.journal = None
        journal.leave()
        self.flush()

    def _waiting(self) -> list[Waiting]:
        return [item for item in self._queue if isinstance(item, Waiting)]

    def _next_number(self) -> int:
        self._n_frames += 1
        return self._n_frames - 1
