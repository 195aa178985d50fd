"""Samples of a joint's motion, read by their shape and checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.errors import InputError
from varichain.motion.pieces import checked_breaks
from varichain.motion.quaternions import exponential, turns
from varichain.motion.track import FREEDOMS, POSE, ROTATION
from varichain.spatial.arrays import Array
from varichain.spatial.checks import is_sequence, shown
from varichain.spatial.frozen import Frozen, read_only

_SHAPES = (
    "(n,) or (n, k) numbers, or a tuple of (n,) with one for each freedom; for a ball quaternions (n, 4), rotation "
    "vectors (n, 3) or a Rotation; for a free joint (n, 7), or a tuple (rotations, positions (n, 3))"
)
# Two orientations half a turn apart, to this [rad], leave open which way round it went.
_AMBIGUOUS = 1e-3


@dataclass(frozen=True, eq=False)
class Samples(Frozen):
    """Samples of one joint's motion.

    Attributes:
        kind: FREEDOMS, ROTATION or POSE, as of a Track.
        values: Values (n, k) of the freedoms, or positions (n, 3); None of a rotation.
        quaternions: Unit quaternions (n, 4) of a rotation or pose; None of others.
    """

    kind: str
    values: Array | None = None
    quaternions: Array | None = None


def sample_times(times: Any, least: int) -> Array:
    """`times` as an array, strictly increasing and at least that many."""
    array = _numbers(times, "times")
    if array.ndim != 1 or len(array) < least:
        raise InputError(f"times must be at least {least} numbers in a row, found shape {array.shape}")
    return checked_breaks(array, "times")


def motion_samples(value: Any, n: int, what: str) -> Samples:
    """Samples of a joint's motion at n times; their shape tells what they are."""
    if isinstance(value, tuple) and len(value) == 2 and _is_rotation(value[0]):
        positions = _rows(value[1], n, f"positions of {what}")
        if positions.shape[1] != 3:
            raise InputError(f"positions of {what} must have shape ({n}, 3), not {positions.shape}")
        return Samples(POSE, positions, _quaternions(value[0], n, f"rotations of {what}"))
    if isinstance(value, tuple):
        return function_samples(value, n, what)
    if _is_rotation(value):
        return Samples(ROTATION, None, _quaternions(value, n, what))
    rows = _rows(value, n, what)
    if rows.shape[1] == 7:
        return Samples(POSE, rows[:, 4:], _quaternions(rows[:, :4], n, what))
    return Samples(FREEDOMS, rows)


def function_samples(value: Any, n: int, what: str) -> Samples:
    """Samples of plain functions at n times, one for each freedom of a joint."""
    if not isinstance(value, tuple):
        return Samples(FREEDOMS, _rows(value, n, what))
    columns = [_rows(column, n, f"{what}[{k}]") for k, column in enumerate(value)]
    if not columns or any(column.shape[1] != 1 for column in columns):
        raise InputError(f"{what} as a tuple must have ({n},) numbers for each freedom, not {shown(value)}")
    return Samples(FREEDOMS, np.hstack(columns))


def check_steps(samples: Samples, times: Array, what: str) -> None:
    """Raise InputError if two orientations that follow each other are half a turn apart."""
    if samples.quaternions is None:
        return
    angles = np.linalg.norm(turns(samples.quaternions), axis=1)
    if (angles > math.pi - _AMBIGUOUS).any():
        i = int(np.argmax(angles))
        raise InputError(
            f"{what} turns by half a turn between t = {times[i]:g} s and {times[i + 1]:g} s: the way round is "
            "ambiguous; give samples between"
        )


def _is_rotation(value: Any) -> bool:
    """Whether it is a scipy Rotation, or has rows of three (rotation vectors) or four numbers (quaternions)."""
    if hasattr(value, "as_quat"):
        return True
    if not isinstance(value, np.ndarray) and not _is_rectangle(value):
        return False
    return np.ndim(value) == 2 and np.shape(value)[-1] in (3, 4)


def _is_rectangle(value: Any) -> bool:
    """Whether a list can be an array."""
    return isinstance(value, list) and len(value) > 0 and len({np.shape(row) for row in value}) == 1


def _quaternions(value: Any, n: int, what: str) -> Array:
    """Unit quaternions (n, 4) of quaternions, rotation vectors or a scipy Rotation."""
    # scipy's quaternions are (x, y, z, w)
    rows = _rows(np.roll(value.as_quat(), 1, axis=-1) if hasattr(value, "as_quat") else value, n, what)
    if rows.shape[1] == 3:
        return exponential(rows)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not (largest > 0.0).all():
        raise InputError(f"{what} must be quaternions of any length but zero, found zero at row {np.argmin(largest)}")
    scaled = rows / largest  # first: lengths of huge and of subnormal quaternions over- and underflow
    unit: Array = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return unit


def _rows(value: Any, n: int, what: str) -> Array:
    """Finite numbers (n, k) with a row for each time."""
    array = _numbers(value, what)
    if array.ndim not in (1, 2) or len(array) != n or array.size == 0:
        raise InputError(f"{what} must be {_SHAPES}, where n = {n} is the number of times; found shape {array.shape}")
    if not np.isfinite(array).all():
        i = int(np.argmin(np.isfinite(array).reshape(n, -1).all(axis=1)))
        raise InputError(f"{what} must be finite, found {array[i]} at row {i}")
    return array.reshape(n, -1)


def _numbers(value: Any, what: str) -> Array:
    """New array of real numbers."""
    try:
        array = np.array(value)
    except ValueError:  # rows of different lengths
        array = np.array(None)
    if not is_sequence(value) or array.dtype.kind not in "iuf":
        raise InputError(f"{what} must be numbers in an array, not {shown(value)}")
    return read_only(array.astype(float))
