"""Events that accumulate: what is defined, and what is an error with a name."""

import math

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from moving import G, height, rods, slider, started, stone


def bounce(restitution):
    """What a floor does to a stone of 2 kg."""
    return lambda m, s: vc.push("stone", impulse=(0, 0, -(1.0 + restitution) * 2.0 * s["stone"].v[5]))


def bouncing(restitution, until, **options):
    """A stone that is let go 1 m above a floor."""
    m, s = stone(1.0)
    floor = vc.when(height(), bounce(restitution), direction=-1, once=False, name="bounce")
    return vc.simulate(m, s, until, events=[floor], step=0.05, **options)


def test_a_ball_bounces_when_it_must():
    """The first bounces of a ball come at the times of the geometric series, to a nanosecond."""
    trace = bouncing(0.5, 2.9 * math.sqrt(2.0 / G))
    fall, e = math.sqrt(2.0 / G), 0.5
    expected = [fall * (1 + 2 * sum(e**k for k in range(1, n + 1))) for n in range(4)]
    found = [epoch.start for epoch in trace.epochs[1:5]]
    assert found == pytest.approx(expected, abs=5e-9)


def test_bounces_without_end_are_named():
    """Bounces that accumulate end in a ChatteringError at the accumulation point, with all before it in its trace."""
    fall = math.sqrt(2.0 / G)
    with pytest.raises(vc.ChatteringError, match=r"bounce") as caught:
        bouncing(0.5, 10.0)
    assert caught.value.time == pytest.approx(3.0 * fall, abs=1e-5)
    trace = caught.value.trace
    assert trace.outcome == "error"
    assert len(trace.epochs) > 15
    assert trace.final.q[6] == pytest.approx(0.0, abs=1e-8)
    assert min(epoch.q[:, 6].min() for epoch in trace.epochs) > -1e-8  # never through the floor


@long_run
def test_a_ball_that_is_caught_when_it_is_slow_rests():
    """A bounce that connects below a speed ends the accumulation: the ball rests on the floor."""

    def land(m, s):
        if abs(s["stone"].v[5]) < 1e-3:
            return vc.connect("stone", "ground", vc.Fixed(), name="rest")
        return bounce(0.5)(m, s)

    m, s = stone(1.0)
    trace = vc.simulate(m, s, 2.0, events=[vc.when(height(), land, direction=-1, once=False)], step=0.05)
    assert np.abs(trace.final.v).max() < 1e-12
    assert trace.final.q[6] == pytest.approx(0.0, abs=1e-8)


def test_a_stop_that_is_pushed_into_without_end_is_no_chattering():
    """A joint pressed against its stop stays there in one piece: one event, no more."""
    m = slider(limits=(-1.0, 0.0), gravity=(0, 0, G))
    trace = vc.simulate(m, m.state(), 1.0, step=0.05)
    assert np.abs(trace.final.q).max() == 0.0
    assert len(trace.log) == 0


def test_breaks_at_one_instant_follow_each_other():
    """A chain whose joints all bear too little comes apart at the first instant, joint by joint."""
    m = rods(4, breaks=vc.Breaks(force=5.0))
    trace = vc.simulate(m, m.state(), 0.1, step=0.05)
    assert [epoch.event["time"] for epoch in trace.epochs[:-1]] == [0.0] * (len(trace.epochs) - 1)
    assert trace.epochs[-1].mechanism.n_v > 4
    # the weight of a chain that falls loads no joint any more
    assert trace.epochs[-1]["momentum"][-1, 5] == pytest.approx(-4.0 * G * 0.1, abs=1e-9)


def test_too_many_changes_at_one_instant_are_named(monkeypatch):
    """More changes at one instant than there may be are a ChatteringError that names the last."""
    monkeypatch.setattr("varichain.simulation.simulation._MOST_CHANGES", 2)
    m = rods(4, breaks=vc.Breaks(moment=1e-3))
    s = started(m, {str(i): 0.4 for i in range(4)})
    torques = {str(i): 5.0 for i in range(4)}
    with pytest.raises(vc.ChatteringError, match=r"more than 2 changes at t = 0 s, the last by break"):
        vc.simulate(m, s, 1.0, controller=vc.Torques(torques))
