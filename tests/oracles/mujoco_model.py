"""The same mechanism in MuJoCo, with the maps between its conventions and ours.

Only the free joint differs: MuJoCo keeps its position before the quaternion, both in the world, and its velocity as
[linear in world axes; angular in link axes]. So v_mj = T(q) v with T a rotation on the linear part, and accelerations
pick up Tdot v. Universal, cylindrical and planar joints become several hinges and slides of one body. MuJoCo has no
screw, no free joint below another link, no moving body without mass, no armature on a free joint's translation that
follows the link's axes, and its dry friction is a soft constraint: all of these are refused. Carried over: inertias,
gravity, armature, damping, springs. Limits are left out.
"""

from xml.sax.saxutils import quoteattr

import mujoco
import numpy as np

from oracles.joints import plane_axes, universal_axes
from oracles.rotations import quaternion_inverse, quaternion_product, rotation_of_quaternion


class MujocoTwin:
    """MuJoCo model and data of a mechanism; every method takes and gives our q, v, a and tau.

    q_address, v_address: where our numbers sit in MuJoCo's: q_mj[q_address] = q, v_mj[v_address] = v (free joints are
    then turned from the joint frame to world axes).
    """

    def __init__(self, m):
        self.xml = _mjcf(m)
        self.model = mujoco.MjModel.from_xml_string(self.xml)
        self.data = mujoco.MjData(self.model)
        self.body_ids = np.array([self.model.body(f"link {i}").id for i in range(len(m.links))], dtype=int)
        self._free = []  # (our first q, our first v, MuJoCo's first q, first v, joint frame's quaternion, its position)
        self._map_coordinates(m)
        self._set_joint_parameters(m)

    # maps

    def q_from(self, q):
        """MuJoCo's qpos of our q."""
        q_mj = np.empty(self.model.nq)
        q_mj[self.q_address] = q
        for i, _, i_mj, _, turn, p in self._free:
            q_mj[i_mj : i_mj + 3] = p + rotation_of_quaternion(turn) @ q[i + 4 : i + 7]
            q_mj[i_mj + 3 : i_mj + 7] = quaternion_product(turn, q[i : i + 4])
        return q_mj

    def q_to(self, q_mj):
        """Our q of MuJoCo's qpos."""
        q = np.array(q_mj[self.q_address])
        for i, _, i_mj, _, turn, p in self._free:
            q[i : i + 4] = quaternion_product(quaternion_inverse(turn), q_mj[i_mj + 3 : i_mj + 7])
            q[i + 4 : i + 7] = rotation_of_quaternion(turn).T @ (q_mj[i_mj : i_mj + 3] - p)
        return q

    def v_map(self, q):
        """T (n_v x n_v) with v_mj = T v; it is orthogonal."""
        T = np.zeros((self.model.nv, self.model.nv))
        T[self.v_address, np.arange(self.model.nv)] = 1.0
        for i, j, _, j_mj, turn, _ in self._free:
            T[j_mj : j_mj + 3, j + 3 : j + 6] = rotation_of_quaternion(turn) @ rotation_of_quaternion(q[i : i + 4])
        return T

    def v_map_rate(self, q, v):
        """Tdot v (n_v,): for a free joint's linear part R (w x v)."""
        rate = np.zeros(self.model.nv)
        for _, j, _, _, _, _ in self._free:
            rate[j + 3 : j + 6] = np.cross(v[j : j + 3], v[j + 3 : j + 6])
        return self.v_map(q) @ rate

    def v_from(self, v, q):
        """MuJoCo's qvel of our v; also tau."""
        return self.v_map(q) @ v

    def v_to(self, v_mj, q):
        """Our v of MuJoCo's qvel; also tau."""
        return self.v_map(q).T @ v_mj

    def a_from(self, a, q, v):
        """MuJoCo's qacc of our a."""
        return self.v_map(q) @ a + self.v_map_rate(q, v)

    def a_to(self, a_mj, q, v):
        """Our a of MuJoCo's qacc."""
        return self.v_map(q).T @ (a_mj - self.v_map_rate(q, v))

    def matrix_to(self, matrix_mj, q):
        """Our matrix on velocities of MuJoCo's full one."""
        T = self.v_map(q)
        return T.T @ matrix_mj @ T

    # algorithms

    def place(self, q, v=None, tau=None):
        """Set the state and run MuJoCo's whole forward pass."""
        self.data.qpos[:] = self.q_from(q)
        self.data.qvel[:] = 0.0 if v is None else self.v_from(v, q)
        self.data.qfrc_applied[:] = 0.0 if tau is None else self.v_from(tau, q)
        mujoco.mj_forward(self.model, self.data)

    def mass_matrix(self, q):
        """Mass matrix in our coordinates, armature included."""
        self.place(q)
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return self.matrix_to(M, q)

    def inverse_dynamics(self, q, v, a):
        """Joint forces in our coordinates, damping and springs included."""
        self.place(q, v)
        self.data.qacc[:] = self.a_from(a, q, v)
        mujoco.mj_inverse(self.model, self.data)
        return self.v_to(np.array(self.data.qfrc_inverse), q)

    def forward_dynamics(self, q, v, tau):
        """Accelerations in our coordinates, damping and springs included."""
        self.place(q, v, tau)
        return self.a_to(np.array(self.data.qacc), q, v)

    def poses(self, q):
        """Poses of the links (n_links x 4 x 4) in the order of m.links."""
        self.place(q)
        X = np.tile(np.eye(4), (len(self.body_ids), 1, 1))
        X[:, :3, :3] = self.data.xmat[self.body_ids].reshape(-1, 3, 3)
        X[:, :3, 3] = self.data.xpos[self.body_ids]
        return X

    # construction

    def _map_coordinates(self, m):
        q_address, v_address = [], []
        for i, link in enumerate(m.links):
            if link.joint.kind == "fixed":
                continue
            first = self.model.joint(f"joint {i}.0").id
            q_mj, v_mj = int(self.model.jnt_qposadr[first]), int(self.model.jnt_dofadr[first])
            if link.joint.kind == "free":
                self._free.append((len(q_address), len(v_address), q_mj, v_mj, np.array(link.at.quaternion), link.at.p))
                q_address += [q_mj + k for k in (3, 4, 5, 6, 0, 1, 2)]
                v_address += [v_mj + k for k in (3, 4, 5, 0, 1, 2)]
            else:
                q_address += range(q_mj, q_mj + link.joint.n_q)
                v_address += range(v_mj, v_mj + link.joint.n_v)
        self.q_address, self.v_address = np.array(q_address, dtype=int), np.array(v_address, dtype=int)

    def _set_joint_parameters(self, m):
        model = self.model
        per_freedom = {"armature": model.dof_armature, "damping": model.dof_damping}
        for name, target in per_freedom.items():
            target[self.v_address] = np.concatenate([np.zeros(0), *(getattr(j, name) for j in m.joints)])
        stiffness = np.zeros(model.nv)
        stiffness[self.v_address] = np.concatenate([np.zeros(0), *(j.stiffness for j in m.joints)])
        model.jnt_stiffness[:] = stiffness[model.jnt_dofadr]
        model.qpos_spring[:] = self.q_from(np.concatenate([np.zeros(0), *(j.rest for j in m.joints)]))


def mujoco_model(m):
    """Twin of the mechanism's tree. Raises ValueError where MuJoCo has no counterpart."""
    for link in m.links:
        _refuse(link)
    return MujocoTwin(m)


def _refuse(link):
    joint = link.joint
    if joint.kind == "screw":
        raise ValueError(f"{link.name}: MuJoCo has no screw joint")
    if joint.kind == "free" and not link.parent.is_ground:
        raise ValueError(f"{link.name}: MuJoCo's free joint belongs to children of the world only")
    if any(joint.friction):
        raise ValueError(f"{link.name}: MuJoCo's dry friction is a soft constraint, not a force")
    if joint.kind == "free" and (any(joint.armature[3:]) or len(set(joint.damping[3:])) > 1):
        raise ValueError(f"{link.name}: MuJoCo's free joint translates in world axes: no armature, equal damping only")
    if joint.kind == "free" and len(set(joint.stiffness)) > 1:
        raise ValueError(f"{link.name}: MuJoCo's free joint has one stiffness for turning and moving")


def _mjcf(m):
    children = {link.id: [] for link in (m.ground, *m.links)}
    for i, link in enumerate(m.links):
        children[link.parent.id].append((i, link))

    lines, stack = [], [(i, link, True) for i, link in reversed(children[m.ground.id])]
    while stack:
        i, link, opens = stack.pop()
        if not opens:
            lines.append("</body>")
            continue
        lines += _body(i, link)
        stack.append((i, link, False))
        stack += [(j, child, True) for j, child in reversed(children[link.id])]
    body = "\n".join(lines)
    return f"""<mujoco model={quoteattr(m.name)}>
<compiler angle="radian" boundmass="0" boundinertia="0" balanceinertia="false" inertiafromgeom="false"/>
<option gravity="{_text(m.gravity)}"><flag contact="disable" constraint="disable"/></option>
<worldbody>
{body}
</worldbody>
</mujoco>"""


def _body(i, link):
    """Opening tag of a body, its joints and its inertia."""
    yield f'<body name="link {i}" pos="{_text(link.at.p)}" quat="{_text(link.at.quaternion)}">'
    for k, (kind, axis) in enumerate(_elementary(link.joint)):
        tag = "<freejoint" if kind == "free" else f'<joint type="{kind}"'
        yield f'{tag} name="joint {i}.{k}"{axis}/>'
    if link.inertia.mass > 0.0:
        I_c = link.inertia.about_com
        full = (I_c[0, 0], I_c[1, 1], I_c[2, 2], I_c[0, 1], I_c[0, 2], I_c[1, 2])
        mass, com = float(link.inertia.mass), _text(link.inertia.com)
        yield f'<inertial mass="{mass!r}" pos="{com}" fullinertia="{_text(full)}"/>'


def _elementary(joint):
    """MuJoCo joints of one body, outermost first: (type, axis attribute)."""

    def along(kind, axis):
        return kind, f' axis="{_text(axis)}"'

    match joint.kind:
        case "fixed":
            return []
        case "revolute":
            return [along("hinge", joint.axis)]
        case "prismatic":
            return [along("slide", joint.axis)]
        case "universal":
            return [along("hinge", axis) for axis in universal_axes(joint)]
        case "cylindrical":
            return [along("hinge", joint.axis), along("slide", joint.axis)]
        case "planar":
            x, y, normal = plane_axes(joint)
            return [along("slide", x), along("slide", y), along("hinge", normal)]
        case "spherical":
            return [("ball", "")]
        case "free":
            return [("free", "")]
    raise ValueError(f"no such joint: {joint.kind}")


def _text(numbers):
    return " ".join(repr(float(number)) for number in numbers)
