"""Tree part of a layout, reused while only loops change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import compress, count
from operator import is_not, ne
from typing import Any

import numpy as np

from varichain.layout.specs import GROUND_SPEC, link_spec
from varichain.layout.workspace import WorkspacePool, tree_workspace
from varichain.mechanism.joint import Joint
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array


@dataclass(frozen=True, slots=True)
class JointSlot:
    """Place of one joint's coordinates in q and v.

    Attributes:
        name: Name of the joint.
        kind: Its type in lower case, e.g. "spherical".
        q: Slice of the coordinates.
        v: Slice of the freedoms.
        coordinates: Label of every freedom.
        has_quaternion: Whether its coordinates begin with a unit quaternion.
        actuated: Whether an actuator drives it.
    """

    name: str
    kind: str
    q: slice
    v: slice
    coordinates: tuple[str, ...]
    has_quaternion: bool
    actuated: bool = field(compare=False)  # says nothing about coordinates


@dataclass(frozen=True, eq=False)
class Tree:
    """Frozen description of a tree of links.

    Attributes:
        joints: Joints in the order of the links' ids; q and v are the concatenation of their coordinates.
        parents: Name of the link that each of these joints' links hangs on.
        n_q, n_v: Number of coordinates and of freedoms.
        link_index: Row of every link by name, ground included as row 0.
        specs: What kernels build bodies, freedoms and links from: a record of each link, ground first.
        gravity: (3,) [m/s^2], for the same purpose.
        rank_tolerance: Of the loops' rows.
    """

    joints: tuple[Joint, ...]
    parents: tuple[str, ...]
    n_q: int
    n_v: int
    link_index: dict[str, int]
    specs: bytes
    gravity: Array
    rank_tolerance: float

    # What follows is worked out when it is first asked for: a structure change pays for none of it.

    @cached_property
    def slots(self) -> tuple[JointSlot, ...]:
        """Slot of every joint, in order."""
        return slots_of(self.joints, 0, 0)

    @cached_property
    def slot_by_name(self) -> dict[str, JointSlot]:
        """Slot of every joint by name."""
        return {slot.name: slot for slot in self.slots}

    @cached_property
    def q_zero(self) -> Array:
        """Coordinates of the zero configuration (n_q,), read-only."""
        q_zero = np.array([number for joint in self.joints for number in joint.zero_q()])
        q_zero.setflags(write=False)
        return q_zero

    @cached_property
    def moving_mass(self) -> float:
        """Mass of all that can move [kg]."""
        return float(self.workspaces.of_thread.array("bodies")["mass"].sum())

    @cached_property
    def massless_link(self) -> str | None:
        """Name of a link that can move although nothing it carries has mass or armature; None if all do."""
        row = self.workspaces.of_thread.massless
        return list(self.link_index)[row] if row else None

    @property
    def workspaces(self) -> WorkspacePool:
        """Workspaces of the tree without loops, one for each thread that computes.

        One pool, whoever comes first: a pool that two threads replaced would free memory that a kernel works on.
        """
        pool = self.__dict__.get("_pool")
        if pool is None:
            pool = self.__dict__.setdefault("_pool", WorkspacePool(tree_workspace, self.specs, self.gravity))
        return pool  # type: ignore[no-any-return]

    def fits(self, other: Tree) -> bool:
        """Whether coordinates of this tree mean the same in the other: equal joints in equal order."""
        if other is self or other is self.__dict__.get("_fitting"):
            return True
        fits = len(self.joints) == len(other.joints) and not self.changed_joints(other)
        if fits:
            self.__dict__["_fitting"] = other  # every call with an older state asks
        return fits

    def changed_joints(self, other: Tree) -> list[int]:
        """Indices of joints that mean something else in the other tree: by name, kind, or the link they hang on."""
        rehung = set(compress(count(), map(ne, self.parents, other.parents)))
        changed = set()
        for i in compress(count(), map(is_not, self.joints, other.joints)):
            joint, was = self.joints[i], other.joints[i]
            if joint.name != was.name or joint.kind != was.kind:
                changed.add(i)
        return sorted(changed | rehung)

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle without what was worked out from the fields."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def tree_of(mechanism: Mechanism) -> Tree:
    """Tree of the mechanism as it is now; built once until the next edit of the tree."""
    tree = mechanism._tree
    if tree is None:
        tree = mechanism._tree = _new_tree(mechanism)
    return tree  # type: ignore[no-any-return]


def slots_of(joints: Iterable[Joint], n_q: int, n_v: int) -> tuple[JointSlot, ...]:
    """Slots of joints, from n_q and n_v on."""
    slots = []
    for joint in joints:
        q, v = slice(n_q, n_q + joint.n_q), slice(n_v, n_v + joint.n_v)
        name, actuated = str(joint.name), bool(joint.actuated)
        slots.append(JointSlot(name, joint.kind, q, v, joint.coordinates, joint.has_quaternion, actuated))
        n_q, n_v = q.stop, v.stop
    return tuple(slots)


def _new_tree(mechanism: Mechanism) -> Tree:
    links, rows = mechanism.links, mechanism._rows
    joints = tuple([link.joint for link in links if link.joint is not None])
    return Tree(
        joints,
        tuple([link.parent.name for link in links if link.parent is not None]),
        sum([joint.n_q for joint in joints]),
        sum([joint.n_v for joint in joints]),
        rows,
        b"".join([GROUND_SPEC, *[link._spec or link_spec(link, rows) for link in links]]),
        mechanism.gravity.copy(),
        mechanism.rank_tolerance,
    )
