"""Dry friction where a joint comes to rest for an instant while its loops move on: the dead points of linkages."""

import math
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import PPoly

import varichain as vc
from lane import compiled_only
from linkages import linkage, moving, off_books, rod, slider_crank, turned_to

FRICTION = 0.2  # [N] in the slider


def path_of_slider(first, last, crank=0.3, length=1.0):
    """Way of the slider while the crank turns from one angle to another [m]: back and forth at each half turn."""

    def place(angle):
        return crank * math.cos(angle) + math.sqrt(length**2 - (crank * math.sin(angle)) ** 2)

    ends = [k * math.pi for k in range(math.ceil(first / math.pi), math.floor(last / math.pi) + 1)]
    stops = [first, *ends, last]
    return sum(abs(place(b) - place(a)) for a, b in pairwise(stops))


@compiled_only
@pytest.mark.parametrize("method", ["rk4", "rk45", "gbs"])
@pytest.mark.parametrize("speed", [3.0, 10.0, 30.0])
def test_friction_takes_force_times_path(speed, method):
    """The energy that a slider-crank loses is the friction of its slider times the slider's way, dead points included.

    30 rad/s for 10 s are about 90 dead points. 1e-6 of the energy: what Runge-Kutta 4 leaves at 30 rad/s and 0.5 ms.
    """
    m = slider_crank(friction=FRICTION)
    s = moving(m, turned_to(m, 1.0), "crank", speed)
    step = 1e-2 if method != "rk4" else min(1e-3, 1e-2 / speed)
    trace = vc.simulate(m, s, 10.0, method=method, step=step, sample=0.1)
    epoch = trace.epochs[-1]
    energy = epoch.energy.sum(axis=1)
    end = epoch.state(len(epoch) - 1)
    lost = FRICTION * path_of_slider(1.0, end["crank"].q)
    assert lost > 0.5 or speed < 5.0
    assert energy[0] - energy[-1] == pytest.approx(lost, abs=1e-6 * energy[0] + 1e-6 * lost)
    assert -epoch.work[-1, 1] == pytest.approx(lost, abs=1e-6 * energy[0])


@compiled_only
@pytest.mark.parametrize("speed", [3.0, 10.0, 30.0])
def test_eulers_loss_is_force_times_path(speed):
    """Euler's steps are of order one: three turns lose force times path, and an error that halves with the step.

    Two runs are extrapolated to no step at all (Richardson): what then is left is within 1e-6 of the energy, as above.
    """
    m = slider_crank(friction=FRICTION)
    off = []
    for n in (200_000, 400_000):
        s = moving(m, turned_to(m, 1.0), "crank", speed)
        end = 6.0 * math.pi / speed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", vc.CoarseRunWarning)  # each run's error is what the test measures
            epoch = vc.simulate(m, s, end, method="euler", step=end / n, sample=end).epochs[-1]
        energy = epoch.energy.sum(axis=1)
        lost = FRICTION * path_of_slider(1.0, epoch.state(len(epoch) - 1)["crank"].q)
        assert -epoch.work[-1, 1] == pytest.approx(lost, rel=1e-5)
        off.append((energy[0] - energy[-1] - lost) / energy[0])
    assert off[0] / off[1] == pytest.approx(2.0, rel=0.002)
    assert abs(2.0 * off[1] - off[0]) < 1e-6


@compiled_only
@pytest.mark.parametrize("seed", range(12))
def test_random_linkages_pass_their_dead_points(seed):
    """No failure, and no energy that no account has: 1e-5 of what was turned over is the rk4's own error at 1 ms."""
    check_linkage(seed)


@pytest.mark.long
@compiled_only
@pytest.mark.parametrize("seed", range(12, 150))
def test_more_random_linkages(seed):
    """150 linkages in all."""
    check_linkage(seed)


def check_linkage(seed):
    """Run a random linkage with three methods."""
    m, s = linkage(seed)
    for method, step in (("gbs", 1e-2), ("rk4", 1e-3), ("rk45", 1e-2)):
        off, turned_over = off_books(vc.simulate(m.copy(), s.copy(), 2.0, method=method, step=step))
        assert off < 1e-5 * turned_over + 1e-8, method


@compiled_only
@pytest.mark.parametrize("is_smooth", [True, False])
def test_friction_does_not_stop_a_drive(is_smooth):
    """A driven crank starts from rest against friction in the rocker, and the drive's work is what friction takes."""
    m = vc.Mechanism("four-bar")
    m.gravity = (0, 0, 0)
    m.add_link("crank", "ground", vc.Revolute("y"), inertia=rod(0.3))
    m.add_link("coupler", "crank", vc.Revolute("y"), at=(0.3, 0, 0), inertia=rod(1.0))
    m.add_link("rocker", "ground", vc.Revolute("y", friction=1.0), at=(1.0, 0, 0), inertia=rod(0.8))
    m.connect("coupler", "rocker", vc.Revolute("y"), at=(1.0, 0, 0), at_other=(0.8, 0, 0), name="pin")
    s = m.state()
    s["crank"].q, s["coupler"].q, s["rocker"].q = -1.0, 0.2, -2.0
    s = vc.assemble(m, s, hold=["crank"]).state
    turned = [6.0, -15.0, 10.0, 0.0, 0.0, -1.0] if is_smooth else [0.5, 0.0, -1.0]  # or by 1 rad/s^2 at once
    motion = vc.Motion({"crank": PPoly(np.array(turned)[:, None], np.array([0.0, 1.0]))})
    trace = vc.simulate(m, s, 1.0, motion=motion, sample=0.01)
    epoch = trace.epochs[-1]
    rocker = np.array([epoch.state(i)["rocker"].q for i in range(len(epoch))])
    taken = np.abs(np.diff(rocker)).sum()
    assert taken > 0.03
    assert -epoch.work[-1, 1] == pytest.approx(taken, rel=1e-3)  # the samples of the way are 10 ms apart
    assert off_books(trace)[0] < 1e-6
