"""Layout: where every joint's coordinates, every link and every loop stand in the arrays of one structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from varichain.errors import UnknownNameError
from varichain.kernels.tables import Entity
from varichain.layout.specs import Connection, connection_of, coupling_spec
from varichain.layout.tree import JointSlot, Tree, slots_of, tree_of
from varichain.layout.workspace import Workspace, WorkspacePool, loop_workspace, tree_workspace
from varichain.mechanism.coupling import Coupling
from varichain.mechanism.joint import Joint
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose


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
        tree: The tree's part, which structures that differ in loops alone share.
        connections: What closes each loop, in the order of the virtual links' ids.
        ties: The couplings, oldest first; their rows come after those of the loops.
    """

    mechanism_name: str
    revision: int
    tree: Tree
    connections: tuple[Connection, ...]
    ties: tuple[Coupling, ...]

    @property
    def is_tree(self) -> bool:
        """Whether the joints are free of each other: no loop, no coupling."""
        return not self.connections and not self.ties

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joints of the tree in the order of the links' ids; q and v are the concatenation of their coordinates."""
        return self.tree.joints

    @property
    def n_q(self) -> int:
        """Number of coordinates of the tree."""
        return self.tree.n_q

    @property
    def n_v(self) -> int:
        """Number of freedoms of the tree."""
        return self.tree.n_v

    @property
    def link_index(self) -> dict[str, int]:
        """Row of every link by name, ground included as row 0."""
        return self.tree.link_index

    @property
    def slots(self) -> tuple[JointSlot, ...]:
        """Slot of every tree joint, in order."""
        return self.tree.slots

    @property
    def q_zero(self) -> Array:
        """Coordinates of the zero configuration (n_q,), read-only."""
        return self.tree.q_zero

    @property
    def rank_tolerance(self) -> float:
        """The mechanism's: part of a row that must be beyond the other rows, or it counts as redundant."""
        return self.tree.rank_tolerance

    @property
    def moving_mass(self) -> float:
        """Mass of all that can move [kg]."""
        return self.tree.moving_mass

    @property
    def massless_link(self) -> str | None:
        """Name of a link that can move although nothing it carries has mass or armature; None if all do."""
        return self.tree.massless_link

    # What follows is worked out when it is first asked for: a structure change pays for none of it.

    @cached_property
    def loops(self) -> tuple[LoopSlot, ...]:
        """One per loop, in the order of the virtual links' ids."""
        slots = slots_of((connection.joint for connection in self.connections), self.n_q, self.n_v)
        loops, first = [], 0
        for connection, slot in zip(self.connections, slots, strict=True):
            joint, link_A, link_B, on_A, on_B = connection[:5]
            rows = slice(first, first + len(joint.rows or ()))
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
    def n_rows(self) -> int:
        """Number of rows of all loops and couplings."""
        return sum([len(connection.joint.rows or ()) for connection in self.connections]) + len(self.ties)

    @cached_property
    def n_all(self) -> int:
        """Number of freedoms of all joints, virtual ones included (N_J)."""
        return self.n_v + sum([connection.joint.n_v for connection in self.connections])

    @cached_property
    def all_slots(self) -> tuple[JointSlot, ...]:
        """Slots of all joints in q_all and v_all: the tree's, then the virtual ones."""
        return self.slots + tuple(loop.slot for loop in self.loops)

    @cached_property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays by name as kernels find them before they compute anything, read-only."""
        workspace = self.new_workspace()
        for data in (workspace.tree, workspace.loops):
            data.setflags(write=False)
        return MappingProxyType({entity.name.lower(): workspace.array(entity.name) for entity in Entity})

    @property
    def workspaces(self) -> WorkspacePool:
        """Workspaces of this layout, one for each thread that computes; see `Tree.workspaces`."""
        if self.is_tree:
            return self.tree.workspaces
        pool = self.__dict__.get("_pool")
        if pool is None:
            pool = self.__dict__.setdefault("_pool", WorkspacePool(_with_loops, self.tree, self.connections, self.ties))
        return pool  # type: ignore[no-any-return]

    def new_workspace(self, modal: bytes = b"") -> Workspace:
        """A workspace that shares nothing with any other; `modal` are records of loops that open and close by mode."""
        tree = tree_workspace(self.tree.specs, self.tree.gravity)
        if self.is_tree and not modal:
            return tree
        specs = _loop_specs(self.tree, self.connections, self.ties) + modal
        return loop_workspace(tree, specs, self.tree.rank_tolerance)

    def slot(self, joint: str) -> JointSlot:
        """Slot of a tree joint; UnknownNameError with the valid names if there is none."""
        try:
            return self.tree.slot_by_name[joint]
        except (KeyError, TypeError):
            raise UnknownNameError("joint", joint, self.tree.slot_by_name) from None

    def freedom_name(self, k: int) -> str:
        """Name of freedom k of v_all, such as "hip.wx"; the joint's alone where it has one freedom."""
        for slot in self.all_slots:
            if slot.v.start <= k < slot.v.stop:
                label = slot.coordinates[k - slot.v.start]
                return slot.name if len(slot.coordinates) == 1 else f"{slot.name}.{label}"
        raise IndexError(f"freedom {k} of {self.n_all}")

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle without what was worked out from the fields."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def layout_of(mechanism: Mechanism) -> Layout:
    """Layout of the mechanism as it is now; built once per revision."""
    layout = mechanism._layout
    if layout is None:
        rows = mechanism._rows
        connections = tuple([link._spec or connection_of(link, rows) for link in mechanism.virtual_links])
        layout = Layout(mechanism.name, mechanism.revision, tree_of(mechanism), connections, mechanism.couplings)
        mechanism._layout = layout
    return layout  # type: ignore[no-any-return]


def _with_loops(tree: Tree, connections: tuple[Connection, ...], ties: tuple[Coupling, ...]) -> Workspace:
    return loop_workspace(tree.workspaces.of_thread, _loop_specs(tree, connections, ties), tree.rank_tolerance)


def _loop_specs(tree: Tree, connections: tuple[Connection, ...], ties: tuple[Coupling, ...]) -> bytes:
    specs = b"".join([connection.spec for connection in connections])
    if ties:
        row = {joint.name: i for i, joint in enumerate(tree.joints, start=1)}  # that of the link which it carries
        specs += b"".join([coupling_spec(tie, row[tie.joint], row[tie.to]) for tie in ties])
    return specs
