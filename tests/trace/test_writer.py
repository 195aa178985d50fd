"""Writing: the order of calls, what is refused, interruptions, and continuations."""

import os
import time

import h5py
import numpy as np
import pytest

from runs import Run, columns_of, gymnast, random_rows
from varichain.errors import InputError, TraceFileError
from varichain.mechanism import description
from varichain.trace import Columns, Trace, TraceWriter, finished, journal

TIME = Columns([("time", 1)])


def begun(path=None, **options):
    """Writer with an epoch of times alone open."""
    writer = TraceWriter(path, **options)
    writer.begin({})
    writer.open_epoch(description(gymnast()), TIME)
    return writer


def test_order_of_calls():
    """Calls that come too early or too late are refused with the place where they may come."""
    writer = TraceWriter()
    structure = description(gymnast())
    early = {
        "open_epoch": lambda: writer.open_epoch(structure, TIME),
        "append": lambda: writer.append([[0.0]]),
        "end_epoch": writer.end_epoch,
        "checkpoint": lambda: writer.checkpoint({}),
        "log": lambda: writer.log({}),
        "finish": writer.finish,
    }
    for name, call in early.items():
        with pytest.raises(InputError, match=f"{name} cannot come before begin"):
            call()
    writer.begin({})
    for name in ("append", "end_epoch"):
        with pytest.raises(InputError, match=f"{name} cannot come between epochs; only within an epoch"):
            early[name]()
    with pytest.raises(InputError, match="begin cannot come between epochs"):
        writer.begin({})
    early["open_epoch"]()
    with pytest.raises(InputError, match="open_epoch cannot come within an epoch"):
        early["open_epoch"]()
    trace = writer.finish("stopped")
    assert writer.finish().outcome == trace.outcome == "stopped"
    del early["finish"]
    for name, call in early.items():
        with pytest.raises(InputError, match=f"{name} cannot come after finish"):
            call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: w.append([[0.0, 1.0]]), r"samples must be of shape \(n, 1\), not \(1, 2\)"),
        (lambda w: w.append([0.0]), r"samples must be of shape \(n, 1\), not \(1,\)"),
        (lambda w: w.append([["now"]]), "samples must be a matrix of numbers"),
        (lambda w: w.append([[2.0], [1.0]]), "must not go back"),
        (lambda w: w.append([[0.5]]), "must not go back; found .* after 1 s"),
        (lambda w: w.append([[np.nan]]), "must not go back"),
        (lambda w: w.end_epoch({"what": object()}), "event must be plain values that JSON can contain"),
        (lambda w: w.end_epoch({"what": np.nan}), "event must be plain values that JSON can contain"),
        (lambda w: w.checkpoint({"q": np.zeros(3)}), "checkpoint must be plain values that JSON can contain"),
        (lambda w: w.log({"entry": {1, 2}}), "log entry must be plain values"),
        (lambda w: w.finish("splendid"), "outcome must be one of complete, stopped, interrupted, diverged, error"),
    ],
)
def test_refusals(call, message):
    """What is refused changes nothing: the run goes on as if it had not been said."""
    writer = begun()
    writer.append([[1.0]])
    with pytest.raises(InputError, match=message):
        call(writer)
    writer.append([[2.0]])
    trace = writer.finish()
    assert trace.time.tolist() == [1.0, 2.0]
    assert (trace.epochs[0].event, trace.checkpoint, trace.log) == (None, None, [])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (Columns([("q", 13)]), "must have a column 'time'"),
        (Columns([("time", 2)]), "columns 'time' must be 1 wide in this structure, not 2"),
        (Columns([("time", 1), ("q", 12)]), "columns 'q' must be 13 wide"),
        (Columns([("time", 1), ("tau", 1)]), "columns 'tau' must be 11 wide"),
        (Columns([("time", 1), ("loop_forces", 6)]), "columns 'loop_forces' must be 12 wide"),
    ],
)
def test_columns_that_do_not_fit(columns, message):
    """Columns that do not have the structure's widths are refused."""
    writer = TraceWriter()
    writer.begin({})
    with pytest.raises(InputError, match=message):
        writer.open_epoch(description(gymnast()), columns)
    hinge = {"joint": {"name": "a", "type": "Hinge"}}
    for wrong, reason in (
        ({}, "no description of a mechanism.*lacks 'links'"),
        ({"links": 3}, "no description of a mechanism.*not iterable"),
        ({"links": [{}]}, "no description of a mechanism.*lacks 'joint'"),
        (
            {"links": [{"joint": {"name": [], "type": {}}}], "couplings": []},
            "no description of a mechanism.*unhashable",
        ),
        ({"links": [hinge]}, "no description of a mechanism.*lacks 'couplings'"),
        (
            {"links": [hinge], "couplings": []},
            "joint 'a' is of type 'Hinge', which is not defined here; types: Revolute",
        ),
    ):
        with pytest.raises(InputError, match=reason):
            writer.open_epoch(wrong, TIME)
    assert writer.finish().epochs == ()


def test_arguments_of_the_wrong_kind():
    """File names that are none, and chunks that are no counts, are refused."""
    for path in (3, b"run.h5", "", ["run.h5"]):
        for call in (TraceWriter, Trace.load, TraceWriter().trace.save, TraceWriter().trace.to_csv):
            with pytest.raises(InputError, match="a file name must be a str or a path"):
                call(path)
    for options in ({"chunk_rows": 0}, {"chunk_rows": 1.5}, {"chunk_seconds": -1.0}, {"chunk_seconds": "1"}):
        with pytest.raises(InputError, match=next(iter(options))):
            TraceWriter(**options)


def test_what_was_given_may_be_reused():
    """The writer copies what it is given: buffers and dicts may be changed afterwards."""
    writer = TraceWriter()
    meta, buffer, event = {"list": [1]}, np.zeros((1, 1)), {"list": [2]}
    writer.begin(meta)
    writer.open_epoch(description(gymnast()), TIME)
    for t in (1.0, 2.0):
        buffer[:] = t
        writer.append(buffer)
    writer.end_epoch(event)
    meta["list"].append(0), event["list"].append(0), buffer.fill(9.0)
    trace = writer.finish()
    assert (trace.meta["list"], trace.epochs[0].event, trace.time.tolist()) == ([1], {"list": [2]}, [1.0, 2.0])


def test_the_trace_so_far(tmp_path):
    """A trace of what was written so far, gathered samples included, can be had at any time, and does not change."""
    for path in (None, tmp_path / "run.h5"):
        writer = begun(path)
        writer.append([[0.0], [1.0]])
        first = writer.trace
        writer.append([[2.0]])
        assert (first.time.tolist(), writer.trace.time.tolist()) == ([0.0, 1.0], [0.0, 1.0, 2.0])
        assert first.outcome == "interrupted"
        writer.finish()


def test_chunks(tmp_path, monkeypatch):
    """Samples are written when there are enough of them, when enough time has passed, or when told to."""
    path = tmp_path / "run.h5"
    writer = begun(path, chunk_rows=3, chunk_seconds=1e9)
    seen = []
    for t in range(7):
        writer.append([[float(t)]])
        seen.append(len(Trace.load(path)))
    assert seen == [0, 0, 3, 3, 3, 6, 6]
    writer.flush()
    assert len(Trace.load(path)) == 7
    later = time.monotonic() + 2e9
    monkeypatch.setattr(time, "monotonic", lambda: later)
    writer.append([[7.0]])
    assert len(Trace.load(path)) == 8
    writer.checkpoint({"t": 7.0})
    assert Trace.load(path).checkpoint == {"t": 7.0}


def test_context_manager(tmp_path):
    """At the end of a block the run is finished: complete, interrupted, or with the error that was raised."""
    with begun(tmp_path / "a.h5") as writer:
        writer.append([[0.0]])
    assert Trace.load(tmp_path / "a.h5").outcome == "complete"

    def raising(path, error):
        with begun(path) as writer:
            writer.append([[0.0]])
            raise error

    for error, outcome in ((KeyboardInterrupt(), "interrupted"), (ValueError("too fast"), "error")):
        path = tmp_path / f"{outcome}.h5"
        with pytest.raises(type(error)):
            raising(path, error)
        trace = Trace.load(path)
        assert (trace.outcome, len(trace)) == (outcome, 1)
        assert trace.message == f"{type(error).__name__}: {error}"
    with TraceWriter(tmp_path / "b.h5"):
        pass
    assert not (tmp_path / "b.h5").exists()


@pytest.mark.parametrize("moment", range(12))
def test_interrupted_in_the_middle_of_writing(moment, tmp_path, monkeypatch):
    """Ctrl-C while a chunk is being written, or just after, leaves every sample in the trace and in the file once."""
    writer = begun(tmp_path / "run.h5", chunk_rows=5)
    real, calls = os.write, []

    def interrupted(fd, data):
        """Write some bytes and be interrupted; the last moment is after all of them."""
        calls.append(len(data))
        if len(calls) == 1:
            real(fd, data[: len(data) * moment // 11])
            raise KeyboardInterrupt
        return real(fd, data)

    monkeypatch.setattr(journal.os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writer.append(np.arange(5.0)[:, None])
    trace = writer.finish("interrupted", "Ctrl-C")
    assert len(calls) > 1
    for found in (trace, Trace.load(tmp_path / "run.h5")):
        assert found.time.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
        assert found.damage is None


def test_interrupted_after_writing(tmp_path, monkeypatch):
    """Ctrl-C between the writing of a chunk and the notes about it: what is then written again is there once."""
    writer = begun(tmp_path / "run.h5", chunk_rows=5)
    real, calls = journal.Journal.write, []

    def interrupted(self, frames):
        """Write, and be interrupted the first time."""
        places = real(self, frames)
        calls.append(places)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return places

    monkeypatch.setattr(journal.Journal, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writer.append(np.arange(5.0)[:, None])
    writer.append([[5.0]])
    writer.flush()
    for found in (Trace.load(tmp_path / "run.h5"), writer.finish(), Trace.load(tmp_path / "run.h5")):
        assert found.time.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        assert (len(found.epochs), found.damage) == (1, None)


def test_interrupted_while_it_finishes(tmp_path, monkeypatch):
    """Ctrl-C while the file is being made plain HDF5: finishing again goes on, and the first outcome counts."""
    path = tmp_path / "run.h5"
    writer = begun(path)
    writer.append([[0.0]])
    with monkeypatch.context() as patch:
        patch.setattr(finished, "_tables", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.finish("complete")
    assert os.listdir(tmp_path) == ["run.h5"]
    assert (Trace.load(path).outcome, writer.trace.outcome) == ("complete", "complete")
    with monkeypatch.context() as patch:
        patch.setattr(journal.Journal, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.finish("complete")
    assert writer.finish("interrupted").outcome == Trace.load(path).outcome == "complete"
    assert Trace.load(path).time.tolist() == [0.0]
    with h5py.File(path) as file:
        assert file["epochs/0000/time"][()] == [0.0]


def interrupted(*_):
    """Ctrl-C."""
    raise KeyboardInterrupt


def test_continuation(tmp_path):
    """A run cut off at any checkpoint and continued from there gives the trace of the run that was not."""
    whole = Run(None, counts=(30, 20, 25), part=5)
    m = gymnast()
    for n_epochs, n, is_open in ((1, 10, True), (1, 30, False), (2, 0, True), (3, 20, True)):
        path = tmp_path / f"{n_epochs} {n} {is_open}.h5"
        writer = TraceWriter(path, chunk_rows=4)
        writer.begin(whole.meta)
        play(writer, whole, 0, 0, n_epochs, n, is_open)
        writer.checkpoint({"here": [n_epochs, n]})
        if is_open:
            writer.append(whole.epochs[n_epochs - 1][2][n : n + 2] if n else whole.epochs[n_epochs - 1][2][:2])
        else:
            writer.open_epoch(description(m), columns_of(m))
        writer.flush()  # beyond the checkpoint, and then the program is gone
        trace = Trace.load(path)
        assert trace.checkpoint == {"here": [n_epochs, n]}
        continued = TraceWriter(path, overwrite=True)
        continued.resume(trace)
        assert Trace.load(path).checkpoint == trace.checkpoint
        play(continued, whole, n_epochs - 1, n if is_open else None, len(whole.epochs), None, False)
        found = continued.finish("complete", "all done")
        assert [epoch.samples.tobytes() for epoch in found.epochs] == [rows.tobytes() for _, _, rows, _ in whole.epochs]
        assert [epoch.event for epoch in found.epochs] == [event for *_, event in whole.epochs]
        assert found.log == whole.trace.log
        assert found.meta == whole.trace.meta


def play(writer, run, first, row, n_epochs, n, is_open):
    """Write a run from a row of an epoch on (from its end, if None) to a row of another, left open or ended."""
    for i in range(first, n_epochs):
        structure, columns, rows, event = run.epochs[i]
        if i >= len(writer.trace.epochs):
            writer.open_epoch(structure, columns)
            start = 0
        elif row is None:
            continue
        else:
            start = row
        is_last = i == n_epochs - 1
        writer.append(rows[start : n if is_last and n is not None else None])
        if not (is_last and is_open):
            if event is not None:
                writer.log(run.trace.log[i])
            writer.end_epoch(event)


def test_continuation_refused():
    """Without a checkpoint there is nothing to continue; a writer that has begun cannot resume."""
    run = Run(checkpoints=False)
    writer = TraceWriter()
    with pytest.raises(InputError, match="the trace has no checkpoint"):
        writer.resume(run.trace)
    writer.begin({})
    with pytest.raises(InputError, match="resume cannot come between epochs"):
        writer.resume(Run().trace)


def test_existing_files(tmp_path):
    """An existing file is left alone unless overwriting is asked for; then it stays until the new run has begun."""
    path = tmp_path / "run.h5"
    run = Run(path)
    content = path.read_bytes()
    for call in (lambda: TraceWriter(path), lambda: run.trace.save(path), lambda: run.trace.to_csv(path)):
        with pytest.raises(TraceFileError, match="exists already; give another name, or overwrite=True"):
            call()
    writer = TraceWriter(path, overwrite=True)
    assert path.read_bytes() == content
    writer.begin({"new": True})
    assert Trace.load(path).meta["new"]
    writer.finish()
    assert sorted(os.listdir(tmp_path)) == ["run.h5"]
    run.trace.save(path, overwrite=True)
    run.assert_is(Trace.load(path))
    os.symlink(tmp_path / "nowhere", tmp_path / "link.h5")
    with pytest.raises(TraceFileError, match="exists already"):
        TraceWriter(tmp_path / "link.h5")


def test_writes_are_seen_by_width(tmp_path):
    """Epochs of different widths in one chunk each keep their own rows."""
    m, rng = gymnast(), np.random.default_rng(0)
    writer = TraceWriter(tmp_path / "run.h5", chunk_rows=10**6, chunk_seconds=1e9)
    writer.begin({})
    rows = []
    for i in range(3):
        columns = columns_of(m, more=i)
        rows.append(random_rows(rng, m, columns, i, 4, step=0.1))
        writer.open_epoch(description(m), columns)
        writer.append(rows[-1])
        writer.end_epoch()
    writer.flush()
    for trace in (Trace.load(tmp_path / "run.h5"), writer.finish()):
        assert [epoch.samples.tobytes() for epoch in trace.epochs] == [part.tobytes() for part in rows]


def test_a_finished_file_may_be_finished_again(tmp_path):
    """The second call gives the trace of the first, and the first outcome."""
    writer = TraceWriter(tmp_path / "run.h5")
    writer.begin({})
    writer.open_epoch(description(gymnast()), TIME)
    writer.append([[1.0]])
    trace = writer.finish("stopped")
    assert writer.finish() is trace and trace.outcome == "stopped"
