"""Pendulum, four-bar linkage and chain."""

import numpy as np
import pytest
from scipy.special import ellipk

from lane import long_run, scaled
from scenario_checks import counts, place
from varichain.scenarios import chain, fourbar, pendulum, summary

CLOSE = 1e-6
"""Relative: steps of a tolerance of 1e-9 over some seconds."""


@long_run
def test_period_of_the_pendulum():
    """The period of the rod is that of the elliptic integral."""
    trace = pendulum(length=1.0, angle=1.0).run(until=4.0)
    t, q = trace.epochs[0].time, trace.joint("hinge").q
    up = np.flatnonzero((q[:-1] < 0.0) & (q[1:] >= 0.0))[0]
    down = np.flatnonzero((q[:-1] > 0.0) & (q[1:] <= 0.0))[0]
    crossing = [t[i] - q[i] * (t[i + 1] - t[i]) / (q[i + 1] - q[i]) for i in (down, up)]
    period = 4.0 * np.sqrt(2.0 / 3.0 / 9.81) * ellipk(np.sin(0.5) ** 2)
    assert 2.0 * (crossing[1] - crossing[0]) == pytest.approx(period, rel=1e-4)  # crossings by straight lines


def test_fourbar_counts():
    """A planar four-bar linkage has four joint freedoms and one degree of freedom."""
    scenario = fourbar()
    trace = scenario.run(until=scaled(0.2, 0.004), **scaled({}, {"method": "rk4", "step": 2e-3}))
    assert counts(summary(scenario, trace)) == [(4, 1)]


@long_run
def test_fourbar_turns():
    """The driven crank turns once a second, and the rocker comes back after each turn."""
    trace = fourbar(turns=1.0).run(until=3.0)
    crank, rocker = trace.joint("crank"), trace.joint("rocker")
    assert crank.q[-1] - crank.q[0] == pytest.approx(6.0 * np.pi, rel=CLOSE)
    assert rocker.q[[100, 200, 300]] == pytest.approx(rocker.q[0], abs=CLOSE)
    assert np.ptp(rocker.q) > 0.5


@long_run
def test_fourbar_let_go():
    """Not driven, the linkage keeps its energy."""
    scenario = fourbar(turns=0.0)
    energy = scenario.run(until=2.0).epochs[0]["energy"].sum(axis=1)
    assert np.ptp(energy) < CLOSE


def test_chain_counts():
    """Pinning the tip of n links adds three joint freedoms and takes three degrees of freedom."""
    scenario = chain(links=4, pinned=0.2, released=0.22)
    trace = scenario.run(until=0.24, method="rk4", step=1e-2)
    assert counts(summary(scenario, trace)) == [(12, 12), (15, 9), (12, 12)]


@long_run
def test_chain_is_held_by_its_tip():
    """As long as it is pinned the tip stays where it was caught, and the catch takes energy."""
    trace = chain().run()
    before, held, after = trace.epochs
    tip = place(before, -1, "tip")
    assert max(np.abs(place(held, i, "tip") - tip).max() for i in range(len(held))) < 1e-10
    assert before.event["energy_lost"] > 0.1
    assert held.event["energy_lost"] == 0.0
    assert np.abs(place(after, -1, "tip") - tip).max() > 0.1
