"""URDF: trees of links, with mimic joints, and with loops as they are written in the wild."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from varichain.formats.description import WORLD, Description, JointEntry, LinkEntry, MimicEntry
from varichain.formats.inertias import file_inertia
from varichain.formats.meshes import MeshFolders
from varichain.formats.source import Source
from varichain.formats.urdf_shapes import named_colors, shapes_of
from varichain.formats.xml import Element
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import Fixed, Free, Planar, Prismatic, Revolute, Spherical
from varichain.spatial.pose import Pose

_NONE = (0.0, 0.0, 0.0)
_X = (1.0, 0.0, 0.0)
_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
_CLOSING = re.compile(r"closing_(.+)_([12])")
# What a mechanism has, by element; everything else is counted and noted.
_KNOWN = {
    "robot": {"link", "joint", "loop_joint", "material", "transmission", "ros2_control"},
    "link": {"inertial", "visual", "collision"},
    "inertial": {"origin", "mass", "inertia"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"},
    "limit": {"lower", "upper", "effort", "velocity"},
    "dynamics": {"damping", "friction"},
}


def read_urdf(root: Element, path: Path, folders: MeshFolders, base: str, strict: bool) -> Description:
    """Description of the robot in a URDF file.

    Args:
        root: Its root element.
        path: The file.
        folders: Where its meshes may be.
        base: "fixed" or "free": whether the root link stands in the world or floats.
        strict: Whether faults are refused that could be repaired.
    """
    if root.tag != "robot":
        raise root.error("the root of a URDF file is <robot>")
    name = root.attributes.get("name", "").strip() or path.stem
    description = Description(name, Source(str(path), "URDF"), is_tree=True, strict=strict)
    _count_ignored(description, root)
    colors = named_colors(root)
    for element in root.all("link"):
        description.add_link(_link(description, element, folders, colors))
    for element in root.all("joint"):
        _joint(description, element)
    _mark_motors(description, root)
    for element in root.all("loop_joint"):
        _loop_joint(description, element)
    _closing_frames(description)
    _stand_on_ground(description)
    if base == "fixed":
        children = {joint.child for joint in description.joints.values()}
        description.fixed = {name for name in description.links if name not in children}
    return description


def _mark_motors(description: Description, root: Element) -> None:
    """Where a file names joints with motors, by <transmission> or <ros2_control>, the others have none."""
    motors = {joint.word("name") for one in root.all("transmission") for joint in one.all("joint")}
    for control in root.all("ros2_control"):
        motors |= {joint.word("name") for joint in control.all("joint") if joint.has("command_interface")}
    if not motors:
        return
    passive = 0
    for entry in description.joints.values():
        if entry.model.n_v and entry.model.name not in motors and entry.model.actuated is not False:
            entry.model = entry.model._as(actuated=False)
            passive += 1
    if passive:
        description.source.note(f"{passive} joints without <transmission> or command interface are passive", root.line)


def _link(description: Description, element: Element, folders: MeshFolders, colors: dict[str, Any]) -> LinkEntry:
    name = element.word("name")
    _count_ignored(description, element)
    entry = LinkEntry(name, Inertia.zero(), element.line)
    inertial = element.get("inertial")
    if inertial is not None:
        _count_ignored(description, inertial)
        mass, matrix = inertial.need("mass"), inertial.need("inertia")
        xx, xy, xz, yy, yz, zz = (matrix.number(key, 0.0) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        at = _origin(description, inertial)
        entry.inertia = file_inertia(description, name, inertial.line, mass.number("value"), about_com, at)
    with description.located(element.line):
        entry.shapes = shapes_of(description, element, folders, colors, _origin)
    return entry


def _joint(description: Description, element: Element) -> None:
    name, kind = element.word("name"), element.word("type")
    _count_ignored(description, element)
    parent, child = element.need("parent").word("link"), element.need("child").word("link")
    mimic = element.get("mimic")
    with description.located(element.line):
        model = _model(description, element, name, kind, is_mimic=mimic is not None)
        at = _origin(description, element)
        description.add_joint(JointEntry(model, parent, child, at, line=element.line))
    if mimic is not None:
        _mimic(description, mimic, model)


def _mimic(description: Description, element: Element, model: Joint) -> None:
    if model.n_v != 1:
        description.source.note(
            f"joint {model.name!r} is {model.kind} and cannot mimic: <mimic> means nothing", element.line
        )
        return
    multiplier, offset = element.number("multiplier", 1.0), element.number("offset", 0.0)
    description.mimics.append(MimicEntry(str(model.name), element.word("joint"), multiplier, offset, element.line))


def _model(description: Description, element: Element, name: str, kind: str, is_mimic: bool = False) -> Joint:
    """The joint; axes in the joint frame, which is the child's."""
    if kind not in _TYPES:
        raise element.error(f"joint {name!r} is of type {kind!r}; types: {', '.join(_TYPES)}")
    axis = element.get("axis")
    direction = axis.triple("xyz", _X) if axis is not None else _X
    if not any(direction) and kind in ("revolute", "continuous", "prismatic", "planar"):
        assert axis is not None
        raise axis.error(f"axis of {kind} joint {name!r} must not be zero")
    options: dict[str, Any] = {"name": name}
    if kind in ("revolute", "continuous", "prismatic"):
        if is_mimic:
            options["actuated"] = False
        options |= _dynamics(description, element)
        limits = _limits(description, element, name)
        if kind == "continuous":
            limits = None
        elif limits is None:
            description.source.note(f"{kind} joint {name!r} has no limits: taken as unlimited", element.line)
        options["limits"] = limits
        return (Prismatic if kind == "prismatic" else Revolute)(direction, **options)
    if element.get("limit") is not None and kind != "fixed":
        _limits(description, element, name)
        description.source.note(f"limits of {kind} joint {name!r} are not represented", element.line)
    if kind == "planar":
        return Planar(direction, **options)
    rest: dict[str, Callable[..., Joint]] = {"fixed": Fixed, "floating": Free, "spherical": Spherical}
    return rest[kind](**options)


def _dynamics(description: Description, element: Element) -> dict[str, float]:
    dynamics = element.get("dynamics")
    if dynamics is None:
        return {}
    for key in sorted(dynamics.attributes.keys() - _KNOWN["dynamics"]):
        description.source.ignore(f"attribute {key!r} of <dynamics>")
    return {key: dynamics.number(key, 0.0) for key in ("damping", "friction")}


def _limits(description: Description, element: Element, name: str) -> tuple[float, float] | None:
    limit = element.get("limit")
    if limit is None:
        return None
    for key in sorted(limit.attributes.keys() - _KNOWN["limit"]):
        description.source.ignore(f"attribute {key!r} of <limit>")
    for key, table in (("effort", description.source.efforts), ("velocity", description.source.velocities)):
        if key in limit.attributes:
            table[name] = limit.number(key)
    if "lower" not in limit.attributes and "upper" not in limit.attributes:
        return None
    lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
    if lower > upper:
        raise limit.error(f"lower limit {lower:g} of joint {name!r} is above the upper one, {upper:g}")
    return lower, upper


def _loop_joint(description: Description, element: Element) -> None:
    """<loop_joint name type> with <link1> and <link2>, each with `link`, `xyz`, `rpy`, and <axis>."""
    name, kind = element.word("name"), element.word("type")
    ends = [element.need("link1"), element.need("link2")]
    first, second = (_placed(description, end) for end in ends)
    with description.located(element.line):
        model = _model(description, element, name, kind)
        links = ends[0].word("link"), ends[1].word("link")
        description.add_joint(JointEntry(model, links[0], links[1], first, second, element.line, closes=True))


def _closing_frames(description: Description) -> None:
    """Pairs of links closing_NAME_1 and closing_NAME_2, as exporters write them: one point each, to be joined."""
    found: dict[str, dict[str, str]] = {}
    for name in description.links:
        match = _CLOSING.fullmatch(name)
        if match:
            found.setdefault(match[1], {})[match[2]] = name
    for key, pair in found.items():
        if len(pair) < 2:
            raise description.error(
                f"link {next(iter(pair.values()))!r} marks one end of a loop, and the other end is missing",
                description.links[next(iter(pair.values()))].line,
            )
        line = description.links[pair["1"]].line
        name = f"closing_{key}"
        while name in description.joints:
            name += " loop"
        description.add_joint(JointEntry(Spherical(name=name), pair["1"], pair["2"], line=line, closes=True))
        description.source.note(
            f"links {pair['1']!r} and {pair['2']!r} close a loop; taken as a ball joint, since the file does not say",
            line,
        )


def _stand_on_ground(description: Description) -> None:
    """Take an empty root link called "ground" for the ground itself, as `save` writes it."""
    ground = description.links.get("ground")
    is_root = all(joint.child != "ground" or joint.closes for joint in description.joints.values())
    if ground is None or not is_root or ground.inertia.mass or ground.shapes:
        return
    del description.links["ground"]
    for joint in description.joints.values():
        joint.parent, joint.child = (WORLD if end == "ground" else end for end in (joint.parent, joint.child))


def _origin(description: Description, element: Element) -> Pose:
    """Pose of the element's <origin>, the identity if it has none."""
    origin = element.get("origin")
    return Pose() if origin is None else _placed(description, origin)


def _placed(description: Description, origin: Element) -> Pose:
    if "quat_xyzw" in origin.attributes:
        x, y, z, w = origin.parsed(origin.word("quat_xyzw"), 4, "'quat_xyzw'")
        with description.located(origin.line):
            return Pose(origin.triple("xyz", _NONE), quaternion=(w, x, y, z))
    return Pose(origin.triple("xyz", _NONE), rpy=origin.triple("rpy", _NONE))


def _count_ignored(description: Description, element: Element) -> None:
    known = _KNOWN[element.tag]
    counts = Counter(child.tag for child in element.children if child.tag not in known)
    for tag, n in counts.items():
        description.source.ignore(f"<{tag}> in <{element.tag}>", n)
