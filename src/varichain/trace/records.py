"""Records: what the frames of a trace's file say.

| kind | content |
| --- | --- |
| HEAD | format, version and form ("growing" or "finished") of the file |
| NOTE | a small HDF5 file that says what this file is, for those who open a growing one with other tools |
| META | what the run was made with |
| EPOC | index (uint32), length (uint32) and text of the columns, text of the structure, of an epoch that begins |
| ROWS | samples of an epoch: index (uint32), first row (uint64), rows (uint32), width (uint32), numbers (float64) |
| DATA | where an epoch's samples are in a finished file; see `trace.finished` |
| EVNT | the end of an epoch: index, number of samples, event |
| CHEK | a checkpoint: index of the epoch, number of its samples so far, content |
| LOGE | an entry of the structure log |
| DONE | the end of the run: outcome, message, number of epochs |
| REST | checksum of the rest of a finished file |

The texts are JSON, compressed by zlib where that pays, but HEAD.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError

HEAD, NOTE, META, EPOC, ROWS = b"HEAD", b"NOTE", b"META", b"EPOC", b"ROWS"
DATA, EVNT, CHEK, LOGE, DONE, REST = b"DATA", b"EVNT", b"CHEK", b"LOGE", b"DONE", b"REST"

FORMAT = "varichain trace"
VERSION = 1
GROWING, FINISHED = "growing", "finished"

EPOCH_HEAD = struct.Struct("<II")
ROWS_HEAD = struct.Struct("<IQII")
_PAYS = 500  # bytes from which on compression pays
LARGEST_TEXT = 2**23
"""Bytes of a text, unpacked: enough for the structure of ten thousand links."""


def head(form: str) -> bytes:
    """Content of the first frame."""
    return json.dumps({"format": FORMAT, "version": VERSION, "form": form}).encode()


def packed(value: dict[str, Any], what: str) -> bytes:
    """Plain values as bytes.

    Raises:
        InputError: They are not plain: JSON has no place for them; or they are too many.
    """
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{what} must be plain values that JSON can contain: {error}") from None
    if len(text) > LARGEST_TEXT:
        raise InputError(f"{what} must not have more than {LARGEST_TEXT // 2**20} MiB as text, not {len(text)} bytes")
    return zlib.compress(text, 1) if len(text) >= _PAYS else text


def unpacked(content: bytes) -> dict[str, Any]:
    """The values that `packed` made bytes of.

    Raises:
        InputError: They are other bytes.
    """
    try:
        value = json.loads(text_of(content))
    except (ValueError, RecursionError, zlib.error) as error:
        raise InputError(f"a text in the file of a trace cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise InputError("a text in the file of a trace must have names and values")
    return value


def text_of(content: bytes) -> bytes:
    """A packed text, unpacked to a size that is bounded."""
    if content[:1] == b"{":
        text = content
    else:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(content, LARGEST_TEXT + 1)
        if not unpacker.eof and len(text) <= LARGEST_TEXT:
            raise ValueError("it is cut off")
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"it is larger than {LARGEST_TEXT // 2**20} MiB")
    return text


def epoch_content(epoch: int, columns: bytes, structure: bytes) -> bytes:
    """Content of an EPOC frame: packed texts, so that the structure can stay packed."""
    return EPOCH_HEAD.pack(epoch, len(columns)) + columns + structure


def epoch_from(content: bytes) -> tuple[int, bytes, bytes]:
    """What `epoch_content` was given."""
    epoch, length = EPOCH_HEAD.unpack_from(content)
    start = EPOCH_HEAD.size
    return epoch, content[start : start + length], content[start + length :]


def rows_content(epoch: int, first: int, rows: NDArray[np.float64]) -> tuple[bytes, memoryview]:
    """Content of a ROWS frame, in two parts; the numbers are not copied."""
    numbers = np.ascontiguousarray(rows, "<f8")
    return ROWS_HEAD.pack(epoch, first, *rows.shape), numbers.data.cast("B")
