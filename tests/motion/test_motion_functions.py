"""Motions that follow Python functions, and plain functions of time."""

import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PPoly
from scipy.spatial.transform import Rotation

import varichain as vc
import zoo
from lane import scaled
from oracles.rotations import quaternion_exp, rotation_of_quaternion
from varichain.kernels.motion import SCALAR, evaluate

TOLERANCE = 1e-9
# Between the test points a piece may miss the function a little more than at them.
BETWEEN = 2.0 * TOLERANCE


def walk(t):
    """A function of time that moves joints of all kinds."""
    return {
        "knee": math.sin(3 * t) + t * t,
        "plane": (t, math.cos(t), 1.0),
        "hip": quaternion_exp([t, math.sin(2 * t), 0.3 * t * t]),
        "ankle": [0.0, math.sin(t), 0.1],
        "base": (Rotation.from_rotvec([0.0, 0.0, 5.0 * t]), np.array([math.cos(t), t, 1.0])),
        "pelvis": vc.Pose((t, 0, 0), rotation_vector=(0, math.sin(t), 0)),
    }


def test_functions_are_followed_to_the_tolerance():
    """A smooth function of every kind of value is met to the tolerance at all times, and so are its rates, roughly."""
    motion = vc.Motion.from_function(walk, 0.5, 2.5)
    assert motion.joints == tuple(walk(0.5)) and (motion.start, motion.end) == (0.5, 2.5)
    for t in np.linspace(0.5, 2.5, scaled(300, 40)):
        q, v, said = motion.q(t), motion.v(t), walk(t)
        assert abs(q["knee"] - said["knee"]) < BETWEEN
        np.testing.assert_allclose(q["plane"], said["plane"], rtol=0, atol=BETWEEN)
        np.testing.assert_allclose(q["base"][4:], said["base"][1], rtol=0, atol=BETWEEN)
        turns = {
            "hip": rotation_of_quaternion(said["hip"]),
            "ankle": rotation_of_quaternion(quaternion_exp(said["ankle"])),
            "base": said["base"][0].as_matrix(),
            "pelvis": said["pelvis"].R,
        }
        for name, R in turns.items():
            np.testing.assert_allclose(rotation_of_quaternion(q[name][:4]), R, rtol=0, atol=BETWEEN)
        # a sixth power in the positions is a fifth in the velocities
        assert v["knee"] == pytest.approx(3 * math.cos(3 * t) + 2 * t, abs=1e-6)
        np.testing.assert_allclose(v["base"][:3], [0.0, 0.0, 5.0], rtol=0, atol=1e-6)


def test_followed_rotations_are_smooth():
    """Angular velocity and acceleration are continuous at the breaks of what follows a function."""
    motion = vc.Motion.from_function(walk, 0.0, 2.0, joints=["hip"])
    breaks = motion._tracks["hip"].parts[0].breaks[1:-1]
    for function in (motion["hip"].v, motion["hip"].a):
        before, after = function(np.nextafter(breaks, -1.0)), function(breaks)
        # rounding of quintic coefficients over pieces of some ten milliseconds
        np.testing.assert_allclose(before, after, rtol=0, atol=1e-8)


def test_pieces_are_short_only_where_they_must_be():
    """A narrow bump and a kink are met with short pieces there and long ones elsewhere, a wave with even ones."""
    bump = vc.Motion.from_function(lambda t: {"x": math.exp(-((t - 2.0) ** 2) / 1e-3)}, 0.0, 4.0, tolerance=1e-8)
    h = np.diff(bump._tracks["x"].parts[0].breaks)
    assert h.max() / h.min() > 30 and bump["x"].q(2.0) == pytest.approx(1.0, abs=1e-8)
    kink = vc.Motion.from_function(lambda t: {"x": abs(t - 1.0)}, 0.0, 4.0, tolerance=1e-6)
    assert abs(kink["x"].q(1.0)) < 1e-6 and kink["x"].v(3.0) == pytest.approx(1.0)
    wave = vc.Motion.from_function(lambda t: {"x": math.sin(40.0 * t)}, 0.0, 4.0, tolerance=1e-6)
    h = np.diff(wave._tracks["x"].parts[0].breaks)[3:-3]  # the outer ones are joined, three by three
    assert h.max() / h.min() <= 2.0


def test_fast_turns_are_not_mistaken_for_slow_ones():
    """A top that turns by many radians between the first samples is still followed the right way round."""
    top = vc.Motion.from_function(lambda t: {"top": Rotation.from_rotvec([0.0, 0.0, 60.0 * t])}, 0.0, 2.0)["top"]
    np.testing.assert_allclose(top.v(np.linspace(0, 2, 41)), np.tile([0, 0, 60.0], (41, 1)), rtol=1e-6, atol=1e-5)


def test_functions_are_asked_once_for_each_time():
    """No time is asked for twice, and none outside start and end."""
    asked = []

    def function(t):
        asked.append(t)
        return {"x": math.sin(5 * t), "y": 0.0}

    motion = vc.Motion.from_function(function, 1.0, 3.0, joints="x")
    assert len(asked) == len(set(asked)) and min(asked) == 1.0 and max(asked) == 3.0
    assert motion.joints == ("x",)


def test_a_function_that_repeats():
    """A periodic function over its period repeats; its rates meet to the accuracy of the fit."""
    motion = vc.Motion.from_function(lambda t: {"x": math.sin(t)}, 0.0, 2 * math.pi, repeat=True)
    t = np.linspace(-10.0, 20.0, 101)
    np.testing.assert_allclose(motion["x"].q(t), np.sin(t), rtol=0, atol=BETWEEN)
    np.testing.assert_allclose(motion["x"].v(t), np.cos(t), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: {"x": float(t > 1.0)}, r"cannot be followed to 1e-09 near t = 1 s.*must not jump"),
        (lambda t: 0.0, r"values by joint"),
        (lambda t: {}, r"values by joint"),
        (lambda t: {"x": math.nan}, r"motion of 'x' must be finite"),
        (lambda t: {"x": "up"}, r"motion of 'x' must be numbers"),
        (lambda t: {"x": [0.0] * (1 + int(t > 1.0))}, r"motion of 'x' must be numbers"),
        (lambda t: {"x": [0.0] * 4}, r"motion of 'x' must be quaternions of any length but zero"),
        (lambda t: {"x": 0.0} if t < 1.0 else {"y": 0.0}, r"no joint is called 'x'.*'y'"),
    ],
)
def test_functions_that_cannot_be_followed(function, message):
    """Functions that jump, or say something else than numbers by joint, are refused."""
    with pytest.raises(vc.VarichainError, match=message):
        vc.Motion.from_function(function, 0.0, 2.0)


def test_bounds_of_functions_are_checked():
    """Start, end, tolerance and the choice of joints must make sense."""
    follow = vc.Motion.from_function
    for start, end in ((0.0, 0.0), (1.0, 0.0)):
        with pytest.raises(vc.InputError, match="end must be later than start"):
            follow(walk, start, end)
    with pytest.raises(vc.InputError, match="start must be finite"):
        follow(walk, -math.inf, 1.0)
    with pytest.raises(vc.InputError, match="tolerance must be positive"):
        follow(walk, 0.0, 1.0, tolerance=0.0)
    with pytest.raises(vc.UnknownNameError, match=r"'kne'.*did you mean 'knee'"):
        follow(walk, 0.0, 1.0, joints=["kne"])
    with pytest.raises(vc.InputError, match=r"motion of 'knee' repeats.*differ by"):
        follow(walk, 0.0, 1.0, joints=["knee"], repeat=True)


# --- plain functions of time ---------------------------------------------------------------------------------------


def test_time_functions_have_a_value_for_each_freedom():
    """Torques as splines, steps and constants: values by joint, kept outside, or repeated without having to meet."""
    steps = PPoly([[1.0, -1.0]], [0.0, 1.0, 2.0])
    torques = vc.TimeFunctions({"revolute": steps, "spherical": [CubicSpline([0, 1], [0, 4]), 0.0, 3.0], "screw": 2.0})
    assert torques(0.5)["revolute"] == 1.0 and torques(5.0)["revolute"] == -1.0 and torques(-5.0)["screw"] == 2.0
    np.testing.assert_allclose(torques(0.5)["spherical"], [2.0, 0.0, 3.0])
    assert torques([0.5, 1.5])["spherical"].shape == (2, 3)
    again = vc.TimeFunctions({"revolute": steps}, repeat=True)
    assert again(2.5)["revolute"] == 1.0 and again(-0.5)["revolute"] == -1.0 and again.repeat
    assert torques.shifted(1.0)(1.5)["revolute"] == 1.0 and torques.slower(2.0)(3.0)["revolute"] == -1.0
    assert (torques | vc.TimeFunctions({"planar": (1.0, 2.0, 3.0)}))(0.0)["planar"].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(TypeError):
        torques | vc.Motion({"planar": 0.0})


def test_time_functions_stand_where_their_freedoms_do():
    """Packed for a layout, values go to the places of the joint's freedoms."""
    m = zoo.every_joint()
    torques = vc.TimeFunctions({"spherical": (1.0, 2.0, 3.0), "free": [float(k) for k in range(6)], "revolute": 9.0})
    channels, table = torques.packed(m.state().layout)
    assert set(channels["kind"].tolist()) == {SCALAR}
    tau, rate, bend = np.zeros((1, m.n_v)), np.zeros((1, m.n_v)), np.zeros((1, m.n_v))
    evaluate(channels, table, np.array([0.5]), tau, rate, bend)
    expected = np.zeros(m.n_v)
    for joint, values in torques(0.5).items():
        expected[m.state().layout.slot(joint).v] = values
    np.testing.assert_array_equal(tau[0], expected)
    assert not rate.any() and not bend.any()
    s = m.state()
    np.testing.assert_array_equal(vc.forward_dynamics(m, s, torques(0.5)).a, vc.forward_dynamics(m, s, expected).a)


def test_time_functions_are_sampled_and_followed():
    """Samples and Python functions make functions of time as they make motions; three columns are three freedoms."""
    t = np.linspace(0.0, 1.0, 9)
    sampled = vc.TimeFunctions.sampled(t, {"ball": np.outer(t, [1, 2, 3]), "hinge": t, "each": (t, -t)})
    np.testing.assert_allclose(sampled(0.3)["ball"], [0.3, 0.6, 0.9])
    np.testing.assert_allclose(sampled(0.3)["each"], [0.3, -0.3])
    followed = vc.TimeFunctions.from_function(lambda t: {"ball": [t, math.sin(t), 1.0], "hinge": t}, 0.0, 1.0)
    np.testing.assert_allclose(followed(0.3)["ball"], [0.3, math.sin(0.3), 1.0], atol=BETWEEN)


def test_time_functions_need_as_many_values_as_freedoms():
    """A joint with another number of freedoms is refused with the freedoms' names, or skipped."""
    layout = zoo.every_joint().state().layout
    torques = vc.TimeFunctions({"spherical": 1.0})
    with pytest.raises(vc.InputError, match=r"function of 'spherical': .*3 freedoms \(wx, wy, wz\); found 1 function"):
        torques.packed(layout)
    assert len(torques.packed(layout, skip_missing=True)[0]) == 0
    with pytest.raises(vc.InputError, match=r"a fixed joint has 0 freedoms; found 1 function"):
        vc.TimeFunctions({"fixed": 1.0}).packed(layout)
