"""A file in memory of which only the parts exist that were written.

HDF5 lays out a file of any size in it, and what it wrote is then written to the disk by Python: the HDF5 library itself
crashes the program if a disk is full.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

_PAGE = 1 << 16


class SparseFile(io.RawIOBase):
    """A binary file in memory; parts that were never written are zeros and take no memory."""

    def __init__(self) -> None:
        """Make an empty file."""
        self._pages: dict[int, bytearray] = {}
        self._size = 0
        self._at = 0

    def written(self) -> Iterator[tuple[int, bytes]]:
        """Parts with something in them, each with its place, in order."""
        for page, content in sorted(self._pages.items()):
            yield page * _PAGE, bytes(content[: max(0, self._size - page * _PAGE)])

    @property
    def size(self) -> int:
        """Length of the file."""
        return self._size

    def readable(self) -> bool:
        """It is."""
        return True

    def writable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        """The place."""
        return self._at

    def truncate(self, size: int | None = None) -> int:
        """Set the length."""
        self._size = self._at if size is None else size
        return self._size

    def write(self, data: Any) -> int:
        """Write at the place."""
        view = memoryview(data).cast("B")
        for page, start, part in self._parts(len(view)):
            content = self._pages.setdefault(page, bytearray(_PAGE))
            content[start : start + len(part)] = view[part.start : part.stop]
        self._at += len(view)
        self._size = max(self._size, self._at)
        return len(view)

    def readinto(self, buffer: Any) -> int:
        """Read from the place."""
        view = memoryview(buffer).cast("B")
        n = max(0, min(len(view), self._size - self._at))
        for page, start, part in self._parts(n):
            content = self._pages.get(page)
            view[part.start : part.stop] = bytes(len(part)) if content is None else content[start : start + len(part)]
        self._at += n
        return n

    def _parts(self, n: int) -> Iterator[tuple[int, int, range]]:
        """Of n bytes from the place on: page, place in the page, and which of the bytes."""
        done = 0
        while done < n:
            page, start = divmod(self._at + done, _PAGE)
            k = min(n - done, _PAGE - start)
            yield page, start, range(done, done + k)
            done += k
