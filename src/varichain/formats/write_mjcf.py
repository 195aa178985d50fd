"""MJCF from a mechanism; what the format has no word for goes into the file of loops next to it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np

from varichain.errors import InputError
from varichain.formats.joint_words import word_of
from varichain.formats.mesh_copies import MeshCopies
from varichain.formats.source import Note
from varichain.formats.write_xml import XmlNode, numbers
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import Free
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from varichain.spatial.pose import Pose

_MESH_ENDINGS = (".stl", ".obj", ".msh")
_MOST_FACES = 200_000
_LEAST = 1e-15  # MuJoCo's smallest mass and moment of what moves
_ROUNDING = 1e-12
WRITTEN = ("name", "damping", "friction", "armature", "stiffness", "rest", "limits", "axis", "actuated")
"""Fields of hinges and sliders that MJCF has words for."""


@dataclass
class _Place:
    """Where a link is written: an element, and the link's frame in the element's."""

    node: XmlNode
    offset: Pose


def mjcf_from(m: Mechanism, meshes: MeshCopies, notes: list[Note]) -> XmlNode:
    """The root element.

    A massless link that carries nothing but one other, as `load` makes them of bodies with several joints, becomes a
    joint of that other's body.

    Raises:
        InputError: The tree has joints or inertias that MJCF does not know.
    """
    root = XmlNode("mujoco", {"model": m.name})
    root.add("compiler", angle="radian", autolimits="false", inertiafromgeom="false", balanceinertia="false")
    root.add("option", gravity=numbers(*m.gravity))
    assets = XmlNode("asset")
    places = {m.ground.name: _Place(root.add("worldbody"), Pose())}
    inner = {name for link in m.links for name in _inner_links(m, link)}
    for link in m.links:
        if link.name not in inner:
            places[link.name] = _add_body(m, places, link, meshes, assets, notes)
    if assets.children:
        root.children.insert(2, assets)
    _add_equalities(root, m, places)
    driven = [joint for joint in m.joints if joint.actuated and joint.n_v == 1]
    if driven:
        actuators = root.add("actuator")
        for joint in driven:
            actuators.add("motor", name=str(joint.name), joint=str(joint.name))
    return root


def _inner_links(m: Mechanism, link: Link) -> list[str]:
    """Massless links before this one that are joints of the same body, outermost first."""
    ends = {end.name for virtual in m.virtual_links for end in (virtual.real, virtual.parent) if end is not None}
    inner: list[str] = []
    turned, parent = link.at, link.parent
    while parent is not None and parent.joint is not None and parent.name == f"{link.name} ({parent.joint.name})":
        is_bare = parent.inertia.mass == 0.0 and not parent.shapes and parent.name not in ends
        if not is_bare or len([*parent.children]) != 1 or not turned.is_close(Pose(turned.p), 0.0):
            break
        inner.insert(0, parent.name)
        turned, parent = parent.at, parent.parent
    return inner


def _add_body(
    m: Mechanism, places: dict[str, _Place], link: Link, meshes: MeshCopies, assets: XmlNode, notes: list[Note]
) -> _Place:
    if link.name == "world":
        raise InputError("MJCF has a world of its own: no link may be called 'world'; rename it, or save as URDF")
    chain = [*(m.link(name) for name in _inner_links(m, link)), link]
    first = chain[0]
    assert first.parent is not None
    on = places[first.parent.name]
    X = on.offset @ first.at
    body = on.node.add("body", name=link.name, pos=numbers(*X.p), quat=numbers(*X.quaternion))
    offset = Pose()
    for one in chain:
        assert one.joint is not None
        offset = offset if one is first else offset @ one.at
        _add_joint(body, one.joint, offset)
    _add_inertial(body, link, offset)
    for i, shape in enumerate(link.shapes):
        _add_shape(body, shape.moved(offset), f"{link.name} {i}", meshes, assets, notes)
    return _Place(body, offset)


def _add_inertial(body: XmlNode, link: Link, offset: Pose) -> None:
    """Principal moments and axes: unlike a full matrix, MuJoCo takes moments of zero where nothing moves."""
    assert link.joint is not None
    I = link.inertia
    moments, axes = np.linalg.eigh(I.about_com)
    if link.joint.n_v and not (I.mass > _LEAST and moments[0] > _LEAST):
        raise InputError(
            f"MuJoCo wants mass and positive principal moments of every link that moves, and link {link.name!r} has "
            f"{I!r}; give it some, or save as URDF"
        )
    if I.mass == 0.0:
        return
    A, B, C = np.maximum(moments, 0.0).tolist()
    if A + B < C * (1.0 + _ROUNDING):  # MuJoCo allows for no rounding
        A, B = A + _ROUNDING * C, B + _ROUNDING * C
    axes = axes * np.sign(np.linalg.det(axes))
    at = offset @ Pose(I.com, axes)
    place = {"pos": numbers(*at.p), "quat": numbers(*at.quaternion)}
    body.add("inertial", **place, mass=numbers(I.mass), diaginertia=numbers(A, B, C))


def _add_joint(body: XmlNode, joint: Joint, at: Pose) -> None:
    kind = word_of(joint, "MJCF")
    if not kind:
        return
    element = body.add("joint", name=str(joint.name), type=kind)
    if not isinstance(joint, Free):
        element.attributes["pos"] = numbers(*at.p)
    if joint.n_v == 1:
        element.attributes["axis"] = numbers(*joint.axis)  # type: ignore[attr-defined]
        if stores_limits(joint):
            element.attributes |= {"limited": "true", "range": numbers(joint.limits[0][0], joint.limits[1][0])}
        if any(joint.stiffness):
            element.attributes |= {"stiffness": numbers(*joint.stiffness), "springref": numbers(*joint.rest)}
    for key, name in (("damping", "damping"), ("friction", "frictionloss"), ("armature", "armature")):
        values = getattr(joint, key)
        if any(values) and len(set(values)) == 1:
            element.attributes[name] = numbers(values[0])


def stores_limits(joint: Joint) -> bool:
    """Whether MJCF can store the limits of a hinge or slider: a range of some length."""
    limits = joint.limits
    return limits is not None and -math.inf < limits[0][0] < limits[1][0] < math.inf


def _add_shape(body: XmlNode, shape: Shape, name: str, meshes: MeshCopies, assets: XmlNode, notes: list[Note]) -> None:
    place = {"pos": numbers(*shape.at.p), "quat": numbers(*shape.at.quaternion)}
    look = {"contype": "0", "conaffinity": "0"}
    if shape.color is not None:
        look["rgba"] = numbers(*shape.color)
    match shape:
        case Box(size=(x, y, z)):
            form = {"type": "box", "size": numbers(x / 2, y / 2, z / 2)}
        case Sphere(radius=radius):
            form = {"type": "sphere", "size": numbers(radius)}
        case Cylinder(radius=radius, length=length):
            form = {"type": "cylinder", "size": numbers(radius, length / 2)}
        case Capsule(radius=radius, length=length):
            form = {"type": "capsule", "size": numbers(radius, length / 2)}
        case Ellipsoid(radii=radii):
            form = {"type": "ellipsoid", "size": numbers(*radii)}
        case Mesh(path=file, scale=scale):
            if not _is_readable(file):
                kinds = ", ".join(_MESH_ENDINGS)
                notes.append(Note(f"mesh {file!r} is left out: MuJoCo reads {kinds} alone, STL only if binary"))
                return
            target = meshes.name(shape)
            if target is None:
                return
            assets.add("mesh", name=name, file=target, scale=numbers(*scale), inertia="shell")
            form = {"type": "mesh", "mesh": name}
        case _:
            return
    body.children.append(XmlNode("geom", form | place | look))


def _is_readable(file: str) -> bool:
    """Whether MuJoCo can read a mesh file: an STL file must be binary, and not too large."""
    if not file.lower().endswith(_MESH_ENDINGS) or not os.path.isfile(file):
        return False
    if not file.lower().endswith(".stl"):
        return True
    with open(file, "rb") as stream:
        head = stream.read(84)
    n = int.from_bytes(head[80:84], "little")
    return len(head) == 84 and 0 < n <= _MOST_FACES and os.path.getsize(file) == 84 + 50 * n


def _add_equalities(root: XmlNode, m: Mechanism, places: dict[str, _Place]) -> None:
    equality = XmlNode("equality")
    for link in m.virtual_links:
        assert link.joint is not None and link.real is not None and link.parent is not None
        if not is_native_loop(link.joint):
            continue
        word = link.joint.format_names["mjcf loop"]
        name = str(link.joint.name)
        ends = ((f"{name} A", link.real.name, link.on_real), (f"{name} B", link.parent.name, link.at))
        for site, carrier, at in ends:
            on = places[carrier]
            _add_site(on.node, site, on.offset @ at)
        equality.add(word, name=name, site1=f"{name} A", site2=f"{name} B")
    for coupling in m.couplings:
        coefficients = numbers(coupling.offset, coupling.multiplier, 0, 0, 0)
        equality.add("joint", name=coupling.name, joint1=coupling.joint, joint2=coupling.to, polycoef=coefficients)
    if equality.children:
        root.children.append(equality)


def is_native_loop(joint: Joint) -> bool:
    """Whether MJCF has a word for a loop's joint, which then has no springs, limits or drive."""
    is_special = any((*joint.damping, *joint.friction, *joint.stiffness)) or joint.actuated or joint.limits is not None
    return "mjcf loop" in joint.format_names and not is_special


def _add_site(node: XmlNode, name: str, at: Pose) -> None:
    node.add("site", name=name, pos=numbers(*at.p), quat=numbers(*at.quaternion))
