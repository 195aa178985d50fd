"""Surfaces and contact shapes: what users say about contact, and what is refused."""

import json

import numpy as np
import pytest

import varichain as vc
from varichain.instants.contacts import contacts_of
from varichain.layout.layout import layout_of
from varichain.mechanism import description, mechanism_from


def arm():
    """Two links on hinges over the ground, each with a shape."""
    m = vc.Mechanism("arm")
    rod = vc.Inertia.rod(1.0, 0.4, com=(0, 0, -0.2))
    m.add_link("upper", "ground", vc.Revolute("y"), (0, 0, 1), rod, vc.Capsule(0.02, 0.4, at=(0, 0, -0.2)))
    m.add_link("lower", "upper", vc.Revolute("y"), (0, 0, -0.4), rod, vc.Box((0.04, 0.04, 0.4), at=(0, 0, -0.2)))
    return m


def pairs(m):
    """Names of links and surfaces that may touch."""
    return set(contacts_of(m, layout_of(m).new_workspace()).pairs)


def test_all_links_touch_the_floor_and_neighbours_do_not_touch_each_other():
    """Every link with shapes may touch a surface of the ground; a link's neighbours must be named to touch it."""
    m = arm()
    m.add_link("ball", None, inertia=vc.Inertia.sphere(1.0, 0.1), shapes=vc.Sphere(0.1))
    m.add_floor()
    m.add_surface("side", "lower")
    assert pairs(m) == {("upper", "floor"), ("lower", "floor"), ("ball", "floor"), ("ball", "side")}
    m.add_surface("other side", "lower", touched_by="upper")
    assert ("upper", "other side") in pairs(m) and ("ball", "other side") not in pairs(m)


def test_links_that_a_loop_holds_to_a_surface_do_not_touch_it():
    """A hand that is connected to a bar does not touch the bar; after the cut it does."""
    m = arm()
    m.add_link("bar", None, inertia=vc.Inertia.capsule(1.0, 0.02, 1.0), shapes=vc.Capsule(0.02, 1.0))
    m.add_surface("bar", "bar")
    s = m.state()
    m.connect("lower", "bar", vc.Spherical(name="grip"), (0, 0, -0.4), state=s)
    assert pairs(m) == {("upper", "bar")}
    m.cut("grip")
    assert pairs(m) == {("upper", "bar"), ("lower", "bar")}


def test_contact_shapes_replace_shapes():
    """A link touches with its shapes unless it was given others; an empty list makes it touch nothing."""
    m = arm()
    m.add_floor()
    assert m.contact_shapes("lower") == m.link("lower").shapes
    m.set_contact_shapes("lower", [vc.ContactPoint((0, 0, -0.4)), vc.Cylinder(0.1, 0.2), vc.Ellipsoid((0.1, 0.2, 0.3))])
    m.set_contact_shapes("upper", ())
    found = contacts_of(m, layout_of(m).new_workspace())
    assert found.names == [f"lower on floor {i}" for i in range(1, 11)]  # a point, four on each rim, an ellipsoid


def test_balls_within_larger_ones_are_left_out():
    """The end of a thin capsule within a thick one touches nothing: the thick one does."""
    m = arm()
    m.add_floor(touched_by="upper")
    m.set_contact_shapes("upper", [vc.Capsule(0.05, 0.4), vc.Capsule(0.03, 0.2, at=(0, 0, 0.2))])
    assert len(pairs(m)) == 1
    assert len(contacts_of(m, layout_of(m).new_workspace()).pairs) == 3


def test_surfaces_survive_copies_and_descriptions():
    """Surfaces and contact shapes are in copies, and in descriptions that went through JSON."""
    m = arm()
    m.add_surface(
        "slope", "ground", [vc.HalfSpace(vc.Pose(rotation_vector=(0, 0.3, 0))), vc.Box((1, 1, 1))], friction=0.3
    )
    m.add_surface("side", "upper", vc.Sphere(0.1), restitution=0.5, touched_by=("lower",))
    m.set_contact_shapes("lower", vc.ContactPoint((0, 0, -0.4)))
    plain = description(m)
    for other in (m.copy(), mechanism_from(json.loads(json.dumps(plain)))):
        assert description(other) == plain
        assert list(other.surfaces) == ["slope", "side"] and other.surface("side").touched_by == ("lower",)
        vc.check(other)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"friction": -0.1}, "friction of surface 'new' must not be negative"),
        ({"restitution": 1.5}, "restitution of surface 'new' must be from 0 to 1, not 1.5"),
        ({"shapes": vc.Ellipsoid((0.1, 0.1, 0.2))}, "must be any of HalfSpace, Box, Sphere, Capsule"),
        ({"shapes": None, "link": "ground"}, "has no shapes of its own"),
        ({"touched_by": 5}, "must be names of links"),
    ],
)
def test_bad_surfaces_are_refused(changes, message):
    """Negative friction, restitution outside 0..1 and shapes that are no surfaces are named; nothing is added."""
    m = arm()
    revision = m.revision
    given = {"name": "new", "link": "ground", "shapes": vc.HalfSpace()} | changes
    with pytest.raises(vc.InputError) as caught:
        m.add_surface(**given)
    assert message in str(caught.value)
    assert m.revision == revision and not m.surfaces


def test_names_are_checked():
    """A name that is taken, a link that is not there and a surface that is not there are named."""
    m = arm()
    m.add_floor()
    with pytest.raises(vc.DuplicateNameError):
        m.add_floor()
    with pytest.raises(vc.UnknownNameError):
        m.add_floor(touched_by="foot", name="other")
    with pytest.raises(vc.UnknownNameError):
        m.surface("ceiling")
    with pytest.raises(vc.StructureError):
        m.set_contact_shapes("ground", vc.Sphere(0.1))


def write_mesh(path, vertices):
    """The triangles of a hull of vertices, each face fanned out to the first vertex if it is a dent."""
    import trimesh

    mesh = trimesh.Trimesh(vertices=vertices[:8]).convex_hull
    if len(vertices) > 8:
        corners = np.vstack([mesh.vertices, vertices[8]])
        faces = [
            *mesh.faces[1:],
            *[(a, b, len(corners) - 1) for a, b in zip(mesh.faces[0], np.roll(mesh.faces[0], -1), strict=True)],
        ]
        mesh = trimesh.Trimesh(vertices=corners, faces=faces, process=False)
    mesh.export(path)


def test_convex_meshes_touch_by_their_vertices(tmp_path):
    """A cube from a file touches by its eight corners; one with a dent is refused by name and depth."""
    cube = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    write_mesh(tmp_path / "cube.stl", cube)
    write_mesh(tmp_path / "dent.stl", np.vstack([cube, [0.0, 0.0, 0.0]]))
    m = arm()
    m.add_floor(touched_by="lower")
    m.set_contact_shapes("lower", vc.Mesh(tmp_path / "cube.stl"))
    assert len(contacts_of(m, layout_of(m).new_workspace()).pairs) == 8
    m.set_contact_shapes("lower", vc.Mesh(tmp_path / "dent.stl"))
    with pytest.raises(vc.InputError, match="not convex"):
        vc.clearances(m, m.state())


def test_clearances():
    """The distance of a link from a floor is that of its lowest point, of every shape."""
    m = vc.Mechanism("shapes")
    shapes = [vc.Sphere(0.1), vc.Capsule(0.1, 0.4), vc.Box((0.2, 0.2, 0.2)), vc.Ellipsoid((0.1, 0.2, 0.3))]
    shapes += [vc.Cylinder(0.1, 0.4), vc.ContactPoint((0, 0, 0.05))]
    turn = vc.Pose(rotation_vector=(0.4, 0.3, -0.2))
    for i, shape in enumerate(shapes):
        m.add_link(f"link {i}", None, inertia=vc.Inertia.sphere(1.0, 0.1))
        m.set_contact_shapes(f"link {i}", shape)
    m.add_floor(0.5)
    s = m.state()
    for name in s.joints:
        s[name].pose = vc.Pose(p=(0.1, 0.2, 2.0), R=turn.R)
    z = turn.R[2]  # direction of the world's z in the link's axes
    lowest = [-0.1, -0.1 - 0.2 * abs(z[2]), -0.1 * np.abs(z).sum(), -np.linalg.norm(z * (0.1, 0.2, 0.3))]
    lowest += [-0.2 * abs(z[2]) - 0.1 * np.hypot(z[0], z[1]), 0.05 * z[2]]
    found = list(vc.clearances(m, s).values())
    assert found == pytest.approx([1.5 + low for low in lowest], abs=1e-14)


def test_distances_from_finite_surfaces():
    """A ball's distance from a box is to the nearest face, edge or corner; from a capsule to its axis."""
    m = vc.Mechanism("surfaces")
    m.add_link("ball", None, inertia=vc.Inertia.sphere(1.0, 0.1), shapes=vc.Sphere(0.1))
    m.add_surface("box", "ground", vc.Box((2.0, 2.0, 2.0)))
    m.add_surface("bar", "ground", vc.Capsule(0.2, 2.0))
    m.add_surface("globe", "ground", vc.Sphere(0.5))
    s = m.state()
    for place, box, bar in [
        ((0.3, 0.2, 1.5), 0.5, np.sqrt(0.3**2 + 0.2**2 + 0.5**2)),
        ((1.3, 1.4, 0.0), 0.5, np.hypot(1.3, 1.4)),
        ((2.0, 2.0, 2.0), np.sqrt(3.0), np.sqrt(9.0)),
        ((0.9, 0.1, 0.2), -0.1, np.hypot(0.9, 0.1)),
    ]:
        s["ball"].position = place
        found = vc.clearances(m, s)
        assert found["ball", "box"] == pytest.approx(box - 0.1, abs=1e-14)
        assert found["ball", "bar"] == pytest.approx(bar - 0.3, abs=1e-14)
        assert found["ball", "globe"] == pytest.approx(np.linalg.norm(place) - 0.6, abs=1e-14)
