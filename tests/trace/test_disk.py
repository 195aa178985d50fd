"""Disks that are full, folders that do not exist: a clear error, and nothing that was given is lost."""

import contextlib
import errno
import os
import resource

import numpy as np
import pytest

from runs import Run, columns_of, gymnast, random_rows
from varichain.errors import TraceFileError, TraceFileWarning
from varichain.mechanism import description
from varichain.trace import Trace, TraceWriter, journal


@contextlib.contextmanager
def largest_file(size):
    """No file may grow beyond so many bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def begun(path, **options):
    """Writer with an epoch open, and rows for it."""
    m = gymnast()
    columns = columns_of(m)
    writer = TraceWriter(path, **options)
    writer.begin({})
    writer.open_epoch(description(m), columns)
    return writer, random_rows(np.random.default_rng(0), m, columns, 0.0, 100)


def test_full_while_it_writes(tmp_path):
    """When the disk is full the call says so; the file keeps what it had, and the run goes on in memory, complete."""
    path = tmp_path / "run.h5"
    writer, rows = begun(path)
    writer.append(rows[:10])
    writer.checkpoint({"n": 10})
    size = os.path.getsize(path)
    with largest_file(size + 1000), pytest.raises(TraceFileError, match=r"cannot write .*run\.h5.: File too large"):
        writer.checkpoint({"n": 11} | {"long": list(range(10_000))})
    assert os.path.getsize(path) == size
    writer.append(rows[10:50])
    with largest_file(size + 1000):
        writer.flush()  # in memory now
    writer.append(rows[50:])
    assert writer.trace.epochs[0].samples.tobytes() == rows.tobytes()
    trace = writer.finish("error", "disk full")
    assert trace.epochs[0].samples.tobytes() == rows.tobytes()
    assert trace.outcome == "error"
    in_file = Trace.load(path)
    assert in_file.epochs[0].samples.tobytes() == rows[:10].tobytes()
    assert (in_file.checkpoint, in_file.damage) == ({"n": 10}, None)
    trace.save(tmp_path / "elsewhere.h5")
    assert Trace.load(tmp_path / "elsewhere.h5").epochs[0].samples.tobytes() == rows.tobytes()


def test_samples_that_did_not_fit_are_kept(tmp_path):
    """The samples of the very call that failed are in the trace."""
    writer, rows = begun(tmp_path / "run.h5", chunk_rows=1)
    with largest_file(os.path.getsize(tmp_path / "run.h5") + 100), pytest.raises(TraceFileError):
        writer.append(rows)
    assert writer.trace.epochs[0].samples.tobytes() == rows.tobytes()
    assert writer.finish().epochs[0].samples.tobytes() == rows.tobytes()


def test_full_while_it_finishes(tmp_path):
    """A grown file that cannot be made plain HDF5 stays as it is, whole, with a warning; it can be saved later."""
    path = tmp_path / "run.h5"
    writer, rows = begun(path)
    writer.append(rows)
    writer.flush()
    with largest_file(os.path.getsize(path) + 500), pytest.warns(TraceFileWarning, match="is safe in .* save it later"):
        trace = writer.finish("complete", "all done")
    assert os.listdir(tmp_path) == ["run.h5"]
    for found in (trace, Trace.load(path)):
        assert found.epochs[0].samples.tobytes() == rows.tobytes()
        assert (found.outcome, found.message, found.damage) == ("complete", "all done", None)
    Trace.load(path).save(path, overwrite=True)
    assert Trace.load(path).epochs[0].samples.tobytes() == rows.tobytes()


@pytest.mark.parametrize("size", [0, 100, 600, 3000, 9000, 12_000, 20_000, 30_000])
def test_full_while_it_saves(size, tmp_path):
    """Saving on a full disk is an error, whatever was being written then; a file that was there before stays."""
    path = tmp_path / "run.h5"
    path.write_bytes(b"something else")
    trace = Run().trace
    for save in (trace.save, trace.to_csv, trace.to_parquet):
        with largest_file(size), pytest.raises(TraceFileError, match="cannot write"):
            save(path, overwrite=True)
        assert path.read_bytes() == b"something else"
        assert os.listdir(tmp_path) == ["run.h5"]


def test_full_from_the_beginning(tmp_path):
    """A file of which not even the beginning can be written is not left behind."""
    with largest_file(100), pytest.raises(TraceFileError, match="cannot write"):
        TraceWriter(tmp_path / "run.h5")
    assert os.listdir(tmp_path) == []


def test_folders_that_do_not_exist(tmp_path):
    """A run makes its folder; a file in the folder's place, or a folder in the file's, is refused before it begins."""
    TraceWriter(tmp_path / "new" / "run.h5")
    with pytest.raises(TraceFileError, match=r"cannot write .*No such file"):
        Run().trace.save(tmp_path / "newer" / "run.h5")
    (tmp_path / "file").write_bytes(b"")
    path = tmp_path / "file" / "run.h5"
    with pytest.raises(TraceFileError, match=r"cannot write .*(File exists|Not a directory)"):
        TraceWriter(path)
    with pytest.raises(TraceFileError, match="cannot write"):
        Run().trace.save(path)
    with pytest.raises(TraceFileError, match="exists already"):
        TraceWriter(tmp_path)
    with pytest.raises(TraceFileError, match="cannot write"):
        Run().trace.save(tmp_path, overwrite=True)


def test_no_permission(tmp_path, monkeypatch):
    """A file that may not be created is refused with the system's reason."""

    def forbidden(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(journal.os, "open", forbidden)
    with pytest.raises(TraceFileError, match=r"cannot write '.*': Permission denied") as caught:
        TraceWriter(tmp_path / "run.h5")
    assert isinstance(caught.value.__cause__, PermissionError)
    assert isinstance(caught.value, OSError)


def test_a_new_name_that_cannot_be_given(tmp_path, monkeypatch):
    """If the old file cannot be replaced, the old one stays, no other is left behind, and the run goes on in memory."""
    path = tmp_path / "run.h5"
    old = Run(path)

    def forbidden(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(journal.os, "replace", forbidden)
    writer = TraceWriter(path, overwrite=True)
    with pytest.raises(TraceFileError, match="Permission denied"):
        writer.begin({})
    monkeypatch.undo()
    m = gymnast()
    writer.open_epoch(description(m), columns_of(m))
    assert len(writer.finish().epochs) == 1
    old.assert_is(Trace.load(path))
    assert os.listdir(tmp_path) == ["run.h5"]
