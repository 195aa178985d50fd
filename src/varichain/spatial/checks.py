"""Checks of what comes from outside: each returns the clean value or raises an InputError that names the argument.

Numbers are Python or numpy integers and floats, finite. bool, str, complex and None are not numbers here: True for a
mass is a mistake, not one kilogram.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, quoted
from varichain.spatial.arrays import Array

Kind = TypeVar("Kind")
Triple = tuple[float, float, float]

NAMED_AXES: dict[str, Triple] = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
}
LONGEST_NAME = 1000  # characters
LEAST_TIME = 1e-12  # [s] of a step: shorter ones are lost in the time that they are added to
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_HUGE = 1e300  # larger numbers are looked at closely: they may not fit a float
# Lengths this close to one are left alone, so that checking a unit vector twice changes nothing.
_UNIT_TOLERANCE = 4 * np.finfo(float).eps


def real_scalar(value: Any, what: str) -> float:
    """`value` as a float; infinities pass, NaN does not."""
    if type(value) is float and not math.isnan(value):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    # Every int is a Real, but asking for int first is three times as fast.
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, Real)):
        raise InputError(f"{what} must be a number, not {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isnan(number):
        raise InputError(f"{what} must be a number, not nan")
    return number


def finite_scalar(value: Any, what: str) -> float:
    """`value` as a finite float."""
    number = real_scalar(value, what)
    if not math.isfinite(number):
        raise InputError(f"{what} must be finite, not {number}")
    return number


def positive_scalar(value: Any, what: str) -> float:
    """`value` as a finite float > 0."""
    number = finite_scalar(value, what)
    if number <= 0.0:
        raise InputError(f"{what} must be positive, not {number:g}")
    return number


def time_step(value: Any, what: str) -> float:
    """`value` as a length of time that clocks can count [s]."""
    number = positive_scalar(value, what)
    if number < LEAST_TIME:
        raise InputError(f"{what} must be at least {LEAST_TIME:g} s, not {number:g}")
    return number


def non_negative_scalar(value: Any, what: str) -> float:
    """`value` as a finite float >= 0."""
    number = finite_scalar(value, what)
    if number < 0.0:
        raise InputError(f"{what} must not be negative, not {number:g}")
    return number


def is_index(value: Any, n: int) -> bool:
    """Whether `value` is a whole number from 0 to n - 1."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= int(value) < n


def is_sign(value: Any) -> bool:
    """Whether `value` is the whole number 1 or -1."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and abs(value) == 1


def count_number(value: Any, what: str, most: int, least: int = 1) -> int:
    """`value` as a whole number from `least` to `most`."""
    if not is_index(value, most + 1) or value < least:
        raise InputError(f"{what} must be a whole number from {least} to {most}, not {shown(value)}")
    return int(value)


def whole_count(number: float, what: str, most: int) -> int:
    """The whole number from 1 to `most` that `number` is, but for rounding, or the next larger one."""
    return count_number(math.ceil(number - 1e-9) if abs(number) < 1e18 else number, what, most)


def is_sequence(value: Any) -> bool:
    """Whether `value` is a list, a tuple or an array with at least one dimension; strings are not."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def finite_numbers(value: Any, n: int, what: str) -> tuple[float, ...]:
    """`value` as a tuple of `n` finite floats."""
    if not is_sequence(value) or len(value) != n:
        raise InputError(f"{what} must be {n} numbers, not {shown(value)}")
    numbers = []
    for i, number in enumerate(value):
        # Floats, the common case, are spared the call and the composed name.
        is_fine = type(number) is float and math.isfinite(number)
        numbers.append(number if is_fine else finite_scalar(number, f"{what}[{i}]"))
    return tuple(numbers)


def finite_array(value: Any, shape: tuple[int, ...], what: str) -> Array:
    """`value` as a new read-only float array of `shape` with finite entries."""
    if isinstance(value, np.ndarray):
        array = _array_from_array(value, shape, what)
    elif type(value) is tuple and (len(value),) == shape and _are_plain(value):
        array = np.array(value, dtype=np.float64)  # the common case, such as a position, made quicker
    else:
        array = np.array(_nested_numbers(value, shape, what))
    array.setflags(write=False)
    return array


def array_of(value: Any) -> NDArray[Any] | None:
    """`value` as an array of integers or floats of any shape, finite or not; None if it is none."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError, RecursionError):  # rows of different lengths; numbers too large
        return None
    return array if array.dtype.kind in "iuf" else None


def _are_plain(values: tuple[Any, ...]) -> bool:
    """Whether all are Python floats or ints, and finite."""
    for value in values:
        if (type(value) is not float and type(value) is not int) or not -_HUGE < value < _HUGE:
            return False
    return True


def unit_axis(axis: Any, what: str = "axis") -> Triple:
    """Unit vector from "x", "y", "z", "-x", "-y", "-z" or from three numbers of any length but zero."""
    if isinstance(axis, str):
        if axis not in NAMED_AXES:
            raise InputError(
                f"{what} must be one of {', '.join(map(repr, NAMED_AXES))} or 3 numbers, not {quoted(axis)}"
            )
        return NAMED_AXES[axis]
    x, y, z = normalised(finite_numbers(axis, 3, what), what)
    return x, y, z


def normalised(numbers: tuple[float, ...], what: str) -> tuple[float, ...]:
    """`numbers` divided by their Euclidean length; unchanged if it is one to rounding."""
    largest = max(map(abs, numbers))
    if largest == 0.0:
        raise InputError(f"{what} must not have zero length, found {numbers}")
    length = math.hypot(*numbers)
    if abs(length - 1.0) <= _UNIT_TOLERANCE:
        return numbers
    # Scaled first: lengths of huge and of subnormal vectors over- and underflow.
    scaled = [number / largest for number in numbers]
    length = math.hypot(*scaled)
    return tuple([number / length for number in scaled])


def flag(value: Any, what: str) -> bool:
    """`value` as a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what} must be True or False, not {shown(value)}")
    return bool(value)


def name_string(value: Any, what: str) -> str:
    """`value` as a name: a string with something to read in it, that terminals and all formats take.

    Control characters move the cursor of a terminal and have no place in XML, halves of characters none in UTF-8.
    """
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{what} must be a non-empty string, not {shown(value)}")
    if len(value) > LONGEST_NAME:
        raise InputError(f"{what} must not be longer than {LONGEST_NAME} characters, not {len(value)}")
    if not value.isprintable() and _UNFIT.search(value):
        raise InputError(f"{what} must not have control characters or halves of characters in it, not {shown(value)}")
    return value


def instance(value: Any, kind: type[Kind] | tuple[type[Kind], ...], what: str) -> Kind:
    """`value` if it is of a class, or of one of several."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise InputError(f"{what} must be a {' or '.join(one.__name__ for one in kinds)}, not {shown(value)}")
    return value


def is_many(value: Any) -> bool:
    """Whether `value` can be gone through; an array without dimensions says so and cannot."""
    return isinstance(value, Iterable) and not (isinstance(value, np.ndarray) and value.ndim == 0)


def several(value: Any) -> list[Any]:
    """One object, or an iterable of them, as a list."""
    return list(value) if is_many(value) else [value]


def is_one_of(value: Any, names: Container[str]) -> bool:
    """Whether `value` is one of some names; what is no string, such as an array, is not compared with them."""
    return isinstance(value, str) and value in names


def listed(value: Any, kind: type[Kind], what: str) -> tuple[Kind, ...]:
    """`value`, an iterable of objects of a class, as a tuple; a single string or a mapping is none."""
    if isinstance(value, (str, bytes, Mapping)) or not is_many(value):
        raise InputError(f"{what} must be a list of {kind.__name__}, not {shown(value)}")
    return tuple([instance(entry, kind, f"an entry of {what}") for entry in value])


def mapping(value: Any, what: str) -> Mapping[Any, Any]:
    """`value` as a mapping, such as a dict; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{what} must be a dict, not {shown(value)}")
    return value


def shown(value: Any) -> str:
    """Short repr of a refused value with its type, for messages."""
    try:
        text = repr(value)
    except Exception:  # also of numbers with more digits than Python writes
        text = "something"
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def _array_from_array(value: NDArray[Any], shape: tuple[int, ...], what: str) -> Array:
    """Checked copy of a numpy array."""
    if value.shape != shape or value.dtype.kind not in "iuf":
        raise InputError(
            f"{what} must be numbers of shape {shape}, not an array of shape {value.shape} and type {value.dtype}"
        )
    array = value.astype(np.float64)
    if not np.isfinite(array).all():
        raise InputError(f"{what} must be finite, not {value.tolist()}")
    return array


def _nested_numbers(value: Any, shape: tuple[int, ...], what: str) -> Any:
    """Checked nested tuples of floats; numpy alone would let True pass for 1.0 and "2" for 2.0."""
    if len(shape) == 1:
        return finite_numbers(value, shape[0], what)
    if not is_sequence(value) or len(value) != shape[0]:
        raise InputError(f"{what} must be numbers of shape {shape}, not {shown(value)}")
    return [_nested_numbers(row, shape[1:], f"{what}[{i}]") for i, row in enumerate(value)]
