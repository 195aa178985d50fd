"""Sensitivity of whole runs through events, impacts, and cycles of the compass walker [GOSWAMI]."""

import math
from dataclasses import replace

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from derivatives import differences
from derivatives.runs import compare
from lane import long_run, scaled
from measure import deviation
from varichain.figures import COMPASS_CYCLE, COMPASS_SLOPE, compass_start, compass_walker

# Central differences of order four with the best step.
DIFFERENCED = 1e-8


@pytest.mark.parametrize("name", scaled(["stewart", "bar figure", "ladder of 6", "loop closed by screw"], ["four-bar"]))
def test_impacts(name):
    """Velocities after an impact change with positions, re-closed, and velocities as differences do."""
    rng = np.random.default_rng(0)
    m, s = closed_zoo.MECHANISMS[name]()
    s = s.copy()
    s.v = rng.normal(size=m.n_v)
    found = vc.impact_derivatives(m, s)
    columns = differences.independent_columns(m, found.independent)

    def after(state):
        end = state.copy()
        end.v = s.v
        return vc.project(m, end).v

    assert deviation(found.v, after(s)) < 1e-9
    assert deviation(found.by_q, differences.by_q(after, m, s, columns, found.W)) < DIFFERENCED * 10
    P = np.asarray(found.by_v)
    assert deviation(P @ P, P) < 1e-9 and deviation(P @ s.v, found.v) < 1e-9
    assert "impact" in repr(found)


def test_impacts_of_open_loops_are_refused():
    """Positions must be closed."""
    m, s = closed_zoo.four_bar()
    s.q = s.q + 0.1
    with pytest.raises(vc.AssemblyError):
        vc.impact_derivatives(m, s)


# --- whole runs ------------------------------------------------------------------------------------------------------


@long_run
def test_the_high_bars_release():
    """One hand lets go at a time, the other at a place: through both cuts the changes are those of runs."""
    m, s = closed_zoo.bar_figure()
    s = s.copy()
    s.v = 0.5 * np.random.default_rng(3).normal(size=m.n_v)
    s = vc.project(m, s)
    events = [
        vc.at(0.02, vc.cut("right grip")),
        vc.when(lambda m, s: vc.pose(m, s, "torso").p[0] + 0.006, vc.cut("left grip")),
    ]
    found = compare(m, s, 0.06, events, few=[7], limits="off")
    assert len(found.events) == 2 and not found.mechanism.virtual_links


def test_grazed_conditions_are_refused():
    """Where the rate of a condition is zero there is no first derivative."""
    m = vc.Mechanism("bob", gravity=(0, 0, 0))
    m.add_link("bob", joint=vc.Prismatic("x", name="slide"), inertia=vc.Inertia.sphere(1.0, 0.1))
    s = m.state()
    s["slide"].v = 1.0
    cubic = vc.when(lambda m, s: (s["slide"].q - 0.0123) ** 3, vc.push("bob", (1, 0, 0)))
    with pytest.raises(vc.InputError, match="grazed"):
        vc.sensitivity(m, s, 0.05, [cubic])
    with pytest.raises(vc.InputError, match="Stop"):
        vc.sensitivity(m, s, 0.05, [vc.at(0.01, vc.stop())])


# --- cycles ----------------------------------------------------------------------------------------------------------


def gait(slope):
    """Start, end and numbers of a step of the compass walker on a slope [rad]."""
    normal = np.array([math.sin(slope), 0.0, math.cos(slope)])

    def start(x):
        m = compass_walker()
        s = compass_start(m, x)
        m.connect("left sole", "ground", vc.Revolute("y"), state=s, name="left stance")
        return m, s

    def height(m, s):
        ahead = vc.pose(m, s, "right sole").p - vc.pose(m, s, "left sole").p
        return max(float(ahead @ normal), 0.1 - float(ahead[0]))

    def legs(m, s):
        left, right = s["left leg"].q[2], s["left leg"].q[2] + s["hip"].q
        v_left, v_right = s["left leg"].v[2], s["left leg"].v[2] + s["hip"].v
        return np.array([right, left, v_right, v_left])

    landing = vc.connect("right sole", "ground", vc.Revolute("y"), name="right stance")
    return start, vc.when(height, vc.cut("left stance"), landing, direction=-1), legs


@long_run
def test_the_cycle_of_the_compass_walker():
    """From a rough start the cycle is found to 1e-10, and its multipliers are those of differences of the step map."""
    found = vc.periodic(*gait(COMPASS_SLOPE), (0.2, -0.3, -1.0, -0.3), step=5e-3)
    assert found.residual < 1e-10 and found.x == pytest.approx(COMPASS_CYCLE, abs=2e-6)
    assert found.is_stable and "stable cycle" in repr(found)
    start, until, legs = gait(COMPASS_SLOPE)

    ended = replace(until, actions=(*until.actions, vc.stop()))

    def step(x):
        return legs(None, vc.simulate(*start(x), 10.0, events=[ended], step=5e-3, method="rk4").final)

    assert step(found.x) == pytest.approx(found.x, abs=1e-9)
    jacobian = differences.by_vector(step, found.x, 1e-4)
    expected = np.linalg.eigvals(jacobian)
    assert np.abs(np.sort_complex(found.multipliers) - np.sort_complex(expected)).max() < 1e-6


@pytest.mark.long
def test_stability_is_lost_by_period_doubling():
    """The walker's cycle is stable at 4.2 degrees and not at 4.6; between, a multiplier passes through -1 [GOSWAMI]."""
    x, largest = COMPASS_CYCLE, {}
    for degrees in (3.0, 3.6, 4.2, 4.6):
        cycle = vc.periodic(*gait(math.radians(degrees)), x, step=5e-3)
        x, largest[degrees] = cycle.x, cycle.multipliers[0]
    assert abs(largest[3.0]) < 1.0 and abs(largest[4.2]) < 1.0
    assert abs(largest[4.6].imag) < 1e-9 and largest[4.6].real < -1.0


def two_strides(slope):
    """Start, end, numbers and the event between of two steps of the walker."""
    start, first, _ = gait(slope)
    normal = np.array([math.sin(slope), 0.0, math.cos(slope)])

    def height(m, s):
        if "right stance" not in [link.joint.name for link in m.virtual_links]:
            return 1.0
        ahead = vc.pose(m, s, "left sole").p - vc.pose(m, s, "right sole").p
        return max(float(ahead @ normal), 0.1 - float(ahead[0]))

    def legs(m, s):
        left, right = s["left leg"].q[2], s["left leg"].q[2] + s["hip"].q
        v_left, v_right = s["left leg"].v[2], s["left leg"].v[2] + s["hip"].v
        return np.array([left, right, v_left, v_right])

    landing = vc.connect("left sole", "ground", vc.Revolute("y"), name="left stance")
    return start, vc.when(height, vc.cut("right stance"), landing, direction=-1), legs, first


@pytest.mark.long
@long_run
def test_the_doubled_period_is_found():
    """A multiplier is -1 at 4.4 degrees; beyond, one stride is unstable, and two strides repeat themselves, stable."""
    x, largest = COMPASS_CYCLE, {}
    for degrees in (3.6, 4.2, 4.3, 4.5, 4.6):
        cycle = vc.periodic(*gait(math.radians(degrees)), x, step=5e-3)
        x, largest[degrees] = cycle.x, cycle.multipliers[0].real
    doubling = np.interp(1.0, [-largest[4.3], -largest[4.5]], [4.3, 4.5])
    assert 4.35 < doubling < 4.45
    values, vectors = np.linalg.eig(cycle.jacobian)
    away = vectors[:, np.argmax(np.abs(values))].real
    start, until, legs, between = two_strides(math.radians(4.6))
    found = vc.periodic(start, until, legs, cycle.x + 0.05 * away, events=[between], step=5e-3)
    assert found.residual < 1e-10 and found.is_stable and not cycle.is_stable
    assert np.abs(found.x - cycle.x).max() > 0.01  # strides are long and short by turns
    assert 1.9 * cycle.period < found.period < 2.1 * cycle.period


@long_run
def test_no_cycle_is_an_error():
    """Where a walker falls there is no cycle: an error says so."""
    with pytest.raises(vc.InputError, match="no cycle"):
        vc.periodic(*gait(COMPASS_SLOPE), (0.21, -0.32, -1.07, -0.36), step=5e-3, most=0)
