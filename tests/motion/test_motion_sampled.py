"""Motions through samples: they meet them, they are smooth, and their ends are as asked for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

import varichain as vc
from compiled import angular_motion
from lane import scaled
from oracles.rotations import quaternion_exp, quaternion_product, rotation_of_quaternion
from varichain.motion.rotation_rates import RotationRates

# Rounding of a spline's coefficients, relative to its largest value.
ROUNDING = 1e-12
# Accelerations on both sides of a knot: Newton's method ends at rounding, which divisions by time steps enlarge.
CONTINUOUS = 1e-11

ENDS = ("natural", "clamped", "not-a-knot")


def random_path(rng, n, longest):
    """Unit quaternions (n, 4), each turned from the one before by at most `longest` [rad]."""
    path = [quaternion_exp(rng.normal(size=3))]
    for _ in range(n - 1):
        turn = rng.normal(size=3)
        turn *= rng.uniform(0.0, longest) / np.linalg.norm(turn)
        path.append(quaternion_product(path[-1], quaternion_exp(turn)))
    return np.array(path)


def matrices(quaternions):
    """Rotation matrices of quaternions (n, 4)."""
    return np.array([rotation_of_quaternion(Q) for Q in quaternions])


def both_sides(function, t):
    """Values just before and at times; the spacing of numbers is all that lies between."""
    return function(np.nextafter(t, -np.inf)), function(t)


def assert_smooth(joint, knots):
    """Velocity and acceleration are continuous at the knots."""
    for function in (joint.v, joint.a):
        before, after = both_sides(function, knots)
        np.testing.assert_allclose(before, after, rtol=0, atol=CONTINUOUS * (1.0 + np.abs(after).max(initial=0.0)))


# --- numbers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("n", [2, 3, 4, 9])
def test_numbers_are_scipys_cubic_splines(ends, n):
    """Samples of freedoms give scipy's CubicSpline with these ends, of arrays, columns and tuples alike."""
    rng = np.random.default_rng(n)
    t, y = np.cumsum(rng.uniform(0.1, 1.0, n)), rng.normal(size=(n, 2))
    motion = vc.Motion.sampled(t, {"one": y[:, 0], "two": y, "each": (y[:, 0], y[:, 1].tolist())}, ends=ends)
    peer, asked = CubicSpline(t, y, bc_type=ends), np.linspace(t[0], t[-1], 50)
    for order, found in enumerate((motion.q(asked), motion.v(asked), motion.a(asked))):
        expected = peer(asked, order)
        scale = ROUNDING * (1.0 + np.abs(expected).max())
        np.testing.assert_allclose(found["one"], expected[:, 0], rtol=0, atol=scale)
        for name in ("two", "each"):
            np.testing.assert_allclose(found[name], expected, rtol=0, atol=scale)


# --- rotations -----------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(2, 14), st.sampled_from(ENDS), st.floats(0.01, 3.0))
def test_rotations_meet_their_samples_and_are_smooth(seed, n, ends, longest):
    """The spline passes every orientation, with continuous angular velocity and acceleration, and ends as asked."""
    rng = np.random.default_rng(seed)
    longest = min(longest, math.pi / 3) if ends == "not-a-knot" else longest  # it makes one of up to three steps
    t, path = np.cumsum(rng.uniform(0.2, 1.0, n)), random_path(rng, n, longest)
    path *= rng.choice([-1.0, 1.0], (n, 1))  # both signs mean the same
    joint = vc.Motion.sampled(t, {"ball": path}, ends=ends)["ball"]
    np.testing.assert_allclose(matrices(joint.q(t)), matrices(path), rtol=0, atol=ROUNDING)
    assert_smooth(joint, t[1:-1])
    edges, size = t[[0, -1]], CONTINUOUS * (1.0 + np.abs(joint.a(t)).max())
    if ends == "natural":
        assert np.abs(joint.a(edges)).max() < size
    if ends == "clamped":
        assert np.abs(joint.v(edges)).max() < size


@pytest.mark.parametrize(
    ("ends", "n"), [(ends, n) for ends in ENDS for n in (2, 3, 4, 5, 6, 12)] + [("periodic", n) for n in (3, 4, 5, 12)]
)
def test_about_a_fixed_axis_it_is_the_spline_of_the_angle(ends, n):
    """Rotations about one axis give the cubic spline of the angle, rates and accelerations included, with any ends."""
    rng = np.random.default_rng(n)
    repeat = ends == "periodic"
    axis, t, angle = np.array([0.6, 0.0, -0.8]), np.cumsum(rng.uniform(0.3, 1.0, n)), rng.uniform(-0.5, 0.5, n)
    angle[-1] = angle[0] if repeat else angle[-1]
    motion = vc.Motion.sampled(
        t, {"ball": np.outer(angle, axis), "hinge": angle}, ends="natural" if repeat else ends, repeat=repeat
    )
    asked = np.linspace(t[0], t[-1], 40)
    turned = np.array([quaternion_exp(axis * x) for x in motion["hinge"].q(asked)])
    np.testing.assert_allclose(matrices(motion["ball"].q(asked)), matrices(turned), rtol=0, atol=ROUNDING)
    for ball, hinge in (
        (motion["ball"].v(asked), motion["hinge"].v(asked)),
        (motion["ball"].a(asked), motion["hinge"].a(asked)),
    ):
        expected = np.outer(hinge, axis)
        np.testing.assert_allclose(ball, expected, rtol=0, atol=CONTINUOUS * (1.0 + np.abs(expected).max()))


def test_away_from_the_ends_it_is_scipys_rotation_spline():
    """Scipy's RotationSpline has other ends, whose influence dies out: thirty knots away the two are equal."""
    rng = np.random.default_rng(3)
    t, path = np.arange(61.0), random_path(rng, 61, 0.5)
    joint = vc.Motion.sampled(t, {"ball": path}, ends="not-a-knot")["ball"]
    peer, asked = RotationSpline(t, Rotation.from_quat(np.roll(path, -1, axis=1))), np.linspace(29.0, 31.0, 21)
    # scipy's iteration for the rates ends at 1e-9
    np.testing.assert_allclose(matrices(joint.q(asked)), peer(asked).as_matrix(), rtol=0, atol=1e-9)
    np.testing.assert_allclose(joint.v(asked), peer(asked, 1), rtol=0, atol=1e-8)
    np.testing.assert_allclose(joint.a(asked), peer(asked, 2), rtol=0, atol=1e-8)


def test_rotations_converge_with_the_fourth_power():
    """Half the time between samples of a smooth rotation gives a sixteenth of the error, at the ends too."""

    def path(t):
        return np.array([quaternion_exp([math.sin(x), 0.5 * math.cos(2 * x), 0.3 * x]) for x in t])

    asked, errors = np.linspace(0.0, 2.0, 101), []
    for n in (17, 33, 65):
        t = np.linspace(0.0, 2.0, n)
        joint = vc.Motion.sampled(t, {"ball": path(t)}, ends="not-a-knot")["ball"]
        errors.append(np.abs(matrices(joint.q(asked)) - matrices(path(asked))).max())
    assert errors[0] / errors[1] > 10 and errors[1] / errors[2] > 12  # 16 in the limit
    assert errors[2] < 1e-6


def test_orientations_may_be_told_in_many_ways():
    """Quaternions of any length and sign, rotation vectors, lists and scipy's Rotations are the same samples."""
    rng = np.random.default_rng(1)
    t, path = np.linspace(0.0, 1.0, 6), random_path(rng, 6, 1.0)
    rotations = Rotation.from_quat(np.roll(path, -1, axis=1))
    ways = {
        "quaternions": path * rng.uniform(0.1, 3.0, (6, 1)) * [[1], [-1], [1], [1], [-1], [1]],
        "huge": 1e200 * path,
        "list": path.tolist(),
        "rotation": rotations,
        "vectors": rotations.as_rotvec(),
    }
    motion = vc.Motion.sampled(t, ways)
    expected = matrices(motion["rotation"].q(np.linspace(0.0, 1.0, 31)))
    for name in ways:
        np.testing.assert_allclose(matrices(motion[name].q(np.linspace(0.0, 1.0, 31))), expected, rtol=0, atol=ROUNDING)


def test_poses_of_free_joints():
    """Rows of seven numbers and pairs (rotations, positions) are the same motion of a free joint."""
    rng = np.random.default_rng(2)
    t, path, p = np.linspace(0.0, 1.0, 6), random_path(rng, 6, 1.0), rng.normal(size=(6, 3))
    motion = vc.Motion.sampled(
        t, {"rows": np.hstack([path, p]), "pair": (path, p), "lists": (path.tolist(), p.tolist())}
    )
    np.testing.assert_allclose(motion["rows"].q(t)[:, 4:], p, rtol=0, atol=ROUNDING)
    for name in ("pair", "lists"):
        np.testing.assert_array_equal(motion[name].q(0.3), motion["rows"].q(0.3))
        np.testing.assert_array_equal(motion[name].a(0.3), motion["rows"].a(0.3))
    assert_smooth(motion["rows"], t[1:-1])


# --- repeating -----------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(4, 12))
def test_what_repeats_is_smooth_where_it_begins_again(seed, n):
    """Samples that repeat are smooth at every knot, the one where they begin again included."""
    rng = np.random.default_rng(seed)
    t, p = np.cumsum(rng.uniform(0.2, 1.0, n)), rng.normal(size=(n, 3))
    path = np.array([quaternion_exp(rng.uniform(-0.8, 0.8, 3)) for _ in range(n)])  # nowhere half a turn apart
    path[-1], p[-1] = -path[0], p[0]
    motion = vc.Motion.sampled(t, {"hinge": p[:, 0], "ball": path, "body": (path, p)}, repeat=True)
    assert motion.repeat and motion.duration == t[-1] - t[0]
    later = t[1:-1] + motion.duration
    np.testing.assert_allclose(matrices(motion["ball"].q(later)), matrices(path[1:-1]), rtol=0, atol=10 * ROUNDING)
    for joint in (motion["hinge"], motion["ball"], motion["body"]):
        assert_smooth(joint, t[1:-1])
        before, after = joint.v(t[-1]), joint.v(t[0])
        np.testing.assert_allclose(before, after, rtol=0, atol=CONTINUOUS * (1.0 + np.abs(after).max()))
        before, after = joint.a(t[-1]), joint.a(t[0])
        np.testing.assert_allclose(before, after, rtol=0, atol=CONTINUOUS * (1.0 + np.abs(joint.a(t)).max()))


def test_a_full_turn_repeats():
    """A ball that turns once round about its axis comes back, and goes on at the same rate in every turn."""
    t = np.linspace(0.0, 2.0, 9)
    joint = vc.Motion.sampled(t, {"ball": np.outer(math.pi * t, [0, 0, 1])}, repeat=True)["ball"]
    asked = np.linspace(-3.0, 7.0, 41)
    np.testing.assert_allclose(joint.v(asked), np.tile([0, 0, math.pi], (41, 1)), rtol=0, atol=CONTINUOUS)
    expected = matrices([quaternion_exp([0, 0, math.pi * x]) for x in asked])
    np.testing.assert_allclose(matrices(joint.q(asked)), expected, rtol=0, atol=10 * ROUNDING)


# --- what fits are made with ---------------------------------------------------------------------------------------


@given(st.integers(0, 2**32))
def test_rates_of_many_are_rates_of_one(seed):
    """The rates that fits are made with are those of the kernels."""
    rng = np.random.default_rng(seed)
    n = scaled(20, 5)
    phi, rate, acceleration = rng.normal(size=(3, n, 3))
    phi *= 10.0 ** rng.uniform(-8, 0.3, (n, 1))
    rates = RotationRates(phi)
    w = np.einsum("ijk,ik->ij", rates.J, rate)
    w_rate = np.einsum("ijk,ik->ij", rates.J, acceleration) + rates.products(rate)
    for i in range(n):
        expected = angular_motion(tuple(phi[i]), tuple(rate[i]), tuple(acceleration[i]))
        size = 1.0 + np.abs(expected).max()
        np.testing.assert_allclose([w[i], w_rate[i]], expected, rtol=0, atol=ROUNDING * size)
    np.testing.assert_allclose(rates.J_inverse @ rates.J, np.broadcast_to(np.eye(3), (n, 3, 3)), atol=1e-10)
