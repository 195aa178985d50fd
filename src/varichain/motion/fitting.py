"""Cubic tracks through samples, with continuous velocity and acceleration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from varichain.errors import InputError, quoted
from varichain.motion.pieces import Pieces
from varichain.motion.rotation_spline import rotation_spline
from varichain.motion.samples import Samples, check_steps
from varichain.motion.track import Track, check_equal
from varichain.spatial.arrays import Array

ENDS = ("natural", "clamped", "not-a-knot")


def checked_ends(ends: Any) -> str:
    """`ends` if it names a condition."""
    if ends not in ENDS:
        raise InputError(f"ends must be one of {', '.join(map(repr, ENDS))}, not {quoted(ends)}")
    return str(ends)


def cubic_track(samples: Samples, times: Array, ends: str, repeat: bool, what: str) -> Track:
    """Cubic pieces through all samples; periodic ones if they repeat, whatever `ends` says."""
    from scipy.interpolate import CubicSpline

    check_steps(samples, times, what)
    samples = closed(samples, what) if repeat else samples
    condition = "periodic" if repeat else ends
    parts = []
    if samples.quaternions is not None:
        parts.append(rotation_spline(times, samples.quaternions, condition, what))
    if samples.values is not None:
        spline = CubicSpline(times, samples.values, bc_type=condition)
        parts.append(Pieces(spline.x, spline.c))
    return Track(samples.kind, tuple(parts), repeat)


def closed(samples: Samples, what: str) -> Samples:
    """The samples with the last equal to the first to the last digit; InputError if they differ."""
    values, quaternions = samples.values, samples.quaternions
    if quaternions is not None:
        check_equal(quaternions[0], quaternions[-1], True, what)
        quaternions = np.vstack([quaternions[:-1], quaternions[:1]])
    if values is not None:
        check_equal(values[0], values[-1], False, what)
        values = np.vstack([values[:-1], values[:1]])
    return replace(samples, values=values, quaternions=quaternions)
