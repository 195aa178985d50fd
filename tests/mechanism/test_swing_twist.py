"""Swing and twist of a spherical joint, about its zero and about another center."""

import math

import numpy as np
import pytest

import zoo
from varichain.errors import InputError
from varichain.mechanism import Spherical, SwingTwist
from varichain.spatial.rotation import (
    matrix_from_quaternion,
    quaternion_conjugate,
    quaternion_from_rotation_vector,
    quaternion_multiply,
)

ROUNDING = 1e-13  # of products of three quaternions; angles near pi lose no digits


@pytest.fixture
def rng():
    """The same random numbers for every test."""
    return np.random.default_rng(5)


def random_quaternion(rng):
    """Orientation with an angle of up to pi."""
    return quaternion_from_rotation_vector(rng.uniform(0.0, math.pi) * zoo.random_direction(rng))


def split(rng, limits, swing, twist):
    """Orientation that is R_center R_swing R_twist, the swing about a random axis across the long axis."""
    across = np.cross(limits.axis, zoo.random_direction(rng))
    across *= swing / np.linalg.norm(across)
    turned = quaternion_multiply(limits.center, quaternion_from_rotation_vector(across))
    return quaternion_multiply(turned, quaternion_from_rotation_vector(twist * np.array(limits.axis)))


@pytest.mark.parametrize("swing", [0.0, 1e-12, 1e-6, 0.7, 2.0, 3.1])
@pytest.mark.parametrize("twist", [-3.1, -1e-9, 0.0, 0.4, 3.1])
def test_angles_are_those_that_an_orientation_was_made_of(rng, swing, twist):
    """An orientation that is the center, swung and twisted, has just that swing and that twist."""
    for _ in range(20):
        limits = SwingTwist(axis=zoo.random_direction(rng), center=random_quaternion(rng))
        found = limits.angles(split(rng, limits, swing, twist))
        # The twist turns by as much as the swing's rounding times tan(swing / 2).
        assert found == pytest.approx((swing, twist), abs=ROUNDING * max(1.0, math.tan(0.5 * swing)))


def test_swing_is_the_angle_of_the_long_axis(rng):
    """The swing is the angle between the long axis and its direction at the center."""
    for _ in range(50):
        limits = SwingTwist(axis=zoo.random_direction(rng), center=random_quaternion(rng))
        q = random_quaternion(rng)
        now, middle = (matrix_from_quaternion(turn) @ limits.axis for turn in (q, limits.center))
        assert math.cos(limits.angles(q)[0]) == pytest.approx(now @ middle, abs=ROUNDING)


def test_the_center_is_a_turn_of_the_joint_frame(rng):
    """Limits with a center say of q what limits without one say of center^-1 q, to the last bit."""
    for _ in range(50):
        center, q = random_quaternion(rng), random_quaternion(rng)
        plain = SwingTwist(1.0, (-0.3, 0.5), axis="x")
        tilted = SwingTwist(1.0, (-0.3, 0.5), axis="x", center=center)
        inner = quaternion_multiply(quaternion_conjugate(tilted.center), q)
        assert tilted.angles(q) == plain.angles(inner)
        assert tilted.excess(q) == plain.excess(inner)


def test_both_quaternions_of_an_orientation_are_alike(rng):
    """q and -q have the same swing and twist."""
    for _ in range(20):
        limits = SwingTwist(axis=zoo.random_direction(rng), center=random_quaternion(rng))
        q = split(rng, limits, 1.0, rng.uniform(-3.0, 3.0))
        assert limits.angles(-q) == pytest.approx(limits.angles(q), abs=ROUNDING)


def test_excess_is_the_larger_one(rng):
    """The excess is that of swing or twist, whichever is further outside; inside it is negative."""
    limits = SwingTwist(0.5, (-0.2, 0.4), axis="z", center=(0.3, -0.2, 0.1))
    for swing, twist, excess in ((0.4, 0.3, -0.1), (0.9, 0.0, 0.4), (0.6, -0.5, 0.3), (0.0, 0.5, 0.1)):
        assert limits.excess(split(rng, limits, swing, twist)) == pytest.approx(excess, abs=ROUNDING)


def test_center_takes_a_rotation_vector_or_a_quaternion():
    """A rotation vector and a quaternion of any length name the same center, which is held as a unit quaternion."""
    turn = (0.3, -0.4, 1.2)
    quaternion = quaternion_from_rotation_vector(turn)
    by_vector, by_quaternion = SwingTwist(center=turn), SwingTwist(center=tuple(3.0 * quaternion))
    assert by_vector.center == pytest.approx(by_quaternion.center, abs=ROUNDING)
    assert math.hypot(*by_vector.center) == pytest.approx(1.0, abs=ROUNDING)
    assert SwingTwist().center == (1.0, 0.0, 0.0, 0.0)
    assert "center=" in repr(Spherical(limits=by_vector))


@pytest.mark.parametrize(
    ("center", "words"),
    [
        ((0.0, 0.0, 0.0, 0.0), "center of SwingTwist must not have zero length"),
        ((1.0, 2.0), "must be a quaternion"),
        ("z", "must be a quaternion"),
        (1.0, "must be a quaternion"),
        ((0.0, math.nan, 0.0), r"center of SwingTwist\[1\]"),
        (np.eye(3), "must be a number"),
    ],
)
def test_bad_center_is_refused(center, words):
    """A center that is neither a quaternion nor a rotation vector is refused."""
    with pytest.raises(InputError, match=words):
        SwingTwist(center=center)
