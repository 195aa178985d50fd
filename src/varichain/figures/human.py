"""Human figures of 40 and 16 joint freedoms [NY, Fig. 16 and 19].

In the zero configuration a figure stands upright with the arms hanging and the palms forward, faces +x, has its left
at +y, its soles on z = 0 and its vertex at z = height. The frames of all links are then parallel to the world's; each
has its origin at the link's joint, the root's midway between the hip centres. Positive angles of elbows and knees are
flexion.

Frames, by name: "head top"; left and right "grip" (the middle of the closed hand), "heel", "sole" (its middle) and
"toe" at the height of the floor, "seat" (the underside of the thigh). They are parallel to the world's in the zero
configuration, but for the seats, which are so when the hips are bent by a right angle.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Final

import numpy as np

from varichain.figures.anthropometry import Body
from varichain.figures.flesh import Flesh
from varichain.figures.frames import foot_frames, grip, head_top, seat
from varichain.figures.joints import HumanJoints
from varichain.figures.landmarks import Point, hip_height, landmarks, mirrored
from varichain.figures.parts import Part, assembled
from varichain.figures.segments import clavicle_inertia, limb_radius, segment_inertia, without
from varichain.mechanism import Fixed, Free, Joint, Mechanism
from varichain.spatial.checks import instance, name_string
from varichain.spatial.pose import Pose

TRUNK: Final = ("lower trunk", "mid trunk", "upper trunk")

Points = dict[str, Point]


def human40(
    height: float = 1.75,
    mass: float = 70.0,
    sex: str = "male",
    name: str = "human",
    mechanism: Mechanism | None = None,
    prefix: str = "",
    *,
    at: Pose | Sequence[float] = (0.0, 0.0, 0.0),
    damping: bool | float = True,
    limits: bool = True,
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
        prefix: Put before every name of a link, joint or frame ("ann " gives "ann left hand"), so that several figures
            can live in one mechanism.
        at: Where the figure stands in the zero configuration: a frame on the floor between the ankles.
        damping: Of every joint but the root. True: that of relaxed people, see `joint_table`; False: none; a number:
            the same in every freedom [N m s/rad].
        limits: Whether the joints have the limits of real people, see `joint_table`.

    Returns:
        The mechanism.

    Raises:
        InputError: Height, mass, sex, damping, ... out of range.
        DuplicateNameError: The mechanism has a link, joint or frame of that name; nothing has been added to it.
    """
    body = Body(height, mass, sex)
    joints = HumanJoints(body, damping, limits)
    left = landmarks(body)
    sides = {"left": left, "right": mirrored(left)}
    flesh = Flesh(body, _checked(prefix), is_dressed=True)
    parts = _trunk40(flesh, sides, joints)
    for side, points in sides.items():
        parts.append(_clavicle(flesh, side, points, joints))
        parts += _arm(flesh, side, points, f"{side} clavicle", joints.ball("wrist", side), joints)
    for side, points in sides.items():
        parts += _leg(flesh, side, points, "pelvis", joints.ball("ankle", side), joints)
    return assembled(parts, hip_height(body), name, mechanism, prefix, at)


def human16(
    height: float = 1.75,
    mass: float = 70.0,
    sex: str = "male",
    name: str = "human",
    mechanism: Mechanism | None = None,
    prefix: str = "",
    *,
    at: Pose | Sequence[float] = (0.0, 0.0, 0.0),
    damping: bool | float = True,
    limits: bool = True,
) -> Mechanism:
    """Figure of 13 links with 16 joint freedoms and a free root [NY, Fig. 19].

    The torso (the root, link and joint "torso") holds trunk and head in one; left and right shoulder and hip are
    spherical, elbow and knee revolute, wrist and ankle fixed: hands and feet are links that one can connect to.
    Arguments, return value and errors as in `human40`.
    """
    body = Body(height, mass, sex)
    joints = HumanJoints(body, damping, limits)
    left = landmarks(body)
    sides = {"left": left, "right": mirrored(left)}
    segments = [segment_inertia(body, segment, left) for segment in (*TRUNK, "head")]
    flesh = Flesh(body, _checked(prefix), is_dressed=False)
    shapes = (*flesh.pelvis(left), *flesh.chest(left), *flesh.head(left))
    inertia, top = reduce(add, segments), head_top(left)
    parts = [Part("torso", None, Free(name="torso"), left["mid-hip"], inertia, shapes, top)]
    for side, points in sides.items():
        parts += _arm(flesh, side, points, "torso", Fixed(name=f"{side} wrist"), joints)
    for side, points in sides.items():
        parts += _leg(flesh, side, points, "torso", Fixed(name=f"{side} ankle"), joints)
    return assembled(parts, hip_height(body), name, mechanism, prefix, at)


def standing_height(height: float = 1.75, sex: str = "male") -> float:
    """Height of the root's origin (midway between the hip centres) above the soles of a standing figure [m]."""
    return hip_height(Body(height=height, sex=sex))


def _trunk40(flesh: Flesh, sides: dict[str, Points], joints: HumanJoints) -> list[Part]:
    """Pelvis, chest and head. The chest bends at the navel, the head at the seventh cervical vertebra."""
    body, left = flesh.body, sides["left"]
    lower, mid, upper = (segment_inertia(body, segment, left) for segment in TRUNK)
    head = segment_inertia(body, "head", left)
    chest = without(mid + upper, *(clavicle_inertia(body, points) for points in sides.values()))
    bend, neck, top = joints.ball("chest"), joints.ball("neck"), head_top(left)
    return [
        Part("pelvis", None, Free(name="pelvis"), left["mid-hip"], lower, flesh.pelvis(left)),
        Part("chest", "pelvis", bend, left["omphalion"], chest, flesh.chest(left)),
        Part("head", "chest", neck, left["cervicale"], head, flesh.head(left), top),
    ]


def _clavicle(flesh: Flesh, side: str, points: Points, joints: HumanJoints) -> Part:
    inertia, joint = clavicle_inertia(flesh.body, points), joints.ball("clavicle", side)
    return Part(f"{side} clavicle", "chest", joint, points["sternoclavicular"], inertia, flesh.clavicle(points))


def _arm(flesh: Flesh, side: str, points: Points, parent: str, wrist: Joint, joints: HumanJoints) -> list[Part]:
    upper, fore, hand = (segment_inertia(flesh.body, segment, points) for segment in ("upper arm", "forearm", "hand"))
    upper_shapes = flesh.upper_arm(points, _radius(points, "shoulder", "elbow", upper.mass))
    fore_shapes = flesh.forearm(points, _radius(points, "elbow", "wrist", fore.mass))
    shoulder, elbow = joints.ball("shoulder", side), joints.hinge("elbow", side)
    return [
        Part(f"{side} upper arm", parent, shoulder, points["shoulder"], upper, upper_shapes),
        Part(f"{side} forearm", f"{side} upper arm", elbow, points["elbow"], fore, fore_shapes),
        Part(f"{side} hand", f"{side} forearm", wrist, points["wrist"], hand, flesh.hand(points), grip(side, points)),
    ]


def _leg(flesh: Flesh, side: str, points: Points, parent: str, ankle: Joint, joints: HumanJoints) -> list[Part]:
    thigh, shank, foot = (segment_inertia(flesh.body, segment, points) for segment in ("thigh", "shank", "foot"))
    radius = _radius(points, "hip", "knee", thigh.mass)
    thigh_shapes, underside = flesh.thigh(points, radius), seat(side, points, radius)
    shank_shapes = flesh.shank(points, _radius(points, "knee", "ankle", shank.mass))
    hip, knee = joints.ball("hip", side), joints.hinge("knee", side)
    frames = foot_frames(side, points)
    return [
        Part(f"{side} thigh", parent, hip, points["hip"], thigh, thigh_shapes, underside),
        Part(f"{side} shank", f"{side} thigh", knee, points["knee"], shank, shank_shapes),
        Part(f"{side} foot", f"{side} shank", ankle, points["ankle"], foot, flesh.foot(points), frames),
    ]


def _radius(points: Points, start: str, end: str, mass: float) -> float:
    """Radius [m] of the capsule from one landmark to another that has the mass."""
    return limb_radius(mass, float(np.linalg.norm(points[end] - points[start])))


def _checked(prefix: str) -> str:
    if instance(prefix, str, "prefix"):
        name_string(prefix, "prefix")
    return prefix
