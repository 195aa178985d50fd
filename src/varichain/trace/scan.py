"""Looking through a file for frames."""

from __future__ import annotations

from varichain.errors import TraceFileError
from varichain.trace import records
from varichain.trace.file import TraceFile
from varichain.trace.frames import SIGNATURE, FileFrame, frame_at
from varichain.trace.rest import SIZE as SIZE_OF_REST
from varichain.trace.rest import Rest, rest_from

_HDF5 = b"\x89HDF\r\n\x1a\n"


class Scan:
    """The frames of a file; all checksums are verified.

    Attributes:
        intact: Frames with right checksums by number.
        damaged: Kinds of those of which no copy is intact, but a header is, by number.
        has_damage: Whether any frame is damaged, were it one of two copies.
        ends_within: Whether the file ends with something that is no whole frame.
        end: Where the frames end.
        rest: Size and checksum of the rest, of a finished file.
    """

    def __init__(self, file: TraceFile) -> None:
        """Look through a file.

        Raises:
            TraceFileError: It is empty, or there is no frame in it.
        """
        self.intact: dict[int, FileFrame] = {}
        self.damaged: dict[int, bytes] = {}
        self.has_damage = False
        self.rest: Rest | None = None
        self.end = 0
        self._scan(file)
        if not self.intact and not self.damaged:
            raise TraceFileError(f"{file.path!r} {_what_else(file)}", file.path)
        self.damaged = {number: kind for number, kind in self.damaged.items() if number not in self.intact}

    def _scan(self, file: TraceFile) -> None:
        at: int | None = 0
        limit = file.size
        while at is not None and at < limit:
            frame = frame_at(file, at)
            if frame is None:
                at = file.find(SIGNATURE, at + 1, limit)
                self.has_damage |= at is not None  # bytes between two frames were one
                continue
            content = frame.content(file)
            if content is None:
                self.damaged[frame.number] = frame.kind
                self.has_damage = True
            else:
                self.intact.setdefault(frame.number, frame)
                if frame.kind == records.REST and frame.length == SIZE_OF_REST:
                    self.rest = rest_from(content)
                    limit = min(limit, self.rest.userblock)  # behind it there are samples and HDF5's tables
            self.end = at = frame.end
        self.ends_within = self.rest is None and self.end != file.size


def _what_else(file: TraceFile) -> str:
    """What a file is that has no frames."""
    if file.size == 0:
        return "is empty"
    if file.read(0, len(_HDF5)) == _HDF5:
        return "is an HDF5 file, but not a trace of varichain"
    return "is not a trace of varichain"
