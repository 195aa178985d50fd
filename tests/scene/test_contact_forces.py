"""Forces of surfaces in pictures: where they act, and that they are drawn."""

import io

import numpy as np
import pytest

import varichain as vc
from contact.hulls import block, frustum, mesh_of
from varichain.exports.page import page_of
from varichain.scene import Playback, palette, scene_of
from varichain.scene.cones import cone_axes
from varichain.scene.hulls import hull_of
from varichain.scene.palette import hex_color
from varichain.scene.surfaces import floor_height

SLOPE = np.radians(20.0)
HALF, RADIUS, LENGTH = 0.05, 0.1, 0.3  # [m]
ROUNDING = 1e-9  # [m]; the solver's own, 1e-12 of forces, times lever arms


@pytest.fixture(scope="module")
def trace():
    """A box and a can at rest on a slope, and a ball that rolls down."""
    m, tilt = vc.Mechanism("slope"), vc.Pose(rotation_vector=(0, SLOPE, 0))
    size = (0.4, 0.2, 2 * HALF)
    m.add_link("box", None, inertia=vc.Inertia.box(3.0, size), shapes=vc.Box(size))
    m.add_link("ball", None, inertia=vc.Inertia.sphere(1.0, RADIUS), shapes=vc.Sphere(RADIUS))
    m.add_link("can", None, inertia=vc.Inertia.cylinder(1.0, RADIUS, LENGTH), shapes=vc.Cylinder(RADIUS, LENGTH))
    m.add_surface("incline", "ground", vc.HalfSpace(tilt), friction=0.5)
    s = m.state()
    for name, y, height in (("box", 0.0, HALF), ("ball", 0.5, RADIUS), ("can", -0.5, 0.5 * LENGTH)):
        s[name].pose = tilt @ vc.Pose(p=(0.0, y, height))
    return vc.simulate(m, s, 0.04, contacts="stepping", step=0.01)


def test_a_thing_at_rest_is_borne_below_its_centre_of_mass(trace):
    """The centre of pressure is on the slope, straight below the centre of mass; the force is the weight."""
    playback = Playback(trace)
    for name, height, mass in (("box", HALF, 3.0), ("can", 0.5 * LENGTH, 1.0)):
        k = playback.contacts.index(f"{name} on incline")
        x = height * np.sin(SLOPE)
        assert playback.contact_places[-1, k, [0, 2]] == pytest.approx((x, -x * np.tan(SLOPE)), abs=ROUNDING)
        assert playback.contact_forces[-1, k] == pytest.approx((0.0, 0.0, 9.81 * mass), abs=1e-6)


def test_a_ball_is_borne_at_its_foot(trace):
    """The force on a ball acts where the ball meets the slope, a radius from its middle along the normal."""
    playback = Playback(trace)
    k, part = playback.contacts.index("ball on incline"), [part.name for part in playback.parts].index("ball")
    normal = np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)])
    expected = playback.p[:, part] - RADIUS * normal
    assert playback.contact_places[1:, k] == pytest.approx(expected[1:], abs=ROUNDING)


@pytest.fixture(scope="module")
def two():
    """Two boxes on a slope, of which the rough one rests and the smooth one slides down."""
    m, tilt, size = vc.Mechanism("slope"), vc.Pose(rotation_vector=(0, SLOPE, 0)), (0.4, 0.2, 2 * HALF)
    for name, friction in (("rough", 0.5), ("smooth", 0.2)):
        m.add_link(name, None, inertia=vc.Inertia.box(3.0, size), shapes=vc.Box(size))
        m.add_surface(f"{name} slope", "ground", vc.HalfSpace(tilt), friction=friction, touched_by=[name])
    s = m.state()
    s["rough"].pose, s["smooth"].pose = tilt @ vc.Pose(p=(0, 0, HALF)), tilt @ vc.Pose(p=(0, 0.5, HALF))
    return vc.simulate(m, s, 0.05, contacts="stepping", step=0.01)


def test_cones_stand_at_points_with_their_forces_inside(two):
    """Each corner has its cone: its axis is the normal; forces of what rests are inside, of what slides on the edge."""
    playback = Playback(two, by_points=True)
    cones, normal = playback.cones, np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)])
    assert {name.split(" on ")[0] for name in playback.contacts} == {"rough", "smooth"}
    for k, name in enumerate(playback.contacts):
        force = playback.contact_forces[-1, k]
        if not force.any():
            continue
        is_smooth = name.startswith("smooth")
        assert cones.normals[-1, k] == pytest.approx(normal, abs=ROUNDING)
        assert cones.slips[-1, k] == is_smooth and cones.friction[k] == (0.2 if is_smooth else 0.5)
        across = np.linalg.norm(force - (force @ normal) * normal) / (cones.friction[k] * (force @ normal))
        assert across == pytest.approx(1.0, abs=1e-6) if is_smooth else across < 1.0 + 1e-9
        R = cone_axes(force, normal, float(cones.friction[k]), 0.01, 1e-3)
        inside = np.linalg.solve(R, 0.01 * force)  # the arrow, in the cone's own measures
        assert np.hypot(*inside[:2]) <= inside[2] * (1.0 + 1e-6) < 1.0
    whole = Playback(two)
    assert whole.cones is None and playback.contact_forces.sum(axis=1) == pytest.approx(
        whole.contact_forces.sum(axis=1)
    )


def test_cones_are_drawn_in_stills_films_and_pages(two, tmp_path):
    """Both colours of cones are in an SVG, in the pixels of a PNG and in the numbers of a page, if they are wanted."""
    count = {}
    for is_wanted in (False, True):
        still = vc.draw(two, 0.05, cones=is_wanted, title=False, forces=False, size=(320, 200))
        count[is_wanted] = [still.svg.count(hex_color(color)) for color in (palette.STICKS, palette.SLIPS)]
        assert ('"cones":null' in page_of(Playback(two, by_points=is_wanted), vc.Look())) != is_wanted
    assert count[False] == [0, 0] and min(count[True]) >= 2
    pixels = np.asarray(pytest.importorskip("PIL.Image").open(io.BytesIO(still.png)).convert("RGB")).astype(int)
    red, green, blue = (pixels[..., k] for k in range(3))
    assert ((red - green > 40) & (blue - green > 20)).sum() > 100  # the magenta of what slips
    assert ((green - red > 30) & (blue - red > 30)).sum() > 100  # the teal of what sticks
    assert vc.export(two, tmp_path / "a.glb", cones=True).notes == (".glb files have no place for cones: left out",)


def test_boxes_bear_each_other_where_they_meet():
    """The force of a box on another, which stands over its edge, is drawn in the middle of where they meet."""
    m, size = vc.Mechanism("stack"), (0.4, 0.2, 0.1)
    for name in ("lower", "upper"):
        m.add_link(name, None, inertia=vc.Inertia.box(1.0, size), shapes=vc.Box(size))
    m.add_floor()
    m.add_surface("lower", "lower", touched_by=["upper"])
    s = m.state()
    s["lower"].position, s["upper"].position = (0, 0, 0.05), (0.1, 0, 0.15)
    playback = Playback(vc.simulate(m, s, 0.02, contacts="stepping", step=0.01))
    k = playback.contacts.index("upper on lower")
    assert playback.contact_places[-1, k] == pytest.approx((0.05, 0.0, 0.1), abs=1e-6)
    assert playback.contact_forces[-1, k] == pytest.approx((0.0, 0.0, 9.81), abs=1e-6)


@pytest.mark.parametrize("name", ["box", "mesh", "cylinder"])
def test_a_box_is_borne_where_it_lies_on_a_sphere(tmp_path, name):
    """The force of a sphere below the face of a box, mesh or cylinder acts at the sphere's top, along its cone."""
    size = (0.4, 0.2, 2 * HALF)
    mesh = mesh_of(tmp_path / "box.obj", block(size))
    shape = {"box": vc.Box(size), "mesh": mesh, "cylinder": vc.Cylinder(0.2, 2 * HALF)}[name]
    m = vc.Mechanism("sphere")
    m.add_link("box", None, inertia=vc.Inertia.box(3.0, size), shapes=shape)
    m.add_surface("sphere", "ground", vc.Sphere(RADIUS, at=(0, 0, -RADIUS)))
    s = m.state()
    s["box"].position = (0, 0, HALF)
    trace = vc.simulate(m, s, 0.01, contacts="stepping", step=0.005)
    playback = Playback(trace)
    assert playback.contacts == ("box on sphere",)
    assert playback.contact_places[-1, 0] == pytest.approx((0, 0, 0), abs=ROUNDING)
    assert playback.contact_forces[-1, 0] == pytest.approx((0, 0, 3.0 * 9.81), abs=1e-6)
    normals = Playback(trace, by_points=True).cones.normals
    assert normals[-1, 0] == pytest.approx((0, 0, 1), abs=ROUNDING)


def test_meshes_bear_each_other_where_they_meet(tmp_path):
    """The centre of pressure of a mesh on a smaller one is in the middle of the smaller one's upper face."""
    m = vc.Mechanism("meshes")
    m.add_surface("stone", "ground", mesh_of(tmp_path / "stone.obj", frustum(0.1, 0.05, 0.1, 6)))
    m.add_link("slab", None, inertia=vc.Inertia.box(2.0, (0.4, 0.4, 0.1)))
    m.set_contact_shapes("slab", mesh_of(tmp_path / "slab.obj", block((0.4, 0.4, 0.1))))
    s = m.state()
    s["slab"].position = (0, 0, 0.15)
    playback = Playback(vc.simulate(m, s, 0.01, contacts="stepping", step=0.005))
    assert playback.contact_places[-1, 0] == pytest.approx((0, 0, 0.1), abs=ROUNDING)
    assert playback.contact_forces[-1, 0] == pytest.approx((0, 0, 2.0 * 9.81), abs=1e-6)


def test_nearest_places_of_hulls():
    """The place of a box that is nearest to a point is the point with coordinates cut to the box; its hull agrees."""
    rng = np.random.default_rng(2)
    for size in ((0.4, 0.2, 0.1), (0.1, 0.1, 0.5)):
        p, half = rng.normal(size=(50, 3)) * 0.3, 0.5 * np.array(size)
        assert hull_of(vc.Box(size), "").nearest(p) == pytest.approx(np.clip(p, -half, half), abs=1e-15)


def test_pressure_of_a_capsule_across_a_beam():
    """A capsule that lies across a beam presses on the middle of it, with its weight."""
    m = vc.Mechanism("beam")
    m.add_link("log", None, inertia=vc.Inertia.capsule(2.0, 0.05, 0.4), shapes=vc.Capsule(0.05, 0.4))
    m.add_surface("beam", "ground", vc.Box((0.1, 1.0, 0.2), at=(0, 0, -0.1)))
    s = m.state()
    s["log"].pose = vc.Pose(p=(0.01, 0, 0.05), rotation_vector=(0, 0.5 * np.pi, 0))
    playback = Playback(vc.simulate(m, s, 0.02, contacts="stepping", step=0.01))
    assert playback.contacts == ("log on beam",)
    assert playback.contact_places[-1, 0] == pytest.approx((0.0, 0.0, 0.0), abs=0.01)
    assert playback.contact_forces[-1, 0] == pytest.approx((0.0, 0.0, 2.0 * 9.81), abs=1e-6)


def test_pictures_have_the_forces_and_the_slope(trace):
    """A page has numbers for three forces, a still an arrow for each; the slope is a part of the ground."""
    playback = Playback(trace)
    assert playback.forces.shape[1] == 3 and '"pressures":"' in page_of(playback, vc.Look())
    m = trace.epochs[0].mechanism
    assert [part.name for part in scene_of(m).parts].count("ground") == 1 and floor_height(m) is None
    drawn = vc.draw(trace, 0.04).svg
    assert drawn.count(f'fill="{hex_color(palette.FORCE)}"') == 3


def test_a_level_floor_is_where_the_ground_is_drawn():
    """The ground of a picture is as high as the floor that links stand on."""
    m = vc.Mechanism("step")
    m.add_link("box", None, inertia=vc.Inertia.box(1.0, (0.1, 0.1, 0.1)), shapes=vc.Box((0.1, 0.1, 0.1)))
    m.add_floor(0.3)
    assert floor_height(m) == 0.3 and not any(part.name == "ground" for part in scene_of(m).parts)


def test_rough_ground_is_seen():
    """A height field is a part of the ground, as high as its heights, and the ground of a picture lies below it."""
    heights = np.array([[0.0, 0.1, 0.3], [0.2, -0.4, 0.1], [0.0, 0.0, 0.2]])
    m = vc.Mechanism("hills")
    m.add_link("box", None, inertia=vc.Inertia.box(1.0, (0.1, 0.1, 0.1)), shapes=vc.Box((0.1, 0.1, 0.1)))
    m.add_surface("hills", "ground", vc.HeightField(heights, 0.5, at=(0, 0, 0.1)))
    (ground,) = [part for part in scene_of(m).parts if part.name == "ground"]
    vertices = ground.surfaces[0].triangles.vertices
    for i, x in enumerate((-0.5, 0.0, 0.5)):
        near = vertices[np.linalg.norm(vertices[:, :2] - (x, 0.5), axis=1) < 1e-9]
        assert near[:, 2] == pytest.approx(0.1 + heights[i, 2], abs=1e-12)
    floor = floor_height(m)
    assert vertices[:, 2].min() - 0.01 < floor < vertices[:, 2].min() <= -0.3 + 1e-12
    assert vc.draw(m).svg.count("<polygon") > 100
