"""Couplings: joints that follow other joints, q = multiplier q_to + offset, as gears, belts and mimic joints do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from varichain.errors import DuplicateNameError, StructureError
from varichain.mechanism.arguments import numbered
from varichain.mechanism.joint import Joint
from varichain.mechanism.log import Edit
from varichain.spatial.checks import finite_scalar, name_string

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism


@dataclass(frozen=True)
class Coupling:
    """A joint that follows another: q_joint = multiplier q_to + offset [HYR, (15)].

    Attributes:
        name: Unique among the couplings and joints of a mechanism.
        joint: Name of the joint that follows.
        to: Name of the joint that leads; it may follow a third one.
        multiplier: [coordinate of `joint` per coordinate of `to`].
        offset: Coordinate of `joint` where that of `to` is zero [rad or m].
    """

    name: str
    joint: str
    to: str
    multiplier: float
    offset: float

    def __str__(self) -> str:
        """As an equation."""
        offset = f" {'-' if self.offset < 0.0 else '+'} {abs(self.offset):.6g}" if self.offset else ""
        return f"{self.joint} = {self.multiplier:.6g} {self.to}{offset}"


def add_coupling(m: Mechanism, joint: str, to: str, multiplier: float, offset: float, name: str | None) -> Coupling:
    """Enter a coupling; the joint that follows loses its actuator.

    Raises:
        StructureError: A joint would follow itself, follows another already, has not one freedom, or closes a loop.
    """
    follower, leader = _tree_joint(m, joint), _tree_joint(m, to)
    _refuse_cycle(m, joint, to)
    coupling = Coupling(
        _free_name(m, joint, to, name),
        joint,
        to,
        finite_scalar(multiplier, f"multiplier of the coupling of {joint!r} to {to!r}"),
        finite_scalar(offset, f"offset of the coupling of {joint!r} to {to!r}"),
    )
    for model in (follower, leader):
        if model.n_v != 1:
            raise StructureError(
                f"joint {model.name!r} ({model.kind}) has {model.n_v} freedoms: couplings tie revolute, prismatic and "
                "screw joints"
            )
    m._couplings = {**m._couplings, coupling.name: coupling}
    if follower.actuated:
        m.link_of_joint(joint)._edit(joint=follower._as(actuated=False), _spec=None)
    m._edited(tree=bool(follower.actuated))
    return coupling


def coupling_edit(m: Mechanism, coupling: Coupling, kind: str = "couple", impulse: float | None = None) -> Edit:
    """What the log says of a coupling that is made, with an impulse if that was in motion, or cut."""
    return Edit(
        kind,
        coupling.name,
        coupling.joint,
        coupling.to,
        m.joint(coupling.joint),
        impulse=None if impulse is None else (impulse,),
        multiplier=coupling.multiplier,
        offset=coupling.offset,
    )


def cut_coupling(m: Mechanism, name: str) -> Edit:
    """Take a coupling away; the joint stays passive."""
    edit = coupling_edit(m, m._couplings[name], "uncouple")
    m._couplings = {other: coupling for other, coupling in m._couplings.items() if other != name}
    m._edited(tree=False)
    return edit


def couplings_of(m: Mechanism, joint: str) -> list[Coupling]:
    """Couplings in which a joint follows or leads."""
    return [coupling for coupling in m._couplings.values() if joint in (coupling.joint, coupling.to)]


def rename_in_couplings(m: Mechanism, old: str, new: str) -> None:
    """Let couplings know a joint's new name."""
    for coupling in couplings_of(m, old):
        joint, to = (new if joint == old else joint for joint in (coupling.joint, coupling.to))
        m._couplings = {**m._couplings, coupling.name: replace(coupling, joint=joint, to=to)}


def resolved(couplings: Iterable[Coupling]) -> dict[str, tuple[str, float, float]]:
    """Of every joint that follows: the joint at the end of its chain, and multiplier and offset with respect to it."""
    direct = {coupling.joint: coupling for coupling in couplings}
    found: dict[str, tuple[str, float, float]] = {}
    for joint in direct:
        chain = [joint]
        while chain[-1] in direct and chain[-1] not in found:
            chain.append(direct[chain[-1]].to)
        leader, multiplier, offset = found.get(chain[-1], (chain[-1], 1.0, 0.0))
        for follower in reversed(chain[:-1]):
            step = direct[follower]
            multiplier, offset = step.multiplier * multiplier, step.multiplier * offset + step.offset
            found[follower] = leader, multiplier, offset
    return found


def _tree_joint(m: Mechanism, name: str) -> Joint:
    link = m.link_of_joint(name)
    if link.is_virtual:
        raise StructureError(
            f"joint {name!r} closes a loop and has no coordinate of its own: couple joints of the tree"
        )
    return m.joint(name)


def _refuse_cycle(m: Mechanism, joint: str, to: str) -> None:
    if joint == to:
        raise StructureError(f"joint {joint!r} cannot follow itself")
    leads = {coupling.joint: coupling.to for coupling in m._couplings.values()}
    if joint in leads:
        raise StructureError(f"joint {joint!r} follows {leads[joint]!r} already: cut that coupling first")
    chain = [to]
    while chain[-1] in leads:
        chain.append(leads[chain[-1]])
        if chain[-1] == joint:
            raise StructureError(f"joint {joint!r} would follow itself: {' -> '.join([joint, *chain])}")


def _free_name(m: Mechanism, joint: str, to: str, name: str | None) -> str:
    if name is None:
        return numbered(f"{joint} follows {to}", m._joint_names)
    if name_string(name, "name of the coupling") in m._joint_names:
        raise DuplicateNameError("coupling or joint", name)
    return name
