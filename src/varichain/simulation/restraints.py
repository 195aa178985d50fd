"""Stops and dry friction of joints as the restraints that kernels read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.kernels.records import COORDINATE, RESTRAINT, SWING, TWIST
from varichain.layout.layout import Layout
from varichain.layout.tree import JointSlot
from varichain.mechanism.joint import Joint
from varichain.mechanism.limits import SwingTwist
from varichain.spatial.checks import non_negative_scalar, positive_scalar

_LEAST_SWING = 1e-3  # [rad]; a narrower cone has no direction to push along


@dataclass(frozen=True)
class SoftLimits:
    """Joint limits as springs: a restoring torque beyond the limit [NY].

    Attributes:
        stiffness: Of the spring [N m/rad or N/m].
        damping: Of a damper that acts beyond the limit and never pulls [N m s/rad or N s/m].
    """

    stiffness: float = 1000.0
    damping: float = 10.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        positive_scalar(self.stiffness, "stiffness of SoftLimits")
        non_negative_scalar(self.damping, "damping of SoftLimits")


Limits = str | SoftLimits


def checked_limits(limits: Any) -> Limits:
    """`limits` if it is "hard", "off" or SoftLimits."""
    if isinstance(limits, SoftLimits) or limits in ("hard", "off"):
        return limits  # type: ignore[no-any-return]
    if limits == "soft":
        return SoftLimits()
    raise InputError(f"limits must be 'hard', 'soft', 'off' or vc.SoftLimits(stiffness, damping), not {limits!r}")


def restraints_of(layout: Layout, limits: Limits, driven: frozenset[str]) -> tuple[NDArray[Any], list[str]]:
    """Restraints of a structure, and what each is called, such as "knee" or "left hip.swing".

    Joints that follow a given motion have none: their motion says where they are.
    """
    bodies, dofs = layout.arrays["bodies"], layout.arrays["dofs"]
    records: list[dict[str, Any]] = []
    names: list[str] = []
    for joint, slot in zip(layout.joints, layout.slots, strict=True):
        if slot.name in driven:
            continue
        for label, record in _of_joint(joint, slot, limits):
            body = int(dofs[record["dof"]]["body"])
            record |= {"body": body, "coordinate": int(bodies[body]["q"])}
            records.append(record)
            names.append(f"{slot.name}.{label}" if label else slot.name)
    _refuse_loop_joints(layout, limits)
    array = np.zeros(len(records), RESTRAINT)
    for row, record in zip(array, records, strict=True):
        for field, value in record.items():
            row[field] = value
    return array, names


def _of_joint(joint: Joint, slot: JointSlot, limits: Limits) -> list[tuple[str, dict[str, Any]]]:
    has_limits = joint.limits is not None and limits != "off"
    if isinstance(joint.limits, SwingTwist) and has_limits:
        if any(joint.friction):
            raise InputError(
                f"spherical joint {slot.name!r} has limits and friction: dry friction is simulated in balls without "
                "limits only; give it damping instead, or simulate with limits='off'"
            )
        if len(set(joint.armature)) > 1 and limits == "hard":
            raise InputError(
                f"spherical joint {slot.name!r} has limits and armature that differs between its freedoms, which "
                "cannot be simulated; give it one armature, or simulate with limits='soft'"
            )
        return _of_ball(joint.limits, slot, limits)
    lower, upper = joint.limits if has_limits else ((-math.inf,) * slot_length(slot), (math.inf,) * slot_length(slot))
    if slot.kind == "free" and (np.isfinite(lower).any() or np.isfinite(upper).any()):
        raise InputError(
            f"free joint {slot.name!r} has limits, which cannot be simulated; use limits='off', or a chain of "
            "prismatic and spherical joints"
        )
    held = []
    for j in range(slot.v.stop - slot.v.start):
        low, high = (-math.inf, math.inf) if slot.has_quaternion else (lower[j], upper[j])
        if joint.friction[j] > 0.0 or math.isfinite(low) or math.isfinite(high):
            record = {"kind": COORDINATE, "dof": slot.v.start + j, "lower": low, "upper": high}
            label = slot.coordinates[j] if len(slot.coordinates) > 1 else ""
            held.append((label, record | {"friction": joint.friction[j]} | _softness(limits, low, high)))
    return held


def slot_length(slot: JointSlot) -> int:
    """Number of coordinates."""
    return int(slot.q.stop - slot.q.start)


def _of_ball(limits: SwingTwist, slot: JointSlot, how: Limits) -> list[tuple[str, dict[str, Any]]]:
    common = {"axis": limits.axis, "middle": limits.center}
    held = []
    if limits.swing < math.pi:
        if limits.swing < _LEAST_SWING:
            raise InputError(
                f"swing of spherical joint {slot.name!r} is {limits.swing:g} rad: a cone below {_LEAST_SWING:g} rad "
                "cannot be simulated; use a revolute joint"
            )
        record = {"kind": SWING, "dof": slot.v.start, "lower": -math.inf, "upper": limits.swing}
        held.append(("swing", record | common | _softness(how, -math.inf, limits.swing)))
    lower, upper = limits.twist
    if (lower, upper) != (-math.pi, math.pi):
        record = {"kind": TWIST, "dof": slot.v.start + 1, "lower": lower, "upper": upper}
        held.append(("twist", record | common | _softness(how, lower, upper)))
    return held


def _softness(limits: Limits, lower: float, upper: float) -> dict[str, Any]:
    if isinstance(limits, SoftLimits) and (math.isfinite(lower) or math.isfinite(upper)):
        return {"soft": 1, "stiffness": limits.stiffness, "damping": limits.damping}
    return {}


def _refuse_loop_joints(layout: Layout, limits: Limits) -> None:
    """Nothing is dropped in silence: what cannot be simulated in joints that close loops is an error."""
    for joint in (connection.joint for connection in layout.connections):
        if joint.limits is not None and limits != "off":
            raise InputError(
                f"joint {joint.name!r} closes a loop and has limits, which are simulated in joints of the tree only; "
                "leave them out, or simulate with limits='off'"
            )
        if any(joint.friction):
            raise InputError(
                f"joint {joint.name!r} closes a loop and has dry friction, which is simulated in joints of the tree "
                "only; give it damping instead"
            )
