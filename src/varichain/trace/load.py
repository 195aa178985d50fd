"""Reading a trace's file: frame by frame, whatever state it is in."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from varichain.errors import DamagedTraceWarning, TraceFileError
from varichain.trace import records
from varichain.trace.checkpoint import Checkpoint
from varichain.trace.columns import columns_from
from varichain.trace.draft import Draft, EpochDraft
from varichain.trace.file import TraceFile
from varichain.trace.finished import REST, rest_checksum, spans_of
from varichain.trace.frames import SIGNATURE, SIZE, Frame, frames
from varichain.trace.samples import NUMBER, FileRows
from varichain.trace.stored import Directory, StoredSamples, directory_from
from varichain.trace.trace import Trace


def load(path: str) -> Trace:
    """The trace in a file; see `Trace.load`."""
    reader = _Reader(TraceFile(path))
    damage = reader.damage()
    if damage:
        warnings.warn(f"{path!r} is damaged: {damage}", DamagedTraceWarning, stacklevel=3)
    return reader.draft.trace(damage)


def load_draft(path: str) -> Draft:
    """The same as a draft, of a file that was just written."""
    reader = _Reader(TraceFile(path))
    damage = reader.damage()
    if damage:
        raise TraceFileError(f"what was written to {path!r} does not come back: {damage}", path)
    return reader.draft


class _Reader:
    """What a file says, frame by frame."""

    def __init__(self, file: TraceFile) -> None:
        self.draft = Draft(message="the file was not finished")
        self._file = file
        self._epochs: dict[int, EpochDraft] = {}
        self._times: dict[int, float] = {}  # per epoch, the last time that was read
        self._directories: list[Directory] = []
        self._faults: list[str] = []
        self._is_done = False
        self._check_kind()
        self._read()

    def damage(self) -> str | None:
        """What is lost, in a sentence; None if nothing is."""
        return "; ".join(self._faults) or None

    def _check_kind(self) -> None:
        file = self._file
        if file.size == 0:
            raise TraceFileError(f"{file.path!r} is empty", file.path)
        if file.find(SIGNATURE, 0) is None:
            raise TraceFileError(f"{file.path!r} is not a trace of varichain", file.path)

    def _read(self) -> None:
        at = number = 0
        for frame in frames(self._file):
            if frame.offset - SIZE != at or frame.number != number:
                self._faults.append(f"{frame.number - number} records before byte {frame.offset - SIZE} are unreadable")
            at, number = frame.end, frame.number + 1
            content = self._file.checked(frame.offset, frame.length, frame.checksum)
            if content is None:
                self._lose(frame)
            elif self._take(frame, content):
                break
        else:
            if at != self._file.size and not self._faults:
                self._faults.append(f"the file ends within a record, after {self._where()}")
        if not self.draft.epochs and self._faults:
            raise TraceFileError(f"{self._file.path!r} is damaged beyond reading", self._file.path)

    def _where(self) -> str:
        last = [self._times[epoch.index] for epoch in self.draft.epochs if epoch.index in self._times]
        return f"t = {last[-1]:g} s" if last else "its beginning"

    def _lose(self, frame: Frame) -> None:
        name = frame.kind.decode("ascii", "replace")
        self._faults.append(f"a record of kind {name} is unreadable, after {self._where()}")

    def _take(self, frame: Frame, content: bytes) -> bool:
        """Understand a frame; whether it is the last."""
        if frame.kind == records.ROWS:
            self._rows(frame, content)
        elif frame.kind == records.DATA:
            self._data(directory_from(content))
        elif frame.kind == records.REST:
            self._rest(frame, *REST.unpack(content))
            return True
        elif frame.kind != records.NOTE:
            self._text(frame.kind, records.unpacked(content))
        return False

    def _text(self, kind: bytes, entry: dict[str, Any]) -> None:
        if kind == records.HEAD:
            self._head(entry)
        elif kind == records.META:
            self.draft.meta = entry["meta"]
        elif kind == records.EPOC:
            epoch = EpochDraft(entry["epoch"], entry["description"], columns_from(entry["columns"]))
            self._epochs[epoch.index] = epoch
            self.draft.epochs.append(epoch)
        elif kind == records.EVNT:
            self._end(entry)
        elif kind == records.CHEK:
            self._checkpoint(entry)
        elif kind == records.LOGE:
            self.draft.log.append(entry["entry"])
        elif kind == records.DONE:
            self.draft.outcome, self.draft.message = entry["outcome"], entry["message"]
            self._is_done = True

    def _head(self, entry: dict[str, Any]) -> None:
        if entry["version"] > records.VERSION:
            raise TraceFileError(
                f"{self._file.path!r} has version {entry['version']} of the format, which this version of varichain "
                f"does not know (it reads up to {records.VERSION}): install a newer one",
                self._file.path,
            )

    def _rows(self, frame: Frame, content: bytes) -> None:
        index, first, n, width = records.ROWS_HEAD.unpack_from(content)
        epoch = self._epochs.get(index)
        if epoch is None:
            self._faults.append(f"{n} samples of epoch {index} are lost with its structure")
            return
        time = np.frombuffer(content, NUMBER, offset=records.ROWS_HEAD.size)[epoch.columns.slice("time").start :: width]
        if first > epoch.n:
            self._lost_rows(epoch, first - epoch.n, float(time[0]))
        rows = FileRows(self._file, frame.offset, n, width, records.ROWS_HEAD.size, frame.checksum)
        epoch.rows.append(rows)
        epoch.n = first + n
        self._times[index] = float(time[-1])

    def _lost_rows(self, epoch: EpochDraft, n: int, until: float) -> None:
        since = self._times.get(epoch.index, -math.inf)
        epoch.lost.append((since, until))
        self._faults.append(f"{n} samples of epoch {epoch.index} between {since:g} s and {until:g} s are lost")

    def _data(self, directory: Directory) -> None:
        self._directories.append(directory)
        epoch = self._epochs.get(directory.epoch)
        if epoch is None:
            self._faults.append(f"{directory.n} samples of epoch {directory.epoch} are lost with its structure")
            return
        samples = StoredSamples(epoch.columns, directory, self._file)
        epoch.stored, epoch.n = samples, directory.n
        if not samples.intact.all():
            self._lost_chunks(epoch, samples, directory)

    def _lost_chunks(self, epoch: EpochDraft, samples: StoredSamples, directory: Directory) -> None:
        time = samples.block("time")[:, 0]
        first = 0
        while first < directory.n_chunks:
            if samples.intact[first]:
                first += 1
                continue
            last = first
            while last < directory.n_chunks and not samples.intact[last]:
                last += 1
            row = directory.rows(first).start
            k, n = samples.n_before(row), directory.rows(last - 1).stop - row
            since = float(time[k - 1]) if k else -math.inf
            until = float(time[k]) if k < len(time) else math.inf
            epoch.lost.append((since, until))
            self._faults.append(f"{n} samples of epoch {epoch.index} between {since:g} s and {until:g} s are lost")
            first = last

    def _end(self, entry: dict[str, Any]) -> None:
        epoch = self._epochs.get(entry["epoch"])
        if epoch is None:
            self._faults.append(f"epoch {entry['epoch']} is lost with its structure")
            return
        if entry["n"] > epoch.n:
            self._lost_rows(epoch, entry["n"] - epoch.n, math.inf)
            epoch.n = entry["n"]
        epoch.event, epoch.ended = entry["event"], True

    def _checkpoint(self, entry: dict[str, Any]) -> None:
        epoch = self._epochs.get(entry["epoch"])
        n = 0
        if epoch is not None:
            stored = epoch.stored
            kept = stored.n_before(entry["n"]) if isinstance(stored, StoredSamples) else sum(r.n for r in epoch.rows)
            n = kept
        self.draft.checkpoint = Checkpoint(entry["checkpoint"], entry["epoch"], n)

    def _rest(self, frame: Frame, userblock: int, size: int, checksum: int) -> None:
        """Compare all other bytes of a finished file with their checksum."""
        padding = self._file.read(frame.end, userblock - frame.end)
        spans = spans_of(self.draft.epochs, self._directories) if len(self._directories) == len(self._epochs) else None
        is_right = not any(padding) and self._file.size == size and spans is not None
        if not is_right or rest_checksum(self._file, userblock, size, spans or []) != checksum:
            self._faults.append("bytes that hold no samples have changed")
