"""What checkpoints hold: values by name, with a version; and which checkpoints a run goes on from."""

import json

import numpy as np
import pytest

import varichain as vc
from moving import rods, started
from varichain.simulation.simulation import CHECKPOINT_VERSION
from varichain.trace import TraceWriter


def short_run(**options):
    """A chain that swings, its upper hinge with stops and friction; 0.1 s of it."""
    m = rods(2)
    m.edit_joint("0", limits=(-1.0, 1.0), friction=0.1)
    return vc.simulate(m, started(m, {"0": 0.5}, {"1": 1.0}), 0.1, step=0.01, **options)


def with_checkpoint(trace, checkpoint):
    """The trace with another checkpoint, as a file would hold it."""
    writer = TraceWriter(None)
    writer.resume(trace)
    writer.checkpoint(json.loads(json.dumps(checkpoint)))
    writer.end_epoch(None)
    return writer.finish("complete")


def test_a_checkpoint_holds_names_and_a_version():
    """A checkpoint has a version, the state, the run's record by its fields, and the modes of restraints by joints."""
    trace = short_run(controller=vc.Torques({"1": 0.2}))
    found = trace.checkpoint
    assert found["version"] == CHECKPOINT_VERSION
    assert found["run"]["time"] == trace.final.time
    assert found["q"] == trace.final.q.tolist() and found["v"] == trace.final.v.tolist()
    assert found["run"]["work"] == trace.epochs[-1].work[-1, :-1].tolist()
    assert found["run"]["steps"] >= 10
    assert found["modes"].keys() == {"0"}
    assert found["modes"]["0"].keys() >= {"locked", "slide", "at"}
    assert found["torques"] == [0.0, 0.0]  # those of Python; these are a table's


def test_a_checkpoint_is_plain():
    """A checkpoint survives JSON, and a run goes on from what comes back, to the bit."""
    part = short_run()
    whole = vc.resume(part, 0.2)
    again = vc.resume(with_checkpoint(part, part.checkpoint), 0.2)
    assert np.array_equal(again.epochs[-1].samples, whole.epochs[-1].samples)


@pytest.mark.parametrize(
    ("checkpoint", "version"),
    [
        ({"memo": [0.1, 10.0, 0.01], "tally": [0.0] * 6, "q": [0.5, 0.0], "v": [0.0, 0.0]}, 1),
        ({"version": 1, "run": {}}, 1),
        ({"version": 99, "run": {}}, 99),
    ],
)
def test_checkpoints_of_other_versions_are_refused(checkpoint, version):
    """A checkpoint of an older or newer version is refused by its number, with what to do instead."""
    trace = with_checkpoint(short_run(), checkpoint)
    with pytest.raises(vc.InputError, match=rf"version {version}, .*version {CHECKPOINT_VERSION} only.*trace\.final"):
        vc.resume(trace, 0.2)
