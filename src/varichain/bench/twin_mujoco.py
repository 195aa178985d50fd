"""A mechanism in MuJoCo, with the maps between its conventions and ours.

MuJoCo keeps a free joint's position before its quaternion, and its velocity as [linear in world axes; angular in link
axes]: v_mj = T(q) v with T orthogonal, and accelerations pick up Tdot v. Its loops are soft equalities between sites.
"""

from __future__ import annotations

from typing import Any

import mujoco as mj
import numpy as np
from numpy.typing import NDArray

import varichain as vc
from varichain.errors import InputError
from varichain.spatial.rotation import matrix_from_quaternion

Array = NDArray[np.float64]

_TYPES = {
    "revolute": mj.mjtJoint.mjJNT_HINGE,
    "prismatic": mj.mjtJoint.mjJNT_SLIDE,
    "spherical": mj.mjtJoint.mjJNT_BALL,
    "free": mj.mjtJoint.mjJNT_FREE,
}


class MujocoTwin:
    """Model of a mechanism, its loops included; limits, damping and springs are left out.

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
        self._free: list[tuple[int, int, int]] = []  # our first q and v, MuJoCo's first v
        self._origin = np.zeros(self.model.nq)  # MuJoCo counts a free joint's position from the world's origin
        for link, joint in zip(m.links, m.joints, strict=True):
            if joint.kind == "fixed":
                continue
            number = self.model.joint(str(joint.name)).id
            first_q, first_v = int(self.model.jnt_qposadr[number]), int(self.model.jnt_dofadr[number])
            if joint.kind == "free":
                self._free.append((len(q), len(v), first_v))
                self._origin[first_q : first_q + 3] = link.at.p
            q += [first_q + k for k in ((3, 4, 5, 6, 0, 1, 2) if joint.kind == "free" else range(joint.n_q))]
            v += [first_v + k for k in ((3, 4, 5, 0, 1, 2) if joint.kind == "free" else range(joint.n_v))]
        self._q, self._v = np.array(q), np.array(v)

    def body(self, link: vc.Link) -> Any:
        """The body of a link."""
        return self._bodies[link.name]

    def _add_body(self, link: vc.Link) -> None:
        assert link.parent is not None and link.joint is not None
        kind, at = link.joint.kind, link.at
        if kind not in (*_TYPES, "fixed") or (kind == "free" and abs(at.quaternion[0]) != 1.0):
            raise InputError(f"benchmarks have no MuJoCo counterpart of the {kind} joint of {link.name!r}")
        body = self._bodies[link.parent.name].add_body(name=link.name, pos=at.p, quat=at.quaternion)
        self._bodies[link.name] = body
        if kind != "fixed":
            axis = {"axis": link.joint.axis} if kind in ("revolute", "prismatic") else {}  # type: ignore[attr-defined]
            body.add_joint(name=str(link.joint.name), type=_TYPES[kind], **axis)
        if link.inertia.mass > 0.0:
            I = link.inertia.about_com
            body.explicitinertial, body.mass, body.ipos = True, link.inertia.mass, link.inertia.com
            body.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]

    def q_from(self, q: Array) -> Array:
        """MuJoCo's qpos of our q."""
        q_mj = np.empty(self.model.nq)
        q_mj[self._q] = q
        found: Array = q_mj + self._origin
        return found

    def q_to(self, q_mj: Array) -> Array:
        """Our q of MuJoCo's qpos."""
        found: Array = (q_mj - self._origin)[self._q]
        return found

    def v_from(self, v: Array, q: Array) -> Array:
        """MuJoCo's qvel of our v; also tau."""
        v_mj = np.empty(self.model.nv)
        v_mj[self._v] = v
        for i, _, k in self._free:
            v_mj[k : k + 3] = matrix_from_quaternion(q[i : i + 4]) @ v_mj[k : k + 3]
        return v_mj

    def v_to(self, v_mj: Array, q: Array) -> Array:
        """Our v of MuJoCo's qvel; also tau."""
        v = np.array(v_mj)
        for i, _, k in self._free:
            v[k : k + 3] = matrix_from_quaternion(q[i : i + 4]).T @ v[k : k + 3]
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
        for _, j, _ in self._free:
            rate[j + 3 : j + 6] = np.cross(v[j : j + 3], v[j + 3 : j + 6])
        return rate


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
