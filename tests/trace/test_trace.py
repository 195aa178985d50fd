"""Traces: what they answer, and that files give back exactly what was written."""

import gc
import os
import pickle
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import varichain as vc
from runs import CUTS, Run, columns_of, gymnast, random_rows
from varichain.errors import InputError, TraceFileError, UnknownNameError
from varichain.mechanism import description, mechanism_from
from varichain.trace import Columns, Trace, TraceWriter
from varichain.trace import file as trace_file
from varichain.trace.text import event_text

TESTS = Path(__file__).resolve().parent.parent


@settings(max_examples=30)
@given(
    counts=st.lists(st.integers(0, 60), min_size=1, max_size=5),
    part=st.integers(1, 70),
    chunk_rows=st.integers(1, 100),
    seed=st.integers(0, 1000),
)
def test_round_trips(counts, part, chunk_rows, seed, tmp_path_factory):
    """A run written to memory and one written to a file, in parts and chunks of any size, say the same to the bit."""
    path = tmp_path_factory.mktemp("traces") / "run.h5"
    in_memory = Run(None, seed, counts, part, chunk_rows=chunk_rows)
    in_file = Run(path, seed, counts, part, chunk_rows=chunk_rows)
    for trace in (in_memory.trace, in_file.trace, Trace.load(path)):
        in_memory.assert_is(trace)
    again = path.with_name("again.h5")
    in_memory.trace.save(again)
    in_memory.assert_is(Trace.load(again))


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, -0.0, 5e-324, np.finfo(float).max])
def test_every_float_comes_back(special, tmp_path):
    """Numbers that are not finite, subnormal or minus zero come back to the bit; a run that diverged has such."""
    m = gymnast()
    columns = columns_of(m)
    rows = random_rows(np.random.default_rng(0), m, columns, 0.0, 5)
    rows[2, 1:] = special
    with TraceWriter(tmp_path / "run.h5") as writer:
        writer.begin({})
        writer.open_epoch(description(m), columns)
        writer.append(rows)
        writer.finish("diverged", "q is not finite")
    trace = Trace.load(tmp_path / "run.h5")
    assert trace.epochs[0].samples.tobytes() == rows.tobytes()
    assert (trace.outcome, trace.message) == ("diverged", "q is not finite")


def test_blocks_have_names_and_shapes(tmp_path):
    """Every block is an attribute and an item of its epoch, read-only, with the shape that it is documented with."""
    run = Run(tmp_path / "run.h5")
    for trace in (run.trace, Run().trace):
        for epoch, (_, columns, rows, _) in zip(trace.epochs, run.epochs, strict=True):
            n, n_loops = len(rows), len(epoch.slots.loops)
            assert epoch.time.shape == epoch.closure.shape == (n,)
            assert epoch.loop_forces.shape == (n, n_loops, 6)
            assert epoch.nothing.shape == (n, 0)
            for name in columns.names:
                assert np.array_equal(epoch[name].reshape(n, -1), rows[:, columns.slice(name)])
                assert np.array_equal(getattr(epoch, name), epoch[name])
                assert not epoch[name].flags.writeable
            assert not epoch.samples.flags.writeable
            assert (epoch.start, epoch.end, len(epoch)) == (rows[0, 0], rows[-1, 0], n)
    with pytest.raises(AttributeError, match="epoch 0 has no 'tua'; its columns are time, q, v, tau"):
        _ = run.trace.epochs[0].tua
    with pytest.raises(UnknownNameError, match="no column is called 'tua'"):
        run.trace.epochs[0]["tua"]


def test_joints_and_loops():
    """A joint's motion is its slice of the samples, in one epoch and over all that have it; a loop's force likewise."""
    run = Run(counts=(30, 20, 25, 10))
    trace = run.trace
    elbow = trace.joint("left elbow")
    rows = [of for _, _, of, _ in run.epochs[:3]]  # cut at the end of the third
    q = [of[:, columns.slice("q")][:, 11] for (_, columns, _, _), of in zip(run.epochs[:3], rows, strict=True)]
    assert np.array_equal(elbow.q, np.concatenate(q))
    assert np.array_equal(elbow.time, np.concatenate([of[:, 0] for of in rows]))
    assert elbow.v.shape == elbow.tau.shape == (75,)
    assert trace.epochs[0].joint("left shoulder").q.shape == (30, 4)
    assert trace.epochs[0].joint("left shoulder").v.shape == (30, 3)
    assert trace.joint("torso").q.shape == (85, 7)
    assert trace.joint("left forearm").q.shape == (10, 7)  # free in the fourth epoch alone
    assert np.array_equal(trace.epochs[0].loop("foot"), trace.epochs[0].loop_forces[:, 1])
    with pytest.raises(UnknownNameError, match="no joint is called 'knee'"):
        trace.joint("knee")
    with pytest.raises(UnknownNameError, match="no joint is called 'left elbow'"):
        trace.epochs[3].joint("left elbow")
    with pytest.raises(UnknownNameError, match="no loop is called 'foot'"):
        trace.epochs[1].loop("foot")


def test_joints_that_change_their_kind():
    """A joint that is of different kinds in different epochs is asked for epoch by epoch."""
    m = vc.Mechanism("arm")
    m.add_link("arm", joint=vc.Revolute("y"), inertia=vc.Inertia.sphere(1.0, 0.1))
    writer = TraceWriter()
    writer.begin({})
    for n_q in (1, 7):
        writer.open_epoch(description(m), Columns([("time", 1), ("q", n_q)]))
        writer.append(np.zeros((2, 1 + n_q)))
        writer.end_epoch()
        m.cut("arm") if n_q == 1 else None
    trace = writer.finish()
    with pytest.raises(InputError, match="is revolute from epoch 0 on, free from epoch 1 on"):
        trace.joint("arm")
    assert trace.epochs[1].joint("arm").q.shape == (2, 7)
    assert trace.epochs[1].joint("arm").v is None


def test_mechanism_and_log():
    """Every epoch has its mechanism, and the log replayed on the first gives the last."""
    run = Run(counts=(5, 5, 5, 5))
    trace = run.trace
    assert [len(epoch.mechanism.virtual_links) for epoch in trace.epochs] == [2, 1, 0, 0]
    assert str(trace.epochs[-1].mechanism) == str(run.mechanism)
    assert trace.epochs[0].mechanism is trace.epochs[0].mechanism
    replayed = mechanism_from(trace.epochs[0].description)
    assert trace.log[0]["number"] == 2  # the gymnast was connected twice before the run
    trace.structure_log().replay(replayed)
    assert str(replayed) == str(trace.epochs[-1].mechanism)
    assert [entry["edits"][0]["joint"] for entry in trace.log] == list(CUTS[:3])
    trace.log.insert(1, {"kind": "limit reached", "time": 0.1})  # what else is noted is no structure change
    assert len(trace.structure_log()) == 3


def test_printed():
    """A trace prints one line for the run and one for each epoch, with the event that ended it."""
    text = str(Run(counts=(30, 1, 25)).trace)
    lines = text.splitlines()
    assert lines[0] == "trace of 'gymnast': 56 samples in 3 epochs, complete (all done)"
    expected = "0 0 to 0.029 s 30 samples 11 freedoms 2 loops kind cut, joint foot, time 0.029"
    assert lines[1].split() == expected.split()
    assert "1 sample " in lines[2]
    assert lines[3].endswith("0 loops")
    m = gymnast()
    writer = TraceWriter()
    writer.begin({})
    for _ in range(50):
        writer.open_epoch(description(m), Columns([("time", 1)]))
        writer.end_epoch({"text": "nothing at all"})
    lines = str(writer.finish()).splitlines()
    assert len(lines) == 22
    assert "30 epochs more" in lines[11]
    assert lines[1].endswith("nothing at all")
    assert event_text({"time": 1.0, "actions": ["cut 'grip'", "push 'arm'"]}) == "cut 'grip', push 'arm'"
    assert str(TraceWriter().trace) == "trace: 0 samples in 0 epochs, interrupted"


def test_plain_hdf5(tmp_path):
    """A finished file is plain HDF5: blocks by name with units and labels, texts as JSON."""
    import json

    run = Run(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["format"] == "varichain trace"
        assert file.attrs["outcome"] == "complete"
        assert json.loads(file["meta.json"][()]).items() >= run.meta.items()
        assert json.loads(file["log.json"][()]) == run.trace.log
        assert json.loads(file["checkpoint.json"][()]) == run.trace.checkpoint
        assert list(file["epochs"]) == ["0000", "0001", "0002"]
        for name, epoch in zip(file["epochs"], run.trace.epochs, strict=True):
            group = file["epochs"][name]
            assert json.loads(group["structure.json"][0]) == epoch.description
            assert json.loads(group["event.json"][()]) == epoch.event
            for block in epoch.columns.names:
                assert np.array_equal(group[block][()], epoch[block])
                if epoch.columns.width_of(block):
                    assert len(group["labels"][block]) == epoch.columns.width_of(block)
        assert file["epochs/0000/tau"].attrs["unit"] == "N m, N"
        labels = file["epochs/0000/labels/q"].asstr()[:]
        assert list(labels[6:13]) == ["torso.pz", *(f"left shoulder.q{x}" for x in "wxyz"), "left elbow.q", "hip.q"]
        assert list(file["epochs/0000/labels/work"].asstr()[:]) == ["work.motor", "work.wind"]


def test_a_growing_file_says_what_it_is(tmp_path):
    """A file that is still being written opens as HDF5 and tells how to read it; Trace.load reads it meanwhile."""
    run = Run(tmp_path / "run.h5", finish=False)
    run.writer.flush()
    with h5py.File(tmp_path / "run.h5") as file:
        assert "Trace.load reads it" in file.attrs["note"]
    trace = Trace.load(tmp_path / "run.h5")
    assert (trace.outcome, trace.message, trace.damage) == ("interrupted", "the file was not finished", None)
    assert [epoch.samples.tobytes() for epoch in trace.epochs] == [rows.tobytes() for _, _, rows, _ in run.epochs]
    assert trace.checkpoint == {"epoch": 2, "time": run.epochs[2][2][-1, 0]}
    trace.save(tmp_path / "saved.h5")
    assert Trace.load(tmp_path / "saved.h5").outcome == "interrupted"


def test_pickles_and_replaced_files(tmp_path):
    """A loaded trace can be pickled, and goes on giving its samples when its file is replaced or removed."""
    run = Run(tmp_path / "run.h5")
    trace = Trace.load(tmp_path / "run.h5")
    Run(tmp_path / "run.h5", seed=1, overwrite=True)
    (tmp_path / "run.h5").unlink()
    run.assert_is(trace)
    run.assert_is(pickle.loads(pickle.dumps(trace)))
    del trace
    gc.collect()


def test_files_that_are_not_held_open(tmp_path, monkeypatch):
    """Where an open file cannot be renamed, files are opened for each reading, and all else is the same."""
    monkeypatch.setattr(trace_file, "_STAYS_OPEN", False)
    path = tmp_path / "run.h5"
    run = Run(path)
    run.assert_is(run.trace)
    run.assert_is(Trace.load(path))
    again = Run(path, seed=1, overwrite=True)
    again.assert_is(again.trace)
    trace = Trace.load(path)
    path.unlink()
    with pytest.raises(TraceFileError, match="cannot read"):
        _ = trace.epochs[0].q


def test_files_changed_in_place_are_noticed(tmp_path):
    """Samples that were intact when a file was loaded and are not when they are asked for are an error."""
    Run(tmp_path / "run.h5")
    trace = Trace.load(tmp_path / "run.h5")
    data = bytearray((tmp_path / "run.h5").read_bytes())
    place = bytes(data).index(trace.epochs[0].samples[0, 1:2].tobytes())
    fresh = Trace.load(tmp_path / "run.h5")
    with open(tmp_path / "run.h5", "r+b") as file:
        file.seek(place)
        file.write(b"\xff")
    with pytest.raises(TraceFileError, match="has been changed since it was loaded"):
        _ = fresh.epochs[0].q


def test_no_compiler():
    """Traces are written to memory and read without the compiler, and h5py waits until a file is written."""
    program = """
import sys
from runs import Run
trace = Run().trace
assert trace.joint("hip").q.shape == (75,)
assert not {"numba", "h5py", "varichain.kernels", "varichain.layout"} & set(sys.modules)
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(TESTS), *sys.path]))}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_many_samples(tmp_path):
    """Epochs longer than a chunk are put together in order."""
    n = 40_000
    m = gymnast()
    columns = columns_of(m)
    rows = np.random.default_rng(3).normal(size=(n, columns.width))
    rows[:, 0] = np.arange(n)
    writer = TraceWriter(tmp_path / "run.h5")
    writer.begin({})
    writer.open_epoch(description(m), columns)
    for part in np.array_split(rows, 7):
        writer.append(part)
    assert writer.finish().epochs[0].samples.tobytes() == rows.tobytes()
    loaded = Trace.load(tmp_path / "run.h5")
    assert np.array_equal(loaded.epochs[0].tau, rows[:, columns.slice("tau")])
    assert np.array_equal(loaded.time, np.arange(n))
    assert len(loaded) == n
