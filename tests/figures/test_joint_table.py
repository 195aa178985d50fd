"""Limits and damping of the figures' joints: those of the table, and wide enough for what people do."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import varichain as vc
from varichain.figures import POSTURES, Body, human16, human40, take_posture
from varichain.figures.joint_table import BALLS, HINGES, MARGIN
from varichain.figures.joints import ball_limits, extremes, smallest_cone
from varichain.mechanism import Mechanism, Revolute, Spherical, SwingTwist
from varichain.spatial.checks import NAMED_AXES
from varichain.spatial.rotation import matrix_from_quaternion, quaternion_from_rotation_vector

Figure = Callable[..., Mechanism]

figures = pytest.mark.parametrize("figure", [human40, human16])
balls = pytest.mark.parametrize("name", list(BALLS))
sides = pytest.mark.parametrize("is_right", [False, True])

ROUNDING = 1e-9  # [rad]; the directions that a cone is built from are rounded to 1e-12
MARGIN_RAD = math.radians(MARGIN)

# Flexion of hip and knee and dorsiflexion of the ankle [deg] at 0, 10, ..., 100 % of a stride at natural cadence,
# rounded from D. A. Winter, The Biomechanics and Motor Control of Human Gait.
GAIT = (
    (20, 17, 10, 3, -4, -10, -6, 8, 19, 22, 20),
    (4, 17, 20, 14, 9, 13, 36, 62, 55, 22, 4),
    (0, -4, 4, 7, 9, 8, -17, -12, 0, 1, 0),
)


def joint_parts(m: Mechanism) -> list[tuple[str, str, Spherical | Revolute]]:
    """Side, name in the table and joint of everything but the root and fixed joints."""
    found = []
    for joint in m.joints:
        if isinstance(joint, (Spherical, Revolute)):
            side, _, part = str(joint.name).rpartition(" ")
            found.append((side, part, joint))
    return found


def turn(motion_axis: str, degrees: float, is_right: bool) -> np.ndarray:
    """Quaternion of a motion of the table on one side, by the mirror's definition."""
    x, y, z = math.radians(degrees) * np.array(NAMED_AXES[motion_axis])
    return quaternion_from_rotation_vector((-x, y, -z) if is_right else (x, y, z))


@figures
def test_every_joint_has_the_limits_of_the_table(figure: Figure) -> None:
    """Ball joints have the region of the table, elbows and knees its flexion, each widened by the margin."""
    parts = joint_parts(figure())
    assert len(parts) == {human40: 16, human16: 8}[figure]
    for side, part, joint in parts:
        if isinstance(joint, Spherical):
            assert joint.limits == ball_limits(part, side == "right")
        else:
            (lower,), (upper,) = joint.limits
            assert np.degrees([lower, upper]) == pytest.approx([-MARGIN, HINGES[part].flexion + MARGIN])


@balls
@sides
def test_no_motion_of_the_table_is_refused(name: str, is_right: bool) -> None:
    """Every motion of the table, from zero to its end, is inside the limits by the margin."""
    limits = ball_limits(name, is_right)
    for motion in BALLS[name].motions:
        for share in np.linspace(0.0, 1.0, 13):
            q = turn(motion.turn, share * motion.degrees, is_right)
            assert limits.excess(q) <= -MARGIN_RAD + ROUNDING, motion


@balls
@sides
def test_the_region_is_no_larger_than_need_be(name: str, is_right: bool) -> None:
    """At least two of the table's motions end at the rim of the cone, and one at either end of the twist."""
    limits = ball_limits(name, is_right)
    _, poses = extremes(name, is_right)
    swings, twists = np.array([limits.angles(pose) for pose in poses]).T
    assert np.count_nonzero(np.abs(swings - (limits.swing - MARGIN_RAD)) < ROUNDING) >= 2
    assert twists.min() - MARGIN_RAD == pytest.approx(limits.twist[0], abs=ROUNDING)
    assert twists.max() + MARGIN_RAD == pytest.approx(limits.twist[1], abs=ROUNDING)


@pytest.mark.parametrize(
    ("name", "motion"),
    [
        ("hip", "flexion"),
        ("hip", "extension"),
        ("chest", "flexion"),
        ("chest", "extension"),
        ("neck", "flexion"),
        ("wrist", "flexion"),
        ("ankle", "plantar flexion"),
        ("ankle", "dorsiflexion"),
        ("ankle", "inversion"),
        ("hip", "lateral rotation"),
        ("neck", "left rotation"),
        ("wrist", "pronation"),
    ],
)
@sides
def test_limits_stop_where_people_do(name: str, motion: str, is_right: bool) -> None:
    """A motion that goes 20 degrees beyond its range is outside the limits by 20 degrees less the margin."""
    found = next(m for m in BALLS[name].motions if m.name == motion)
    excess = ball_limits(name, is_right).excess(turn(found.turn, found.degrees + 20.0, is_right))
    assert math.degrees(excess) == pytest.approx(20.0 - MARGIN, abs=1e-6)


@pytest.mark.parametrize(
    ("joint", "turned"),
    [
        ("left shoulder", (0.0, 100.0, 0.0)),  # far behind the back
        ("left shoulder", (-120.0, 0.0, 0.0)),  # through the body
        ("left hip", (0.0, 50.0, 0.0)),
        ("left hip", (0.0, 0.0, 70.0)),
        ("left ankle", (0.0, -40.0, 0.0)),
        ("neck", (0.0, 0.0, 90.0)),
        ("left clavicle", (60.0, 0.0, 0.0)),
        ("left wrist", (0.0, 0.0, 30.0)),  # supinated further than palms forward
    ],
)
def test_what_people_cannot_do_is_outside(joint: str, turned: tuple[float, float, float]) -> None:
    """Turns [deg] that no healthy joint makes are outside the limits, and their mirror images are on the right."""
    m = human40()
    s = m.state()
    s[joint].orientation = np.radians(turned)
    assert set(vc.limit_excess(m, s)) == {joint}
    if joint.startswith("left"):
        right = joint.replace("left", "right")
        s[right].orientation = np.radians(turned) * (-1.0, 1.0, -1.0)
        excess = vc.limit_excess(m, s)
        assert excess[right] == pytest.approx(excess[joint], abs=ROUNDING)


@figures
def test_standing_is_well_inside(figure: Figure) -> None:
    """In the zero configuration every joint is at least the margin away from its limits."""
    m = figure()
    s = m.state()
    assert vc.limit_excess(m, s) == {}
    for _, _, joint in joint_parts(m):
        if isinstance(joint.limits, SwingTwist):
            assert joint.limits.excess(s[str(joint.name)].q) <= -MARGIN_RAD + ROUNDING
        else:
            (lower,), (upper,) = joint.limits
            assert min(-lower, upper) >= MARGIN_RAD - ROUNDING


@figures
@pytest.mark.parametrize("posture", list(POSTURES))
def test_postures_are_inside_the_limits(figure: Figure, posture: str) -> None:
    """Standing, arms overhead, hanging, sitting and squatting are inside all limits."""
    m = figure()
    s = m.state()
    take_posture(s, posture)
    assert vc.limit_excess(m, s) == {}


def test_walking_is_inside_the_limits() -> None:
    """A whole stride of both legs, half a stride apart, is inside all limits."""
    m = human40()
    s = m.state()
    for k in range(10):
        for side, phase in (("left", k), ("right", (k + 5) % 10)):
            hip, knee, ankle = (math.radians(column[phase]) for column in GAIT)
            s[f"{side} hip"].orientation = (0.0, -hip, 0.0)
            s[f"{side} knee"].q = knee
            s[f"{side} ankle"].orientation = (0.0, -ankle, 0.0)
            s[f"{side} shoulder"].orientation = (0.0, 0.5 * hip, 0.0)
        assert vc.limit_excess(m, s) == {}, k


@pytest.mark.parametrize(
    ("outward", "forward", "twist"),
    [(0, 0, -20), (0, 0, 90), (15, 0, 0), (20, 30, 0), (45, 0, 45), (-4, 0, 0), (0, -4, 0), (20, -8, 10)],
)
def test_arms_overhead_may_lean_and_turn(outward: float, forward: float, twist: float) -> None:
    """Arms on a bar may be spread, and lean forward; narrowed or behind the head only by less than the margin [deg]."""
    outward, forward = math.radians(outward), math.radians(forward)
    m = human16()
    s = m.state()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        leaning = vc.Pose(rotation_vector=(-sign * outward, 0.0, 0.0)) @ vc.Pose(rotation_vector=(0.0, forward, 0.0))
        raised = vc.Pose(rotation_vector=(0.0, -math.pi, 0.0))
        turned = vc.Pose(rotation_vector=(0.0, 0.0, -sign * math.radians(twist)))
        s[f"{side} shoulder"].orientation = leaning @ raised @ turned
        assert (vc.pose(m, s, f"{side} forearm").p - vc.pose(m, s, f"{side} upper arm").p)[2] > 0.1
    assert vc.limit_excess(m, s) == {}


@figures
def test_limits_can_be_left_out(figure: Figure) -> None:
    """Without limits no joint has any."""
    assert all(joint.limits is None for joint in figure(limits=False).joints)


def test_smallest_cone_of_random_directions() -> None:
    """The smallest cone holds all directions, and no axis of thousands holds them in a smaller one."""
    rng = np.random.default_rng(3)
    for n in (3, 5, 9):
        for spread in (0.3, 1.0, 5.0):
            rays = np.array([0.0, 0.0, 1.0]) + spread * rng.standard_normal((n, 3))
            rays /= np.linalg.norm(rays, axis=1, keepdims=True)
            axis, angle = smallest_cone(list(rays))
            assert np.arccos((rays @ axis).min()) == pytest.approx(angle, abs=1e-7)
            others = rng.standard_normal((4000, 3))
            near = axis + 0.05 * rng.standard_normal((4000, 3))
            for tried in (others, near):
                unit = tried / np.linalg.norm(tried, axis=1, keepdims=True)
                assert np.arccos(np.clip((unit @ rays.T).min(axis=1), -1.0, 1.0)).min() >= angle - 1e-7


def test_the_shoulder_points_forward_and_out_in_the_middle_of_its_range() -> None:
    """The middle of the shoulder's range is in front of the body, to the side, and somewhat below the horizontal."""
    left, right = ball_limits("shoulder", False), ball_limits("shoulder", True)
    x, y, z = matrix_from_quaternion(left.center) @ left.axis
    assert x > 0.5
    assert y > 0.3
    assert -0.6 < z < 0.0
    mirrored = matrix_from_quaternion(right.center) @ right.axis
    assert mirrored == pytest.approx([x, -y, z], abs=ROUNDING)


# --- damping ---------------------------------------------------------------------------------------------------------


@figures
def test_damping_is_that_of_the_table(figure: Figure) -> None:
    """A figure of 70 kg and 1.75 m has the table's damping, its root and fixed joints none."""
    m = figure()
    for _, part, joint in joint_parts(m):
        expected = BALLS[part].damping if isinstance(joint, Spherical) else (HINGES[part].damping,)
        assert joint.damping == pytest.approx(expected, rel=1e-14)
        assert all(0.02 < value < 3.5 for value in joint.damping)
    assert m.joints[0].damping == (0.0,) * 6


@figures
def test_damping_grows_as_inertia_does(figure: Figure) -> None:
    """Damping grows with mass and the square of height, so that the ratio to the moments of inertia stays."""
    small, large = figure(1.2, 30.0, "female"), figure(1.8, 90.0, "female")
    for a, b in zip(small.joints, large.joints, strict=True):
        assert b.damping == pytest.approx(3.0 * 1.5**2 * np.array(a.damping), rel=1e-13)


@figures
def test_damping_can_be_given_or_left_out(figure: Figure) -> None:
    """False and zero switch damping off; a number is that of every freedom of every joint but the root."""
    for damping, expected in ((False, 0.0), (0, 0.0), (0.0, 0.0), (0.7, 0.7)):
        for joint in figure(damping=damping).joints:
            assert joint.damping == ((0.0 if joint.kind == "free" else expected),) * joint.n_v


def test_a_relaxed_leg_swings_as_in_the_pendulum_test() -> None:
    """The knee's damping over twice the inertia of shank and foot is the measured decay, 0.39 1/s [DROP, Fig. 1]."""
    measured = math.log(0.94 / 0.26) / (1.10 + 1.10 + 1.09)
    for height, mass, sex in ((1.75, 70.0, "male"), (1.741, 73.0, "male"), (1.65, 62.0, "female")):
        m = human16(height, mass, sex)
        foot = m.link("left foot")
        leg = m.link("left shank").inertia + foot.inertia.transformed(foot.at)
        decay = m.joint("left knee").damping[0] / (2.0 * leg.about((0.0, 0.0, 0.0))[1, 1])
        # The test is of one person; proportions differ between the sexes by less than a tenth.
        assert decay == pytest.approx(measured, rel=0.1)


def test_the_body_that_the_table_is_of() -> None:
    """The table's damping is that of the default body."""
    body = Body()
    assert (body.height, body.mass) == (1.75, 70.0)
