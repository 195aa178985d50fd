"""Three rods: a chain in its animation space, and a chair in three ways [PFB, 4.3 and 4.5]."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from scenario_checks import counts
from varichain.scenarios import seat, summary, threelinks


@long_run
def test_three_links_go_where_u_says():
    """The tip and the square of the third angle are where they shall be, and stay."""
    scenario = threelinks()
    trace = scenario.run()
    space = vc.AnimationSpace(
        scenario.mechanism,
        {"tip": vc.animation.point("link 3", (1, 0, 0))[[0, 2]], "square": vc.animation.coordinate("joint 3") ** 2},
    )
    assert np.abs(space.value(trace.final) - (1.6, 1.2, 0.6)).max() < 1e-3
    assert np.abs(trace.final.v).max() < 1e-3


@long_run
def test_a_chair_in_three_ways():
    """The trunk bows alike on a hard loop, on springs and by torques that keep the hip where it is."""
    found = {way: seat(way=way) for way in ("hard", "soft", "extended")}
    ends = {way: scenario.run(until=0.5) for way, scenario in found.items()}
    assert counts(summary(found["hard"], ends["hard"])) == [(6, 1)]
    hard = ends["hard"].final.q
    assert np.abs(ends["soft"].final.q - hard).max() < 5e-3  # springs of 1e5 N/m give by 1e-4 m
    assert np.abs(ends["extended"].final.q - hard).max() < 1e-2  # torques of ticks of 1 ms
    softer = seat(way="soft", stiffness=1e4).run(until=0.5).final.q
    assert np.abs(softer - hard).max() > 2.0 * np.abs(ends["soft"].final.q - hard).max()


def test_other_ways_are_refused():
    """A way that there is not is an error that lists the three."""
    with pytest.raises(vc.InputError, match="hard, soft, extended"):
        seat(way="glued")
