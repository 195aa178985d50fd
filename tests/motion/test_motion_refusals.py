"""What motions refuse, and in which words."""

import math

import numpy as np
import pytest
from scipy.interpolate import BSpline, CubicSpline, PPoly
from scipy.spatial.transform import Rotation, RotationSpline

import varichain as vc
import zoo

UNIT = (1.0, 0.0, 0.0, 0.0)
T = np.linspace(0.0, 1.0, 5)
RAMP = PPoly([[1.0], [0.0]], [0.0, 1.0])
TURN = RotationSpline([0.0, 1.0], Rotation.from_rotvec([[0, 0, 0], [0, 0, 1]]))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "motion of 'joint' must be a number, not nan"),
        (math.inf, "motion of 'joint' must be finite"),
        (None, "motion of 'joint' must be a PPoly.*a number.*RotationSpline.*found None"),
        ("up", "motion of 'joint' must be a PPoly"),
        (True, "motion of 'joint' must be a PPoly"),
        (math.sin, "a Python function goes to from_function"),
        ([], "found nothing"),
        ([1.0, math.nan], r"motion of 'joint'\[1\] must be a number, not nan"),
        ([RAMP, "up"], r"motion of 'joint'\[1\] must be a PPoly"),
        ([RAMP, CubicSpline(T, np.ones((5, 2)))], r"motion of 'joint'\[1\] must be one function of time, not 2"),
        (np.zeros((5, 2)), "samples go to sampled"),
        (np.zeros((5, 4)), "samples go to sampled"),
        (PPoly([[1.0], [math.nan]], [0.0, 1.0]), "must have finite coefficients, found nan"),
        (PPoly([[1.0, 1.0]], [2.0, 1.0, 0.0]), "break times of motion of 'joint' must be strictly increasing, found 2"),
        (PPoly([[1j]], [0.0, 1.0]), "must have real values"),
        (CubicSpline(T, np.ones((5, 0))), "must have real values"),
        (CubicSpline(T, np.ones((5, 2, 2))), r"one or a row at a time, not of shape \(2, 2\)"),
        (BSpline([0, 0, 1, 1], [0.0, math.inf], 1), "must have finite coefficients"),
        ((0.0, 0.0, 0.0, 0.0), "quaternion of motion of 'joint' must not have zero length"),
        ((1.0, math.nan, 0.0, 0.0), "motion of 'joint'.* must be a number, not nan"),
        (np.ones((3, 3)), "motion of 'joint': R must be a rotation matrix"),
        (Rotation.from_rotvec(np.zeros((5, 3))), "motion of 'joint' must be a PPoly"),
        ((UNIT, RAMP), "position of motion of 'joint' must be a spline of 3 columns or 3 numbers"),
        ((TURN, (1.0, 2.0)), "position of motion of 'joint' must be a spline of 3 columns or 3 numbers"),
        ((TURN, "here"), "position of motion of 'joint' must be a PPoly"),
    ],
)
def test_what_is_no_trajectory(value, message):
    """Trajectories of the wrong type, shape or with numbers that are not finite are refused with the joint's name."""
    with pytest.raises(vc.InputError, match=message):
        vc.Motion({"joint": value})


@pytest.mark.parametrize("given", [None, 5, [("a", 1.0)], {3: 1.0}, {"": 1.0}])
def test_joints_are_told_by_name(given):
    """Motions need a mapping whose keys are names."""
    with pytest.raises(vc.InputError, match="joint"):
        vc.Motion(given)
    with pytest.raises(vc.InputError, match="joint"):
        vc.Motion.sampled([0.0, 1.0], given if not isinstance(given, dict) else {k: [0, 1] for k in given})


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([0.0, 1.0, 1.0, 2.0, 3.0], "times must be strictly increasing, found 1 before 1"),
        ([0.0, 2.0, 1.0, 3.0, 4.0], "times must be strictly increasing, found 2 before 1"),
        ([0.0, 1.0, math.nan, 3.0, 4.0], "times must be finite, found nan"),
        ([0.0, 1.0, 2.0, 3.0, math.inf], "times must be finite, found inf"),
        ([0.0], "times must be at least 2 numbers"),
        ([[0.0, 1.0, 2.0, 3.0, 4.0]], "times must be at least 2 numbers in a row"),
        (["a", "b"], "times must be numbers in an array"),
        (3.0, "times must be numbers in an array"),
        ([0.0, 1.0, 2.0], r"n = 3 is the number of times; found shape \(5,\)"),
    ],
)
def test_times_of_samples(times, message):
    """Times must be finite, increasing, enough, and as many as samples."""
    with pytest.raises(vc.InputError, match=message):
        vc.Motion.sampled(times, {"knee": np.zeros(5)})


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([0.0, 1.0, math.nan, 0.0, 0.0], "motion of 'joint' must be finite, found nan at row 2"),
        (np.full((5, 4), math.inf), r"motion of 'joint' must be finite, found \[inf.* at row 0"),
        ("abcde", "motion of 'joint' must be numbers"),
        (1.0, "motion of 'joint' must be numbers"),
        ([[0.0], [1.0, 2.0], [0.0], [0.0], [0.0]], "motion of 'joint' must be numbers"),
        (np.zeros((5, 2, 2)), r"found shape \(5, 2, 2\)"),
        (np.zeros((4, 3)), r"found shape \(4, 3\)"),
        (np.zeros((5, 4)), "quaternions of any length but zero, found zero at row 0"),
        ((np.zeros(5), np.zeros((5, 2))), r"as a tuple must have \(5,\) numbers for each freedom"),
        ((), "as a tuple must have"),
        ((np.tile(UNIT, (5, 1)), np.zeros((5, 2))), r"positions of motion of 'joint' must have shape \(5, 3\)"),
        (np.tile([[0, 1.0, 0, 0], [1, 0, 0, 0]], (3, 1))[:5], "half a turn between t = 0 s and 0.25 s.*ambiguous"),
        (np.outer([0, 1, 2, 2 + math.pi, 5], [0, 0, 1]), "half a turn between t = 0.5 s and 0.75 s.*ambiguous"),
    ],
)
def test_samples_that_make_no_motion(samples, message):
    """Samples of the wrong type or shape, not finite, or half a turn apart are refused with the joint's name."""
    with pytest.raises(vc.InputError, match=message):
        vc.Motion.sampled(T, {"joint": samples})


def test_ends_must_be_known():
    """Only three end conditions exist; periodic ones are asked for by repeat."""
    for ends in ("periodic", "free", None, ["natural"]):
        with pytest.raises(vc.InputError, match=r"ends must be one of 'natural', 'clamped', 'not-a-knot'"):
            vc.Motion.sampled(T, {"joint": T}, ends=ends)
    with pytest.raises(vc.InputError, match="repeat must be True or False"):
        vc.Motion.sampled(T, {"joint": T}, repeat=1)
    far = np.outer([0.0, 2.0, 4.0, 4.5, 5.0], [0, 0, 1])
    with pytest.raises(vc.InputError, match="turns too far in the first or last steps for ends='not-a-knot'"):
        vc.Motion.sampled(T, {"joint": far}, ends="not-a-knot")


def test_what_repeats_must_close():
    """A motion that repeats must end where it began, in one period for all its parts."""
    with pytest.raises(vc.InputError, match=r"motion of 'knee' repeats.*differ by 1"):
        vc.Motion.sampled(T, {"knee": T}, repeat=True)
    with pytest.raises(vc.InputError, match=r"motion of 'hip' repeats.*differ by 0.5"):
        vc.Motion.sampled(T, {"hip": np.outer(T, [0.0, 0.5, 0.0])}, repeat=True)
    with pytest.raises(vc.InputError, match=r"times must be at least 3 numbers"):
        vc.Motion.sampled([0.0, 1.0], {"knee": [0.0, 0.0]}, repeat=True)
    with pytest.raises(vc.InputError, match=r"motion of 'knee' repeats.*differ by 1"):
        vc.Motion({"knee": RAMP}, repeat=True)
    with pytest.raises(vc.InputError, match=r"motion of 'hip' repeats.*differ by 1"):
        vc.Motion({"hip": TURN}, repeat=True)
    flat = [PPoly([[0.0]], [0.0, end]) for end in (1.0, 2.0)]
    with pytest.raises(vc.InputError, match=r"must start and end together, found 0 to 1 s, 0 to 2 s"):
        vc.Motion({"plane": flat}, repeat=True)


KINDS = {
    "revolute": (TURN, r"a revolute joint follows one function of time; found a rotation"),
    "universal": (RAMP, r"a universal joint follows 2 functions of time \(angle1, angle2\).*found 1 function of time"),
    "planar": (UNIT, r"a planar joint follows 3 functions of time \(x, y, angle\).*found a rotation"),
    "spherical": ([0.0, 0.0, 0.0], r"a spherical joint follows a rotation: .*quaternion.*found 3 functions of time"),
    "free": (TURN, r"a free joint follows a pose: a pair \(rotation, position\); found a rotation"),
    "fixed": (0.0, r"a fixed joint does not move"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_motions_must_fit_the_joint(kind):
    """A motion of another kind than the joint's is refused with what would fit, and the state stays as it was."""
    m = zoo.every_joint()
    s = m.state()
    value, message = KINDS[kind]
    motion = vc.Motion({"screw": 0.5, kind: value})
    with pytest.raises(vc.InputError, match=rf"motion of '{kind}': {message}"):
        motion.set_state(m, s)
    np.testing.assert_array_equal(s.q, zoo.zero_q(m))
    assert motion.packed(s.layout, skip_missing=True)[0]["dof"].tolist() == [s.layout.slot("screw").v.start]


def test_unknown_joints():
    """Joints that the motion or the mechanism does not have are refused with the names there are."""
    m = zoo.every_joint()
    motion = vc.Motion({"revolut": 0.5})
    with pytest.raises(vc.UnknownNameError, match=r"'revolut'.*did you mean 'revolute'"):
        motion.set_state(m, m.state())
    with pytest.raises(vc.UnknownNameError, match="'knee'; joints: 'revolut'"):
        motion["knee"]
    with pytest.raises(vc.UnknownNameError, match="'knee'; joints: 'revolut'"):
        motion.packed(m.state().layout, ["knee"], skip_missing=True)


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, "now", True])
def test_numbers_of_questions_and_changes(bad):
    """Times, shifts and factors must be finite numbers."""
    m, motion = zoo.pendulum(), vc.Motion({"joint": RAMP})
    with pytest.raises(vc.InputError, match="t must"):
        motion.q(bad)
    with pytest.raises(vc.InputError, match=r"t\[1\] must"):
        motion.a([0.0, bad])
    with pytest.raises(vc.InputError, match="dt must"):
        motion.shifted(bad)
    with pytest.raises(vc.InputError, match="factor must"):
        motion.slower(bad)
    if bad is not None:  # the state's own time
        with pytest.raises(vc.InputError, match="t must"):
            motion.set_state(m, m.state(), bad)


def test_other_arguments():
    """Factors must be positive, times in a row, and states and mechanisms what they are called."""
    m, motion = zoo.pendulum(), vc.Motion({"joint": RAMP})
    for factor in (0.0, -1.0):
        with pytest.raises(vc.InputError, match="factor must be positive"):
            motion.slower(factor)
    with pytest.raises(vc.InputError, match="shifted times must be strictly increasing"):
        motion.shifted(1e20)
    with pytest.raises(vc.InputError, match="polynomials of time must be finite"):
        vc.Motion({"joint": PPoly([[1e10], [0.0]], [0.0, 1.0])}).slower(1e-300)
    with pytest.raises(vc.InputError, match=r"t\[0\] must be a number"):
        motion.q([[0.0]])
    with pytest.raises(vc.InputError, match=r"t must be numbers of shape \(1,\)"):
        motion.q(np.array([[0.0]]))
    with pytest.raises(vc.InputError, match="expected a Mechanism and a State"):
        motion.set_state(m, m.state().q)
    with pytest.raises(vc.InputError, match="expected a Mechanism and a State"):
        motion.set_state(m.state(), m.state())
