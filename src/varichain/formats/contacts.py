"""Surfaces and contact shapes of robot files, on their way into a mechanism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.formats.description import Description


MOST_PAIRS = 200_000  # of a shape of the world and one of a link


class PairLaw(NamedTuple):
    """What a surface does to one link that touches it; files have it for pairs of shapes.

    Attributes:
        friction: Coefficient of friction.
        torsional, rolling: Torsional and rolling friction [m].
        restitution: Part of the closing velocity that an impact turns round.
    """

    friction: float = 0.0
    torsional: float = 0.0
    rolling: float = 0.0
    restitution: float = 0.0

    def larger(self, other: PairLaw) -> PairLaw:
        """The larger one of each number."""
        return PairLaw(*map(max, self, other))

    def __str__(self) -> str:
        """The numbers in short; friction always, the others where they are not zero."""
        others = [f"{name} {x:g}" for name, x in zip(self._fields[1:], self[1:], strict=True) if x]
        return ", ".join([f"{self.friction:g}", *others])


@dataclass
class SurfaceEntry:
    """A surface of a file.

    Attributes:
        name: Its name.
        link: Link that it is fixed to, the world included.
        shape: Half-space, box, sphere, capsule or height field, in the file's frame of the link.
        laws: Its law with each link that may touch it, by name.
    """

    name: str
    link: str
    shape: Any
    laws: dict[str, PairLaw]


@dataclass
class ContactEntries:
    """What touches what, by a file.

    Attributes:
        shapes: Contact shapes of each link, in the file's frame of the link.
        surfaces: What they may touch.
    """

    shapes: dict[str, list[Any]] = field(default_factory=dict)
    surfaces: list[SurfaceEntry] = field(default_factory=list)


def check_pairs(description: Description, n_still: int, n_moving: int, what: str) -> None:
    """Refuse a file that stands for more pairs of shapes than anybody needs."""
    if n_still * n_moving > MOST_PAIRS:
        raise description.error(
            f"{n_still} {what} of the world and {n_moving} of links have more than {MOST_PAIRS} pairs: too many "
            "for contacts=True"
        )


def add_contacts(description: Description, m: Mechanism, names: Mapping[str, str], moved: Mapping[str, Pose]) -> None:
    """Give a mechanism the surfaces and contact shapes of its file.

    Friction and restitution belong to surfaces here, to pairs there: a surface becomes one for each law, with the links
    that have it.
    """
    entries = description.contacts
    if entries is None:
        return
    for link, shapes in entries.shapes.items():
        back = moved[link].inverse()
        m.set_contact_shapes(names[link], [replace(shape, at=back @ shape.at) for shape in shapes])
    counts: Counter[str] = Counter()
    for surface in entries.surfaces:
        back = moved[surface.link].inverse()
        shape = replace(surface.shape, at=back @ surface.shape.at)
        groups: dict[PairLaw, list[str]] = {}
        for link, law in surface.laws.items():
            groups.setdefault(law, []).append(names[link])
        for law, links in groups.items():
            name = _free_name(m, surface.name if len(groups) == 1 else f"{surface.name} ({law})", counts)
            m.add_surface(name, names[surface.link], shape, touched_by=links, **law._asdict())


def _free_name(m: Mechanism, name: str, counts: Counter[str]) -> str:
    """Name of a surface; numbered if it is taken."""
    counts[name] += 1
    while (free := name if counts[name] == 1 else f"{name} {counts[name]}") in m.surfaces:
        counts[name] += 1
    return free
