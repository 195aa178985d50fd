"""From names to places: leaves of functions as records for one structure of a mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from varichain.animation.leaves import (
    Center,
    Coordinate,
    Direction,
    Given,
    Leaf,
    Place,
    Points,
    Pushing,
    Quaternion,
    Spinning,
    Turning,
)
from varichain.animation.nodes import Node, constant
from varichain.animation.quantities import axis_nodes, rotation_nodes
from varichain.errors import InputError, SingularMassError, UnknownNameError
from varichain.kernels import function_records as records
from varichain.layout.layout import Layout
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

_KINDS = {
    Points: records.SUM,
    Direction: records.SUM,
    Center: records.SUM,
    Quaternion: records.ROTATION,
    Coordinate: records.COORDINATE,
    Given: records.GIVEN,
    Turning: records.TURNING,
    Spinning: records.SPINNING,
}


class Resolver:
    """Leaves of one structure: what kernels read, and what a leaf means where it is a function of others.

    Attributes:
        leaves, terms: Rows of the tables `LEAF` and `TERM`.
        curves: Curves of the numbers that are given; None is the time.
        n_numbers: Numbers of all leaves.
        supports: Freedoms that move leaves and blocks, list after list.
    """

    def __init__(self, m: Mechanism, layout: Layout) -> None:
        """Begin with no leaves."""
        self._mechanism, self._layout = m, layout
        self._links, self._bodies = layout.arrays["links"], layout.arrays["bodies"]
        self._found: dict[Leaf, int] = {}
        self._numbers: list[int] = []
        self._meant: dict[tuple[Leaf, int], Node] = {}
        self.leaves: list[dict[str, Any]] = []
        self.terms: list[tuple[int, float, Array]] = []
        self.curves: list[Any] = []
        self.n_numbers = 0
        self.supports: list[int] = []
        self._ways: dict[int, frozenset[int]] = {}

    def meaning(self, node: Node) -> Node:
        """The node itself, or what it means in this structure: a coordinate of a ball is a rotation."""
        leaf = node.leaf
        if not isinstance(leaf, Coordinate | Pushing):
            return node
        key = leaf, node.component
        if key not in self._meant:
            self._meant[key] = self._pushing(node) if isinstance(leaf, Pushing) else self._coordinate(leaf, node)
        return self._meant[key]

    def number(self, node: Node) -> tuple[int, int]:
        """Number that a leaf's node is, and the row of the leaf."""
        assert node.leaf is not None
        row = self._found.get(node.leaf)
        if row is None:
            row = self._found[node.leaf] = len(self.leaves)
            kind = _KINDS[type(node.leaf)]
            self._numbers.append(self.n_numbers)
            self.leaves.append({"kind": kind, "number": self.n_numbers, **self._record(node.leaf)})
            first, n = self._listed(self._moving(self.leaves[row]))
            self.leaves[row] |= {"support": first, "n_support": n}
            self.n_numbers += records.LEAF_SIZES[kind]
        return self._numbers[row] + node.component, row

    def support_of(self, rows: Iterable[int]) -> tuple[int, int]:
        """Place and length of the list of freedoms that move some leaves."""
        return self._listed({k for row in rows for k in self._moving(self.leaves[row])})

    def _listed(self, freedoms: Iterable[int]) -> tuple[int, int]:
        own = sorted(freedoms)
        self.supports += own
        return len(self.supports) - len(own), len(own)

    def _moving(self, leaf: Mapping[str, Any]) -> frozenset[int]:
        """Freedoms that move a leaf."""
        kind = leaf["kind"]
        if kind == records.SUM:
            terms = self.terms[leaf["term"] : leaf["term"] + leaf["n_terms"]]
            return frozenset[int]().union(*(self._way(body) for body, _, _ in terms))
        if kind in (records.ROTATION, records.TURNING):
            return self._way(leaf["body_A"]) ^ self._way(leaf["body_B"])
        if kind == records.COORDINATE:
            return frozenset((leaf["dof"],))
        return frozenset(range(self._layout.n_v) if kind == records.SPINNING else ())

    def _way(self, body: int) -> frozenset[int]:
        """Freedoms between a body and the ground."""
        if body not in self._ways:
            found, i = set[int](), body
            while i > 0:
                parent, first, n = (int(self._bodies[i][what]) for what in ("parent", "dof", "n_dof"))
                found |= set(range(first, first + n))
                i = parent
            self._ways[body] = frozenset(found)
        return self._ways[body]

    def _record(self, leaf: Leaf) -> dict[str, Any]:
        """Fields of a leaf's record."""
        if isinstance(leaf, Points):
            weighted = [
                (*self._on_body(place), weight) for place, weight in zip(leaf.places, leaf.weights, strict=True)
            ]
            return self._sum([(body, weight, weight * frame.p) for body, frame, weight in weighted])
        if isinstance(leaf, Direction):
            body, frame = self._on_body(leaf.place)
            return self._sum([(body, 0.0, frame.R @ leaf.axis)])
        if isinstance(leaf, Center):
            return self._sum(self._masses(leaf.links))
        if isinstance(leaf, Quaternion | Turning):
            (body_A, on_A), (body_B, on_B) = self._on_body(leaf.seen_from), self._on_body(leaf.place)
            return {"body_A": body_A, "body_B": body_B, "R_A": on_A.R.ravel(), "R_B": on_B.R.ravel()}
        if isinstance(leaf, Coordinate):
            slot = self._layout.slot(leaf.joint)
            i = slot.coordinates.index(leaf.label or slot.coordinates[0])
            return {"place": slot.q.start + i, "dof": slot.v.start + i}
        if isinstance(leaf, Given):
            self.curves.append(leaf.curve)
            return {"place": len(self.curves) - 1}
        self._masses(None)  # of an angular momentum: there must be a centre of mass
        return {}

    def _sum(self, terms: list[tuple[int, float, Array]]) -> dict[str, Any]:
        self.terms += terms
        return {"term": len(self.terms) - len(terms), "n_terms": len(terms)}

    def _on_body(self, place: Place) -> tuple[int, Pose]:
        """Body that carries a place, and the frame in it."""
        name, frame = place.on_link(self._mechanism)
        link = self._links[self._layout.link_index[name]]
        return int(link["body"]), Pose._trusted(link["p"].copy(), link["R"].reshape(3, 3).copy()) @ frame

    def _masses(self, names: tuple[str, ...] | None) -> list[tuple[int, float, Array]]:
        """Terms of a centre of mass: of all bodies that move, or of some links."""
        if names is None:
            bodies = self._bodies
            parts = [(i, float(bodies[i]["mass"]), bodies[i]["com"]) for i in range(1, len(bodies))]
        else:
            parts = []
            for name in names:
                if name not in self._layout.link_index:
                    raise UnknownNameError("link", name, self._layout.link_index)
                body, frame = self._on_body(Place(name))
                inertia = self._mechanism.link(name).inertia
                parts.append((body, inertia.mass, frame @ inertia.com))
        mass = sum(part[1] for part in parts)
        if not mass > 0.0:
            what = "nothing that moves" if names is None else f"none of the links {list(names)}"
            raise SingularMassError(f"{what} in {self._mechanism.name!r} has mass: there is no centre of mass")
        return [(body, own / mass, own / mass * np.asarray(com)) for body, own, com in parts if own > 0.0]

    def _pushing(self, node: Node) -> Node:
        """Momentum: the mass times the centre of mass, whose rate it is."""
        mass = float(self._bodies["mass"][1:].sum())
        return constant(mass) * Center(None).node(node.component)

    def _coordinate(self, leaf: Coordinate, node: Node) -> Node:
        slot = self._layout.slot(leaf.joint)
        labels = ", ".join(map(repr, slot.coordinates))
        if leaf.label is None and len(slot.coordinates) != 1:
            raise InputError(
                f"{slot.kind} joint {leaf.joint!r} has {len(slot.coordinates)} coordinates"
                + (f"; name one of {labels}" if labels else ": it has no function")
            )
        if leaf.label is not None and leaf.label not in slot.coordinates:
            raise UnknownNameError(f"coordinate of joint {leaf.joint!r}", leaf.label, slot.coordinates)
        if not slot.has_quaternion:
            return node
        i = self._layout.slots.index(slot)
        link = list(self._layout.link_index)[i + 1]
        own, frame = Place(link), Place.of(self._layout.tree.parents[i], self._mechanism.link(link).at)
        at = slot.coordinates.index(str(leaf.label))
        if at < 3:
            return rotation_nodes(own, frame)[at]
        x, y, z = (
            a * b for a, b in zip(axis_nodes(frame)[at - 3], Points((own, frame), (1.0, -1.0)).nodes(3), strict=True)
        )
        return x + y + z
