"""Named frames on links, and connections between them."""

import copy
import pickle

import numpy as np
import pytest

import varichain as vc
from varichain.errors import DuplicateNameError, GapError, InputError, StructureError, UnknownNameError
from varichain.mechanism import Frame, Inertia, Mechanism, Revolute, Spherical, check
from varichain.spatial.pose import Pose


def pair(**options):
    """Two floating rods of one metre along x with a frame at the right end of the first and the left of the second."""
    m = Mechanism("pair", gravity=(0, 0, 0))
    for name, x, sign in (("a", 0.0, 1), ("b", 1.0, -1)):
        m.add_link(name, None, at=(x, 0, 0), inertia=Inertia.box(1.0, size=(1.0, 0.1, 0.1)))
        m.add_frame(f"end of {name}", name, (0.5 * sign, 0, 0), **options)
    return m


def test_frames_are_kept_in_order():
    """A frame is the name of its link and a pose in it; all frames are listed in the order they were added."""
    m = pair()
    assert m.frame("end of a") == Frame("a", Pose((0.5, 0, 0)))
    assert [*m.frames] == ["end of a", "end of b"]
    assert m.add_frame("origin", "ground") == Frame("ground", Pose())
    check(m)


def test_a_frame_is_an_edit():
    """A new frame counts as an edit, and a refused one does not."""
    m = pair()
    before = m.revision
    m.add_frame("middle", m.link("a"), Pose(rotation_vector=(0, 0, 1)))
    assert m.revision == before + 1
    with pytest.raises(DuplicateNameError):
        m.add_frame("middle", "b")
    assert m.revision == before + 1
    assert m.frame("middle").link == "a"


@pytest.mark.parametrize("twin_of", [Mechanism.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_have_the_frames(twin_of):
    """A copy has the same frames, and new ones of its own."""
    m = pair()
    twin = twin_of(m)
    assert dict(twin.frames) == dict(m.frames)
    twin.add_frame("another", "b")
    assert "another" not in m.frames
    check(twin)


def test_links_and_frames_share_their_names():
    """A frame cannot be called like a link, nor a link like a frame."""
    m = pair()
    with pytest.raises(DuplicateNameError, match="link called 'b'"):
        m.add_frame("b", "a")
    with pytest.raises(DuplicateNameError, match="frame called 'end of a'"):
        m.add_link("end of a", None)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("", "a"), InputError, "name of the frame"),
        (("x", "c"), UnknownNameError, "'c'"),
        (("x", "a", (0, 1)), InputError, "at must be a Pose"),
        (("x", "ab*"), StructureError, "is a copy"),
    ],
)
def test_wrong_frames_are_refused(arguments, error, words):
    """A frame without name, on no link, on a virtual link or nowhere is refused."""
    m = pair()
    m.connect("a", "b", Spherical(), (0.5, 0, 0), (-0.5, 0, 0), name="hinge")
    if arguments[1] == "ab*":
        arguments = (arguments[0], m.virtual_links[0])
    with pytest.raises(error, match=words):
        m.add_frame(*arguments)
    assert "x" not in m.frames


def test_unknown_frames_are_told():
    """A frame that is not there is answered with the nearest name; something that is no name is refused."""
    with pytest.raises(UnknownNameError, match="did you mean 'end of a'"):
        pair().frame("end of aa")
    with pytest.raises(InputError, match="by its name"):
        pair().frame(3)


def test_connect_tells_links_and_frames():
    """An end that is neither a link nor a frame is answered with the nearest of both."""
    m = pair()
    with pytest.raises(
        UnknownNameError, match=r"no link or frame is called 'end off a' \(did you mean 'end of a'.*links or"
    ):
        m.connect("end off a", "b", Spherical(), state=m.state())


def test_connect_takes_frames():
    """Connecting named frames is connecting their links at their poses, with or without a state."""
    plain, named, timed = pair(), pair(), pair()
    plain.connect("a", "b", Revolute("y"), (0.5, 0, 0), (-0.5, 0, 0), name="hinge")
    named.connect("end of a", named.frame("end of b"), Revolute("y"), name="hinge")
    timed.connect("end of a", "end of b", Revolute("y"), state=timed.state(), name="hinge")
    for m in (named, timed):
        (link,), (expected,) = m.virtual_links, plain.virtual_links
        assert (link.real.name, link.parent.name) == ("a", "b")
        assert link.at == expected.at
        assert link.on_real == expected.on_real


def test_a_pose_beside_a_frame_is_in_the_frame():
    """`at` beside a named frame is a pose in that frame."""
    m = pair()
    m.add_frame("turned", "a", Pose((0.5, 0, 0), rotation_vector=(0, 0, 0.5)))
    extra = Pose((0.1, 0, 0), rotation_vector=(0.3, 0, 0))
    link = m.connect("turned", "b", Spherical(), at=extra, at_other=(0, 0, 0))
    assert link.on_real == m.frame("turned").at @ extra


def test_frames_that_are_apart_are_refused():
    """With a state, two named frames must meet, or be near enough to snap; a frame and a link meet where it is."""
    m = pair()
    s = m.state()
    s["b"].position = (0.01, 0.0, 0.0)
    with pytest.raises(GapError):
        m.connect("end of a", "end of b", Spherical(), state=s)
    with pytest.raises(GapError):
        vc.impact(m, s, [vc.connect("end of a", "end of b", Spherical())])
    m.connect("end of a", "b", Spherical(), state=s, name="where it is")
    assert m.virtual_links[0].at.p == pytest.approx([-0.51, 0.0, 0.0])
    m.cut("where it is")
    vc.change(m, s, [vc.connect("end of a", "end of b", Spherical(), name="snapped", snap=0.02)])
    assert vc.loop_states(m, s)["snapped"].gap < 1e-12
    assert vc.pose(m, s, *m.frame("end of a")).is_close(vc.pose(m, s, *m.frame("end of b")), 1e-12)


def test_the_log_replays_connections_of_frames():
    """What was connected by names of frames is replayed by the log."""
    m, twin = pair(), pair()
    m.connect("end of a", "end of b", Spherical(), state=m.state(), name="hinge")
    m.log.replay(twin)
    assert twin.virtual_links[0].at == m.virtual_links[0].at


def test_pose_and_velocity_of_a_frame():
    """A frame fits the functions that take a link and a pose in it."""
    m = pair()
    s = m.state()
    s["a"].orientation = (0.3, 0.2, -0.5)
    s.v = np.random.default_rng(5).uniform(-1.0, 1.0, m.n_v)
    frame = m.frame("end of a")
    assert vc.pose(m, s, *frame).is_close(vc.pose(m, s, "a") @ frame.at, 0.0)
    assert vc.pose(m, s, "a", (0.5, 0, 0)).is_close(vc.pose(m, s, *frame), 0.0)
    assert vc.velocity(m, s, *frame) == pytest.approx(vc.velocity(m, s, "a", (0.5, 0, 0)), abs=0.0)
