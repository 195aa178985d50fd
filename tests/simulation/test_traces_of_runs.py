"""What a run writes: samples, epochs, events, the log; in memory and in files."""

import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

import varichain as vc
from lane import PATIENCE, long_run
from moving import G, bits, kinds, rods, slider, started


def eventful(**options):
    """A run with a stop, friction, a cut and a connection."""
    m = rods(3, damping=0.1)
    m.edit_joint("1", limits=(-0.4, 0.4))
    m.edit_joint("2", friction=0.3)
    s = started(m, {"0": 1.0, "1": -0.2})
    events = [
        vc.at(0.15, vc.connect("rod 2", "ground", vc.Revolute("y"), at=(0, 0, -1.0), name="grip"), name="grasp"),
        vc.at(0.3, vc.cut("grip"), name="let go"),
    ]
    return vc.simulate(m, s, 0.4, events=events, step=0.005, **options)


@long_run
def test_a_file_has_what_memory_has(tmp_path):
    """A run to a file and a run in memory have the same bits, events and log, and so has the file when it is read."""
    in_memory, in_file = eventful(), eventful(out=tmp_path / "run.h5")
    loaded = vc.Trace.load(tmp_path / "run.h5")
    for trace in (in_file, loaded):
        assert bits(trace) == bits(in_memory)
        assert [epoch.event for epoch in trace.epochs] == [epoch.event for epoch in in_memory.epochs]
        assert trace.log == in_memory.log
        assert (trace.outcome, trace.meta) == (in_memory.outcome, in_memory.meta)


def test_a_file_is_not_replaced_unasked(tmp_path):
    """An existing file is an error before anything is simulated, unless overwriting was asked for."""
    m = slider()
    vc.simulate(m, m.state(), 0.1, step=0.05, out=tmp_path / "run.h5")
    with pytest.raises(vc.TraceFileError, match=r"exists"):
        vc.simulate(m, m.state(), 0.2, step=0.05, out=tmp_path / "run.h5")
    vc.simulate(m, m.state(), 0.2, step=0.05, out=tmp_path / "run.h5", overwrite=True)
    assert vc.Trace.load(tmp_path / "run.h5").time[-1] == pytest.approx(0.2)


@long_run
def test_epochs_tell_what_ended_them():
    """Every epoch has the structure of its span; its event has names, actions, edits and the energy that was lost."""
    trace = eventful()
    grasp, let_go = trace.epochs[0].event, trace.epochs[1].event
    assert (grasp["time"], grasp["names"]) == (0.15, ["grasp"])
    assert grasp["actions"] == ["connect 'rod 2' to 'ground' by a revolute joint"]
    assert let_go["actions"] == ["cut 'grip'"]
    assert trace.epochs[2].event is None
    assert [len(epoch.mechanism.virtual_links) for epoch in trace.epochs] == [0, 1, 0]
    jump = trace.epochs[0]["energy"][-1, 0] - trace.epochs[1]["energy"][0, 0]
    assert grasp["energy_lost"] == pytest.approx(jump, abs=1e-12)
    assert let_go["energy_lost"] == pytest.approx(0.0, abs=1e-12)
    assert kinds(trace).count("structure") == 2


def test_the_log_tells_what_happened_to_stops_and_friction():
    """Limits that are reached and left, friction that sticks and slips: each with its time and joint, in order."""
    m = slider("x", gravity=(0, 0, 0), limits=(0.0, 1.0))
    m.add_link("cart", joint=vc.Prismatic("x", name="cart", friction=2.0), inertia=vc.Inertia.sphere(1.0, 0.1))
    s = started(m, {"rail": 0.5}, {"rail": -1.0, "cart": 1.0})
    pulls = [
        vc.at(0.8, vc.use(forces=[vc.Force("block", force=(1.0, 0, 0)), vc.Force("cart", force=(5.0, 0, 0))])),
    ]
    trace = vc.simulate(m, s, 1.0, events=pulls, step=0.05)
    reached, sticks = ("limit reached", "rail", 0.5), ("friction sticks", "cart", 0.5)
    happened = [(entry["kind"], entry["joint"], round(entry["time"], 8)) for entry in trace.log]
    assert happened[:2] in ([reached, sticks], [sticks, reached])  # both at one instant
    assert set(happened[2:]) == {("limit left", "rail", 0.8), ("friction slips", "cart", 0.8)}


def test_samples_are_thinned_as_asked():
    """Samples lie at multiples of `sample`, and at the end; what they say does not depend on it."""
    m = rods(2)
    s = started(m, {"0": 1.0})
    full, thin = vc.simulate(m, s, 0.102, step=0.005), vc.simulate(m, s, 0.102, step=0.005, sample=0.02)
    assert thin.time == pytest.approx([0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.102], abs=1e-15)
    assert (thin.final.q == full.final.q).all()


def test_columns_are_as_documented():
    """Energy is kinetic, gravitational and elastic; momentum is about the centre of mass; closure is one number."""
    m = vc.Mechanism("spring")
    m.add_link("block", joint=vc.Prismatic("z", name="rail", stiffness=100.0), inertia=vc.Inertia.sphere(2.0, 0.1))
    s = started(m, {"rail": 0.1}, {"rail": 0.5})
    epoch = vc.simulate(m, s, 0.01, step=0.005).epochs[0]
    assert epoch["energy"][0] == pytest.approx([0.25, 2.0 * G * 0.1, 0.5], abs=1e-12)
    assert epoch["momentum"][0] == pytest.approx([0, 0, 0, 0, 0, 1.0], abs=1e-12)
    assert epoch["center"][0] == pytest.approx([0, 0, 0.1], abs=1e-12)
    assert epoch["work"].shape == (3, 7)
    assert epoch.closure.shape == (3,)


def test_progress_is_told_to_a_function():
    """A function as progress is called with the time and the end."""
    told = []
    m = slider()
    vc.simulate(m, m.state(), 1.0, step=0.05, progress=lambda now, end: told.append((now, end)))
    assert told[-1] == (1.0, 1.0)


def test_ctrl_c_leaves_a_readable_trace(tmp_path):
    """Ctrl-C raises SimulationInterrupted with the trace, also a KeyboardInterrupt; the file is whole."""
    program = textwrap.dedent(
        """
        import os, signal, sys
        sys.path.insert(0, TESTS)
        import varichain as vc
        from moving import rods, started
        m = rods(2)
        def law(m, s):
            if s.time > 0.5:
                os.kill(os.getpid(), signal.SIGINT)
        try:
            vc.simulate(m, started(m, {"0": 1.0}), 1e6, controller=law, step=0.01, out=FILE)
        except KeyboardInterrupt as interrupt:
            assert isinstance(interrupt, vc.SimulationInterrupted)
            assert interrupt.trace.outcome == "interrupted"
            print(len(interrupt.trace) > 10, interrupt.trace.time[-1] < 2.0)
        """
    )
    file = tmp_path / "run.h5"
    tests = str(Path(__file__).parent.parent)
    program = program.replace("TESTS", repr(tests)).replace("FILE", repr(str(file)))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "True"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = vc.Trace.load(file)
    assert trace.outcome == "interrupted"
    assert np.isfinite(trace.final.q).all()


def test_the_folder_of_the_file_is_made(tmp_path):
    """`out` in a folder that is not there yet makes it; a file in the folder's place is an error that says so."""
    m = vc.Mechanism("ball")
    m.add_link("ball", "ground", vc.Free(), inertia=vc.Inertia.sphere(1.0, 0.1))
    file = tmp_path / "runs" / "today" / "ball.h5"
    vc.simulate(m, m.state(), 0.01, out=file)
    assert vc.Trace.load(file).outcome == "complete"
    with pytest.raises(vc.TraceFileError, match="cannot write"):
        vc.simulate(m, m.state(), 0.01, out=file / "within.h5")
