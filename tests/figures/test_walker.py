"""The compass walker: its equations of motion, its steps and its cycle are those of [GOSWAMI]."""

import math

import numpy as np
import pytest

import varichain as vc
from lane import long_run, scaled
from varichain.errors import DuplicateNameError, InputError
from varichain.figures import COMPASS_CYCLE, COMPASS_SLOPE, compass_start, compass_walker, ground
from varichain.mechanism import Mechanism, Revolute
from varichain.mechanism.check import check

STEP = scaled(1e-3, 2e-2)  # [s]
CYCLE = 2e-6  # the cycle is given to six digits; Runge-Kutta steps of 20 ms leave less than that
NORMAL = np.array([math.sin(COMPASS_SLOPE), 0.0, math.cos(COMPASS_SLOPE)])
STEPS = scaled(12, 2)
g = 9.81


def legs(s, standing):
    """Angles of the standing and the swinging leg, and their rates."""
    left, right = s["left leg"].q[2], s["left leg"].q[2] + s["hip"].q
    v_left, v_right = s["left leg"].v[2], s["left leg"].v[2] + s["hip"].v
    return (left, right, v_left, v_right) if standing == "left" else (right, left, v_right, v_left)


def standing_walker(step=COMPASS_CYCLE, **measures):
    """A walker at the beginning of a step, its left sole on the ground."""
    m = compass_walker(**measures)
    s = compass_start(m, step)
    m.connect("left sole", "ground", Revolute("y"), state=s, name="left stance")
    return m, s


def sole(m, s, side):
    """Place of a sole."""
    return vc.pose(m, s, *m.frame(f"{side} sole")).p


def swing_until_landing(m, s, standing, swinging):
    """Move until the swinging sole, ahead of the other, comes down to the slope; returns the time it took."""
    handle, tau, start = m.prepare(), np.zeros(m.n_v), sole(m, s, standing)
    assert vc.velocity(m, s, *m.frame(f"{standing} sole"))[3:] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)

    def height(q, v, dt):
        s.q[:], s.v[:] = q, v
        if dt > 0.0:
            handle.advance(s.q, s.v, tau, dt)
        ahead = sole(m, s, swinging) - start
        return ahead @ NORMAL if ahead[0] > 0.1 else 1.0

    time, q, v = 0.0, s.q.copy(), s.v.copy()
    while height(q, v, STEP) > 0.0:
        time, q, v = time + STEP, s.q.copy(), s.v.copy()
        assert time < 2.0
    low, high = 0.0, STEP
    for _ in range(45):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if height(q, v, middle) > 0.0 else (low, middle)
    height(q, v, high)
    return time + high


def land(m, s, standing, swinging):
    """The swinging sole lands and the other lifts off, at one instant."""
    landing = vc.connect(f"{swinging} sole", "ground", Revolute("y"), name=f"{swinging} stance")
    return vc.change(m, s, [vc.cut(f"{standing} stance"), landing])


def test_counts():
    """On one foot the walker has N_J = 5 and two degrees of freedom; in flight it has four."""
    m, s = standing_walker()
    found = vc.mobility(m, s, probe=False)
    assert (found.n_all, found.rank, found.n_independent) == (5, 3, 2)
    assert found.n_actuated == 0
    m.cut("left stance")
    assert vc.mobility(m, s, probe=False).n_independent == 4
    check(m)


def test_masses_and_lengths_are_those_of_the_paper():
    """m_H = 10 kg, m = 5 kg, a = b = 0.5 m."""
    m = compass_walker()
    assert [m.link(name).inertia.mass for name in ("hip mass", "left leg", "right leg")] == [10.0, 5.0, 5.0]
    assert m.link("left leg").inertia.com == pytest.approx([0.0, 0.0, -0.5])
    assert m.frame("right sole").at.p == pytest.approx([0.0, 0.0, -1.0])


@pytest.mark.parametrize("measures", [{}, {"hip_mass": 3.0, "leg_mass": 7.0, "below": 0.4, "above": 0.7}])
def test_accelerations_are_those_of_the_equations_of_motion(measures):
    """The accelerations of both legs are those of the double pendulum written out, for any masses and lengths."""
    given = {"hip_mass": 10.0, "leg_mass": 5.0, "below": 0.5, "above": 0.5} | measures
    m_H, mass, a, b = given.values()
    l = a + b  # the paper's letter
    rng = np.random.default_rng(2)
    for _ in range(5):
        stand, swing, v_stand, v_swing = step = rng.uniform(-0.6, 0.6, 4)
        m, s = standing_walker(step, **measures)
        between = stand - swing
        M = [
            [(m_H + mass) * l**2 + mass * a**2, -mass * l * b * math.cos(between)],
            [-mass * l * b * math.cos(between), mass * b**2],
        ]
        force = [
            mass * l * b * math.sin(between) * v_swing**2 + (m_H * l + mass * (a + l)) * g * math.sin(stand),
            -mass * l * b * math.sin(between) * v_stand**2 - mass * b * g * math.sin(swing),
        ]
        found = vc.forward_dynamics(m, s)
        accelerations = [found["left leg"][2], found["left leg"][2] + found["hip"][0]]
        assert accelerations == pytest.approx(np.linalg.solve(M, force), rel=1e-11)


def test_landing_is_that_of_the_paper():
    """The rates after a landing obey Q+ w+ = Q- w- of the paper: two angular momenta are kept."""
    m_H, mass, a, b, l = 10.0, 5.0, 0.5, 0.5, 1.0  # the paper's letters
    m, s = standing_walker((-0.32, 0.22, -1.9, 1.4))
    before = legs(s, "left")
    land(m, s, "left", "right")
    after = legs(s, "right")
    c = math.cos(before[0] - before[1])
    Q_minus = [[-mass * a * b, -mass * a * b + (m_H * l**2 + 2 * mass * a * l) * c], [0.0, -mass * a * b]]
    Q_plus = [
        [mass * b * (b - l * c), mass * l * (l - b * c) + mass * a**2 + m_H * l**2],
        [mass * b**2, -mass * b * l * c],
    ]
    # rates of the swinging leg, then of the standing one, as the paper has them
    expected = np.linalg.solve(Q_plus, Q_minus @ np.array([before[3], before[2]]))
    assert [after[3], after[2]] == pytest.approx(expected, rel=1e-11)
    assert (after[0], after[1]) == pytest.approx((before[1], before[0]), abs=1e-14)


def test_the_cycle_repeats_itself():
    """A step from the cycle ends at the cycle, with the other foot, and loses what the descent has given."""
    m, s = standing_walker()
    period = swing_until_landing(m, s, "left", "right")
    done = land(m, s, "left", "right")
    assert legs(s, "right") == pytest.approx(COMPASS_CYCLE, abs=CYCLE)
    assert period == pytest.approx(0.73435, abs=1e-5)
    stride = 2.0 * math.sin(0.5 * (COMPASS_CYCLE[0] - COMPASS_CYCLE[1]))
    assert done.energy_lost == pytest.approx(20.0 * g * stride * math.sin(COMPASS_SLOPE), rel=1e-4)


@long_run
def test_the_walker_settles_into_its_cycle():
    """Started with a swinging leg that is too slow, the walker comes back to its cycle by steps of cut and connect."""
    m, s = standing_walker(np.add(COMPASS_CYCLE, (0.0, 0.0, 0.0, 0.05)))
    standing, swinging = "left", "right"
    away = [np.abs(np.subtract(legs(s, standing), COMPASS_CYCLE)).max()]
    for _ in range(STEPS):
        swing_until_landing(m, s, standing, swinging)
        land(m, s, standing, swinging)
        standing, swinging = swinging, standing
        away.append(np.abs(np.subtract(legs(s, standing), COMPASS_CYCLE)).max())
    assert away[-1] < scaled(1e-3, 0.1) * away[0]  # two steps leave 8 %, twelve 0.02 %
    assert len(m.virtual_links) == 1
    assert len(m.log) == 1 + STEPS


def test_wrong_measures_are_refused():
    """Masses and lengths must be positive, a start has four numbers, and names must be free."""
    for argument in ("hip_mass", "leg_mass", "below", "above"):
        with pytest.raises(InputError, match=f"{argument} must be positive"):
            compass_walker(**{argument: 0.0})
    with pytest.raises(InputError, match="step must be 4 numbers"):
        compass_start(compass_walker(), (0.1, 0.2))
    m = Mechanism()
    m.add_frame("right sole", "ground")
    with pytest.raises(DuplicateNameError):
        compass_walker(mechanism=m)
    assert len(m) == 0


def test_the_walker_stands_on_its_floor():
    """On a floor with the cycle's slope both soles touch it at the beginning of a step."""
    m = compass_walker()
    link = ground(m, COMPASS_SLOPE)
    s = compass_start(m)
    floor = vc.pose(m, s, link)
    for side in ("left", "right"):
        assert (sole(m, s, side) - floor.p) @ floor.R[:, 2] == pytest.approx(0.0, abs=1e-6)
