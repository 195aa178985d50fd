"""A trace's file, open for reading."""

from __future__ import annotations

import io
import os
import stat
import threading
import weakref
import zlib
from contextlib import nullcontext

from varichain.errors import TraceFileError

_BLOCK = 1 << 24  # bytes read at once where a whole file is gone through


_STAYS_OPEN = os.name != "nt"  # Windows lets nobody rename or replace an open file: there it is opened for each reading


class TraceFile:
    """A file that stays open as long as somebody may read from it, even if its name is given to another file.

    Attributes:
        path: Its name.
        size: Bytes in it when it was opened.
    """

    def __init__(self, path: str) -> None:
        """Open a file.

        Raises:
            TraceFileError: It cannot be opened.
        """
        self.path = path
        self._lock = threading.Lock()
        file = self._opened()
        self.size = os.fstat(file.fileno()).st_size
        self._open_file = file if _STAYS_OPEN else None
        if self._open_file is None:
            file.close()
        else:
            weakref.finalize(self, self._open_file.close)

    def read(self, offset: int, length: int) -> bytes:
        """Bytes from a place on; fewer if the file ends before.

        Raises:
            TraceFileError: The disk does not give them.
        """
        parts: list[bytes] = []
        with self._lock, nullcontext(self._open_file) if self._open_file else self._opened() as file:
            try:
                # what a header promises beyond the end is not there, and no memory is asked for it
                length = min(length, os.fstat(file.fileno()).st_size - offset)
                if length > 0:
                    file.seek(offset)
                while length > 0 and (part := file.read(length)):
                    parts.append(part)
                    length -= len(part)
            except OSError as error:
                raise TraceFileError(f"cannot read {self.path!r}: {error.strerror}", self.path) from error
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _opened(self) -> io.FileIO:
        try:
            if not stat.S_ISREG(os.stat(self.path).st_mode):
                raise TraceFileError(f"cannot read {self.path!r}: it is not a regular file", self.path)
            return open(self.path, "rb", buffering=0)
        except TraceFileError:
            raise
        except OSError as error:
            raise TraceFileError(f"cannot read {self.path!r}: {error.strerror}", self.path) from error

    def checked(self, offset: int, length: int, checksum: int) -> bytes | None:
        """Bytes with this CRC-32; None if they are others."""
        found = self.read(offset, length)
        return found if len(found) == length and zlib.crc32(found) == checksum else None

    def checksum(self, offset: int, end: int, start: int = 0) -> int:
        """CRC-32 of the bytes from `offset` to `end`, continued from `start`."""
        while offset < end and (part := self.read(offset, min(_BLOCK, end - offset))):
            start = zlib.crc32(part, start)
            offset += len(part)
        return start

    def find(self, pattern: bytes, offset: int, end: int) -> int | None:
        """First place of a pattern that begins between `offset` and `end`, or None."""
        while offset < end:
            part = self.read(offset, min(_BLOCK, end - offset + len(pattern) - 1))
            at = part.find(pattern)
            if at >= 0:
                return offset + at
            if len(part) < len(pattern):
                return None
            offset += len(part) - len(pattern) + 1
        return None
