"""Record arrays of a spanning tree: fixed joints fused away, every other joint a chain of elementary freedoms.

Body frames are turned so that a freedom's axis is its z axis: a turn about z changes two columns of a matrix, a turn
about any axis would cost a matrix product. The links keep their own frames, at constant poses in their bodies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.kernels.records import BODY, DOF, FREE, GROUND, KIND_CODES, KIND_N_Q, KIND_N_V, LINK, SPHERICAL
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import Joint, Primitive
from varichain.mechanism.link import Link
from varichain.spatial.pose import Pose

Records = NDArray[Any]


@dataclass(frozen=True, eq=False)
class TreeRecords:
    """Arrays of one spanning tree.

    Attributes:
        bodies: Dtype BODY; row 0 is the ground, parents stand before children.
        dofs: Dtype DOF; row k belongs to v[k].
        links: Dtype LINK; row 0 is the ground, then the links in the order of their ids.
        place: Body that carries each link, and the link's pose in it.
        dof_parent: Freedom before each one on the way to the ground, -1 if none.
        last_dof: Last freedom of each body, -1 for the ground.
        massless_link: Name of a link that can move although nothing it carries has mass or armature; None if all do.
    """

    bodies: Records
    dofs: Records
    links: Records
    place: dict[Link, tuple[int, Pose]]
    dof_parent: list[int]
    last_dof: list[int]
    massless_link: str | None


def tree_records(ground: Link, links: Iterable[Link], gravity: NDArray[np.float64]) -> TreeRecords:
    """Records of the tree of real links, parents before children."""
    builder = _Builder(ground)
    for link in links:
        builder.add(link)
    return builder.finish(gravity)


class _Builder:
    """Rows of the arrays, gathered link by link."""

    def __init__(self, ground: Link) -> None:
        self.bodies: list[dict[str, Any]] = [_body_row(0, GROUND, Pose(), 0, 0)]
        self.inertias: list[Inertia] = [Inertia.zero()]
        self.carried: list[Link] = [ground]
        self.dofs: list[tuple[Any, ...]] = []
        self.place: dict[Link, tuple[int, Pose]] = {ground: (0, Pose())}
        self.n_q = 0

    def add(self, link: Link) -> None:
        """Add a link: to its parent's body if it is fixed there, else to a new body (one per elementary freedom)."""
        assert link.parent is not None and link.joint is not None
        body, X_BP = self.place[link.parent]
        X = X_BP @ link.at
        offset = 0
        for primitive in link.joint.primitives():
            body = self._add_body(link, body, primitive, X, offset)
            offset += KIND_N_V[KIND_CODES[primitive.kind]]
            X = Pose._trusted(np.zeros(3), primitive.R.T.copy())
        self.place[link] = (body, X)
        if body > 0 and link.inertia.mass > 0.0:
            self.inertias[body] = self.inertias[body] + link.inertia.transformed(X)

    def _add_body(self, link: Link, parent: int, primitive: Primitive, X: Pose, offset: int) -> int:
        assert link.joint is not None
        kind = KIND_CODES[primitive.kind]
        placement = Pose._trusted(X.p.copy(), X.R @ primitive.R)
        row = _body_row(parent, kind, placement, self.n_q, len(self.dofs))
        index = len(self.bodies)
        row["pitch"] = primitive.pitch
        row["root"] = index if parent == 0 else self.bodies[parent]["root"]
        _set_passive(row, link.joint, offset, kind)
        before = self.bodies[parent]["dof"] + self.bodies[parent]["n_dof"] - 1
        for k in range(KIND_N_V[kind]):
            self.dofs.append((before, index, *_options(link.joint, offset + k)))
            before = len(self.dofs) - 1
        self.bodies.append(row)
        self.inertias.append(Inertia.zero())
        self.carried.append(link)
        self.n_q += KIND_N_Q[kind]
        return index

    def finish(self, gravity: NDArray[np.float64]) -> TreeRecords:
        """Arrays of what has been added."""
        bodies = np.zeros(len(self.bodies), BODY)
        for field in self.bodies[0]:
            bodies[field] = [row[field] for row in self.bodies]
        bodies["mass"] = [inertia.mass for inertia in self.inertias]
        bodies["com"] = [inertia.com for inertia in self.inertias]
        bodies["inertia"] = [inertia.about_com[_UPPER] for inertia in self.inertias]
        bodies[0]["R"] = np.eye(3).ravel()
        bodies[0]["A"][3:] = -gravity  # a ground that accelerates upward stands for gravity
        dofs = np.zeros(len(self.dofs), DOF)
        for column, field in enumerate(("parent", "body", "armature", "damping", "friction", "stiffness")):
            dofs[field] = [row[column] for row in self.dofs]
        links = np.zeros(len(self.place), LINK)
        links["body"] = [body for body, _ in self.place.values()]
        links["R"] = [X.R.ravel() for _, X in self.place.values()]
        links["p"] = [X.p for _, X in self.place.values()]
        last_dof = [row["dof"] + row["n_dof"] - 1 for row in self.bodies]
        dof_parent = [row[0] for row in self.dofs]
        return TreeRecords(bodies, dofs, links, self.place, dof_parent, last_dof, self._massless_link())

    def _massless_link(self) -> str | None:
        """Name of a link whose body and all that it carries weigh nothing, without armature to hold it."""
        weight = [inertia.mass for inertia in self.inertias]
        for row in self.dofs:
            weight[row[1]] += row[2]
        for index in range(len(self.bodies) - 1, 0, -1):
            if weight[index] == 0.0:
                return self.carried[index].name
            weight[self.bodies[index]["parent"]] += weight[index]
        return None


_UPPER = np.triu_indices(3)


def _body_row(parent: int, kind: int, placement: Pose, q: int, dof: int) -> dict[str, Any]:
    return {
        "parent": parent,
        "kind": kind,
        "q": q,
        "dof": dof,
        "n_dof": KIND_N_V.get(kind, 0),
        "root": 0,
        "passive": 0,
        "R_PJ": placement.R.ravel(),
        "p_PJ": placement.p,
        "pitch": 0.0,
        "rest": (0.0,) * 7,
    }


def _options(joint: Joint, k: int) -> tuple[float, ...]:
    return joint.armature[k], joint.damping[k], joint.friction[k], joint.stiffness[k]


def _set_passive(row: dict[str, Any], joint: Joint, offset: int, kind: int) -> None:
    """Rest coordinates, and whether anything in the elementary freedom acts by itself."""
    n_v = KIND_N_V[kind]
    forces = (joint.damping, joint.friction, joint.stiffness)
    row["passive"] = int(any(force[k] != 0.0 for force in forces for k in range(offset, offset + n_v)))
    # joints of several elementary freedoms have one coordinate for each
    rest = joint.rest if kind in (SPHERICAL, FREE) else joint.rest[offset : offset + 1]
    row["rest"] = (*rest, *(0.0,) * (7 - len(rest)))
