"""Frames: the records that a trace's file is made of, each with its length, number and checksums.

A frame is a header of 32 bytes, little-endian, and its content:

    signature   8 bytes   89 56 43 54 0d 0a 1a 0a
    kind        4 bytes   four letters
    number      uint32    0, 1, 2, ...; a frame that is written twice has the same number both times
    length      uint64    bytes of content
    checksum    uint32    CRC-32 of the content
    checksum    uint32    CRC-32 of the 28 bytes before

A frame is there wholly or not at all: what was being written when a program was killed fails its checksums. After
damage the next frame is found by its signature.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from varichain.trace.file import TraceFile

Buffer = bytes | memoryview

SIGNATURE = b"\x89VCT\r\n\x1a\n"
_HEADER = struct.Struct("<8s4sIQI")
SIZE = _HEADER.size + 4


@dataclass(frozen=True)
class FileFrame:
    """A frame whose header was found in a file.

    Attributes:
        kind: Its four letters.
        number: Its number.
        offset: Where its content begins.
        length: Bytes of content.
        checksum: CRC-32 that the content must have.
    """

    kind: bytes
    number: int
    offset: int
    length: int
    checksum: int

    @property
    def end(self) -> int:
        """Where the next frame begins."""
        return self.offset + self.length

    def content(self, file: TraceFile) -> bytes | None:
        """Its content; None if that is damaged or cut off."""
        return file.checked(self.offset, self.length, self.checksum)


def frame(kind: bytes, number: int, *content: Buffer) -> list[Buffer]:
    """A frame with this content, in parts that follow each other."""
    checksum = 0
    for part in content:
        checksum = zlib.crc32(part, checksum)
    head = _HEADER.pack(SIGNATURE, kind, number, sum(map(len, content)), checksum)
    return [head + zlib.crc32(head).to_bytes(4, "little"), *content]


def checksum_in(header: Buffer) -> int:
    """The content's checksum in a header."""
    return int(_HEADER.unpack(header[:-4])[4])


def frame_at(file: TraceFile, at: int) -> FileFrame | None:
    """The frame whose header is at a place; None if there is no intact header."""
    head = file.read(at, SIZE)
    if len(head) < SIZE or head[:8] != SIGNATURE or zlib.crc32(head[:-4]) != int.from_bytes(head[-4:], "little"):
        return None
    _, kind, number, length, checksum = _HEADER.unpack(head[:-4])
    return FileFrame(kind, number, at + SIZE, length, checksum)
