"""Parts, marks and stand-ins of structures."""

import numpy as np
import pytest

import closed_zoo
import shows
import varichain as vc
import zoo
from varichain.scene import ball_of, box_around, link_poses, palette, scene_of
from varichain.scene import triangles as solids
from varichain.scene.meshes import shape_triangles

# Circles have 24 corners: a ball of them has 3.5 % less volume, the worst of all shapes here.
FACETS = 0.035


def volume(surface):
    """Volume inside a closed surface, by the divergence theorem."""
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (vc.Box((0.3, 0.2, 0.5)), 0.3 * 0.2 * 0.5),
        (vc.Sphere(0.3), 4 / 3 * np.pi * 0.3**3),
        (vc.Cylinder(0.2, 0.7), np.pi * 0.2**2 * 0.7),
        (vc.Capsule(0.2, 0.7), np.pi * 0.2**2 * 0.7 + 4 / 3 * np.pi * 0.2**3),
        (vc.Capsule(0.2, 0.0), 4 / 3 * np.pi * 0.2**3),
        (vc.Ellipsoid((0.1, 0.2, 0.3)), 4 / 3 * np.pi * 0.1 * 0.2 * 0.3),
    ],
)
def test_surfaces_enclose_the_volume_of_their_shapes(shape, expected):
    """Triangles of a shape are closed and look outwards: they enclose its volume, wherever it is placed."""
    placed = shape.moved(vc.Pose((1.0, -2.0, 0.5), rotation_vector=(0.3, 0.5, -0.7)))
    surface = shape_triangles(placed)
    assert volume(surface) == pytest.approx(expected, rel=FACETS)
    assert volume(surface) <= expected * (1 + 1e-12)


@pytest.mark.parametrize("surface", [solids.box((1, 2, 3)), solids.capsule(0.2, 1.0), solids.cylinder(0.3, 1.0, 0.0)])
def test_normals_are_units_that_look_outwards(surface):
    """Normals have length one, and lie on the side to which the triangles look."""
    assert np.abs(np.linalg.norm(surface.normals, axis=1) - 1.0).max() < 1e-12
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    assert np.linalg.norm(across, axis=1).min() > 0.0
    assert (np.einsum("ij,ij->i", across, surface.normals[surface.faces].mean(axis=1)) > 0.0).all()


def test_mirrored_surfaces_look_outwards_too():
    """A negative scale mirrors a surface without turning it inside out."""
    assert volume(solids.box((1, 1, 1)).stretched((-1.0, 2.0, 1.0))) == pytest.approx(2.0)


def test_mesh_files_are_read_and_missing_ones_are_noted(tmp_path):
    """An STL file becomes triangles, scaled and placed; a file that is not there becomes a note."""
    pytest.importorskip("trimesh")
    path = tmp_path / "tetrahedron.stl"
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    facets = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    lines = [f"vertex {' '.join(map(str, corners[k]))}" for facet in facets for k in facet]
    loops = [
        "facet normal 0 0 0\nouter loop\n" + "\n".join(lines[i : i + 3]) + "\nendloop\nendfacet"
        for i in range(0, 12, 3)
    ]
    path.write_text("solid t\n" + "\n".join(loops) + "\nendsolid t\n")
    assert volume(shape_triangles(vc.Mesh(path, scale=2.0, at=(1, 1, 1)))) == pytest.approx(8 / 6)
    m = vc.Mechanism("m")
    m.add_link("gone", joint=vc.Revolute(), inertia=vc.Inertia.rod(1.0, 1.0), shapes=[vc.Mesh(tmp_path / "gone.stl")])
    scene = scene_of(m)
    assert "gone.stl' is left out: there is no such file" in scene.notes[0]
    assert scene.parts[0].is_stand_in and scene.parts[0].reach == pytest.approx(0.5, rel=0.2)


@pytest.mark.parametrize("make", zoo.NAMED)
def test_every_link_can_be_seen(make):
    """Links without shapes get stand-ins, so that every link of any mechanism has a part with some extent."""
    m = make()
    scene = scene_of(m)
    assert [part.name for part in scene.parts] == [link.name for link in m.links]
    assert all(part.is_stand_in and part.reach > 0.0 for part in scene.parts)
    assert scene.mark > 0.0


def test_bones_reach_from_joint_to_joint():
    """The four-bar's stand-ins span its closed loop: their box is as long as ground and crank are."""
    m, s = closed_zoo.four_bar()
    scene = scene_of(m)
    low, high = box_around(scene.parts, link_poses(m, s.q))
    joints = np.array([vc.pose(m, s, link.name).p for link in m.links])
    assert (low < joints.min(axis=0) + 1e-9).all() and (high > joints.max(axis=0) - 1e-9).all()
    center, radius = scene.bounding_sphere(link_poses(m, s.q))
    assert np.linalg.norm(joints - center, axis=1).max() < radius


def test_a_loop_is_told_from_the_tree():
    """A scene knows which joints close loops, between which links, and colours the links that they tie."""
    m = shows.arm()
    scene = scene_of(m)
    (loop,) = scene.loops
    assert (loop.name, loop.link, loop.parent, loop.model.kind, loop.is_loop) == (
        "hold",
        "forearm",
        "bar",
        "spherical",
        True,
    )
    assert loop.virtual == m.virtual_links[0].name
    assert [joint.name for joint in scene.joints] == ["shoulder", "elbow", "bar"]
    assert scene.joints[1].axes == ((0.0, 1.0, 0.0),) and not scene.joints[1].is_loop
    colors = {part.name: scene.color(part.name, part.surfaces[0]) for part in scene.parts}
    assert colors["forearm"] == palette.IN_LOOPS and colors["bar"] == palette.LINK
    assert palette.hex_color(colors["upper arm"]) == "#cc3344"
    m.cut("hold")
    assert scene_of(m).in_loops == frozenset()


def test_nothing_at_all_has_a_ball_too():
    """An empty mechanism has a scene without parts, and a ball for the camera."""
    m = vc.Mechanism("nothing")
    scene = scene_of(m)
    assert scene.parts == () and scene.mark > 0.0
    center, radius = scene.bounding_sphere(link_poses(m, []))
    assert radius == 1.0 and np.array_equal(center, np.zeros(3))
    assert ball_of(np.zeros(3), np.full(3, 2.0))[1] == pytest.approx(3**0.5)
