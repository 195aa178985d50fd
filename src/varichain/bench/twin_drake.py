"""A mechanism's tree in Drake, with the maps between its conventions and ours.

A ball joint has roll, pitch and yaw there, and the angular velocity in the parent's axes; a floating body a quaternion,
then its position, and both velocities in world axes: v_drake = T(q) v with T orthogonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
    WeldJoint,
)

import varichain as vc
from varichain.errors import InputError
from varichain.spatial.arrays import Array
from varichain.spatial.rotation import matrix_from_quaternion


class DrakeTwin:
    """Plant and context of a mechanism's tree; loops, limits and damping are left out."""

    def __init__(self, m: vc.Mechanism) -> None:
        """Build it, in continuous time."""
        self.plant = MultibodyPlant(0.0)
        self.plant.mutable_gravity_field().set_gravity_vector(np.array(m.gravity))
        bodies = {m.ground.name: self.plant.world_body()}
        joints = []
        for number, link in enumerate(m.links):
            assert link.parent is not None
            bodies[link.name] = body = self.plant.AddRigidBody(f"link {number}", _inertia(link))
            joints.append(self._join(f"joint {number}", link, bodies[link.parent.name], body))
        self.plant.Finalize()
        self._slots = [
            (joint.kind, place.position_start(), place.velocity_start())
            for joint, place in zip(m.joints, joints, strict=True)
        ]
        self.context = self.plant.CreateDefaultContext()

    def _join(self, name: str, link: vc.Link, parent: Any, body: Any) -> Any:
        X = RigidTransform(RotationMatrix(np.array(link.at.R)), np.array(link.at.p))
        frame = self.plant.AddFrame(FixedOffsetFrame(f"{name} frame", parent.body_frame(), X))
        ends, joint = (name, frame, body.body_frame()), link.joint
        if isinstance(joint, vc.Revolute):
            return self.plant.AddJoint(RevoluteJoint(*ends, np.array(joint.axis)))
        if isinstance(joint, vc.Prismatic):
            return self.plant.AddJoint(PrismaticJoint(*ends, np.array(joint.axis)))
        if isinstance(joint, vc.Spherical):
            return self.plant.AddJoint(BallRpyJoint(*ends))
        if isinstance(joint, vc.Free):
            return self.plant.AddJoint(QuaternionFloatingJoint(*ends))
        if isinstance(joint, vc.Fixed):
            return self.plant.AddJoint(WeldJoint(*ends, RigidTransform()))
        raise InputError(f"benchmarks have no Drake counterpart of the joint of {link.name!r}")

    def q_from(self, q: Array) -> Array:
        """Drake's positions of our q."""
        found, i = np.empty(self.plant.num_positions()), 0
        for kind, first, _ in self._slots:
            n = {"fixed": 0, "spherical": 4, "free": 7}.get(kind, 1)
            part = q[i : i + n]
            if kind == "spherical":
                part = RollPitchYaw(RotationMatrix(matrix_from_quaternion(part))).vector()
            found[first : first + len(part)] = part
            i += n
        return found

    def v_map(self, q: Array) -> Array:
        """T (n_v, n_v) with v_drake = T v."""
        T, i, k = np.zeros((self.plant.num_velocities(),) * 2), 0, 0
        for kind, _, first in self._slots:
            n_q, n_v = {"fixed": (0, 0), "spherical": (4, 3), "free": (7, 6)}.get(kind, (1, 1))
            if n_v == 1:
                T[first, k] = 1.0
            for block in range(0, n_v if n_v > 1 else 0, 3):
                rows, columns = slice(first + block, first + block + 3), slice(k + block, k + block + 3)
                T[rows, columns] = matrix_from_quaternion(q[i : i + 4])
            i, k = i + n_q, k + n_v
        return T

    def rate(self, v: Array) -> Array:
        """T^-1 Tdot v (n_v,): of a floating body's linear velocity, w x v in its own axes."""
        rate, k = np.zeros(len(v)), 0
        for kind, _, _ in self._slots:
            if kind == "free":
                rate[k + 3 : k + 6] = np.cross(v[k : k + 3], v[k + 3 : k + 6])
            k += {"fixed": 0, "spherical": 3, "free": 6}.get(kind, 1)
        return rate


def _inertia(link: vc.Link) -> Any:
    body, I = link.inertia, link.inertia.about_com
    about_com = RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    com = np.array(body.com)
    return SpatialInertia.MakeFromCentralInertia(mass=body.mass, p_PScm_E=com, I_SScm_E=about_com)
