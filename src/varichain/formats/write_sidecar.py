"""The file of loops next to a robot file: loops, couplings' names, and fields of joints that the format lacks."""

from __future__ import annotations

import math
from typing import Any

from varichain.mechanism.joint import OPTIONS_PER_FREEDOM, Joint
from varichain.mechanism.link import Link
from varichain.spatial.pose import Pose

OPTIONS = (*OPTIONS_PER_FREEDOM, "rest", "limits", "actuated")


def loop_record(link: Link) -> dict[str, Any]:
    """A loop as plain values."""
    assert link.joint is not None and link.real is not None and link.parent is not None
    joint = link.joint
    record: dict[str, Any] = {
        "name": joint.name,
        "joint": joint.kind,
        "link": link.real.name,
        "at": _place(link.on_real),
    }
    record |= {"other": link.parent.name, "at_other": _place(link.at)}
    record |= {field.name: plain(getattr(joint, field.name)) for field in joint.own_fields()}
    return record | fields_record(joint, ())


def fields_record(joint: Joint, written: tuple[str, ...]) -> dict[str, Any]:
    """Fields of a joint that say something and that the robot file does not have."""
    return {key: plain(getattr(joint, key)) for key in OPTIONS if key not in written and _says(joint, key)}


def _says(joint: Joint, key: str) -> bool:
    value = getattr(joint, key)
    if key == "limits":
        return isinstance(value, tuple) and any(map(math.isfinite, (*value[0], *value[1])))
    if key == "rest":
        return bool(value != joint.zero_q())
    return any(value) if isinstance(value, tuple) else bool(value)


def plain(value: Any) -> Any:
    """Tuples as lists, open ends as null."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def _place(pose: Pose) -> dict[str, list[float]]:
    return {"xyz": pose.p.tolist(), "quaternion": pose.quaternion.tolist()}
