"""The invariants of a mechanism's structure, as sentences and as code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from varichain.errors import StructureError
from varichain.mechanism.link import Link
from varichain.spatial.checks import instance

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism

Rule = Callable[["Mechanism"], Iterator[Link | str]]


def check(m: Mechanism) -> None:
    """Verify the invariants of the structure, one by one.

    - Ground has id 0 and the name "ground", and has no parent, brother, real link or joint.
    - Ids are unique, grow in the order of the links, and are smaller than the next id.
    - Every link but ground has a joint, and a parent in the mechanism.
    - No link is its own ancestor.
    - A parent has a smaller id than its children.
    - The children that a link lists are those that have it as parent, each once, and it knows the last.
    - Every link name and every joint name leads to its own link, and no other names exist.
    - Every virtual link has a real link in the mechanism, and no children.
    - Ground and virtual links have no mass.
    - Every frame lies on ground or on a real link, and no link has its name.
    - A coupling ties two joints of the tree that have one freedom each, and no joint follows two others or itself.
    - Surfaces are fixed to ground or real links, and touched by real links; contact shapes are of real links.

    Raises:
        StructureError: Names the first of these that is broken, and the link or name that breaks it.
    """
    from varichain.mechanism.mechanism import Mechanism  # which imports the invariants

    instance(m, Mechanism, "m")
    for sentence, offenders in RULES.items():
        for offender in offenders(m):
            raise StructureError(f"broken in mechanism {m.name!r}, by {offender!r}: {sentence}")


def _ground(m: Mechanism) -> Iterator[Link]:
    ground = m.ground
    pointers = (ground.parent, ground.brother, ground.real, ground.joint)
    if ground.id != 0 or ground.name != "ground" or any(pointer is not None for pointer in pointers):
        yield ground
    if m._links.get(0) is not ground:
        yield ground


def _ids(m: Mechanism) -> Iterator[Link]:
    previous = -1
    for key, link in m._links.items():
        if not key == link.id > previous or link.id >= m._next_id:
            yield link
        previous = link.id


def _parents_and_joints(m: Mechanism) -> Iterator[Link]:
    for link in _all_but_ground(m):
        if link.joint is None or link.parent is None or link.parent not in m:
            yield link


def _ancestors(m: Mechanism) -> Iterator[Link]:
    rooted = {m.ground.id}
    for link in _all_but_ground(m):
        path = {link.id}
        for ancestor in link.ancestors:
            if ancestor.id in rooted:
                break
            if ancestor.id in path:
                yield link
                return
            path.add(ancestor.id)
        rooted |= path


def _order(m: Mechanism) -> Iterator[Link]:
    for link in _all_but_ground(m):
        if link.parent is not None and link.parent.id >= link.id:
            yield link


def _children(m: Mechanism) -> Iterator[Link]:
    listed: set[int] = set()
    for link in m._links.values():
        last = None
        for child in link.children:
            if child.parent is not link or child not in m or child.id in listed:
                yield link
                return  # the list of brothers may go round for ever
            listed.add(child.id)
            last = child
        if link._last_child is not last:
            yield link
    yield from (link for link in _all_but_ground(m) if link.id not in listed)


def _names(m: Mechanism) -> Iterator[Link | str]:
    for link in m._links.values():
        if m._by_name.get(link.name) is not link:
            yield link
        if link.joint is not None and (link.joint.name is None or m._by_joint.get(link.joint.name) is not link):
            yield link
    yield from (name for name, link in m._by_name.items() if link not in m or link.name != name)
    for name, link in m._by_joint.items():
        if link not in m or link.joint is None or link.joint.name != name:
            yield name


def _virtual_links(m: Mechanism) -> Iterator[Link]:
    for link in m._links.values():
        if link.real is not None and (link.real not in m or link.real.is_virtual or link.child is not None):
            yield link


def _masses(m: Mechanism) -> Iterator[Link]:
    for link in m._links.values():
        if (link.is_ground or link.is_virtual) and link.inertia.mass != 0.0:
            yield link


def _frames(m: Mechanism) -> Iterator[str]:
    for name, frame in m._frames.items():
        carrier = m._by_name.get(frame.link)
        if carrier is None or carrier.is_virtual or name in m._by_name:
            yield name


def _couplings(m: Mechanism) -> Iterator[str]:
    leads: dict[str, str] = {}
    for name, coupling in m._couplings.items():
        for joint in (coupling.joint, coupling.to):
            link = m._by_joint.get(joint)
            if link is None or link.is_virtual or link.joint is None or link.joint.n_v != 1:
                yield name
        chain = {coupling.joint}
        leader: str | None = coupling.to
        while leader is not None:
            if leader in chain:
                yield name
                break
            chain.add(leader)
            leader = leads.get(leader)
        if coupling.joint in leads or name != coupling.name or name in m._by_joint:
            yield name
        leads[coupling.joint] = coupling.to


def _contacts(m: Mechanism) -> Iterator[str]:
    for name, surface in m._surfaces.items():
        carrier = m._by_name.get(surface.link)
        if name != surface.name or carrier is None or carrier.is_virtual:
            yield name
        yield from (name for link in surface.touched_by or () if link not in m._by_name or m.link(link).is_virtual)
    yield from (link for link in m._contact_shapes if link not in m._by_name or m.link(link).is_virtual)


def _all_but_ground(m: Mechanism) -> Iterator[Link]:
    return (link for link in m._links.values() if link is not m.ground)


# Order matters: a rule may rely on those before it.
RULES: dict[str, Rule] = {
    'Ground has id 0 and the name "ground", and has no parent, brother, real link or joint.': _ground,
    "Ids are unique, grow in the order of the links, and are smaller than the next id.": _ids,
    "Every link but ground has a joint, and a parent in the mechanism.": _parents_and_joints,
    "No link is its own ancestor.": _ancestors,
    "A parent has a smaller id than its children.": _order,
    "The children that a link lists are those that have it as parent, each once, and it knows the last.": _children,
    "Every link name and every joint name leads to its own link, and no other names exist.": _names,
    "Every virtual link has a real link in the mechanism, and no children.": _virtual_links,
    "Ground and virtual links have no mass.": _masses,
    "Every frame lies on ground or on a real link, and no link has its name.": _frames,
    "A coupling ties two joints of the tree that have one freedom each, and no joint follows two others or itself.": (
        _couplings
    ),
    "Surfaces are fixed to ground or real links, and touched by real links; contact shapes are of real links.": (
        _contacts
    ),
}
