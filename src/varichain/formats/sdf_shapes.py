"""Shapes of SDF links."""

from __future__ import annotations

from typing import Any

from varichain.formats.description import Description
from varichain.formats.meshes import MeshFolders
from varichain.formats.sdf_frames import Within
from varichain.formats.urdf_shapes import mesh
from varichain.formats.xml import Element
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from varichain.spatial.pose import Pose

_ONE = (1.0, 1.0, 1.0)


def shapes_of(
    description: Description, link: Element, within: Within, folders: MeshFolders, has_contacts: bool = False
) -> list[Shape]:
    """Visual shapes of a link, or the collision ones if it has no others; these may be wanted for contacts besides."""
    visual, collision = list(link.all("visual")), list(link.all("collision"))
    if visual and collision and not has_contacts:
        description.source.ignore("<collision> besides <visual>", len(collision))
    shapes = []
    for element in visual or collision:
        geometry = element.get("geometry")
        if geometry is None or not geometry.children:
            description.source.ignore(f"<{element.tag}> without a shape")
            continue
        shape = shape_of(description, geometry.children[0], folders, within(element), _color(element))
        if shape is not None:
            shapes.append(shape)
    return shapes


def _color(element: Element) -> Any:
    material = element.get("material")
    diffuse = material.get("diffuse") if material is not None else None
    if diffuse is None:
        return None
    words = diffuse.content().split()
    numbers = diffuse.numbers(3 if len(words) == 3 else 4)
    return tuple(min(max(part, 0.0), 1.0) for part in numbers)


def shape_of(description: Description, element: Element, folders: MeshFolders, at: Pose, color: Any) -> Shape | None:
    """Shape of what is inside a <geometry>; None, and counted, if there is no such shape here."""

    def numbers(tag: str, n: int) -> tuple[float, ...]:
        return element.need(tag).numbers(n)

    with description.located(element.line):
        match element.tag:
            case "mesh":
                scale = element.get("scale")
                factors = _ONE if scale is None else scale.numbers(3)
                name = element.need("uri").content()
                return mesh(description, folders, name, factors, at, color, element.line)
            case "box":
                return Box(numbers("size", 3), at, color)
            case "sphere":
                return Sphere(numbers("radius", 1)[0], at, color)
            case "cylinder":
                return Cylinder(numbers("radius", 1)[0], numbers("length", 1)[0], at, color)
            case "capsule":
                return Capsule(numbers("radius", 1)[0], numbers("length", 1)[0], at, color)
            case "ellipsoid":
                return Ellipsoid(numbers("radii", 3), at, color)
    description.source.ignore(f"shape <{element.tag}>")
    return None
