"""States between samples: exact at samples, of fourth order between them, on the right side of events."""

import numpy as np
import pytest

import varichain as vc
from runs import Run, gymnast
from varichain.errors import InputError
from varichain.mechanism import description
from varichain.spatial.rotation import (
    matrix_from_quaternion,
    quaternion_conjugate,
    quaternion_from_rotation_vector,
    quaternion_multiply,
)
from varichain.trace import Columns, TraceWriter

DERIVATIVE_STEP = 1e-5
"""Of central differences, whose error is then about 1e-10 of the third derivative."""


def motion(t):
    """Coordinates (13,) of the gymnast along a smooth motion that turns all the way round."""
    torso = quaternion_from_rotation_vector([np.sin(t), 2.0 * t, np.cos(2 * t)])
    shoulder = quaternion_from_rotation_vector([np.cos(t), -np.sin(3 * t), 0.5 * t])
    return np.concatenate([torso, [np.sin(t), t**2, np.exp(-t)], shoulder, [np.sin(2 * t)], [t]])


def velocity(t, h=DERIVATIVE_STEP):
    """Velocities (11,) along the motion: w = 2 conj(Q) Qdot and R^T pdot in the links' axes."""
    q, rate = motion(t), (motion(t + h) - motion(t - h)) / (2 * h)
    w = [2.0 * quaternion_multiply(quaternion_conjugate(q[k : k + 4]), rate[k : k + 4])[1:] for k in (0, 7)]
    return np.concatenate([w[0], matrix_from_quaternion(q[:4]).T @ rate[4:7], w[1], rate[11:]])


def sampled(times):
    """Trace of the motion."""
    writer = TraceWriter()
    writer.begin({})
    writer.open_epoch(description(gymnast()), Columns([("time", 1), ("q", 13), ("v", 11)]))
    writer.append([np.concatenate([[t], motion(t), velocity(t)]) for t in times])
    return writer.finish()


def errors(n):
    """Largest errors of coordinates and velocities between n + 1 samples over 0.8 s."""
    trace = sampled(np.linspace(0.0, 0.8, n + 1))
    times = np.linspace(0.001, 0.799, 101)
    states = [trace.at(t) for t in times]
    q = max(np.abs(turned_like(motion(s.time), s.q) - s.q).max() for s in states)
    return q, max(np.abs(s.v - velocity(s.time)).max() for s in states)


def turned_like(q, other):
    """The same coordinates with the signs of the other's quaternions."""
    q = q.copy()
    for k in (0, 7):
        q[k : k + 4] *= np.sign(q[k : k + 4] @ other[k : k + 4])
    return q


def test_order():
    """Halving the step divides the error of coordinates by 16 and that of velocities by 8, to within a quarter."""
    coarse, fine = errors(16), errors(32)
    assert coarse[0] < 1e-4
    assert coarse[0] / fine[0] > 12
    assert coarse[1] / fine[1] > 6


def test_velocities_are_the_derivatives():
    """Between samples, v is the rate of q: a step along v leads to the next q, on the manifold."""
    trace = sampled([0.0, 0.4, 1.0])
    h = DERIVATIVE_STEP
    for t in (0.1, 0.399, 0.5, 0.99):
        s = trace.at(t)
        rate = (s.difference(trace.at(t + h)) - s.difference(trace.at(t - h))) / (2 * h)
        assert np.abs(rate - s.v).max() < 1e-7  # the third derivative is in the hundreds: 1e-8 and rounding


def test_exact_at_samples():
    """At a sample's time, the state has the sample's bits; so have state(i) and final."""
    run = Run(counts=(30, 20))
    trace = run.trace
    for epoch, (_, columns, rows, _) in zip(trace.epochs, run.epochs, strict=True):
        for i in (0, 1, len(rows) - 2):
            s = trace.at(rows[i, 0]) if i or epoch.index else epoch.state(0)
            for found in (s, epoch.state(i), epoch.state(i - len(rows))):
                assert found.time == rows[i, 0]
                assert found.q.tobytes() == rows[i, columns.slice("q")].tobytes()
                assert found.v.tobytes() == rows[i, columns.slice("v")].tobytes()
    assert trace.final.q.tobytes() == run.epochs[-1][2][-1, columns.slice("q")].tobytes()
    assert trace.final.layout.mechanism_name == "gymnast"


def test_sides_of_an_event():
    """At an event's instant the state is that after it, or before it if asked for, of the structure of that side."""
    run = Run(counts=(10, 1, 10, 10))
    trace = run.trace
    event = run.epochs[0][2][-1, 0]
    assert trace.epochs[0].end == trace.epochs[1].start == trace.epochs[1].end == trace.epochs[2].start == event
    after, before = trace.at(event), trace.at(event, before=True)
    assert after.q.tobytes() == trace.epochs[2].q[0].tobytes()
    assert before.q.tobytes() == trace.epochs[0].q[-1].tobytes()
    assert len(trace.epochs[0].mechanism.virtual_links) == 2
    last = run.epochs[2][2][-1, 0]
    assert len(trace.at(last).q) == 19  # the forearm floats
    assert trace.at(last).mechanism is trace.epoch_at(last).mechanism
    assert len(trace.at(last, before=True).q) == 13


def test_several_samples_of_one_time():
    """Where an epoch has several samples of one time, the last counts, or the first if asked for the side before."""
    writer = TraceWriter()
    writer.begin({})
    m = vc.Mechanism()
    m.add_link("a", joint=vc.Revolute(), inertia=vc.Inertia.sphere(1.0, 0.1))
    writer.open_epoch(description(m), Columns([("time", 1), ("q", 1), ("v", 1)]))
    writer.append([[0, 0, 1], [1, 1, 1], [1, 1, -2], [2, -1, -2]])
    trace = writer.finish()
    assert (trace.at(1.0)["a"].v, trace.at(1.0, before=True)["a"].v) == (-2.0, 1.0)
    assert (trace.at(0.5)["a"].q, trace.at(1.5)["a"].q) == (0.5, 0.0)


def test_epochs_are_found_by_time():
    """At the instant of an event the epoch after it has the state, or the one before."""
    trace = Run(counts=(10, 10)).trace
    event = trace.epochs[0].end
    assert trace.epoch_at(event) is trace.epochs[1] and trace.epoch_at(event, before=True) is trace.epochs[0]
    assert trace.epoch_at(0.0) is trace.epochs[0] and trace.epoch_at(trace.epochs[1].end) is trace.epochs[1]


def test_refusals():
    """Times outside of a trace, in a hole between epochs, and traces without q and v have no state."""
    run = Run(counts=(10, 10))
    for t in (-1e-9, run.trace.time[-1] + 1e-9):
        with pytest.raises(InputError, match=r"the trace goes from 0 s to 0\.018 s; there is no state at"):
            run.trace.at(t)
    with pytest.raises(InputError, match="time must be"):
        run.trace.at(np.nan)
    with pytest.raises(InputError, match="epoch 0 has 10 samples; there is no sample 10"):
        run.trace.epochs[0].state(10)
    writer = TraceWriter()
    for ask in (lambda trace: trace.at(0.0), lambda trace: trace.final):
        with pytest.raises(InputError, match="the trace has no samples"):
            ask(writer.trace)
    writer.begin({})
    for start in (0.0, 5.0):
        writer.open_epoch(description(gymnast()), Columns([("time", 1), ("v", 11)]))
        writer.append(np.full((1, 12), start))
        writer.end_epoch()
    trace = writer.finish()
    with pytest.raises(InputError, match="no samples around 1 s: the epochs leave a gap"):
        trace.at(1.0)
    with pytest.raises(InputError, match="no states: the samples have no 'q', only time, v"):
        trace.at(5.0)
