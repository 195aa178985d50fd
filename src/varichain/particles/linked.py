"""Any mechanism as particles and restrictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from varichain.dynamics.kinematics import pose, velocity
from varichain.errors import InputError, StructureError, UnknownNameError
from varichain.instants.restraints import checked_limits
from varichain.kernels.particle_records import GROUND
from varichain.kernels.particle_run import particle_coordinates
from varichain.kernels.tables import as_records
from varichain.layout.state import State, layout_for
from varichain.mechanism.joints import Fixed
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.particles.arms import Arms
from varichain.particles.chunks import chunk_of
from varichain.particles.freedoms import Limits, add_freedoms
from varichain.particles.ground import Contact, Terrain, checked_contacts, checked_terrain
from varichain.particles.joints import End, Ends, Spring, restrict
from varichain.particles.system import System
from varichain.spatial.arrays import Array
from varichain.spatial.checks import non_negative_scalar, positive_scalar
from varichain.spatial.pose import Pose

Standing = tuple[Terrain, Sequence[Contact]]
Placed = Mapping[str, tuple[Array, Array]]

_STICK = 0.1  # stiffness of contacts that stick, in units of that of joints


class LinkedSystem(System):
    """A mechanism as particles: four for each link, 6 - n_v restrictions for each joint.

    Attributes:
        mechanism: The mechanism, which is not changed.
        layout: Its layout.
        spring: Spring-dampers of links and joints.
        limits: "hard", SoftLimits or "off".
        standing: Terrain and contacts; None if there is no ground.
        ends: By the name of a link: its place, centre and mass; the ground included.
        loop_joints: Places of the joints that close loops among `joints`, in the layout's order.
        q, rates, tau: Of the tree's joints first, then those of joints that close loops.
    """

    def __init__(
        self,
        m: Mechanism,
        s: State,
        spring: Spring,
        limits: Limits,
        placed: Placed | None = None,
        standing: Standing | None = None,
    ) -> None:
        """Build it at a state; links in `placed` keep the positions and velocities of their particles.

        Raises:
            StructureError: A link that can move has no mass.
        """
        super().__init__(m.name, m.gravity)
        self.mechanism, self.layout, self.spring, self.limits = m, layout_for(m, s), spring, limits
        self.ends: dict[str, End] = {}
        self._add_links(s, placed or {})
        self._add_joints(s)
        self._couple()
        self.standing = standing
        if standing is not None:
            self._stand(*standing)
        self.run["time"] = s.time
        self.run["has_breaks"] = int(self.joints.array["watched"].any())
        has_threads = (self.restrictions.array["freedom"] >= 0).any()
        acts = self.freedoms.array["acts"].any() or (self.freedoms.array["armature"] > 0.0).any()
        self.run["has_rotors"] = int((self.freedoms.array["armature"] > 0.0).any())
        self.run["is_measured"] = int(acts or has_threads or bool(m.couplings))
        particle_coordinates(self.x, self.v, self.links.array, self.freedoms.array, self.q, self.rates)
        self.freedoms.array["rotor"], self.freedoms.array["rotor_rate"] = (
            self.freedoms.array[name] for name in ("x", "rate")
        )

    # Building

    def _add_links(self, s: State, placed: Placed) -> None:
        m = self.mechanism
        ground = Arms(np.ones(3), np.eye(3), False)
        self.ends[m.ground.name] = End(self.add_ground(m.ground.name), ground, np.zeros(3), math.inf)
        extents = _extents(m)
        for link in m.links:
            if link.inertia.mass == 0.0:
                self.ends[link.name] = self._carried(link)
                continue
            V = velocity(m, s, link.name)
            i = self.add_link(
                link.name,
                link.inertia,
                extents[link.name],
                pose(m, s, link.name),
                V,
                self.spring.stiffness,
                self.spring.damping,
            )
            self.ends[link.name] = End(i, self.arms[i], link.inertia.com, link.inertia.mass)
        self._gather()
        for name, (x, v) in placed.items():
            own = self._own(self.ends[name].link)
            self.x[own], self.v[own] = x, v

    def _carried(self, link: Link) -> End:
        """End of a link without mass, which its parent carries."""
        assert link.parent is not None
        if not isinstance(link.joint, Fixed):
            raise StructureError(
                f"link {link.name!r} has no mass: it cannot be made of particles; give it an inertia, or a fixed joint"
            )
        parent = self.ends[link.parent.name]
        return replace(parent, frame=parent.frame @ link.at)

    def _add_joints(self, s: State) -> None:
        m, layout = self.mechanism, self.layout
        built: list[tuple[Ends, int, int]] = []
        for link, slot in zip(m.links, layout.slots, strict=True):
            assert link.joint is not None and link.parent is not None
            if link.inertia.mass > 0.0:
                ends = Ends(link.joint, self.ends[link.name], self._end(link.parent.name, link.at))
                built.append((ends, slot.q.start, slot.v.start))
        n_q, n_v = layout.n_q, layout.n_v
        for connection in layout.connections:
            a, b = self._end(connection.link_A, connection.on_A), self._end(connection.link_B, connection.on_B)
            built.append((Ends(connection.joint, a, b), n_q, n_v))
            n_q, n_v = n_q + connection.joint.n_q, n_v + connection.joint.n_v
        self.q, self.rates, self.tau, self.holding = np.zeros(n_q), np.zeros(n_v), np.zeros(n_v), np.zeros(n_v)
        self.q[: layout.n_q] = s.q
        built.sort(key=lambda each: chunk_of(len(self.links), each[0].a.link, each[0].b.link))  # stable
        for ends, q, v in built:
            thread = add_freedoms(self, ends, self.spring, self.limits, q, v)
            restrict(self, ends, self.spring, thread)
        places = {name: place for place, name in enumerate(self.joints.names)}
        self.loop_joints = [places[str(connection.joint.name)] for connection in layout.connections]
        array = self.freedoms.array  # angles begin where the state has them, turns included
        for i in range(len(array)):
            array["x"][i] = self.q[array["q"][i]]

    def _couple(self) -> None:
        """Add the couplings: springs between freedoms, as stiff as those of both joints one after the other."""
        places, freedoms = {int(v): i for i, v in enumerate(self.freedoms.array["v"])}, self.freedoms.array
        for coupling in self.mechanism.couplings:
            ends = [places[self.layout.tree.slot_by_name[name].v.start] for name in (coupling.joint, coupling.to)]
            parts, square = [freedoms["stick"][place] for place in ends], coupling.multiplier**2
            stiffness = 1.0 / (1.0 / parts[0][0] + square / parts[1][0])
            inertias = [(0.5 * damping) ** 2 / stiff for stiff, damping in parts]
            inertia = 1.0 / (1.0 / inertias[0] + square / inertias[1])
            self.couplings.add(
                coupling.name,
                follower=ends[0],
                leader=ends[1],
                multiplier=coupling.multiplier,
                offset=coupling.offset,
                stiffness=stiffness,
                damping=2.0 * self.spring.damping * math.sqrt(stiffness * inertia),
            )

    def _stand(self, terrain: Terrain, contacts: Sequence[Contact]) -> None:
        """Put a ground under the links."""
        self.grounds = as_records(np.zeros(len(terrain.ground), GROUND))
        for record, region in zip(self.grounds, terrain.ground, strict=True):
            for name, value in (region.ground.record() | {"low": region.low, "high": region.high}).items():
                record[name] = value
        fields = {"height": terrain.height, "slope": terrain.slope, "origin": terrain.origin, "cell": terrain.cell}
        for name, value in (fields | {"spacing": terrain.spacing, "rut_origin": terrain.footprints[0]}).items():
            self.terrain[name] = value
        self.heights, self.ruts = np.array(terrain.heights), terrain.ruts()
        for i, contact in enumerate(contacts):
            end = self.ends[contact.link]
            point = end.point(contact.at)
            stick, mass = _STICK * self.spring.stiffness, end.mass / (1.0 + float(point @ point))
            sizes = {"radius": contact.radius, "area": contact.area, "width": contact.width}
            damping = 2.0 * self.spring.damping * math.sqrt(stick * mass)
            name = f"{contact.link}.{i}"
            self.contacts.add(name, link=end.link, point=point, stick=stick, stick_damping=damping, **sizes)

    def _end(self, link: str, frame: Pose) -> End:
        end = self.ends[link]
        return replace(end, frame=end.frame @ frame)

    # Questions

    def measure(self) -> State:
        """State nearest to the particles: joint coordinates from the best pose of each link."""
        particle_coordinates(self.x, self.v, self.links.array, self.freedoms.array, self.q, self.rates)
        n_q, n_v = self.layout.n_q, self.layout.n_v
        return State(self.layout, self.q[:n_q].copy(), self.rates[:n_v].copy(), self.time)

    def pose(self, link: str) -> Pose:
        """Best pose of a link's frame: the rotation nearest to its arms, about its centre."""
        end = self.end(link)
        particle_coordinates(self.x, self.v, self.links.array, self.freedoms.array, self.q, self.rates)
        record = self.links.array[end.link]
        R = np.array(record["R"]).reshape(3, 3)
        return Pose(record["o"] - R @ end.center, R=R) @ end.frame

    def end(self, link: str) -> End:
        """Place, centre and mass of a link.

        Raises:
            UnknownNameError: There is no such link.
        """
        if link not in self.ends:
            raise UnknownNameError("link", link, self.ends)
        return self.ends[link]

    def particles_of(self, link: str) -> slice:
        """Places of a link's four particles in x and v."""
        return self._own(self.end(link).link)

    def take_over(self, earlier: LinkedSystem) -> None:
        """Go on with the clock, the books, the bent friction and the rotors of an earlier structure."""
        for field in ("time", "steps", "work", "impulse"):
            self.run[field] = earlier.run[field]
        self.lost = earlier.lost
        self.contacts.array[:], self.ruts[:] = earlier.contacts.array, earlier.ruts
        places = {name: i for i, name in enumerate(earlier.freedoms.names)}
        for i, name in enumerate(self.freedoms.names):
            if name in places and self.freedoms.array["kind"][i] == earlier.freedoms.array["kind"][places[name]]:
                for field in ("bend", "rotor", "rotor_rate"):
                    self.freedoms.array[field][i] = earlier.freedoms.array[field][places[name]]

    def copy(self) -> LinkedSystem:
        """Independent copy, at the same positions and velocities."""
        own, state = self.mechanism.copy(), self.measure()
        twin = LinkedSystem(own, state.copy().follow(own), self.spring, self.limits, self.placed(), self.standing)
        twin.take_over(self)
        return twin

    def placed(self) -> dict[str, tuple[Array, Array]]:
        """Positions and velocities of each link's particles (4, 3), by name."""
        moving = [name for name, end in self.ends.items() if self.links.names[end.link] == name]
        own = {name: self._own(self.ends[name].link) for name in moving}
        return {name: (self.x[place].copy(), self.v[place].copy()) for name, place in own.items()}

    def footprints(self) -> Array:
        """Cells of the map of footprints that have been trodden: x, y, depth, height of the ground there (n, 4) [m]."""
        i, j = np.nonzero(self.ruts > 0.0)
        if self.standing is None or not len(i):
            return np.zeros((0, 4))
        terrain = self.standing[0]
        places = (np.column_stack([i, j]) + 0.5) * terrain.cell + terrain.footprints[0]
        return np.column_stack([places, self.ruts[i, j], terrain.heights_at(places)])

    def gap(self) -> float:
        """Largest error of a restriction of a joint [m]."""
        return float(np.abs(self.restrictions.array["error"]).max(initial=0.0))

    def strains(self) -> Array:
        """Largest strain of the braces of each link, in the order of `m.links`."""
        return np.array([self.links.array["strain"][self.ends[link.name].link] for link in self.mechanism.links])

    def _own(self, link: int) -> slice:
        first = int(self.links.array["first"][link])
        return slice(first, first + 4)


def _extents(m: Mechanism) -> dict[str, float]:
    """Largest distance of a joint from the centre of each link [m]."""
    found = dict.fromkeys([m.ground.name, *(link.name for link in m.links)], 0.0)
    centers = {link.name: link.inertia.com for link in m.links} | {m.ground.name: np.zeros(3)}
    for link in (*m.links, *m.virtual_links):
        assert link.parent is not None
        on_link = (link.name, np.zeros(3)) if link.real is None else (link.real.name, link.on_real.p)
        for name, p in (on_link, (link.parent.name, link.at.p)):
            found[name] = max(found[name], float(np.linalg.norm(p - centers[name])))
    return found


def from_mechanism(
    m: Mechanism,
    s: State,
    *,
    stiffness: float = 1e6,
    damping: float = 0.3,
    limits: Any = "hard",
    ground: Any = None,
    contacts: Any = None,
) -> LinkedSystem:
    """A mechanism in a state as particles [TS]: any tree, any loops, all joint types that can close a loop.

    As the stiffness grows, the motion converges to the rigid engine's, of order 1 in 1 / stiffness.

    Args:
        m: Mechanism; it is copied.
        s: State.
        stiffness: Of all springs of links and joints [N/m].
        damping: Of these springs, as a part of the critical damping of each by itself.
        limits: "hard" for stops as stiff as joints are, "soft" or `vc.SoftLimits(stiffness, damping)`, "off".
        ground: What links stand on: `vc.particles.Hard()`, `Soft`, `Sandy`, `Muddy`, `Law`, or a `Terrain`.
        contacts: `vc.particles.Contact` objects; by default the balls and the ends of capsules among the links' shapes.

    Raises:
        StructureError: A link that can move has no mass.
        InputError: A ball or free joint has an armature.
    """
    if not isinstance(m, Mechanism) or not isinstance(s, State):
        raise InputError(f"expected a Mechanism and a State, not {type(m).__name__} and {type(s).__name__}")
    spring = Spring(positive_scalar(stiffness, "stiffness"), non_negative_scalar(damping, "damping"))
    own = m.copy()
    layout_for(own, s)
    standing = None if ground is None else (checked_terrain(ground), checked_contacts(contacts, own))
    return LinkedSystem(own, s.copy(), spring, checked_limits(limits), None, standing)
