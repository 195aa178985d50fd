"""Layout: where every joint's coordinates, every link and every loop stand in the arrays of one structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import UnknownNameError
from varichain.layout.loops import ROWS, loop_arrays
from varichain.layout.tree import tree_records
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.layout.workspace import WorkspacePool

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


@dataclass(frozen=True, eq=False)
class Layout:
    """Frozen description of one structure; an edit of the mechanism makes the next one.

    Attributes:
        mechanism_name: Name of the mechanism, for messages.
        revision: Revision of the mechanism that this is the layout of.
        slots: One per tree joint, in the order of the links' ids; q and v are their concatenation.
        n_q, n_v: Number of coordinates and of freedoms of the tree.
        q_zero: Coordinates of the zero configuration (n_q,), read-only.
        link_index: Row of every link by name, ground included as row 0.
        loops: One per loop, in the order of the virtual links' ids.
        n_rows: Number of rows of all loops.
        arrays: Arrays as the kernels want them, by name, read-only.
        massless_link: Name of a link that can move although nothing it carries has mass or armature; None if all do.
    """

    mechanism_name: str
    revision: int
    slots: tuple[JointSlot, ...]
    n_q: int
    n_v: int
    q_zero: Array
    link_index: dict[str, int]
    loops: tuple[LoopSlot, ...]
    n_rows: int
    arrays: Mapping[str, NDArray[Any]]
    massless_link: str | None

    @property
    def n_all(self) -> int:
        """Number of freedoms of all joints, virtual ones included (N_J)."""
        return self.n_v + sum(loop.joint.n_v for loop in self.loops)

    @cached_property
    def moving_mass(self) -> float:
        """Mass of all links that can move [kg]."""
        return float(self.arrays["bodies"]["mass"].sum())

    @cached_property
    def slot_by_name(self) -> dict[str, JointSlot]:
        """Slot of every tree joint by name."""
        return {slot.name: slot for slot in self.slots}

    @cached_property
    def all_slots(self) -> tuple[JointSlot, ...]:
        """Slots of all joints in q_all and v_all: the tree's, then the virtual ones."""
        return self.slots + tuple(loop.slot for loop in self.loops)

    @cached_property
    def workspaces(self) -> WorkspacePool:
        """Workspaces of this layout, one for each thread that computes; the first import of numba."""
        from varichain.layout.workspace import WorkspacePool

        # one pool for all, even if two threads come first: kernels know no more of its memory than addresses
        return self.__dict__.setdefault("workspaces", WorkspacePool(self.arrays))  # type: ignore[no-any-return]

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
        """Whether a state of the other layout means the same here: equal joints in equal order."""
        return self.slots == other.slots

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle without workspaces: they hold addresses, valid in one process only."""
        state = {key: value for key, value in self.__dict__.items() if key != "workspaces"}
        return state | {"arrays": dict(self.arrays)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set what __getstate__ kept."""
        self.__dict__.update(state | {"arrays": _read_only(state["arrays"])})
        self.q_zero.setflags(write=False)  # copied and unpickled arrays come back writable


def layout_of(mechanism: Mechanism) -> Layout:
    """Layout of the mechanism as it is now; built once per revision."""
    layout = mechanism._layout
    if layout is None:
        layout = mechanism._layout = _new_layout(mechanism)
    return layout  # type: ignore[no-any-return]


def _new_layout(mechanism: Mechanism) -> Layout:
    links, virtual = mechanism.links, mechanism.virtual_links
    slots, n_q, n_v = _slots(links, 0, 0)
    virtual_slots, _, _ = _slots(virtual, n_q, n_v)
    q_zero = np.array([number for joint in mechanism.joints for number in joint.zero_q()])
    q_zero.setflags(write=False)
    tree = tree_records(mechanism.ground, links, mechanism.gravity)
    arrays = {"bodies": tree.bodies, "dofs": tree.dofs, "links": tree.links, **loop_arrays(virtual, tree)}
    loops, n_rows = _loops(virtual, virtual_slots)
    return Layout(
        mechanism_name=mechanism.name,
        revision=mechanism.revision,
        slots=slots,
        n_q=n_q,
        n_v=n_v,
        q_zero=q_zero,
        link_index={link.name: row for row, link in enumerate((mechanism.ground, *links))},
        loops=loops,
        n_rows=n_rows,
        arrays=_read_only(arrays),
        massless_link=tree.massless_link,
    )


def _slots(links: tuple[Link, ...], n_q: int, n_v: int) -> tuple[tuple[JointSlot, ...], int, int]:
    """Slots of the links' joints, from n_q and n_v on, and the numbers after them."""
    slots = []
    for link in links:
        joint = link.joint
        assert joint is not None
        q, v = slice(n_q, n_q + joint.n_q), slice(n_v, n_v + joint.n_v)
        slots.append(
            JointSlot(str(joint.name), joint.kind, q, v, joint.coordinates, joint.has_quaternion, bool(joint.actuated))
        )
        n_q, n_v = q.stop, v.stop
    return tuple(slots), n_q, n_v


def _loops(virtual: tuple[Link, ...], slots: tuple[JointSlot, ...]) -> tuple[tuple[LoopSlot, ...], int]:
    loops, n_rows = [], 0
    for link, slot in zip(virtual, slots, strict=True):
        assert link.real is not None and link.parent is not None and link.joint is not None
        rows = slice(n_rows, n_rows + len(ROWS[slot.kind]))
        loops.append(LoopSlot(slot, link.real.name, link.parent.name, link.on_real, link.at, rows, link.joint))
        n_rows = rows.stop
    return tuple(loops), n_rows


def _read_only(arrays: dict[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
    for array in arrays.values():
        array.setflags(write=False)
    return MappingProxyType(arrays)
