"""Connections: virtual links that close loops [NY, IV-B and V-B]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from varichain.errors import DuplicateNameError, InputError, StructureError
from varichain.mechanism.arguments import checked_loop_joint
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link
from varichain.spatial.checks import name_string
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism

Place = Pose | Sequence[float] | NDArray[np.float64]

_ORIGIN = Pose()
_MASSLESS = Inertia.zero()


def add_virtual_link(
    m: Mechanism, a: Link, b: Link, joint: Joint, at: Place | None, at_other: Place | None, name: str | None
) -> Link:
    """Add a virtual link of `a` as a child of `b`; its frame is the joint frame, at `at` in a's frame."""
    if a is b:
        raise StructureError(f"link {a.name!r} cannot be connected to itself; name two different links")
    for link in (a, b):
        if link.is_virtual:
            raise StructureError(f"{link!r} is a copy; connect its real link {link.real!r}")
    if at_other is None:
        raise InputError(
            f"connecting {a.name!r} to {b.name!r}: give `at_other`, the joint frame in {b.name!r}, or `state`, which "
            "tells where the links are now"
        )
    checked = checked_loop_joint(joint)
    named = replace(checked, name=_joint_name(m, a, b, name if name is not None else checked.name))
    place = _ORIGIN if at is None else Pose.coerce(at, "at")
    link = Link(
        m._next_id,
        _link_name(m, f"{a.name} ({named.name})"),
        named,
        Pose.coerce(at_other, "at_other"),
        _MASSLESS,
        real=a,
        on_real=place,
    )
    m._hang(link, b)
    return link


def _joint_name(m: Mechanism, a: Link, b: Link, name: str | None) -> str:
    """The name as given, which must be free, or "a to b" with a number if need be."""
    if name is not None:
        if name_string(name, "name of the connection") in m._by_joint:
            raise DuplicateNameError("joint", name)
        return name
    return _numbered(f"{a.name} to {b.name}", m._by_joint)


def _link_name(m: Mechanism, name: str) -> str:
    return _numbered(name, m._by_name)


def _numbered(name: str, taken: dict[str, Link]) -> str:
    """The name, or the name with the first number that makes it unique."""
    if name not in taken:
        return name
    number = 2
    while f"{name} {number}" in taken:
        number += 1
    return f"{name} {number}"
