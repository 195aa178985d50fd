"""The compass walker down its slope."""

import numpy as np
import pytest

from lane import long_run
from scenario_checks import counts
from varichain import figures
from varichain.scenarios import compass, summary

CYCLE = 2e-6
"""The cycle is known to six digits."""


def legs(epoch):
    """Angles of the standing and of the swinging leg, and their rates, at the start of an epoch."""
    s = epoch.state(0)
    left, right = s["left leg"].q[2], s["left leg"].q[2] + s["hip"].q
    left_rate, right_rate = s["left leg"].v[2], s["left leg"].v[2] + s["hip"].v
    if epoch.slots.loops == ("left stance",):
        return np.array([left, right, left_rate, right_rate])
    return np.array([right, left, right_rate, left_rate])


@long_run
def test_settles_into_its_cycle():
    """Started beside its cycle, the walker comes back to it, step by step, to the digits known."""
    scenario = compass()
    trace = scenario.run()
    assert set(counts(summary(scenario, trace))) == {(5, 2)}
    steps = np.array([legs(epoch) for epoch in trace.epochs])
    changes = np.abs(np.diff(steps, axis=0)).max(axis=1)
    assert len(steps) == 28
    assert changes[0] > 1e-2
    assert changes[-1] < 1e-7
    assert changes[10:].max() < changes[:5].min()
    assert steps[-1] == pytest.approx(figures.COMPASS_CYCLE, abs=CYCLE)


@long_run
def test_gravity_pays_for_the_landings():
    """On the cycle the energy that a landing takes is the weight times the descent of a step."""
    trace = compass().run()
    last, before = trace.epochs[-2], trace.epochs[-3]
    lost = last.event["energy_lost"]
    sunk = before["energy"][-1, 1] - last["energy"][-1, 1]
    assert lost == pytest.approx(sunk, rel=1e-6)
    assert lost > 1.0


def test_first_step_begins():
    """The walker stands on its left sole at the start, at rest there."""
    scenario = compass()
    trace = scenario.run(until=0.003, method="rk4", step=1e-3)
    assert trace.epochs[0].slots.loops == ("left stance",)
    assert trace.epochs[0]["closure"].max() < 1e-12
