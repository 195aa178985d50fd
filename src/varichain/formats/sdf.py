"""SDF: models whose joints form any graph, loops included, with frames relative to each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from varichain.formats.description import WORLD, Description, JointEntry, LinkEntry
from varichain.formats.inertias import file_inertia
from varichain.formats.meshes import MeshFolders
from varichain.formats.sdf_contacts import Collisions
from varichain.formats.sdf_frames import MODEL, Frames, Within, pose_of, relative_to
from varichain.formats.sdf_joints import couplings_of_joints, joint_model
from varichain.formats.sdf_shapes import shapes_of
from varichain.formats.source import Source
from varichain.formats.xml import Element
from varichain.mechanism.inertia import Inertia
from varichain.spatial.pose import Pose

_KNOWN = {
    "sdf": {"model", "world"},
    "world": {"model", "gravity", "include"},
    "model": {"link", "joint", "frame", "model", "pose", "static", "include"},
    "link": {"pose", "inertial", "visual", "collision", "gravity"},
    "inertial": {"pose", "mass", "inertia"},
}
_TRUE = ("true", "1")
_LEAST_VERSION, _MOST_VERSION = (1, 2), (1, 12)


@dataclass
class Reading:
    """What the readers of parts share.

    Attributes:
        axes_in_model: Whether joint axes are in the model's frame unless they say otherwise: before version 1.5.
        collisions: What may touch, if that is wanted.
    """

    description: Description
    folders: MeshFolders
    axes_in_model: bool
    collisions: Collisions | None = None


def read_sdf(root: Element, path: Path, folders: MeshFolders, strict: bool, has_contacts: bool = False) -> Description:
    """Description of all models in an SDF file, with their contacts if they are wanted.

    Names of several models' links begin with the model's.
    """
    version = _version(root)
    description = Description(path.stem, Source(str(path), "SDF"), strict=strict)
    reading = Reading(description, folders, version < (1, 5), Collisions() if has_contacts else None)
    worlds = list(root.all("world"))
    models = [*root.all("model"), *(model for world in worlds for model in world.all("model"))]
    for element in (root, *worlds):
        _count_ignored(description, element)
        _refuse_include(element)
    if not models:
        raise root.error("has no <model>")
    if len(models) == 1:
        description.name = models[0].word("name")
    for world in worlds:
        gravity = world.get("gravity")
        if gravity is not None:
            x, y, z = gravity.numbers(3)
            description.gravity = (x, y, z)
    for model in models:
        prefix = "" if len(models) == 1 else f"{model.word('name')}::"
        _read_model(reading, model, prefix, pose_of(model), is_static=False)
    couplings_of_joints(description)
    if reading.collisions is not None:
        reading.collisions.enter(description)
    return description


def _version(root: Element) -> tuple[int, int]:
    text = root.word("version")
    major, _, minor = text.partition(".")
    if not (major.isdecimal() and minor.isdecimal() and len(text) < 8):
        raise root.error(f"version must be a number such as 1.6, not {text[:20]!r}")
    version = int(major), int(minor)
    if not _LEAST_VERSION <= version <= _MOST_VERSION:
        raise root.error(f"version {text} is not known; versions 1.2 to 1.12 are")
    return version


def _read_model(reading: Reading, model: Element, prefix: str, X_WM: Pose, is_static: bool) -> Frames:
    """Enter a model's links and joints, nested models first; returns its frames."""
    description = reading.description
    _count_ignored(description, model)
    _refuse_include(model)
    static = model.get("static")
    is_static = is_static or (static is not None and static.text.strip().lower() in _TRUE)
    frames = Frames(model, X_WM)
    for link in model.all("link"):
        frames.add(link, link.word("name"), MODEL, attached=link.word("name"))
    for frame in model.all("frame"):
        to = frame.attributes.get("attached_to", "").strip()
        frames.add(frame, frame.word("name"), to or MODEL, attached=to or None)
    for joint in model.all("joint"):
        child = joint.need("child").content()
        frames.add(joint, frames.joint_key(joint.word("name")), child, attached=child)
    for nested in model.all("model"):
        name = nested.word("name")
        X = frames.pose(relative_to(nested) or MODEL, nested) @ pose_of(nested)
        inner = _read_model(reading, nested, f"{prefix}{name}::", X, is_static)
        frames.place(name, X, WORLD)
        for link in nested.all("link"):
            inner_name = link.word("name")
            frames.place(f"{name}::{inner_name}", inner.pose(inner_name, link), f"{name}::{inner_name}")
    for link in model.all("link"):
        X_WL = frames.pose(link.word("name"), link)
        entry = _read_link(reading, link, prefix, frames)
        description.add_link(entry)
        description.at[entry.name] = X_WL
        if is_static:
            description.fixed.add(entry.name)
    for joint in model.all("joint"):
        _read_joint(reading, joint, prefix, frames)
    for frame in model.all("frame"):
        X = frames.pose(frame.word("name"), frame)
        to = frame.attributes.get("attached_to", "").strip()
        if to:
            carrier = frames.link(to, frame)
            if carrier != WORLD:
                name = f"{prefix}{frame.word('name')}"
                description.file_frames[name] = (f"{prefix}{carrier}", frames.pose(carrier, frame).inverse() @ X)
    return frames


def _read_link(reading: Reading, element: Element, prefix: str, frames: Frames) -> LinkEntry:
    description = reading.description
    within = partial(frames.within, element.word("name"))
    _count_ignored(description, element)
    name = prefix + element.word("name")
    gravity = element.get("gravity")
    if gravity is not None and gravity.text.strip().lower() not in _TRUE:
        description.source.note(f"link {name!r} is exempt from gravity in the file; here it is not", gravity.line)
    with description.located(element.line):
        shapes = shapes_of(description, element, within, reading.folders, reading.collisions is not None)
        if reading.collisions is not None:
            reading.collisions.read(description, element, name, within, reading.folders)
    return LinkEntry(name, _inertia(description, element, name, within), element.line, shapes)


def _inertia(description: Description, link: Element, name: str, within: Within) -> Inertia:
    inertial = link.get("inertial")
    if inertial is None:
        description.source.note(f"link {name!r} has no <inertial>: 1 kg and 1 kg m^2, as SDF says", link.line)
        return Inertia(1.0, about_com=(1.0, 1.0, 1.0))
    if inertial.attributes.get("auto", "").strip().lower() in _TRUE:
        raise inertial.error(f"inertia of link {name!r} is to be worked out from its shapes, which is not supported")
    _count_ignored(description, inertial)
    mass, matrix = inertial.get("mass"), inertial.get("inertia")
    kilograms = mass.numbers(1)[0] if mass is not None else 1.0

    def entry(key: str, default: float) -> float:
        element = matrix.get(key) if matrix is not None else None
        return default if element is None else element.numbers(1)[0]

    xx, yy, zz = (entry(key, 1.0) for key in ("ixx", "iyy", "izz"))
    xy, xz, yz = (entry(key, 0.0) for key in ("ixy", "ixz", "iyz"))
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return file_inertia(description, name, inertial.line, kilograms, about_com, within(inertial))


def _read_joint(reading: Reading, element: Element, prefix: str, frames: Frames) -> None:
    """Enter a joint; its frame has the axes of its child link, so that the link keeps its orientation."""
    description = reading.description
    name = element.word("name")
    ends = [frames.link(element.need(tag).content(), element) for tag in ("parent", "child")]
    parent, child = (WORLD if end == WORLD else prefix + end for end in ends)
    X_WP, X_WC = (Pose() if end == WORLD else frames.pose(end, element) for end in ends)
    X_WJ = frames.pose(frames.joint_key(name), element)
    X = Pose._trusted(X_WJ.p.copy(), X_WC.R.copy())
    model = joint_model(description, element, prefix, frames, X_WJ, X, reading.axes_in_model, (parent, child))
    if model is not None:
        entry = JointEntry(model, parent, child, X_WP.inverse() @ X, X_WC.inverse() @ X, element.line)
        description.add_joint(entry)


def _refuse_include(element: Element) -> None:
    for include in element.all("include"):
        uri = include.get("uri")
        raise include.error(
            f"includes another file ({'' if uri is None else uri.text.strip()[:60]}), which is not followed: write the "
            "model out in one file first, for example with `gz sdf -p`"
        )


def _count_ignored(description: Description, element: Element) -> None:
    known = _KNOWN[element.tag]
    counts = Counter(child.tag for child in element.children if child.tag not in known)
    for tag, n in counts.items():
        description.source.ignore(f"<{tag}> in <{element.tag}>", n)
