"""A mechanism in Pinocchio, with the maps between its conventions and ours.

Quaternions are (x, y, z, w) there, a free joint's q position then quaternion, velocities [linear; angular] in the
link's axes: all of them reorderings of our numbers. Joints are added depth first, because Pinocchio's mass matrix takes
each subtree for one contiguous block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin

import varichain as vc
from varichain.errors import InputError
from varichain.spatial.arrays import Array
from varichain.spatial.rotation import matrix_with_z_along

_Q = {"spherical": (1, 2, 3, 0), "free": (4, 5, 6, 1, 2, 3, 0)}
_V = {"free": (3, 4, 5, 0, 1, 2)}
# A hinge loop has five rows; Pinocchio has three or six: the weld stands in for it, one row more.
_LOOPS = {
    "spherical": pin.ContactType.CONTACT_3D,
    "fixed": pin.ContactType.CONTACT_6D,
    "revolute": pin.ContactType.CONTACT_6D,
}


class PinocchioTwin:
    """Model and data of a mechanism's tree; armature is carried over, limits, damping, friction and springs are not.

    Attributes:
        model, data: Pinocchio's.
        home: Of every link, by its id: the joint that carries it, and its frame in that joint's.
        constraints, constraint_data: Loops as rigid constraints, once they have been closed.
    """

    def __init__(self, m: vc.Mechanism) -> None:
        """Build the tree."""
        self.model = pin.Model()
        self.model.gravity = pin.Motion(np.array(m.gravity), np.zeros(3))
        q_start = dict(zip((link.id for link in m.links), np.cumsum([0, *(j.n_q for j in m.joints)]), strict=False))
        v_start = dict(zip((link.id for link in m.links), np.cumsum([0, *(j.n_v for j in m.joints)]), strict=False))
        armature = np.concatenate([np.zeros(0), *(joint.armature for joint in m.joints)])
        self.home: dict[int, tuple[int, Any]] = {m.ground.id: (0, pin.SE3.Identity())}
        q: list[int] = []
        v: list[int] = []
        for link in _depth_first(m):
            assert link.joint is not None
            kind = link.joint.kind
            q += [int(q_start[link.id]) + k for k in _Q.get(kind, range(link.joint.n_q))]
            v += [int(v_start[link.id]) + k for k in _V.get(kind, range(link.joint.n_v))]
            self._add(link)
        self._q, self._v = np.array(q, dtype=int), np.array(v, dtype=int)
        self.model.armature = armature[self._v]
        self.data = self.model.createData()
        self.constraints, self.constraint_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()

    def close_loops(self, m: vc.Mechanism) -> None:
        """Add the loops, and make data for the tree with them."""
        for virtual in m.virtual_links:
            self.constraints.append(self._constraint(virtual))
            self.constraint_data.append(self.constraints[-1].createData())
        self.data = self.model.createData()
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.constraint_data)

    def _add(self, link: vc.Link) -> None:
        assert link.parent is not None and link.joint is not None
        parent, X = self.home[link.parent.id]
        X = X * pin.SE3(np.array(link.at.R), np.array(link.at.p))
        if link.joint.kind == "fixed":
            joint = parent
        else:
            joint, X = self.model.addJoint(parent, _joint(link.joint), X, link.name), pin.SE3.Identity()
        body = link.inertia
        self.model.appendBodyToJoint(joint, pin.Inertia(body.mass, np.array(body.com), np.array(body.about_com)), X)
        self.home[link.id] = joint, X

    def _constraint(self, virtual: vc.Link) -> Any:
        assert virtual.real is not None and virtual.parent is not None and virtual.joint is not None
        ends = []
        for link, frame in ((virtual.real, virtual.on_real), (virtual.parent, virtual.at)):
            assert frame is not None
            joint, X = self.home[link.id]
            ends += [joint, X * pin.SE3(np.array(frame.R), np.array(frame.p))]
        local = pin.ReferenceFrame.LOCAL
        constraint = pin.RigidConstraintModel(_LOOPS[virtual.joint.kind], self.model, *ends, local)
        constraint.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(0.0, 0.0))
        return constraint

    def q_from(self, q: Array) -> Array:
        """Pinocchio's q of ours."""
        return np.ascontiguousarray(q[self._q])

    def q_to(self, q_pin: Array) -> Array:
        """Our q of Pinocchio's."""
        q = np.empty(len(q_pin))
        q[self._q] = q_pin
        return q

    def v_from(self, v: Array) -> Array:
        """Pinocchio's v, a or tau of ours."""
        return np.ascontiguousarray(v[self._v])

    def v_to(self, v_pin: Array) -> Array:
        """Our v, a or tau of Pinocchio's; also of rows of them."""
        v = np.empty(v_pin.shape)
        v[..., self._v] = v_pin
        return v

    def matrix_to(self, M: Array) -> Array:
        """Our matrix on velocities of Pinocchio's."""
        matrix = np.empty(M.shape)
        matrix[np.ix_(self._v, self._v)] = M
        return matrix


def _depth_first(m: vc.Mechanism) -> Iterator[vc.Link]:
    """Real links, each followed by its whole subtree."""
    children: dict[int, list[vc.Link]] = {link.id: [] for link in (m.ground, *m.links)}
    for link in m.links:
        assert link.parent is not None
        children[link.parent.id].append(link)
    stack = children[m.ground.id][::-1]
    while stack:
        link = stack.pop()
        yield link
        stack += children[link.id][::-1]


def _joint(joint: Any) -> Any:
    """Joint model; of planar and cylindrical joints a composite of one-axis joints.

    Pinocchio's own planar joint keeps (x, y, cos, sin) and velocities in the link's axes; it has no cylindrical one.
    """
    turn, slide = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned
    match joint.kind:
        case "revolute":
            return turn(np.array(joint.axis))
        case "prismatic":
            return slide(np.array(joint.axis))
        case "screw":
            return pin.JointModelHelicalUnaligned(np.array(joint.axis), float(joint.pitch))
        case "universal":
            return pin.JointModelUniversal(*(np.array(axis) for axis in joint.axes))
        case "cylindrical":
            return _composite(turn(np.array(joint.axis)), slide(np.array(joint.axis)))
        case "planar":
            x, y, normal = matrix_with_z_along(joint.normal).T
            return _composite(slide(x), slide(y), turn(normal))
        case "spherical":
            return pin.JointModelSpherical()
        case "free":
            return pin.JointModelFreeFlyer()
    raise InputError(f"Pinocchio has no counterpart of {joint.kind} joints")


def _composite(*joints: Any) -> Any:
    composite = pin.JointModelComposite()
    for joint in joints:
        composite.addJoint(joint)
    return composite
