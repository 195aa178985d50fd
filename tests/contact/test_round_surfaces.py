"""Faces of boxes, meshes and cylinders on spheres and capsules, not their corners alone; and cylinders as surfaces."""

import numpy as np
import pytest

import varichain as vc
from contact.falling import G, stepped
from contact.hulls import block, frustum, mesh_of, two_links
from lane import long_run, scaled

SIZE = (0.4, 0.3, 0.1)
LYING = vc.Pose(rotation_vector=(0.5 * np.pi, 0, 0))
RAILS = [vc.Capsule(0.03, 0.6, at=vc.Pose(p=(x, 0, -0.03)) @ LYING) for x in (-0.1, 0.12)]


def solids(tmp_path):
    """Things of the size, flat below: a box, the same from a file, and a cylinder."""
    return {
        "box": vc.Box(SIZE),
        "mesh": mesh_of(tmp_path / "block.obj", block(SIZE)),
        "cylinder": vc.Cylinder(0.2, 0.1),
    }


def lies_on(solid, surface, friction=0.5):
    """A solid of 2 kg, level, 0.1 m high, on a surface that reaches up to z = 0."""
    m = vc.Mechanism("lies")
    m.add_link("solid", None, inertia=vc.Inertia.box(2.0, SIZE), shapes=solid)
    m.add_surface("below", "ground", surface, friction=friction)
    s = m.state()
    s["solid"].position = (0, 0, 0.05)
    return m, s


@pytest.mark.parametrize("name", ["box", "mesh", "cylinder"])
def test_a_face_balances_on_a_sphere(tmp_path, name):
    """What lies level on a sphere below its middle touches it there, and stays: all of its weight is on one point."""
    m, s = lies_on(solids(tmp_path)[name], vc.Sphere(0.2, at=(0, 0, -0.2)))
    assert vc.clearances(m, s)["solid", "below"] == pytest.approx(0.0, abs=1e-15)
    epoch = stepped(m, s, scaled(0.5, 0.01))
    assert np.abs(epoch.q - epoch.q[0]).max() < 1e-12
    assert epoch.contact("solid")[-1] == pytest.approx([0, 0, 2.0 * G], abs=1e-9)


@pytest.mark.parametrize("name", ["box", "mesh"])
def test_a_box_lies_across_two_capsules(tmp_path, name):
    """A box whose corners are beyond two rails rests on the rails, and each bears by its distance from the middle."""
    m, s = lies_on(solids(tmp_path)[name], RAILS[0])
    m.add_surface("other", "ground", RAILS[1], friction=0.5)
    epoch = stepped(m, s, scaled(1.0, 0.01))
    assert np.abs(epoch.q - epoch.q[0]).max() < 1e-12
    for surface, part in (("below", 0.12 / 0.22), ("other", 0.1 / 0.22)):
        assert epoch.contact("solid", surface)[-1, 2] == pytest.approx(part * 2.0 * G, abs=1e-8)
    total = epoch.contact("solid")[-1]  # the rails may be pressed apart as well
    assert total == pytest.approx([0, 0, 2.0 * G], abs=1e-8)


@long_run
def test_a_cylinder_lies_across_two_capsules():
    """A cylinder that lies with its side on two rails rests on both."""
    m, s = lies_on(vc.Cylinder(0.05, 0.4, at=vc.Pose(rotation_vector=(0, 0.5 * np.pi, 0))), RAILS)
    epoch = stepped(m, s, 0.5)
    assert np.abs(epoch.q - epoch.q[0]).max() < 1e-12
    assert epoch.contact("solid")[-1] == pytest.approx([0, 0, 2.0 * G], abs=1e-8)


def thrown(first, second, surface):
    """Two links that fall, the second thrown at the first; one of them is the surface."""
    m, s = two_links(first, second, vc.Pose(p=(0.03, 0.02, 0.45), rotation_vector=(0.3, 0.2, 0.1)), surface)
    s["upper"].v = (1.0, 0.5, 0, 0, 0, -2.0)
    return m, s


@long_run
@pytest.mark.parametrize("round_shape", [vc.Sphere(0.15), vc.Capsule(0.1, 0.4)], ids=["sphere", "capsule"])
@pytest.mark.parametrize("name", ["box", "mesh", "cylinder"])
def test_it_does_not_matter_which_one_is_the_surface(tmp_path, round_shape, name):
    """A solid thrown at a sphere or capsule moves alike, whichever is the surface, and the forces are opposite."""
    solid = solids(tmp_path)[name] if name != "mesh" else mesh_of(tmp_path / "thing.obj", frustum(0.2, 0.1, 0.15, 5))
    if name == "cylinder":
        m, s = thrown(round_shape, solid, "lower")
        assert stepped(m, s, 0.3).contact("upper").any()
        return
    runs = [stepped(*thrown(round_shape, solid, surface), 0.3) for surface in ("lower", "upper")]
    assert np.array_equal(runs[0].q, runs[1].q)
    assert np.array_equal(runs[0].contact("upper"), -runs[1].contact("lower"))
    assert runs[0].contact("upper").any()


def test_they_touch_once():
    """A box and a sphere that are both surfaces have the contact of one of them."""
    m, s = two_links(vc.Sphere(0.1), vc.Box(SIZE), vc.Pose(p=(0, 0, 0.2)))
    m.add_surface("other", "upper", touched_by="lower")
    assert [*vc.clearances(m, s)] == [("upper", "surface")]


def test_closed_contacts_push_the_link(tmp_path):
    """Closed contacts of a box on rails have normals that point to the box, and no freedom is left."""
    m, s = lies_on(vc.Box(SIZE), RAILS)
    closed = vc.closed_contacts(m, s)
    assert len(closed.points) == 4
    assert all(cone.normal == pytest.approx((0, 0, 1)) for cone in closed.loop_limits.values())
    assert vc.mobility(closed.mechanism, s).n_independent == 0


def test_exact_runs_refuse_what_meets_along_lines():
    """Faces of boxes and flat ends on capsules jump from one place to the next: exact runs say so."""
    for shape, why in ((vc.Box(SIZE), "the face of a box or mesh"), (vc.Cylinder(0.2, 0.1), "a cylinder's rim")):
        m, s = lies_on(shape, RAILS)
        with pytest.raises(vc.InputError, match=why):
            vc.simulate(m, s, 0.01, contacts="exact")


@long_run
@pytest.mark.parametrize("shape", [vc.Box(SIZE), vc.Cylinder(0.2, 0.1)])
def test_a_board_rocks_on_a_ball(shape):
    """What lies on a fixed ball by its face rolls to and fro on it: exact runs keep it there, and its energy."""
    m, s = lies_on(shape, vc.Sphere(0.2, at=(0, 0, -0.2)))
    s.v[:3] = (0.5, 0.3, 0.0)
    s.v[3:6] = np.cross(s.v[:3], (0, 0, s.q[6]))  # about the point of touch
    trace = vc.simulate(m, s, 0.5, contacts="exact", step=0.01, tolerance=1e-11)
    (epoch,) = trace.epochs
    assert set(epoch.contact_modes.max(axis=1)) == {1.0}
    assert np.ptp(epoch.energy.sum(axis=1)) < 1e-9
    assert min(vc.clearances(m, trace.final).values()) == pytest.approx(0.0, abs=1e-12)


BAR = vc.Cylinder(0.1, 0.6, at=vc.Pose(p=(0, 0, -0.1)) @ LYING)
DRUM = vc.Cylinder(0.3, 0.2, at=(0, 0, -0.1))
ON_CYLINDERS = {
    "sphere": vc.Sphere(0.05),
    "box": vc.Box((0.2, 0.2, 0.1)),
    "capsule": vc.Capsule(0.05, 0.2, at=vc.Pose(rotation_vector=(0, 0.5 * np.pi, 0))),
    "point": vc.ContactPoint(at=(0, 0, -0.05)),
}


@pytest.mark.parametrize("surface", [BAR, DRUM], ids=["bar", "drum"])
@pytest.mark.parametrize("name", ON_CYLINDERS)
def test_what_balances_on_a_cylinder_stays(name, surface):
    """Balls, boxes across it, capsules and points stay on top of a bar, and on the flat end of a drum."""
    m, s = lies_on((), surface)
    m.set_contact_shapes("solid", ON_CYLINDERS[name])
    assert vc.clearances(m, s)["solid", "below"] == pytest.approx(0.0, abs=1e-15)
    epoch = stepped(m, s, scaled(0.3, 0.01))
    assert np.abs(epoch.q - epoch.q[0]).max() < (1e-12 if name != "point" else 1e-9)  # a point is unstable there
    assert epoch.contact("solid")[-1] == pytest.approx([0, 0, 2.0 * G], abs=1e-6 if name == "point" else 1e-9)


@long_run
@pytest.mark.parametrize("name", ["sphere", "box", "capsule"])
def test_a_cylinder_may_be_the_surface(name):
    """What is thrown at a cylinder moves as if that were thrown at it, whichever is the surface."""
    for cylinder in (vc.Cylinder(0.1, 0.4), vc.Cylinder(0.25, 0.1)):
        runs = [stepped(*thrown(cylinder, ON_CYLINDERS[name], surface), 0.3) for surface in ("lower", "upper")]
        assert np.abs(runs[0].q - runs[1].q).max() < 1e-9
        assert runs[0].contact("upper").any()
        assert runs[0].contact("upper") == pytest.approx(-runs[1].contact("lower"), abs=1e-4)


def test_others_on_cylinders_are_refused(tmp_path):
    """Cylinders, ellipsoids and meshes touch no cylinder."""
    for shape in (vc.Cylinder(0.1, 0.1), vc.Ellipsoid((0.1, 0.2, 0.1)), solids(tmp_path)["mesh"]):
        m, s = lies_on(shape, BAR)
        with pytest.raises(vc.InputError, match=r"link 'solid' cannot touch the cylinder of surface 'below' by its"):
            vc.clearances(m, s)
