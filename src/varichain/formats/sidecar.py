"""Loops and couplings in a file of their own, next to a robot file whose format has no word for them.

loops:
  - name: pin
    joint: revolute
    axis: [0, 1, 0]            # in the joint frame, which is the same on both links when the loop is closed
    link: coupler
    at: {xyz: [0.3, 0, 0]}     # the joint frame in this link's frame; xyz [m], and rpy [rad] or quaternion (wxyz)
    other: rocker
    at_other: {xyz: [0.2, 0, 0], rpy: [0, 0, 0]}
couplings:
  - {joint: finger2, to: finger1, multiplier: -1, offset: 0.2}
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from varichain.errors import FormatError, VarichainError
from varichain.formats.description import Description, JointEntry, MimicEntry
from varichain.formats.yaml_nodes import Entry, read_yaml
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import JOINT_TYPES
from varichain.spatial.pose import Pose

_KINDS = {name.lower(): kind for name, kind in JOINT_TYPES.items()}
_COMMON = ("name", "joint", "link", "at", "other", "at_other")
_FIELDS = ("axis", "axes", "normal", "pitch", "limits", "damping", "friction", "stiffness", "rest", "actuated")


def read_sidecar(description: Description, path: Path) -> None:
    """Add the loops and couplings of a file to a description."""
    top = read_yaml(path)
    top.allow(("loops", "couplings"))
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


def _loop(entry: Entry) -> JointEntry:
    entry.allow(_COMMON + _FIELDS)
    try:
        model = _model(entry)
        ends = entry.word("link"), entry.word("other")
        at, at_other = _pose(entry, "at"), _pose(entry, "at_other")
    except FormatError:
        raise
    except VarichainError as error:
        raise entry.error(str(error)) from error
    return JointEntry(model, ends[1], ends[0], at_other, at, None, closes=True)


def _model(entry: Entry) -> Joint:
    kind = _KINDS.get(entry.word("joint").lower())
    if kind is None:
        raise entry.error(f"joint must be one of {', '.join(_KINDS)}, not {entry.word('joint')!r}")
    has = {field.name for field in fields(kind)}
    given = {key: entry.values[key] for key in _FIELDS if key in entry.values}
    wrong = [key for key in given if key not in has]
    if wrong:
        raise entry.error(f"a {kind.kind} joint has no {wrong[0]!r}")
    if kind.kind == "screw" and "pitch" not in given:
        raise entry.error("a screw joint needs its 'pitch' [m/rad]")
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
