"""Named postures from SRDF files, and which joints of a URDF file have motors."""

import pytest

import varichain as vc
from real_robots import EXAMPLES_URDF, example, needs_examples
from varichain.errors import FormatError, InputError

URDF = """<robot name="arm">
<link name="base"/>
{links}
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><limit lower="-1" upper="1"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><limit lower="-1" upper="1"/></joint>
{more}</robot>"""
LINK = """<link name="{}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
TRANSMISSION = """<transmission name="t"><joint name="elbow"/></transmission>"""
CONTROL = """<ros2_control name="c"><joint name="elbow"><command_interface name="effort"/></joint>
<joint name="shoulder"><state_interface name="position"/></joint></ros2_control>"""


def arm(tmp_path, more="", **options):
    """A robot of two hinges."""
    links = "".join(LINK.format(name) for name in ("upper", "lower"))
    path = tmp_path / "arm.urdf"
    path.write_text(URDF.format(links=links, more=more))
    return vc.load(path, **options)


@pytest.mark.parametrize("more", [TRANSMISSION, CONTROL])
def test_joints_without_motors_are_passive(tmp_path, more):
    """Where a file names motors, other joints have none, and a note says how many."""
    m = arm(tmp_path, more)
    assert m.joint("elbow").actuated and not m.joint("shoulder").actuated
    assert any("1 joints without" in str(note) for note in m.source.notes)
    assert all(joint.actuated for joint in arm(tmp_path).joints if joint.n_v)


def test_postures_by_name(tmp_path):
    """States of one name in several groups are one; joints of another robot are left out."""
    m = arm(tmp_path, base="free")
    path = tmp_path / "arm.srdf"
    path.write_text(
        """<robot name="arm"><group_state name="home" group="a"><joint name="elbow" value="0.5"/>
        <joint name="nose" value="1"/></group_state>
        <group_state name="home" group="b"><joint name="shoulder" value="-0.25"/>
        <joint name="root_joint" value="1 2 3 0 0 1 0"/></group_state>
        <group_state name="zero" group="a"/></robot>"""
    )
    postures = vc.load_postures(path, m)
    assert list(postures) == ["home", "zero"]
    home = postures["home"]
    assert (home["elbow"].q, home["shoulder"].q) == (0.5, -0.25)
    base = next(joint.name for joint in m.joints if joint.n_v == 6)
    assert home[base].q.tolist() == [0, 0, 0, 1, 1, 2, 3]
    assert (postures["zero"].q == m.state().q).all()


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("<model/>", FormatError, "root of an SRDF"),
        (
            '<robot><group_state name="a"><joint name="elbow" value="1 2 3"/></group_state></robot>',
            FormatError,
            "has 1",
        ),
        ('<robot><group_state name="a"><joint name="elbow" value="x"/></group_state></robot>', FormatError, "value"),
        ('<robot><group_state name="a"><joint name="nose" value="1"/></group_state></robot>', InputError, "another"),
    ],
)
def test_bad_files(tmp_path, text, error, said):
    """Files of another kind, of another robot, or with values that do not fit, are refused."""
    m = arm(tmp_path)
    (tmp_path / "bad.srdf").write_text(text)
    with pytest.raises(error, match=said):
        vc.load_postures(tmp_path / "bad.srdf", m)


@needs_examples
def test_talos_half_sits():
    """Talos' half sitting posture, from its own files: feet on the ground within a centimetre."""
    m = vc.load(example("talos_full_v2.urdf"), base="free", strict=False)
    srdf = next(path.parents[2] for path in EXAMPLES_URDF if path.name == "talos_full_v2.urdf") / "talos_data/srdf"
    s = vc.load_postures(srdf / "talos.srdf", m)["half_sitting"]
    for side in ("left", "right"):
        assert abs(vc.pose(m, s, f"{side}_sole_link").p[2]) < 0.01
