"""MJCF, through MuJoCo's own compiler: bodies, joints, defaults, equalities, as MuJoCo understands them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from varichain.errors import MissingExtraError
from varichain.formats.description import WORLD, Description, JointEntry, LinkEntry
from varichain.formats.inertias import file_inertia
from varichain.formats.mjcf_contacts import read_contacts
from varichain.formats.mjcf_equalities import read_equalities
from varichain.formats.mjcf_files import check_files, error_from
from varichain.formats.mjcf_shapes import shapes_of_bodies
from varichain.formats.mjcf_tendons import read_tendons
from varichain.formats.source import Source
from varichain.formats.xml import Element
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import Fixed, Free, Prismatic, Revolute, Spherical
from varichain.mechanism.limits import SwingTwist
from varichain.spatial.pose import Pose

_FREE, _BALL, _SLIDE, _HINGE = 0, 1, 2, 3
# Parts of a model that a mechanism has no place for, with the count that tells whether there are any.
_IGNORED = {
    "sensor": "nsensor",
    "keyframe": "nkey",
    "contact pair": "npair",
    "contact exclusion": "nexclude",
    "light": "nlight",
    "camera": "ncam",
    "height field": "nhfield",
    "user data": "nuserdata",
}


def read_mjcf(root: Element, path: Path, strict: bool, has_contacts: bool = False) -> Description:
    """Description of the model in an MJCF file, with its contacts if they are wanted.

    A body with several joints becomes several links, the inner ones massless. Coordinates are measured from MuJoCo's
    reference configuration qpos0, in which the file places the bodies.
    """
    lines = _lines(check_files(root, path))
    description = Description(path.stem, Source(str(path), "MJCF"), strict=strict)
    model = _compiled(description, path)
    description.name = model.names[: model.names.index(b"\0")].decode(errors="replace") or path.stem
    if model.nbody < 2:
        raise root.error("has no bodies; is it meant to be included by another file?")
    names = Names(model, lines)
    description.gravity = tuple(float(x) for x in model.opt.gravity)  # type: ignore[assignment]
    shapes = shapes_of_bodies(description, model, path, has_contacts)
    driven = _driven_joints(description, model)
    for body in range(1, model.nbody):
        _read_body(description, model, names, body, shapes[body], driven)
    read_equalities(description, model, names)
    read_tendons(description, model, names)
    for site in range(model.nsite):
        frame = Pose(model.site_pos[site], quaternion=model.site_quat[site])
        description.file_frames[names.of("site", site)] = (names.link(model.site_bodyid[site]), frame)
    if has_contacts:
        read_contacts(description, model, names, path)
    _note_ignored(description, model)
    return description


class Names:
    """Names of a compiled model's parts, made up where the file gives none, and their lines in the file."""

    def __init__(self, model: Any, lines: dict[tuple[str, str], int]) -> None:
        """Take a compiled model."""
        self._model = model
        self._lines = lines
        self._made: dict[tuple[str, int], str] = {}
        self._taken: set[tuple[str, str]] = set()
        for kind, n in (
            ("body", model.nbody),
            ("joint", model.njnt),
            ("site", model.nsite),
            ("equality", model.neq),
            ("tendon", model.ntendon),
        ):
            for i in range(n):
                self._make(kind, i)

    def _make(self, kind: str, i: int) -> None:
        name = getattr(self._model, kind)(i).name
        if not name:
            name = f"{self.of('body', int(self._model.jnt_bodyid[i]))} joint" if kind == "joint" else f"{kind} {i}"
        plain, number = name, 1
        while (kind, name) in self._taken:
            number += 1
            name = f"{plain} {number}"
        self._taken.add((kind, name))
        self._made[kind, i] = name

    def of(self, kind: str, i: int) -> str:
        """Name of a body, joint, site, equality or tendon."""
        return self._made[kind, int(i)]

    def link(self, body: int) -> str:
        """Name of a body's link; the world is the ground."""
        return WORLD if body == 0 else self.of("body", body)

    def line(self, kind: str, i: int) -> int | None:
        """Line of a named part."""
        return self._lines.get((kind, self.of(kind, i)))


def _lines(elements: list[Element]) -> dict[tuple[str, str], int]:
    kinds = {"freejoint": "joint", "connect": "equality", "weld": "equality", "spatial": "tendon", "fixed": "tendon"}
    return {
        (kinds.get(element.tag, element.tag), element.attributes["name"]): element.line
        for element in elements
        if "name" in element.attributes
    }


def _compiled(description: Description, path: Path) -> Any:
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError("MJCF files need the package mujoco: pip install 'varichain[mjcf]'") from None
    said: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)  # instead of a log file in the user's folder
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = mujoco.MjSpec.from_file(str(path)).compile()
        for warning in (*said, *(str(warning.message) for warning in caught)):
            description.source.note(f"MuJoCo says: {' '.join(str(warning).split())}")
        return model
    except (ValueError, RuntimeError, TypeError, mujoco.FatalError) as error:
        raise error_from(str(error), path) from None
    finally:
        mujoco.set_mju_user_warning(before)


def _read_body(
    description: Description, model: Any, names: Names, body: int, shapes: list[Any], driven: set[int] | None
) -> None:
    """Enter a body: a link for each joint but the last is massless, the last one is the body."""
    name, line = names.of("body", body), names.line("body", body)
    parent = names.link(int(model.body_parentid[body]))
    X_PB = Pose(model.body_pos[body], quaternion=model.body_quat[body])
    inertia = _inertia(description, model, body, name, line)
    first, n = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    if n == 0:
        description.add_link(LinkEntry(name, inertia, line, shapes))
        joint = Fixed(name=_fixed_name(model, names, name))
        description.add_joint(JointEntry(joint, parent, name, X_PB, line=line))
        return
    before, near = parent, X_PB
    for j in range(first, first + n):
        is_last = j == first + n - 1
        link = name if is_last else f"{name} ({names.of('joint', j)})"
        place = Pose() if model.jnt_type[j] == _FREE else Pose(model.jnt_pos[j])
        with description.located(names.line("joint", j)):
            joint_model = _joint(description, model, names, j, driven)
        description.add_link(LinkEntry(link, inertia if is_last else Inertia.zero(), line, shapes if is_last else []))
        entry = JointEntry(joint_model, before, link, near @ place, place, names.line("joint", j))
        description.add_joint(entry)
        before, near = link, Pose()


def _fixed_name(model: Any, names: Names, body: str) -> str:
    taken = {names.of("joint", j) for j in range(model.njnt)}
    while body in taken:
        body += " fixed"
    return body


def _inertia(description: Description, model: Any, body: int, name: str, line: int | None) -> Inertia:
    at = Pose(model.body_ipos[body], quaternion=model.body_iquat[body])
    return file_inertia(description, name, line, float(model.body_mass[body]), np.diag(model.body_inertia[body]), at)


def _joint(description: Description, model: Any, names: Names, j: int, driven: set[int] | None) -> Joint:
    kind, dof, qpos = int(model.jnt_type[j]), int(model.jnt_dofadr[j]), int(model.jnt_qposadr[j])
    n = {_FREE: 6, _BALL: 3, _SLIDE: 1, _HINGE: 1}[kind]
    options: dict[str, Any] = {"name": names.of("joint", j)}
    if driven is not None and kind != _FREE:
        options["actuated"] = j in driven
    for key, values in (
        ("damping", model.dof_damping),
        ("friction", model.dof_frictionloss),
        ("armature", model.dof_armature),
    ):
        numbers = [float(value) for value in np.asarray(values[dof : dof + n]).reshape(n, -1)[:, 0]]
        options[key] = numbers if n > 1 else numbers[0]
    stiffness = float(np.ravel(model.jnt_stiffness[j])[0])
    if kind == _FREE:
        if stiffness:
            description.source.note(f"free joint {options['name']!r} has a spring, which is not represented")
        return Free(**options)
    options["stiffness"] = stiffness
    if kind == _BALL:
        if model.jnt_limited[j]:
            options["limits"] = SwingTwist(min(float(model.jnt_range[j][1]), np.pi))
            description.source.note(f"limit of ball joint {options['name']!r} is taken as one of its swing")
        return Spherical(**options)
    reference = float(model.qpos0[qpos])
    if reference:
        description.source.note(f"joint {options['name']!r} has ref {reference:g}: here its coordinate is 0 there")
    if stiffness:
        options["rest"] = float(model.qpos_spring[qpos]) - reference
    if model.jnt_limited[j]:
        options["limits"] = tuple(float(bound) - reference for bound in model.jnt_range[j])
    return (Prismatic if kind == _SLIDE else Revolute)(model.jnt_axis[j].tolist(), **options)


def _driven_joints(description: Description, model: Any) -> set[int] | None:
    """Joints that actuators act on; None if the file has no actuators and so does not say."""
    if model.nu == 0:
        return None
    driven = set()
    for u in range(model.nu):
        if int(model.actuator_trntype[u]) in (0, 1):  # on a joint, in its own or its parent's axes
            driven.add(int(model.actuator_trnid[u][0]))
        else:
            description.source.ignore("actuator that acts on no joint")
    description.source.ignore("gear and gains of an actuator: its joint is marked as actuated", model.nu)
    return driven


def _note_ignored(description: Description, model: Any) -> None:
    for what, count in _IGNORED.items():
        if getattr(model, count, 0):
            description.source.ignore(what, int(getattr(model, count)))
    if model.nmocap:
        description.source.note(f"{model.nmocap} mocap bodies stand still here")
    if np.any(getattr(model, "body_gravcomp", np.zeros(1))):
        description.source.note("bodies with gravity compensation are not represented: here they weigh what they weigh")
    if model.opt.density or model.opt.viscosity:
        description.source.note("the medium's density and viscosity are not represented")
    if description.contacts is None and (np.any(model.geom_contype) or np.any(model.geom_conaffinity)):
        description.source.ignore("contact between shapes", 1)
