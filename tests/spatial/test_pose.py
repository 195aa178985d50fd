import copy
import pickle

import numpy as np
import pytest
from hypothesis import given

from strategies import poses, positions, rotation_vectors
from varichain.errors import InputError
from varichain.spatial import rotation
from varichain.spatial.pose import Pose

ROUNDING = 1e-13  # positions reach 10 m, products of three poses 30 m


@given(poses)
def test_inverse_undoes(X):
    """A pose times its inverse, in either order, is the identity."""
    assert (X @ X.inverse()).is_close(Pose(), ROUNDING)
    assert (X.inverse() @ X).is_close(Pose(), ROUNDING)


@given(poses, poses, poses)
def test_product_is_associative(X_AB, X_BC, X_CD):
    """Poses compose in any grouping."""
    assert ((X_AB @ X_BC) @ X_CD).is_close(X_AB @ (X_BC @ X_CD), ROUNDING)


@given(poses, poses, positions)
def test_product_moves_points(X_AB, X_BC, point):
    """The product of two poses moves a point as one after the other does."""
    np.testing.assert_allclose((X_AB @ X_BC) @ point, X_AB @ (X_BC @ point), atol=ROUNDING)


@given(poses)
def test_orientation_in_every_form(X):
    """Matrix, quaternion and rotation vector of a pose each give the pose back."""
    assert Pose(X.p, X.R).is_close(X, 1e-15)
    assert Pose(X.p, quaternion=X.quaternion).is_close(X, 1e-15)
    assert Pose(X.p, rotation_vector=rotation.rotation_vector_from_matrix(X.R)).is_close(X, 1e-14)


@given(rotation_vectors())
def test_rpy_is_rotation_module_convention(rpy):
    """Roll, pitch and yaw mean what `matrix_from_rpy` says."""
    np.testing.assert_array_equal(Pose(rpy=rpy).R, rotation.matrix_from_rpy(rpy))


def test_default_is_identity():
    """A pose of nothing is the identity."""
    np.testing.assert_array_equal(Pose().p, np.zeros(3))
    np.testing.assert_array_equal(Pose().R, np.eye(3))
    np.testing.assert_array_equal(Pose().quaternion, [1.0, 0.0, 0.0, 0.0])


def test_quaternion_of_any_length():
    """A quaternion is normalised, however long it is."""
    assert Pose(quaternion=(1e200, 0.0, 0.0, 1e200)).is_close(Pose(rpy=(0.0, 0.0, np.pi / 2)), 1e-15)
    assert Pose(quaternion=(1e-200, 0.0, 0.0, 1e-200)).is_close(Pose(rpy=(0.0, 0.0, np.pi / 2)), 1e-15)


@given(poses)
def test_matrix_is_made_orthonormal(X):
    """A matrix that is a rotation to 1e-10 becomes one to rounding."""
    noise = 1e-10 * np.array([[1.0, -1.0, 0.5], [0.3, 0.2, -0.7], [-0.1, 0.9, 0.4]])
    R = Pose(R=X.R + noise).R
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=2e-15)
    np.testing.assert_allclose(R, X.R, atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"p": (1, 2)}, "position p must be 3 numbers"),
        ({"p": (1, 2, "3")}, "position p"),
        ({"p": (0, 0, np.nan)}, "position p"),
        ({"p": None}, "position p"),
        ({"R": np.eye(2)}, r"shape \(3, 3\)"),
        ({"R": 2 * np.eye(3)}, "rotation matrix"),
        ({"R": np.eye(3) + 1e-8}, "1e-09"),
        ({"R": -np.eye(3)}, "reflection"),
        ({"R": [[1, 0, 0], [0, 1, 0], [0, 0, True]]}, r"R\[2\]\[2\]"),
        ({"quaternion": (0, 0, 0, 0)}, "zero length"),
        ({"quaternion": (1, 0, 0)}, "4 numbers"),
        ({"rotation_vector": (0, 0, np.inf)}, "finite"),
        ({"rpy": 0.3}, "3 numbers"),
        ({"R": np.eye(3), "rpy": (0, 0, 0)}, "at most one orientation"),
    ],
)
def test_refuses(arguments, words):
    """What is not a pose is refused with an InputError that says what would be valid."""
    with pytest.raises(InputError, match=words):
        Pose(**arguments)


def test_point_must_be_a_point():
    """A pose moves poses and points, nothing else."""
    with pytest.raises(InputError, match="3 numbers"):
        Pose() @ (1.0, 2.0)
    with pytest.raises(TypeError):
        np.eye(3) @ Pose()


def test_coerce():
    """A pose coerces to itself, a position to the pose there, and anything else is refused by its name."""
    X = Pose((1, 2, 3))
    assert Pose.coerce(X) is X
    assert Pose.coerce([1, 2, 3]) == X
    assert Pose.coerce(np.array([1, 2, 3])) == X
    with pytest.raises(InputError, match="at must be a Pose or a position of 3 numbers"):
        Pose.coerce("here", "at")


def test_immutable():
    """Neither the attributes nor the arrays of a pose can be changed, nor can the array it was made from."""
    p = np.array([1.0, 2.0, 3.0])
    X = Pose(p, rpy=(0.1, 0.2, 0.3))
    p[0] = 5.0
    assert X.p[0] == 1.0
    with pytest.raises(AttributeError):
        X.p = p
    with pytest.raises(AttributeError):
        del X.R
    for array in (X.p, X.R, X.quaternion, X.inverse().R, (X @ X).p, Pose().p):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@given(poses)
def test_copies_are_equal(X):
    """Copies and pickles of a pose are equal to it, hash alike and are read-only too."""
    for twin in (copy.deepcopy(X), pickle.loads(pickle.dumps(X))):
        assert twin == X
        assert hash(twin) == hash(X)
        assert not twin.R.flags.writeable


def test_equality_is_by_value():
    """Poses are equal if all their numbers are, and nothing else is equal to a pose."""
    assert Pose((1, 2, 3)) == Pose((1, 2, 3))
    assert Pose((0, 0, 0)) != Pose((0, 0, 1))
    assert Pose() != "identity"
    assert hash(Pose((0.0, 0.0, -0.0))) == hash(Pose())


def test_repr():
    """The repr is short, and says the orientation only if there is one."""
    assert repr(Pose((0, 0, 1))) == "Pose((0, 0, 1))"
    assert repr(Pose(rotation_vector=(0, 0, 0.5))) == "Pose((0, 0, 0), rotation_vector=(0, 0, 0.5))"
