"""Soft limits: springs and dampers beyond the limit that push back and never pull."""

import math

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from moving import G, account, slider, started

STIFFNESS = 4000.0
SMOOTH = 1e-4  # a spring that sets in within a step of 1 ms costs accuracy


@long_run
def test_a_soft_stop_carries_a_weight_where_its_spring_must():
    """A block that rests on a soft stop is beyond it by its weight over the stiffness."""
    m = slider(limits=(0.0, 1.0))
    trace = vc.simulate(m, m.state(), 2.0, limits=vc.SoftLimits(STIFFNESS, 100.0))
    assert trace.final.q[0] == pytest.approx(-G / STIFFNESS, abs=1e-9)
    assert len(trace.log) == 0


def test_an_undamped_soft_stop_returns_a_block_with_its_speed():
    """A block runs into a spring, as deep as its energy drives it, and back with the speed that it came with."""
    m = slider(gravity=(0, 0, 0), limits=(-1.0, 1.0))
    s = started(m, {"rail": 0.9}, {"rail": 2.0})
    trace = vc.simulate(m, s, 0.2, limits=vc.SoftLimits(STIFFNESS, 0.0))
    assert trace.joint("rail").q.max() == pytest.approx(1.0 + 2.0 / math.sqrt(STIFFNESS), abs=SMOOTH)
    assert trace.final.v[0] == pytest.approx(-2.0, abs=SMOOTH)
    assert np.abs(account(trace)).max() < SMOOTH
    assert trace.epochs[0]["work"][-1, 4] == pytest.approx(0.0, abs=SMOOTH)  # the stop gave back what it took


def test_a_soft_stop_does_not_pull():
    """However strong its damper, a soft stop never draws a joint back that leaves it."""
    m = slider(gravity=(0, 0, 0), limits=(-1.0, 1.0))
    s = started(m, {"rail": 1.01}, {"rail": -1.0})  # beyond, on its way back; allowed where limits are soft
    trace = vc.simulate(m, s, 0.1, limits=vc.SoftLimits(1.0, 1000.0))
    assert (np.diff(trace.joint("rail").v) <= 1e-12).all()
    assert trace.final.v[0] <= -1.0 + 1e-3


def test_soft_is_short_for_its_defaults():
    """limits="soft" is SoftLimits()."""
    m = slider(limits=(-0.1, 1.0))
    runs = [vc.simulate(m, m.state(), 0.3, limits=limits, step=0.01) for limits in ("soft", vc.SoftLimits())]
    assert (runs[0].final.q == runs[1].final.q).all()
    assert runs[0].joint("rail").q.min() < -0.1
