"""Layout: where every joint's coordinates, every link and every loop stand in the arrays of one structure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import UnknownNameError
from varichain.kernels.tables import ENTITIES
from varichain.layout.build import Memory, tree_memory, whole_memory
from varichain.layout.specs import ROWS
from varichain.layout.workspace import WorkspacePool
from varichain.mechanism.coupling import Coupling
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.pose import Pose

Array = NDArray[np.float64]


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


@dataclass(frozen=True, slots=True, eq=False)
class LoopSlot:
    """One loop: the joint that closes it, its rows, and its joint's place in v_all.

    Attributes:
        slot: The virtual joint's place in q_all and v_all, behind the tree's coordinates.
        link_A: Name of the real link.
        link_B: Name of the link that the virtual link hangs on.
        on_A: Frame A, the virtual link's, in the frame of link A.
        on_B: Frame B, the joint's, in the frame of link B.
        rows: Slice of its rows.
        joint: The virtual joint.
    """

    slot: JointSlot
    link_A: str
    link_B: str
    on_A: Pose
    on_B: Pose
    rows: slice
    joint: Joint

    @property
    def name(self) -> str:
        """Name of the virtual joint."""
        return self.slot.name


@dataclass(frozen=True, slots=True, eq=False)
class CouplingSlot:
    """One coupling: the joint that follows, the one that leads, and its row.

    Attributes:
        name: Name of the coupling.
        k, k_to: Freedoms of the joint that follows and of the one that leads.
        q, q_to: Their coordinates' places in q.
        multiplier, offset: q[q] = multiplier q[q_to] + offset.
        rows: Slice of its one row, behind those of the loops.
    """

    name: str
    k: int
    k_to: int
    q: int
    q_to: int
    multiplier: float
    offset: float
    rows: slice


@dataclass(frozen=True, eq=False)
class Layout:
    """Frozen description of one structure; an edit of the mechanism makes the next one.

    Attributes:
        mechanism_name: Name of the mechanism, for messages.
        revision: Revision of the mechanism that this is the layout of.
        joints: Joints of the tree in the order of the links' ids; q and v are the concatenation of their coordinates.
        parents: Name of the link that each of these joints' links hangs on.
        n_q, n_v: Number of coordinates and of freedoms of the tree.
        link_index: Row of every link by name, ground included as row 0.
        connections: Of each loop, in the order of the virtual links' ids: its joint, the names of the real link and of
            the link that the virtual one hangs on, and the joint frame on both.
        ties: The couplings.
        n_rows: Number of rows of all loops and couplings.
        memory: Arrays as the kernels want them, read-only.
        massless_link: Name of a link that can move although nothing it carries has mass or armature; None if all do.
    """

    mechanism_name: str
    revision: int
    joints: tuple[Joint, ...]
    parents: tuple[str, ...]
    n_q: int
    n_v: int
    link_index: dict[str, int]
    connections: tuple[tuple[Joint, str, str, Pose, Pose], ...]
    ties: tuple[Coupling, ...]
    n_rows: int
    memory: Memory
    massless_link: str | None

    # What follows is worked out when it is first asked for: a structure change pays for none of it.

    @cached_property
    def slots(self) -> tuple[JointSlot, ...]:
        """Slot of every tree joint, in order."""
        return _slots(self.joints, 0, 0)

    @cached_property
    def loops(self) -> tuple[LoopSlot, ...]:
        """One per loop, in the order of the virtual links' ids."""
        slots = _slots((connection[0] for connection in self.connections), self.n_q, self.n_v)
        loops, first = [], 0
        for (joint, link_A, link_B, on_A, on_B), slot in zip(self.connections, slots, strict=True):
            rows = slice(first, first + len(ROWS[joint.kind]))
            loops.append(LoopSlot(slot, link_A, link_B, on_A, on_B, rows, joint))
            first = rows.stop
        return tuple(loops)

    @cached_property
    def couplings(self) -> tuple[CouplingSlot, ...]:
        """One per coupling, oldest first."""
        slots, first = [], self.n_rows - len(self.ties)
        for row, tie in enumerate(self.ties, start=first):
            joint, to = self.slot(tie.joint), self.slot(tie.to)
            places = joint.v.start, to.v.start, joint.q.start, to.q.start
            slots.append(CouplingSlot(tie.name, *places, tie.multiplier, tie.offset, slice(row, row + 1)))
        return tuple(slots)

    @cached_property
    def constraints(self) -> tuple[LoopSlot | CouplingSlot, ...]:
        """All that has rows: loops, then couplings."""
        return (*self.loops, *self.couplings)

    @property
    def is_tree(self) -> bool:
        """Whether the joints are free of each other: no loop, no coupling."""
        return not self.connections and not self.ties

    @cached_property
    def q_zero(self) -> Array:
        """Coordinates of the zero configuration (n_q,), read-only."""
        q_zero = np.array([number for joint in self.joints for number in joint.zero_q()])
        q_zero.setflags(write=False)
        return q_zero

    @cached_property
    def n_all(self) -> int:
        """Number of freedoms of all joints, virtual ones included (N_J)."""
        return self.n_v + sum(joint.n_v for joint, *_ in self.connections)

    @cached_property
    def slot_by_name(self) -> dict[str, JointSlot]:
        """Slot of every tree joint by name."""
        return {slot.name: slot for slot in self.slots}

    @cached_property
    def all_slots(self) -> tuple[JointSlot, ...]:
        """Slots of all joints in q_all and v_all: the tree's, then the virtual ones."""
        return self.slots + tuple(loop.slot for loop in self.loops)

    @cached_property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays in `memory` by name, read-only."""
        return MappingProxyType({name: self.memory.array(name) for name in ENTITIES})

    @cached_property
    def moving_mass(self) -> float:
        """Mass of all that can move [kg]."""
        return float(self.arrays["bodies"]["mass"].sum())

    @property
    def workspaces(self) -> WorkspacePool:
        """Workspaces of this layout, one for each thread that computes.

        One pool, whoever comes first: a pool that two threads replaced would free memory that a kernel works on.
        """
        pool = self.__dict__.get("_pool")
        if pool is None:
            pool = self.__dict__.setdefault("_pool", WorkspacePool(self.memory))
        return pool  # type: ignore[no-any-return]

    def slot(self, joint: str) -> JointSlot:
        """Slot of a tree joint; UnknownNameError with the valid names if there is none."""
        try:
            return self.slot_by_name[joint]
        except (KeyError, TypeError):
            raise UnknownNameError("joint", joint, self.slot_by_name) from None

    def freedom_name(self, k: int) -> str:
        """Name of freedom k of v_all, such as "hip.wx"; the joint's alone where it has one freedom."""
        for slot in self.all_slots:
            if slot.v.start <= k < slot.v.stop:
                label = slot.coordinates[k - slot.v.start]
                return slot.name if len(slot.coordinates) == 1 else f"{slot.name}.{label}"
        raise IndexError(f"freedom {k} of {self.n_all}")

    def same_coordinates(self, other: Layout) -> bool:
        """Whether a state of the other layout means the same here: joints of equal names and kinds in equal order."""
        if self.joints is other.joints:
            return True
        return len(self.joints) == len(other.joints) and all(
            self.has_same_joint(other, i) for i in range(len(self.joints))
        )

    def has_same_joint(self, other: Layout, i: int) -> bool:
        """Whether joint i means the same in both: its name, its kind, and the link that it hangs on."""
        mine, others = self.joints[i], other.joints[i]
        same = mine is others or (mine.name == others.name and mine.kind == others.kind)
        return same and self.parents[i] == other.parents[i]

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle without what addresses memory of this process."""
        kept = {item.name: getattr(self, item.name) for item in fields(self)}
        return kept | {"memory": (self.memory.data, self.memory.lengths)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set what __getstate__ kept, in memory of its own."""
        data, lengths = state["memory"]
        self.__dict__.update(state | {"memory": _locked(Memory(data.copy(), lengths))})


def layout_of(mechanism: Mechanism) -> Layout:
    """Layout of the mechanism as it is now; built once per revision."""
    layout = mechanism._layout
    if layout is None:
        layout = mechanism._layout = _new_layout(mechanism)
    return layout  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class _Tree:
    """What a layout owes to the tree alone: kept through changes of loops."""

    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    parents: tuple[str, ...]
    n_q: int
    n_v: int
    row: dict[Link, int]
    link_index: dict[str, int]
    memory: Memory
    massless_link: str | None


def _new_tree(mechanism: Mechanism) -> _Tree:
    links, before = mechanism.links, mechanism._tree_before
    if before is not None and before.links is links:  # a cut or an edited joint: the same links in the same rows
        row, link_index = before.row, before.link_index
    else:
        row = {link: i for i, link in enumerate((mechanism.ground, *links))}
        link_index = {link.name: i for link, i in row.items()}
    joints = tuple([link.joint for link in links if link.joint is not None])
    n_q, n_v = sum([joint.n_q for joint in joints]), sum([joint.n_v for joint in joints])
    memory, massless = tree_memory(links, row, n_v, mechanism.gravity)
    name = links[massless - 1].name if massless else None
    parents = tuple([link.parent.name for link in links if link.parent is not None])
    return _Tree(links, joints, parents, n_q, n_v, row, link_index, memory, name)


def _new_layout(mechanism: Mechanism) -> Layout:
    tree = mechanism._tree
    if tree is None:
        tree = mechanism._tree = _new_tree(mechanism)
    virtual = mechanism.virtual_links
    by_joint = mechanism._by_joint
    ties = [(tie, by_joint[tie.joint], by_joint[tie.to]) for tie in mechanism.couplings]
    n_rows = sum([len(ROWS[link.joint.kind]) for link in virtual if link.joint is not None]) + len(ties)
    return Layout(
        mechanism_name=mechanism.name,
        revision=mechanism.revision,
        joints=tree.joints,
        parents=tree.parents,
        n_q=tree.n_q,
        n_v=tree.n_v,
        link_index=tree.link_index,
        connections=tuple([_connection(link) for link in virtual]),
        ties=mechanism.couplings,
        n_rows=n_rows,
        memory=_locked(whole_memory(tree.memory, virtual, tree.row, ties)),
        massless_link=tree.massless_link,
    )


def _locked(memory: Memory) -> Memory:
    memory.data.setflags(write=False)
    return memory


def _connection(link: Link) -> tuple[Joint, str, str, Pose, Pose]:
    assert link.joint is not None and link.real is not None and link.parent is not None
    return link.joint, link.real.name, link.parent.name, link.on_real, link.at


def _slots(joints: Iterable[Joint], n_q: int, n_v: int) -> tuple[JointSlot, ...]:
    """Slots of joints, from n_q and n_v on."""
    slots = []
    for joint in joints:
        q, v = slice(n_q, n_q + joint.n_q), slice(n_v, n_v + joint.n_v)
        name, actuated = str(joint.name), bool(joint.actuated)
        slots.append(JointSlot(name, joint.kind, q, v, joint.coordinates, joint.has_quaternion, actuated))
        n_q, n_v = q.stop, v.stop
    return tuple(slots)
