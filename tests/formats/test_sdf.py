"""SDF files: graphs, frames, axes of every version, and what is refused."""

import numpy as np
import pytest

import varichain as vc

INERTIAL = "<inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"


def link(name, pose="0 0 0 0 0 0", inside=INERTIAL, **attributes):
    """A link, one line of XML."""
    given = " ".join(f'{key}="{value}"' for key, value in attributes.items())
    return f'<link name="{name}"><pose {given}>{pose}</pose>{inside}</link>'


def joint(name, parent, child, inside="", kind="revolute"):
    """A joint, one line of XML."""
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inside}</joint>'


def axis(xyz, inside="", tag="axis", **attributes):
    """An axis."""
    given = " ".join(f'{key}="{value}"' for key, value in attributes.items())
    return f"<{tag}><xyz {given}>{xyz}</xyz>{inside}</{tag}>"


@pytest.fixture
def load(tmp_path):
    """Load a model of the given parts as a file."""

    def loaded(*parts, version="1.6", whole=None, **options):
        text = whole or f'<sdf version="{version}">\n<model name="bot">\n' + "\n".join(parts) + "\n</model></sdf>"
        path = tmp_path / "bot.sdf"
        path.write_text(text, encoding="utf-8")
        return vc.load(path, **options)

    return loaded


def test_frames_and_axes(load):
    """Links stand where the file says; the joint's axis passes through its pose; link frames lie at their joints."""
    m = load(
        link("base", "0 0 1 0 0 0"),
        link("arm", "1 0 1 0 0 1.5707963267948966"),
        joint("hinge", "base", "arm", "<pose>0 0.5 0 0 0 0</pose>" + axis("0 1 0")),
    )
    s = m.state()
    assert m.joint("base").kind == "free"
    assert m.link("arm").at.is_close(vc.Pose((0.5, 0, 0), rpy=(0, 0, np.pi / 2)))
    assert np.abs(np.array(m.joint("hinge").axis) - (0, 1, 0)).max() < 1e-15
    carrier, frame = m.source.frames["arm"]
    assert carrier == "arm" and frame.is_close(vc.Pose((0, -0.5, 0)))
    assert (vc.pose(m, s, "arm") @ frame).is_close(vc.Pose((1, 0, 1), rpy=(0, 0, np.pi / 2)), 1e-12)
    assert vc.pose(m, s, "base").is_close(vc.Pose((0, 0, 1)))
    assert np.abs(m.link("arm").inertia.com - (0, -0.5, 0)).max() < 1e-15


@pytest.mark.parametrize(
    ("version", "inside", "attributes", "expected"),
    [
        ("1.4", "", {}, (1, 0, 0)),  # in the model's frame before 1.5
        ("1.5", "", {}, (0, 1, 0)),  # then in the joint's, which is turned by a quarter
        ("1.6", "<use_parent_model_frame>1</use_parent_model_frame>", {}, (1, 0, 0)),
        ("1.7", "", {"expressed_in": "__model__"}, (1, 0, 0)),
        ("1.11", "", {"expressed_in": "arm"}, (0, 1, 0)),
    ],
)
def test_versions_of_axes(load, version, inside, attributes, expected):
    """An axis of x means the model's or the joint's x, as the file's version says."""
    m = load(
        link("base"),
        link("arm", "0 0 0 0 0 1.5707963267948966"),
        joint("hinge", "base", "arm", axis("1 0 0", inside, **attributes)),
        version=version,
    )
    axis_W = vc.pose(m, m.state(), "arm").R @ np.array(m.joint("hinge").axis)
    assert np.abs(axis_W - expected).max() < 1e-12


def test_relative_poses(load):
    """Poses relative to frames, joints and links resolve through chains; frames may be named as parents."""
    m = load(
        link("base"),
        '<frame name="f" attached_to="base"><pose>0 0 2 0 0 0</pose></frame>',
        '<frame name="g" attached_to="f"><pose>1 0 0 0 0 0</pose></frame>',
        link("arm", "0 1 0 0 0 0", relative_to="g"),
        joint("hinge", "g", "arm", axis("0 0 1")),
        '<model name="tool">' + link("tip", "0 0 1 0 0 0") + '<pose relative_to="arm">0 0 0.5 0 0 0</pose></model>',
        joint("flange", "arm", "tool::tip", kind="fixed"),
        version="1.7",
    )
    s = m.state()
    assert m.link_of_joint("hinge").parent.name == "base"
    assert vc.pose(m, s, "arm").is_close(vc.Pose((1, 1, 2)))
    assert vc.pose(m, s, "tool::tip").is_close(vc.Pose((1, 1, 3.5)))
    assert m.source.frames["g"][1].is_close(vc.Pose((1, 0, 2)))
    degrees = load(link("base", "0 0 0 0 0 90", degrees="true"), version="1.9")
    assert vc.pose(degrees, degrees.state(), "base").is_close(vc.Pose(rpy=(0, 0, np.pi / 2)))
    quaternion = load(link("base", "0 0 0 0 0 1 0", rotation_format="quat_xyzw"), version="1.9")
    assert vc.pose(quaternion, quaternion.state(), "base").is_close(vc.Pose(rpy=(0, 0, np.pi)))


def test_what_links_carry_may_be_relative_to_other_frames(load):
    """Shapes, collisions and inertias whose poses name a frame are where that frame is, not where their link is."""
    ball = "<geometry><sphere><radius>0.1</radius></sphere></geometry>"
    mass = "<mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia>"
    pose = '<pose relative_to="f">0.1 0 0 0 0 0</pose>'
    m = load(
        '<frame name="f"><pose>0 0 2 0 0 1.5707963267948966</pose></frame>',
        f'<link name="base"><pose>0 0 1 0 0 0</pose><inertial>{pose}{mass}</inertial>'
        f'<visual name="v">{pose}{ball}</visual><collision name="c">{pose}{ball}</collision></link>',
        version="1.7",
        contacts=True,
    )
    (drawn,), (touching,) = m.link("base").shapes, m.contact_shapes("base")
    for place in (drawn.at.p, touching.at.p, m.link("base").inertia.com):
        assert np.abs(place - (0, 0.1, 1)).max() < 1e-15
    with pytest.raises(vc.FormatError, match="names frame 'nowhere'"):
        load(f'<link name="base"><visual name="v"><pose relative_to="nowhere">0 0 0 0 0 0</pose>{ball}</visual></link>')


def test_graphs(load):
    """A ring of links closes at its ball joint, whichever comes first; the world may be anywhere in it."""
    hinges = [
        joint(f"j{i}", a, b, axis("0 1 0")) for i, (a, b) in enumerate([("world", "a"), ("a", "b"), ("world", "c")])
    ]
    ball = joint("ball", "b", "c", kind="ball")
    links = [link(name, f"{i} 0 0 0 0 0") for i, name in enumerate("abc")]
    for order in ([ball, *hinges], [*hinges, ball]):
        m = load(*links, *order)
        assert [one.joint.name for one in m.virtual_links] == ["ball"]
        assert vc.assemble(m, m.state()).distance == 0.0
        assert vc.mobility(m, m.state(), probe=False).n_loops == 1
    backwards = load(link("a"), link("b"), joint("j", "b", "a", axis("0 1 0")), joint("k", "a", "world", axis("0 0 1")))
    assert backwards.joint("j").axis == (0, -1, 0) and backwards.joint("k").axis == (0, 0, -1)
    s = backwards.state()
    s["k"].q = 0.3
    assert vc.pose(backwards, s, "a").is_close(vc.Pose(rpy=(0, 0, -0.3)), 1e-12)


def test_joint_fields(load):
    """Limits, springs, dampers, screws of both spellings, universal joints and mimics arrive."""
    spring = "<spring_stiffness>3</spring_stiffness><spring_reference>4</spring_reference>"
    dynamics = f"<dynamics><damping>1</damping><friction>2</friction>{spring}</dynamics>"
    limit = "<limit><lower>-1e16</lower><upper>2</upper><effort>7</effort><velocity>-1</velocity></limit>"
    names = "abcdefg"
    m = load(
        *(link(name, f"0 0 {i} 0 0 0") for i, name in enumerate(names)),
        joint("r", "a", "b", axis("0 0 1", dynamics + limit)),
        joint("s", "b", "c", "<thread_pitch>-4</thread_pitch>" + axis("0 0 1"), "screw"),
        joint("t", "c", "d", "<screw_thread_pitch>0.5</screw_thread_pitch>" + axis("0 0 1"), "screw"),
        joint("u", "d", "e", axis("1 0 0", limit) + axis("0 1 0", tag="axis2"), "universal"),
        joint("p", "e", "f", axis("1 0 0"), "prismatic"),
        joint(
            "c",
            "f",
            "g",
            axis(
                "0 0 1",
                '<mimic joint="r"><multiplier>2</multiplier><offset>1</offset><reference>0.25</reference></mimic>',
            ),
            "continuous",
        ),
        version="1.11",
    )
    r = m.joint("r")
    assert (r.damping, r.friction, r.stiffness, r.rest) == ((1,), (2,), (3,), (4,))
    assert r.limits == ((-np.inf,), (2,)) and m.source.efforts["r"] == 7 and "r" not in m.source.velocities
    assert m.joint("s").pitch == 0.25 and m.joint("t").pitch == pytest.approx(0.5 / (2 * np.pi))
    assert m.joint("u").limits == ((-np.inf, -np.inf), (2, np.inf))
    assert [str(one) for one in m.couplings] == ["c = 2 r + 0.5"]


def test_worlds(load):
    """Several models of a world keep their names apart; static ones stand still, and gravity is the world's."""
    whole = (
        '<sdf version="1.6"><world name="w"><gravity>0 0 -3.7</gravity><light name="sun"/>'
        f'<model name="a"><pose>0 0 5 0 0 0</pose>{link("x")}</model>'
        f'<model name="b"><static>true</static>{link("x")}</model>'
        "</world></sdf>"
    )
    m = load(whole=whole)
    assert [one.name for one in m.links] == ["a::x", "b::x"] and m.gravity[2] == -3.7
    assert m.joint("a::x").kind == "free" and m.joint("b::x").kind == "fixed"
    assert vc.pose(m, m.state(), "a::x").is_close(vc.Pose((0, 0, 5))) and "<light> in <world>" in str(m.source)


def test_defaults(load):
    """A link without inertial has SDF's own default, with a note; shapes arrive."""
    shapes = "".join(
        f"<visual name='{i}'><geometry>{shape}</geometry></visual>"
        for i, shape in enumerate(
            [
                "<box><size>1 2 3</size></box>",
                "<sphere><radius>1</radius></sphere>",
                "<cylinder><radius>1</radius><length>2</length></cylinder>",
                "<plane/>",
            ]
        )
    )
    m = load(link("a", inside=shapes))
    assert m.link("a").inertia == vc.Inertia(1.0, about_com=(1, 1, 1)) and "as SDF says" in str(m.source)
    assert m.link("a").shapes == (vc.Box((1, 2, 3)), vc.Sphere(1), vc.Cylinder(1, 2)) and "<plane>" in str(m.source)


BAD = {
    "unknown frame": ([link("a", relative_to="x")], 3, "names frame 'x'"),
    "frames in a circle": ([link("a", relative_to="b"), link("b", relative_to="a")], 3, "in a circle"),
    "unknown link": ([link("a"), joint("j", "a", "b", axis("0 0 1"))], 4, "names frame 'b'|no link"),
    "own child": ([link("a"), joint("j", "a", "a", axis("0 0 1"))], 4, "to itself"),
    "no axis": ([link("a"), link("b"), joint("j", "a", "b", axis("0 0 0"))], 5, "length zero"),
    "odd type": ([link("a"), link("b"), joint("j", "a", "b", kind="rubber")], 5, "'rubber'; types"),
    "include": ([link("a"), "<include><uri>model://x</uri></include>"], 4, "includes another file"),
    "infinite": ([link("a", "0 0 1e999 0 0 0")], 3, "finite"),
    "five numbers": ([link("a", "0 0 0 0 0")], 3, "must be 6 numbers"),
    "swapped limits": (
        [link("a"), link("b"), joint("j", "a", "b", axis("0 0 1", "<limit><lower>2</lower><upper>1</upper></limit>"))],
        5,
        "above the upper",
    ),
    "automatic inertia": ([link("a", inside='<inertial auto="true"/>')], 3, "not supported"),
    "gearbox on nothing": (
        [
            link("a"),
            link("b"),
            joint(
                "j",
                "a",
                "b",
                "<gearbox_ratio>2</gearbox_ratio><gearbox_reference_body>a</gearbox_reference_body>",
                "gearbox",
            ),
        ],
        5,
        "needs a revolute joint",
    ),
    "double link": ([link("a"), link("a")], 4, "second frame is called 'a'"),
}


@pytest.mark.parametrize(("parts", "line", "words"), BAD.values(), ids=BAD.keys())
def test_bad_files(load, parts, line, words):
    """A file that cannot be meant is refused with its line and a sentence."""
    with pytest.raises(vc.FormatError, match=words) as caught:
        load(*parts)
    assert caught.value.line == line


@pytest.mark.parametrize("version", ["2.0", "1.99", "x", "1", ""])
def test_bad_versions(load, version):
    """Versions that nobody has defined are refused."""
    with pytest.raises(vc.FormatError, match="version"):
        load(link("a"), version=version)
