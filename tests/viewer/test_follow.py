"""A camera on a leash: it stands while a figure is near, and goes along when it goes away."""

import numpy as np
import pytest

import varichain as vc
from varichain.scene import link_poses, scene_of
from varichain.viewer.follow import Leash, middle_of

ROUNDING = 1e-12


def test_the_camera_stands_until_the_leash_is_taut():
    """Within 0.6 radii nothing moves; beyond, the figure is never farther from the middle of the picture than that."""
    leash, t = Leash(np.array([1.0, 0.0, 2.0]), 10.0), 0.0
    assert not leash.drawn(np.array([6.9, 0.0, 2.0]), t).any()
    rng, place = np.random.default_rng(1), np.array([1.0, 0.0, 2.0])
    for t in range(1, 200):
        place = place + rng.normal(size=3) + (0.5, 0.0, 0.0)
        gone = leash.drawn(place, float(t))
        assert np.linalg.norm(place - gone - (1.0, 0.0, 2.0)) <= 6.0 + ROUNDING
    assert gone[0] > 50.0


def test_a_run_that_begins_again_is_seen_from_the_beginning():
    """Where time goes back, by a reset or an undo, the leash is as it was at first."""
    leash = Leash(np.zeros(3), 1.0)
    assert leash.drawn(np.array([5.0, 0.0, 0.0]), 1.0)[0] == pytest.approx(4.4)
    assert not leash.drawn(np.zeros(3), 0.0).any()


def test_what_cannot_move_draws_nothing():
    """The middle is the centre of mass of the links that are not fixed to the ground."""
    m = vc.Mechanism("two")
    m.add_link("stone", joint=vc.Fixed(), at=(100, 0, 0), inertia=vc.Inertia.sphere(1e6, 1.0))
    m.add_link("rod", joint=vc.Revolute("y"), at=(0, 0, 2), inertia=vc.Inertia.rod(1.0, 1.0, com=(0, 0, -0.5)))
    s = m.state()
    assert middle_of(scene_of(m), link_poses(m, s.q)) == pytest.approx((0.0, 0.0, 1.5))
    assert not middle_of(scene_of(vc.Mechanism("nothing")), link_poses(vc.Mechanism("nothing"), [])).any()
