"""What is saved loads again as the same mechanism."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from real_robots import EXAMPLES_SDF, EXAMPLES_URDF, GYMNASIUM, REACHY_MJCF

SAME = 1e-12  # frames go through angles or quaternions, inertias through principal axes
FILES = [path for path in EXAMPLES_URDF + EXAMPLES_SDF + REACHY_MJCF + GYMNASIUM if path.name != "ur3.urdf"]


def assert_same(a, b, in_order=True):
    """Two mechanisms have the same links, joints, loops, couplings and gravity."""
    names = [[link.name for link in m.links] for m in (a, b)]
    assert names[0] == names[1] if in_order else sorted(names[0]) == sorted(names[1])
    for link in a.links:
        twin = b.link(link.name)
        assert twin.parent.name == link.parent.name and twin.at.is_close(link.at, SAME)
        assert twin.inertia.is_close(
            link.inertia, SAME * (1.0 + np.abs(link.inertia.about_com).max() + link.inertia.mass)
        )
        assert repr(twin.joint) == repr(link.joint)
    loops, twins = ({link.joint.name: link for link in m.virtual_links} for m in (a, b))
    assert loops.keys() == twins.keys()
    for name, link in loops.items():
        twin = twins[name]
        assert (twin.real.name, twin.parent.name) == (link.real.name, link.parent.name)
        assert twin.at.is_close(link.at, SAME) and twin.on_real.is_close(link.on_real, SAME)
        assert repr(twin.joint) == repr(link.joint)
    assert sorted(map(repr, a.couplings)) == sorted(map(repr, b.couplings))
    assert np.array_equal(a.gravity, b.gravity) and a.name == b.name


@pytest.mark.parametrize("ending", [".urdf", pytest.param(".xml", marks=pytest.mark.long)])
def test_real_robots(tmp_path, ending):
    """Every real robot saves and loads again as itself, or the format has no words for it and a sentence says why."""
    refused = 0
    for path in FILES:
        m = vc.load(path, strict=False)
        try:
            vc.save(m, tmp_path / f"copy{ending}", overwrite=True)
        except vc.InputError as error:
            assert ending == ".xml"
            refused += "'world'" in str(error) or "save as URDF" in str(error)
            continue
        assert_same(m, vc.load(tmp_path / f"copy{ending}"), in_order=ending == ".urdf")
    assert refused < len(FILES) / 4


def everything():
    """A mechanism with all that both formats can hold, some of it only in the file of loops."""
    m = vc.Mechanism('a <strange> & "quoted" name', gravity=(0, -1, -9))
    body = vc.Inertia(2.0, (0.1, 0.2, 0.3), ((0.3, 0.02, 0.01), (0.02, 0.4, 0.03), (0.01, 0.03, 0.5)))
    shapes = [
        vc.Box((1, 2, 3), color=(1, 0, 0, 0.5)),
        vc.Capsule(0.1, 0.5, at=(0, 0, 1)),
        vc.Ellipsoid((0.1, 0.2, 0.3)),
    ]
    turned = vc.Pose((0.1, 0.2, 0.3), rotation_vector=(0.4, -1.2, 2.0))
    m.add_link("base", parent=None, inertia=body, shapes=shapes)
    m.add_link("a", "base", vc.Revolute((1, 2, 3), name="j1", limits=(-1, 2), damping=0.5, armature=0.1), turned, body)
    m.add_link(
        "b", "a", vc.Prismatic("y", name="j2", limits=(None, 1), stiffness=5, rest=0.25, actuated=False), turned, body
    )
    m.add_link("c", "a", vc.Spherical(name="j3", damping=(1, 2, 3), actuated=True), inertia=body)
    m.add_link("d", "c", vc.Revolute("z", name="j4", friction=0.5), turned, body)
    m.add_link("e", "d", vc.Fixed(name="weld"), turned, body)
    m.couple("j4", "j1", -0.5, 0.25, name="gear")
    m.connect("e", "b", vc.Revolute("y", damping=0.5), turned, (1, 0, 0), name="pin")
    m.connect("c", "ground", vc.Spherical(), (0, 0, 1), turned, name="ball")
    m.connect("d", "b", vc.Fixed(), turned, turned, name="glue")
    return m


@pytest.mark.parametrize("ending", [".urdf", ".xml"])
def test_everything(tmp_path, ending):
    """Open limits, springs, armatures, loops of every kind, names and gravity survive, with the file of loops."""
    m = everything()
    path = tmp_path / f"m{ending}"
    assert vc.save(m, path) == []
    again = vc.load(path)
    assert_same(m, again)
    assert [len(link.shapes) for link in again.links] == [len(link.shapes) for link in m.links]
    for shape, twin in zip(m.link("base").shapes, again.link("base").shapes, strict=True):
        assert type(shape) is type(twin) and shape.at.is_close(twin.at)
    vc.save(again, path, overwrite=True)
    assert_same(m, vc.load(path))
    plain = vc.Mechanism("pendulum")
    plain.add_link("rod", joint=vc.Revolute("y"), inertia=vc.Inertia.sphere(1.0, 0.1))
    vc.save(plain, path, overwrite=True)
    assert not path.with_suffix(".loops.yaml").exists()


def test_closed_zoo(tmp_path):
    """A saved four-bar moves as the original does."""
    m, s = closed_zoo.four_bar()
    vc.save(m, tmp_path / "m.urdf")
    again = vc.load(tmp_path / "m.urdf")
    t = again.state()
    t.q, t.v = s.q, s.v
    assert np.abs(vc.forward_dynamics(again, t).a - vc.forward_dynamics(m, s).a).max() < 1e-10


def test_refusals(tmp_path):
    """Joints that a format has no word for, other endings and other objects are refused; loads at break are noted."""
    m = vc.Mechanism("m")
    m.add_link("a", joint=vc.Universal(name="cardan"), inertia=vc.Inertia.sphere(1.0, 0.1))
    for ending in (".urdf", ".xml"):
        with pytest.raises(vc.InputError, match="no universal joints, and 'cardan' is one"):
            vc.save(m, tmp_path / f"m{ending}")
    with pytest.raises(vc.InputError, match=r"\.urdf, \.xml, \.mjcf"):
        vc.save(m, tmp_path / "m.sdf")
    with pytest.raises(vc.InputError, match="expected a Mechanism"):
        vc.save("m", tmp_path / "m.urdf")
    m = vc.Mechanism("m")
    m.add_link("a", joint=vc.Fixed(breaks=vc.Breaks(force=1.0)), inertia=vc.Inertia.sphere(1.0, 0.1))
    assert "breaks" in str(vc.save(m, tmp_path / "m.urdf")[0])
