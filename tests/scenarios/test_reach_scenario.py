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
@pytest.mark.parametrize(("is_held", "nearest"), [(False, 0.5), (True, float(np.hypot(0.8, 1.2)) - 0.9)])
def test_a_point_beyond_reach_is_approached(is_held, nearest):
    """The tip comes nearer all the time, to 6e-4 m of the nearest point there is, with bounded velocities."""
    epoch = reach(x=0.9, z=1.2, hold_first=is_held).run(until=3.0).epochs[0]
    distance = np.linalg.norm(epoch["tracked"][:, [0, 2]] - (0.9, 1.2), axis=1)
    assert 0.0 <= distance[-1] - nearest < 6e-4
    assert np.diff(distance).max() < 2e-5  # the feedback swings by less than 1e-4 about a stretched chain
    assert np.abs(epoch["v"]).max() < 2.0


def test_counts_and_refusals():
    """Ten hinges are ten freedoms; a chain has two links at least."""
    scenario = reach()
    trace = scenario.run(until=scaled(0.1, 0.01))
    assert counts(summary(scenario, trace)) == [(10, 10)]
    with pytest.raises(InputError, match="links"):
        reach(links=1)
