"""A mechanism in MuJoCo, with the maps between its conventions and ours.

MuJoCo keeps a free joint's position before its quaternion, both in the world, and its velocity as [linear in world
axes; angular in link axes]: v_mj = T(q) v with T orthogonal, and accelerations pick up Tdot v. Universal, cylindrical
and planar joints are several hinges and slides of one body. MuJoCo has no screw and no free joint below another link.
Its loops are soft equalities between sites.
"""

from __future__ import annotations

from typing import Any

import mujoco as mj
import numpy as np

import varichain as vc
from varichain.errors import InputError
from varichain.spatial.arrays import Array
from varichain.spatial.rotation import (
    matrix_from_quaternion,
    matrix_with_z_along,
    quaternion_conjugate,
    quaternion_multiply,
)

_HINGE, _SLIDE = mj.mjtJoint.mjJNT_HINGE, mj.mjtJoint.mjJNT_SLIDE
_BALL, _FREE = mj.mjtJoint.mjJNT_BALL, mj.mjtJoint.mjJNT_FREE


class MujocoTwin:
    """Model of a mechanism, its loops and armature included; limits, damping, friction and springs are left out.

    Attributes:
        spec: What the model was compiled from.
        model: The model.
    """

    def __init__(self, m: vc.Mechanism) -> None:
        """Build and compile it."""
        self.spec = mj.MjSpec()
        self.spec.option.gravity = m.gravity
        self.spec.compiler.boundmass = self.spec.compiler.boundinertia = 0.0
        self.spec.compiler.balanceinertia = False
        self._bodies: dict[str, Any] = {m.ground.name: self.spec.worldbody}
        for link in m.links:
            self._add_body(link)
        for virtual in m.virtual_links:
            add_equalities(self, virtual)
        self.model = self.spec.compile()
        q: list[int] = []
        v: list[int] = []
        self._free: list[tuple[int, int, int, int, vc.Pose]] = []  # our first q and v, MuJoCo's, the joint's frame
        for link, joint in zip(m.links, m.joints, strict=True):
            if joint.kind == "fixed":
                continue
            number = self.model.joint(str(joint.name)).id
            first_q, first_v = int(self.model.jnt_qposadr[number]), int(self.model.jnt_dofadr[number])
            if joint.kind == "free":
                self._free.append((len(q), len(v), first_q, first_v, link.at))
            q += [first_q + k for k in ((3, 4, 5, 6, 0, 1, 2) if joint.kind == "free" else range(joint.n_q))]
            v += [first_v + k for k in ((3, 4, 5, 0, 1, 2) if joint.kind == "free" else range(joint.n_v))]
        self._q, self._v = np.array(q, dtype=int), np.array(v, dtype=int)
        self.model.dof_armature[self._v] = np.concatenate([np.zeros(0), *(joint.armature for joint in m.joints)])

    def body(self, link: vc.Link) -> Any:
        """The body of a link."""
        return self._bodies[link.name]

    def _add_body(self, link: vc.Link) -> None:
        assert link.parent is not None and link.joint is not None
        at, name = link.at, str(link.joint.name)
        if link.joint.kind == "screw" or (link.joint.kind == "free" and not link.parent.is_ground):
            where = "in the ground" if link.parent.is_ground else "below another link"
            raise InputError(f"MuJoCo has no counterpart of the {link.joint.kind} joint of {link.name!r} {where}")
        body = self._bodies[link.parent.name].add_body(name=link.name, pos=at.p, quat=at.quaternion)
        self._bodies[link.name] = body
        for k, (kind, axis) in enumerate(_elementary(link.joint)):
            body.add_joint(name=f"{name}/{k}" if k else name, type=kind, axis=axis)
        if link.inertia.mass > 0.0:
            I = link.inertia.about_com
            body.explicitinertial, body.mass, body.ipos = True, link.inertia.mass, link.inertia.com
            body.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]

    def q_from(self, q: Array) -> Array:
        """MuJoCo's qpos of our q."""
        q_mj = np.empty(self.model.nq)
        q_mj[self._q] = q
        for i, _, k, _, at in self._free:
            q_mj[k : k + 3] = at @ q[i + 4 : i + 7]
            q_mj[k + 3 : k + 7] = quaternion_multiply(at.quaternion, q[i : i + 4])
        return q_mj

    def q_to(self, q_mj: Array) -> Array:
        """Our q of MuJoCo's qpos."""
        q: Array = q_mj[self._q]
        for i, _, k, _, at in self._free:
            q[i : i + 4] = quaternion_multiply(quaternion_conjugate(at.quaternion), q_mj[k + 3 : k + 7])
            q[i + 4 : i + 7] = at.R.T @ (q_mj[k : k + 3] - at.p)
        return q

    def v_from(self, v: Array, q: Array) -> Array:
        """MuJoCo's qvel of our v; also tau."""
        v_mj = np.empty(self.model.nv)
        v_mj[self._v] = v
        for i, _, _, k, at in self._free:
            v_mj[k : k + 3] = at.R @ matrix_from_quaternion(q[i : i + 4]) @ v_mj[k : k + 3]
        return v_mj

    def v_to(self, v_mj: Array, q: Array) -> Array:
        """Our v of MuJoCo's qvel; also tau."""
        v = np.array(v_mj)
        for i, _, _, k, at in self._free:
            v[k : k + 3] = (at.R @ matrix_from_quaternion(q[i : i + 4])).T @ v[k : k + 3]
        found: Array = v[self._v]
        return found

    def a_from(self, a: Array, q: Array, v: Array) -> Array:
        """MuJoCo's qacc of our a."""
        return self.v_from(a + self._rate(v), q)

    def a_to(self, a_mj: Array, q: Array, v: Array) -> Array:
        """Our a of MuJoCo's qacc."""
        return self.v_to(a_mj, q) - self._rate(v)

    def matrix_to(self, M: Array, q: Array) -> Array:
        """Our matrix on velocities of MuJoCo's."""
        rows = np.array([self.v_to(row, q) for row in M])
        return np.array([self.v_to(column, q) for column in rows.T]).T

    def data(self, q: Array, v: Array) -> Any:
        """New MjData at a state of ours."""
        data = mj.MjData(self.model)
        data.qpos[:], data.qvel[:] = self.q_from(q), self.v_from(v, q)
        return data

    def _rate(self, v: Array) -> Array:
        rate = np.zeros(len(v))
        for _, j, *_ in self._free:
            rate[j + 3 : j + 6] = np.cross(v[j : j + 3], v[j + 3 : j + 6])
        return rate


def _elementary(joint: Any) -> list[tuple[Any, Any]]:
    """MuJoCo's joints of one body, outermost first: type and axis."""
    match joint.kind:
        case "fixed":
            return []
        case "revolute":
            return [(_HINGE, joint.axis)]
        case "prismatic":
            return [(_SLIDE, joint.axis)]
        case "universal":
            return [(_HINGE, axis) for axis in joint.axes]
        case "cylindrical":
            return [(_HINGE, joint.axis), (_SLIDE, joint.axis)]
        case "planar":
            x, y, normal = matrix_with_z_along(joint.normal).T
            return [(_SLIDE, x), (_SLIDE, y), (_HINGE, normal)]
        case "spherical":
            return [(_BALL, (0, 0, 1))]  # the axis means nothing, here and below
        case "free":
            return [(_FREE, (0, 0, 1))]
    raise InputError(f"MuJoCo has no counterpart of {joint.kind} joints")


def add_equalities(twin: MujocoTwin, virtual: vc.Link) -> list[Any]:
    """Close a loop: one weld, or connects: one for a ball joint, two along the axis for a hinge."""
    joint = virtual.joint
    assert virtual.real is not None and virtual.parent is not None and joint is not None
    points = [np.zeros(3)]
    if joint.kind == "revolute":
        points.append(0.1 * np.array(joint.axis))  # type: ignore[attr-defined]
    added = []
    for k, point in enumerate(points):
        names = []
        for end, link, frame in (("A", virtual.real, virtual.on_real), ("B", virtual.parent, virtual.at)):
            assert frame is not None
            names.append(f"{joint.name}.{k}{end}")
            twin.body(link).add_site(name=names[-1], pos=frame @ point, quat=frame.quaternion)
        equality = twin.spec.add_equality()
        equality.type = mj.mjtEq.mjEQ_WELD if joint.kind == "fixed" else mj.mjtEq.mjEQ_CONNECT
        equality.objtype = mj.mjtObj.mjOBJ_SITE
        equality.name1, equality.name2 = names
        added.append(equality)
    return added
