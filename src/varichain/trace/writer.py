"""Writing a trace as it happens: to memory, or to a file that survives what happens to the program."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.errors import InputError, TraceFileError, TraceFileWarning, quoted
from varichain.files import Path, file_name
from varichain.mechanism.log import LogEntry, as_dict
from varichain.spatial.checks import flag, non_negative_scalar, shown
from varichain.trace import records
from varichain.trace.checkpoint import Checkpoint
from varichain.trace.columns import Columns
from varichain.trace.draft import Draft, EpochDraft
from varichain.trace.finished import save
from varichain.trace.journal import Journal
from varichain.trace.labels import PER_FREEDOM
from varichain.trace.sink import Sink
from varichain.trace.slots import Slots
from varichain.trace.structure import PackedStructure
from varichain.trace.trace import OUTCOMES, Trace
from varichain.version import __version__

Plain = Mapping[str, Any]

_NEW, _BETWEEN, _WITHIN, _FINISHED = "before begin", "between epochs", "within an epoch", "after finish"


class TraceWriter:
    """A trace that is being written, to memory or to a file.

    Calls come in this order: `begin`, then for each epoch `open_epoch`, any number of `append`, `end_epoch`, and at
    last `finish`; `checkpoint`, `log` and `flush` anywhere between. Samples are gathered until there are `chunk_rows`
    of them or `chunk_seconds` have passed, and then written at once: a program that is killed loses what was gathered,
    and nothing else. Samples that are in the file are not kept in memory.

    If the file cannot be written any more, the call raises TraceFileError, and the writer goes on in memory: nothing is
    lost, and `append`, `finish` and `trace` work.

    As a context manager it finishes the run at the end of the block, as "complete", or as "interrupted" or "error" if
    something was raised.
    """

    def __init__(
        self, path: Path | None = None, *, overwrite: bool = False, chunk_rows: int = 1000, chunk_seconds: float = 1.0
    ) -> None:
        """Create the file, if there is to be one.

        Raises:
            TraceFileError: It exists already and `overwrite` is not given, or it cannot be written.
            InputError: An argument is of the wrong kind.
        """
        if type(chunk_rows) is not int or chunk_rows < 1:
            raise InputError(f"chunk_rows must be a whole number from 1 on, not {shown(chunk_rows)}")
        seconds = non_negative_scalar(chunk_seconds, "chunk_seconds")
        flag(overwrite, "overwrite")
        journal = None if path is None else Journal(file_name(path), overwrite)
        self._sink = Sink(journal, chunk_rows, seconds)
        self._draft = Draft()
        self._trace: Trace | None = None  # the trace, when its file is finished
        self._last_time = -np.inf
        self._stage = _NEW

    def begin(self, meta: Plain) -> None:
        """Say what the run is made with: plain values; the package's version is added."""
        self._expect("begin", _NEW)
        entry = self._sink.put_plain(records.META, {"meta": {"varichain": __version__, **meta}}, "meta")
        self._draft.meta = entry["meta"]
        self._stage = _BETWEEN
        self.flush()
        self._sink.publish()

    def resume(self, trace: Trace) -> None:
        """Instead of `begin`: take over what a trace had at its latest checkpoint, and go on from there.

        A file that the trace was loaded from may be the one that is written: it is replaced when all is taken over.

        Raises:
            InputError: There is no checkpoint, or something before it is lost.
        """
        self._expect("resume", _NEW)
        kept, point = trace.at_checkpoint(), trace.checkpoint_place
        self._draft.meta = self._sink.put_plain(records.META, {"meta": kept.meta}, "meta")["meta"]
        self._stage = _BETWEEN
        for epoch in kept.epochs:
            self._open(EpochDraft(epoch.index, epoch.structure, epoch.columns))
            for rows in epoch._samples.pieces():
                self.append(rows)
            if not point.is_open or epoch is not kept.epochs[-1]:
                self.end_epoch(epoch.event)
        for entry in kept.log:
            self.log(entry)
        self.checkpoint(point.content)
        self._sink.publish()

    def open_epoch(self, description: Plain, columns: Columns) -> None:
        """Begin an epoch: its structure as `varichain.mechanism.description` gives it, and its samples' columns.

        Raises:
            InputError: The column `time` is missing, or q, v, tau, loop_forces, ... do not have the structure's widths.
        """
        self._expect("open_epoch", _BETWEEN)
        structure = PackedStructure.of(description)
        _check_widths(structure.slots, columns)
        self._open(EpochDraft(len(self._draft.epochs), structure, columns))

    def append(self, samples: ArrayLike) -> None:
        """Add samples (n, width) of the open epoch; they are copied.

        Raises:
            InputError: Wrong width, or times that go back.
        """
        self._expect("append", _WITHIN)
        epoch = self._draft.epochs[-1]
        rows = _matrix(samples)
        if rows.ndim != 2 or rows.shape[1] != epoch.columns.width:
            raise InputError(f"samples must be of shape (n, {epoch.columns.width}), not {rows.shape}")
        if not len(rows):
            return
        times = np.concatenate([[self._last_time], rows[:, epoch.columns.slice("time").start]])
        if not (times[1:] >= times[:-1]).all():
            raise InputError(f"times of samples must not go back; found {times[1:]} s after {times[0]:g} s")
        self._last_time = float(times[-1])
        self._sink.put_rows(epoch, rows)

    def end_epoch(self, event: Plain | None = None) -> None:
        """End the open epoch; `event` says what ended it, in plain values."""
        self._expect("end_epoch", _WITHIN)
        epoch = self._draft.epochs[-1]
        entry = {"epoch": epoch.index, "n": self._sink.n_samples(epoch), "event": event}
        epoch.event = self._sink.put_plain(records.EVNT, entry, "event")["event"]
        self._stage = _BETWEEN

    def checkpoint(self, content: Plain) -> None:
        """Keep what a continuation from here needs, in plain values, and flush; the latest checkpoint counts."""
        self._expect("checkpoint", _BETWEEN, _WITHIN)
        epochs, log = self._draft.epochs, self._draft.log
        n_samples = self._sink.n_samples(epochs[-1]) if epochs else 0
        counts = (len(epochs), n_samples, self._stage == _WITHIN, len(log))
        entry = self._sink.put_plain(records.CHEK, Checkpoint(dict(content), *counts).plain(), "checkpoint")
        self._draft.checkpoint = Checkpoint(**entry)
        self.flush()

    def log(self, entry: LogEntry | Plain) -> None:
        """Add an entry of the structure log."""
        self._expect("log", _BETWEEN, _WITHIN)
        plain = as_dict(entry) if isinstance(entry, LogEntry) else entry
        self._draft.log.append(self._sink.put_plain(records.LOGE, {"entry": plain}, "log entry")["entry"])

    def flush(self) -> None:
        """Write what has been gathered.

        Raises:
            TraceFileError: The file cannot be written; everything is kept in memory from now on.
        """
        self._sink.flush()

    def finish(self, outcome: str = "complete", message: str | None = None) -> Trace:
        """End the run: "complete", "stopped", "interrupted", "diverged" or "error"; the trace.

        A file becomes a plain HDF5 file now. If that fails, it stays as it has grown, which `Trace.load` reads as well,
        and a TraceFileWarning says so. Called again, after Ctrl-C for example, it goes on where it was, and the first
        outcome counts.

        Raises:
            TraceFileError: The end of the run cannot be written; it is in `trace`.
        """
        if outcome not in OUTCOMES:
            raise InputError(f"outcome must be one of {', '.join(OUTCOMES)}, not {quoted(outcome)}")
        self._expect("finish", _BETWEEN, _WITHIN, _FINISHED)
        if self._trace is not None:
            return self._trace
        if self._stage == _WITHIN:
            self.end_epoch()
        if self._stage != _FINISHED:
            self._sink.put_plain(records.DONE, {"outcome": outcome, "message": message}, "message")
            self._draft.outcome, self._draft.message = outcome, message
            self._stage = _FINISHED
        self.flush()
        if self._sink.journal is not None:
            self._finish_file(self._sink.journal)
        return self.trace

    @property
    def trace(self) -> Trace:
        """The trace so far."""
        if self._trace is not None:
            return self._trace
        epochs = [replace(epoch, rows=self._sink.rows_of(epoch)) for epoch in self._draft.epochs]
        return replace(self._draft, epochs=epochs).trace()

    def __enter__(self) -> Self:
        """Nothing to do."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """Finish the run, if that was not done."""
        if self._stage in (_BETWEEN, _WITHIN):
            if error is None:
                self.finish()
            else:
                outcome = "interrupted" if isinstance(error, KeyboardInterrupt) else "error"
                self.finish(outcome, f"{type(error).__name__}: {error}")
        elif self._stage == _NEW and self._sink.journal is not None:
            self._sink.journal.discard()

    def _open(self, epoch: EpochDraft) -> None:
        columns = records.packed(epoch.columns.plain(), "columns")
        content = records.epoch_content(epoch.index, columns, epoch.structure.content)
        self._sink.put(records.EPOC, content)
        self._draft.epochs.append(epoch)
        self._stage = _WITHIN

    def _finish_file(self, journal: Journal) -> None:
        try:
            self._trace = save(self._draft.trace(), journal.path, overwrite=True)
        except TraceFileError as error:
            text = f"the run is safe in {journal.path!r}, but not as plain HDF5: {error}; load and save it later"
            warnings.warn(text, TraceFileWarning, stacklevel=4)
        journal.close()

    def _expect(self, call: str, *stages: str) -> None:
        if self._stage not in stages:
            raise InputError(f"{call} cannot come {self._stage}; only {' or '.join(stages)}")


def _check_widths(slots: Slots, columns: Columns) -> None:
    widths = {"time": 1, "q": slots.n_q, **dict.fromkeys(PER_FREEDOM, slots.n_v)}
    widths |= {"loop_forces": 6 * len(slots.loops), "coupling_forces": len(slots.couplings)}
    widths |= {"joint_forces": 6 * len(slots.joints)}
    if "time" not in columns:
        raise InputError(f"samples must have a column 'time'; found {quoted(columns)}")
    for name, width in widths.items():
        if name in columns and columns.width_of(name) != width:
            raise InputError(f"columns {name!r} must be {width} wide in this structure, not {columns.width_of(name)}")


def _matrix(samples: ArrayLike) -> NDArray[np.float64]:
    """A copy in rows of floats."""
    try:
        return np.array(samples, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(f"samples must be a matrix of numbers: {error}") from None
