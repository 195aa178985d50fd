"""What waits to be written: texts, and samples that are gathered into larger frames."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from varichain.spatial.arrays import Array
from varichain.trace import records
from varichain.trace.draft import EpochDraft
from varichain.trace.file import TraceFile
from varichain.trace.frames import Buffer, frame
from varichain.trace.samples import FileRows, MemoryRows, Rows


@dataclass
class Text:
    """A frame of text; `number` is the frame's."""

    number: int
    kind: bytes
    content: bytes

    def frame(self) -> list[Buffer]:
        """As it stands in a file."""
        return frame(self.kind, self.number, self.content)


@dataclass
class Waiting:
    """Samples of one epoch that follow each other.

    Attributes:
        number: The frame's number.
        epoch: Their epoch.
        first: Number of the epoch's samples before them.
        parts: The samples.
        is_sealed: Whether they may be in the file already, so that others must not be added.
    """

    number: int
    epoch: EpochDraft
    first: int
    parts: list[Array] = field(default_factory=list)
    is_sealed: bool = False

    @property
    def n(self) -> int:
        """Number of samples."""
        return sum(map(len, self.parts))

    def matrix(self) -> Array:
        """All of them (n, width)."""
        if len(self.parts) > 1:
            self.parts = [np.concatenate(self.parts)]
        return self.parts[0]

    def frame(self) -> list[Buffer]:
        """As they stand in a file."""
        return frame(records.ROWS, self.number, *records.rows_content(self.epoch.index, self.first, self.matrix()))

    def rows_in_memory(self) -> Rows:
        """The samples, kept in memory."""
        return MemoryRows(self.matrix())

    def rows_in(self, file: TraceFile, place: int, checksum: int) -> Rows:
        """The samples, to be read from a frame with its content at that place."""
        n, width = self.matrix().shape
        return FileRows(file, place, n, width, records.ROWS_HEAD.size, checksum)

    def enter(self, rows: Rows) -> None:
        """Make them samples of their epoch; entered twice, they are there once."""
        self.epoch.rows[self.number] = rows
        self.epoch.n = self.first + rows.n
