"""Recordings from files."""

from __future__ import annotations

import os

import numpy as np

from varichain.errors import FileError, FormatError, InputError, quoted
from varichain.files import bytes_of, file_name
from varichain.recordings.bvh import recording_of
from varichain.recordings.recording import Recording
from varichain.spatial.checks import positive_scalar

LARGEST_FILE = 256 * 2**20  # bytes
# Rotations from a file's axes, of which the named one is up, to ours.
_UPRIGHT = {"y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]), "z": np.eye(3)}


def load_recording(path: str | os.PathLike[str], unit: float = 1.0, up: str = "y") -> Recording:
    """Load a recorded motion from a BVH file.

    Args:
        path: The file, .bvh.
        unit: Length of the file's unit [m]; BVH does not say. Files that `vc.export` writes are in metres, those of the
            CMU Graphics Lab in 0.0564 m.
        up: Axis of the file that is vertical, "y" or "z".

    Raises:
        FormatError: The file cannot be read; the message says which line, and what is wrong there.
        InputError: An argument is not valid.
    """
    name = file_name(path)
    length = positive_scalar(unit, "unit")
    if not isinstance(up, str) or up not in _UPRIGHT:
        raise InputError(f"up must be 'y' or 'z', not {quoted(up)}")
    if not name.lower().endswith(".bvh"):
        raise FormatError("recordings are read from .bvh files", name)
    return recording_of(_text(name), name, length, _UPRIGHT[up])


def _text(name: str) -> str:
    try:
        return bytes_of(name, LARGEST_FILE).decode("utf-8")
    except FileError as fault:
        raise FormatError(str(fault), name) from fault
    except UnicodeDecodeError as fault:
        raise FormatError(f"no text in UTF-8: byte {fault.start} is {fault.object[fault.start]:#04x}", name) from fault
