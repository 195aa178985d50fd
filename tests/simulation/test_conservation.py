"""Energy, momentum and closure over long runs of the Runge-Kutta method of order four."""

import numpy as np
import pytest

import varichain as vc
from closed_zoo import bar, closed, hinge
from lane import scaled
from movers import four_bar, pendulum
from varichain.mechanism import Mechanism

DRIFT = 1e-9
"""Energy over 10 s with steps of 1 ms, relative to the largest kinetic energy."""

N_STEPS = scaled(1_000_000, 50)

ROUNDING = 5e-12
"""Trend of energy and momentum over all steps, relative to the largest. Roundings of a million steps, some 1e-15 each,
that are as often up as down come to 1e-12 (8e-13 was measured); if all went one way they would come to 1e-9."""


@pytest.mark.parametrize("make", [pendulum, four_bar], ids=lambda make: make.__name__)
def test_energy_over_ten_seconds(make):
    """With steps of 1 ms the energy stays within 1e-9 for 10 s."""
    m, s = make(rate=0.5)
    epoch = vc.simulate(m, s, scaled(10.0, 0.02), step=1e-3, sample=0.01).epochs[0]
    assert np.ptp(epoch.energy.sum(axis=1)) < DRIFT * epoch.energy[:, 0].max()


def floating_four_bar():
    """A crank-rocker in flight without gravity, all of it turning; it has no singular configuration."""
    m = Mechanism("floating four-bar", gravity=(0, 0, 0))
    m.add_link("base", parent=None, inertia=bar(1.2, 2.0))
    m.add_link("crank", "base", hinge("crank"), inertia=bar(0.5))
    m.add_link("coupler", "crank", hinge("knee"), at=(0.5, 0, 0), inertia=bar(1.1))
    m.add_link("rocker", "base", hinge("rocker"), at=(1.2, 0, 0), inertia=bar(0.9))
    m.connect("coupler", "rocker", hinge("pin"), at=(1.1, 0, 0), at_other=(0.9, 0, 0))
    m, s = closed(m, hold=["base", "crank"], crank=-1.0, knee=0.7, rocker=-1.7)
    s.v[:6] = (0.3, 0.5, -0.2, 0.1, 0.0, -0.1)
    s["crank"].v = 0.8
    return m, vc.project(m, s)


def trend(values, times):
    """What a straight line through samples (n, k) gains from the first to the last, largest of all columns."""
    slope = np.polyfit(times - times[0], values - values[0], 1)[0]
    return np.abs(slope).max() * (times[-1] - times[0])


@pytest.mark.long
def test_no_trend_over_a_million_steps():
    """After a million steps energy, momentum and closure are where they were, but for rounding.

    The method itself loses energy, at a rate of order h^5: the steps are so short, 0.2 ms at some 1 rad/s, that this is
    far below rounding, and what is seen is that rounding and the closing of the loops have no bias.
    """
    m, s = floating_four_bar()
    step = 2e-4
    epoch = vc.simulate(m, s, N_STEPS * step, step=step, sample=step * (N_STEPS // 50)).epochs[0]
    assert len(epoch) == 51
    size = epoch.energy[0, 0]
    assert trend(epoch.energy[:, :1], epoch.time) < ROUNDING * size
    assert trend(epoch.momentum, epoch.time) < ROUNDING * np.abs(epoch.momentum).max()
    assert np.ptp(epoch.energy[:, 0]) < 2 * ROUNDING * size
    assert epoch.closure.max() < 1e-12
    assert trend(epoch.closure[:, None], epoch.time) < 1e-13


def test_trend_has_the_order_of_the_method():
    """Where steps are long the energy falls steadily, with half the step 32 times less: order h^5 in a given time."""
    lost = []
    for step in (0.04, 0.02):
        m, s = pendulum(angle=0.0, rate=0.0)
        epoch = vc.simulate(m, s, scaled(100.0, 4.0), method="rk4", step=step, sample=1.0).epochs[0]
        energy = epoch.energy.sum(axis=1)
        lost.append(-trend(energy[:, None], epoch.time))
    assert np.log2(lost[0] / lost[1]) == pytest.approx(5, abs=0.3)
