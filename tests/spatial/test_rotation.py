import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from strategies import positions, rotation_vectors, unit_axes
from varichain.spatial import rotation

ROUNDING = 1e-15  # a few operations on numbers not larger than one

angles = st.floats(-10.0, 10.0)
quaternions = rotation_vectors(largest=2 * math.pi).map(rotation.quaternion_from_rotation_vector)


def exponential(A):
    """Sum of A^k / k!, by squaring the exponential of A / 2^10."""
    term = total = np.eye(3)
    for k in range(1, 12):
        term = term @ A / 2**10 / k
        total = total + term
    return np.linalg.matrix_power(total, 2**10)


def assert_rotation(R):
    """R is orthonormal and no reflection."""
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=4 * ROUNDING)
    assert np.linalg.det(R) == pytest.approx(1.0, abs=1e-14)


@given(positions, positions)
def test_skew_is_cross_product(a, b):
    """The matrix [a] times b is the cross product a x b."""
    np.testing.assert_allclose(rotation.skew(a) @ b, np.cross(a, b), atol=1e-13)


@given(quaternions)
def test_matrix_from_quaternion_is_rotation(quaternion):
    """The matrix of a quaternion is orthonormal with determinant one."""
    assert_rotation(rotation.matrix_from_quaternion(quaternion))


@given(quaternions, st.floats(1e-3, 1e3))
def test_matrix_from_quaternion_ignores_length(quaternion, length):
    """A quaternion of any length means the same rotation."""
    scaled = rotation.matrix_from_quaternion(length * quaternion)
    np.testing.assert_allclose(scaled, rotation.matrix_from_quaternion(quaternion), atol=4 * ROUNDING)


@given(quaternions)
def test_quaternion_through_matrix(quaternion):
    """A quaternion with w >= 0 survives the way through the matrix; q and -q are the same rotation."""
    back = rotation.quaternion_from_matrix(rotation.matrix_from_quaternion(quaternion))
    assert back[0] >= 0.0
    assert min(np.abs(back - quaternion).max(), np.abs(back + quaternion).max()) < 4 * ROUNDING


@given(rotation_vectors())
def test_rotation_vector_through_quaternion_keeps_relative_accuracy(vector):
    """A rotation vector of any angle from 1e-200 to pi survives the way through the quaternion to relative rounding."""
    assume(np.linalg.norm(vector) > 1e-200)  # subnormal numbers have fewer digits
    back = rotation.rotation_vector_from_quaternion(rotation.quaternion_from_rotation_vector(vector))
    if np.dot(back, vector) < 0.0:  # at pi itself both signs are right
        assert np.linalg.norm(vector) == pytest.approx(math.pi, abs=1e-12)
        back = -back
    np.testing.assert_allclose(back, vector, rtol=0.0, atol=8 * ROUNDING * np.linalg.norm(vector))


@given(rotation_vectors(largest=math.pi - 1e-6))
def test_rotation_vector_through_matrix(vector):
    """A rotation vector of an angle below pi survives the way through the matrix to absolute rounding."""
    back = rotation.rotation_vector_from_matrix(rotation.matrix_from_rotation_vector(vector))
    np.testing.assert_allclose(back, vector, atol=16 * ROUNDING)


@given(unit_axes, st.floats(-15.0, -7.0))
def test_rotation_vector_from_matrix_near_half_turn(axis, exponent):
    """Close to half a turn, where an arc cosine would lose half the digits, the vector gives back its matrix."""
    R = rotation.matrix_from_rotation_vector((math.pi - 10.0**exponent) * axis)
    vector = rotation.rotation_vector_from_matrix(R)
    assert np.linalg.norm(vector) <= math.pi + ROUNDING
    np.testing.assert_allclose(rotation.matrix_from_rotation_vector(vector), R, atol=8 * ROUNDING)


@given(rotation_vectors(largest=2 * math.pi))
def test_rotation_vector_is_logarithm(vector):
    """The matrix of a rotation vector r is the exponential of [r]."""
    R = rotation.matrix_from_rotation_vector(vector)
    np.testing.assert_allclose(R, exponential(rotation.skew(vector)), atol=1e-11)


@given(quaternions, quaternions)
def test_quaternion_product_is_matrix_product(a, b):
    """The product of quaternions is the product of their matrices."""
    product = rotation.matrix_from_quaternion(rotation.quaternion_multiply(a, b))
    expected = rotation.matrix_from_quaternion(a) @ rotation.matrix_from_quaternion(b)
    np.testing.assert_allclose(product, expected, atol=8 * ROUNDING)


@given(quaternions)
def test_conjugate_is_inverse(quaternion):
    """A unit quaternion times its conjugate is one."""
    product = rotation.quaternion_multiply(quaternion, rotation.quaternion_conjugate(quaternion))
    np.testing.assert_allclose(product, [1.0, 0.0, 0.0, 0.0], atol=2 * ROUNDING)


@given(unit_axes, angles)
def test_axis_angle_is_rotation_vector(axis, angle):
    """Axis and angle mean the rotation vector that is their product, and the axis stays where it is."""
    R = rotation.matrix_from_axis_angle(axis, angle)
    np.testing.assert_allclose(R, rotation.matrix_from_rotation_vector(angle * axis), atol=16 * ROUNDING)
    np.testing.assert_allclose(R @ axis, axis, atol=4 * ROUNDING)


@given(angles, angles, angles)
def test_rpy_turns_about_fixed_axes(roll, pitch, yaw):
    """Roll, pitch and yaw turn about the fixed axes x, y and z, in this order."""
    x, y, z = np.eye(3)
    expected = (
        rotation.matrix_from_axis_angle(z, yaw)
        @ rotation.matrix_from_axis_angle(y, pitch)
        @ rotation.matrix_from_axis_angle(x, roll)
    )
    np.testing.assert_allclose(rotation.matrix_from_rpy((roll, pitch, yaw)), expected, atol=4 * ROUNDING)


@given(unit_axes)
def test_z_along_axis(axis):
    """The matrix with z along an axis is a rotation whose last column is the axis, for every axis."""
    A = rotation.matrix_with_z_along(axis)
    np.testing.assert_array_equal(A[:, 2], axis)
    assert_rotation(A)


def test_z_along_z_is_identity():
    """The matrix with z along z is exactly the identity."""
    np.testing.assert_array_equal(rotation.matrix_with_z_along((0.0, 0.0, 1.0)), np.eye(3))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_z_along_named_axes_is_exact(k, sign):
    """For the axes x to -z every entry is exactly zero, one or minus one, and no zero is negative."""
    A = rotation.matrix_with_z_along(sign * np.eye(3)[k])
    assert set(A.ravel()) <= {-1.0, 0.0, 1.0}
    assert not np.signbit(A[A == 0.0]).any()


def test_z_along_ignores_sign_of_zero():
    """An axis with a negative zero gives the same matrix as with a positive one."""
    A = rotation.matrix_with_z_along((1.0, -0.0, -0.0))
    np.testing.assert_array_equal(A, rotation.matrix_with_z_along((1.0, 0.0, 0.0)))
