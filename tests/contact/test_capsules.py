"""Capsules on capsules and spheres: by their ends, and by their sides."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import varichain as vc
from contact.falling import G, stepped
from lane import long_run, scaled

AT_ORIGIN = vc.Pose()
LOWER, UPPER = (0.05, 0.6), (0.03, 0.4)
"""Radii and lengths [m]."""


def two_capsules(upper, lower=AT_ORIGIN, swapped=False, shape=None):
    """A capsule above another one, or above another shape, in two poses; either may be the surface."""
    m = vc.Mechanism("two capsules")
    shapes = {"lower": vc.Capsule(*LOWER) if shape is None else shape, "upper": vc.Capsule(*UPPER)}
    for name, own in shapes.items():
        m.add_link(name, None, inertia=vc.Inertia.capsule(1.0, own.radius, 0.5), shapes=own)
    link, other = ("upper", "lower") if swapped else ("lower", "upper")
    m.add_surface("capsule", link, touched_by=other)
    s = m.state()
    s["lower"].pose, s["upper"].pose = lower, upper
    return m, s


def gap(*poses, **options):
    """Distance of the two."""
    (found,) = vc.clearances(*two_capsules(*poses, **options)).values()
    return found


def distance(upper, lower=AT_ORIGIN):
    """Distance of two capsules, by a search along the axis of one of them."""
    half = 0.5 * LOWER[1]

    def to_axis(z):
        x, y, along = lower.R.T @ (upper.p + z * upper.R[:, 2] - lower.p)
        return np.hypot(np.hypot(x, y), max(abs(along) - half, 0.0))

    bounds = (-0.5 * UPPER[1], 0.5 * UPPER[1])  # the distance of a segment from a convex set is convex along it
    found = minimize_scalar(to_axis, bounds=bounds, method="bounded", options={"xatol": 1e-12})
    return min(found.fun, *map(to_axis, bounds)) - LOWER[0] - UPPER[0]


@pytest.mark.parametrize("swapped", [False, True])
def test_distances_of_capsules(swapped):
    """Crossed, beside each other, end to end or askew: the distance is that of the axes less both radii."""
    rng = np.random.default_rng(3)
    for _ in range(scaled(300, 40)):
        upper = vc.Pose(p=rng.normal(size=3) * 0.25, rotation_vector=2.0 * rng.normal(size=3))
        moved = vc.Pose(p=rng.normal(size=3), rotation_vector=rng.normal(size=3))
        # the search ends where the distance is flat to the square root of rounding, or to 1e-12 m at a corner
        assert gap(moved @ upper, moved, swapped=swapped) == pytest.approx(distance(upper), abs=1e-9)


def test_a_capsule_meets_a_sphere_with_its_side():
    """A sphere beside the middle of a capsule is as far away as from its axis, less both radii."""
    lying = vc.Pose(p=(0.05, 0.0, 0.2), rotation_vector=(0, np.pi / 2, 0))
    assert gap(lying, shape=vc.Sphere(0.1)) == pytest.approx(0.07, abs=1e-15)


def rails(turn, poses):
    """Rods of 1 kg, thrown on two fixed rails along y, 0.3 m apart."""
    m = vc.Mechanism("rails")
    along_y = [vc.Pose(p=(x, 0, 0), rotation_vector=(np.pi / 2, 0, 0)) for x in (-0.15, 0.15)]
    m.add_surface("rails", "ground", [vc.Capsule(0.02, 1.0, at=at) for at in along_y], friction=0.5)
    s_poses = {}
    for i, pose in enumerate(poses):
        m.add_link(f"rod {i}", None, inertia=vc.Inertia.capsule(1.0, 0.03, 0.5), shapes=vc.Capsule(0.03, 0.5))
        s_poses[f"rod {i}"] = vc.Pose(rotation_vector=(0, 0, turn)) @ pose @ vc.Pose(rotation_vector=(0, np.pi / 2, 0))
    s = m.state()
    for name, pose in s_poses.items():
        s[name].pose = pose
    return m, s


@pytest.mark.parametrize("turn", [0.0, 0.4])
def test_a_rod_across_two_rails_stands_still(turn):
    """A rod that lies across two rails, square or askew, is carried where it crosses them, and does not move."""
    m, s = rails(turn, [vc.Pose(p=(0.02, 0, 0.05))])
    epoch = stepped(m, s, scaled(1.0, 0.02))
    assert np.abs(epoch.q - epoch.q[0]).max() < 1e-12
    assert np.allclose(epoch.contact("rod 0")[-1], (0, 0, G), atol=1e-9)


@long_run
def test_a_rod_falls_on_two_rails_and_rolls():
    """Dropped askew it rolls along them in the end, without slipping; it gains no energy and is never below them."""
    m, s = rails(0.3, [vc.Pose(p=(0.03, 0, 0.25), rotation_vector=(0.3, 0.2, 0))])
    trace = vc.simulate(m, s, 1.5, contacts="stepping")
    epoch = trace.epochs[0]
    assert epoch.q[-1, 6] == pytest.approx(0.05, abs=1e-9)
    turning, speed = epoch.v[-1, 2], np.linalg.norm(epoch.v[-1, 3:])
    assert speed == pytest.approx(0.03 * abs(turning), rel=1e-9) and speed > 0.01
    depths = [min(vc.clearances(m, trace.at(t)).values()) for t in np.linspace(0.0, 1.5, 61)]
    assert min(depths) > -1e-6
    assert np.diff(epoch.energy.sum(axis=1)).max() < 1e-9


@long_run
def test_a_rod_lies_in_the_groove_between_two_others():
    """Parallel capsules carry each other along a line, by their ends, whichever is the longer."""
    m = vc.Mechanism("groove")
    m.add_floor(friction=0.5)
    lying = vc.Pose(rotation_vector=(np.pi / 2, 0, 0))
    for name, length in (("left", 0.4), ("right", 0.4), ("upper", 0.7)):
        m.add_link(name, None, inertia=vc.Inertia.capsule(1.0, 0.05, length), shapes=vc.Capsule(0.05, length))
    m.add_surface("left", "left", friction=0.5)
    m.add_surface("right", "right", touched_by="upper", friction=0.5)
    s = m.state()
    for name, x, z in (("left", -0.05, 0.05), ("right", 0.05, 0.05), ("upper", 0.0, 0.05 + 0.1 * np.sin(np.pi / 3))):
        s[name].pose = vc.Pose(p=(x, 0, z)) @ lying
    epoch = stepped(m, s, 1.0)
    assert np.abs(epoch.q - epoch.q[0]).max() < 1e-9


def test_sides_are_refused_in_exact_runs():
    """Where capsules cross the place of contact slides along both: exact runs say so."""
    m, s = rails(0.0, [vc.Pose(p=(0, 0, 0.05))])
    with pytest.raises(vc.InputError, match="the place where capsules cross slides along both"):
        vc.simulate(m, s, 0.01, contacts="exact")
