"""Mechanisms: links in a tree, editable, with stable names and ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.errors import DuplicateNameError, InputError, StructureError, UnknownNameError
from varichain.mechanism.arguments import checked_inertia, checked_joint, checked_loop_joint, checked_shapes, numbered
from varichain.mechanism.clone import links_from_rows, rows_from_links
from varichain.mechanism.connections import add_virtual_link, connection_edit, cut_joint
from varichain.mechanism.contact import (
    FRICTION,
    ContactShape,
    HalfSpace,
    Surface,
    SurfaceShape,
    checked_contact_shapes,
    contact_shapes_of,
    new_surface,
    surface_named,
)
from varichain.mechanism.coupling import Coupling, add_coupling, coupling_edit, rename_in_couplings
from varichain.mechanism.draw import drawing
from varichain.mechanism.frames import Frame, end_of, new_frame
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import Free
from varichain.mechanism.link import Link
from varichain.mechanism.log import StructureLog
from varichain.mechanism.shapes import Shape
from varichain.spatial.checks import finite_array, finite_scalar, name_string, positive_scalar, shown
from varichain.spatial.notebook import html_text
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.dynamics.prepare import Prepared
    from varichain.layout.state import State

Place = Pose | Sequence[float] | NDArray[np.float64]

_AT_ORIGIN = Pose()
_FREE = Free(actuated=False)
_LEAST_TOLERANCE, _MOST_TOLERANCE = 1e-12, 0.1
_MASSLESS = Inertia.zero()

RANK_TOLERANCE = 3e-7
"""Part of a row that must be beyond the other rows, or it counts as redundant, unless a mechanism has its own."""


class Mechanism:
    """A mechanism: the ground, and links that joints attach to it or to each other.

    Names and ids stay as they are through every edit; `revision` counts the edits. A refused edit changes nothing.

    Attributes:
        name: Any non-empty string.
        ground: The root, id 0, called "ground".
        revision: Number of edits so far.
        log: Every connection and cut.
        source: The file that it was loaded from, with notes; None if it was made by hand.
    """

    def __init__(self, name: str = "mechanism", gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        """Make a mechanism that is nothing but ground; gravity (3,) [m/s^2] is in ground's axes."""
        self.name = name_string(name, "name of the mechanism")
        self._gravity = finite_array(gravity, (3,), "gravity")
        self._rank_tolerance = RANK_TOLERANCE
        self.ground = Link(0, "ground", None, _AT_ORIGIN, _MASSLESS)
        self.revision = 0
        self._next_id = 1
        self._links: dict[int, Link] = {0: self.ground}  # by id: ground, real and virtual links
        self._by_name: dict[str, Link] = {"ground": self.ground}
        self._by_joint: dict[str, Link] = {}
        self._frames: dict[str, Frame] = {}
        self._couplings: dict[str, Coupling] = {}  # replaced, never changed: transactions keep the old
        self._surfaces: dict[str, Surface] = {}  # the same holds for these
        self._contact_shapes: dict[str, tuple[ContactShape, ...]] = {}  # by link
        self.source: Any = None  # set by the formats package
        self._layout: Any = None  # kept here by the layout package until the next edit
        self._tree: Any = None  # and this until the next edit of the tree
        self._real_links: tuple[Link, ...] | None = None  # worked out again when one is added
        self._row_of: dict[str, int] | None = None
        self._virtual_links: tuple[Link, ...] = ()
        self.log = StructureLog()

    # Edits

    @property
    def gravity(self) -> NDArray[np.float64]:
        """Acceleration of free fall (3,) [m/s^2] in ground's axes, read-only; set it as a whole."""
        return self._gravity

    @gravity.setter
    def gravity(self, gravity: ArrayLike) -> None:
        self._gravity = finite_array(gravity, (3,), "gravity")
        self._edited()

    @property
    def rank_tolerance(self) -> float:
        """Part of a loop's row that must be beyond all other rows, or it counts as redundant; 3e-7 by default.

        A part of the row itself, in the metric of the masses. The one threshold of all that decides on rank: mobility,
        assembly, dynamics, impacts and runs. Rows that count as redundant may stay open by as much [m or rad].
        """
        return self._rank_tolerance

    @rank_tolerance.setter
    def rank_tolerance(self, tolerance: float) -> None:
        tolerance = positive_scalar(tolerance, "rank_tolerance")
        if not _LEAST_TOLERANCE <= tolerance <= _MOST_TOLERANCE:
            raise InputError(
                f"rank_tolerance must be from {_LEAST_TOLERANCE:g}, below which rows are rounding, to "
                f"{_MOST_TOLERANCE:g}, not {tolerance:g}"
            )
        self._rank_tolerance = tolerance
        self._edited()

    def add_link(
        self,
        name: str,
        parent: str | Link | None = "ground",
        joint: Joint | None = None,
        at: Place = _AT_ORIGIN,
        inertia: Inertia | None = None,
        shapes: Shape | Iterable[Shape] = (),
    ) -> Link:
        """Hang a new link on `parent` through `joint`.

        Args:
            name: Name of the link, not yet taken.
            parent: Name of a link or a link of this mechanism; None for a free-floating link.
            joint: The joint, called like the link if it has no name; a free-floating link gets Free() by itself.
            at: Pose of the joint frame in the parent's frame, or its position [m].
            inertia: Inertia in the link's frame; massless if None.
            shapes: What the link looks like: one shape or several, in the link's frame.

        Raises:
            InputError: An argument is of the wrong kind.
            UnknownNameError, DuplicateNameError: `parent` does not exist; `name` or the joint's name is taken.
            StructureError: `parent` is the link itself or belongs to another mechanism.
        """
        self._check_new_link_name(name)
        if isinstance(parent, str) and parent == name:
            raise StructureError(f"link {name!r} cannot be its own ancestor; parent must be another link or None")
        parent_link = self.ground if parent is None else self.link(parent)
        if parent_link.is_virtual:
            raise StructureError(
                f"{parent_link!r} is a copy and carries nothing; name its real link {parent_link.real!r}"
            )
        link = Link(
            self._next_id,
            name,
            self._named_joint(checked_joint(joint, name, is_floating=parent is None), name),
            Pose.coerce(at, "at"),
            _MASSLESS if inertia is None else checked_inertia(inertia),
            checked_shapes(shapes),
        )
        self._hang(link, parent_link)
        return link

    def connect(
        self,
        a: str | Link | Frame,
        b: str | Link | Frame,
        joint: Joint,
        at: Place | None = None,
        at_other: Place | None = None,
        *,
        state: State | None = None,
        name: str | None = None,
        snap: float | None = None,
    ) -> Link:
        """Join link `a` to link `b` by a new joint: a virtual link of `a` becomes a child of `b` [NY, V-B].

        Args:
            a: The link that gets a virtual copy, the ground included; or a named frame on it.
            b: The link that the virtual copy hangs on, the ground included; or a named frame on it.
            joint: The joint; not actuated unless it says so.
            at: The joint frame in a's frame; a's origin by default.
            at_other: The joint frame in b's frame. Left out, it is b itself if b is a named frame, else where `at` is
                now, in `state`.
            state: State of this mechanism; its velocities take the impact of the new connection [NY, V-C].
            name: Name of the joint; "a to b" by default.
            snap: Largest gap [m or rad] of the two joint frames in `state` that is closed by moving the links; without
                it a gap is refused.

        Returns:
            The virtual link; `cut` takes its joint's name.

        Raises:
            StructureError: The two are one link.
            InputError: Neither `at_other` nor `state` says where the joint is.
            GapError: The joint frames are apart in `state`.
            UnknownNameError, DuplicateNameError: No such link; the name is taken.
        """
        if state is None:
            link_a, on_a = end_of(self, a, None if at is None else Pose.coerce(at, "at"))
            link_b, on_b = end_of(self, b, None if at_other is None else Pose.coerce(at_other, "at_other"))
            if name is not None:
                name_string(name, "name of the connection")
            link = add_virtual_link(self, link_a, link_b, checked_loop_joint(joint), on_a, on_b, name)
            self.log.write(None, (connection_edit(link),))
            return link
        edit, connect, _, _ = _in_motion()
        done = edit(self, state, connect(a, b, joint, at, at_other, name=name, snap=snap))
        return self._by_joint[done.joint]

    def couple(
        self,
        joint: str,
        to: str,
        multiplier: float = 1.0,
        offset: float | None = None,
        name: str | None = None,
        *,
        state: State | None = None,
    ) -> Coupling:
        """Let `joint` follow the joint `to`: q_joint = multiplier q_to + offset [HYR, (15)].

        Both have one freedom and belong to the tree; `to` may follow a third joint. The joint that follows becomes
        passive; `edit_joint(joint, actuated=True)` gives it an actuator again.

        Args:
            joint: Name of the joint that follows.
            to: Name of the joint that leads.
            multiplier: Coordinate of the one per coordinate of the other [rad or m per rad or m].
            offset: Coordinate of `joint` where that of `to` is zero [rad or m]. Left out: where the joints are now, in
                `state`, or 0 without a state.
            name: Name of the coupling, for `cut`; "joint follows to" by default.
            state: State of this mechanism; its velocities take the impact of a clutch that closes in motion.

        Raises:
            StructureError: A joint would follow itself, directly or through others, or follows another already.
            UnknownNameError, DuplicateNameError: No such joint; the name is taken.
            GapError: The joints are elsewhere in `state` than `offset` says.
        """
        if state is None:
            coupling = add_coupling(self, joint, to, multiplier, 0.0 if offset is None else offset, name)
            self.log.write(None, (coupling_edit(self, coupling),))
            return coupling
        edit, _, _, couple = _in_motion()
        done = edit(self, state, couple(joint, to, multiplier, offset, name))
        return self._couplings[done.joint]

    def cut(self, joint: str, *, state: State | None = None) -> None:
        """Cut a joint: one that closes a loop, or one of the tree [NY, V-B]; or a coupling, by its name.

        A cut joint of the tree leaves its link, and all that the link carries, free-floating; loops through it stay,
        couplings with it end, and the log says so.
        The link then hangs on the ground by a free joint called like the link. `state` takes part: every link keeps its
        pose and its velocity, and the log has the time. Other states are refused after the cut of a joint of the tree,
        until they follow (`State.follow`).

        Raises:
            StructureError: The joint is a free one: nothing to cut.
            UnknownNameError: No such joint.
        """
        if state is None:
            self.log.write(None, cut_joint(self, joint))
            return
        edit, _, cut, _ = _in_motion()
        edit(self, state, cut(joint))

    def set_inertia(self, link: str | Link, inertia: Inertia) -> None:
        """Replace the inertia of a link."""
        found = self.link(link)
        if found.is_ground or found.is_virtual:
            raise StructureError(f"{found!r} has no inertia of its own; set that of a real link")
        found._edit(inertia=checked_inertia(inertia), _spec=None)
        self._edited()

    def set_place(self, joint: str, at: Place | None = None, at_other: Place | None = None) -> None:
        """Put a joint elsewhere on its links: a length or a pivot of another design. States stay as they are.

        Loops are closed in other states then: `assemble(m, s)` finds the nearest one.

        Args:
            joint: Name of a joint of the tree, or of one that closes a loop.
            at: Of a joint of the tree, its frame in the parent's frame; of a loop, in the frame of the link that was
                connected, as in `connect`; where it is, if left out.
            at_other: Of a loop, its frame in the frame of the other link.

        Raises:
            InputError: A joint of the tree has no other frame; or neither is given.
            UnknownNameError: No such joint.
        """
        link = self.link_of_joint(joint)
        if at is None and at_other is None:
            raise InputError(f"joint {joint!r} stays where it is without at and at_other: give one of them")
        if not link.is_virtual and at_other is not None:
            raise InputError(f"joint {joint!r} closes no loop: its place is `at`, the link's frame moves with it")
        places = {}
        if at is not None:
            places["on_real" if link.is_virtual else "at"] = Pose.coerce(at, "at")
        if at_other is not None:
            places["at"] = Pose.coerce(at_other, "at_other")
        link._edit(**places, _spec=None)
        self._edited(tree=not link.is_virtual)

    def edit_joint(self, joint: str, /, **changes: Any) -> Joint:
        """Replace fields of the joint called `joint`, as in `edit_joint("knee", damping=0.1)`; its kind stays.

        The field `name` renames it; None gives it the link's name.

        Raises:
            InputError: A field that joints of this kind do not have, or a value that it cannot take.
            UnknownNameError, DuplicateNameError: No such joint; the new name is taken.
        """
        link = self.link_of_joint(joint)
        old = self.joint(joint)
        valid = [field.name for field in fields(old)]
        unknown = [field for field in changes if field not in valid]
        if unknown:
            raise InputError(f"{old!r} has no field {', '.join(unknown)}; fields: {', '.join(valid)}")
        if changes.get("name", joint) is None:
            changes["name"] = link.name
        new = replace(old, **changes)
        if new.actuated is None:
            new = new._as(actuated=not (link.is_virtual or isinstance(new, Free)))
        if link.is_virtual:
            new = checked_loop_joint(new)
        if new.name != joint:
            new = self._named_joint(new, link.name)
            rename_in_couplings(self, joint, str(new.name))
        del self._by_joint[joint]
        self._by_joint[str(new.name)] = link
        link._edit(joint=new, _spec=None)
        self._edited(tree=not link.is_virtual)
        return new

    def add_frame(self, name: str, link: str | Link, at: Place = _AT_ORIGIN) -> Frame:
        """Name a frame on a link, at a pose or position [m] in the link's frame.

        `connect` takes the name of a frame for that of a link, and `frame(name)` gives it back.

        Raises:
            InputError: The name is empty, `at` is no pose.
            UnknownNameError, DuplicateNameError: No such link; the name is a frame's or a link's already.
            StructureError: The link is virtual.
        """
        frame = new_frame(self, name, link, at)
        self._frames = {**self._frames, name: frame}  # a new one: transactions keep the old
        self._edited(tree=False)
        return frame

    def add_surface(
        self,
        name: str,
        link: str | Link,
        shapes: SurfaceShape | Iterable[SurfaceShape] | None = None,
        *,
        friction: float = FRICTION,
        restitution: float = 0.0,
        torsional: float = 0.0,
        rolling: float = 0.0,
        touched_by: str | Link | Iterable[str | Link] | None = None,
    ) -> Surface:
        """Let links touch a surface, which is fixed to a link or to the ground.

        Args:
            name: Name of the surface, not yet taken.
            link: The link that it is fixed to, the ground included.
            shapes: `HalfSpace`, `Box`, `Sphere`, `Capsule`, `Cylinder`, `Mesh` (convex) and, of the ground,
                `HeightField`, one or several, in the link's frame; the link's own shapes if None.
            friction: Coefficient of friction, at rest and in motion.
            restitution: Part of the closing velocity that an impact turns round: 0 (stays) to 1 (bounces).
            torsional: Torsional friction: largest moment about the normal per normal force [m]; `contacts="stepping"`.
            rolling: Rolling friction: largest moment across the normal per normal force [m]; likewise.
            touched_by: Links that may touch it; None for all but the link itself and its neighbours.

        Raises:
            InputError: A friction is negative, restitution is not from 0 to 1, a shape cannot be a surface.
            UnknownNameError, DuplicateNameError: No such link; the name is taken.
        """
        law = {"friction": friction, "restitution": restitution, "torsional": torsional, "rolling": rolling}
        surface = new_surface(self, name, link, shapes, touched_by, law)
        self._surfaces = {**self._surfaces, name: surface}
        self._edited(tree=False)
        return surface

    def add_floor(
        self,
        height: float = 0.0,
        *,
        friction: float = FRICTION,
        restitution: float = 0.0,
        torsional: float = 0.0,
        rolling: float = 0.0,
        touched_by: str | Link | Iterable[str | Link] | None = None,
        name: str = "floor",
    ) -> Surface:
        """Let links touch a level floor, at a height [m] of the ground's frame; see `add_surface`."""
        level = HalfSpace(at=(0.0, 0.0, finite_scalar(height, "height of the floor")))
        return self.add_surface(
            name,
            "ground",
            level,
            friction=friction,
            restitution=restitution,
            torsional=torsional,
            rolling=rolling,
            touched_by=touched_by,
        )

    def set_contact_shapes(self, link: str | Link, shapes: ContactShape | Iterable[ContactShape]) -> None:
        """Replace the shapes that a link touches surfaces with, which are its own shapes otherwise.

        `Sphere`, `Capsule`, `Box`, `Cylinder`, `Ellipsoid`, `Mesh` (convex) and `ContactPoint`, one or several; an
        empty list if the link is to touch nothing.
        """
        found = self.link(link)
        self._contact_shapes = {**self._contact_shapes, found.name: checked_contact_shapes(found, shapes)}
        self._edited(tree=False)

    # Questions

    @property
    def surfaces(self) -> Mapping[str, Surface]:
        """The surfaces, in the order in which they were added."""
        return MappingProxyType(self._surfaces)

    def surface(self, name: str) -> Surface:
        """The surface of that name."""
        return surface_named(self, name)

    def contact_shapes(self, link: str | Link) -> tuple[ContactShape, ...]:
        """Shapes that a link touches surfaces with."""
        return tuple(contact_shapes_of(self, self.link(link)))

    @property
    def frames(self) -> Mapping[str, Frame]:
        """The named frames, in the order in which they were added."""
        return MappingProxyType(self._frames)

    def frame(self, name: str) -> Frame:
        """The frame of that name: its link's name and its pose in the link's frame."""
        if not isinstance(name, str):
            raise InputError(f"a frame is asked for by its name, not as {shown(name)}")
        if name not in self._frames:
            raise UnknownNameError("frame", name, self._frames)
        return self._frames[name]

    @property
    def links(self) -> tuple[Link, ...]:
        """All real links but ground, in the order of their ids."""
        if self._real_links is None:
            self._real_links = tuple(link for link in self._links.values() if link.real is None and link.id != 0)
        return self._real_links

    @property
    def virtual_links(self) -> tuple[Link, ...]:
        """The virtual links, one for each loop, in the order of their ids."""
        return self._virtual_links

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints of the real links, in the same order."""
        return tuple(link.joint for link in self.links if link.joint is not None)

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """The couplings, oldest first."""
        return tuple(self._couplings.values())

    @property
    def n_q(self) -> int:
        """Number of coordinates of the tree."""
        return sum(joint.n_q for joint in self.joints)

    @property
    def n_v(self) -> int:
        """Number of freedoms of the tree."""
        return sum(joint.n_v for joint in self.joints)

    def link(self, link: str | Link) -> Link:
        """The link of that name, ground included, or the link itself if it is of this mechanism."""
        if isinstance(link, Link):
            if self._links.get(link.id) is not link:
                own = f"; its own is m.link({link.name!r})" if link.name in self._by_name else ""
                raise StructureError(f"{link!r} is not a link of mechanism {self.name!r}{own}")
            return link
        if not isinstance(link, str):
            raise InputError(f"a link is asked for by its name or as a Link, not as {shown(link)}")
        if link not in self._by_name:
            raise UnknownNameError("link", link, self._by_name)
        return self._by_name[link]

    def link_of_joint(self, name: str) -> Link:
        """The link that the joint `name` moves."""
        if not isinstance(name, str):
            raise InputError(f"a joint is asked for by its name, not as {shown(name)}")
        if name not in self._by_joint:
            raise UnknownNameError("joint", name, self._by_joint)
        return self._by_joint[name]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        joint = self.link_of_joint(name).joint
        assert joint is not None  # of ground alone, which no joint's name leads to
        return joint

    def __contains__(self, link: object) -> bool:
        """Whether a name is a link's, or a link is of this mechanism."""
        if isinstance(link, Link):
            return self._links.get(link.id) is link
        return link in self._by_name

    def __len__(self) -> int:
        """Number of links, as in `links`."""
        return len(self.links)

    def __str__(self) -> str:
        """The tree, drawn."""
        return drawing(self)

    def __repr__(self) -> str:
        """Name and counts."""
        return f"<Mechanism {self.name!r}: {len(self)} links, {self.n_v} freedoms, revision {self.revision}>"

    def _repr_html_(self) -> str:
        """The tree, drawn, for notebooks."""
        return html_text(drawing(self))

    def copy(self) -> Mechanism:
        """An independent mechanism with the same links, ids, names and revision."""
        twin = object.__new__(Mechanism)
        twin.__setstate__(self.__getstate__())
        return twin

    # Upstairs, as is `_in_motion` below: the only imports of higher layers, when called

    def state(self) -> State:
        """A new state: all joints in their zero configuration, at rest."""
        from varichain.layout.state import new_state

        return new_state(self)

    def prepare(self, weights: Mapping[str, float] | None = None) -> Prepared:
        """The dynamics of this structure, ready to be called many times.

        Args:
            weights: Cost of a joint's torque squared in `Prepared.actuator_torques`, 1 if not named.
        """
        from varichain.dynamics.prepare import Prepared

        return Prepared(self, weights)

    # Inside

    @property
    def _rows(self) -> dict[str, int]:
        """Row of every real link by name, ground first; a link keeps its row for good."""
        if self._row_of is None:
            self._row_of = {link.name: row for row, link in enumerate((self.ground, *self.links))}
        return self._row_of

    def _edited(self, tree: bool = True) -> None:
        """Count an edit, of the tree or of loops alone; what was worked out for the old structure is void."""
        self.revision += 1
        self._layout = None
        if tree:
            self._tree = None

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the layout, flat, for copies and pickles."""
        return {
            "name": self.name,
            "gravity": self._gravity,
            "rank_tolerance": self._rank_tolerance,
            "revision": self.revision,
            "next_id": self._next_id,
            "rows": rows_from_links(self._links.values()),
            "frames": dict(self._frames),
            "couplings": dict(self._couplings),
            "surfaces": dict(self._surfaces),
            "contact_shapes": dict(self._contact_shapes),
            "source": self.source,
            "log": self.log.copy(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Fill a new mechanism with what `__getstate__` gave."""
        self.name = state["name"]
        self._gravity = finite_array(state["gravity"], (3,), "gravity")
        self._rank_tolerance = state["rank_tolerance"]
        self.revision = state["revision"]
        self._next_id = state["next_id"]
        self._links = links_from_rows(state["rows"])
        self._by_name = {link.name: link for link in self._links.values()}
        self._by_joint = {str(link.joint.name): link for link in self._links.values() if link.joint is not None}
        self._frames = dict(state["frames"])
        self._couplings = dict(state["couplings"])
        self._surfaces = dict(state["surfaces"])
        self._contact_shapes = dict(state["contact_shapes"])
        self.ground = self._links[0]
        self.source = state["source"]
        self.log = state["log"]
        self._virtual_links = tuple([link for link in self._links.values() if link.is_virtual])
        self._layout = self._tree = self._real_links = self._row_of = None

    @property
    def _joint_names(self) -> Mapping[str, object]:
        """Names that no new joint or coupling may have."""
        return {**self._by_joint, **self._couplings} if self._couplings else self._by_joint

    def _check_new_link_name(self, name: str) -> None:
        if name_string(name, "link name") in self._by_name:
            raise DuplicateNameError("link", name)
        if name in self._frames:
            raise DuplicateNameError("frame", name)

    def _named_joint(self, joint: Joint, link_name: str) -> Joint:
        """The joint with a name that is not taken: its own, or else the link's."""
        named = joint if joint.name is not None else joint._as(name=link_name)
        if named.name in self._joint_names:
            raise DuplicateNameError("joint", str(named.name))
        return named

    def _hang(self, link: Link, parent: Link) -> None:
        """Enter a new link, checked already, under `parent`."""
        parent._append_child(link)
        self._links[link.id] = link
        if link.real is not None:
            self._virtual_links += (link,)
        else:
            self._real_links = self._row_of = None
        self._by_name[link.name] = link
        if link.joint is not None:
            self._by_joint[str(link.joint.name)] = link
        self._next_id = link.id + 1
        self._edited(tree=link.real is None)

    def _take_off(self, link: Link) -> None:
        """Remove a virtual link."""
        assert link.parent is not None and link.joint is not None
        link.parent._remove_child(link)
        del self._links[link.id], self._by_name[link.name], self._by_joint[str(link.joint.name)]
        self._virtual_links = tuple([other for other in self._virtual_links if other is not link])
        self._edited(tree=False)

    def _set_free(self, link: Link) -> None:
        """Hang a link of the tree on the ground by a free joint with the link's name."""
        assert link.parent is not None and link.joint is not None
        del self._by_joint[str(link.joint.name)]
        name = numbered(link.name, self._joint_names)
        link.parent._remove_child(link)
        self.ground._append_child(link)
        link._edit(joint=_FREE._as(name=name), at=_AT_ORIGIN, _spec=None)
        self._by_joint[name] = link
        self._edited()


@cache
def _in_motion() -> tuple[Any, Any, Any, Any]:
    """`edit_in_motion`, `connect`, `cut` and `couple`; imported once, since every import costs a microsecond."""
    from varichain.instants.actions import connect, couple, cut
    from varichain.instants.change import edit_in_motion

    return edit_in_motion, connect, cut, couple
