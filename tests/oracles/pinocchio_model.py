"""The same mechanism in Pinocchio, with the maps between its conventions and ours.

Pinocchio keeps quaternions as (x, y, z, w), a free joint's q as position then quaternion, and velocities as [linear;
angular] in the link's axes: all of them reorderings of our numbers, so every map is an integer index array. Joints are
added depth first, because Pinocchio's mass matrix takes each subtree for one contiguous block. Carried over:
placements, inertias, gravity, armature. Not carried over: limits, damping, friction, springs (rnea and aba know none).
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from oracles.joints import plane_axes, universal_axes

_FLIP = [3, 4, 5, 0, 1, 2]  # [angular; linear] <-> [linear; angular]
_FREE_Q = [4, 5, 6, 1, 2, 3, 0]
_BALL_Q = [1, 2, 3, 0]


@dataclass
class PinocchioTwin:
    """Pinocchio model and data of a mechanism.

    q_index, v_index: q_pin = q[q_index], v_pin = v[v_index]. frame_ids: the frame of each link, in the order of
    m.links.
    """

    model: pin.Model
    q_index: np.ndarray
    v_index: np.ndarray
    frame_ids: list[int]
    data: pin.Data

    def q_from(self, q):
        """Pinocchio's q (model.nq,) of ours; also row-wise on a batch."""
        return np.ascontiguousarray(np.asarray(q, dtype=float)[..., self.q_index])

    def q_to(self, q_pin):
        """Our q of Pinocchio's."""
        q = np.empty_like(q_pin)
        q[..., self.q_index] = q_pin
        return q

    def v_from(self, v):
        """Pinocchio's v, a or tau of ours; also row-wise on a batch."""
        return np.ascontiguousarray(np.asarray(v, dtype=float)[..., self.v_index])

    def v_to(self, v_pin):
        """Our v, a or tau of Pinocchio's."""
        v = np.empty_like(v_pin)
        v[..., self.v_index] = v_pin
        return v

    def matrix_to(self, matrix_pin):
        """Our matrix on velocities (n_v x n_v) of Pinocchio's full one."""
        matrix = np.empty_like(matrix_pin)
        matrix[np.ix_(self.v_index, self.v_index)] = matrix_pin
        return matrix

    def jacobian_to(self, jacobian_pin):
        """Our Jacobian (6 x n_v) of Pinocchio's [linear; angular] one."""
        # a matrix of one column comes out of Pinocchio as a vector
        return self.v_to(np.reshape(jacobian_pin, (6, self.model.nv))[_FLIP])

    def mass_matrix(self, q):
        """Mass matrix in our order."""
        return self.matrix_to(np.array(pin.crba(self.model, self.data, self.q_from(q))))

    def inverse_dynamics(self, q, v, a):
        """Joint forces in our order: rigid bodies, gravity and armature."""
        return self.v_to(np.array(pin.rnea(self.model, self.data, self.q_from(q), self.v_from(v), self.v_from(a))))

    def forward_dynamics(self, q, v, tau):
        """Accelerations in our order: rigid bodies, gravity and armature."""
        return self.v_to(np.array(pin.aba(self.model, self.data, self.q_from(q), self.v_from(v), self.v_from(tau))))

    def poses(self, q):
        """Poses of the links (n_links x 4 x 4) in the order of m.links."""
        pin.framesForwardKinematics(self.model, self.data, self.q_from(q))
        return np.array([self.data.oMf[i].homogeneous for i in self.frame_ids])

    def jacobians(self, q):
        """Jacobians of the links (n_links x 6 x n_v), world axes at the link's origin."""
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        q_pin = self.q_from(q)
        frames = (pin.computeFrameJacobian(self.model, self.data, q_pin, i, axes) for i in self.frame_ids)
        return np.array([self.jacobian_to(jacobian) for jacobian in frames])


def pinocchio_model(m):
    """Twin of the mechanism's tree; every joint type is expressible.

    Planar and cylindrical joints become composites of one-axis joints: Pinocchio's own planar joint keeps (x, y, cos,
    sin) and velocities in the link's axes, and there is no cylindrical one.
    """
    model = pin.Model()
    model.name = m.name
    model.gravity = pin.Motion(np.asarray(m.gravity, dtype=float), np.zeros(3))
    q_start, v_start, armature = _starts(m.joints)
    index = {link.id: i for i, link in enumerate(m.links)}
    home = {m.ground.id: (0, pin.SE3.Identity(), 0)}  # link -> (joint, link's frame in that joint's, frame)
    q_index, v_index, frame_ids = [], [], [0] * len(m.links)

    for link in _depth_first(m):
        i = index[link.id]
        parent_joint, X_JP, parent_frame = home[link.parent.id]
        X_JL = X_JP * pin.SE3(np.array(link.at.R), np.array(link.at.p))
        if link.joint.kind == "fixed":
            joint_id = parent_joint
        else:
            joint_id = model.addJoint(parent_joint, _joint_model(link.joint), X_JL, f"joint {i}")
            parent_frame, X_JL = int(model.addJointFrame(joint_id, parent_frame)), pin.SE3.Identity()
            q_index += [q_start[i] + k for k in _q_order(link.joint)]
            v_index += [v_start[i] + k for k in _v_order(link.joint)]
        body = link.inertia
        inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.about_com))
        model.appendBodyToJoint(joint_id, inertia, X_JL)
        frame = pin.Frame(f"link {i}", joint_id, parent_frame, X_JL, pin.FrameType.BODY)
        frame_ids[i] = int(model.addFrame(frame, False))
        home[link.id] = (joint_id, X_JL, frame_ids[i])

    v_index = np.array(v_index, dtype=int)
    model.armature = armature[v_index]
    return PinocchioTwin(model, np.array(q_index, dtype=int), v_index, frame_ids, model.createData())


def _starts(joints):
    """First index of each joint in q and in v, and the armature of every freedom."""
    q_start = np.cumsum([0, *(joint.n_q for joint in joints)])
    v_start = np.cumsum([0, *(joint.n_v for joint in joints)])
    return q_start, v_start, np.concatenate([np.zeros(0), *(joint.armature for joint in joints)])


def _depth_first(m):
    """Real links, each followed by its whole subtree (a stack, so that long chains are fine)."""
    children = {link.id: [] for link in (m.ground, *m.links)}
    for link in m.links:
        children[link.parent.id].append(link)
    stack = children[m.ground.id][::-1]
    while stack:
        link = stack.pop()
        yield link
        stack += children[link.id][::-1]


def _q_order(joint):
    return {"spherical": _BALL_Q, "free": _FREE_Q}.get(joint.kind, range(joint.n_q))


def _v_order(joint):
    return _FLIP if joint.kind == "free" else range(joint.n_v)


def _joint_model(joint):
    match joint.kind:
        case "revolute":
            return pin.JointModelRevoluteUnaligned(np.array(joint.axis))
        case "prismatic":
            return pin.JointModelPrismaticUnaligned(np.array(joint.axis))
        case "screw":
            return pin.JointModelHelicalUnaligned(np.array(joint.axis), float(joint.pitch))
        case "universal":
            return pin.JointModelUniversal(*(np.array(axis) for axis in universal_axes(joint)))
        case "cylindrical":
            axis = np.array(joint.axis)
            return _composite(pin.JointModelRevoluteUnaligned(axis), pin.JointModelPrismaticUnaligned(axis))
        case "planar":
            x, y, normal = (np.array(axis) for axis in plane_axes(joint))
            slides = pin.JointModelPrismaticUnaligned(x), pin.JointModelPrismaticUnaligned(y)
            return _composite(*slides, pin.JointModelRevoluteUnaligned(normal))
        case "spherical":
            return pin.JointModelSpherical()
        case "free":
            return pin.JointModelFreeFlyer()
    raise ValueError(f"no such joint: {joint.kind}")


def _composite(*joints):
    composite = pin.JointModelComposite()
    for joint in joints:
        composite.addJoint(joint)
    return composite
