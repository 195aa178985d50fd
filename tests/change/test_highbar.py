"""Figure on the high bar: both hands, one, none, and a catch in flight; energy and momentum account for every jump."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from lane import scaled
from measure import deviation
from motion import Stepper, layout_mass, motion_of_A, speed, world
from varichain.mechanism import Revolute
from varichain.spatial.pose import Pose

STEP = scaled(1e-3, 2.5e-3)  # [s]
SPAN = scaled(0.06, 0.01)
"""[s] between changes."""

DRIFT = 1e-7
"""Energy and momentum over a span, relative: Runge-Kutta steps of order four at some 10 rad/s."""

EXACT = 1e-11
"""Accounts of one impact, relative to its energy or momentum."""


def swinging_figure():
    """The figure with both hands on the bar, in motion."""
    m, s = closed_zoo.bar_figure()
    s = closed_zoo.random_closed_state(np.random.default_rng(1), m, s, reach=0.02)
    return m, s


def counts(m, s):
    """Numbers of joint freedoms and of degrees of freedom."""
    found = vc.mobility(m, s, probe=False)
    return found.n_all, found.n_independent


def fly(m, s):
    """Move on for a span; total energy stays, and the momentum of a figure in flight is that of free fall."""
    before, h, mass = vc.energy(m, s), vc.momentum(m, s), layout_mass(m)
    Stepper(m, s).run(SPAN, STEP)
    after, h_after = vc.energy(m, s), vc.momentum(m, s)
    assert after.total == pytest.approx(before.total, abs=DRIFT * before.kinetic)
    if not m.virtual_links:
        size = mass * speed(m, s)
        assert deviation(h_after.linear, h.linear + mass * m.gravity * SPAN, size) < DRIFT
        assert deviation(h_after.angular, h.angular, size) < DRIFT
    assert all(loop.gap < 1e-10 for loop in vc.loop_states(m, s).values())


def grasp(m, s, side):
    """Connection of a hand to the bar, a hinge along y, where the hand is."""
    hand = vc.pose(m, s, f"{side} hand")
    at = Pose(closed_zoo.GRIP, R=hand.R.T)
    return vc.connect(f"{side} hand", "ground", Revolute("y"), at, name=f"{side} grip")


def test_release_fly_and_grasp_again():
    """N_J goes 24, 23, 22, 23 and N_F 12, 17, 22, 17; nothing jumps at a release, and a grasp's account is right."""
    m, s = swinging_figure()
    assert counts(m, s) == (24, 12)
    fly(m, s)
    for grip, expected in (("right grip", (23, 17)), ("left grip", (22, 22))):
        poses, V = world(m, s)
        done = vc.change(m, s, [vc.cut(grip)])
        assert done.energy_lost == 0.0
        assert deviation(world(m, s)[0], poses) == 0.0
        assert deviation(world(m, s)[1], V) == 0.0
        assert counts(m, s) == expected
        fly(m, s)
    check_catch(m, s, grasp(m, s, "right"))
    assert counts(m, s) == (23, 17)
    fly(m, s)


def check_catch(m, s, catch):
    """Energy lost is half the impulse times the relative velocity; the momentum gained is the impulse."""
    relative, X = motion_of_A(m, s, catch.a, catch.b, catch.at)
    before, h, poses = vc.energy(m, s).kinetic, vc.momentum(m, s, X.p), world(m, s)[0]
    done = vc.change(m, s, [catch])
    after, h_after = vc.energy(m, s).kinetic, vc.momentum(m, s, X.p)
    impulse = done.impact.impulses[catch.name]
    assert np.array_equal(world(m, s)[0], poses)
    assert done.energy_lost == pytest.approx(before - after, abs=EXACT * before)
    assert done.energy_lost == pytest.approx(-relative @ impulse / 2, abs=EXACT * before)
    assert done.energy_lost > 1e-3 * before
    size = layout_mass(m) * speed(m, s)
    assert deviation(h_after.linear - h.linear, impulse[3:], size) < EXACT
    assert deviation(h_after.angular - h.angular, impulse[:3], size) < EXACT
    moment_about_bar = impulse[:3] @ X.R[:, 1]
    assert abs(moment_about_bar) < EXACT * size  # a hinge transmits none
    left, _ = motion_of_A(m, s, catch.a, catch.b, catch.at)
    left[:3] -= X.R[:, 1] * (left[:3] @ X.R[:, 1])
    assert np.abs(left).max() < EXACT * speed(m, s)


def test_both_hands_at_once():
    """Both hands that grasp at once stop at once; the impulses of both account for energy and momentum."""
    m, s = swinging_figure()
    vc.change(m, s, [vc.cut("left grip"), vc.cut("right grip")])
    assert counts(m, s) == (22, 22)
    fly(m, s)
    catches = [grasp(m, s, side) for side in ("left", "right")]
    relative = {c.name: motion_of_A(m, s, c.a, c.b, c.at)[0] for c in catches}
    before = vc.momentum(m, s)
    done = vc.change(m, s, catches)
    work = sum(relative[name] @ done.impact.impulses[name] for name in relative)
    assert done.energy_lost == pytest.approx(-work / 2, abs=EXACT * done.impact.energy_before)
    gained = sum(done.impact.impulses[name][3:] for name in relative)
    assert deviation(vc.momentum(m, s).linear - before.linear, gained, layout_mass(m) * speed(m, s)) < EXACT
    assert counts(m, s) == (24, 12)
    fly(m, s)


def test_grasp_with_one_hand_on_the_bar():
    """A hand that joins the other on the bar: the first grip takes part of the blow and stays closed."""
    m, s = swinging_figure()
    vc.change(m, s, [vc.cut("right grip")])
    fly(m, s)
    catch = grasp(m, s, "right")
    relative, _ = motion_of_A(m, s, catch.a, catch.b, catch.at)
    done = vc.change(m, s, [catch])
    assert np.abs(done.impact.impulses["left grip"]).max() > 1e-3
    work = relative @ done.impact.impulses["right grip"]  # the first grip stopped nothing: it did no work
    assert done.energy_lost == pytest.approx(-work / 2, abs=1e-9 * done.impact.energy_before)
    assert counts(m, s) == (24, 12)
    fly(m, s)
