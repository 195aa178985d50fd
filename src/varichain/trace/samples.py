"""Where an epoch's samples are: in memory, in a growing file row by row, or in a finished one block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from varichain.errors import TraceFileError
from varichain.spatial.arrays import Array
from varichain.spatial.frozen import read_only
from varichain.trace.columns import Columns
from varichain.trace.file import TraceFile

NUMBER = np.dtype("<f8")


class Rows(ABC):
    """Some consecutive rows of samples; `n` of them."""

    n: int

    @abstractmethod
    def matrix(self) -> Array:
        """The rows (n, width)."""


class MemoryRows(Rows):
    """Rows in memory."""

    def __init__(self, matrix: Array) -> None:
        """Take over a matrix."""
        self.n = len(matrix)
        self._matrix = matrix

    def matrix(self) -> Array:
        """The rows (n, width)."""
        return self._matrix


class FileRows(Rows):
    """Rows in a growing file, one behind the other."""

    def __init__(self, file: TraceFile, offset: int, n: int, width: int, head: int, checksum: int) -> None:
        """Say where they are: behind `head` bytes of a frame's content at `offset`, with this CRC-32 together."""
        self.n = n
        self._where = (offset, head + n * width * NUMBER.itemsize, checksum)
        self._file, self._head, self._width = file, head, width

    def matrix(self) -> Array:
        """The rows (n, width).

        Raises:
            TraceFileError: The file has been changed since it was opened.
        """
        content = self._file.checked(*self._where)
        if content is None:
            raise changed(self._file)
        return np.frombuffer(content, NUMBER, offset=self._head).reshape(self.n, self._width)


class Samples(ABC):
    """All samples of an epoch.

    Attributes:
        columns: What stands where in a row.
        n: Number of samples.
    """

    columns: Columns
    n: int

    @abstractmethod
    def block(self, name: str) -> Array:
        """One block (n, width of the block), read-only."""

    @abstractmethod
    def matrix(self) -> Array:
        """All rows (n, width), read-only."""

    @abstractmethod
    def pieces(self) -> Iterator[Array]:
        """All rows, in pieces (any number, width) that fit into memory."""

    def batches(self, n: int) -> Iterator[Array]:
        """All rows, in pieces of `n` rows; the last may be shorter."""
        waiting: list[Array] = []
        for piece in self.pieces():
            waiting.append(piece)
            while sum(map(len, waiting)) >= n:
                rows = np.concatenate(waiting) if len(waiting) > 1 else waiting[0]
                yield rows[:n]
                waiting = [rows[n:]]
        if sum(map(len, waiting)):
            yield np.concatenate(waiting)

    def first(self, n: int) -> Samples:
        """The first `n` of them, in memory."""
        if n == self.n:
            return self
        rows, left = [], n
        for piece in self.pieces():
            rows.append(MemoryRows(piece[:left]))
            left -= rows[-1].n
            if left == 0:
                break
        return SamplesInRows(self.columns, rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the numbers themselves: a file need not exist elsewhere."""
        return SamplesInRows, (self.columns, [MemoryRows(np.array(self.matrix()))])


class SamplesInRows(Samples):
    """Samples row by row, in memory or in a growing file."""

    def __init__(self, columns: Columns, rows: Sequence[Rows]) -> None:
        """Keep rows that follow each other."""
        self.columns = columns
        self.n = sum(part.n for part in rows)
        self._rows = list(rows)

    def block(self, name: str) -> Array:
        """One block (n, width of the block), read-only."""
        return self.matrix()[:, self.columns.slice(name)]

    def matrix(self) -> Array:
        """All rows (n, width), read-only; kept in memory from then on."""
        if len(self._rows) != 1 or not isinstance(self._rows[0], MemoryRows):
            parts = [part.matrix() for part in self._rows]
            self._rows = [MemoryRows(np.concatenate(parts) if parts else np.empty((0, self.columns.width)))]
        return read_only(self._rows[0].matrix().view())

    def pieces(self) -> Iterator[Array]:
        """All rows, in the pieces in which they came."""
        return (part.matrix() for part in self._rows)


def changed(file: TraceFile) -> TraceFileError:
    """The error for a file that was changed while it was in use."""
    return TraceFileError(f"{file.path!r} has been changed since it was loaded: load it again", file.path)
