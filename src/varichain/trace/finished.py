"""Finished files: plain HDF5, with frames before it that make every byte checkable.

The HDF5 part is for everybody: /epochs/0003/q and so on, with units. The frames stand in the user block, the bytes
before it that HDF5 leaves to its users: the same texts, where each block's numbers are, and checksums of everything.
`Trace.load` reads the frames and the numbers they point to, so that damage to HDF5's own tables costs no sample.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from varichain.errors import TraceFileError
from varichain.trace import records
from varichain.trace.file import TraceFile
from varichain.trace.frames import SIZE, header
from varichain.trace.journal import exists_already
from varichain.trace.labels import UNITS, labels
from varichain.trace.samples import NUMBER
from varichain.trace.stored import Directory, new_directory

if TYPE_CHECKING:
    from varichain.trace.epoch import Epoch
    from varichain.trace.trace import Trace

REST = struct.Struct(
    "<QQI"
)  # where the user block ends, where the file ends, checksum of all that no frame vouches for
_SMALLEST_USERBLOCK = 512


def save(trace: Trace, path: str, overwrite: bool) -> None:
    """Write a finished file beside `path` and give it that name when it is complete.

    Raises:
        TraceFileError: The file exists already, or cannot be written; nothing is changed then.
    """
    if not overwrite and os.path.lexists(path):
        raise exists_already(path)
    temporary = f"{path}.{os.getpid()}.part"
    try:
        _write(trace, temporary)
        os.replace(temporary, path)
    except TraceFileError:
        raise
    except (OSError, RuntimeError) as error:  # h5py raises both
        reason = getattr(error, "strerror", None) or str(error)
        raise TraceFileError(f"cannot write {path!r}: {reason}", path) from error
    finally:
        with contextlib.suppress(OSError):
            os.remove(temporary)


def _write(trace: Trace, path: str) -> None:
    directories = [new_directory(epoch.index, epoch.columns, len(epoch)) for epoch in trace.epochs]
    size = sum(SIZE + len(content) for _, content in _contents(trace, directories)) + SIZE + REST.size
    userblock = max(_SMALLEST_USERBLOCK, 1 << (size - 1).bit_length())
    _write_tables(trace, path, userblock, directories)
    with open(path, "r+b") as file:
        for epoch, directory in zip(trace.epochs, directories, strict=True):
            _write_samples(file, epoch, directory)
        file.flush()
        rest = REST.pack(userblock, *_rest(path, userblock, trace, directories))
        file.seek(0)
        for number, (kind, content) in enumerate([*_contents(trace, directories), (records.REST, rest)]):
            file.write(header(kind, number, content) + content)
        file.flush()
        os.fsync(file.fileno())


def _contents(trace: Trace, directories: list[Directory]) -> Iterator[tuple[bytes, bytes]]:
    """Frames of the user block but the last."""
    yield records.HEAD, records.head(records.FINISHED)
    yield records.META, records.packed({"meta": trace.meta}, "meta")
    for epoch, directory in zip(trace.epochs, directories, strict=True):
        entry = {"epoch": epoch.index, "description": epoch.description, "columns": epoch.columns.plain()}
        yield records.EPOC, records.packed(entry, "description")
        yield records.DATA, directory.content()
        end = {"epoch": epoch.index, "n": len(epoch), "event": epoch.event}
        yield records.EVNT, records.packed(end, "event")
    for item in trace.log:
        yield records.LOGE, records.packed({"entry": item}, "log entry")
    if trace._checkpoint is not None:
        at = trace._checkpoint
        entry = {"epoch": at.epoch, "n": at.n, "checkpoint": at.content}
        yield records.CHEK, records.packed(entry, "checkpoint")
    done = {"outcome": trace.outcome, "message": trace.message, "n_epochs": len(trace.epochs)}
    yield records.DONE, records.packed(done, "message")


def _write_tables(trace: Trace, path: str, userblock: int, directories: list[Directory]) -> None:
    """The HDF5 part with room for the samples; fills in their places."""
    import h5py

    # HDF5 1.8 and later read this; before, attributes could not be longer than 64 KiB.
    with h5py.File(path, "w", userblock_size=userblock, libver=("v108", "v108")) as file:
        file.attrs.update({"format": records.FORMAT, "version": records.VERSION, "outcome": trace.outcome})
        file.attrs["message"] = _text(trace.message or "")
        texts = {"meta.json": trace.meta, "log.json": trace.log, "checkpoint.json": trace.checkpoint}
        for name, value in texts.items():
            file[name] = json.dumps(value)
        for epoch, directory in zip(trace.epochs, directories, strict=True):
            group = file.create_group(f"epochs/{epoch.index:04}")
            group["structure.json"] = json.dumps(epoch.description)
            group["event.json"] = json.dumps(epoch.event)
            named = labels(epoch)
            for block, (name, width) in enumerate(epoch.columns):
                place = _room(group, name, _shape(name, len(epoch), width))
                directory.places[block] = place
                group[name].attrs["unit"] = UNITS.get(name, "")
                if width:
                    group[name].attrs["labels"] = [_text(label) for label in named[name]]


def _room(group: Any, name: str, shape: tuple[int, ...]) -> int:
    """New dataset, its place in the file; nothing is written into it."""
    import h5py

    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.CONTIGUOUS)
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    dtype = h5py.h5t.IEEE_F64LE
    dataset = h5py.h5d.create(group.id, name.encode(), dtype, h5py.h5s.create_simple(shape), plist)
    return int(dataset.get_offset() or 0) if 0 not in shape else 0


def _shape(name: str, n: int, width: int) -> tuple[int, ...]:
    """Shape of a block as an epoch gives it."""
    if name == "loop_forces":
        return n, width // 6, 6
    return (n,) if name in ("time", "closure") and width == 1 else (n, width)


def _write_samples(file: BinaryIO, epoch: Epoch, directory: Directory) -> None:
    for i, rows in enumerate(epoch._samples.batches(directory.chunk)):
        for block, name in enumerate(epoch.columns.names):
            part = np.ascontiguousarray(rows[:, epoch.columns.slice(name)], NUMBER)
            directory.checksums[i, block] = zlib.crc32(part.data)
            file.seek(int(directory.places[block]) + i * directory.chunk * part.shape[1] * NUMBER.itemsize)
            file.write(part.tobytes())


def _rest(path: str, userblock: int, trace: Trace, directories: list[Directory]) -> tuple[int, int]:
    """Size of the file, and checksum of the bytes behind the user block that belong to no block of samples."""
    file = TraceFile(path)
    return file.size, rest_checksum(file, userblock, file.size, spans_of(trace.epochs, directories))


def spans_of(epochs: Any, directories: list[Directory]) -> list[tuple[int, int]]:
    """Where blocks of samples begin and end."""
    spans = []
    for epoch, directory in zip(epochs, directories, strict=True):
        for place, (_, width) in zip(directory.places.tolist(), epoch.columns, strict=True):
            if width * directory.n:
                spans.append((place, place + directory.n * width * NUMBER.itemsize))
    return sorted(spans)


def rest_checksum(file: TraceFile, start: int, end: int, spans: list[tuple[int, int]]) -> int:
    """CRC-32 of the bytes between `start` and `end` that are in none of the spans."""
    checksum = 0
    for first, last in [*spans, (end, end)]:
        checksum = file.checksum(start, first, checksum)
        start = last
    return checksum


def _text(text: str) -> str:
    """Text that HDF5 can hold: no NUL, no halves of characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")
