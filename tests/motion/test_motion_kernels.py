"""Kernels of motions: polynomials against scipy's, rotations against their definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import PPoly

from compiled import angular_motion
from lane import scaled
from oracles.rotation_jets import rotation_jet
from oracles.rotations import quaternion_exp, quaternion_product, rotation_of_quaternion
from strategies import rotation_vectors, unit_axes
from varichain.kernels.motion import CHANNEL, ROTATION, SCALAR, evaluate
from varichain.kernels.tables import as_records

# Horner's rule in another order than scipy's: rounding of sums of a few terms, relative to the largest term.
ROUNDING = 1e-13
# The oracle's matrix exponential squares its way up to a full turn and loses a digit or two there.
EXPONENTIAL = 1e-12


def channel(kind, breaks, coefficients, repeats=False):
    """Channels, a single one, and their table: breaks first."""
    n, degree = len(breaks) - 1, len(coefficients[0][-1]) - 1
    row = (kind, 0, 0, 0, len(breaks), n, degree, repeats, breaks[-1] - breaks[0])
    table = np.concatenate([breaks, *[np.ravel(x) for piece in coefficients for x in piece]]).astype(float)
    return as_records(np.array([row], CHANNEL)), table


def evaluated(channels, table, times):
    """Coordinates, velocities and accelerations (n, 4), (n, 3), (n, 3); NaN where nothing was written."""
    times = np.atleast_1d(np.asarray(times, float))
    q, v, a = (np.full((len(times), k), np.nan) for k in (4, 3, 3))
    evaluate(channels, table, times, q, v, a)
    return q, v, a


@st.composite
def polynomials(draw, most_pieces=12):
    """Break times and coefficients (degree + 1, n) of piecewise polynomials."""
    n, degree = draw(st.integers(1, most_pieces)), draw(st.integers(0, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    breaks = draw(st.floats(-10.0, 10.0)) + np.concatenate([[0.0], np.cumsum(10.0 ** rng.uniform(-3, 0.5, n))])
    return breaks, rng.normal(size=(degree + 1, n)) * 10.0 ** rng.uniform(-2, 2, (degree + 1, 1))


@given(polynomials(), st.integers(0, 2**32))
def test_scalars_are_scipys_piecewise_polynomials(polynomial, seed):
    """Value, rate and acceleration equal those of scipy's PPoly for any degree up to seven, at breaks and between."""
    breaks, c = polynomial
    rng = np.random.default_rng(seed)
    times = np.concatenate([breaks, rng.uniform(breaks[0], breaks[-1], scaled(200, 20))])
    q, v, a = evaluated(*channel(SCALAR, breaks, c.T[:, None, :]), times)
    peer, size = PPoly(c, breaks), PPoly(np.abs(c), breaks)
    for order, found in enumerate((q, v, a)):
        error = np.abs(found[:, 0] - peer(times, order))
        # time differences are rounded too, which counts by the slope
        assert (error <= ROUNDING * (size(times, order) + size(times, order + 1) + 1e-3)).all(), order
        assert np.isnan(found[:, 1:]).all()


def test_at_a_break_the_later_piece_counts():
    """Steps of degree zero change at their breaks, and the last piece has the end."""
    channels, table = channel(SCALAR, [0.0, 1.0, 3.0], [[[5.0]], [[7.0]]])
    times = [np.nextafter(1.0, 0.0), 1.0, 3.0]
    assert evaluated(channels, table, times)[0][:, 0].tolist() == [5.0, 7.0, 7.0]


def test_outside_it_stands_still():
    """Before the first and after the last break, values are held and nothing moves, at the breaks it still does."""
    channels, table = channel(SCALAR, [1.0, 2.0], [[[1.0, 1.0, 3.0]]])
    q, v, a = evaluated(channels, table, [-1e300, 0.0, 1.0, 2.0, np.nextafter(2.0, 3.0), 7.0, 1e300])
    assert q[:, 0].tolist() == [3.0, 3.0, 3.0, 5.0, 5.0, 5.0, 5.0]
    assert v[:, 0].tolist() == [0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0]
    assert a[:, 0].tolist() == [0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0]


@given(polynomials(), st.floats(-50.0, 50.0))
def test_repeated_it_begins_again(polynomial, t):
    """A channel that repeats has at any time the values of scipy's periodic extrapolation."""
    breaks, c = polynomial
    q, v, a = evaluated(*channel(SCALAR, breaks, c.T[:, None, :], repeats=True), t)
    first, last = breaks[[0, -1]]
    inside = t if first <= t <= last else first + (t - first) % (last - first)
    peer, size = PPoly(c, breaks), PPoly(np.abs(c), breaks)
    for order, found in enumerate((q, v, a)):
        assert abs(found[0, 0] - peer(inside, order)) <= ROUNDING * (
            size(inside, order) + size(inside, order + 1) + 1e-3
        )


def test_one_bad_time_spoils_nothing_else():
    """A time that is no number gives no number, and neither hangs nor raises."""
    for repeats in (False, True):
        channels, table = channel(SCALAR, [0.0, 1.0, 2.0], [[[1.0, 0.0]], [[1.0, 1.0]]], repeats)
        q, _, _ = evaluated(channels, table, [math.nan, 1.5])
        assert math.isnan(q[0, 0]) and q[1, 0] == 1.5


@given(rotation_vectors(2.0 * math.pi), st.integers(0, 2**32))
def test_rotations_are_those_of_their_definition(phi, seed):
    """Orientation, angular velocity and acceleration equal the derivatives of exp([phi]), from 0 to a full turn."""
    rng = np.random.default_rng(seed)
    rate, acceleration, start = rng.normal(size=3), rng.normal(size=3), quaternion_exp(rng.normal(size=3))
    # phi is reached half a second after the break, with these derivatives there
    c = np.stack([0.5 * acceleration, rate - 0.5 * acceleration, phi - 0.5 * rate + 0.125 * acceleration], axis=1)
    channels, table = rotation_channel([0.0, 1.0], [(start, c)])
    q, v, a = evaluated(channels, table, 0.5)
    R, w, w_rate = rotation_jet(phi, rate, acceleration)
    np.testing.assert_allclose(
        rotation_of_quaternion(q[0]), rotation_of_quaternion(start) @ R, rtol=0, atol=EXPONENTIAL
    )
    assert abs(np.linalg.norm(q[0]) - 1.0) < 1e-15 * 4
    np.testing.assert_allclose(v[0], w, rtol=0, atol=EXPONENTIAL)
    np.testing.assert_allclose(a[0], w_rate, rtol=0, atol=10 * EXPONENTIAL)


def rotation_channel(breaks, pieces, repeats=False):
    """Channel of a rotation from pairs of a quaternion and coefficients (3, degree + 1)."""
    n, degree = len(pieces), pieces[0][1].shape[1] - 1
    row = (ROTATION, 0, 0, 0, len(breaks), n, degree, repeats, breaks[-1] - breaks[0])
    table = np.concatenate([breaks, *[np.concatenate([Q, c.ravel()]) for Q, c in pieces]])
    return as_records(np.array([row], CHANNEL)), table


@given(unit_axes, st.floats(-9.0, 0.0), st.integers(0, 2**32))
def test_nothing_is_lost_where_the_series_ends(axis, exponent, seed):
    """Rates of rotation vectors of 1e-9 to 1 rad equal the definition's to rounding, on both sides of the series."""
    rng = np.random.default_rng(seed)
    rate, acceleration = tuple(rng.normal(size=3)), tuple(rng.normal(size=3))
    for angle in (10.0**exponent, np.nextafter(0.5, 0.0), 0.5):
        phi = tuple(angle * axis)
        _, w, w_rate = rotation_jet(phi, rate, acceleration)
        found = angular_motion(phi, rate, acceleration)
        np.testing.assert_allclose(found, [w, w_rate], rtol=0, atol=ROUNDING)


def test_a_rotation_holds_and_repeats():
    """Outside its breaks a rotation stands still in its end orientations, or begins again."""
    start, c = np.array([1.0, 0.0, 0.0, 0.0]), np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    q, v, a = evaluated(*rotation_channel([0.0, 1.0], [(start, c)]), [-1.0, 0.5, 3.25])
    np.testing.assert_allclose(q, [quaternion_exp([0.0, angle, 0.0]) for angle in (0.0, 1.0, 2.0)], atol=ROUNDING)
    assert v.tolist() == [[0.0] * 3, [0.0, 2.0, 0.0], [0.0] * 3] and not a.any()
    q, v, _ = evaluated(*rotation_channel([0.0, 1.0], [(start, c)], repeats=True), [-0.75, 3.25])
    np.testing.assert_allclose(q, [quaternion_exp([0.0, 0.5, 0.0])] * 2, atol=ROUNDING)
    assert v.tolist() == [[0.0, 2.0, 0.0]] * 2


def test_pieces_of_a_rotation_follow_their_own_beginning():
    """The orientation of a piece is its quaternion times the exponential, in this order."""
    Q, c = quaternion_exp([0.3, -0.2, 0.9]), np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    other = np.array([1.0, 0.0, 0.0, 0.0])
    q, _, _ = evaluated(*rotation_channel([0.0, 1.0, 2.0], [(other, c), (Q, c)]), 1.5)
    np.testing.assert_allclose(q[0], quaternion_product(Q, quaternion_exp([0.5, 0.0, 0.0])), atol=ROUNDING)


@pytest.mark.parametrize("field", CHANNEL.names)
def test_fields_are_no_attributes_of_records(field):
    """Without compiler fields are read as attributes of numpy's records, which must not have one of that name."""
    assert not hasattr(np.record, field) and not hasattr(np.recarray, field)
