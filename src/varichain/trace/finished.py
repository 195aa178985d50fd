"""Finished files: plain HDF5, with frames before it that make every byte checkable.

The HDF5 part is for everybody: /epochs/0003/q and so on, with units and labels. The frames stand in the user block, the
bytes before it that HDF5 leaves to its users: the same texts, where each block's numbers are, and checksums of
everything. `Trace.load` reads the frames and the numbers they point to, so that damage to HDF5's own tables costs no
sample; and all frames stand there twice, so that damage to one costs nothing either.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from varichain.errors import TraceFileError
from varichain.files import completed
from varichain.trace import records, rest
from varichain.trace.file import TraceFile
from varichain.trace.frames import SIZE, frame
from varichain.trace.labels import UNITS, labels
from varichain.trace.reader import Reader
from varichain.trace.samples import NUMBER
from varichain.trace.sparse import SparseFile
from varichain.trace.stored import Directory, new_directory

if TYPE_CHECKING:
    from varichain.trace.epoch import Epoch
    from varichain.trace.trace import Trace

_SMALLEST_USERBLOCK = 512
_N_COPIES = 2


def save(trace: Trace, path: str, overwrite: bool) -> Trace:
    """Write a finished file beside `path`, read it back, and give it that name; the trace that was read back.

    Raises:
        TraceFileError: The file exists already, or cannot be written; nothing is changed then.
    """
    with completed(path, overwrite) as temporary:
        _write(trace, temporary)
        file = TraceFile(temporary)
        reader = Reader(file)
        if reader.damage:
            raise TraceFileError(f"what was written to {path!r} does not come back: {reader.damage}", path)
    file.path = path
    return reader.draft.trace()


def _write(trace: Trace, path: str) -> None:
    directories = [new_directory(epoch.index, epoch.columns, len(epoch)) for epoch in trace.epochs]
    size = sum(SIZE + len(content) for _, content in _contents(trace, directories)) + SIZE + rest.SIZE
    userblock = max(_SMALLEST_USERBLOCK, 1 << (_N_COPIES * size - 1).bit_length())
    tables = _tables(trace, userblock, directories)
    with open(path, "w+b") as file:
        for place, part in tables.written():
            file.seek(place)
            file.write(part)
        file.truncate(tables.size)
        for epoch, directory in zip(trace.epochs, directories, strict=True):
            _write_samples(file, epoch, directory)
        file.flush()
        spans = [span for directory in directories for span in directory.spans()]
        last = rest.rest_of(TraceFile(path), userblock, spans)
        contents = [*_contents(trace, directories), (records.REST, last.content())]
        frames = b"".join([part for i, (kind, content) in enumerate(contents) for part in frame(kind, i, content)])
        file.seek(0)
        file.write(_N_COPIES * frames)
        file.flush()
        os.fsync(file.fileno())


def _contents(trace: Trace, directories: list[Directory]) -> Iterator[tuple[bytes, bytes]]:
    """Frames of the user block but the last."""
    yield records.HEAD, records.head(records.FINISHED)
    yield records.META, records.packed({"meta": trace.meta}, "meta")
    for epoch, directory in zip(trace.epochs, directories, strict=True):
        columns = records.packed(epoch.columns.plain(), "columns")
        yield records.EPOC, records.epoch_content(epoch.index, columns, epoch.structure.content)
        yield records.DATA, directory.content()
        end = {"epoch": epoch.index, "n": len(epoch), "event": epoch.event}
        yield records.EVNT, records.packed(end, "event")
    for item in trace.log:
        yield records.LOGE, records.packed({"entry": item}, "log entry")
    if trace._checkpoint is not None:
        yield records.CHEK, records.packed(trace._checkpoint.plain(), "checkpoint")
    yield records.DONE, records.packed({"outcome": trace.outcome, "message": trace.message}, "message")


def _tables(trace: Trace, userblock: int, directories: list[Directory]) -> SparseFile:
    """The HDF5 part, with room for the samples; notes in the directories where that is."""
    import h5py

    tables = SparseFile()
    # HDF5 1.8 and later read this; before, attributes could not be longer than 64 KiB.
    with h5py.File(tables, "w", userblock_size=userblock, libver=("v108", "v108")) as file:
        file.attrs.update({"format": records.FORMAT, "version": records.VERSION, "outcome": trace.outcome})
        file.attrs["message"] = _text(trace.message or "")
        texts = {"meta.json": trace.meta, "log.json": trace.log, "checkpoint.json": trace.checkpoint}
        for name, value in texts.items():
            file[name] = json.dumps(value)
        groups: dict[Any, str] = {}  # where labels are already
        for epoch, directory in zip(trace.epochs, directories, strict=True):
            group = file.create_group(f"epochs/{epoch.index:04}")
            for block, (name, width) in enumerate(epoch.columns):
                directory.places[block] = _room(group, name, _shape(name, len(epoch), width))
                group[name].attrs["unit"] = UNITS.get(name, "")
            structure = np.array([json.dumps(epoch.description).encode()])
            group.create_dataset("structure.json", data=structure, compression="gzip")
            group["event.json"] = json.dumps(epoch.event)
            group["labels"] = _labels(file, epoch, groups)
    return tables


def _labels(file: Any, epoch: Epoch, groups: dict[Any, str]) -> Any:
    """Group with the labels of an epoch's columns; epochs with the same labels share one."""
    named = labels(epoch)
    key = tuple(named.items())
    if key not in groups:
        groups[key] = f"labels/{len(groups):04}"
        group = file.create_group(groups[key])
        for name, texts in named.items():
            if texts:
                group[name] = [_text(text) for text in texts]
    return file[groups[key]]


def _room(group: Any, name: str, shape: tuple[int, ...]) -> int:
    """Place in the file of a new dataset; its numbers are yet to be written there."""
    import h5py

    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.CONTIGUOUS)
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    space = h5py.h5s.create_simple(shape)
    dataset = h5py.h5d.create(group.id, name.encode(), h5py.h5t.IEEE_F64LE, space, plist)
    return 0 if 0 in shape else int(dataset.get_offset())


def _shape(name: str, n: int, width: int) -> tuple[int, ...]:
    """Shape of a block, as an epoch gives it."""
    if name == "loop_forces":
        return n, width // 6, 6
    return (n,) if name in ("time", "closure") and width == 1 else (n, width)


def _write_samples(file: BinaryIO, epoch: Epoch, directory: Directory) -> None:
    """Write the numbers where there is room for them, and note their checksums."""
    for i, rows in enumerate(epoch._samples.batches(directory.chunk)):
        for block, name in enumerate(epoch.columns.names):
            part = np.ascontiguousarray(rows[:, epoch.columns.slice(name)], NUMBER)
            directory.checksums[i, block] = zlib.crc32(part.tobytes())
            file.seek(int(directory.places[block]) + i * directory.chunk * part.shape[1] * NUMBER.itemsize)
            file.write(part.tobytes())


def _text(text: str) -> str:
    """Text that HDF5 can store: no NUL, no halves of characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")
