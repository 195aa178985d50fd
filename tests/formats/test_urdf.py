"""URDF files: what becomes of every part, and what is refused."""

import numpy as np
import pytest

import varichain as vc

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
LINK = f'<link name="{{}}">{INERTIAL}</link>'


def robot(*parts, links="abc"):
    """A robot of links a, b, c with the given joints."""
    return f'<robot name="r">\n{"".join(LINK.format(name) + chr(10) for name in links)}{chr(10).join(parts)}\n</robot>'


def joint(name, parent, child, kind="continuous", inside=""):
    """A joint, one line of XML."""
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


CHAIN = (joint("j1", "a", "b"), joint("j2", "b", "c"))


@pytest.fixture
def load(tmp_path):
    """Load a text as a file."""

    def loaded(text, name="robot.urdf", **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return vc.load(path, **options)

    return loaded


def test_fields(load):
    """Limits, damping, friction, axis and origin arrive; efforts, velocities and everything else are noted."""
    inside = (
        '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 0 2"/><dynamics damping="0.5" friction="0.25" K="1"/>'
        '<limit lower="-1" upper="2" effort="30" velocity="4"/><safety_controller k_velocity="1"/>'
    )
    m = load(robot(joint("j1", "a", "b", "revolute", inside), joint("j2", "b", "c", "prismatic"), "<gazebo/><gazebo/>"))
    one = m.joint("j1")
    assert one.axis == (0, 0, 1) and one.limits == ((-1,), (2,)) and (one.damping, one.friction) == ((0.5,), (0.25,))
    assert m.link("b").at.is_close(vc.Pose((1, 2, 3), rpy=(0.1, 0.2, 0.3)))
    assert m.joint("j2").axis == (1, 0, 0) and m.joint("j2").limits is None
    assert (m.source.efforts, m.source.velocities) == ({"j1": 30}, {"j1": 4})
    notes = str(m.source)
    for words in ("<gazebo> in <robot>, 2 times", "'K' of <dynamics>", "<safety_controller>", "'j2' has no limits"):
        assert words in notes
    assert m.joint("a").kind == "fixed" and load(robot(*CHAIN), base="free").joint("a").kind == "free"


def test_every_joint_type(load):
    """Floating, planar and fixed joints become theirs."""
    kinds = ("floating", "planar", "fixed", "revolute", "prismatic", "continuous", "spherical")
    names = "abcdefgh"
    m = load(robot(*(joint(k, a, b, k) for k, a, b in zip(kinds, names, names[1:], strict=False)), links=names))
    expected = ["fixed", "free", "planar", "fixed", "revolute", "prismatic", "revolute", "spherical"]
    assert [one.kind for one in m.joints] == expected


def test_mimics(load):
    """Chains of mimics resolve into M and b, whichever comes first in the file, and mimicking joints are passive."""
    m = load(
        robot(
            joint("j1", "a", "b", inside='<mimic joint="j2" multiplier="-2" offset="0.5"/>'),
            joint("j2", "b", "c", inside='<mimic joint="j3"/>'),
            joint("j3", "c", "d"),
            links="abcd",
        )
    )
    linear = vc.coupling_matrix(m)
    assert linear.M.tolist() == [[-2], [1], [1]] and linear.b.tolist() == [0.5, 0, 0]
    assert linear.actuated == ("j3",) and linear.M_u.tolist() == [[1]]


def test_loops(load):
    """<loop_joint>, a pair of closing_ frames, a second parent and the file of loops each close a loop."""
    loop = (
        '<loop_joint name="pin" type="revolute"><link1 link="a" xyz="1 0 0" rpy="0 0 0"/><link2 link="c" xyz="0 1 0"/>'
        '<axis xyz="0 1 0"/></loop_joint>'
    )
    m = load(robot(*CHAIN, loop))
    pin = m.link_of_joint("pin")
    assert pin.real.name == "c" and pin.parent.name == "a" and pin.joint.axis == (0, 1, 0)
    assert pin.on_real == vc.Pose((0, 1, 0)) and pin.at == vc.Pose((1, 0, 0))
    frames = [
        f'<link name="closing_x_{i}"/>' + joint(f"f{i}", end, f"closing_x_{i}", "fixed")
        for i, end in ((1, "a"), (2, "c"))
    ]
    m = load(robot(*CHAIN, *frames))
    assert m.joint("closing_x").kind == "spherical" and "taken as a ball joint" in str(m.source)
    with pytest.raises(vc.FormatError, match="the other end is missing"):
        load(robot(*CHAIN, frames[0]))
    m = load(robot(*CHAIN, joint("j3", "a", "c", inside='<origin xyz="0 0 1"/>')))
    assert m.link_of_joint("j3").is_virtual and "'j3' closes a loop" in str(m.source)


SIDECAR = """
loops:
  - name: pin
    joint: universal
    axes: [[1, 0, 0], [0, 0, 1]]
    link: c
    at: [0, 0, 1e-1]
    other: ground
    at_other: {xyz: [1, 2, 3], rpy: [0, 0, 0.5]}
couplings:
  - {joint: j2, to: j1, multiplier: -3, offset: .5, name: gear}
joints:
  - {name: j1, armature: [0.25], actuated: false}
gravity: [0, 0, -1.62]
"""


def test_sidecar(load, tmp_path):
    """A file of loops next to the robot's is read by itself, another one when it is named."""
    (tmp_path / "robot.loops.yaml").write_text(SIDECAR)
    m = load(robot(*CHAIN))
    pin = m.link_of_joint("pin")
    assert pin.joint.kind == "universal" and pin.real.name == "c" and pin.parent is m.ground
    assert pin.on_real == vc.Pose((0, 0, 0.1)) and pin.at.is_close(vc.Pose((1, 2, 3), rpy=(0, 0, 0.5)))
    assert str(m.couplings[0]) == "j2 = -3 j1 + 0.5" and m.couplings[0].name == "gear"
    assert m.joint("j1").armature == (0.25,) and not m.joint("j1").actuated and m.gravity[2] == -1.62
    (tmp_path / "robot.loops.yaml").rename(tmp_path / "other.yaml")
    assert not load(robot(*CHAIN)).couplings
    assert load(robot(*CHAIN), loops=tmp_path / "other.yaml").couplings


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("loops: &a [*a]", 1, "anchors"),
        ("loops:\n- {name: x}", 2, "needs 'joint'"),
        ("loops:\n- {name: x, joint: cable}", 2, "joint must be one of"),
        ("loops:\n- {name: x, joint: screw, link: a, other: c}", 2, "pitch"),
        ("loops:\n- {name: x, joint: fixed, link: a, other: c, axis: [1, 0, 0]}", 2, "no 'axis'"),
        ("loops:\n- {name: x, joint: revolute, link: a, other: c, axis: [0, 0, 0]}", 2, "zero length"),
        ("loops:\n- {name: x, joint: fixed, link: a, other: c, at: [.inf, 0, 0]}", 2, "not a plain finite number"),
        ("loops:\n- {name: x, joint: fixed, link: a, other: c, at: [1e999, 0, 0]}", 2, "not finite"),
        ("couplings:\n- {joint: j1, to: j9}", 2, "no joint is called 'j9'"),
        ("couplings:\n- {joint: j1, to: j2, ratio: 2}", 2, "unknown key 'ratio'"),
        ("wheels: 4", 1, "unknown key"),
        ("loops: !!python/object/apply:os.system [ls]", 1, "tag"),
        ("[1, 2", 1, "is not valid YAML"),
        ("- 1", 1, "must be a mapping"),
        ("x: " + "[" * 200 + "]" * 200, 1, "nested too deeply"),
        ("gravity: [1, 2]", 1, "gravity"),
    ],
)
def test_bad_sidecar(load, tmp_path, text, line, words):
    """A broken or hostile file of loops is refused, with file and line."""
    (tmp_path / "robot.loops.yaml").write_text(text)
    with pytest.raises(vc.FormatError, match=words) as caught:
        load(robot(*CHAIN))
    assert caught.value.path.endswith("robot.loops.yaml") and caught.value.line in (line, line + 1)


BAD = {
    "unknown link": (robot(joint("j1", "a", "nobody"), *CHAIN[1:]), 5, "names link 'nobody'"),
    "unknown mimic": (robot(joint("j1", "a", "b", inside='<mimic joint="x"/>'), CHAIN[1]), 5, "no joint is called 'x'"),
    "own mimic": (robot(joint("j1", "a", "b", inside='<mimic joint="j1"/>'), CHAIN[1]), 5, "cannot follow itself"),
    "mimics in a circle": (
        robot(joint("j1", "a", "b", inside='<mimic joint="j2"/>'), joint("j2", "b", "c", inside='<mimic joint="j1"/>')),
        6,
        "would follow itself: j2 -> j1 -> j2",
    ),
    "links in a circle": (robot(joint("j1", "a", "b"), joint("j2", "b", "c"), joint("j3", "c", "a")), 2, "circle"),
    "circle beside a tree": (
        robot(joint("j1", "b", "c"), joint("j2", "c", "b")),
        3,
        "circle: c -> b -> c|circle: b -> c -> b",
    ),
    "own parent": (robot(joint("j1", "a", "a"), joint("j2", "a", "b")), 5, "to itself"),
    "two roots": (robot(joint("j1", "a", "b")), None, "2 root links, 'a', 'c'"),
    "second link": (robot(*CHAIN, LINK.format("a")), 7, "second link is called 'a'"),
    "second joint": (robot(*CHAIN, joint("j1", "a", "d"), links="abcd"), 8, "second joint is called 'j1'"),
    "no type": (robot('<joint name="x"><parent link="a"/></joint>'), 5, "needs the attribute 'type'"),
    "odd type": (robot(joint("j1", "a", "b", "elastic")), 5, "'elastic'; types: revolute"),
    "zero axis": (robot(joint("j1", "a", "b", inside='<axis xyz="0 0 0"/>')), 5, "must not be zero"),
    "two axes": (robot(joint("j1", "a", "b", inside='<axis xyz="1 0 0"/><axis xyz="1 0 0"/>')), 5, "2 times"),
    "infinite": (robot(joint("j1", "a", "b", inside='<origin xyz="0 1e999 0"/>')), 5, "finite numbers, not '1e999'"),
    "not a number": (robot(joint("j1", "a", "b", inside='<origin xyz="0 nan 0"/>')), 5, "finite"),
    "comma": (robot(joint("j1", "a", "b", inside='<origin xyz="0,1 0 0"/>')), 5, "must be numbers"),
    "xacro": (robot(joint("j1", "a", "b", inside='<origin xyz="0 ${h} 0"/>')), 5, "xacro"),
    "limits swapped": (robot(joint("j1", "a", "b", "revolute", '<limit lower="2" upper="1"/>')), 5, "above the upper"),
    "negative damping": (
        robot(joint("j1", "a", "b", inside='<dynamics damping="-1"/>'), CHAIN[1]),
        5,
        "not be negative",
    ),
    "negative mass": (robot(*CHAIN).replace('value="1"', 'value="-1"'), 2, "mass must not be negative"),
    "no inertia": (robot(*CHAIN).replace('ixx="1"', 'ixx="3"'), 2, "strict=False"),
    "truncated": (robot(*CHAIN)[:300], None, "well-formed"),
    "empty": ("", None, "well-formed"),
    "no robot": ("<html/>", 1, "<html>: is not supported as root element; expected <robot>"),
    "no links": ("<robot/>", None, "has no links"),
    "binary": ("\x01\x02", 1, "well-formed"),
}


@pytest.mark.parametrize(("text", "line", "words"), BAD.values(), ids=BAD.keys())
def test_bad_files(load, text, line, words):
    """A file that cannot be meant is refused with its name, its line and a sentence."""
    with pytest.raises(vc.FormatError, match=words) as caught:
        load(text)
    assert caught.value.path.endswith("robot.urdf")
    assert line is None or caught.value.line == line


def test_repaired_inertia(load):
    """With strict=False an impossible inertia becomes the nearest possible one, and a note says what it was."""
    m = load(robot(*CHAIN).replace('ixx="1"', 'ixx="3"', 1), strict=False)
    moments = np.linalg.eigvalsh(m.link("a").inertia.about_com)
    assert moments[0] + moments[1] >= moments[2] * (1 - 1e-12)
    assert np.abs(moments - [1.5, 1.5, 3.0]).max() < 1e-12
    assert "'a'; principal moments 1, 1, 3 became 1.5, 1.5, 3" in str(m.source)


def test_shapes_and_meshes(load, tmp_path):
    """Shapes keep place and colour; meshes are references into the file's own folders, and never lead out of them."""
    folder = tmp_path / "bot" / "meshes"
    folder.mkdir(parents=True)
    (folder / "x.stl").write_bytes(b"")

    def body(name):
        geometry = f'<visual><geometry><mesh filename="{name}" scale="1 2 3"/></geometry></visual>'
        return robot(*CHAIN).replace('<link name="a">', f'<link name="a">{geometry}', 1)

    def shapes(name, **options):
        (tmp_path / "bot" / "urdf").mkdir(exist_ok=True)
        return load(body(name), "bot/urdf/robot.urdf", **options).link("a").shapes

    target = str(folder / "x.stl")
    for name in ("../meshes/x.stl", "package://bot/meshes/x.stl", f"file://{target}"):
        (mesh,) = shapes(name)
        assert mesh.path == target and mesh.scale == (1, 2, 3)
    (mesh,) = shapes("package://elsewhere/x.stl")
    assert mesh.path == "package://elsewhere/x.stl"
    assert shapes("package://elsewhere/x.stl", packages={"elsewhere": folder})[0].path == target
    assert shapes("http://host/x.stl") == () and shapes("file:///etc/passwd") == ()
    for name in ("../../../../etc/passwd", "package://bot/../../x.stl", "package://who/../../etc/passwd"):
        with pytest.raises(vc.FormatError, match="leads out of") as caught:
            shapes(name)
        assert caught.value.line == 2
    (folder / "link.stl").symlink_to("/etc/passwd")
    with pytest.raises(vc.FormatError, match="leads out of"):
        shapes("../meshes/link.stl")
    colored = (
        '<visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="m"/></visual>'
        '<visual><geometry><sphere radius="0"/></geometry></visual>'
        '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    )
    text = robot(*CHAIN, '<material name="m"><color rgba="1 0 0 0.5"/></material>')
    m = load(text.replace('<link name="a">', f'<link name="a">{colored}', 1))
    assert m.link("a").shapes == (vc.Box((1, 2, 3), at=(0, 0, 1), color=(1, 0, 0, 0.5)),)
    assert "has no size" in str(m.source) and "<collision> besides <visual>, 1 times" in str(m.source)


def test_ground_as_a_name(load):
    """A link called ground that is a body of its own gets another name; an empty root of that name is the ground."""
    text = robot(*CHAIN).replace('"a"', '"ground"')
    m = load(text)
    assert m.link("ground link").inertia.mass == 1 and "is called 'ground link'" in str(m.source)
    bare = text.replace(LINK.format("ground"), '<link name="ground"/>')
    assert [link.name for link in load(bare).links] == ["b", "c"]


def test_wrong_arguments(tmp_path):
    """Arguments that cannot be meant, and files that are not there, are named."""
    with pytest.raises(vc.InputError, match="'fixed', 'free'"):
        vc.load("x.urdf", base="floating")
    with pytest.raises(vc.InputError, match="file name"):
        vc.load(3)
    with pytest.raises(vc.InputError, match="strict"):
        vc.load("x.urdf", strict="no")
    for path in (tmp_path / "nothing.urdf", tmp_path):
        with pytest.raises(vc.FormatError, match="is no file"):
            vc.load(path)


def test_xacro(tmp_path):
    """A xacro file is expanded and then read as URDF; one that cannot be expanded is named."""
    pytest.importorskip("xacrodoc")
    path = tmp_path / "robot.urdf.xacro"
    text = robot(joint("j1", "a", "b", inside='<origin xyz="${height} 0 0"/>'), CHAIN[1])
    head = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r"><xacro:property name="height" value="${2*3}"/>'
    path.write_text(text.replace('<robot name="r">', head))
    assert vc.load(path).link("b").at.p.tolist() == [6, 0, 0]
    path.write_text(text.replace('<robot name="r">', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r">'))
    with pytest.raises(vc.FormatError, match="xacro cannot expand it"):
        vc.load(path)
