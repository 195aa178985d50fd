"""Height fields as surfaces: a plane is a half-space, a bowl is a bowl; what falls on rough ground lies on it."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize

import varichain as vc
from contact.falling import G, books, stepped
from lane import long_run, scaled
from varichain.mechanism import description, mechanism_from

SHAPES = [
    vc.Sphere(0.1),
    vc.Capsule(0.05, 0.3),
    vc.Box((0.2, 0.1, 0.3)),
    vc.Cylinder(0.1, 0.2),
    vc.Ellipsoid((0.1, 0.2, 0.15)),
    vc.ContactPoint((0.1, 0.0, -0.2)),
]
HILLS = np.random.default_rng(4).normal(size=(9, 7)) * 0.05
"""Heights of rough ground [m]."""


def over(surface, shape=None):
    """A link with a shape, free over a surface, and its state."""
    m = vc.Mechanism("over")
    m.add_link("thing", None, inertia=vc.Inertia.sphere(1.0, 0.1))
    m.set_contact_shapes("thing", vc.Sphere(0.1) if shape is None else shape)
    m.add_surface("ground", "ground", surface, friction=0.5)
    return m, m.state()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_a_plane_is_a_half_space(shape):
    """A field of heights on a plane is the half-space below it to rounding, beyond its edges too."""
    slope = (0.3, -0.2)
    x, y = np.meshgrid(np.arange(5) - 2.0, np.arange(4) - 1.5, indexing="ij")
    field = vc.HeightField(slope[0] * x * 0.5 + slope[1] * y * 0.5 + 0.1, 0.5, at=(0.2, 0.1, 0.3))
    n = np.array([-slope[0], -slope[1], 1.0]) / np.sqrt(1.0 + slope[0] ** 2 + slope[1] ** 2)
    axis = np.cross([0, 0, 1], n)
    turn = axis / np.linalg.norm(axis) * np.arcsin(np.linalg.norm(axis))
    plane = vc.HalfSpace(vc.Pose(p=(0.2, 0.1, 0.4), rotation_vector=turn))
    rng = np.random.default_rng(1)
    both = [over(surface, shape) for surface in (field, plane)]
    for _ in range(10):
        at = vc.Pose(p=rng.uniform((-1.5, -1.5, -0.5), (1.5, 1.5, 2.5)), rotation_vector=rng.normal(size=3))
        gaps = []
        for m, s in both:
            s["thing"].pose = at
            gaps.append(vc.clearances(m, s)["thing", "ground"])
        assert gaps[0] == pytest.approx(gaps[1], abs=1e-12)


def test_it_passes_through_its_points():
    """The surface has the heights that were given, is smooth between them, and paraboloids are met exactly."""
    field = vc.HeightField(HILLS, (0.3, 0.2))
    x, y = np.meshgrid((np.arange(9) - 4) * 0.3, (np.arange(7) - 3) * 0.2, indexing="ij")
    places = np.stack([x, y], axis=-1)
    assert field.heights_at(places) == pytest.approx(HILLS, abs=1e-15)
    for step in ((1e-7, 0.0), (0.0, 1e-7)):  # the normal does not jump
        assert field.normals_at(places + step) == pytest.approx(field.normals_at(places - step), abs=1e-5)
    bowl = vc.HeightField(0.5 * x**2 + 0.25 * y**2, (0.3, 0.2))
    anywhere = np.random.default_rng(2).uniform(-0.6, 0.6, size=(50, 2))
    assert bowl.heights_at(anywhere) == pytest.approx(anywhere**2 @ [0.5, 0.25], abs=1e-14)


def test_distances_are_to_the_nearest_place():
    """A ball's distance is that from the nearest place of the surface, found from the best of many."""
    field = vc.HeightField(HILLS, (0.3, 0.2))
    grid = np.stack(np.meshgrid(*[np.linspace(-0.3, 0.3, 121)] * 2), axis=-1).reshape(-1, 2)
    rng = np.random.default_rng(3)
    m, s = over(field)
    for _ in range(scaled(30, 8)):
        x, y = rng.uniform(-0.9, 0.9), rng.uniform(-0.5, 0.5)
        p = np.array([x, y, field.heights_at(np.array([[x, y]]))[0] + rng.uniform(0.05, 0.12)])
        s["thing"].position = p

        def distance(place, p=p):
            return np.linalg.norm([*(place - p[:2]), field.heights_at(place[None])[0] - p[2]])

        places = p[:2] + grid
        lifts = field.heights_at(places) - p[2]
        start = places[np.argmin((grid**2).sum(axis=1) + lifts**2)]
        least = minimize(distance, start, method="Nelder-Mead", tol=1e-13).fun
        assert vc.clearances(m, s)["thing", "ground"] == pytest.approx(least - 0.1, abs=1e-9)


def bowl(radius, n=21, spacing=0.05):
    """Heights of a paraboloid whose curvature at the bottom is 1 / radius."""
    x = (np.arange(n) - (n - 1) // 2) * spacing
    return vc.HeightField((x[:, None] ** 2 + x**2) / (2.0 * radius), spacing)


@long_run
@pytest.mark.parametrize(("friction", "inertia"), [(0.0, 0.0), (1.0, 0.4)])
def test_a_ball_swings_in_a_bowl(friction, inertia):
    """Small swings of a ball take 2 pi sqrt((1 + I / (m r^2)) (R - r) / g): sliding without friction, rolling with."""
    R, r, amplitude = 1.0, 0.1, 0.01
    m = vc.Mechanism("bowl")
    m.add_link("ball", None, inertia=vc.Inertia.sphere(2.0, r), shapes=vc.Sphere(r))
    m.add_surface("bowl", "ground", bowl(R), friction=friction)
    s = m.state()
    s["ball"].position = (amplitude, 0.0, r + 0.5 * amplitude**2 / (R - r))
    s = vc.separate(m, s)
    period = 2.0 * np.pi * np.sqrt((1.0 + inertia) * (R - r) / G)
    epoch = stepped(m, s, 2.2 * period, 5e-4)
    x = epoch.q[:, 4]
    k = np.flatnonzero((x[:-1] > 0.0) & (x[1:] <= 0.0))
    crossings = epoch.time[k] + x[k] / (x[k] - x[k + 1]) * np.diff(epoch.time)[k]
    assert crossings[1] - crossings[0] == pytest.approx(period, rel=2e-3)
    assert np.abs(x[epoch.time > period]).max() == pytest.approx(amplitude, rel=0.05)
    assert np.abs(epoch.q[:, 5]).max() < 1e-12
    assert min(vc.clearances(m, epoch.state(i))["ball", "bowl"] for i in range(0, len(epoch), 10)) > -1e-8


@pytest.mark.parametrize("shape", SHAPES[:5], ids=lambda shape: type(shape).__name__)
def test_what_falls_on_rough_ground_stays_above_it(shape):
    """Every shape falls on hills, is never deeper than 1e-6 m, gains no energy, and its energy is accounted for."""
    m, s = over(vc.HeightField(HILLS, 0.25), shape)
    s["thing"].pose = vc.Pose(p=(0.1, 0.05, 0.5), rotation_vector=(0.3, 0.2, 0.1))
    until = scaled(1.0, 0.03)
    if not scaled(True, False):
        s["thing"].position = (0.1, 0.05, 0.5 - min(vc.clearances(m, s).values()) + 1e-3)
        s["thing"].v = (0, 0, 0, 0, 0, -0.5)
    epoch = stepped(m, s, until)
    deepest = -min(vc.clearances(m, epoch.state(i))["thing", "ground"] for i in range(0, len(epoch), scaled(20, 5)))
    assert deepest < 1e-6
    energy = epoch.energy.sum(axis=1)
    assert energy.max() - energy[0] < 1e-6
    assert np.abs(books(epoch)).max() < 0.02 * G


@long_run
def test_a_figure_falls_on_rough_ground():
    """A limp figure lies on hills at last: never deeper than 1e-6 m, and nearly at rest."""
    m = vc.figures.human40()
    m.add_surface("hills", "ground", vc.HeightField(0.5 * HILLS, 0.5))
    s = m.state()
    s["pelvis"].pose = vc.Pose(p=s["pelvis"].pose.p + np.array([0.0, 0.0, 0.4]), rpy=(0.1, 0.3, 0.2))
    epoch = stepped(m, s, 3.0, sample=0.02)
    deepest = -min(min(vc.clearances(m, epoch.state(i)).values()) for i in range(len(epoch)))
    assert deepest < 1e-6
    assert epoch.energy[-1, 0] < 1e-2 * epoch.energy[:, 0].max()


def test_they_survive_descriptions():
    """Copies and descriptions that went through JSON have the same field, to the bit."""
    m, _ = over(vc.HeightField(HILLS, (0.3, 0.2), at=(0.1, 0, 0), color="#336633"))
    plain = description(m)
    other = mechanism_from(json.loads(json.dumps(plain)))
    assert other.surface("ground") == m.surface("ground") and description(other) == plain
    assert hash(other.surface("ground").shapes[0]) == hash(m.surface("ground").shapes[0])
    assert other.surface("ground").shapes[0] != vc.HeightField(HILLS + 1e-9, (0.3, 0.2), at=(0.1, 0, 0))


@pytest.mark.parametrize("heights", [[1.0, 2.0], [[1.0]], [[1.0, float("nan")]] * 2, "hills", [[1, 2], [3]], None])
def test_bad_heights_are_refused(heights):
    """Heights that are no grid of finite numbers are refused by name."""
    with pytest.raises(vc.InputError, match="heights of a HeightField must be finite numbers"):
        vc.HeightField(heights)


def test_refusals():
    """Spacings that are not positive, fields on moving links and exact contacts are refused by name."""
    with pytest.raises(vc.InputError, match="spacing"):
        vc.HeightField(HILLS, 0.0)
    m, s = over(vc.HeightField(HILLS))
    with pytest.raises(vc.InputError, match="fixed to the ground, not to 'thing'"):
        m.add_surface("other", "thing", vc.HeightField(HILLS))
    s["thing"].position = (0, 0, 1)
    with pytest.raises(vc.InputError, match="curvature of a height field jumps"):
        vc.simulate(m, s, 0.1, contacts="exact")
