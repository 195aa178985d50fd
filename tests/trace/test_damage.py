"""Damaged files: whatever happens to their bytes, it is noticed, and what is intact is read."""

import random
import warnings

import h5py
import numpy as np
import pytest

from runs import Run
from varichain.errors import DamagedTraceWarning, InputError, TraceFileError, TraceFileWarning
from varichain.trace import Trace, records, stored
from varichain.trace.file import TraceFile
from varichain.trace.frames import SIZE
from varichain.trace.frames import frame as frame_in_parts
from varichain.trace.reader import _event
from varichain.trace.scan import Scan


def frame(kind, number, content):
    """A frame as bytes."""
    return b"".join(frame_in_parts(kind, number, content))


N_FLIPS = 300
N_LENGTHS = 100
FORMS = ["growing", "finished"]


@pytest.fixture(params=FORMS)
def form(request, monkeypatch):
    """Both forms of files; in finished ones chunks are small, so that epochs have several."""
    monkeypatch.setattr(stored, "_CHUNK", 3000)
    return request.param


def written(path, form):
    """A run, its file as bytes, and the file's frames by number."""
    run = Run(path, counts=(30, 1, 0, 25), chunk_rows=1, finish=form == "finished")
    if form == "growing":
        run.writer.flush()
    return run, path.read_bytes(), Scan(TraceFile(str(path))).intact


def load(path):
    """The trace in a file and the warnings about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return Trace.load(path), caught


def assert_true(run, trace):
    """What the trace says was written so, to the bit, and spans that are lost are marked; number of lost samples."""
    n_lost = 0
    for epoch in trace.epochs:
        description, columns, rows, event = run.epochs[epoch.index]
        assert epoch.description == description
        assert epoch.columns == columns
        assert epoch.event in (event, None)
        index = {row.tobytes(): i for i, row in enumerate(rows)}
        kept = [index[sample.tobytes()] for sample in epoch.samples]
        assert kept == sorted(set(kept))
        for i in sorted(set(range(len(rows))) - set(kept)):
            n_lost += 1
            between_kept = any(k < i for k in kept) and any(k > i for k in kept)
            assert not between_kept or any(first < rows[i, 0] < last for first, last in epoch.lost)
    return n_lost


def test_truncated(form, tmp_path):
    """A file cut off anywhere gives all that is whole before the cut, or says that there is nothing to read."""
    run, data, frames = written(tmp_path / "run.h5", form)
    rng = random.Random(form)
    path = tmp_path / "cut.h5"
    n_read = 0
    for length in sorted(rng.randrange(len(data)) for _ in range(N_LENGTHS)):
        path.write_bytes(data[:length])
        try:
            trace, caught = load(path)
        except TraceFileError:
            assert length < next(f.end for f in frames.values() if f.kind == records.EPOC)
            continue
        n_read += 1
        assert_true(run, trace)
        is_whole = form == "growing" and length in {frame.end for frame in frames.values()}
        assert bool(caught) == (trace.damage is not None) == (not is_whole)
        if form == "growing":
            assert len(trace) == sum(n_rows(data, f) for f in frames.values() if f.end <= length)
    assert n_read > N_LENGTHS / 4


def n_rows(data, frame):
    """Number of samples in a frame of a growing file."""
    return records.ROWS_HEAD.unpack_from(data, frame.offset)[2] if frame.kind == records.ROWS else 0


def flipped(data, place, bit):
    """The bytes with one bit turned."""
    return data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]


def test_flipped_bytes(form, tmp_path):
    """Any flipped bit is noticed, and costs one record; in a finished file, one chunk of samples or nothing."""
    run, data, frames = written(tmp_path / "run.h5", form)
    directories = [stored.directory_from(data[f.offset : f.end]) for f in frames.values() if f.kind == records.DATA]
    spans = [span for directory in directories for span in directory.spans()]
    rng = random.Random(form)
    path = tmp_path / "flipped.h5"
    for _ in range(N_FLIPS):
        place = rng.randrange(len(data))
        path.write_bytes(flipped(data, place, rng.randrange(8)))
        trace, caught = load(path)
        assert trace.damage is not None, place
        assert [warning.category for warning in caught] in ([DamagedTraceWarning], [TraceFileWarning])
        n_lost = assert_true(run, trace)
        if form == "finished":
            is_sample = any(first <= place < last for first, last in spans)
            assert (caught[0].category is DamagedTraceWarning) == is_sample == (n_lost > 0), place
            assert len(trace.epochs) == 4
            assert n_lost <= max(directory.chunk for directory in directories)
            assert trace.checkpoint == run.trace.checkpoint
            assert trace.log == run.trace.log
        else:
            hit = next(f for f in frames.values() if f.offset - SIZE <= place < f.end)
            assert n_lost == n_rows(data, hit), place
            assert len(trace.epochs) == 4 - (hit.kind == records.EPOC)
            is_harmless = hit.kind in (records.HEAD, records.NOTE) and place >= hit.offset
            assert (caught[0].category is TraceFileWarning) == is_harmless, place


def test_what_is_lost_is_said(tmp_path):
    """The warning names samples with the times around them, epochs with their numbers, and other records in words."""
    _, data, frames = written(tmp_path / "run.h5", "growing")
    path = tmp_path / "damaged.h5"

    def said(kind, i=0, header=False):
        hit = [f for f in frames.values() if f.kind == kind][i]
        path.write_bytes(flipped(data, hit.offset - 10 if header else hit.offset, 0))
        with pytest.warns(DamagedTraceWarning) as caught:
            trace = Trace.load(path)
        assert trace.damage in str(caught[0].message)
        assert str(path) in str(caught[0].message)
        assert f"damaged: {trace.damage}" in str(trace)
        return trace, trace.damage

    for header in (False, True):
        trace, text = said(records.ROWS, 1, header)
        assert text == "lost: 7 samples between 0.006 s and 0.014 s"
        assert trace.epochs[0].lost == ((0.006, 0.014),)
        with pytest.raises(InputError, match=r"samples between 0\.006 s and 0\.014 s are lost: no state at 0\.01 s"):
            trace.at(0.01)
        assert trace.at(0.0055).time == 0.0055
        assert trace.at(0.0145).time == 0.0145
    assert said(records.ROWS, 0)[1] == "lost: 7 samples before 0.007 s"
    assert said(records.ROWS, 4)[1] == "lost: 2 samples between 0.027 s and 0.029 s"
    assert said(records.ROWS, -1)[1] == "lost: samples after 0.049 s"
    assert said(records.ROWS, -1, header=True)[1] == "lost: 1 record after 0.049 s"
    trace, text = said(records.EPOC, 0)
    assert text == (
        "lost: the structure of an epoch before 0.029 s; "
        "epoch 0, whose structure is unreadable, with 30 samples before 0.029 s"
    )
    assert [epoch.index for epoch in trace.epochs] == [1, 2, 3]
    assert said(records.EVNT)[1] == "lost: the event that ended an epoch between 0.029 s and 0.029 s"
    assert said(records.META)[1] == "lost: what the run was made with before 0 s"
    trace, text = said(records.LOGE, 1)
    assert text == "lost: an entry of the structure log between 0.029 s and 0.029 s"
    with pytest.raises(InputError, match="the next"):
        trace.structure_log()


def test_lost_chunks_are_said(tmp_path, monkeypatch):
    """In a finished file the chunks that are lost are named by the times around them."""
    monkeypatch.setattr(stored, "_CHUNK", 3000)
    run, data, frames = written(tmp_path / "run.h5", "finished")
    directory = next(stored.directory_from(data[f.offset : f.end]) for f in frames.values() if f.kind == records.DATA)
    n = directory.chunk
    assert 3 * n < 30
    rows = run.epochs[0][2]
    place = int(directory.places[1]) + n * int(directory.widths[1]) * 8  # q of the second chunk
    (tmp_path / "run.h5").write_bytes(flipped(data, place, 3))
    with pytest.warns(
        DamagedTraceWarning, match=f"lost: {n} samples between {rows[n - 1, 0]:g} s and {rows[2 * n, 0]:g} s"
    ):
        trace = Trace.load(tmp_path / "run.h5")
    assert trace.epochs[0].samples.tobytes() == np.delete(rows, slice(n, 2 * n), axis=0).tobytes()
    assert np.array_equal(trace.epochs[0].q, np.delete(rows, slice(n, 2 * n), axis=0)[:, 1:14])
    trace.save(tmp_path / "rest.h5")
    assert len(Trace.load(tmp_path / "rest.h5").epochs[0]) == len(rows) - n


def test_both_copies_damaged(tmp_path):
    """Only where both copies of a record in a finished file are damaged, it is lost; the other epochs are read."""
    run, data, frames = written(tmp_path / "run.h5", "finished")
    hit = [f for f in frames.values() if f.kind == records.EPOC][1]
    content = data[hit.offset : hit.end]
    second = data.index(content, hit.end)
    damaged = flipped(data, hit.offset, 1)
    (tmp_path / "run.h5").write_bytes(damaged)
    with pytest.warns(TraceFileWarning, match="a record is damaged, but its copy is intact; save the trace again"):
        run.assert_is(Trace.load(tmp_path / "run.h5"), damaged=True)
    (tmp_path / "run.h5").write_bytes(flipped(damaged, second, 1))
    with pytest.warns(DamagedTraceWarning, match="epoch 1, whose structure is unreadable, with 1 sample"):
        trace = Trace.load(tmp_path / "run.h5")
    assert [epoch.index for epoch in trace.epochs] == [0, 2, 3]
    assert_true(run, trace)
    with pytest.raises(InputError, match="the part before the checkpoint is incomplete"):
        trace.at_checkpoint()


def test_tables_edited_by_others(tmp_path):
    """A finished file that somebody added to is read, with a word that its tables have changed."""
    run = Run(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        file["notes"] = "the third attempt"
    with pytest.warns(TraceFileWarning, match="the HDF5 tables have changed") as caught:
        trace = Trace.load(tmp_path / "run.h5")
    assert caught[0].category is TraceFileWarning
    run.assert_is(trace, damaged=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"time,q\n0,1\n", "is not a trace of varichain"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "is an HDF5 file, but not a trace of varichain"),
        (frame(b"HEAD", 0, b'{"format": "varichain trace", "version": 99}'), "version 99 of the format; .* up to 1"),
        (frame(b"HEAD", 0, b'{"format": "varichain scene", "version": 1}'), "not a trace but a 'varichain scene'"),
        (frame(b"HEAD", 0, records.head("growing"))[:-5], "is damaged beyond reading"),
        (frame(b"HEAD", 0, records.head("growing")) + frame(b"EPOC", 1, b"nonsense"), "is damaged beyond reading"),
    ],
)
def test_other_files(content, message, tmp_path):
    """Files that are empty, something else, of a newer version or nothing but damage are refused in words."""
    (tmp_path / "other.h5").write_bytes(content)
    with pytest.raises(TraceFileError, match=message) as caught:
        Trace.load(tmp_path / "other.h5")
    assert caught.value.path == str(tmp_path / "other.h5")
    assert "other.h5" in str(caught.value)


def test_records_that_say_nonsense(tmp_path):
    """Records with right checksums and wrong contents are counted as damage; unknown kinds are skipped with a word."""
    run, data, frames = written(tmp_path / "run.h5", "growing")
    number = max(frames) + 1
    for kind in (records.META, records.EPOC, records.ROWS, records.DATA, records.EVNT, records.CHEK, records.LOGE):
        for content in (b"", b"{}", b"[]", b"\x78\x01", bytes(20), bytes(100), b'{"epoch": "x", "n": []}'):
            (tmp_path / "odd.h5").write_bytes(data + frame(kind, number, content))
            trace, caught = load(tmp_path / "odd.h5")
            assert len(caught) == 1
            assert assert_true(run, trace) == 0
    (tmp_path / "odd.h5").write_bytes(data + frame(b"WHAT", number, b""))
    with pytest.warns(TraceFileWarning, match="a record of unknown kind 'WHAT' was skipped"):
        assert assert_true(run, Trace.load(tmp_path / "odd.h5")) == 0


def test_missing_and_unreadable_files(tmp_path):
    """A file that does not exist, or is a folder, is an error that names it."""
    for path in (tmp_path / "nothing.h5", tmp_path):
        with pytest.raises(TraceFileError, match="cannot read"):
            Trace.load(path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"names": 5},
        {"names": [1]},
        {"actions": "cut"},
        {"energy_lost": "much"},
        {"edits": [{"kind": "cut", "joint": "hip", "impulse": 3}]},
        {"edits": [{"kind": "cut", "joint": None}]},
    ],
)
def test_events_of_other_kinds_are_lost(wrong):
    """What reports and pages read of an event is of the kind that they expect, or the event counts as lost."""
    with pytest.raises(TypeError):
        _event({"time": 1.0, **wrong})
    right = {"names": ["lets go"], "actions": ["cut hip"], "energy_lost": 1, "edits": [{"kind": "cut", "joint": "hip"}]}
    assert _event(right) == right
