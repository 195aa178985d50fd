"""Four particles have the mass, the centre and the inertia of their link."""

import numpy as np
import pytest

import varichain as vc
import zoo
from varichain.particles.arms import THINNEST, arms_of, particles_of, velocities_of

EXACT = 1e-12  # relative: a few roundings of an eigenvalue problem of size 3


def inertia_of(positions, mass, center):
    """Inertia of four equal particles about a point."""
    r = positions - center
    return mass / 4 * ((r**2).sum() * np.eye(3) - r.T @ r)


@pytest.mark.parametrize("seed", range(20))
def test_the_inertia_is_exact(seed):
    """Mass, centre, inertia, momentum and kinetic energy of the four are the link's."""
    rng = np.random.default_rng(seed)
    given, pose, V = zoo.random_inertia(rng), zoo.random_pose(rng), rng.normal(size=6)
    arms = arms_of(given, 0.0)
    center = pose @ given.com
    x = particles_of(arms, center, pose.R)
    in_world = pose.R @ given.about_com @ pose.R.T
    assert np.abs(x.mean(axis=0) - center).max() < EXACT
    assert np.abs(inertia_of(x, given.mass, center) - in_world).max() < EXACT * np.trace(in_world)
    v = velocities_of(x, center, V[:3], V[3:])
    energy = 0.5 * given.mass / 4 * (v**2).sum()
    assert energy == pytest.approx(0.5 * V[:3] @ in_world @ V[:3] + 0.5 * given.mass * V[3:] @ V[3:], rel=EXACT)
    assert not arms.is_thickened


@pytest.mark.parametrize("inertia", [vc.Inertia.rod(1.0, 1.0), vc.Inertia.point(2.0)])
def test_what_has_no_thickness_gets_some(inertia):
    """Rods and points get arms of a hundredth of the extent, and say so."""
    arms = arms_of(inertia, 0.5)
    assert arms.is_thickened
    assert arms.lengths.min() == pytest.approx(THINNEST * 0.5)
    assert arms_of(vc.Inertia.point(1.0), 0.0).lengths.min() > 0.0
    m = vc.Mechanism()
    m.add_link("bob", joint=vc.Revolute("y"), inertia=vc.Inertia.point(1.0, com=(0, 0, -1)))
    assert vc.particles.from_mechanism(m, m.state()).thickened == ["bob"]
