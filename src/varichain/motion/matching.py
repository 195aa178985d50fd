"""Whether a joint can follow a track, and in words why not."""

from __future__ import annotations

from varichain.layout.tree import JointSlot
from varichain.motion.track import FREEDOMS, POSE, ROTATION, Track


def motion_misfit(track: Track, slot: JointSlot) -> str | None:
    """Why the joint cannot move as the track says; None if it can."""
    if not slot.coordinates:
        return f"a {slot.kind} joint does not move"
    kind = (ROTATION if len(slot.coordinates) == 3 else POSE) if slot.has_quaternion else FREEDOMS
    if track.kind == kind and (kind != FREEDOMS or track.n_v == len(slot.coordinates)):
        return None
    return f"a {slot.kind} joint follows {_expected(slot, kind)}; found {_found(track)}"


def functions_misfit(track: Track, slot: JointSlot) -> str | None:
    """Why the track is not one function for each freedom of the joint; None if it is."""
    n = len(slot.coordinates)
    if track.n_v == n:
        return None
    named = f" ({', '.join(slot.coordinates)})" if n else ""
    return f"a {slot.kind} joint has {n} freedom{'s' * (n != 1)}{named}; found {_found(track)}"


def _expected(slot: JointSlot, kind: str) -> str:
    if kind == ROTATION:
        return "a rotation: a RotationSpline, a quaternion, or samples, quaternions or rotation vectors as arrays"
    if kind == POSE:
        return "a pose: a pair (rotation, position)"
    n = len(slot.coordinates)
    if n == 1:
        return "one function of time"
    return f"{n} functions of time ({', '.join(slot.coordinates)}): a spline of {n} columns, or a tuple"


def _found(track: Track) -> str:
    if track.kind == FREEDOMS:
        return f"{track.n_v} function{'s' * (track.n_v != 1)} of time"
    return f"a {track.kind}"
