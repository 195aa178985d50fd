"""Postures of human figures, to begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import radians
from typing import TYPE_CHECKING, Final

from varichain.errors import InputError, UnknownNameError
from varichain.figures.joint_table import BALLS, HINGES
from varichain.mechanism import Link, Mechanism
from varichain.spatial.checks import NAMED_AXES, instance, shown
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.layout.state import State

POSTURES: Final[Mapping[str, Mapping[str, tuple[float, ...]]]] = {
    "standing": {},
    "arms forward": {"shoulder": (0.0, -90.0, 0.0)},
    "arms overhead": {"shoulder": (0.0, -180.0, 0.0)},
    "hanging": {"shoulder": (5.0, -165.0, 15.0), "elbow": (20.0,)},
    "hanging straight": {"shoulder": (10.0, -180.0, 0.0)},
    "landing": {
        "chest": (0.0, 25.0, 0.0),
        "neck": (0.0, -20.0, 0.0),
        "shoulder": (10.0, -60.0, 0.0),
        "elbow": (20.0,),
        "hip": (8.0, -70.0, 0.0),
        "knee": (75.0,),
        "ankle": (0.0, -15.0, 0.0),
    },
    "sitting": {"hip": (0.0, -90.0, 0.0), "knee": (90.0,)},
    "squatting": {
        "chest": (0.0, 35.0, 0.0),
        "neck": (0.0, -40.0, 0.0),
        "shoulder": (0.0, -95.0, 0.0),
        "hip": (0.0, -120.0, 0.0),
        "knee": (102.0,),
        "ankle": (0.0, -24.9, 0.0),
    },
}
"""Postures by name: flexion of elbows and knees, roll, pitch and yaw of the other joints [deg], on the left; the right
is the mirror image. Arms and thighs go forward, and toes up, by negative pitch, and outward by positive roll. Joints
that are not named are straight. All postures are inside the limits of `joint_table`."""

_MIDDLE = ("chest", "neck")


def take_posture(s: State, posture: str, prefix: str = "") -> None:
    """Set all joints of a figure but its root to those of a posture; joints that the figure has not are left out.

    Raises UnknownNameError for a posture that is not in POSTURES, InputError if no figure has that prefix.
    """
    instance(prefix, str, "prefix")
    if not hasattr(s, "joints") or not hasattr(s, "layout"):  # figures do not know states by class
        raise InputError(f"s must be a State, not {shown(s)}")
    turns = _turns(posture)
    sided = [f"{side} {joint}" for joint in turns if joint not in _MIDDLE for side in ("left", "right")]
    found = [joint for joint in (*_MIDDLE, *sided) if prefix + joint in s.joints]
    if not found:
        raise InputError(f"no joint of a human figure begins with {prefix!r}; joints: {', '.join(s.joints)}")
    for joint in found:
        side, _, part = joint.rpartition(" ")
        state = s[prefix + joint]
        if part in HINGES:
            state.q = radians(turns[part][0])
        elif len(state.q) > 0:  # wrists and ankles may be fixed
            state.orientation = _turned(turns[part], side == "right")


def place(
    m: Mechanism, s: State, posture: str, frame: str, on: Pose | Sequence[float] = (0.0, 0.0, 0.0), prefix: str = ""
) -> None:
    """Take a posture with the middle between the left and the right `frame` at the world pose `on`.

    Feet and thighs lie flat on it: their frames are parallel to `on`. Hands hold it as the posture has them: then it is
    the root, pelvis or torso, that is parallel to `on`.

        figures.place(m, s, "sitting", "seat", vc.pose(m, s, "chair seat"))

    Args:
        m: Mechanism with the figure.
        s: Its state; velocities stay.
        posture: One of POSTURES.
        frame: "grip", "seat", "heel", "sole" or "toe".
        on: Where it comes to lie.
        prefix: That of the figure.

    Raises:
        UnknownNameError: No such posture or frame.
    """
    where, turns = Pose.coerce(on, "on"), _turns(posture)
    start = instance(m, Mechanism, "m").frame(f"{instance(prefix, str, 'prefix')}left {instance(frame, str, 'frame')}")
    root, X = m.link(start.link), start.at
    while root.parent is not None and not root.parent.is_ground:
        X = root.at @ _joint_pose(root, turns) @ X
        root = root.parent
    take_posture(s, posture, prefix)
    assert root.joint is not None  # only ground has none
    # In all postures the legs of both sides are parallel; what is left of y belongs to the left side alone.
    middle = Pose(p=X.p * (1.0, 0.0, 1.0), R=None if frame == "grip" else X.R)
    s[str(root.joint.name)].pose = root.at.inverse() @ where @ middle.inverse()


def _turns(posture: str) -> dict[str, tuple[float, ...]]:
    """Angles [deg] of all joints of a figure in a posture."""
    if not isinstance(posture, str) or posture not in POSTURES:
        raise UnknownNameError("posture", posture, POSTURES)
    balls: dict[str, tuple[float, ...]] = dict.fromkeys(BALLS, (0.0, 0.0, 0.0))
    return balls | dict.fromkeys(HINGES, (0.0,)) | dict(POSTURES[posture])


def _turned(rpy: tuple[float, ...], is_right: bool = False) -> Pose:
    roll, pitch, yaw = map(radians, rpy)
    return Pose(rpy=(-roll, pitch, -yaw) if is_right else (roll, pitch, yaw))


def _joint_pose(link: Link, turns: dict[str, tuple[float, ...]]) -> Pose:
    """Pose of a link of the left or the middle in its joint frame."""
    assert link.joint is not None
    part = str(link.joint.name).rpartition(" ")[2]
    if link.joint.n_v == 0:
        return Pose()
    if part in HINGES:
        x, y, z = NAMED_AXES[HINGES[part].axis]
        angle = radians(turns[part][0])
        return Pose(rotation_vector=(angle * x, angle * y, angle * z))
    return _turned(turns[part])
