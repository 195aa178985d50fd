"""The rest of a finished file: its size, and a checksum of all bytes that no frame and no directory vouches for."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from varichain.trace.file import TraceFile

Span = tuple[int, int]

_REST = struct.Struct("<QQI")
SIZE = _REST.size


@dataclass(frozen=True)
class Rest:
    """Content of a REST frame.

    Attributes:
        userblock: Where the user block, with all frames in it, ends.
        size: Where the file ends.
        checksum: CRC-32 of the bytes between that are no samples.
    """

    userblock: int
    size: int
    checksum: int

    def content(self) -> bytes:
        """As bytes."""
        return _REST.pack(self.userblock, self.size, self.checksum)


def rest_from(content: bytes) -> Rest:
    """The values that `Rest.content` gave bytes of."""
    return Rest(*_REST.unpack(content))


def rest_of(file: TraceFile, userblock: int, samples: Iterable[Span]) -> Rest:
    """Rest of a file whose samples are in the given spans of bytes."""
    start, checksum = userblock, 0
    for first, last in [*sorted(samples), (file.size, file.size)]:
        checksum = file.checksum(start, first, checksum)
        start = last
    return Rest(userblock, file.size, checksum)
