"""From what a user has - scipy's splines, rotations, poses, numbers - to tracks."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from varichain.errors import InputError
from varichain.motion.pieces import Pieces, checked_breaks
from varichain.motion.track import FREEDOMS, POSE, ROTATION, Track
from varichain.spatial.checks import finite_numbers, finite_scalar, is_sequence, normalised, shown
from varichain.spatial.pose import Pose

_SPLINES = "a PPoly (CubicSpline, Akima1DInterpolator, PchipInterpolator, ...), a BSpline"
_FUNCTIONS = f"{_SPLINES}, a number, or a list of these, one for each freedom"
_MOTIONS = (
    f"{_FUNCTIONS}; a RotationSpline, Rotation or quaternion (w, x, y, z) for a ball; a Pose or a pair "
    "(rotation, position) for a free joint"
)


def motion_track(value: Any, what: str, repeat: bool) -> Track:
    """Track of a joint's motion; it repeats if asked to, or if a spline says so itself."""
    if isinstance(value, Pose):
        return Track(POSE, (Pieces.constant(np.zeros(3), value.quaternion), Pieces.constant(value.p)))
    if _is_numbers(value, 7):
        return motion_track((value[:4], value[4:]), what, repeat)
    if _is_rotation(value):
        return Track(ROTATION, (_rotation(value, what),), repeat)
    if is_sequence(value) and len(value) == 2 and _is_rotation(value[0]):
        position = _freedoms(value[1], f"position of {what}", _MOTIONS)
        if len(position) != 1 or position[0].width != 3:
            raise InputError(f"position of {what} must be a spline of 3 columns or 3 numbers, not {shown(value[1])}")
        parts = (_rotation(value[0], f"rotation of {what}"), position[0])
        return _checked(Track(POSE, parts, repeat or _is_periodic(value[1])), what)
    return _freedoms_track(value, what, repeat, _MOTIONS)


def functions_track(value: Any, what: str, repeat: bool) -> Track:
    """Track of plain functions of time, one for each freedom of a joint."""
    return _freedoms_track(value, what, repeat, _FUNCTIONS)


def _freedoms_track(value: Any, what: str, repeat: bool, valid: str) -> Track:
    return _checked(Track(FREEDOMS, _freedoms(value, what, valid), repeat or _is_periodic(value)), what)


def _checked(track: Track, what: str) -> Track:
    track.check_period(what)
    return track


def _freedoms(value: Any, what: str, valid: str) -> tuple[Pieces, ...]:
    """Functions of time: one of one or several columns, or one by one."""
    if not is_sequence(value):
        return (_function(value, what, valid),)
    if len(value) == 0:
        raise InputError(f"{what} must be {valid}; found nothing")
    if all(_is_number(entry) for entry in value):
        return (Pieces.constant(finite_numbers(value, len(value), what)),)
    parts = tuple(_function(entry, f"{what}[{k}]", valid) for k, entry in enumerate(value))
    for k, part in enumerate(parts):
        if part.width != 1:
            raise InputError(f"{what}[{k}] must be one function of time, not {part.width}")
    return parts


def _function(value: Any, what: str, valid: str) -> Pieces:
    """One spline, or one number."""
    if _is_number(value):
        return Pieces.constant(finite_scalar(value, what))
    from scipy.interpolate import BSpline, PPoly

    if isinstance(value, PPoly):
        return _checked_pieces(value.x, value.c, what)
    if isinstance(value, BSpline):
        return pieces_from_bspline(value, what)
    hint = " (a Python function goes to from_function)" if callable(value) else ""
    hint = " (samples go to sampled)" if is_sequence(value) else hint
    raise InputError(f"{what} must be {valid}; found {shown(value)}{hint}")


def pieces_from_bspline(spline: Any, what: str) -> Pieces:
    """The polynomials of a B-spline between its distinct knots: its derivatives where each of them begins."""
    base = spline.t[spline.k : len(spline.t) - spline.k]
    breaks = np.unique(base)
    derivatives = [np.moveaxis(spline(breaks[:-1], m), spline.axis, 0) for m in range(spline.k, -1, -1)]
    factorials = [math.factorial(m) for m in range(spline.k, -1, -1)]
    return _checked_pieces(breaks, np.stack([d / n for d, n in zip(derivatives, factorials, strict=True)]), what)


def _checked_pieces(breaks: Any, coefficients: Any, what: str) -> Pieces:
    """Pieces of arrays as scipy holds them, once they are sound."""
    c = np.asarray(coefficients)
    if c.dtype.kind not in "iuf" or c.ndim not in (2, 3) or c.size == 0:
        raise InputError(
            f"{what} must have real values, one or a row at a time, not of shape {c.shape[2:]} and type {c.dtype}"
        )
    if not np.isfinite(c).all():
        raise InputError(f"{what} must have finite coefficients, found {c[~np.isfinite(c)][0]}")
    times = checked_breaks(np.asarray(breaks, dtype=float), f"break times of {what}")
    return Pieces(times, c.reshape(*c.shape[:2], -1))


def _rotation(value: Any, what: str) -> Pieces:
    from scipy.spatial.transform import Rotation, RotationSpline

    if isinstance(value, RotationSpline):
        # scipy's quaternions are (x, y, z, w); its spline multiplies from the right, R_i exp([phi]), as ours does
        pieces = _checked_pieces(value.times, value.interpolator.c, what)
        return Pieces(pieces.breaks, pieces.coefficients, np.roll(value.rotations.as_quat(), 1, axis=1)[:-1])
    if isinstance(value, Rotation):
        return Pieces.constant(np.zeros(3), np.roll(value.as_quat(), 1))
    if np.shape(value) == (3, 3):
        return Pieces.constant(np.zeros(3), _rotation_matrix(value, what).quaternion)
    return Pieces.constant(np.zeros(3), normalised(finite_numbers(value, 4, what), f"quaternion of {what}"))


def _rotation_matrix(value: Any, what: str) -> Pose:
    try:
        return Pose(R=value)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None


def _is_rotation(value: Any) -> bool:
    """Whether it is meant as a rotation: nothing else has four numbers, or three rows of three."""
    if _is_numbers(value, 4):
        return True
    if is_sequence(value) and len(value) == 3 and all(_is_numbers(row, 3) for row in value):
        return True
    if _is_number(value) or is_sequence(value):
        return False
    from scipy.spatial.transform import Rotation, RotationSpline

    return isinstance(value, RotationSpline) or (isinstance(value, Rotation) and value.single)


def _is_periodic(value: Any) -> bool:
    """Whether one of scipy's splines says that it repeats."""
    if is_sequence(value):
        return any(_is_periodic(entry) for entry in value)
    return getattr(value, "extrapolate", None) == "periodic"


def _is_numbers(value: Any, n: int) -> bool:
    return is_sequence(value) and len(value) == n and all(_is_number(entry) for entry in value)


def _is_number(value: Any) -> bool:
    value = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
