"""Events at given times: when exactly they happen, and at the edges of a run."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from moving import G, bits, stone

STEP = 0.05  # rk4 is exact in free fall
ROUNDING = 1e-13  # [m, m/s]


def kick(time, impulse=1.0):
    """A push upward at a time."""
    return vc.at(time, vc.push("stone", impulse=(0, 0, impulse)), name="kick")


def velocity(trace, i=-1):
    """Vertical velocity at the end of an epoch."""
    return trace.epochs[i].v[-1, 5]


def test_an_event_happens_at_its_time_to_the_bit():
    """An event between two grid points happens at its very time, and the run goes on along the grid."""
    m, s = stone()
    trace = vc.simulate(m, s, 0.5, events=[kick(0.123)], step=STEP)
    first, second = trace.epochs
    assert first.end == second.start == 0.123
    assert first.event["names"] == ["kick"]
    assert velocity(trace, 0) == pytest.approx(-G * 0.123, abs=ROUNDING)
    assert second.v[0, 5] == pytest.approx(-G * 0.123 + 0.5, abs=ROUNDING)
    assert velocity(trace) == pytest.approx(-G * 0.5 + 0.5, abs=ROUNDING)
    assert np.allclose(second.time[1:], np.arange(3, 11) * STEP, rtol=0, atol=1e-15)


def test_neither_mechanism_nor_state_is_changed():
    """A run leaves the mechanism and the state that it began with as they were."""
    m, s = stone()
    before = s.q.copy(), s.v.copy(), s.time, m.revision
    vc.simulate(m, s, 0.2, events=[vc.at(0.1, vc.connect("stone", "ground", vc.Spherical()))], step=STEP)
    assert (s.q == before[0]).all() and (s.v == before[1]).all()
    assert (s.time, m.revision) == before[2:]
    assert not m.log


@pytest.mark.parametrize("start", [0.0, 2.5])
def test_an_event_at_the_start_happens_before_the_first_step(start):
    """An event at the time at which the run begins is the first thing that happens."""
    m, s = stone()
    s.time = start
    trace = vc.simulate(m, s, start + 0.1, events=[kick(start)], step=STEP)
    assert [len(epoch) for epoch in trace.epochs] == [1, 3]
    assert trace.epochs[1].start == start
    assert velocity(trace) == pytest.approx(0.5 - G * 0.1, abs=ROUNDING)


def test_an_event_before_the_start_is_refused():
    """An event in the past is an error that names both times."""
    m, s = stone()
    s.time = 2.0
    with pytest.raises(vc.InputError, match=r"t = 1.5 s, before the start at 2 s"):
        vc.simulate(m, s, 3.0, events=[kick(1.5)])


def test_an_event_at_the_end_happens():
    """An event at the very end of the run happens: the last epoch has one sample, behind it."""
    m, s = stone()
    trace = vc.simulate(m, s, 0.2, events=[kick(0.2)], step=STEP)
    assert [len(epoch) for epoch in trace.epochs] == [5, 1]
    assert trace.final.v[5] == pytest.approx(0.5 - G * 0.2, abs=ROUNDING)


def test_an_event_after_the_end_does_not_happen():
    """An event after the end of the run stays out of it, and happens when the run goes on."""
    m, s = stone()
    trace = vc.simulate(m, s, 0.2, events=[kick(0.3)], step=STEP)
    assert len(trace.epochs) == 1
    longer = vc.resume(trace, 0.4, events=[kick(0.3)])
    assert longer.final.v[5] == pytest.approx(0.5 - G * 0.4, abs=ROUNDING)


def test_two_events_closer_than_a_step_happen_one_after_the_other():
    """Two events within one step are two changes, each at its own time."""
    m, s = stone()
    trace = vc.simulate(m, s, 0.1, events=[kick(0.0123), kick(0.0124, -1.0)], step=STEP)
    assert [epoch.start for epoch in trace.epochs] == [0.0, 0.0123, 0.0124]
    height = 1.0 - G * 0.1**2 / 2 + 0.5 * 1e-4
    assert trace.final.q[6] == pytest.approx(height, abs=ROUNDING)


def test_events_within_a_nanosecond_are_one_change():
    """Events closer than 1e-9 s happen together."""
    m, s = stone()
    trace = vc.simulate(m, s, 0.1, events=[kick(0.05), kick(0.05 + 5e-10)], step=STEP)
    assert len(trace.epochs) == 2
    assert trace.epochs[0].event["names"] == ["kick", "kick"]
    assert trace.final.v[5] == pytest.approx(1.0 - G * 0.1, abs=1e-8)


def test_a_run_may_end_in_the_middle_of_a_step():
    """A run that ends between grid points ends exactly there, with a sample."""
    m, s = stone()
    trace = vc.simulate(m, s, 0.1234, step=STEP)
    assert list(trace.time) == pytest.approx([0.0, 0.05, 0.1, 0.1234], abs=1e-15)
    assert trace.time[-1] == 0.1234
    assert trace.final.q[6] == pytest.approx(1.0 - G * 0.1234**2 / 2, abs=ROUNDING)


def test_a_stop_ends_the_run_with_its_reason():
    """A stop ends the run at its event, before `until`, and the trace tells why."""
    m, s = stone()
    trace = vc.simulate(m, s, 1.0, events=[vc.at(0.3, vc.stop("far enough"))], step=STEP)
    assert (trace.outcome, trace.message, trace.time[-1]) == ("stopped", "far enough", 0.3)
    assert len(trace.epochs) == 1


def test_what_happens_together_with_a_stop_is_kept():
    """A change at the instant of a stop is in the trace: the last epoch has the one sample behind it."""
    m, s = stone()
    events = [vc.at(0.3, vc.connect("stone", "ground", vc.Fixed(), name="glue"), vc.stop())]
    trace = vc.simulate(m, s, 1.0, events=events, step=STEP)
    assert trace.outcome == "stopped"
    assert [len(epoch) for epoch in trace.epochs] == [7, 1]
    assert np.abs(trace.final.v).max() < ROUNDING
    assert "glue" in str(trace.epochs[-1].mechanism)


def test_a_function_decides_what_to_do():
    """A function as an action is asked at the event with mechanism and state; it may return several actions or none."""
    m, s = stone()
    seen = []

    def act(m, s):
        seen.append((s.time, s["stone"].v[5]))
        return None if s.time < 0.15 else [vc.push("stone", impulse=(0, 0, 2.0)), vc.stop("pushed")]

    trace = vc.simulate(m, s, 1.0, events=[vc.at(0.1, act), vc.at(0.2, act)], step=STEP)
    assert [time for time, _ in seen] == [0.1, 0.2]
    assert seen[1][1] == pytest.approx(-G * 0.2, abs=ROUNDING)
    assert trace.message == "pushed"
    assert trace.final.v[5] == pytest.approx(1.0 - G * 0.2, abs=ROUNDING)


def test_other_forces_are_used_from_an_event_on():
    """From the event on the given forces act, and after the next event none."""
    m, s = stone()
    lift = [vc.Force("stone", force=(0, 0, 2 * 2.0 * G))]
    events = [vc.at(0.1, vc.use(forces=lift)), vc.at(0.3, vc.use(forces=None))]
    trace = vc.simulate(m, s, 0.4, events=events, step=STEP)
    assert trace.epochs[1].v[-1, 5] == pytest.approx(G * 0.1, abs=ROUNDING)
    assert trace.final.v[5] == pytest.approx(0.0, abs=ROUNDING)


@long_run
def test_the_same_run_gives_the_same_bits():
    """Two runs of the same input agree in every bit."""
    m, s = stone()
    runs = [vc.simulate(m, s, 0.3, events=[kick(0.11)], method=method) for method in ("rk4", "rk4", "gbs", "gbs")]
    assert bits(runs[0]) == bits(runs[1])
    assert bits(runs[2]) == bits(runs[3])


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([vc.cut("stone")], "vc.at"),
        (7, "vc.at"),
        ([lambda m, s: 1.0], "vc.at"),
    ],
)
def test_what_is_no_event_is_refused(events, message):
    """Events must be made by at, when or when_force."""
    m, s = stone()
    with pytest.raises(vc.InputError, match=message):
        vc.simulate(m, s, 1.0, events=events)


@pytest.mark.parametrize(
    "make",
    [
        lambda: vc.at(float("nan"), vc.stop()),
        lambda: vc.at(1.0),
        lambda: vc.at(1.0, "cut"),
        lambda: vc.when(3.0, vc.stop()),
        lambda: vc.when(lambda m, s: 0.0, vc.stop(), direction=2),
        lambda: vc.when_force("knee", vc.stop()),
        lambda: vc.when_force("knee", vc.stop(), force=-1.0),
        lambda: vc.use(),
        lambda: vc.use(gravity=0.0),
        lambda: vc.at(1.0, vc.stop(), name=""),
    ],
)
def test_malformed_events_are_refused_when_they_are_made(make):
    """An event without time, action, threshold or sense is refused at once."""
    with pytest.raises(vc.InputError):
        make()
