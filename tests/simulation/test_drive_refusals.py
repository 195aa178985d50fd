"""Motions that cannot be driven are refused before the run, and the message says what to do."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PPoly

import varichain as vc
from lane import long_run
from moving import rods, started

RAMP = PPoly(np.array([[0.5], [0.0]]), np.array([0.0, 1.0]))  # 0.5 rad/s for a second


def test_a_motion_that_ends_at_speed_before_the_run_does_is_refused():
    """A joint cannot stop in no time: a motion that ends at speed before the run is an error that names the time."""
    m = rods(1)
    s = started(m, v={"0": 0.5})
    with pytest.raises(vc.InputError, match=r"joint '0' jumps by 0.5 rad/s or m/s at t = 1 s.*clamped"):
        vc.simulate(m, s, 2.0, motion=vc.Motion({"0": RAMP}), step=0.05)
    # as long as the run it is welcome, and if it is let go in time
    vc.simulate(m, s, 1.0, motion=vc.Motion({"0": RAMP}), step=0.05)


def test_a_motion_that_ends_at_rest_is_held_there():
    """A motion that ends at rest before the run does holds its joint there."""
    m = rods(1)
    motion = vc.Motion.sampled([0.0, 0.5, 1.0], {"0": [0.0, 0.2, 0.5]}, ends="clamped")
    trace = vc.simulate(m, m.state(), 1.5, motion=motion, step=0.05)
    assert trace.final.q[0] == 0.5
    assert trace.final.v[0] == 0.0


def test_a_motion_that_begins_at_speed_after_the_start_is_refused():
    """A joint that stands still until its motion begins at speed would have to jump."""
    m = rods(1)
    with pytest.raises(vc.InputError, match=r"jumps by 0.5 rad/s or m/s at t = 0.5 s"):
        vc.simulate(m, m.state(), 1.0, motion=vc.Motion({"0": RAMP}).shifted(0.5), step=0.05)


def test_a_motion_with_a_kink_is_refused():
    """A velocity that jumps on the way is refused, a position that jumps too."""
    m = rods(1)
    kink = PPoly(np.array([[0.5, -0.5], [0.0, 0.25]]), np.array([0.0, 0.5, 1.0]))
    with pytest.raises(vc.InputError, match=r"jumps by 1 rad/s or m/s at t = 0.5 s"):
        vc.simulate(m, started(m, v={"0": 0.5}), 0.8, motion=vc.Motion({"0": kink}), step=0.05)
    jump = PPoly(np.array([[0.5, 0.5], [0.0, 0.75]]), np.array([0.0, 0.5, 1.0]))
    with pytest.raises(vc.InputError, match=r"jumps by 0.5 rad or m at t = 0.5 s"):
        vc.simulate(m, started(m, v={"0": 0.5}), 0.8, motion=vc.Motion({"0": jump}), step=0.05)


@long_run
def test_a_repeating_motion_with_a_kink_is_refused():
    """A motion that repeats must do so smoothly, as soon as the run gets there."""
    m = rods(1)
    saw = PPoly(np.array([[1.0, -1.0], [0.0, 0.5]]), np.array([0.0, 0.5, 1.0]), extrapolate="periodic")
    with pytest.raises(vc.InputError, match=r"jumps by 2 rad/s or m/s at t = 0.5 s"):
        vc.simulate(m, started(m, v={"0": 1.0}), 3.0, motion=vc.Motion({"0": saw}), step=0.05)
    t = np.linspace(0, 2 * np.pi, 40)
    smooth = CubicSpline(t, np.append(np.sin(t[:-1]), 0.0), bc_type="periodic")
    motion = vc.Motion({"0": smooth}, repeat=True)
    s = m.state()
    motion.set_state(m, s)
    vc.simulate(m, s, 8.0, motion=motion, step=0.25)


@pytest.mark.parametrize(
    ("q", "v", "message"), [(0.1, 0.5, "0.1 rad or m away"), (0.0, 0.0, "0.5 rad/s or m/s slower")]
)
def test_a_start_beside_the_motion_is_refused(q, v, message):
    """A driven joint must start on its motion; nothing is moved in silence."""
    m = rods(1)
    with pytest.raises(vc.InputError, match=f"driven joint '0' is {message}.*motion.set_state"):
        vc.simulate(m, started(m, {"0": q}, {"0": v}), 1.0, motion=vc.Motion({"0": RAMP}))


def test_a_motion_of_a_joint_that_is_not_there_is_refused():
    """A driven joint must be in the mechanism at the start, and at the event that begins to drive it."""
    m = rods(1)
    with pytest.raises(vc.UnknownNameError, match=r"knee"):
        vc.simulate(m, m.state(), 1.0, motion=vc.Motion({"knee": 0.0}))
    with pytest.raises(vc.EventError, match=r"at t = 0.1 s, event t = 0.1 s: .*knee"):
        vc.simulate(m, m.state(), 1.0, events=[vc.at(0.1, vc.use(motion=vc.Motion({"knee": 0.0})))], step=0.05)


def test_a_motion_that_an_event_begins_elsewhere_is_refused_there():
    """A motion that an event begins must begin where the joint is."""
    m = rods(1)
    with pytest.raises(vc.EventError, match=r"at t = 0.1 s, event .*rad or m away from its motion"):
        vc.simulate(m, m.state(), 1.0, events=[vc.at(0.1, vc.use(motion=vc.Motion({"0": 1.0})))], step=0.05)


def test_a_motion_must_be_one():
    """What is no Motion is refused."""
    m = rods(1)
    with pytest.raises(vc.InputError, match=r"motion must be a vc.Motion"):
        vc.simulate(m, m.state(), 1.0, motion={"0": RAMP})
