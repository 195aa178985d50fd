"""Samples in a finished file: every block of an epoch is one stretch of numbers, with a checksum for every chunk of it.

A DATA frame says where: index of the epoch (uint32), samples (uint64), samples in a chunk (uint32), blocks (uint32);
then the place of each block in the file (uint64), its width (uint32), and the CRC-32 of each chunk of each block
(uint32), chunk by chunk.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from varichain.spatial.arrays import Array
from varichain.spatial.frozen import read_only
from varichain.trace.columns import Columns
from varichain.trace.file import TraceFile
from varichain.trace.samples import NUMBER, Samples, changed

_CHUNK = 1 << 20  # bytes of samples that stand or fall together
_HEAD = struct.Struct("<IQII")


@dataclass(frozen=True)
class Directory:
    """Content of a DATA frame.

    Attributes:
        epoch: Index of the epoch.
        n: Number of its samples.
        chunk: Number of samples in a chunk.
        places: Of each block, where it begins in the file.
        widths: Of each block, the numbers in a row.
        checksums: CRC-32 (n_chunks, n_blocks) of each chunk of each block.
    """

    epoch: int
    n: int
    chunk: int
    places: NDArray[np.uint64]
    widths: NDArray[np.uint32]
    checksums: NDArray[np.uint32]

    @property
    def n_chunks(self) -> int:
        """Number of chunks."""
        return -(-self.n // self.chunk)

    def rows(self, chunk: int) -> slice:
        """Samples of a chunk."""
        return slice(chunk * self.chunk, min(self.n, (chunk + 1) * self.chunk))

    def content(self) -> bytes:
        """As bytes."""
        head = _HEAD.pack(self.epoch, self.n, self.chunk, len(self.places))
        arrays = self.places.astype("<u8"), self.widths.astype("<u4"), self.checksums.astype("<u4")
        return head + b"".join(array.tobytes() for array in arrays)

    def spans(self) -> Iterator[tuple[int, int]]:
        """Of each block, where it begins and ends in the file; none for empty ones."""
        for place, width in zip(self.places.tolist(), self.widths.tolist(), strict=True):
            if self.n * width:
                yield place, place + self.n * width * NUMBER.itemsize


def new_directory(epoch: int, columns: Columns, n: int) -> Directory:
    """Directory with places and checksums to be filled in."""
    chunk = max(1, _CHUNK // max(1, columns.width * NUMBER.itemsize))
    widths = np.array([width for _, width in columns], np.uint32)
    checksums = np.zeros((-(-n // chunk), len(widths)), np.uint32)
    return Directory(epoch, n, chunk, np.zeros(len(widths), np.uint64), widths, checksums)


def directory_from(content: bytes) -> Directory:
    """The directory that `Directory.content` gave bytes of."""
    epoch, n, chunk, n_blocks = _HEAD.unpack_from(content)
    places = np.frombuffer(content, "<u8", n_blocks, _HEAD.size)
    widths = np.frombuffer(content, "<u4", n_blocks, _HEAD.size + places.nbytes)
    checksums = np.frombuffer(content, "<u4", offset=_HEAD.size + places.nbytes + widths.nbytes)
    return Directory(epoch, n, chunk, places, widths, checksums.reshape(-(-n // chunk), n_blocks))


class StoredSamples(Samples):
    """Samples in a finished file, read when they are asked for; damaged chunks are left out.

    Attributes:
        intact: Of each chunk, whether all its checksums are right.
    """

    def __init__(self, columns: Columns, directory: Directory, file: TraceFile) -> None:
        """Verify all checksums."""
        self.columns = columns
        self._directory = directory
        self._file = file
        self._kept: dict[str, Array] = {}
        self._whole: Array | None = None
        self.intact = np.ones(directory.n_chunks, dtype=bool)
        for block in range(len(columns.names)):  # block by block, in the order of the file
            for i in range(directory.n_chunks):
                self.intact[i] &= self._chunk(i, block) is not None
        rows = [directory.rows(int(i)) for i in np.flatnonzero(self.intact)]
        self.n = sum(of.stop - of.start for of in rows)

    def gaps(self) -> Iterator[tuple[int, int]]:
        """Of each run of damaged chunks, the number of its samples, and of those that are kept before it."""
        kept = lost = 0
        for i, is_intact in enumerate(self.intact.tolist()):
            rows = self._directory.rows(i)
            if not is_intact:
                lost += rows.stop - rows.start
                continue
            if lost:
                yield lost, kept
            kept, lost = kept + rows.stop - rows.start, 0
        if lost:
            yield lost, kept

    def block(self, name: str) -> Array:
        """One block (n, width of the block), read-only; kept in memory from then on."""
        if self._whole is not None:
            return self._whole[:, self.columns.slice(name)]
        if name not in self._kept:
            where = self.columns.slice(name)  # raises if there is none
            block = self.columns.names.index(name)
            chunks = (self._rows(int(i), block) for i in np.flatnonzero(self.intact))
            self._kept[name] = _joined(chunks, self.n, where.stop - where.start)
        return self._kept[name]

    def matrix(self) -> Array:
        """All rows (n, width), read-only; kept in memory from then on."""
        if self._whole is None:
            self._whole = _joined(self.pieces(), self.n, self.columns.width)
            self._kept = {}
        return self._whole

    def pieces(self) -> Iterator[Array]:
        """All rows, chunk by chunk."""
        blocks = range(len(self.columns.names))
        return (np.hstack([self._rows(int(i), block) for block in blocks]) for i in np.flatnonzero(self.intact))

    def _rows(self, i: int, block: int) -> Array:
        chunk = self._chunk(i, block)
        if chunk is None:
            raise changed(self._file)
        return chunk

    def _chunk(self, i: int, block: int) -> Array | None:
        """Chunk i of a block; None if its checksum is wrong."""
        rows, width = self._directory.rows(i), self.columns.width_of(self.columns.names[block])
        size = width * NUMBER.itemsize
        place = int(self._directory.places[block]) + rows.start * size
        content = self._file.checked(place, (rows.stop - rows.start) * size, int(self._directory.checksums[i, block]))
        return None if content is None else np.frombuffer(content, NUMBER).reshape(rows.stop - rows.start, width)


def _joined(chunks: Iterable[Array], n: int, width: int) -> Array:
    """Chunks one below the other (n, width), read-only; without a second copy of them all."""
    whole = np.empty((n, width))
    row = 0
    for chunk in chunks:
        whole[row : row + len(chunk)] = chunk
        row += len(chunk)
    return read_only(whole)
