"""The same mechanism in MuJoCo, and its algorithms in our order of numbers.

The model and the maps are those of the benchmarks; `oracles_check` holds them against `oracles.tree`, which has
transforms, subspaces and rotations of its own. Damping and springs are carried over besides. MuJoCo has no moving body
without mass, its dry friction is a soft constraint, and its free joint translates in world axes: what does not fit is
refused. Limits and loops are switched off.
"""

import mujoco
import numpy as np

from varichain.bench.twin_mujoco import MujocoTwin


class MujocoOracle(MujocoTwin):
    """MuJoCo model and data of a mechanism's tree; every method takes and gives our q, v, a and tau."""

    def __init__(self, m):
        for link in m.links:
            _refuse(link)
        super().__init__(m)
        off = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.model.opt.disableflags = int(off)
        self.body_ids = np.array([self.model.body(link.name).id for link in m.links], dtype=int)
        self._set_passive(m)
        self.state = mujoco.MjData(self.model)

    def _set_passive(self, m):
        model = self.model
        damping, stiffness, rest = (
            np.concatenate([np.zeros(0), *(getattr(joint, name) for joint in m.joints)])
            for name in ("damping", "stiffness", "rest")
        )
        per_freedom = np.zeros(model.nv)
        per_freedom[self._v] = stiffness
        model.dof_damping[self._v] = damping
        model.jnt_stiffness[:] = per_freedom[model.jnt_dofadr]
        model.qpos_spring[:] = self.q_from(rest)

    def place(self, q, v=None, tau=None):
        """Set the state and run MuJoCo's whole forward pass."""
        self.state.qpos[:] = self.q_from(q)
        self.state.qvel[:] = 0.0 if v is None else self.v_from(v, q)
        self.state.qfrc_applied[:] = 0.0 if tau is None else self.v_from(tau, q)
        mujoco.mj_forward(self.model, self.state)

    def mass_matrix(self, q):
        """Mass matrix in our coordinates, armature included."""
        self.place(q)
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.state, M)
        return self.matrix_to(M, q)

    def inverse_dynamics(self, q, v, a):
        """Joint forces in our coordinates, damping and springs included."""
        self.place(q, v)
        self.state.qacc[:] = self.a_from(a, q, v)
        mujoco.mj_inverse(self.model, self.state)
        return self.v_to(np.array(self.state.qfrc_inverse), q)

    def forward_dynamics(self, q, v, tau):
        """Accelerations in our coordinates, damping and springs included."""
        self.place(q, v, tau)
        return self.a_to(np.array(self.state.qacc), q, v)

    def poses(self, q):
        """Poses of the links (n_links x 4 x 4) in the order of m.links."""
        self.place(q)
        X = np.tile(np.eye(4), (len(self.body_ids), 1, 1))
        X[:, :3, :3] = self.state.xmat[self.body_ids].reshape(-1, 3, 3)
        X[:, :3, 3] = self.state.xpos[self.body_ids]
        return X


def _refuse(link):
    """Raise ValueError where MuJoCo has no counterpart of what a joint's freedoms do."""
    joint = link.joint
    if any(joint.friction):
        raise ValueError(f"{link.name}: MuJoCo's dry friction is a soft constraint, not a force")
    if joint.kind == "free" and (any(joint.armature[3:]) or len(set(joint.damping[3:])) > 1):
        raise ValueError(f"{link.name}: MuJoCo's free joint translates in world axes: no armature, equal damping only")
    if joint.kind == "free" and len(set(joint.stiffness)) > 1:
        raise ValueError(f"{link.name}: MuJoCo's free joint has one stiffness for turning and moving")
