"""Connections and cuts as structure: virtual links that close loops, links set free [NY, IV-B and V-B]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from varichain.errors import DuplicateNameError, InputError, StructureError
from varichain.mechanism.arguments import numbered
from varichain.mechanism.coupling import couplings_of, cut_coupling
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import Free
from varichain.mechanism.link import Link
from varichain.mechanism.log import Edit
from varichain.spatial.checks import instance
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism

Place = Pose | Sequence[float] | NDArray[np.float64]

_ORIGIN = Pose()
_MASSLESS = Inertia.zero()


def add_virtual_link(
    m: Mechanism, a: Link, b: Link, joint: Joint, at: Pose | None, at_other: Pose | None, name: str | None
) -> Link:
    """Add a virtual link of `a` as a child of `b`; its frame is the joint frame, at `at` in a's frame.

    Joint and name must be checked ones.
    """
    check_ends(a, b)
    if at_other is None:
        raise InputError(
            f"connecting {a.name!r} to {b.name!r}: give `at_other`, the joint frame in {b.name!r}, or `state`, which "
            "tells where the links are now"
        )
    named = joint._as(
        name=_joint_name(m, a, b, name if name is not None else joint.name),
        actuated=bool(joint.actuated),  # passive unless it says otherwise
    )
    link = Link(
        m._next_id,
        numbered(f"{a.name} ({named.name})", m._by_name),
        named,
        at_other,
        _MASSLESS,
        real=a,
        on_real=at or _ORIGIN,
    )
    m._hang(link, b)
    return link


def connection_edit(link: Link, impulse: tuple[float, ...] | None = None) -> Edit:
    """What the log says of a virtual link that has just been added, with the impulse (6,) that joined it in motion."""
    joint, real, parent = link.joint, link.real, link.parent
    assert joint is not None and real is not None and parent is not None
    return Edit("connect", str(joint.name), real.name, parent.name, joint, link.on_real, link.at, impulse)


def cut_joint(m: Mechanism, name: str) -> tuple[Edit, ...]:
    """Cut a joint: a virtual link is deleted, a link of the tree is set free with all that it carries [NY, Fig. 15].

    The freed link hangs on the ground by a free joint that has its name; no link changes its name or id. Couplings with
    the joint end before it. The name of a coupling ends that coupling alone.
    """
    if instance(name, str, "joint") in m._couplings:
        return (cut_coupling(m, name),)
    link = m.link_of_joint(name)
    assert link.joint is not None and link.parent is not None
    if link.real is not None:
        edit = Edit("cut", name, link.real.name, link.parent.name, link.joint, link.on_real, link.at)
        m._take_off(link)
        return (edit,)
    if isinstance(link.joint, Free) and link.parent.is_ground:
        raise StructureError(f"{link!r} is free already: nothing holds joint {name!r}")
    ended = [cut_coupling(m, coupling.name) for coupling in couplings_of(m, name)]
    edit = Edit("cut tree", name, link.name, link.parent.name, link.joint)
    m._set_free(link)
    return (*ended, edit)


def check_ends(a: Link, b: Link) -> None:
    """Refuse ends that cannot be connected: one link, a virtual one, or two that fixed joints make one."""
    if a is b:
        raise StructureError(f"link {a.name!r} cannot be connected to itself; name two different links")
    for link in (a, b):
        if link.real is not None:
            raise StructureError(f"{link!r} is a copy; connect its real link {link.real!r}")
    if _carrier(a) is _carrier(b):
        raise StructureError(
            f"links {a.name!r} and {b.name!r} are rigidly one already: fixed joints hold them together"
        )


def _carrier(link: Link) -> Link:
    """The link that carries this one through fixed joints."""
    while link.parent is not None and link.joint is not None and link.joint.n_v == 0:
        link = link.parent
    return link


def _joint_name(m: Mechanism, a: Link, b: Link, name: str | None) -> str:
    """The name as given, which must be free, or "a to b" with a number if need be."""
    if name is not None:
        if name in m._joint_names:
            raise DuplicateNameError("joint", name)
        return name
    return numbered(f"{a.name} to {b.name}", m._joint_names)
