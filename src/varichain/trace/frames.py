"""Frames: the records that a trace's file is made of, each with its length, number and checksums.

A frame is a header of 32 bytes, little-endian, and its content:

    signature   8 bytes   89 56 43 54 0d 0a 1a 0a
    kind        4 bytes   four letters
    number      uint32    0, 1, 2, ... in the order of the file
    length      uint64    bytes of content
    content's checksum    uint32, CRC-32
    header's checksum     uint32, CRC-32 of the 28 bytes before

A frame is there wholly or not at all: what was being written when a program was killed fails its checksums. After
damage the next frame is found by its signature.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from varichain.trace.file import TraceFile

SIGNATURE = b"\x89VCT\r\n\x1a\n"
HEADER = struct.Struct("<8s4sIQI")
SIZE = HEADER.size + 4
_LARGEST_NUMBER = 0xFFFFFFFF


@dataclass(frozen=True)
class Frame:
    """A frame that was found in a file.

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


def header(kind: bytes, number: int, content: bytes | memoryview, checksum: int | None = None) -> bytes:
    """Header of a frame with this content."""
    checksum = zlib.crc32(content) if checksum is None else checksum
    head = HEADER.pack(SIGNATURE, kind, number & _LARGEST_NUMBER, len(content), checksum)
    return head + zlib.crc32(head).to_bytes(4, "little")


def frames(file: TraceFile, start: int = 0) -> Iterator[Frame]:
    """The frames of a file whose headers are intact, in order; their contents are not looked at.

    Bytes that belong to no frame are skipped: `Frame.offset` and `Frame.number` tell the gaps.
    """
    at: int | None = start
    while at is not None:
        frame = frame_at(file, at)
        if frame is None:
            at = file.find(SIGNATURE, at + 1)
        else:
            yield frame
            # Content may be cut off or damaged; the next header stands behind it or, if not, anywhere later.
            at = frame.end if frame.end < file.size else None


def frame_at(file: TraceFile, at: int) -> Frame | None:
    """The frame whose header is at a place; None if there is no intact header."""
    head = file.read(at, SIZE)
    if len(head) < SIZE or head[:8] != SIGNATURE or zlib.crc32(head[:-4]) != int.from_bytes(head[-4:], "little"):
        return None
    _, kind, number, length, checksum = HEADER.unpack(head[:-4])
    return Frame(kind, number, at + SIZE, length, checksum)
