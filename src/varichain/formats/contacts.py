"""Surfaces and contact shapes of robot files, on their way into a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.formats.description import Description


@dataclass
class SurfaceEntry:
    """A surface of a file.

    Attributes:
        name: Its name.
        link: Link that it is fixed to, the world included.
        shape: Half-space, box, sphere or capsule, in the file's frame of the link.
        friction: Coefficient with each link that may touch it, by name.
        restitution: Part of the closing velocity that an impact turns round.
    """

    name: str
    link: str
    shape: Any
    friction: dict[str, float]
    restitution: float = 0.0


@dataclass
class ContactEntries:
    """What touches what, by a file.

    Attributes:
        shapes: Contact shapes of each link, in the file's frame of the link.
        surfaces: What they may touch.
    """

    shapes: dict[str, list[Any]] = field(default_factory=dict)
    surfaces: list[SurfaceEntry] = field(default_factory=list)


def add_contacts(description: Description, m: Mechanism, names: Mapping[str, str], moved: Mapping[str, Pose]) -> None:
    """Give a mechanism the surfaces and contact shapes of its file.

    Friction belongs to surfaces here, to pairs there: a surface becomes one for each coefficient, with the links that
    have it.
    """
    entries = description.contacts
    if entries is None:
        return
    for link, shapes in entries.shapes.items():
        back = moved[link].inverse()
        m.set_contact_shapes(names[link], [replace(shape, at=back @ shape.at) for shape in shapes])
    for surface in entries.surfaces:
        back = moved[surface.link].inverse()
        shape = replace(surface.shape, at=back @ surface.shape.at)
        groups: dict[float, list[str]] = {}
        for link, friction in surface.friction.items():
            groups.setdefault(friction, []).append(names[link])
        for friction, links in groups.items():
            name = surface.name if len(groups) == 1 else f"{surface.name} ({friction:g})"
            m.add_surface(
                name, names[surface.link], shape, friction=friction, restitution=surface.restitution, touched_by=links
            )
