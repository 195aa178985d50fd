"""Places of joints as freedoms that do not move: how a mechanism changes where its joints sit elsewhere.

A joint whose place is a design parameter hangs on a link without mass, which a free joint holds at that place. Moving
that free joint is changing the design; its velocity and acceleration are zero.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from varichain.layout.layout import Layout, layout_of
from varichain.layout.state import State
from varichain.mechanism.joints import Free
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

SHIFTS, TURNS = ("x", "y", "z"), ("rx", "ry", "rz")


class Places:
    """A mechanism, in a state, whose joints can be put elsewhere.

    Attributes:
        mechanism: With the further freedoms; the mechanism itself if there are none.
        layout: Its layout, with the same rows of loops as that of the mechanism itself.
        state: The state there.
        own: Where freedoms of the mechanism are among those (n_v,).
        own_q: Where its coordinates are (n_q,).
    """

    def __init__(self, m: Mechanism, s: State, ends: Iterable[tuple[str, bool]]) -> None:
        """Take names of joints, each with whether the other end of a loop is meant."""
        wanted = set(ends)
        self._frames: dict[tuple[str, bool], Pose] = {}
        self.mechanism = self._made(m, wanted) if wanted else m
        self.layout: Layout = layout_of(self.mechanism)
        self.state, slots = self.mechanism.state(), self.layout.tree.slot_by_name
        pairs = [(slots[slot.name], slot) for slot in s.layout.slots]
        self.own = _indices(there.v for there, _ in pairs)
        self.own_q = _indices(there.q for there, _ in pairs)
        self.state.q[self.own_q], self.state.v[self.own] = s.q, s.v
        self.state.time = s.time

    def _made(self, m: Mechanism, wanted: set[tuple[str, bool]]) -> Mechanism:
        """The mechanism with a free joint at every place."""
        made = Mechanism(m.name, m.gravity)
        made.rank_tolerance = m.rank_tolerance
        for link in m.links:
            assert link.joint is not None and link.parent is not None
            parent, at = self._end(made, wanted, (str(link.joint.name), False), link.parent.name, link.at)
            made.add_link(link.name, parent, link.joint, at, link.inertia)
        for link in m.virtual_links:
            assert link.joint is not None and link.parent is not None and link.real is not None
            name = str(link.joint.name)
            a, at = self._end(made, wanted, (name, False), link.real.name, link.on_real)
            b, at_other = self._end(made, wanted, (name, True), link.parent.name, link.at)
            made.connect(a, b, link.joint, at, at_other)
        for tie in m.couplings:
            made.couple(tie.joint, tie.to, tie.multiplier, tie.offset, tie.name)
        return made

    def _end(
        self, made: Mechanism, wanted: set[tuple[str, bool]], end: tuple[str, bool], link: str, at: Pose
    ) -> tuple[str, Pose]:
        """Link and place that a joint sits on: its own, or one that a free joint holds there."""
        if end not in wanted:
            return link, at
        self._frames[end] = at
        made.add_link(_name(end), link, Free(name=_name(end)), at)
        return _name(end), Pose()

    def columns(self, ends: Iterable[tuple[str, bool]]) -> NDArray[np.intp]:
        """The freedoms of some places, six each [turn; shift]."""
        slots = [self.layout.slot(_name(end)) for end in ends]
        return np.array([k for slot in slots for k in range(slot.v.start, slot.v.stop)], dtype=np.intp)

    def direction(self, end: tuple[str, bool], label: str) -> Array:
        """Direction (n,) of the freedoms that shifts a place along an axis of the link that it is on, or turns it."""
        first = self.layout.slot(_name(end)).v.start + (3 if label in SHIFTS else 0)
        axis = (SHIFTS if label in SHIFTS else TURNS).index(label)
        along = np.zeros(self.layout.n_v)
        along[first : first + 3] = self._frames[end].R[axis]  # in axes of the joint's frame
        return along


def _indices(parts: Iterable[slice]) -> NDArray[np.intp]:
    return np.array([k for part in parts for k in range(part.start, part.stop)], dtype=np.intp)


def _name(end: tuple[str, bool]) -> str:
    return f"{'other ' if end[1] else ''}place of {end[0]}"
