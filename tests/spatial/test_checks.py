import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import not_numbers, positions
from varichain.errors import InputError
from varichain.spatial import checks

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.one_of(finite, st.integers(-(2**53), 2**53)))
def test_numbers_pass_unchanged(number):
    """Finite floats and integers pass as floats of the same value, from Python and from numpy."""
    assert checks.finite_scalar(number, "x") == number
    assert type(checks.finite_scalar(number, "x")) is float
    assert checks.finite_scalar(np.array(number)[()], "x") == number
    assert checks.finite_scalar(np.array(number), "x") == number


def test_other_reals_pass():
    """Single precision and fractions are numbers too."""
    assert checks.finite_scalar(np.float32(0.5), "x") == 0.5
    assert checks.finite_scalar(Fraction(1, 4), "x") == 0.25


@given(not_numbers)
def test_what_is_no_number_is_refused(value):
    """bool, str, bytes, complex, None, lists and what is not finite are refused, alone and among numbers."""
    with pytest.raises(InputError, match="radius"):
        checks.finite_scalar(value, "radius")
    with pytest.raises(InputError, match=r"com\[1\]"):
        checks.finite_numbers((0.0, value, 0.0), 3, "com")
    with pytest.raises(InputError, match=r"com\[1\]"):
        checks.finite_array([0, value, 0], (3,), "com")


def test_infinite_bounds_are_real():
    """Infinity passes where only a real number is asked for; NaN never does."""
    assert checks.real_scalar(math.inf, "limit") == math.inf
    with pytest.raises(InputError, match="limit must be a number, not nan"):
        checks.real_scalar(math.nan, "limit")


@pytest.mark.parametrize(("check", "bad"), [("positive_scalar", 0.0), ("non_negative_scalar", -1e-300)])
def test_sign_is_checked(check, bad):
    """Positive excludes zero, and not negative excludes whatever is below zero."""
    assert getattr(checks, check)(1e-300, "mass") == 1e-300
    with pytest.raises(InputError, match="mass must"):
        getattr(checks, check)(bad, "mass")


@pytest.mark.parametrize(
    "value",
    [(1, 2), (1, 2, 3, 4), 3.0, "xyz", None, np.zeros((3, 1)), [[1, 2, 3]], {1, 2, 3}, np.array(1.0), ()],
)
def test_wrong_shapes_are_refused(value):
    """Only sequences of the right length count as so many numbers."""
    with pytest.raises(InputError, match="p"):
        checks.finite_numbers(value, 3, "p")
    with pytest.raises(InputError, match="p"):
        checks.finite_array(value, (3,), "p")


@pytest.mark.parametrize(
    "value", [np.eye(3) > 0, np.eye(3).astype(str), np.eye(3) * 1j, np.full((3, 3), np.nan), np.eye(3, dtype=object)]
)
def test_arrays_of_other_types_are_refused(value):
    """Arrays of bool, text, complex numbers, objects or NaN are no numbers."""
    with pytest.raises(InputError, match="R must be"):
        checks.finite_array(value, (3, 3), "R")


def test_ragged_rows_are_refused():
    """Rows of different lengths are refused by the name of the row."""
    with pytest.raises(InputError, match=r"R\[1\] must be 3 numbers"):
        checks.finite_array([[1, 0, 0], [0, 1], [0, 0, 1]], (3, 3), "R")


def test_array_is_a_read_only_copy():
    """A checked array shares nothing with what it came from and cannot be written."""
    given_array = np.zeros(3)
    array = checks.finite_array(given_array, (3,), "p")
    given_array[0] = 1.0
    assert array[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 2.0


@given(positions.filter(any), st.sampled_from([1e-300, 1e-6, 1.0, 1e6, 1e300]))
def test_axes_are_normalised(direction, scale):
    """Three numbers become a unit vector along them whatever their size, and a unit vector stays itself."""
    scaled = np.multiply(direction, scale)
    if not scaled.any():
        return
    axis = checks.unit_axis(scaled)
    assert math.hypot(*axis) == pytest.approx(1.0, abs=1e-15)
    assert checks.unit_axis(axis) == axis


@pytest.mark.parametrize(("name", "axis"), [("x", (1, 0, 0)), ("-y", (0, -1, 0)), ("z", (0, 0, 1))])
def test_named_axes(name, axis):
    """An axis may be given by its name."""
    assert checks.unit_axis(name) == axis


@pytest.mark.parametrize("axis", ["w", "", "X", (0, 0, 0), (0, 1), None, 1.0, (0, np.nan, 1)])
def test_bad_axes_are_refused(axis):
    """Unknown names, zero length and what is not three numbers are no axes."""
    with pytest.raises(InputError, match="axis of knee"):
        checks.unit_axis(axis, "axis of knee")


def test_unknown_axis_name_lists_the_valid_ones():
    """The refusal of an axis name lists all valid names."""
    with pytest.raises(InputError, match="'x', 'y', 'z', '-x', '-y', '-z' or 3 numbers, not 'up'"):
        checks.unit_axis("up")


@pytest.mark.parametrize("value", [1, 0, None, "yes"])
def test_flags_are_bool(value):
    """Only True and False are flags."""
    assert checks.flag(np.True_, "actuated") is True
    with pytest.raises(InputError, match="actuated must be True or False"):
        checks.flag(value, "actuated")


@pytest.mark.parametrize("value", ["", "  ", None, 3, b"arm"])
def test_names_are_strings_with_content(value):
    """A name is a string with something to read in it."""
    assert checks.name_string("left arm", "name") == "left arm"
    with pytest.raises(InputError, match="name must be a non-empty string"):
        checks.name_string(value, "name")


def test_long_values_are_cut_in_messages():
    """A message quotes a refused value with its type, but not all of a long one."""
    with pytest.raises(InputError) as caught:
        checks.finite_scalar("x" * 1000, "mass")
    assert "(str)" in str(caught.value)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize("value", [0.0, 5e-324, 9e-13])
def test_steps_are_long_enough_to_be_counted(value):
    """A step of time that is lost in the time it is added to would never end a run."""
    assert checks.time_step(1e-12, "step") == 1e-12
    with pytest.raises(InputError, match="step must"):
        checks.time_step(value, "step")


def test_one_object_or_several():
    """One object counts as a list of itself; so does an array without dimensions, which claims to be iterable."""
    alone = np.array(3.0)
    assert checks.several(alone)[0] is alone and checks.several(None) == [None]
    assert checks.several((1, 2)) == [1, 2] and checks.several(iter("ab")) == ["a", "b"]
    with pytest.raises(InputError, match="parts must be a list of str"):
        checks.listed(np.array("ab"), str, "parts")


def test_arrays_are_no_names():
    """What is compared with names is a string first: arrays compare entry by entry."""
    assert checks.is_one_of("a", ("a", "b")) and not checks.is_one_of("c", ("a", "b"))
    assert not checks.is_one_of(np.array(["a", "b"]), ("a", "b")) and not checks.is_one_of([], {"a": 1})


@pytest.mark.parametrize("value", [[[1, 2], [3]], [[]] * 2 + [[1]], "ab", [None], [10**400], [1j], [True]])
def test_what_is_no_array_of_numbers(value):
    """Rows of different lengths, texts, objects and complex numbers make no array; shapes are left to the caller."""
    assert checks.array_of(value) is None
    assert checks.array_of([[1, 2], [3, np.nan]]).shape == (2, 2)


@pytest.mark.parametrize(
    ("value", "is_one"), [(1, True), (-1, True), (np.int64(-1), True), (0, False), (1.0, False), (True, False)]
)
def test_signs(value, is_one):
    """The whole numbers 1 and -1 alone are signs."""
    assert checks.is_sign(value) == is_one


def test_counts_from_quotients():
    """A quotient that is a whole number but for rounding is that number; huge ones and infinity are refused."""
    assert checks.whole_count(0.3 / 0.1, "steps", 10) == 3 and checks.whole_count(2.1, "steps", 10) == 3
    for number in (11.0, 1e300, math.inf, 0.0):
        with pytest.raises(InputError, match="steps must"):
            checks.whole_count(number, "steps", 10)
