"""Surfaces and contact shapes of robot files, on their way into a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.formats.description import Description


Friction = tuple[float, float, float]
"""Coefficient of friction, then torsional and rolling friction [m]."""


@dataclass
class SurfaceEntry:
    """A surface of a file.

    Attributes:
        name: Its name.
        link: Link that it is fixed to, the world included.
        shape: Half-space, box, sphere, capsule or height field, in the file's frame of the link.
        friction: Coefficient, torsional and rolling friction [m] with each link that may touch it, by name.
        restitution: Part of the closing velocity that an impact turns round.
    """

    name: str
    link: str
    shape: Any
    friction: dict[str, Friction]
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

    Friction belongs to surfaces here, to pairs there: a surface becomes one for each friction, with the links that have
    it.
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
        groups: dict[Friction, list[str]] = {}
        for link, friction in surface.friction.items():
            groups.setdefault(friction, []).append(names[link])
        for friction, links in groups.items():
            name = surface.name if len(groups) == 1 else f"{surface.name} ({_shown(friction)})"
            law = dict(zip(("friction", "torsional", "rolling"), friction, strict=True))
            m.add_surface(name, names[surface.link], shape, restitution=surface.restitution, touched_by=links, **law)


def _shown(friction: Friction) -> str:
    """Coefficients in short, those of torsional and rolling friction if there are any."""
    return ", ".join(f"{x:g}" for x in (friction if any(friction[1:]) else friction[:1]))
