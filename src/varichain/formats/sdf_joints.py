"""Joints of SDF files, their axes and their couplings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from varichain.formats.description import Description, Gearbox, JointEntry, MimicEntry
from varichain.formats.sdf_frames import Frames
from varichain.formats.xml import Element
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import Fixed, Prismatic, Revolute, Screw, Spherical, Universal
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

_OPEN = 1e16  # SDF's own word for infinite
_TRUE = ("true", "1")
_TYPES = ("revolute", "continuous", "prismatic", "screw", "ball", "fixed", "universal", "revolute2", "gearbox")
_KNOWN_IN_JOINT = {"parent", "child", "pose", "axis", "axis2", "thread_pitch", "screw_thread_pitch"}
_KNOWN_IN_JOINT |= {"gearbox_ratio", "gearbox_reference_body"}
_KNOWN_IN_AXIS = {"xyz", "limit", "dynamics", "use_parent_model_frame", "initial_position", "mimic"}


def joint_model(
    description: Description,
    element: Element,
    prefix: str,
    frames: Frames,
    X_WJ: Pose,
    X: Pose,
    axes_in_model: bool,
    ends: tuple[str, str],
) -> Joint | None:
    """The joint of an element, its axes in the frame X; None for a gearbox, which is kept to become a coupling."""
    name, kind = prefix + element.word("name"), element.word("type")
    if kind not in _TYPES:
        raise element.error(f"joint {name!r} is of type {kind!r}; types: {', '.join(_TYPES)}")
    for tag in sorted({child.tag for child in element.children} - _KNOWN_IN_JOINT):
        description.source.ignore(f"<{tag}> in <joint>")

    def axis(tag: str) -> Array:
        return _direction(element.get(tag), element, frames, X_WJ, axes_in_model)

    if kind == "gearbox":
        ratio, reference = element.need("gearbox_ratio").numbers(1)[0], element.need("gearbox_reference_body").content()
        body = prefix + frames.link(reference, element)
        entry = Gearbox(name, *ends, body, ratio, axis("axis"), axis("axis2"), element.line)
        description.gearboxes.append(entry)
        return None
    with description.located(element.line):
        if kind in ("fixed", "ball"):
            return Fixed(name=name) if kind == "fixed" else Spherical(name=name)
        if kind in ("universal", "revolute2"):
            first, second = (_options(description, element.get(tag), name) for tag in ("axis", "axis2"))
            both: dict[str, Any] = {
                key: (first.get(key, 0.0), second.get(key, 0.0)) for key in {*first, *second} - {"limits"}
            }
            sides = [options.get("limits") or (None, None) for options in (first, second)]
            limits = None if all(side == (None, None) for side in sides) else tuple(zip(*sides, strict=True))
            return Universal((X.R.T @ axis("axis"), X.R.T @ axis("axis2")), name=name, limits=limits, **both)
        options = {"name": name} | _options(description, element.get("axis"), name)
        direction = X.R.T @ axis("axis")
        _mimic(description, element, prefix, name)
        if kind == "continuous":
            options["limits"] = None
        if kind == "screw":
            return Screw(direction, pitch=_pitch(element), **options)
        return (Prismatic if kind == "prismatic" else Revolute)(direction, **options)


def _direction(axis: Element | None, joint: Element, frames: Frames, X_WJ: Pose, axes_in_model: bool) -> Array:
    """Unit vector of an axis in the world."""
    if axis is None:
        return np.asarray(X_WJ.R[:, 2])
    xyz = axis.get("xyz")
    direction = np.array(xyz.numbers(3) if xyz is not None else (0.0, 0.0, 1.0))
    size = float(np.linalg.norm(direction))
    if not size > 0.0:
        raise axis.error("must not be of length zero")
    in_model = axis.get("use_parent_model_frame")
    expressed = "" if xyz is None else xyz.attributes.get("expressed_in", "").strip()
    if expressed:
        R = frames.pose(expressed, axis).R
    elif axes_in_model if in_model is None else in_model.text.strip().lower() in _TRUE:
        R = frames.X_WM.R
    else:
        R = X_WJ.R
    return np.asarray(R @ direction / size)


def _options(description: Description, axis: Element | None, name: str) -> dict[str, Any]:
    """Limits, damping, friction and spring of an axis."""
    if axis is None:
        return {}
    for tag in sorted({child.tag for child in axis.children} - _KNOWN_IN_AXIS):
        description.source.ignore(f"<{tag}> in <axis>")
    if axis.get("initial_position") is not None:
        description.source.ignore("<initial_position>: poses are those of the zero configuration")
    found: dict[str, Any] = {}
    limit, dynamics = axis.get("limit"), axis.get("dynamics")
    if limit is not None:
        lower, upper = (_bound(limit, tag) for tag in ("lower", "upper"))
        if lower is not None and upper is not None and lower > upper:
            raise limit.error(f"lower limit {lower:g} of joint {name!r} is above the upper one, {upper:g}")
        if (lower, upper) != (None, None):
            found["limits"] = (lower, upper)
        for tag, table in (("effort", description.source.efforts), ("velocity", description.source.velocities)):
            most = _bound(limit, tag)
            if most is not None and most >= 0.0:
                table[name] = most
        for tag in sorted({child.tag for child in limit.children} - {"lower", "upper", "effort", "velocity"}):
            description.source.ignore(f"<{tag}> in <limit>")
    if dynamics is not None:
        keys = {
            "damping": "damping",
            "friction": "friction",
            "spring_stiffness": "stiffness",
            "spring_reference": "rest",
        }
        found |= {key: dynamics.need(tag).numbers(1)[0] for tag, key in keys.items() if dynamics.get(tag) is not None}
    return found


def _bound(limit: Element, tag: str) -> float | None:
    element = limit.get(tag)
    if element is None or element.text.strip().lower().lstrip("+-") in ("inf", "infinity"):
        return None
    number = element.numbers(1)[0]
    return None if abs(number) >= _OPEN else number


def _pitch(element: Element) -> float:
    """Travel of a screw [m/rad]: per turn in new files, as turning per travel, and left-handed, in old ones."""
    new, old = element.get("screw_thread_pitch"), element.get("thread_pitch")
    if new is not None:
        return new.numbers(1)[0] / (2.0 * math.pi)
    turning = 1.0 if old is None else old.numbers(1)[0]
    if turning == 0.0:
        raise element.error("<thread_pitch> must not be zero")
    return -1.0 / turning


def _mimic(description: Description, element: Element, prefix: str, name: str) -> None:
    axis = element.get("axis")
    mimic = axis.get("mimic") if axis is not None else None
    if mimic is None:
        return

    def value(tag: str, default: float) -> float:
        found = mimic.get(tag)
        return default if found is None else found.numbers(1)[0]

    multiplier = value("multiplier", 1.0)
    offset = value("offset", 0.0) - multiplier * value("reference", 0.0)
    description.mimics.append(MimicEntry(name, prefix + mimic.word("joint"), multiplier, offset, mimic.line))


def couplings_of_joints(description: Description) -> None:
    """Turn gearboxes into couplings of the two hinges that tie their links to the reference body.

    theta_child = -ratio theta_parent, angles about the gearbox's own axes, from the reference body, as SDF says.
    """
    for gearbox in description.gearboxes:
        (to, sign_to), (joint, sign) = (
            _hinge(description, gearbox, link, axis)
            for link, axis in ((gearbox.parent, gearbox.axis), (gearbox.child, gearbox.axis2))
        )
        multiplier = -gearbox.ratio * sign * sign_to
        description.mimics.append(MimicEntry(joint, to, multiplier, 0.0, gearbox.line, gearbox.name))


def _hinge(description: Description, gearbox: Gearbox, link: str, axis: Array) -> tuple[str, float]:
    """The hinge between the reference body and a link, and the sense of its coordinate about the gearbox's axis."""
    for name, joint in description.joints.items():
        if isinstance(joint.model, Revolute) and {joint.parent, joint.child} == {gearbox.body, link}:
            along = float(_world_axis(description, joint) @ axis)
            if abs(along) > 1.0 - 1e-6:
                return name, math.copysign(1.0, along) * (1.0 if joint.child == link else -1.0)
    raise description.error(
        f"gearbox {gearbox.name!r} needs a revolute joint about its axis between {gearbox.body!r} and {link!r}, and "
        "there is none",
        gearbox.line,
    )


def _world_axis(description: Description, joint: JointEntry) -> Array:
    X = description.at.get(joint.child, Pose()) @ joint.on_child
    return np.asarray(X.R @ np.array(joint.model.axis))  # type: ignore[attr-defined]
