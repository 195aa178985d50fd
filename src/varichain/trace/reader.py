"""Reading a trace's file: all frames that are intact, in the order of their numbers, whatever state the file is in."""

from __future__ import annotations

import math
import struct
import zlib
from collections import Counter, deque
from typing import Any

import numpy as np

from varichain.errors import TraceFileError
from varichain.trace import records
from varichain.trace.checkpoint import Checkpoint
from varichain.trace.columns import columns_from
from varichain.trace.damage import Damage, Gap
from varichain.trace.draft import Draft, EpochDraft
from varichain.trace.file import TraceFile
from varichain.trace.frames import FileFrame
from varichain.trace.records import ROWS_HEAD
from varichain.trace.rest import Rest, rest_of
from varichain.trace.samples import NUMBER, FileRows
from varichain.trace.scan import Scan
from varichain.trace.stored import Directory, StoredSamples, directory_from
from varichain.trace.structure import PackedStructure
from varichain.trace.trace import OUTCOMES

_DISPENSABLE = (records.HEAD, records.NOTE, records.REST)
# What a record that says nonsense, its checksums notwithstanding, makes of its reader.
_NONSENSE = (KeyError, TypeError, ValueError, IndexError, ArithmeticError, AttributeError, struct.error, zlib.error)
_ROOM, _ROOM_PER_BYTE = 2**25, 16


class Reader:
    """What a file says.

    Attributes:
        draft: The trace.
        damage: What is wrong with the file.
    """

    def __init__(self, file: TraceFile) -> None:
        """Read a file.

        Raises:
            TraceFileError: It is not a trace, of a newer version, or damaged beyond reading.
        """
        self.draft = Draft(message="the file was not finished")
        self.damage = Damage()
        self._file = file
        self._epochs: dict[int, EpochDraft] = {}
        self._orphans: dict[int, Gap] = {}  # epochs without structure
        self._directories: dict[int, Directory] = {}
        self._now: float | None = None  # time of the sample read last
        self._open: list[Gap] = []  # gaps after which no sample was read yet
        self._room = _ROOM + _ROOM_PER_BYTE * file.size  # bytes that all texts may have, unpacked
        self._left = file.size  # bytes that samples may have, so that no two blocks are one
        self._read(Scan(file))
        if self.damage and not self._epochs:
            raise TraceFileError(f"{file.path!r} is damaged beyond reading: {self.damage}", file.path)

    def _read(self, scan: Scan) -> None:
        expected, damaged = 0, deque(sorted(scan.damaged.items()))
        for number, frame in sorted(scan.intact.items()):
            if number > expected:
                kinds: Counter[bytes | None] = Counter()
                while damaged and damaged[0][0] < number:
                    kinds[damaged.popleft()[1]] += 1
                kinds[None] += number - expected - kinds.total()
                self._miss(kinds)
            expected = number + 1
            try:
                self._take(frame)
            except _NONSENSE:
                self._miss(Counter([frame.kind]))
        if damaged or scan.ends_within:
            last: list[bytes | None] = [kind for _, kind in damaged]
            self._miss(Counter(last or [None]))
        if scan.rest is not None:
            self._compare_rest(scan.rest, scan.end)
        if scan.has_damage and not self.damage:
            self.damage.notes.append("a record is damaged, but its copy is intact; save the trace again")

    # Damage

    def _miss(self, kinds: Counter[bytes | None]) -> None:
        """Note that frames are lost here."""
        lost = Counter({kind: n for kind, n in kinds.items() if n and kind not in _DISPENSABLE})
        if lost:
            self._note(Gap(lost, since=self._now))
        if lost.total() < kinds.total():
            self.damage.notes.append("a record without data is damaged; save the trace again")

    def _note(self, gap: Gap) -> None:
        self.damage.gaps.append(gap)
        if gap.until is None:
            self._open.append(gap)

    def _miss_samples(self, epoch: EpochDraft, n: int, until: float | None) -> None:
        """Note that samples of an epoch are lost: those in the gap, which was not noticed before."""
        if not self._open:
            self._note(Gap(since=self._now))
        self._open[-1].n_samples += n
        epoch.lost.append(_span(self._now, until))

    def _reach(self, first: float, last: float | None) -> None:
        """Samples were read: gaps end there."""
        for gap in self._open:
            gap.until = first
        self._open = []
        self._now = last

    # Frames

    def _take(self, frame: FileFrame) -> None:
        if frame.kind == records.ROWS:
            self._take_rows(frame)  # without reading all of it once more
        elif frame.kind == records.EPOC:
            self._take_epoch(self._file.read(frame.offset, frame.length))
        elif frame.kind == records.DATA:
            self._take_data(directory_from(self._file.read(frame.offset, frame.length)))
        elif frame.kind in _TEXTS:
            _TEXTS[frame.kind](self, self._unpacked(self._file.read(frame.offset, frame.length)))
        elif frame.kind not in (records.NOTE, records.REST):
            self.damage.notes.append(f"a record of unknown kind {frame.kind.decode('ascii', 'replace')!r} was skipped")

    def _unpacked(self, content: bytes) -> dict[str, Any]:
        """Values of a text; all texts together are not much larger than the file."""
        self._room -= len(records.text_of(content))
        if self._room < 0:
            raise ValueError("texts that are far larger than the file")
        return records.unpacked(content)

    def _take_head(self, entry: dict[str, Any]) -> None:
        path = self._file.path
        if entry["format"] != records.FORMAT:
            raise TraceFileError(f"{path!r} is not a trace but a {entry['format']!r}", path)
        if entry["version"] > records.VERSION:
            raise TraceFileError(
                f"{path!r} has version {entry['version']} of the format; this varichain reads versions up to "
                f"{records.VERSION}: install a newer one",
                path,
            )

    def _take_meta(self, entry: dict[str, Any]) -> None:
        self.draft.meta = _dict(entry["meta"])

    def _take_epoch(self, content: bytes) -> None:
        index, columns, structure = records.epoch_from(content)
        epoch = EpochDraft(index, PackedStructure(structure), columns_from(self._unpacked(columns)))
        if epoch.columns.width_of("time") != 1:
            raise ValueError("samples without a time")
        self._epochs[index] = epoch
        self.draft.epochs.append(epoch)

    def _take_rows(self, frame: FileFrame) -> None:
        index, first, n, width = ROWS_HEAD.unpack(self._file.read(frame.offset, ROWS_HEAD.size))
        if frame.length != ROWS_HEAD.size + n * width * NUMBER.itemsize or n == 0:
            raise ValueError("samples of another number")
        if index not in self._epochs:
            self._miss_epoch(index, n)
            return
        epoch = self._epochs[index]
        if width != epoch.columns.width:
            raise ValueError("samples of another width")
        column = epoch.columns.slice("time").start
        start, end = (self._number(frame, row * width + column) for row in (0, n - 1))
        if first > epoch.n:
            self._miss_samples(epoch, first - epoch.n, start)
        epoch.rows[frame.number] = FileRows(self._file, frame.offset, n, width, ROWS_HEAD.size, frame.checksum)
        epoch.n = first + n
        self._reach(start, end)

    def _number(self, frame: FileFrame, i: int) -> float:
        """Number i of the samples in a frame."""
        place = frame.offset + ROWS_HEAD.size + i * NUMBER.itemsize
        return float(np.frombuffer(self._file.read(place, NUMBER.itemsize), NUMBER)[0])

    def _take_data(self, directory: Directory) -> None:
        self._directories[directory.epoch] = directory
        if directory.epoch not in self._epochs:
            self._miss_epoch(directory.epoch, directory.n)
            return
        epoch = self._epochs[directory.epoch]
        self._left -= directory.n * epoch.columns.width * NUMBER.itemsize
        if self._left < 0 or directory.widths.tolist() != [width for _, width in epoch.columns]:
            raise ValueError("more samples than the file has bytes")
        samples = StoredSamples(epoch.columns, directory, self._file)
        epoch.stored, epoch.n = samples, directory.n
        time = samples.block("time")[:, 0].tolist()
        if time:
            self._reach(time[0], self._now)
        for n, kept in samples.gaps():
            since = time[kept - 1] if kept else self._now
            until = time[kept] if kept < len(time) else None
            self._note(Gap(since=since, until=until, n_samples=n))
            epoch.lost.append(_span(since, until))
        self._now = time[-1] if time else self._now

    def _miss_epoch(self, index: int, n: int) -> None:
        if index not in self._orphans:
            self._orphans[index] = Gap(since=self._now, epoch=index)
            self._note(self._orphans[index])
        self._orphans[index].n_samples += n

    def _take_event(self, entry: dict[str, Any]) -> None:
        epoch = self._epochs.get(entry["epoch"])
        if epoch is None:
            self._miss_epoch(entry["epoch"], 0)
            return
        if type(entry["n"]) is not int:
            raise TypeError("a number of samples")
        if entry["n"] > epoch.n:
            self._miss_samples(epoch, entry["n"] - epoch.n, None)
            epoch.n = entry["n"]
        epoch.event = None if entry["event"] is None else _event(entry["event"])

    def _take_checkpoint(self, entry: dict[str, Any]) -> None:
        found = Checkpoint(**entry)
        if any(type(n) is not int or n < 0 for n in (found.n_epochs, found.n_samples, found.n_log)):
            raise ValueError("a place in the trace")
        _dict(found.content)
        self.draft.checkpoint = found

    def _take_log(self, entry: dict[str, Any]) -> None:
        self.draft.log.append(_dict(entry["entry"]))

    def _take_end(self, entry: dict[str, Any]) -> None:
        outcome, message = entry["outcome"], entry["message"]
        if outcome not in OUTCOMES or not isinstance(message, str | None):
            raise ValueError("an outcome")
        self.draft.outcome, self.draft.message = outcome, message

    def _compare_rest(self, rest: Rest, end: int) -> None:
        """Compare all other bytes of a finished file with their checksum."""
        spans = [span for directory in self._directories.values() for span in directory.spans()]
        padding = self._file.read(end, rest.userblock - end)
        if any(padding) or rest_of(self._file, rest.userblock, spans) != rest:
            self.damage.notes.append("the HDF5 tables have changed since the file was written; save the trace again")


def _dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("names and values")
    return value


def _event(value: Any) -> dict[str, Any]:
    event = _dict(value)
    for key in ("names", "actions"):
        _list_of(str, event.get(key))
    if not isinstance(event.get("energy_lost"), int | float | None):
        raise TypeError("an energy")
    for edit in event.get("edits") or []:
        kind, joint = _dict(edit)["kind"], edit["joint"]
        if not isinstance(kind, str) or not kind.strip() or not isinstance(joint, str):
            raise TypeError("an edit")
        _list_of((int, float), edit.get("impulse"))
    return event


def _list_of(kind: Any, values: Any) -> None:
    if values is not None and not (isinstance(values, list) and all(isinstance(value, kind) for value in values)):
        raise TypeError("a list")


def _span(since: float | None, until: float | None) -> tuple[float, float]:
    return -math.inf if since is None else since, math.inf if until is None else until


_TEXTS = {
    records.HEAD: Reader._take_head,
    records.META: Reader._take_meta,
    records.EVNT: Reader._take_event,
    records.CHEK: Reader._take_checkpoint,
    records.LOGE: Reader._take_log,
    records.DONE: Reader._take_end,
}
