"""Loops and couplings in a file of their own, next to a robot file whose format has no word for them.

For example, with the joint frames in both links' frames (xyz [m], and rpy [rad] or quaternion wxyz); they coincide when
the loop is closed, and axes are given in them:

    loops:
      - {name: pin, joint: revolute, axis: [0, 1, 0], link: coupler, at: {xyz: [0.3, 0, 0]}, other: rocker}
    couplings:
      - {joint: finger2, to: finger1, multiplier: -1, offset: 0.2}
    joints:
      - {name: finger1, armature: [0.01], actuated: false}
    gravity: [0, 0, -9.81]

`joints` has fields of the robot file's own joints.
"""

from __future__ import annotations

from dataclasses import MISSING, replace
from pathlib import Path
from typing import Any

from varichain.formats.description import WORLD, Description, JointEntry, MimicEntry
from varichain.formats.yaml_nodes import Entry, read_yaml
from varichain.mechanism.joint import Joint
from varichain.mechanism.joint_text import OPTIONS, joint_kinds
from varichain.spatial.checks import finite_numbers
from varichain.spatial.pose import Pose

_COMMON = ("name", "joint", "link", "at", "other", "at_other")


def read_sidecar(description: Description, path: Path) -> None:
    """Add the loops and couplings of a file to a description."""
    top = read_yaml(path)
    top.allow(("loops", "couplings", "joints", "names_of_couplings", "gravity", "rank_tolerance"))
    if "gravity" in top.values:
        with top.located():
            x, y, z = finite_numbers(_plain(top.values["gravity"]), 3, "gravity")
            description.gravity = (x, y, z)
    if "rank_tolerance" in top.values:
        description.rank_tolerance = top.number("rank_tolerance", 0.0)
    for entry in top.entries("joints"):
        _edit_joint(description, entry)
    for entry in top.entries("names_of_couplings"):
        entry.allow(("name", "joint"))
        for mimic in description.mimics:
            if mimic.joint == entry.word("joint"):
                mimic.name = entry.word("name")
    for entry in top.entries("loops"):
        description.add_joint(_loop(entry))
    for entry in top.entries("couplings"):
        entry.allow(("name", "joint", "to", "multiplier", "offset"))
        name = entry.word("name") if "name" in entry.values else None
        numbers = entry.number("multiplier", 1.0), entry.number("offset", 0.0)
        joint, to = entry.word("joint"), entry.word("to")
        for given in (joint, to):
            if given not in description.joints:
                raise entry.error(f"no joint is called {given!r}")
        description.mimics.append(MimicEntry(joint, to, *numbers, None, name))


def _edit_joint(description: Description, entry: Entry) -> None:
    """Change fields of a joint; `link` renames the fixed joint of a link, which formats may leave without a name."""
    entry.allow(("name", "link", *OPTIONS))
    name = entry.word("name")
    if "link" in entry.values:
        link = entry.word("link")
        old = next((key for key, joint in description.joints.items() if joint.child == link and not joint.closes), None)
        if old is None or (name in description.joints and name != old):
            raise entry.error(f"no joint of link {link!r} can be called {name!r}")
        description.joints = {name if key == old else key: joint for key, joint in description.joints.items()}
        description.joints[name].model = replace(description.joints[name].model, name=name)
    joint = description.joints.get(name)
    if joint is None:
        raise entry.error(f"no joint is called {name!r}")
    changes = {key: _plain(entry.values[key]) for key in OPTIONS if key in entry.values}
    with entry.located():
        joint.model = replace(joint.model, **changes)


def _loop(entry: Entry) -> JointEntry:
    own = {field.name for kind in joint_kinds().values() for field in kind.own_fields()}
    entry.allow((*_COMMON, *sorted(own), *OPTIONS))
    with entry.located():
        model = _model(entry)
        ends = entry.word("link"), entry.word("other")
        at, at_other = _pose(entry, "at"), _pose(entry, "at_other")
    parent, child = (WORLD if end == "ground" else end for end in (ends[1], ends[0]))
    return JointEntry(model, parent, child, at_other, at, None, closes=True)


def _model(entry: Entry) -> Joint:
    kinds = joint_kinds()
    kind = kinds.get(entry.word("joint").lower())
    if kind is None:
        raise entry.error(f"joint must be one of {', '.join(kinds)}, not {entry.word('joint')!r}")
    own = kind.own_fields()
    has = (*(field.name for field in own), *OPTIONS)
    given = {key: value for key, value in entry.values.items() if key not in _COMMON}
    wrong = [key for key in given if key not in has]
    if wrong:
        raise entry.error(f"a {kind.kind} joint has no {wrong[0]!r}")
    for field in own:
        if field.default is MISSING and field.name not in given:
            unit = f" [{kind.units[field.name]}]" if field.name in kind.units else ""
            raise entry.error(f"a {kind.kind} joint needs its {field.name!r}{unit}")
    return kind(name=entry.word("name"), **{key: _plain(value) for key, value in given.items()})


def _plain(value: Any) -> Any:
    return tuple(_plain(item) for item in value) if isinstance(value, list) else value


def _pose(entry: Entry, key: str) -> Pose:
    value = entry.values.get(key)
    if value is None:
        return Pose()
    if isinstance(value, list):
        return Pose(_plain(value))
    if not isinstance(value, Entry):
        raise entry.error(f"{key!r} must be three numbers, or a mapping with xyz and rpy or quaternion")
    value.allow(("xyz", "rpy", "quaternion"))
    turns = {name: _plain(value.values[name]) for name in ("rpy", "quaternion") if name in value.values}
    return Pose(_plain(value.values.get("xyz", [0.0, 0.0, 0.0])), **turns)
