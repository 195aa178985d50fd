"""A growing file: frames appended one after the other, so that what is there stays there."""

from __future__ import annotations

import contextlib
import io
import os
import weakref

from varichain.errors import TraceFileError
from varichain.files import check_free, part_of, unwritable
from varichain.trace import records
from varichain.trace.file import TraceFile
from varichain.trace.frames import SIZE, Buffer, frame

_USERBLOCK = 512  # HDF5 looks for itself at 0, 512, 1024, ...
N_FIRST = 2
"""Number of frames that a new file begins with."""


class Journal:
    """A growing file and its end.

    Attributes:
        path: The file's name; where there was such a file before, it has it from `publish` on.
        file: The same file, for reading.
    """

    def __init__(self, path: str, overwrite: bool) -> None:
        """Create the file, with its first frames, and the folder that it is to lie in.

        Raises:
            TraceFileError: It exists already and may not be overwritten, or cannot be written.
        """
        check_free(path, overwrite)
        try:
            os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
        except OSError as error:
            raise unwritable(path, error) from error
        self.path = path
        self._name = part_of(path) if os.path.lexists(path) else path
        self._size = 0
        self._fds = [self._opened(os.O_CREAT | os.O_EXCL)]  # one, or none when it is closed
        weakref.finalize(self, _close, self._fds)
        try:
            self.write([frame(records.HEAD, 0, _padded_head()), frame(records.NOTE, 1, _note())])
            self.file = TraceFile(self._name)
        except TraceFileError:
            self.discard()
            raise

    def write(self, frames: list[list[Buffer]]) -> list[int]:
        """Append frames, given in parts, all or none; the places of their contents.

        Interrupted at any point, it can be called again with the same frames.

        Raises:
            TraceFileError: They could not be written; the file ends where it ended before.
        """
        view = memoryview(b"".join([part for parts in frames for part in parts]))
        (fd,) = self._fds
        try:
            os.lseek(fd, self._size, os.SEEK_SET)
            while view:
                view = view[os.write(fd, view) :]
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.ftruncate(fd, self._size)
            if isinstance(error, OSError):
                raise unwritable(self.path, error) from error
            raise
        places, end = [], self._size
        for parts in frames:
            places.append(end + SIZE)
            end += sum(map(len, parts))
        self._size = end
        return places

    def publish(self) -> None:
        """Give the file its name, which another one had until now.

        Raises:
            TraceFileError: That is not possible.
        """
        if self._name == self.path:
            return
        self.close()  # Windows renames no open file
        try:
            os.replace(self._name, self.path)
        except OSError as error:
            raise unwritable(self.path, error) from error
        self._name = self.file.path = self.path
        self._fds.append(self._opened())

    def close(self) -> None:
        """Close the file for writing."""
        _close(self._fds)

    def leave(self) -> None:
        """Close the file for good; remove it if it never got its name."""
        self.close()
        if self._name != self.path:
            self.discard()

    def discard(self) -> None:
        """Close and remove the file; those who still read from it may go on."""
        self.close()
        with contextlib.suppress(OSError):
            os.remove(self._name)

    def _opened(self, flags: int = 0) -> int:
        try:
            return os.open(self._name, os.O_WRONLY | flags | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise unwritable(self.path, error) from error


def _close(fds: list[int]) -> None:
    while fds:
        os.close(fds.pop())


def _padded_head() -> bytes:
    """Content of HEAD, filled up with blanks so that the content of NOTE begins where HDF5 looks for itself."""
    return records.head(records.GROWING).ljust(_USERBLOCK - 2 * SIZE)


def _note() -> bytes:
    """A small HDF5 file: whoever opens a growing file with other tools learns what it is."""
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.attrs["format"] = records.FORMAT
        file.attrs["note"] = (
            "This run is still being written, or its program was killed. varichain.Trace.load reads it; "
            "Trace.save makes a plain HDF5 file of it."
        )
    return buffer.getvalue()
