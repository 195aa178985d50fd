"""Capsules, cylinders and ellipsoids on the edges and corners of boxes: where they touch, and that they do."""

import numpy as np
import pytest
from scipy.optimize import minimize

import varichain as vc
from contact.falling import G, books, stepped
from lane import long_run, scaled

SIZE = np.array([0.3, 0.2, 0.15])
NEAR = 1e-5
"""[m] of distance at which gaps are looked at."""

SHAPES = {
    "capsule": vc.Capsule(0.05, 0.3),
    "cylinder": vc.Cylinder(0.08, 0.2),
    "flat cylinder": vc.Cylinder(0.2, 0.04),
    "ellipsoid": vc.Ellipsoid((0.05, 0.1, 0.2)),
}


def nearest(shape, pose):
    """Points (box, shape) of a box about the origin and of a convex shape that are nearest to each other."""
    if isinstance(shape, vc.Capsule):
        return nearest_to_capsule(shape, pose)
    is_round = isinstance(shape, vc.Ellipsoid)
    half = np.array(shape.radii if is_round else (shape.radius, shape.radius, 0.5 * shape.length))
    # of numbers from -1 to 1: three along the box, three along the shape, which has them in a ball or in a cylinder
    apart = np.hstack([np.diag(0.5 * SIZE), -pose.R * half])
    bent = np.array([0.0, 0.0, 0.0, 1.0, 1.0, float(is_round)])
    constraints = [{"type": "ineq", "fun": lambda x: 1.0 - bent @ x**2, "jac": lambda x: -2.0 * bent * x}]
    best = None
    for start in (np.zeros(6), np.array([0, 0, 0, 0.3, 0.2, -0.4]), np.array([0, 0, 0, -0.3, -0.2, 0.4])):
        found = minimize(
            lambda x: np.sum((apart @ x - pose.p) ** 2),
            start,
            jac=lambda x: 2.0 * apart.T @ (apart @ x - pose.p),
            bounds=[(-1, 1)] * 6,
            constraints=constraints,
            method="SLSQP",
            options={"ftol": 1e-16, "maxiter": 500},
        )
        best = found if best is None or found.fun < best.fun else best
    return 0.5 * SIZE * best.x[:3], pose @ (half * best.x[3:])


def nearest_to_capsule(shape, pose):
    """The same of a capsule, by its axis."""

    def box(s):
        axis = pose.p + np.multiply.outer(s, pose.R[:, 2])
        return np.clip(axis, -0.5 * SIZE, 0.5 * SIZE), axis

    def best_of(s):
        return s[np.argmin(np.linalg.norm(np.subtract(*box(s)), axis=1))]

    half = 0.5 * shape.length
    s = best_of(np.linspace(-half, half, 2001))
    for i in range(60):  # the distance from a box is convex along a line
        width = half / 1000 * 0.5 ** (i / 2)
        s = best_of(np.clip([s - width, s, s + width], -half, half))
    place, axis = box(s)
    away = (axis - place) / np.linalg.norm(axis - place)
    return place, axis - shape.radius * away


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_touch_boxes_where_they_are(name):
    """However a shape lies to a box, it touches where the two do, at faces, edges and corners, and nowhere before."""
    shape, rng = SHAPES[name], np.random.default_rng(3)
    m = vc.Mechanism("edges")
    m.add_link("thing", None, inertia=vc.Inertia.sphere(1.0, 0.1), shapes=shape)
    m.add_surface("block", "ground", vc.Box(tuple(SIZE)))
    s = m.state()
    for _ in range(scaled(60, 12)):
        direction = rng.normal(size=3)
        pose = vc.Pose(p=0.7 * direction / np.linalg.norm(direction), rotation_vector=2.0 * rng.normal(size=3))
        on_box, on_shape = nearest(shape, pose)
        away = on_shape - on_box
        distance = np.linalg.norm(away)
        s["thing"].pose = vc.Pose(p=pose.p - (1.0 - NEAR / distance) * away, R=pose.R)
        # directions between those of an edge's faces all separate the two, some by less
        assert 0.3 * NEAR < vc.clearances(m, s)["thing", "block"] < 1.1 * NEAR


def across(shape, height, turn=(0.0, 0.0, 0.0)):
    """A shape that lies across the upper edges of a beam, its ends beyond them, at a height over it."""
    m = vc.Mechanism("across")
    m.add_link("thing", None, inertia=vc.Inertia.cylinder(2.0, 0.05, 0.4), shapes=shape)
    m.add_surface("beam", "ground", vc.Box((0.1, 1.0, 0.2), at=(0, 0, -0.1)), friction=0.5)
    s = m.state()
    s["thing"].pose = vc.Pose(p=(0, 0, height), rotation_vector=(0, 0.5 * np.pi, 0)) @ vc.Pose(rotation_vector=turn)
    return m, s


@pytest.mark.parametrize("shape", [vc.Capsule(0.05, 0.4), vc.Cylinder(0.05, 0.4)], ids=["capsule", "cylinder"])
def test_what_lies_across_a_beam_stays_there(shape):
    """A capsule or cylinder that lies across a beam, its ends in the air, rests on the beam's two edges."""
    m, s = across(shape, 0.05)
    epoch = stepped(m, s, scaled(5.0, 0.02))
    assert np.abs(epoch.q[-1] - epoch.q[0]).max() < 1e-12
    assert epoch.contact("thing", "beam")[-1] == pytest.approx([0, 0, 2.0 * G], abs=1e-8)


@long_run
@pytest.mark.parametrize("name", SHAPES)
def test_drops_on_a_block(name):
    """Shapes that fall on a block are never deeper than 1e-8 m, and contact lifts them by less than a step's way."""
    shape, rng = SHAPES[name], np.random.default_rng(11)
    for _ in range(6):
        m = vc.Mechanism("drop")
        m.add_link("thing", None, inertia=vc.Inertia.box(1.0, (0.1, 0.15, 0.2)), shapes=shape)
        m.add_surface("block", "ground", vc.Box(tuple(SIZE)), friction=0.4)
        m.add_floor(-0.075)
        s = m.state()
        s["thing"].pose = vc.Pose(p=(*rng.uniform(-0.15, 0.15, size=2), 0.5), rotation_vector=rng.normal(size=3))
        s["thing"].v = 2.0 * rng.normal(size=6) * (1, 1, 1, 0.1, 0.1, 0.1)
        epoch = stepped(m, s, 1.0)
        deepest = -min(min(vc.clearances(m, epoch.state(i)).values()) for i in range(0, len(epoch), 5))
        assert deepest < 1e-8
        energy = epoch.energy.sum(axis=1)
        assert energy.max() - energy[0] < 1e-4  # what spins in the air gains a little at 1 ms
        assert np.diff(epoch.work[:, -2]).max() < 1e-4 * G  # edges slide along a rim within a step, and are lifted
        assert np.abs(books(epoch)).max() < 0.05 * G


def test_a_drum_on_a_small_block_stands():
    """A drum that is wider than the block below it rests on the block's corners."""
    m = vc.Mechanism("drum")
    m.add_link("drum", None, inertia=vc.Inertia.cylinder(3.0, 0.3, 0.1), shapes=vc.Cylinder(0.3, 0.1))
    m.add_surface("block", "ground", vc.Box((0.1, 0.1, 0.2), at=(0, 0, -0.1)))
    s = m.state()
    s["drum"].position = (0.01, 0.02, 0.05)
    epoch = stepped(m, s, scaled(2.0, 0.02))
    assert np.abs(epoch.q[-1] - epoch.q[0]).max() < 1e-12
    assert epoch.contact("drum")[-1] == pytest.approx([0, 0, 3.0 * G], abs=1e-8)
