"""Named frames and postures of the figures: where they are, and that they can be connected."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import varichain as vc
from varichain.errors import DuplicateNameError, InputError, UnknownNameError
from varichain.figures import POSTURES, Body, human16, human40, place, take_posture
from varichain.figures.landmarks import landmarks
from varichain.mechanism import Capsule, Mechanism, Revolute
from varichain.mechanism.check import check
from varichain.spatial.pose import Pose

Figure = Callable[..., Mechanism]

figures = pytest.mark.parametrize("figure", [human40, human16])
ROUNDING = 1e-13  # of poses through ten joints, some metres large
SIDED = ("grip", "heel", "seat", "sole", "toe")


def where(m: Mechanism, s: vc.State, name: str) -> Pose:
    """World pose of a named frame."""
    return vc.pose(m, s, *m.frame(name))


@figures
def test_every_figure_has_the_same_frames(figure: Figure) -> None:
    """A figure has a frame on its head and five on each side, with its prefix."""
    expected = {"head top", *(f"{side} {name}" for side in ("left", "right") for name in SIDED)}
    assert set(figure().frames) == expected
    assert set(figure(prefix="ann ").frames) == {f"ann {name}" for name in expected}
    check(figure())


@figures
@pytest.mark.parametrize("sex", ["male", "female"])
def test_frames_of_a_standing_figure(figure: Figure, sex: str) -> None:
    """Standing, the head ends at the height, heel, sole and toe are on the floor, and the hands hang at the grips."""
    body = Body(1.62, 58.0, sex)
    m, points = figure(1.62, 58.0, sex), landmarks(body)
    s = m.state()
    hips = points["mid-hip"] - points["sole"] * (0.0, 0.0, 1.0)
    assert where(m, s, "head top").p == pytest.approx([0.0, 0.0, 1.62], abs=ROUNDING)
    for name in ("heel", "sole", "toe"):
        assert where(m, s, f"left {name}").p[2] == pytest.approx(0.0, abs=ROUNDING)
    heel, sole, toe = (where(m, s, f"left {name}").p for name in ("heel", "sole", "toe"))
    assert toe - heel == pytest.approx([body.segment_length("foot"), 0.0, 0.0], abs=ROUNDING)
    assert sole == pytest.approx(0.5 * (heel + toe), abs=ROUNDING)
    grip = where(m, s, "left grip").p - hips
    assert grip == pytest.approx(0.1 * points["wrist"] + 0.9 * points["knuckle"], abs=ROUNDING)
    upright = [name for name in m.frames if "seat" not in name]
    assert all(np.array_equal(where(m, s, name).R, np.eye(3)) for name in upright)


@figures
def test_right_frames_mirror_the_left_ones(figure: Figure) -> None:
    """Every frame on the right is the mirror image of that on the left."""
    m = figure()
    s = m.state()
    for name in SIDED:
        left, right = where(m, s, f"left {name}"), where(m, s, f"right {name}")
        assert right.p == pytest.approx(left.p * (1.0, -1.0, 1.0), abs=ROUNDING)
        assert right.is_close(Pose(right.p, left.R), ROUNDING)


@figures
def test_seats_are_the_undersides_of_the_thighs(figure: Figure) -> None:
    """Sitting, the seats are upright frames on the lowest line of the thighs' capsules."""
    m = figure()
    s = m.state()
    take_posture(s, "sitting")
    for side in ("left", "right"):
        capsule = m.link(f"{side} thigh").shapes[0]
        assert isinstance(capsule, Capsule)
        seat, thigh = where(m, s, f"{side} seat"), vc.pose(m, s, f"{side} thigh")
        assert seat.is_close(Pose(seat.p), ROUNDING)
        assert thigh.p[2] - seat.p[2] == pytest.approx(capsule.radius, abs=ROUNDING)
        assert 0.0 < seat.p[0] - thigh.p[0] < capsule.length


@figures
def test_hands_connect_by_the_names_of_their_frames(figure: Figure) -> None:
    """Connecting a grip to the ground is connecting the hand there."""
    m = figure()
    s = m.state()
    take_posture(s, "arms forward")
    m.connect("left grip", "ground", Revolute("y"), state=s, name="left hold")
    (link,) = m.virtual_links
    assert link.real is m.link("left hand")
    assert link.at.is_close(where(m, s, "left grip"), ROUNDING)


def test_a_frame_that_is_taken_leaves_the_mechanism_unchanged() -> None:
    """A figure whose frames collide with names of the mechanism is refused, and nothing of it remains."""
    m = Mechanism()
    m.add_frame("right toe", "ground")
    before = m.revision
    with pytest.raises(DuplicateNameError, match="frame called 'right toe'"):
        human40(mechanism=m)
    assert (m.revision, len(m), [*m.frames]) == (before, 0, ["right toe"])
    check(m)


@figures
@pytest.mark.parametrize("posture", list(POSTURES))
def test_postures_are_symmetric(figure: Figure, posture: str) -> None:
    """In every posture the right hand and foot are the mirror images of the left ones."""
    m = figure()
    s = m.state()
    take_posture(s, posture)
    for link in ("forearm", "hand", "shank", "foot"):
        left, right = (vc.pose(m, s, f"{side} {link}").p for side in ("left", "right"))
        assert right == pytest.approx(left * (1.0, -1.0, 1.0), abs=ROUNDING)


@figures
def test_a_posture_sets_every_joint(figure: Figure) -> None:
    """A posture leaves nothing of the one before: standing after any other is the zero configuration."""
    m = figure()
    s = m.state()
    zero = s.q.copy()
    for posture in POSTURES:
        take_posture(s, posture)
    take_posture(s, "standing")
    assert np.array_equal(s.q, zero)


@figures
@pytest.mark.parametrize("posture", list(POSTURES))
@pytest.mark.parametrize("frame", SIDED)
def test_place_brings_a_frame_where_it_is_wanted(figure: Figure, posture: str, frame: str) -> None:
    """The middle between left and right comes to the pose wanted, feet and thighs flat on it, whatever was before."""
    m = figure(at=(3.0, 1.0, -2.0), prefix="bob ")
    s = m.state()
    on = Pose((0.5, -0.2, 1.3), rotation_vector=(0.2, 0.1, 2.0))
    place(m, s, posture, frame, on, "bob ")
    left, right = (where(m, s, f"bob {side} {frame}") for side in ("left", "right"))
    assert 0.5 * (left.p + right.p) == pytest.approx(on.p, abs=1e-12)
    flat = vc.pose(m, s, m.links[0].name) if frame == "grip" else left
    assert flat.is_close(Pose(flat.p, on.R), 1e-12)


def test_hanging_straight_needs_no_elbows() -> None:
    """Arms, trunk and legs hang in one line below the bar: elbows carry nothing, hands half of the weight each."""
    m = human16()
    vc.figures.bar(m)
    s = m.state()
    place(m, s, "hanging straight", "grip", vc.pose(m, s, "bar"))
    assert abs(vc.center_of_mass(m, s)[0]) < 0.005  # [m] from below the bar
    for side in ("left", "right"):
        m.connect(f"{side} grip", "bar", vc.Revolute("y"), state=s, name=f"{side} grip")
    hold = vc.inverse_dynamics(m, s)
    weight = 9.81 * sum(link.inertia.mass for link in m.links)
    assert hold.loop_forces["left grip"][5] == pytest.approx(0.5 * weight)
    assert abs(hold["left elbow"][0]) < 0.01 and np.abs(hold["left hip"]).max() < 1.0  # [N m]


def test_squatting_is_balanced() -> None:
    """Squatting with flat feet, the centre of mass is above the middle of the feet, and the thighs are nearly level."""
    m = human40()
    s = m.state()
    place(m, s, "squatting", "sole")
    com = vc.center_of_mass(m, s)
    assert com[0] == pytest.approx(where(m, s, "left sole").p[0], abs=0.015)  # [m]
    assert com[2] < 0.6
    thigh, shank = vc.pose(m, s, "left thigh").p, vc.pose(m, s, "left shank").p
    assert 0.0 < shank[2] - thigh[2] + 0.12 < 0.12  # [m]: hips a little above the knees


def test_unknown_postures_and_figures_are_refused() -> None:
    """A posture that is not there is answered with the nearest; a prefix that no figure has is named."""
    m = human16()
    s = m.state()
    with pytest.raises(UnknownNameError, match="did you mean 'sitting'"):
        take_posture(s, "siting")
    with pytest.raises(InputError, match="no joint of a human figure begins with 'ann '"):
        take_posture(s, "sitting", "ann ")
    with pytest.raises(UnknownNameError, match="left knee"):
        place(m, s, "sitting", "knee")
    with pytest.raises(InputError, match="on must be a Pose"):
        place(m, s, "sitting", "seat", (1.0, math.nan, 0.0))
