"""Files that come in and go out: names are checked, sizes bounded, and what is written appears when it is whole."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import Any

from varichain.errors import FileError, InputError, TraceFileError
from varichain.spatial.checks import flag, shown

Path = str | os.PathLike[str]


def file_name(path: Any, what: str = "a file name") -> str:
    """A file's name from what the user gave.

    Raises:
        InputError: It is no name.
    """
    try:
        name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    except TypeError:  # a path of the user's own making that returns something else
        name = None
    if not isinstance(name, str) or not name or "\0" in name or not _can_be_named(name):
        raise InputError(f"{what} must be a str or a path, without NUL and halves of characters, not {shown(path)}")
    return name


def _can_be_named(name: str) -> bool:
    """Whether the system has bytes for all characters; names that are not UTF-8 have stand-ins, which it knows."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def bytes_of(path: str, most: int, error: type[FileError] = FileError) -> bytes:
    """Content of a file of at most so many bytes; devices and pipes, which may have no end, are refused.

    Raises:
        FileError: It cannot be read, is no file, or is larger.
    """
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise error(f"cannot read {path!r}: it is not a regular file", path)
            data = file.read(most + 1)
    except OSError as fault:
        if isinstance(fault, FileError):
            raise
        raise error(f"cannot read {path!r}: {fault.strerror or fault}", path) from fault
    if len(data) > most:
        raise error(f"{path!r} is larger than {most // 2**20} MiB, the most that is read", path)
    return data


@contextlib.contextmanager
def completed(path: str, overwrite: bool, error: type[FileError] = TraceFileError) -> Iterator[str]:
    """Name of a new file beside `path` to write; it gets that name at the end of the block, and vanishes if that fails.

    Killed or out of space at any moment, `path` is what it was before, or whole.

    Raises:
        FileError: There is such a file already, or it cannot be written; nothing is changed then.
    """
    check_free(path, overwrite, error)
    temporary = part_of(path)
    try:
        # O_EXCL: what was put there under that name, such as a link to another file, is not written through
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except error:
        raise
    except OSError as fault:
        raise unwritable(path, fault, error) from fault
    finally:
        with contextlib.suppress(OSError):
            os.remove(temporary)


def part_of(path: str) -> str:
    """Name for what is to become `path`."""
    return f"{path}.{secrets.token_hex(4)}.part"


def check_free(path: str, overwrite: bool, error: type[FileError] = TraceFileError) -> None:
    """Refuse to overwrite a file, or a link, if that is not wanted."""
    if not flag(overwrite, "overwrite") and os.path.lexists(path):
        raise error(f"{path!r} exists already; give another name, or overwrite=True", path)


def unwritable(path: str, fault: Exception, error: type[FileError] = TraceFileError) -> FileError:
    """The error for a file that cannot be written."""
    return error(f"cannot write {path!r}: {getattr(fault, 'strerror', None) or fault}", path)
