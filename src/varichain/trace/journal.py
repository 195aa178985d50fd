"""A growing file: frames appended one after the other, so that what is there stays there."""

from __future__ import annotations

import contextlib
import io
import os

from varichain.errors import TraceFileError
from varichain.trace import records
from varichain.trace.file import TraceFile
from varichain.trace.frames import SIZE, header

_USERBLOCK = 512  # HDF5 looks for itself at 0, 512, 1024, ...


class Journal:
    """The end of a growing file.

    Attributes:
        path: The file's name.
        size: Bytes that are safely in it.
    """

    def __init__(self, path: str, overwrite: bool) -> None:
        """Create the file, with its first frames.

        Raises:
            TraceFileError: It exists already and may not be overwritten, or cannot be written.
        """
        self.path = path
        self.size = 0
        self._n_frames = 0
        self._fd = _created(path, overwrite)
        try:
            self.write([(records.HEAD, _padded_head()), (records.NOTE, _note())])
            self.file = TraceFile(path)
        except TraceFileError:
            self.close()
            with contextlib.suppress(OSError):
                os.remove(path)
            raise

    def write(self, contents: list[tuple[bytes, bytes]]) -> list[int]:
        """Append frames, all at once; the places of their contents.

        Raises:
            TraceFileError: They could not be written; the file ends where it ended before.
        """
        parts, places = [], []
        end = self.size
        for i, (kind, content) in enumerate(contents):
            parts += [header(kind, self._n_frames + i, content), content]
            places.append(end + SIZE)
            end += SIZE + len(content)
        try:
            _write_all(self._fd, b"".join(parts))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self.size)
                os.lseek(self._fd, self.size, os.SEEK_SET)
            raise TraceFileError(f"cannot write {self.path!r}: {error.strerror}", self.path) from error
        self.size = end
        self._n_frames += len(contents)
        return places

    def close(self) -> None:
        """Close the file for writing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _created(path: str, overwrite: bool) -> int:
    """Descriptor of a new, empty file; one that exists is given up to those who still read it, not emptied."""
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        if overwrite:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
        return os.open(path, flags, 0o666)
    except FileExistsError:
        raise exists_already(path) from None
    except OSError as error:
        raise TraceFileError(f"cannot write {path!r}: {error.strerror}", path) from error


def exists_already(path: str) -> TraceFileError:
    """The error for a file that must not be overwritten."""
    return TraceFileError(f"{path!r} exists already; give another name, or overwrite=True", path)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


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
