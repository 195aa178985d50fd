"""Events of loads: thresholds of forces, joints that give way, one-sided joints."""

import math

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from moving import G, pendulum, rods, slider, started

LOCATED = 1e-9  # [s]


SPIN = 0.4 * 0.05**2  # of a ball of 1 kg and 5 cm, which can fly off where a point cannot: [kg m^2]


def ball_pendulum(**joint):
    """A ball on a massless rod of 1 m."""
    m = pendulum(**joint)
    m.set_inertia("bob", vc.Inertia.sphere(1.0, 0.05, com=(0, 0, -1.0)))
    return m


def speed(angle, start):
    """Of the ball, let go at an angle."""
    return math.sqrt(2 * G * (math.cos(angle) - math.cos(start)) / (1 + SPIN))


def tension(angle, start):
    """Force in the rod: along it weight and centripetal force, across it what turns the ball."""
    along = G * math.cos(angle) + speed(angle, start) ** 2
    across = G * math.sin(angle) * (1 - 1 / (1 + SPIN))
    return math.hypot(along, across)


@long_run
def test_a_pendulum_breaks_its_rod_at_the_load_it_must():
    """A pendulum let go at 1.4 rad tears its pivot where the rod bears 20 N, and flies off with its velocity."""
    m = ball_pendulum()
    s = started(m, {"pivot": 1.4})
    events = [vc.when_force("pivot", vc.cut("pivot"), force=20.0)]
    trace = vc.simulate(m, s, 1.0, events=events, method="gbs", tolerance=1e-12, step=0.02)
    first, second = trace.epochs
    angle = float(first.q[-1, 0])
    assert tension(angle, 1.4) == pytest.approx(20.0, abs=1e-6)
    assert abs(first.v[-1, 0]) == pytest.approx(speed(angle, 1.4), abs=1e-9)
    assert np.linalg.norm(second["momentum"][0, 3:]) == pytest.approx(speed(angle, 1.4), abs=1e-9)
    dt = second.end - second.start
    fallen = second["momentum"][-1, 5] - second["momentum"][0, 5]
    assert fallen == pytest.approx(-G * dt, abs=1e-10)


def test_breaks_give_way_by_themselves():
    """The same load as a property of the joint breaks it at the same instant, without an event."""
    times = []
    for joint, events in (
        ({}, [vc.when_force("pivot", vc.cut("pivot"), force=20.0)]),
        ({"breaks": vc.Breaks(force=20.0)}, []),
    ):
        m = ball_pendulum(**joint)
        trace = vc.simulate(m, started(m, {"pivot": 1.4}), 1.0, events=events, step=0.01)
        assert len(trace.epochs) == 2
        times.append(trace.epochs[1].start)
    assert times[0] == pytest.approx(times[1], abs=2 * LOCATED)


def test_samples_are_kept_while_loads_are_watched():
    """A watched load costs no samples: every grid point is there."""
    m = ball_pendulum(breaks=vc.Breaks(force=1000.0))
    trace = vc.simulate(m, started(m, {"pivot": 1.0}), 0.2, step=0.01)
    assert trace.time == pytest.approx(np.arange(21) * 0.01, abs=1e-14)
    plain = ball_pendulum()
    assert vc.simulate(plain, started(plain, {"pivot": 1.0}), 0.2, step=0.01).final.q == trace.final.q


def test_a_growing_load_breaks_the_weakest_link_of_a_rope():
    """A rope of three links that is pulled ever harder breaks at the joint that bears least, when the load says so."""
    m = vc.Mechanism("rope", gravity=(0, 0, 0))
    link = vc.Inertia.sphere(1e-3, 0.1, com=(0, 0, -0.15))
    for i, bears in enumerate((50.0, 30.0, 40.0)):
        joint = vc.Spherical(name=f"knot {i}", breaks=vc.Breaks(force=bears))
        at = (0, 0, 0) if i == 0 else (0, 0, -0.3)
        m.add_link(f"{i}", "ground" if i == 0 else f"{i - 1}", joint, at=at, inertia=link)
    pull = lambda m, s: vc.Force("2", force=(0, 0, -100.0 * s.time), at=(0, 0, -0.3))  # noqa: E731
    trace = vc.simulate(m, m.state(), 0.5, forces=pull, step=0.01)
    assert trace.epochs[0].event["names"] == ["break"]
    assert trace.epochs[0].event["actions"] == ["cut 'knot 1'"]
    assert trace.epochs[1].start == pytest.approx(0.3, abs=0.01 + LOCATED)  # forces are asked every 0.01 s


def test_a_load_beyond_its_threshold_at_the_start_counts_at_once():
    """A joint that is overloaded at the start gives way before the first step."""
    m = slider(limits=(0.0, 1.0))
    events = [vc.when_force("rail", vc.stop("too heavy"), force=5.0)]
    trace = vc.simulate(m, m.state(), 1.0, events=events)
    assert (trace.message, trace.time[-1]) == ("too heavy", 0.0)


def test_the_force_in_a_loop_is_watched():
    """A figure on a bar lets go by force: the joint of a loop is cut when its load passes the threshold."""
    m = rods(1)
    s = started(m, {"0": 0.0})
    m.connect("rod 0", "ground", vc.Spherical(), at=(0, 0, -1.0), state=s, name="hook")
    # the hook bears what is pushed sideways at the end of the rod
    push = lambda m, s: vc.Force("rod 0", force=(40.0 * s.time, 0, 0), at=(0, 0, -1.0))  # noqa: E731
    events = [vc.when_force("hook", vc.cut("hook"), force=4.0, name="torn")]
    trace = vc.simulate(m, s, 0.11, events=events, forces=push, step=0.01, control_step=0.001)
    assert trace.epochs[0].event["names"] == ["torn"]
    assert trace.epochs[1].start == pytest.approx(0.1, abs=1e-3 + LOCATED)
    assert np.linalg.norm(trace.epochs[0].loop("hook")[-1, 3:]) == pytest.approx(4.0, abs=0.05)


def test_a_threshold_of_the_moment():
    """A clamped rod that is loaded sideways is released when the moment in its clamp passes the threshold."""
    m = vc.Mechanism("clamp", gravity=(0, 0, 0))
    m.add_link("rod", joint=vc.Fixed(name="clamp"), inertia=vc.Inertia.sphere(1.0, 0.1, com=(1, 0, 0)))
    pull = lambda m, s: vc.Force("rod", force=(0, 0, 10.0 * s.time), at=(1, 0, 0))  # noqa: E731
    events = [vc.when_force("clamp", vc.cut("clamp"), moment=2.0)]
    trace = vc.simulate(m, m.state(), 0.4, events=events, forces=pull, step=0.01)
    assert trace.epochs[1].start == pytest.approx(0.2, abs=0.01 + LOCATED)


def test_a_load_that_comes_again():
    """An event that may come again happens whenever the load rises above its threshold anew."""
    m = ball_pendulum()
    s = started(m, {"pivot": 0.5})
    seen = []
    events = [vc.when_force("pivot", lambda m, s: seen.append(s.time), force=1.05 * G, once=False)]
    trace = vc.simulate(m, s, 2.0, events=events, step=0.01)
    assert len(seen) == 2  # each half swing once
    at = [tension(float(trace.at(t).q[0]), 0.5) for t in seen]
    assert at == pytest.approx([1.05 * G] * 2, abs=1e-5)


def test_a_foot_that_cannot_pull_lets_go():
    """A ball on a one-sided joint stays as long as it presses, and flies off when a force lifts it."""
    m = vc.Mechanism("foot")
    m.add_link("foot", parent=None, inertia=vc.Inertia.sphere(1.0, 0.1))
    s = m.state()
    sole = vc.Spherical(breaks=vc.Breaks(one_sided="z"))
    m.connect("foot", "ground", sole, state=s, name="sole")
    lift = lambda m, s: vc.Force("foot", force=(0, 0, 50.0 * s.time))  # noqa: E731
    trace = vc.simulate(m, s, 0.4, forces=lift, step=0.01)
    gone = G / 50.0
    assert trace.epochs[1].start == pytest.approx(gone, abs=0.01 + LOCATED)
    assert trace.final.v[5] > 0.0
    assert np.abs(trace.epochs[0].v).max() < 1e-12


def test_a_named_joint_that_is_not_there_carries_nothing():
    """A threshold on a joint that appears later waits for it."""
    m, s = ball_pendulum(), None
    s = started(m, {"pivot": 0.3})
    events = [
        vc.when_force("latch", vc.cut("latch"), force=1.0, name="tear"),
        vc.at(0.1, vc.connect("bob", "ground", vc.Spherical(), at=(0, 0, -1.0), name="latch")),
    ]
    trace = vc.simulate(m, s, 0.3, events=events, step=0.01)
    assert [epoch.event["names"] for epoch in trace.epochs[:-1]] == [["t = 0.1 s"], ["tear"]]
