"""Shapes of URDF and SDF links: what they look like; meshes as references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from varichain.formats.description import Description
from varichain.formats.meshes import MeshFolders
from varichain.formats.xml import Element
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from varichain.spatial.pose import Pose

Placed = Callable[[Description, Element], Pose]

_ONE = (1.0, 1.0, 1.0)


def named_colors(root: Element) -> dict[str, Any]:
    """Colours of a URDF robot's own materials, by name."""
    return {
        material.attributes["name"]: color
        for material in root.all("material")
        if "name" in material.attributes and (color := _rgba(material)) is not None
    }


def shapes_of(
    description: Description, link: Element, folders: MeshFolders, colors: dict[str, Any], placed: Placed
) -> list[Shape]:
    """Shapes of a URDF link: its visual ones, or the collision ones if it has no others."""
    visual, collision = list(link.all("visual")), list(link.all("collision"))
    if visual and collision:
        description.source.ignore("<collision> besides <visual>", len(collision))
    shapes = []
    for element in visual or collision:
        geometry = element.get("geometry")
        if geometry is None or not geometry.children:
            description.source.ignore(f"<{element.tag}> without a shape")
            continue
        material = element.get("material")
        color = None
        if material is not None:
            color = _rgba(material) or colors.get(material.attributes.get("name", ""))
        shape = _shape(description, geometry.children[0], folders, placed(description, element), color)
        if shape is not None:
            shapes.append(shape)
    return shapes


def _rgba(material: Element) -> Any:
    color = material.get("color")
    if color is None:
        return None
    rgba = color.parsed(color.word("rgba"), 4, "'rgba'")
    return tuple(min(max(part, 0.0), 1.0) for part in rgba)


def _shape(description: Description, element: Element, folders: MeshFolders, at: Pose, color: Any) -> Shape | None:
    kind = element.tag
    with description.located(element.line):
        if kind == "mesh":
            name = element.word("filename")
            return mesh(description, folders, name, element.triple("scale", _ONE), at, color, element.line)
        sizes = {
            "box": lambda: Box(element.triple("size"), at, color),
            "sphere": lambda: Sphere(element.number("radius"), at, color),
            "cylinder": lambda: Cylinder(element.number("radius"), element.number("length"), at, color),
            "capsule": lambda: Capsule(element.number("radius"), element.number("length"), at, color),
            "ellipsoid": lambda: Ellipsoid(element.triple("radii"), at, color),
        }
        if kind not in sizes:
            description.source.ignore(f"shape <{kind}>")
            return None
        if _is_empty(element):
            description.source.note(f"<{kind}> has no size: not drawn", element.line)
            return None
        return sizes[kind]()


def _is_empty(element: Element) -> bool:
    """Whether a shape has a zero size, as placeholders do."""
    for key in ("size", "radius", "length", "radii"):
        if key in element.attributes:
            words = element.attributes[key].split()
            if 0.0 in element.parsed(element.attributes[key], len(words), repr(key)):
                return True
    return False


def mesh(
    description: Description, folders: MeshFolders, name: str, scale: Any, at: Pose, color: Any, line: int | None
) -> Shape | None:
    """A mesh as a reference, with a note if there is no such file; None if it must not be kept."""
    reference, remark = folders.reference(name, line)
    if remark:
        description.source.ignore(f"mesh file that is not there ({remark})")
    return None if reference is None else Mesh(reference, scale, at, color)
