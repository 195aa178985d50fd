"""Chain that reaches a point: free, with its first link held, and a point beyond reach."""

import numpy as np
import pytest

from lane import long_run, scaled
from scenario_checks import counts
from varichain.errors import InputError
from varichain.scenarios import reach, summary


@long_run
def test_the_tip_reaches_the_point():
    """After its course the tip is at the point, and at rest; on the way it is where it is wanted."""
    epoch = reach(x=0.35, z=0.55).run(until=3.0).epochs[0]
    assert epoch["tracked"][-1] == pytest.approx([0.35, 0.0, 0.55], abs=1e-5)
    assert np.abs(epoch["v"][-1]).max() < 1e-3
    assert np.abs(epoch["u"] - epoch["wanted"]).max() < 0.01
    assert epoch["targets"][:, [0, 2]] == pytest.approx(epoch["wanted"])
    assert epoch["targets"][:, 1] == pytest.approx(epoch["tracked"][:, 1])


@long_run
def test_the_first_link_is_held():
    """Held by the square of its angle, the first link stays; free, it moves."""
    held, free = (reach(hold_first=is_on).run(until=2.5).joint("joint 1").q for is_on in (True, False))
    assert np.abs(held).max() < 1e-3 and np.abs(free).max() > 0.1


@long_run
def test_a_point_beyond_reach_is_approached():
    """The tip goes to the nearest point that a bent chain reaches, with bounded velocities."""
    epoch = reach(x=0.9, z=1.2).run(until=3.0).epochs[0]
    assert epoch["tracked"][-1] == pytest.approx([0.594, 0.0, 0.792], abs=1e-3)
    assert np.abs(epoch["v"]).max() < 2.0


def test_counts_and_refusals():
    """Ten hinges are ten freedoms; a chain has two links at least."""
    scenario = reach()
    trace = scenario.run(until=scaled(0.1, 0.01))
    assert counts(summary(scenario, trace)) == [(10, 10)]
    with pytest.raises(InputError, match="links"):
        reach(links=1)
