"""Tracks that follow a Python function of time to a tolerance: sampled more closely, where needed, until they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from varichain.errors import InputError, UnknownNameError
from varichain.motion.fitting import closed
from varichain.motion.packing import Packed
from varichain.motion.quaternions import conjugated, logarithm, multiplied
from varichain.motion.quintic import quintic_track
from varichain.motion.samples import Samples
from varichain.motion.track import Track
from varichain.spatial.arrays import Array
from varichain.spatial.checks import name_string, shown
from varichain.spatial.pose import Pose

_FIRST_PIECES, _MOST_PIECES = 16, 50_000
# Pieces of a function that jumps would become ever shorter; this part of the whole time is the end of it.
_SHORTEST = 1e-10
# Where in each piece the function is compared: unevenly, so that none that repeats itself, or turns round between the
# samples, fits by accident.
_TESTED_AT = np.array([0.21, 0.5, 0.83])


class Answers:
    """A function of time that tells values by joint: asked once for each time, and read as samples."""

    def __init__(
        self,
        function: Callable[[float], Mapping[str, Any]],
        joints: Iterable[str] | None,
        read: Callable[[Any, int, str], Samples],
        what: Callable[[str], str],
    ) -> None:
        """Take over a function; `joints` are those that count, all if None; `read` tells what its values mean.

        `what` says what a joint's values are called in messages.
        """
        self._function, self._read, self.what = function, read, what
        self._joints = None if joints is None else tuple(joints)
        self._kept: dict[float, dict[str, Any]] = {}

    def samples(self, times: Array) -> dict[str, Samples]:
        """What the function says at these times, by joint."""
        answers, n = [self._at(t) for t in times.tolist()], len(times)
        return {
            name: self._read(_stacked([answer[name] for answer in answers]), n, self.what(name)) for name in answers[0]
        }

    def _at(self, t: float) -> dict[str, Any]:
        if t not in self._kept:
            answer = self._function(t)
            if not isinstance(answer, Mapping) or not answer:
                raise InputError(
                    f"the function must tell values by joint, such as {{'knee': 0.3}}, not {shown(answer)}"
                )
            if self._joints is None:
                self._joints = tuple(name_string(name, "joint name") for name in answer)
            for name in self._joints:
                if name not in answer:
                    raise UnknownNameError("joint", name, map(str, answer))
            self._kept[t] = {name: answer[name] for name in self._joints}
        return self._kept[t]


def following(answers: Answers, start: float, end: float, tolerance: float, repeat: bool) -> dict[str, Track]:
    """Quintic tracks that differ from the function by at most `tolerance` [rad or m] wherever they are compared.

    Raises:
        InputError: The function cannot be followed: it jumps, or its values are too rough.
    """
    knots = np.linspace(start, end, _FIRST_PIECES + 1)
    while True:
        samples = answers.samples(knots)
        if repeat:
            samples = {name: closed(found, answers.what(name)) for name, found in samples.items()}
        tracks = {name: quintic_track(found, knots, repeat, answers.what(name)) for name, found in samples.items()}
        errors = _errors(tracks, answers, knots)
        is_rough = errors > tolerance
        if not is_rough.any():
            return tracks
        h = np.diff(knots)
        if len(knots) > _MOST_PIECES or h[is_rough].min() < _SHORTEST * (end - start):
            t = knots[:-1][is_rough][np.argmin(h[is_rough])]
            raise InputError(
                f"the function cannot be followed to {tolerance:g} near t = {t:.6g} s, where pieces of {h.min():.2g} s "
                f"still miss it (by {errors.max():.2g}): it must not jump, and must be accurate itself"
            )
        knots = np.sort(np.concatenate([knots, knots[:-1][is_rough] + 0.5 * h[is_rough]]))


def _errors(tracks: dict[str, Track], answers: Answers, knots: Array) -> Array:
    """Largest difference (n,) from the function in each piece."""
    times = knots[:-1, None] + np.diff(knots)[:, None] * _TESTED_AT
    packed, expected = Packed(tracks), answers.samples(times.ravel())
    q, errors = packed.at(times.ravel())[0], np.zeros(times.size)
    for name, samples in expected.items():
        found = q[:, packed.q[name]]
        if samples.quaternions is not None:
            apart = logarithm(multiplied(conjugated(samples.quaternions), found[:, :4]))
            errors = np.maximum(errors, np.linalg.norm(apart, axis=1))
            found = found[:, 4:]
        if samples.values is not None:
            errors = np.maximum(errors, np.abs(found - samples.values).max(axis=1))
    largest: Array = errors.reshape(times.shape).max(axis=1)
    return largest


def _stacked(values: list[Any]) -> Any:
    """Values at single times as samples: numbers as rows, tuples entry by entry."""
    first = values[0]
    if isinstance(first, tuple) and all(isinstance(value, tuple) and len(value) == len(first) for value in values):
        return tuple(_stacked([value[k] for value in values]) for k in range(len(first)))
    rows = [_row(value) for value in values]
    try:
        return np.array(rows)
    except ValueError:  # of different lengths: refused where it is read
        return rows


def _row(value: Any) -> Any:
    """A pose or a rotation as numbers."""
    if isinstance(value, Pose):
        return np.concatenate([value.quaternion, value.p])
    return np.roll(value.as_quat(), 1) if hasattr(value, "as_quat") else value
