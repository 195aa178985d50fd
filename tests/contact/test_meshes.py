"""Convex meshes as contact shapes: a cube from a file is a box, on every surface."""

import numpy as np
import pytest

import varichain as vc
from contact.falling import G, stepped
from contact.test_surfaces import write_mesh
from lane import scaled

EDGE = 0.2
TILTED = vc.HalfSpace(vc.Pose(rotation_vector=(0.1, 0.2, 0)))
SURFACES = {
    "half-space": TILTED,
    "box": vc.Box((1.0, 1.0, 0.2), at=(0, 0, -0.1)),
    "sphere": vc.Sphere(0.5, at=(0, 0, -0.5)),
    "capsule": vc.Capsule(0.3, 1.0, at=vc.Pose(p=(0, 0, -0.3), rotation_vector=(0, 0.5 * np.pi, 0))),
    "height field": vc.HeightField(np.random.default_rng(1).normal(size=(5, 5)) * 0.05, 0.3),
}


def cube(tmp_path):
    """A cube from a file."""
    corners = 0.5 * EDGE * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    write_mesh(tmp_path / "cube.stl", corners)
    return vc.Mesh(tmp_path / "cube.stl")


def over(shape, surface):
    """A cube of 2 kg that touches by a shape, over a surface."""
    m = vc.Mechanism("cube")
    m.add_link("cube", None, inertia=vc.Inertia.box(2.0, (EDGE,) * 3))
    m.set_contact_shapes("cube", shape)
    m.add_surface("surface", "ground", surface, friction=0.4)
    return m, m.state()


@pytest.mark.parametrize("name", ["half-space", "sphere", "capsule", "height field"])
def test_a_mesh_is_as_far_away_as_the_box(tmp_path, name):
    """Distances of a cube from a file are those of the box, to the rounding of the file's numbers, in all postures."""
    rng = np.random.default_rng(2)
    both = [over(shape, SURFACES[name]) for shape in (cube(tmp_path), vc.Box((EDGE,) * 3))]
    for _ in range(5):
        at = vc.Pose(p=rng.uniform(-0.3, 0.3, size=3) + np.array([0, 0, 0.6]), rotation_vector=rng.normal(size=3))
        gaps = []
        for m, s in both:
            s["cube"].pose = at
            gaps.append(min(vc.clearances(m, s).values()))
        assert gaps[0] == pytest.approx(gaps[1], abs=1e-8)  # STL files have single precision


@pytest.mark.parametrize("name", ["half-space", "box"])
def test_a_mesh_falls_and_rests_as_the_box(tmp_path, name):
    """A cube from a file that falls flat on a half-space or a box moves as the box does, and stays."""
    ends = []
    for shape in (cube(tmp_path), vc.Box((EDGE,) * 3)):
        m, s = over(shape, SURFACES[name])
        tilt = SURFACES[name].at if name == "half-space" else vc.Pose()
        s["cube"].pose = tilt @ vc.Pose(p=(0.05, 0.02, 0.5 * EDGE + 1e-3), rotation_vector=(0, 0, 0.3))
        epoch = stepped(m, s, scaled(1.0, 0.03))
        ends.append(epoch.q[-1])
        assert epoch.contact("cube")[-1] == pytest.approx([0, 0, 2.0 * G], abs=1e-6)
        assert np.abs(epoch.v[-1]).max() < 1e-9
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)


def test_a_mesh_stands_on_a_moving_box(tmp_path):
    """A cube from a file rides on a box that lies on the floor and is pushed: both go on together."""
    m = vc.Mechanism("ride")
    m.add_link("cart", None, inertia=vc.Inertia.box(4.0, (0.6, 0.4, 0.1)), shapes=vc.Box((0.6, 0.4, 0.1)))
    m.add_link("cube", None, inertia=vc.Inertia.box(2.0, (EDGE,) * 3))
    m.set_contact_shapes("cube", cube(tmp_path))
    m.add_floor(friction=0.1, touched_by="cart")
    m.add_surface("cart", "cart", touched_by="cube", friction=0.8)
    s = m.state()
    s["cart"].position, s["cube"].position = (0, 0, 0.05), (0, 0, 0.1 + 0.5 * EDGE)
    s["cart"].v = s["cube"].v = (0, 0, 0, 0.5, 0, 0)
    until = scaled(0.3, 0.02)
    epoch = stepped(m, s, until)
    speed = 0.5 - 0.1 * G * until
    for name in ("cart", "cube"):
        assert vc.velocity(m, epoch.state(-1), name)[3:] == pytest.approx([speed, 0, 0], abs=1e-6)
