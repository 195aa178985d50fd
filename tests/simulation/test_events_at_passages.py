"""Events when a function of the state passes through zero: where they are found, and how often."""

import math

import numpy as np
import pytest
from scipy.special import ellipk

import varichain as vc
from lane import long_run
from moving import G, height, pendulum, started, stone

LOCATED = 1e-9  # [s], as promised
STEP = 0.05  # rk4 is exact in free fall


@pytest.mark.parametrize("method", ["rk4", "rk45", "gbs"])
def test_a_falling_body_passes_a_height_when_it_must(method):
    """The instant at which a stone has fallen 1 m is found to a nanosecond."""
    m, s = stone(1.0)
    trace = vc.simulate(m, s, 1.0, events=[vc.when(height(), vc.stop())], method=method, step=STEP)
    assert trace.outcome == "stopped"
    assert trace.time[-1] == pytest.approx(math.sqrt(2.0 / G), abs=LOCATED)
    assert abs(trace.final.q[6]) < 10 * LOCATED


def test_a_pendulum_passes_its_lowest_point_when_it_must():
    """A wide pendulum reaches the vertical after a quarter of its exact period."""
    m = pendulum()
    s = started(m, {"pivot": 1.5})
    events = [vc.when(lambda m, s: float(s["pivot"].q), vc.stop())]
    trace = vc.simulate(m, s, 1.0, events=events, method="gbs", tolerance=1e-12)
    quarter = math.sqrt(1.0 / G) * ellipk(math.sin(0.75) ** 2)
    assert trace.time[-1] == pytest.approx(quarter, abs=LOCATED)


@pytest.mark.parametrize(("direction", "times"), [(0, (1, 3)), (1, (3,)), (-1, (1,))])
def test_direction_chooses_passages(direction, times):
    """Of a thrown stone's two passages of a height, upward, downward or both count."""
    m, s = stone(0.0)
    speed = G * 0.2
    s["stone"].v = (0, 0, 0, 0, 0, speed)
    level = speed * 0.1 - G * 0.1**2 / 2  # passed at 0.1 s upward and at 0.3 s downward
    seen = []
    condition = lambda m, s: level - vc.pose(m, s, "stone").p[2]  # noqa: E731  rises when the stone falls
    note = lambda m, s: seen.append(s.time)  # noqa: E731
    vc.simulate(m, s, 0.5, events=[vc.when(condition, note, direction=direction, once=False)], step=0.04)
    assert seen == pytest.approx([0.1 * i for i in times], abs=LOCATED)


@long_run
def test_once_is_once():
    """An event that happens once happens at the first passage alone, another at all of them."""
    m = pendulum()
    s = started(m, {"pivot": 0.1})
    seen = {True: [], False: []}
    events = [
        vc.when(lambda m, s: float(s["pivot"].q), lambda m, s, once=once: seen[once].append(s.time), once=once)
        for once in seen
    ]
    vc.simulate(m, s, 3.0, events=events, method="gbs", tolerance=1e-12, step=0.1)
    half = 2.0 * math.sqrt(1.0 / G) * ellipk(math.sin(0.05) ** 2)
    assert seen[True] == pytest.approx([half / 2], abs=LOCATED)
    assert seen[False] == pytest.approx([half / 2, 3 * half / 2, 5 * half / 2], abs=LOCATED)


def test_a_start_at_zero_is_no_passage():
    """A condition that is zero at the start counts from there: the first return is the first passage."""
    m, s = stone(0.0)
    s["stone"].v = (0, 0, 0, 0, 0, 1.0)
    trace = vc.simulate(m, s, 1.0, events=[vc.when(height(), vc.stop())], step=STEP)
    assert trace.time[-1] == pytest.approx(2.0 / G, abs=LOCATED)


def test_truth_values_are_conditions():
    """A condition may be true or false; it happens at the instant at which that changes."""
    m, s = stone(1.0)
    trace = vc.simulate(m, s, 1.0, events=[vc.when(lambda m, s: s.q[6] < 0.5, vc.stop())], step=STEP)
    assert trace.time[-1] == pytest.approx(math.sqrt(1.0 / G), abs=LOCATED)


def test_a_passage_at_the_end_counts():
    """A condition that becomes true in the last step of a run is found."""
    m, s = stone(1.0)
    fall = math.sqrt(2.0 / G)
    trace = vc.simulate(m, s, fall + 1e-7, events=[vc.when(height(), vc.stop("down"))], step=STEP)
    assert trace.message == "down"
    assert trace.time[-1] == pytest.approx(fall, abs=LOCATED)


def test_a_passage_is_found_late_in_time():
    """Events are located as well as time itself is resolved after eleven days."""
    m, s = stone(1.0)
    s.time = 1e6
    trace = vc.simulate(m, s, 1e6 + 1.0, events=[vc.when(height(), vc.stop())], step=STEP)
    assert trace.time[-1] - 1e6 == pytest.approx(math.sqrt(2.0 / G), abs=LOCATED)


def test_what_jumps_over_zero_has_passed_it():
    """A condition that another event makes jump over zero happens at the same instant."""
    m, s = stone(1.0)
    seen = []
    events = [
        vc.at(0.1, vc.push("stone", impulse=(0, 0, 10.0)), name="kick"),
        vc.when(lambda m, s: s["stone"].v[5], lambda m, s: seen.append(s.time), direction=1, name="rises"),
    ]
    s["stone"].v = (0, 0, 0, 0, 0, -1.0)
    trace = vc.simulate(m, s, 0.2, events=events, step=STEP)
    assert seen == [0.1]
    assert [epoch.event["names"] for epoch in trace.epochs[:-1]] == [["kick"], ["rises"]]


def test_passages_of_two_conditions_within_a_step_come_in_order():
    """Two conditions that pass zero within one step are two changes in the order of time."""
    m, s = stone(1.0)
    events = [
        vc.when(lambda m, s: s.q[6] - 0.5, vc.push("stone", impulse=(1.0, 0, 0)), name="second"),
        vc.when(lambda m, s: s.q[6] - 0.6, vc.push("stone", impulse=(0, 1.0, 0)), name="first"),
    ]
    trace = vc.simulate(m, s, 0.6, events=events, step=0.3)
    assert [epoch.event["names"] for epoch in trace.epochs[:-1]] == [["first"], ["second"]]
    starts = [epoch.start for epoch in trace.epochs[1:]]
    assert starts == pytest.approx([math.sqrt(2 * fallen / G) for fallen in (0.4, 0.5)], abs=LOCATED)


@long_run
def test_a_catch_in_flight():
    """A stone that is caught by a hinge on its way stays a pendulum: connected where it was, with its impact."""
    m, s = stone(1.0)
    s["stone"].v = (0, 0, 0, 1.0, 0, 0)
    caught = vc.connect("stone", "ground", vc.Revolute("y"), at=(0, 0, 0.5), name="catch")
    trace = vc.simulate(m, s, 0.6, events=[vc.when(lambda m, s: s.q[6] - 0.5, caught)], step=0.01)
    first, second = trace.epochs
    t = math.sqrt(1.0 / G)
    assert first.end == pytest.approx(t, abs=LOCATED)
    assert first.q[-1, 4:] == pytest.approx([t, 0, 0.5], abs=10 * LOCATED)
    # about the hinge half a metre above: m l (horizontal speed) = (m l^2 + I) w
    inertia = 2.0 * 0.25 + 0.4 * 2.0 * 0.01
    assert abs(second.v[0, 1]) == pytest.approx(2.0 * 0.5 / inertia, abs=1e-8)
    assert np.abs(second.closure).max() < 1e-12
