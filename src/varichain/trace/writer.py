"""Writing a trace as it happens: to memory, or to a file that survives what happens to the program."""

from __future__ import annotations

import os
import time
import warnings
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import varichain
from varichain.errors import InputError, TraceFileError, TraceFileWarning
from varichain.mechanism.log import LogEntry, as_dict
from varichain.trace import records
from varichain.trace.checkpoint import Checkpoint
from varichain.trace.columns import Columns
from varichain.trace.draft import Draft, EpochDraft
from varichain.trace.journal import Journal
from varichain.trace.samples import FileRows, MemoryRows
from varichain.trace.slots import slots_from
from varichain.trace.trace import OUTCOMES, Trace

Array = NDArray[np.float64]
Path = str | os.PathLike[str]


class TraceWriter:
    """A trace that is being written, to memory or to a file.

    Calls come in this order: `begin`, then for each epoch `open_epoch`, any number of `append`, `end_epoch`, and at
    last `finish`; `checkpoint`, `log` and `flush` anywhere between. Samples are gathered until there are `chunk_rows`
    of them or `chunk_seconds` have passed, and then written at once: a program that is killed loses what was gathered,
    and nothing else. While a file grows, samples that are in it are not kept in memory.

    If the file cannot be written any more, the call raises TraceFileError, and the writer goes on in memory: nothing is
    lost, `finish` and `trace` work.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        overwrite: bool = False,
        chunk_rows: int = 1000,
        chunk_seconds: float = 1.0,
    ) -> None:
        """Create the file, if there is to be one.

        Raises:
            TraceFileError: It exists already and `overwrite` is not given, or it cannot be written.
        """
        self.path = None if path is None else os.fspath(path)
        self._journal = None if self.path is None else Journal(self.path, overwrite)
        self._chunk_rows = chunk_rows
        self._chunk_seconds = chunk_seconds
        self._draft = Draft()
        self._queue: list[_Waiting | tuple[bytes, bytes]] = []  # what is not yet written, in order
        self._n_waiting = 0
        self._last_time = -np.inf
        self._flushed_at = time.monotonic()
        self._stage = "new"

    def begin(self, meta: dict[str, Any]) -> None:
        """Say what the run is made with: plain values; the package's version is added."""
        self._expect("new", "begin")
        meta = {"varichain": varichain.__version__} | meta
        content = records.packed({"meta": meta}, "meta")
        self._draft.meta = meta
        self._stage = "between"
        self._queue.append((records.META, content))
        self.flush()

    def open_epoch(self, description: dict[str, Any], columns: Columns) -> None:
        """Begin an epoch: its structure as `varichain.mechanism.description` gives it, and its samples' columns.

        Raises:
            InputError: The columns q, v, tau or loop_forces do not have the structure's widths, or `time` is missing.
        """
        self._expect("between", "open_epoch")
        _check_widths(description, columns)
        index = len(self._draft.epochs)
        entry = {"epoch": index, "description": description, "columns": columns.plain()}
        content = records.packed(entry, "description")
        self._draft.epochs.append(EpochDraft(index, description, columns))
        self._stage = "epoch"
        self._queue.append((records.EPOC, content))

    def append(self, samples: ArrayLike) -> None:
        """Add samples (n, width) of the open epoch, copied.

        Raises:
            InputError: Wrong width, or times that go back.
        """
        self._expect("epoch", "append")
        epoch = self._draft.epochs[-1]
        rows = np.array(samples, dtype=np.float64, order="C")
        if rows.ndim != 2 or rows.shape[1] != epoch.columns.width:
            raise InputError(f"samples must be of shape (n, {epoch.columns.width}), not {rows.shape}")
        if not len(rows):
            return
        times = np.concatenate([[self._last_time], rows[:, epoch.columns.slice("time").start]])
        if not (np.diff(times) >= 0.0).all():
            raise InputError(f"times of samples must not go back or be NaN; found {times[1:]} after {times[0]:g} s")
        self._last_time = float(times[-1])
        if not self._queue or not isinstance(self._queue[-1], _Waiting):
            self._queue.append(_Waiting(epoch, self._n_rows(epoch)))
        self._queue[-1].parts.append(rows)  # type: ignore[union-attr]
        self._n_waiting += len(rows)
        if self._n_waiting >= self._chunk_rows or time.monotonic() - self._flushed_at >= self._chunk_seconds:
            self.flush()

    def end_epoch(self, event: dict[str, Any] | None = None) -> None:
        """End the open epoch; `event` says what ended it, in plain values."""
        self._expect("epoch", "end_epoch")
        epoch = self._draft.epochs[-1]
        entry = {"epoch": epoch.index, "n": self._n_rows(epoch), "event": event}
        self._queue.append((records.EVNT, records.packed(entry, "event")))
        epoch.event, epoch.ended = event, True
        self._stage = "between"

    def checkpoint(self, content: dict[str, Any]) -> None:
        """Keep what a continuation from here needs, in plain values, and flush: the latest one counts."""
        self._expect(("between", "epoch"), "checkpoint")
        epoch = self._draft.epochs[-1] if self._draft.epochs else None
        where = (-1, 0) if epoch is None else (epoch.index, self._n_rows(epoch))
        entry = {"epoch": where[0], "n": where[1], "checkpoint": content}
        self._queue.append((records.CHEK, records.packed(entry, "checkpoint")))
        self._draft.checkpoint = Checkpoint(content, *where)
        self.flush()

    def log(self, entry: LogEntry | dict[str, Any]) -> None:
        """Add an entry of the structure log."""
        self._expect(("between", "epoch"), "log")
        plain = as_dict(entry) if isinstance(entry, LogEntry) else entry
        self._queue.append((records.LOGE, records.packed({"entry": plain}, "log entry")))
        self._draft.log.append(plain)

    def flush(self) -> None:
        """Write what has been gathered.

        Raises:
            TraceFileError: The file cannot be written; everything is kept in memory from now on.
        """
        queue, self._queue, self._n_waiting = self._queue, [], 0
        self._flushed_at = time.monotonic()
        if self._journal is None:
            _keep(queue)
            return
        contents = [item.content() if isinstance(item, _Waiting) else item for item in queue]
        try:
            places = self._journal.write(contents)
        except TraceFileError:
            self._journal.close()
            self._journal = None
            _keep(queue)
            raise
        for item, place, (_, content) in zip(queue, places, contents, strict=True):
            if isinstance(item, _Waiting):
                item.keep_in(self._journal, place, content)

    def finish(self, outcome: str = "complete", message: str | None = None) -> Trace:
        """End the run: "complete", "stopped", "interrupted", "diverged" or "error"; the trace.

        A file becomes a plain HDF5 file, at once; if that fails, it stays as it has grown, and a warning says so.
        """
        if outcome not in OUTCOMES:
            raise InputError(f"outcome must be one of {', '.join(OUTCOMES)}, not {outcome!r}")
        if self._stage == "epoch":
            self.end_epoch(None)
        self._expect("between", "finish")
        self._draft.outcome, self._draft.message = outcome, message
        entry = {"outcome": outcome, "message": message, "n_epochs": len(self._draft.epochs)}
        self._queue.append((records.DONE, records.packed(entry, "message")))
        self._stage = "finished"
        self.flush()
        if self._journal is not None:
            self._journal.close()
            self._finish_file(self._journal.path)
        return self.trace

    @property
    def trace(self) -> Trace:
        """The trace so far."""
        waiting = [item for item in self._queue if isinstance(item, _Waiting)]
        epochs = []
        for epoch in self._draft.epochs:
            rows = [MemoryRows(item.matrix()) for item in waiting if item.epoch is epoch]
            epochs.append(replace(epoch, rows=[*epoch.rows, *rows]))
        return replace(self._draft, epochs=epochs).trace()

    def _finish_file(self, path: str) -> None:
        from varichain.trace.finished import save
        from varichain.trace.load import load_draft

        try:
            save(self._draft.trace(), path, overwrite=True)
            self._draft = load_draft(path)
        except TraceFileError as error:
            text = f"the run is safe in {path!r}, but not as plain HDF5 yet ({error}); load and save it later"
            warnings.warn(text, TraceFileWarning, stacklevel=3)

    def _n_rows(self, epoch: EpochDraft) -> int:
        waiting = (item.n for item in self._queue if isinstance(item, _Waiting) and item.epoch is epoch)
        return epoch.n + sum(waiting)

    def _expect(self, stage: str | tuple[str, ...], call: str) -> None:
        if self._stage not in stage:
            now = {"new": "before begin", "between": "outside of an epoch", "epoch": "within an epoch"}
            raise InputError(f"{call} cannot come {now.get(self._stage, 'after finish')}")


class _Waiting:
    """Samples of one epoch that wait to be written together."""

    def __init__(self, epoch: EpochDraft, first: int) -> None:
        self.epoch = epoch
        self.first = first
        self.parts: list[Array] = []

    @property
    def n(self) -> int:
        return sum(map(len, self.parts))

    def matrix(self) -> Array:
        if len(self.parts) > 1:
            self.parts = [np.concatenate(self.parts)]
        return self.parts[0]

    def content(self) -> tuple[bytes, bytes]:
        return records.ROWS, records.rows_content(self.epoch.index, self.first, self.matrix())

    def keep(self) -> None:
        """Enter the samples into the epoch, in memory."""
        self.epoch.rows.append(MemoryRows(self.matrix()))
        self.epoch.n += self.n

    def keep_in(self, journal: Journal, place: int, content: bytes) -> None:
        """Enter the samples into the epoch, where they are in the file."""
        head = records.ROWS_HEAD.size
        n, width = self.matrix().shape
        self.epoch.rows.append(FileRows(journal.file, place, n, width, head, zlib.crc32(content)))
        self.epoch.n += self.n


def _keep(queue: list[_Waiting | tuple[bytes, bytes]]) -> None:
    for item in queue:
        if isinstance(item, _Waiting):
            item.keep()


def _check_widths(description: dict[str, Any], columns: Columns) -> None:
    slots = slots_from(description)
    widths = {"time": 1, "q": slots.n_q, "v": slots.n_v, "tau": slots.n_v, "loop_forces": 6 * len(slots.loops)}
    if "time" not in columns:
        raise InputError(f"samples must have a column 'time'; found {columns!r}")
    for name, width in widths.items():
        if name in columns and columns.width_of(name) != width:
            raise InputError(f"columns {name!r} must be {width} wide in this structure, not {columns.width_of(name)}")
