"""A chain of ten rods, pinned at one end, dropped from the horizontal [PFB].

The numbers were computed elsewhere: absolute angles, DOP853 with rtol 1e-13, confirmed by Pinocchio 4.1.0 to 6e-14.
"""

import numpy as np
import pytest

import varichain as vc
from lane import scaled
from motion import slender
from varichain.mechanism import Mechanism, Revolute

ANGLES = 1e-6
"""Suggested with the numbers, up to 0.8 s [rad]."""

# Time [s]: angles of the rods from the horizontal [rad].
SAMPLES = {
    0.05: (
        -0.14456991572,
        0.024757281427,
        -0.0036930117341,
        0.00037715821485,
        2.5022208517e-05,
        -3.2225136432e-05,
        1.3662494333e-05,
        -4.6114993111e-06,
        1.4241933325e-06,
        -5.0493986002e-07,
    ),
    0.2: (
        -0.77345354084,
        -0.66498975372,
        -0.49330973888,
        -0.2338280006,
        0.054595308885,
        0.012038497098,
        -0.011004015576,
        0.0043642257741,
        -0.0013786295304,
        0.00048168573793,
    ),
    0.4: (
        -1.2847293332,
        -1.2938549951,
        -1.2363394832,
        -1.2696775159,
        -1.2250349191,
        -1.1607090151,
        -1.1917622244,
        -0.98048104621,
        -0.63602685355,
        0.2639874325,
    ),
    0.6: (
        -2.0083824562,
        -1.91398619,
        -1.9363164017,
        -2.0658064355,
        -2.2799251599,
        -2.5288609199,
        -2.6321430986,
        -2.7591149535,
        -2.754368315,
        -2.8142389388,
    ),
    0.8: (
        -3.1809973302,
        -3.1201399788,
        -3.1712670323,
        -2.9713869555,
        -2.5430518296,
        -2.9221917032,
        -2.7945400861,
        -2.5454513443,
        -2.5810083442,
        -2.426090888,
    ),
}


def chain():
    """Ten rods of 0.1 m and 0.1 kg."""
    m, on, at = Mechanism("chain", gravity=(0, -9.81, 0)), "ground", (0, 0, 0)
    for i in range(10):
        m.add_link(f"rod {i}", on, Revolute("z"), at=at, inertia=slender(0.1, 0.1, com=(0.05, 0, 0)))
        on, at = f"rod {i}", (0.1, 0, 0)
    return m, m.state()


@pytest.mark.parametrize(("method", "tolerance"), [("rk45", 1e-9), ("gbs", 1e-9)])
def test_dropping_chain(method, tolerance):
    """Both adaptive methods follow the whip of the chain, which turns at 50 rad/s, with one tolerance for all of it."""
    m, s = chain()
    samples = {t: row for t, row in SAMPLES.items() if t <= scaled(0.8, 0.05)}
    trace = vc.simulate(m, s, max(samples), method=method, tolerance=scaled(tolerance, 1e-7), step=0.05)
    for t, row in samples.items():
        assert np.abs(np.cumsum(trace.at(t).q) - row).max() < ANGLES, t
