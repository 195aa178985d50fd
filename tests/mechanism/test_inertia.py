import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import inertias, masses, poses, positions, sizes, unit_axes
from varichain.errors import InertiaError, InputError
from varichain.mechanism import Inertia
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import matrix_with_z_along

RELATIVE = 1e-12  # sums of a few terms of like size, distances of up to 30 m against sizes of 1 mm apart


def assert_same(a, b, scale=None):
    """Equal to rounding; `scale` is the largest inertia that was added or subtracted on the way."""
    if scale is None:
        scale = max(np.abs(a.about_com).max(), np.abs(b.about_com).max())
    assert a.mass == pytest.approx(b.mass, rel=RELATIVE)
    np.testing.assert_allclose(a.com, b.com, atol=1e-12)
    np.testing.assert_allclose(a.about_com, b.about_com, atol=RELATIVE * scale)


# --- closed forms against integrals -----------------------------------------------------------------------------------


def revolved(mass, pieces):
    """Inertia about z and about x of a solid of revolution, per Gauss quadrature that is exact for polynomials.

    `pieces` are (z from, z to, squared radius as a function of z): a slice of radius rho has the area pi rho^2, and the
    moments rho^2 / 2 about z and rho^2 / 4 + z^2 about x per mass.
    """
    volume = axial = transverse = 0.0
    for start, end, squared_radius in pieces:
        nodes, weights = np.polynomial.legendre.leggauss(6)
        z = 0.5 * (start + end) + 0.5 * (end - start) * nodes
        rho2 = squared_radius(z)
        slices = 0.5 * (end - start) * weights * rho2
        volume += slices.sum()
        axial += (slices * rho2 / 2).sum()
        transverse += (slices * (rho2 / 4 + z**2)).sum()
    return np.diag([transverse, transverse, axial]) * mass / volume


def from_mean_squares(xx, yy, zz):
    """Inertia per mass of a body with these means of x^2, y^2, z^2 [m^2]."""
    return np.diag([yy + zz, zz + xx, xx + yy])


@given(masses, sizes, sizes)
def test_cylinder_is_its_integral(mass, radius, length):
    """The closed form of a cylinder is the integral over its slices."""
    expected = revolved(mass, [(-length / 2, length / 2, lambda z: radius**2 + 0 * z)])
    np.testing.assert_allclose(Inertia.cylinder(mass, radius, length).about_com, expected, rtol=RELATIVE)


@given(masses, sizes, sizes)
def test_capsule_is_its_integral(mass, radius, length):
    """The closed form of a capsule is the integral over the slices of its cylinder and its two half balls."""
    half = length / 2
    pieces = [
        (-half - radius, -half, lambda z: radius**2 - (z + half) ** 2),
        (-half, half, lambda z: radius**2 + 0 * z),
        (half, half + radius, lambda z: radius**2 - (z - half) ** 2),
    ]
    expected = revolved(mass, pieces)
    np.testing.assert_allclose(Inertia.capsule(mass, radius, length).about_com, expected, rtol=1e-10)


@given(masses, sizes)
def test_sphere_is_its_integral(mass, radius):
    """The closed form of a ball is the integral over its slices."""
    expected = revolved(mass, [(-radius, radius, lambda z: radius**2 - z**2)])
    np.testing.assert_allclose(Inertia.sphere(mass, radius).about_com, expected, rtol=RELATIVE)


@given(masses, sizes, sizes, sizes)
def test_box_is_its_integral(mass, x, y, z):
    """The closed form of a box is built from the mean squares of its coordinates, size^2 / 12 each."""
    nodes, weights = np.polynomial.legendre.leggauss(2)
    squares = [(weights / 2 * (0.5 * size * nodes) ** 2).sum() for size in (x, y, z)]
    expected = mass * from_mean_squares(*squares)
    np.testing.assert_allclose(Inertia.box(mass, (x, y, z)).about_com, expected, rtol=RELATIVE)


@given(masses, sizes, sizes, sizes)
def test_ellipsoid_is_a_stretched_ball(mass, a, b, c):
    """The mean squares of an ellipsoid's coordinates are those of the unit ball, stretched."""
    unit = np.trace(Inertia.sphere(1.0, 1.0).about_com) / 6
    squares = unit * np.square([a, b, c])
    expected = mass * from_mean_squares(*squares)
    np.testing.assert_allclose(Inertia.ellipsoid(mass, (a, b, c)).about_com, expected, rtol=RELATIVE)


@given(masses, sizes, unit_axes)
def test_rod_is_a_cylinder_without_radius(mass, length, axis):
    """A rod is a cylinder and a capsule of radius zero, along any axis."""
    rod = Inertia.rod(mass, length, axis)
    assert_same(rod, Inertia.cylinder(mass, 0.0, length, axis))
    assert_same(rod, Inertia.capsule(mass, 0.0, length, axis))


@given(masses, sizes)
def test_capsule_without_length_is_a_ball(mass, radius):
    """A capsule of length zero is a ball, and one of no size at all a point."""
    assert_same(Inertia.capsule(mass, radius, 0.0), Inertia.sphere(mass, radius))
    assert_same(Inertia.capsule(mass, 0.0, 0.0), Inertia.point(mass))


@given(masses, sizes, sizes, unit_axes, st.sampled_from(["cylinder", "capsule"]))
def test_axis_turns_the_solid(mass, radius, length, axis, solid):
    """A solid along an axis is the solid along z, turned there."""
    make = getattr(Inertia, solid)
    turned = make(mass, radius, length).transformed(Pose(R=matrix_with_z_along(axis)))
    assert_same(make(mass, radius, length, axis), turned)


@pytest.mark.parametrize(
    "inertia",
    [
        Inertia.rod(2.0, 1.0, com=(1, 2, 3)),
        Inertia.box(2.0, (1, 1, 1), com=(1, 2, 3)),
        Inertia.cylinder(2.0, 1.0, 1.0, com=(1, 2, 3)),
        Inertia.capsule(2.0, 1.0, 1.0, com=(1, 2, 3)),
        Inertia.sphere(2.0, 1.0, com=(1, 2, 3)),
        Inertia.ellipsoid(2.0, (1, 1, 1), com=(1, 2, 3)),
        Inertia.point(2.0, com=(1, 2, 3)),
    ],
)
def test_solids_are_centred_where_said(inertia):
    """Every solid has the mass and the centre that were asked for."""
    assert inertia.mass == 2.0
    np.testing.assert_array_equal(inertia.com, [1.0, 2.0, 3.0])


# --- laws -------------------------------------------------------------------------------------------------------------


@given(inertias, positions)
def test_parallel_axis(inertia, point):
    """About any point the inertia is that about the centre of mass plus that of the mass gathered there."""
    d = inertia.com - point
    expected = inertia.about_com + inertia.mass * (d @ d * np.eye(3) - np.outer(d, d))
    np.testing.assert_allclose(inertia.about(point), expected, rtol=RELATIVE)


@given(inertias, positions)
def test_from_matrix_inverts_about(inertia, point):
    """The matrix about any point gives the inertia back, points and rods included."""
    matrix = inertia.about(point)
    back = Inertia.from_matrix(inertia.mass, inertia.com, matrix, about=point)
    assert_same(back, inertia, scale=np.abs(matrix).max())


@given(inertias, poses)
def test_transformed_there_and_back(inertia, X):
    """Seen from another frame and back again, the inertia is the same."""
    assert_same(inertia.transformed(X).transformed(X.inverse()), inertia)


@given(inertias, poses, positions)
def test_kinetic_energy_does_not_depend_on_the_frame(inertia, X_AB, omega):
    """A body that turns about the origin of a frame has the same kinetic energy, seen from any frame."""
    seen = inertia.transformed(X_AB)
    energy = 0.5 * np.dot(omega, inertia.about((0, 0, 0)) @ omega)
    omega_A = X_AB.R @ omega
    assert 0.5 * np.dot(omega_A, seen.about(X_AB.p) @ omega_A) == pytest.approx(energy, rel=1e-9, abs=1e-9)


@given(inertias, inertias, positions)
def test_sum_adds_about_any_point(a, b, point):
    """The inertia of two joined bodies about any point is the sum of theirs."""
    joined = a + b
    scale = max(np.abs(a.about(point)).max(), np.abs(b.about(point)).max())
    assert joined.mass == a.mass + b.mass
    np.testing.assert_allclose(joined.mass * joined.com, a.mass * a.com + b.mass * b.com, atol=1e-10)
    np.testing.assert_allclose(joined.about(point), a.about(point) + b.about(point), atol=1e-11 * scale)


@given(inertias)
def test_zero_adds_nothing(inertia):
    """No inertia, added, changes nothing."""
    assert inertia + Inertia.zero() == inertia
    assert Inertia.zero() + inertia == inertia


@given(masses, sizes)
def test_two_half_rods_make_a_rod(mass, length):
    """Two half rods, joined end to end, are one rod."""
    halves = [Inertia.rod(mass / 2, length / 2, com=(0, 0, side * length / 4)) for side in (-1, 1)]
    assert_same(halves[0] + halves[1], Inertia.rod(mass, length))


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1.0,), "mass must not be negative"),
        ((1.0, (0, 0, 0), (1, 1, 3)), "sum of the other two, found 1, 1, 3"),
        ((1.0, (0, 0, 0), (-1, 1, 1)), "must not be negative, found -1, 1, 1"),
        ((1.0, (0, 0, 0), (-1, -1, -1)), "must not be negative"),
        ((1.0, (0, 0, 0), [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "symmetric"),
        ((0.0, (0, 0, 0), (1, 1, 1)), "without mass"),
    ],
)
def test_impossible_bodies_are_refused(arguments, words):
    """An inertia that no body has is refused with the rule and the numbers that break it."""
    with pytest.raises(InertiaError, match=words):
        Inertia(*arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("1",), "mass"),
        ((True,), "mass"),
        ((np.inf,), "mass"),
        ((1.0, (0, 0)), "com"),
        ((1.0, (0, 0, np.nan)), "com"),
        ((1.0, (0, 0, 0), np.eye(2)), "about_com"),
        ((1.0, (0, 0, 0), [[1, 0, 0], [0, 1], [0, 0, 1]]), "about_com"),
        ((1.0, (0, 0, 0), 1.0), "about_com"),
        ((1.0, (0, 0, 0), None), "about_com"),
    ],
)
def test_what_is_no_inertia_is_refused(arguments, words):
    """What is not numbers of the right shape is refused by its name."""
    with pytest.raises(InputError, match=words):
        Inertia(*arguments)


def test_evidence():
    """An impossible inertia is carried by the error."""
    with pytest.raises(InertiaError) as caught:
        Inertia(2.0, about_com=(1, 1, 3))
    assert caught.value.mass == 2.0
    np.testing.assert_array_equal(caught.value.matrix, np.diag([1.0, 1.0, 3.0]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Inertia.rod(1.0, -1.0), "length must not be negative"),
        (lambda: Inertia.rod(1.0, 1.0, axis="up"), "axis must be one of 'x'"),
        (lambda: Inertia.box(1.0, (1, 1)), "size must be 3 numbers"),
        (lambda: Inertia.box(1.0, (1, -1, 1)), r"size\[1\] must not be negative"),
        (lambda: Inertia.sphere(1.0, "big"), "radius must be a number"),
        (lambda: Inertia.ellipsoid(1.0, 1.0), "radii must be 3 numbers"),
        (lambda: Inertia.sphere(-1.0, 1.0), "mass must not be negative"),
    ],
)
def test_solids_refuse_impossible_sizes(make, words):
    """Sizes that no solid has are refused by their name."""
    with pytest.raises((InputError, InertiaError), match=words):
        make()


def test_matrix_about_the_wrong_point_is_refused():
    """A matrix too small for the distance of the centre of mass is refused, not rounded away."""
    with pytest.raises(InertiaError, match="must not be negative"):
        Inertia.from_matrix(1.0, (1, 0, 0), (0.1, 0.1, 0.1))


def test_triangle_inequality_has_a_tolerance():
    """Moments that break the triangle inequality by less than 1e-9 of the largest pass; by more, they do not."""
    Inertia(1.0, about_com=(1.0, 1.0, 2.0 * (1 + 0.9e-9)))
    with pytest.raises(InertiaError):
        Inertia(1.0, about_com=(1.0, 1.0, 2.0 * (1 + 1.1e-9)))


# --- manners ----------------------------------------------------------------------------------------------------------


@given(inertias)
def test_copies_are_equal(inertia):
    """Copies and pickles of an inertia are equal to it, hash alike and are read-only too."""
    for twin in (copy.deepcopy(inertia), pickle.loads(pickle.dumps(inertia))):
        assert twin == inertia
        assert hash(twin) == hash(inertia)
        assert not twin.about_com.flags.writeable


def test_immutable():
    """Neither the attributes nor the arrays of an inertia can be changed."""
    inertia = Inertia.sphere(1.0, 1.0)
    with pytest.raises(AttributeError):
        inertia.mass = 2.0
    with pytest.raises(ValueError, match="read-only"):
        inertia.about_com[0, 0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        inertia.com[0] = 2.0


def test_sum_with_something_else():
    """Only inertias can be added to inertias, and equal them."""
    with pytest.raises(TypeError):
        Inertia.zero() + 1.0
    assert Inertia.zero() != 0.0


def test_repr():
    """The repr shows the diagonal if that is all there is, and the matrix otherwise."""
    assert repr(Inertia.point(2.0)) == "Inertia(2, com=(0, 0, 0), about_com=(0, 0, 0))"
    assert repr(Inertia.rod(12.0, 1.0, axis=(1, 1, 0))).endswith(
        "about_com=((0.5, -0.5, 0), (-0.5, 0.5, 0), (0, 0, 1)))"
    )
