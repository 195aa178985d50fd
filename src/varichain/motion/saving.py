"""Functions of time in files: pieces of polynomials as JSON, to the last bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from varichain.errors import FileError, InputError
from varichain.files import bytes_of, completed, file_name
from varichain.motion.pieces import Pieces, checked_breaks
from varichain.motion.track import FREEDOMS, POSE, ROTATION, Track
from varichain.spatial.checks import flag

_FORMAT = "varichain functions of time, 1"
_MOST_BYTES = 2**28
_N_PARTS = {ROTATION: 1, POSE: 2}  # of tracks that have a certain number of them


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    breaks: list[float]
    coefficients: list[list[list[float]]]
    quaternions: list[list[float]] | None = None


class _Joint(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    kind: Literal["freedoms", "rotation", "pose"]
    repeat: bool
    parts: list[_Part]


class _File(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    format: Literal["varichain functions of time, 1"]
    what: str
    joints: dict[str, _Joint]


def save_tracks(path: Any, what: str, tracks: dict[str, Track], overwrite: bool) -> None:
    """Write tracks of joints to a file.

    Raises:
        FileError: There is such a file already, or it cannot be written.
    """
    joints = {name: _plain(track) for name, track in tracks.items()}
    name, replaces = file_name(path), flag(overwrite, "overwrite")
    text = json.dumps({"format": _FORMAT, "what": what, "joints": joints})
    with completed(name, replaces, FileError) as temporary:
        Path(temporary).write_text(text, encoding="utf-8")


def load_tracks(path: Any, what: str) -> dict[str, Track]:
    """Tracks that `save_tracks` wrote for the same purpose.

    Raises:
        FileError: The file cannot be read, or has something else in it.
    """
    name = file_name(path)
    try:
        found = _File.model_validate_json(bytes_of(name, _MOST_BYTES))
        if found.what != what:
            raise FileError(f"{name!r} has a {found.what} in it, not {what}", name)
        return {joint: _track(of) for joint, of in found.joints.items()}
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise FileError(f"{name!r} is not a file of functions of time: {where}: {first['msg']}", name) from None
    except (InputError, ValueError) as fault:
        raise FileError(f"{name!r} is not a file of functions of time: {fault}", name) from None


def _plain(track: Track) -> dict[str, Any]:
    parts = [{"breaks": part.breaks.tolist(), "coefficients": part.coefficients.tolist()} for part in track.parts]
    for part, plain in zip(track.parts, parts, strict=True):
        if part.quaternions is not None:
            plain["quaternions"] = part.quaternions.tolist()
    return {"kind": track.kind, "repeat": track.repeat, "parts": parts}


def _track(given: _Joint) -> Track:
    if not given.parts or len(given.parts) != _N_PARTS.get(given.kind, len(given.parts)):
        raise InputError(f"a joint of kind {given.kind!r} has {len(given.parts)} parts")
    is_turning = [given.kind != FREEDOMS and i == 0 for i in range(len(given.parts))]
    return Track(given.kind, tuple(map(_pieces, given.parts, is_turning)), given.repeat)


def _pieces(given: _Part, is_rotation: bool) -> Pieces:
    breaks, coefficients = np.array(given.breaks), np.array(given.coefficients, dtype=float)
    n = len(breaks) - 1
    if coefficients.ndim != 3 or coefficients.shape[1] != n or not coefficients.size:
        raise InputError(f"coefficients must be of shape (degree + 1, {n}, width), not {coefficients.shape}")
    if not (n == 1 and breaks[0] == breaks[1]):
        checked_breaks(breaks, "breaks")
    if (given.quaternions is not None) != is_rotation:
        raise InputError("rotations have quaternions, other functions of time have none")
    if given.quaternions is None:
        return Pieces(breaks, coefficients)
    quaternions = np.array(given.quaternions, dtype=float)
    if quaternions.shape != (n, 4) or not np.allclose(np.linalg.norm(quaternions, axis=1), 1.0, atol=1e-9):
        raise InputError(f"quaternions must be {n} of unit length")
    return Pieces(breaks, coefficients, quaternions)
