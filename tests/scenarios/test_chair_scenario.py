"""Figure that sits down and stands up."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run, scaled
from scenario_checks import counts, place
from varichain.scenarios import chair, summary


@long_run
def test_it_sits_down_and_stands_up():
    """Thighs come to rest on the seat, soles stay in place, and the figure ends where it began, within its limits."""
    scenario = chair()
    trace = scenario.run()
    assert counts(summary(scenario, trace)) == [(46, 34), (52, 28), (46, 34)]
    down, seated, up = trace.epochs
    seat = vc.pose(seated.mechanism, seated.state(0), "chair seat").p
    for side in ("left", "right"):
        assert place(seated, 0, f"{side} seat")[2] == pytest.approx(seat[2], abs=0.01)  # the plan is kept to 5 mm
        assert place(seated, 0, f"{side} sole") == pytest.approx(place(down, 0, f"{side} sole"), abs=1e-9)
    assert np.abs(up.state(len(up) - 1).v).max() < 0.05
    assert place(up, len(up) - 1, "head top") == pytest.approx(place(down, 0, "head top"), abs=0.01)
    for epoch in trace.epochs:
        assert np.abs(epoch["u"] - epoch["wanted"]).max() < 0.02


@long_run
def test_the_feet_bear_the_figure_before_it_sits():
    """Half way down the centre of mass is above the feet, and the floor carries about the weight."""
    epoch = chair(mass=70.0).run(until=1.3).epochs[0]
    i = len(epoch) - 1
    assert place(epoch, i, "left heel")[0] < epoch["center"][i, 0] < place(epoch, i, "left toe")[0]
    weight = sum(epoch.loop(f"{side} stance")[i, 5] for side in ("left", "right"))
    assert weight == pytest.approx(70.0 * 9.81, rel=0.3)  # it is moving


@long_run
def test_it_begins_at_rest():
    """The first configuration is on the planned way: nothing jumps."""
    scenario = chair()
    trace = scenario.run(until=scaled(0.05, 0.002))
    assert np.abs(trace.final.v).max() < 0.05
