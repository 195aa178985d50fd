"""Place of each joint of a structure in q and v, from its description alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.mechanism.joint import JOINT_TYPES, Joint

Index = NDArray[np.intp]

_QUATERNION = ("qw", "qx", "qy", "qz", "px", "py", "pz")


@dataclass(frozen=True)
class Slot:
    """A joint of the tree: its class, and its slices of q and v."""

    joint: type[Joint]
    q: slice
    v: slice

    def labels(self, block: str) -> tuple[str, ...]:
        """Names of its columns in q, v or tau: "q", or "qw", ..., or "v.wx", ..."""
        names = self.joint.coordinates
        if block == "q" and self.joint.has_quaternion:
            return _QUATERNION[: self.joint.n_q]
        return (block,) if len(names) == 1 else tuple(f"{block}.{name}" for name in names)


@dataclass(frozen=True)
class Slots:
    """All joints of a structure.

    Attributes:
        joints: Slot of every joint of the tree by name, in the order of q and v.
        loops: Names of the joints that close loops, in order.
        couplings: Names of the couplings, in order.
        n_q, n_v: Numbers of coordinates and freedoms of the tree.
    """

    joints: dict[str, Slot]
    loops: tuple[str, ...]
    couplings: tuple[str, ...]
    n_q: int
    n_v: int

    @cached_property
    def turning(self) -> tuple[Slot, ...]:
        """Joints whose coordinates begin with a quaternion."""
        return tuple(slot for slot in self.joints.values() if slot.joint.has_quaternion)

    @cached_property
    def plain(self) -> tuple[Index, Index]:
        """Where the coordinates of all other joints are in q, and in the same order in v."""
        others = [slot for slot in self.joints.values() if not slot.joint.has_quaternion]
        q = [i for slot in others for i in range(slot.q.start, slot.q.stop)]
        v = [i for slot in others for i in range(slot.v.start, slot.v.stop)]
        return np.array(q, dtype=np.intp), np.array(v, dtype=np.intp)


def slots_from(description: Any) -> Slots:
    """The slots of a described structure.

    Raises:
        InputError: It is no description of a mechanism, or has a joint of a type that is not known.
    """
    try:
        links = tuple([("real" in link, link["joint"]["name"], link["joint"]["type"]) for link in description["links"]])
        return _slots(links, tuple([coupling["name"] for coupling in description["couplings"]]))
    except (KeyError, TypeError) as error:
        found = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(
            f"no description of a mechanism, as varichain.mechanism.description(m) gives: {found}"
        ) from None


@lru_cache(maxsize=1000)
def _slots(links: tuple[tuple[bool, str, str], ...], couplings: tuple[str, ...]) -> Slots:
    """The slots of joints, given whether their links are virtual, their names and their types; shared among epochs."""
    joints: dict[str, Slot] = {}
    n_q = n_v = 0
    for is_virtual, name, kind in links:
        if not is_virtual:
            if kind not in JOINT_TYPES:
                raise InputError(
                    f"joint {name!r} is of type {kind!r}, which is not defined here; types: {', '.join(JOINT_TYPES)}. "
                    "Define or import its class before"
                )
            joint = JOINT_TYPES[kind]
            joints[name] = Slot(joint, slice(n_q, n_q + joint.n_q), slice(n_v, n_v + joint.n_v))
            n_q, n_v = n_q + joint.n_q, n_v + joint.n_v
    return Slots(joints, tuple(name for is_virtual, name, _ in links if is_virtual), couplings, n_q, n_v)
