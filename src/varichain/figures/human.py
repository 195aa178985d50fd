"""Human figures of 40 and 16 joint freedoms [NY, Fig. 16 and 19].

In the zero configuration a figure stands upright with the arms hanging and the palms forward, faces +x, has its left
at +y, its soles on z = 0 and its vertex at z = height. The frames of all links are then parallel to the world's; each
has its origin at the link's joint, the root's midway between the hip centres. Positive angles of elbows and knees are
flexion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Final

import numpy as np

from varichain.errors import DuplicateNameError, InputError, UnknownNameError
from varichain.figures.anthropometry import Body
from varichain.figures.landmarks import Point, hip_height, landmarks, mirrored
from varichain.figures.segments import (
    clavicle_inertia,
    equal_ellipsoid,
    limb,
    limb_radius,
    segment_inertia,
    without,
)
from varichain.mechanism import Capsule, Ellipsoid, Fixed, Free, Inertia, Joint, Mechanism, Revolute, Spherical
from varichain.spatial.checks import non_negative_scalar
from varichain.spatial.pose import Pose

TRUNK: Final = ("lower trunk", "mid trunk", "upper trunk")

FLEXION_AXIS: Final = {"elbow": "-y", "knee": "y"}
"""Turning about these, the forearm rises in front of the body and the shank behind it."""


@dataclass(frozen=True)
class Part:
    """A link before it is added: everything in the frame of `landmarks`, the link's own origin at `origin`."""

    link: str
    parent: str | None
    joint: Joint
    origin: Point
    inertia: Inertia
    shapes: tuple[Capsule | Ellipsoid, ...]


def human40(
    height: float = 1.75,
    mass: float = 70.0,
    sex: str = "male",
    name: str = "human",
    mechanism: Mechanism | None = None,
    prefix: str = "",
    *,
    at: Pose | Sequence[float] = (0.0, 0.0, 0.0),
    damping: float = 0.0,
) -> Mechanism:
    """Figure of 17 links with 40 joint freedoms and a free root [NY, Fig. 16].

    12 spherical joints (chest, neck; left and right clavicle, shoulder, wrist, hip, ankle) and 4 revolute ones (left
    and right elbow, knee). Links: pelvis (the root; its free joint is "pelvis" too), chest, head; left and right
    clavicle, upper arm, forearm, hand, thigh, shank, foot. Masses and inertias: [DELEVA, Table 4]; the chest is the mid
    and the upper trunk without the shoulder girdles, which are the clavicle links.

    Args:
        height: Stature, 0.5..2.5 [m].
        mass: Of the whole figure [kg].
        sex: "male" or "female".
        name: Of the mechanism that is made.
        mechanism: Add the figure to this one instead of making one.
        prefix: Put before every link's and joint's name ("ann " gives "ann left hand"), so that several figures can
            live in one mechanism.
        at: Where the figure stands in the zero configuration: a frame on the floor between the ankles.
        damping: Of every freedom of every joint but the root [N m s/rad].

    Returns:
        The mechanism.

    Raises:
        InputError: Height, mass, sex, damping, ... out of range.
        DuplicateNameError: The mechanism has a link or a joint of that name; nothing has been added to it.
    """
    body, damping = Body(height, mass, sex), non_negative_scalar(damping, "damping")
    left = landmarks(body)
    sides = {"left": left, "right": mirrored(left)}
    parts = _trunk40(body, sides, damping)
    for side, points in sides.items():
        parts.append(_clavicle(body, side, points, damping))
        parts += _arm(body, side, points, f"{side} clavicle", _spherical(f"{side} wrist", damping), damping)
    for side, points in sides.items():
        parts += _leg(body, side, points, "pelvis", _spherical(f"{side} ankle", damping), damping)
    return _assemble(parts, body, name, mechanism, prefix, at)


def human16(
    height: float = 1.75,
    mass: float = 70.0,
    sex: str = "male",
    name: str = "human",
    mechanism: Mechanism | None = None,
    prefix: str = "",
    *,
    at: Pose | Sequence[float] = (0.0, 0.0, 0.0),
    damping: float = 0.0,
) -> Mechanism:
    """Figure of 13 links with 16 joint freedoms and a free root [NY, Fig. 19].

    The torso (the root, link and joint "torso") holds trunk and head in one; left and right shoulder and hip are
    spherical, elbow and knee revolute, wrist and ankle fixed: hands and feet are links that one can connect to.
    Arguments, return value and errors as in `human40`.
    """
    body, damping = Body(height, mass, sex), non_negative_scalar(damping, "damping")
    left = landmarks(body)
    sides = {"left": left, "right": mirrored(left)}
    segments = [segment_inertia(body, segment, left) for segment in (*TRUNK, "head")]
    shapes = tuple(equal_ellipsoid(segment) for segment in segments)
    parts = [Part("torso", None, Free(name="torso"), left["mid-hip"], reduce(add, segments), shapes)]
    for side, points in sides.items():
        parts += _arm(body, side, points, "torso", Fixed(name=f"{side} wrist"), damping)
    for side, points in sides.items():
        parts += _leg(body, side, points, "torso", Fixed(name=f"{side} ankle"), damping)
    return _assemble(parts, body, name, mechanism, prefix, at)


def standing_height(height: float = 1.75, sex: str = "male") -> float:
    """Height of the root's origin (midway between the hip centres) above the soles of a standing figure [m]."""
    return hip_height(Body(height=height, sex=sex))


def _trunk40(body: Body, sides: dict[str, dict[str, Point]], damping: float) -> list[Part]:
    """Pelvis, chest and head. The chest bends at the navel, the head at the seventh cervical vertebra."""
    left = sides["left"]
    lower, mid, upper = (segment_inertia(body, segment, left) for segment in TRUNK)
    head = segment_inertia(body, "head", left)
    chest = without(mid + upper, *(clavicle_inertia(body, points) for points in sides.values()))
    bend, neck = _spherical("chest", damping), _spherical("neck", damping)
    return [
        Part("pelvis", None, Free(name="pelvis"), left["mid-hip"], lower, (equal_ellipsoid(lower),)),
        Part("chest", "pelvis", bend, left["omphalion"], chest, (equal_ellipsoid(mid), equal_ellipsoid(upper))),
        Part("head", "chest", neck, left["cervicale"], head, (equal_ellipsoid(head),)),
    ]


def _clavicle(body: Body, side: str, points: dict[str, Point], damping: float) -> Part:
    inertia = clavicle_inertia(body, points)
    shape = _between(points, "sternoclavicular", "shoulder", inertia.mass)
    joint = _spherical(f"{side} clavicle", damping)
    return Part(f"{side} clavicle", "chest", joint, points["sternoclavicular"], inertia, (shape,))


def _arm(body: Body, side: str, points: dict[str, Point], parent: str, wrist: Joint, damping: float) -> list[Part]:
    upper, fore, hand = (segment_inertia(body, segment, points) for segment in ("upper arm", "forearm", "hand"))
    upper_shape = _between(points, "shoulder", "elbow", upper.mass)
    fore_shape = _between(points, "elbow", "wrist", fore.mass)
    hand_shape = _between(points, "wrist", "knuckle", hand.mass)
    shoulder, elbow = _spherical(f"{side} shoulder", damping), _hinge(side, "elbow", damping)
    return [
        Part(f"{side} upper arm", parent, shoulder, points["shoulder"], upper, (upper_shape,)),
        Part(f"{side} forearm", f"{side} upper arm", elbow, points["elbow"], fore, (fore_shape,)),
        Part(f"{side} hand", f"{side} forearm", wrist, points["wrist"], hand, (hand_shape,)),
    ]


def _leg(body: Body, side: str, points: dict[str, Point], parent: str, ankle: Joint, damping: float) -> list[Part]:
    thigh, shank, foot = (segment_inertia(body, segment, points) for segment in ("thigh", "shank", "foot"))
    thigh_shape = _between(points, "hip", "knee", thigh.mass)
    shank_shape = _between(points, "knee", "ankle", shank.mass)
    hip, knee = _spherical(f"{side} hip", damping), _hinge(side, "knee", damping)
    return [
        Part(f"{side} thigh", parent, hip, points["hip"], thigh, (thigh_shape,)),
        Part(f"{side} shank", f"{side} thigh", knee, points["knee"], shank, (shank_shape,)),
        Part(f"{side} foot", f"{side} shank", ankle, points["ankle"], foot, (_foot_shape(points),)),
    ]


def _between(points: dict[str, Point], start: str, end: str, mass: float) -> Capsule:
    """Capsule from one landmark to another, as thick as its mass wants."""
    length = float(np.linalg.norm(points[end] - points[start]))
    return limb(points[end], points[start], limb_radius(mass, length))


def _foot_shape(points: dict[str, Point]) -> Capsule:
    """Capsule from heel to toe that lies on the floor."""
    heel, toe = points["heel"], points["toe"]
    radius = float(heel[2] - points["sole"][2])
    inset = radius * (toe - heel) / (toe[0] - heel[0])
    return limb(heel + inset, toe - inset, radius)


def _spherical(name: str, damping: float) -> Joint:
    return Spherical(name=name, damping=damping)


def _hinge(side: str, name: str, damping: float) -> Joint:
    return Revolute(axis=FLEXION_AXIS[name], name=f"{side} {name}", damping=damping)


def _assemble(
    parts: list[Part],
    body: Body,
    name: str,
    mechanism: Mechanism | None,
    prefix: str,
    at: Pose | Sequence[float],
) -> Mechanism:
    """Add the parts to the mechanism, or to a new one; to no mechanism if a name is taken."""
    floor = Pose.coerce(at, "at")
    if not isinstance(prefix, str):
        raise InputError(f"prefix must be a string, not {prefix!r}")
    if mechanism is not None and not isinstance(mechanism, Mechanism):
        raise InputError(f"mechanism must be a Mechanism or None, not {mechanism!r}")
    target = Mechanism(name) if mechanism is None else mechanism
    _refuse_taken_names(parts, target, prefix)
    origins = {part.link: part.origin for part in parts}
    for part in parts:
        if part.parent is None:
            where, parent = floor @ Pose(p=(0.0, 0.0, hip_height(body))), None
        else:
            where, parent = Pose(p=part.origin - origins[part.parent]), prefix + part.parent
        to_link = Pose(p=-part.origin)
        target.add_link(
            prefix + part.link,
            parent=parent,
            joint=replace(part.joint, name=f"{prefix}{part.joint.name}"),
            at=where,
            inertia=part.inertia.transformed(to_link),
            shapes=[replace(shape, at=to_link @ shape.at) for shape in part.shapes],
        )
    return target


def _refuse_taken_names(parts: list[Part], mechanism: Mechanism, prefix: str) -> None:
    for part in parts:
        link, joint = prefix + part.link, f"{prefix}{part.joint.name}"
        if link in mechanism:
            raise DuplicateNameError("link", link)
        if _has_joint(mechanism, joint):
            raise DuplicateNameError("joint", joint)


def _has_joint(mechanism: Mechanism, name: str) -> bool:
    try:
        mechanism.joint(name)
    except UnknownNameError:
        return False
    return True
