"""URDF from a mechanism; what the format has no word for goes into the file of loops next to it."""

from __future__ import annotations

import math

from varichain.formats.joint_words import word_of
from varichain.formats.mesh_copies import MeshCopies
from varichain.formats.write_xml import XmlNode, numbers, rpy
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from varichain.spatial.pose import Pose

WRITTEN = ("name", "damping", "friction", "limits", "axis", "normal")
"""Fields of hinges and sliders that URDF has words for."""


def urdf_from(m: Mechanism, meshes: MeshCopies) -> XmlNode:
    """The root element; every link hangs, through joints, on an empty link called "ground".

    Raises:
        InputError: The tree has joints that URDF does not know.
    """
    robot = XmlNode("robot", {"name": m.name})
    robot.add("link", name="ground")
    followers = {coupling.joint: coupling for coupling in m.couplings}
    for link in m.links:
        _add_link(robot, link, meshes)
    for link in m.links:
        assert link.joint is not None and link.parent is not None
        element = _add_joint(robot, link, link.joint, m)
        coupling = followers.get(str(link.joint.name))
        if coupling is not None:
            element.add(
                "mimic",
                joint=coupling.to,
                multiplier=numbers(coupling.multiplier),
                offset=numbers(coupling.offset),
            )
    return robot


def _add_link(robot: XmlNode, link: Link, meshes: MeshCopies) -> None:
    element = robot.add("link", name=link.name)
    I = link.inertia
    if I.mass > 0.0:
        inertial = element.add("inertial")
        inertial.add("origin", xyz=numbers(*I.com), rpy="0 0 0")
        inertial.add("mass", value=numbers(I.mass))
        keys = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
        inertial.add("inertia", **{key: numbers(I.about_com[ij]) for key, ij in keys.items()})
    for shape in link.shapes:
        _add_shape(element, shape, meshes)


def _add_shape(link: XmlNode, shape: Shape, meshes: MeshCopies) -> None:
    visual = XmlNode("visual")
    _add_origin(visual, shape.at)
    geometry = visual.add("geometry")
    match shape:
        case Box(size=size):
            geometry.add("box", size=numbers(*size))
        case Sphere(radius=radius):
            geometry.add("sphere", radius=numbers(radius))
        case Cylinder(radius=radius, length=length):
            geometry.add("cylinder", radius=numbers(radius), length=numbers(length))
        case Capsule(radius=radius, length=length):
            geometry.add("capsule", radius=numbers(radius), length=numbers(length))
        case Ellipsoid(radii=radii):
            geometry.add("ellipsoid", radii=numbers(*radii))
        case Mesh(scale=scale):
            name = meshes.name(shape)
            if name is None:
                return
            geometry.add("mesh", filename=name, scale=numbers(*scale))
    if shape.color is not None:
        visual.add("material", name=f"rgba {numbers(*shape.color)}").add("color", rgba=numbers(*shape.color))
    link.children.append(visual)


def _add_joint(robot: XmlNode, link: Link, joint: Joint, m: Mechanism) -> XmlNode:
    kind = word_of(joint, "URDF")
    assert link.parent is not None
    is_single = joint.n_v == 1  # a hinge or a slider
    limits = joint.limits if is_single else None
    is_open = limits is None or not any(map(math.isfinite, (*limits[0], *limits[1])))
    if kind == "revolute" and is_open:
        kind = "continuous"
    element = robot.add("joint", name=str(joint.name), type=kind)
    _add_origin(element, link.at)
    element.add("parent", link=link.parent.name)
    element.add("child", link=link.name)
    for field in joint.own_fields():
        element.add("axis", xyz=numbers(*getattr(joint, field.name)))
    if limits is not None and not is_open:
        (lower,), (upper,) = limits
        if math.isfinite(lower) and math.isfinite(upper):
            source = m.source
            efforts = source.efforts if source is not None else {}
            velocities = source.velocities if source is not None else {}
            most = {
                "effort": numbers(efforts.get(str(joint.name), 0.0)),
                "velocity": numbers(velocities.get(str(joint.name), 0.0)),
            }
            element.add("limit", lower=numbers(lower), upper=numbers(upper), **most)
    if is_single and (any(joint.damping) or any(joint.friction)):
        element.add("dynamics", damping=numbers(*joint.damping), friction=numbers(*joint.friction))
    return element


def _add_origin(element: XmlNode, at: Pose) -> None:
    element.add("origin", xyz=numbers(*at.p), rpy=numbers(*rpy(at.R)))
