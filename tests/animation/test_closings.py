"""A loop closed in three ways: extended coordinates, springs and dampers, hard loops."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from animation.functions import planar_chain
from lane import long_run
from varichain.animation import closings


def seated():
    """Three rods in a plane, the end of the second on a ball: a man on a chair."""
    m = planar_chain(3, mass=1.0)
    s = m.state()
    s.q, s.v = (1.9, -1.6, 1.5), (0, 0, 0.7)
    place = vc.pose(m, s, "rod 2") @ (1, 0, 0)
    m.connect("rod 2", "ground", vc.Spherical(), at=(1, 0, 0), at_other=place, name="chair")
    other = m.state()
    other.q, other.v = s.q, s.v
    return m, other


@long_run
def test_three_ways_agree_as_springs_stiffen():
    """Extended coordinates move as the hard loop does; springs come nearer with their stiffness, at first order."""
    m, s = seated()
    found = [closings(m, s, "chair", 0.5, stiffness=k, damping=2e-3 * k, samples=10) for k in (1e4, 1e5)]
    assert found[0].difference("extended") < 1e-8
    assert np.abs(found[0].force["extended"] - found[0].force["hard"]).max() < 1e-6
    assert found[0].gap["hard"].max() < 1e-9 and found[0].gap["extended"].max() < 1e-8
    softer, stiffer = (one.difference("soft") for one in found)
    assert stiffer < 0.02 and 5.0 < softer / stiffer < 20.0
    assert "extended" in repr(found[0])


@long_run
def test_a_four_bar_in_three_ways():
    """A moving four-bar, whose hinge has redundant rows, is the same linkage in all three ways."""
    m, s = closed_zoo.four_bar()
    s = closed_zoo.random_closed_state(np.random.default_rng(0), m, s, reach=0.1)
    found = closings(m, s, "pin", 0.3, stiffness=1e6, damping=1e3, samples=5)
    assert found.difference("extended") < 1e-7
    assert found.difference("soft") < 1e-3
    assert np.abs(found.force["extended"][-1] - found.force["hard"][-1]).max() < 1e-4


def test_refusals():
    """Unknown loops, and joints that springs at a point cannot stand for, are refused by name."""
    m, s = seated()
    with pytest.raises(vc.UnknownNameError, match="stool"):
        closings(m, s, "stool", 0.1)
    m.cut("chair")
    m.connect("rod 3", "ground", vc.Fixed(), at=(1, 0, 0), at_other=vc.pose(m, s, "rod 3"), name="weld")
    with pytest.raises(vc.InputError, match="fixed"):
        closings(m, s, "weld", 0.1)
