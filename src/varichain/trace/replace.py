"""Files that appear under their name when they are complete, and not before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from varichain.errors import InputError, TraceFileError
from varichain.spatial.checks import shown

Path = str | os.PathLike[str]


def file_name(path: Any) -> str:
    """A file's name from what the user gave.

    Raises:
        InputError: It is no name.
    """
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str) or not name:
        raise InputError(f"a file name must be a str or a path, not {shown(path)}")
    return name


@contextlib.contextmanager
def completed(path: str, overwrite: bool) -> Iterator[str]:
    """Name of a file beside `path` to write; it gets that name at the end of the block, and vanishes if that fails.

    Raises:
        TraceFileError: There is such a file already, or it cannot be written; nothing is changed then.
    """
    check_free(path, overwrite)
    temporary = part_of(path)
    try:
        yield temporary
        os.replace(temporary, path)
    except TraceFileError:
        raise
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            os.remove(temporary)


def part_of(path: str) -> str:
    """Name for what is to become `path`."""
    return f"{path}.{os.getpid()}.part"


def check_free(path: str, overwrite: bool) -> None:
    """Refuse to overwrite a file if that is not wanted."""
    if not overwrite and os.path.lexists(path):
        raise TraceFileError(f"{path!r} exists already; give another name, or overwrite=True", path)


def unwritable(path: str, error: Exception) -> TraceFileError:
    """The error for a file that cannot be written."""
    return TraceFileError(f"cannot write {path!r}: {getattr(error, 'strerror', None) or error}", path)
