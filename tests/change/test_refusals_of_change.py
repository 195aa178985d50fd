"""Refused changes raise errors with names and leave mechanism and state exactly as they were."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from measure import deviation, random_state
from motion import Snapshot, world
from varichain.mechanism import Fixed, Inertia, Prismatic, Revolute, Spherical

BALL = Spherical()


@pytest.fixture
def swinging():
    """Two trees in motion with a loop between them, a massless frame, and a stand fixed to the ground."""
    rng = np.random.default_rng(1)
    m = zoo.random_tree(rng, 8, ("revolute", "spherical", "universal"), n_trees=2)
    m.add_link("frame", "link 7", Fixed(), at=(0.1, 0, 0))
    m.add_link("stand", "ground", Fixed(), at=(1, 0, 0), inertia=Inertia.sphere(1.0, 0.1))
    s = random_state(rng, m)
    m.connect("link 3", "link 6", BALL, at=(0.1, 0.2, 0.3), state=s, name="loop")
    s.time = 1.5
    return m, s


def nan_state(s):
    """The state with a velocity that is not a number, past the setter's check."""
    s.v[3] = np.nan
    return s


def other_state():
    """State of another mechanism."""
    m = zoo.double_pendulum()
    return m.state()


REFUSED = {
    "unknown link a": (lambda m, s: [vc.connect("hand", "ground", BALL)], vc.UnknownNameError, "hand"),
    "unknown link b": (lambda m, s: [vc.connect("link 0", "bar", BALL)], vc.UnknownNameError, "bar"),
    "unknown joint": (lambda m, s: [vc.cut("grip")], vc.UnknownNameError, "grip"),
    "cut the ground": (lambda m, s: [vc.cut("ground")], vc.UnknownNameError, "ground"),
    "cut twice": (lambda m, s: [vc.cut("loop"), vc.cut("loop")], vc.UnknownNameError, "loop"),
    "link with itself": (lambda m, s: [vc.connect("link 1", "link 1", BALL)], vc.StructureError, "itself"),
    "ground with itself": (lambda m, s: [vc.connect("ground", "ground", BALL)], vc.StructureError, "itself"),
    "rigidly one": (lambda m, s: [vc.connect("frame", "link 7", BALL)], vc.StructureError, "rigidly one"),
    "one with the ground": (lambda m, s: [vc.connect("stand", "ground", BALL)], vc.StructureError, "rigidly one"),
    "a virtual link": (
        lambda m, s: [vc.connect(m.link_of_joint("loop"), "ground", BALL)],
        vc.StructureError,
        "link 3",
    ),
    "name taken": (lambda m, s: [vc.connect("link 0", "ground", BALL, name="loop")], vc.DuplicateNameError, "loop"),
    "name twice": (
        lambda m, s: [
            vc.connect("link 0", "ground", BALL, name="new"),
            vc.connect("link 1", "ground", BALL, name="new"),
        ],
        vc.DuplicateNameError,
        "new",
    ),
    "first done, second impossible": (
        lambda m, s: [vc.cut("loop"), vc.connect("link 0", "ground", BALL), vc.connect("link 1", "nowhere", BALL)],
        vc.UnknownNameError,
        "nowhere",
    ),
    "cut done, second impossible": (
        lambda m, s: [vc.cut(m.joints[3].name), vc.cut(m.joints[5].name), vc.cut("nothing")],
        vc.UnknownNameError,
        "nothing",
    ),
    "gap": (lambda m, s: [vc.connect("link 5", "ground", BALL, at_other=(9, 9, 9))], vc.GapError, "apart"),
    "gap of the second": (
        lambda m, s: [vc.connect("link 4", "ground", BALL), vc.connect("link 5", "ground", BALL, at_other=(9, 9, 9))],
        vc.GapError,
        "apart",
    ),
    "gap beyond snap": (
        lambda m, s: [vc.connect("link 5", "ground", BALL, at_other=(9, 9, 9), snap=0.1)],
        vc.GapError,
        "0.1 allowed",
    ),
    "gap that cannot close": (
        lambda m, s: [vc.connect("link 0", "ground", BALL, at=(0, 0, 0), at_other=(9, 9, 9), snap=100.0)],
        vc.GapError,
        "cannot be closed",
    ),
    "no joint": (lambda m, s: [vc.connect("link 0", "ground", "ball")], vc.InputError, "joint"),
    "bad place": (lambda m, s: [vc.connect("link 0", "ground", BALL, at=(0, np.nan, 0))], vc.InputError, "at"),
    "bad other place": (
        lambda m, s: [vc.connect("link 0", "ground", BALL, at_other="here")],
        vc.InputError,
        "at_other",
    ),
    "armature at a loop": (
        lambda m, s: [vc.connect("link 0", "ground", Spherical(armature=1.0))],
        vc.InputError,
        "armature",
    ),
    "massless": (lambda m, s: [vc.cut("frame")], vc.SingularMassError, "frame"),
    "no action": (lambda m, s: ["cut it"], vc.InputError, "vc.connect"),
    "joint is no name": (lambda m, s: [vc.cut(7)], vc.InputError, "name"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(swinging, case):
    """A change with an impossible action raises an error that says which, and does none of the others either."""
    m, s = swinging
    actions, error, words = REFUSED[case]
    before, arrays = Snapshot(m, s), dict(s.layout.arrays)
    layout = s.layout
    with pytest.raises(error, match=words):
        vc.change(m, s, actions(m, s))
    before.assert_unchanged(m, s)
    assert s.layout is layout
    assert all(layout.arrays[name] is array for name, array in arrays.items())
    # and the mechanism still works
    vc.forward_dynamics(m, vc.project(m, s))


@pytest.mark.parametrize("case", [case for case in REFUSED if "gap" not in case])
def test_impact_refuses_too(swinging, case):
    """`impact` refuses impossible connections like `change`, and cuts altogether; nothing has changed."""
    m, s = swinging
    before = Snapshot(m, s)
    with pytest.raises(vc.VarichainError):
        vc.impact(m, s, REFUSED[case][0](m, s))
    before.assert_unchanged(m, s)


@pytest.mark.parametrize("case", ["nan", "stranger", "no state", "long quaternion"])
def test_bad_states(swinging, case):
    """A state with NaN, of another mechanism or of no mechanism is refused, and the mechanism has not changed."""
    m, s = swinging
    if case == "nan":
        s = nan_state(s)
    elif case == "stranger":
        s = other_state()
    elif case == "no state":
        s = "now"
    else:
        i = next(slot.q.start for slot in s.layout.slots if slot.has_quaternion)
        s.q[i : i + 4] *= 1.1
    before = Snapshot(m)
    bits = s.q.tobytes() + s.v.tobytes() if case != "no state" else b""
    for call in (
        lambda: m.connect("link 0", "ground", BALL, state=s),
        lambda: m.cut("loop", state=s),
        lambda: vc.change(m, s, [vc.cut("loop")]),
        lambda: vc.impact(m, s, [vc.connect("link 0", "ground", BALL)]),
    ):
        with pytest.raises(vc.StaleStateError if case == "stranger" else vc.InputError):
            call()
        before.assert_unchanged(m)
    assert bits == (s.q.tobytes() + s.v.tobytes() if case != "no state" else b"")


def test_gap_is_told(swinging):
    """A GapError carries the gap: how far the frames are apart, in metres or radians."""
    m, s = swinging
    X = vc.pose(m, s, "link 5")
    with pytest.raises(vc.GapError) as caught:
        m.connect("link 5", "ground", BALL, at_other=np.add(X.p, (0, 0.25, 0)), state=s)
    assert caught.value.gap == pytest.approx(0.25, rel=1e-12)
    turned = X @ vc.Pose(rotation_vector=(0, 0.3, 0))
    with pytest.raises(vc.GapError) as caught:
        m.connect("link 5", "ground", Prismatic("y"), at_other=turned, state=s)
    assert caught.value.gap == pytest.approx(0.3, rel=1e-12)


def test_frames_that_meet_but_for_what_the_joint_allows(swinging):
    """Frames that differ only along the joint's freedoms meet: there is no gap."""
    m, s = swinging
    X = vc.pose(m, s, "link 5")
    turned = X @ vc.Pose(rotation_vector=(0, 0, 0.3))
    m.connect("link 5", "ground", Revolute("z"), at_other=turned, state=s, name="hinge")
    assert deviation(vc.loop_states(m, s)["hinge"].q, [-0.3]) < 1e-12


def test_snap(swinging):
    """Within its tolerance, snap moves the links until the frames meet, all loops closed; then comes the impact."""
    m, s = swinging
    X = vc.pose(m, s, "link 5")
    before = world(m, s)[0]
    with pytest.raises(vc.GapError):
        m.connect("link 5", "ground", BALL, at_other=np.add(X.p, (0.004, 0, 0.003)), state=s, snap=0.0039)
    m.connect("link 5", "ground", BALL, at_other=np.add(X.p, (0.004, 0, 0.003)), state=s, snap=0.01, name="snapped")
    after = vc.loop_states(m, s)
    assert max(loop.gap for loop in after.values()) < 1e-11
    assert 1e-4 < np.abs(world(m, s)[0] - before).max() < 0.2
    assert np.abs(vc.velocity(m, s, "link 5")[3:]).max() < 1e-10
    assert set(after) == {"loop", "snapped"}


def test_tiny_gaps_need_no_snap():
    """Frames that coincide but for rounding are connected as they are: no pose moves."""
    m, s = closed_zoo.four_bar()
    pin = m.link_of_joint("pin")
    at, at_other = pin.on_real, pin.at
    m.cut("pin", state=s)
    before = s.q.copy()
    m.connect("coupler", "rocker", closed_zoo.hinge("pin"), at, at_other, state=s)
    assert np.array_equal(s.q, before)


@pytest.mark.parametrize("snap", [0.0, -1.0, float("nan"), "near"])
def test_impossible_snap(swinging, snap):
    """A snap that is not a positive number is refused."""
    m, s = swinging
    before = Snapshot(m, s)
    with pytest.raises(vc.InputError, match="snap"):
        m.connect("link 5", "ground", BALL, state=s, snap=snap)
    before.assert_unchanged(m, s)


def test_without_a_state(swinging):
    """Refused edits of the structure alone leave no trace either."""
    m, s = swinging
    before = Snapshot(m, s)
    for call in (
        lambda: m.connect("link 5", "ground", BALL),
        lambda: m.connect("link 5", "link 5", BALL, at_other=(0, 0, 0)),
        lambda: m.connect("stand", "ground", BALL, at_other=(0, 0, 0)),
        lambda: m.connect("link 5", "ground", BALL, at_other=(0, 0, 0), name="loop"),
        lambda: m.connect("link 5", "ground", BALL, at_other=(0, 0, 0), name=""),
        lambda: m.cut("nothing"),
    ):
        with pytest.raises(vc.VarichainError):
            call()
        before.assert_unchanged(m, s)


def test_an_empty_change(swinging):
    """A change without actions is allowed and changes neither structure nor state."""
    m, s = swinging
    q, v, text, revision = s.q.copy(), s.v.copy(), str(m), m.revision
    done = vc.change(m, s, [])
    assert done.edits == ()
    assert np.array_equal(s.q, q)
    assert np.array_equal(s.v, v)
    assert (str(m), m.revision) == (text, revision)


def test_impact_tells_gaps_too(swinging):
    """An impact of frames that do not meet is refused, as the connection would be."""
    m, s = swinging
    with pytest.raises(vc.GapError, match="apart") as caught:
        vc.impact(m, s, [vc.connect(m.links[0], "ground", vc.Fixed(), at_other=(9, 0, 0))])
    assert caught.value.gap > 1.0


# --- how far apart frames may be --------------------------------------------------------------------------------------

APART, TOGETHER = 2e-6, 0.5e-6  # [m or rad], beyond and within what counts as meeting, 1e-6


def shifted(m, s, gap, **more):
    """Nail link 5 to the ground, a gap [m] away from where it is."""
    m.connect("link 5", "ground", BALL, at_other=np.add(vc.pose(m, s, "link 5").p, (0, gap, 0)), state=s, **more)


def turned(m, s, gap):
    """Put link 5 on a slide, turned by a gap [rad] from where it is."""
    at_other = vc.pose(m, s, "link 5") @ vc.Pose(rotation_vector=(0, gap, 0))
    m.connect("link 5", "ground", Prismatic("y"), at_other=at_other, state=s)


def coupled(m, s, gap):
    """Couple two hinges with an offset that is a gap [rad] from where they are."""
    a, b = [joint.name for joint in m.joints if joint.kind == "revolute"][:2]
    m.couple(a, b, offset=s[a].q - s[b].q + gap, state=s)


def framed(m, s, gap):
    """Connect two named frames that are a gap [m] apart."""
    m.add_frame("here", "link 5", (0, 0, 0))
    m.add_frame("there", "ground", np.add(vc.pose(m, s, "link 5").p, (gap, 0, 0)))
    m.connect("here", "there", BALL, state=s)


def with_changes(m, s, gap):
    """Connect within a change of several actions."""
    nail = vc.connect("link 5", "ground", BALL, at_other=np.add(vc.pose(m, s, "link 5").p, (0, 0, gap)))
    vc.change(m, s, [vc.cut("loop"), nail])


@pytest.mark.parametrize("act", [shifted, turned, coupled, framed, with_changes])
def test_how_far_apart_frames_may_be(swinging, act):
    """A gap of two millionths of a metre or radian is refused and told, one of half a millionth counts as none."""
    m, s = swinging
    with pytest.raises(vc.GapError) as caught:
        act(m.copy(), s.copy(), APART)
    assert caught.value.gap == pytest.approx(APART, rel=1e-6)
    q = s.q.copy()
    act(m, s, TOGETHER)
    assert np.array_equal(s.q, q)


def test_snap_may_be_stricter_than_meeting(swinging):
    """With a snap, the snap alone says how far apart frames may be, and what is within it is closed, however little."""
    m, s = swinging
    with pytest.raises(vc.GapError, match=r"allowed.*give a larger snap"):
        shifted(m.copy(), s.copy(), TOGETHER, snap=0.25e-6)
    with pytest.raises(vc.GapError):
        shifted(m.copy(), s.copy(), APART, snap=0.99 * APART)
    for gap in (APART, TOGETHER):
        twin, state = m.copy(), s.copy()
        shifted(twin, state, gap, snap=1.01 * gap, name="snapped")
        assert vc.loop_states(twin, state)["snapped"].gap < 1e-11
        assert 0.0 < np.abs(s.difference(state)).max() < 100.0 * gap


def test_impacts_refuse_the_same_gaps(swinging):
    """The question what an impact would do has the same measure of a gap as the connection."""
    m, s = swinging
    p = vc.pose(m, s, "link 5").p
    with pytest.raises(vc.GapError):
        vc.impact(m, s, [vc.connect("link 5", "ground", BALL, at_other=np.add(p, (0, APART, 0)))])
    vc.impact(m, s, [vc.connect("link 5", "ground", BALL, at_other=np.add(p, (0, TOGETHER, 0)))])
