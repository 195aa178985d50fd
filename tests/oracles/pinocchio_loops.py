"""The same closed chain in Pinocchio: loops of ball joints and welds as its 3-D and 6-D rigid constraints."""

import numpy as np
import pinocchio as pin

from oracles.pinocchio_model import pinocchio_model

TYPES = {"spherical": pin.ContactType.CONTACT_3D, "fixed": pin.ContactType.CONTACT_6D}


class PinocchioLoopTwin:
    """Pinocchio's model with the loops as rigid constraints between frames on two joints.

    kinds: constraint type by the loop joint's kind; a joint that Pinocchio lacks may be stood in for by one it has.
    """

    def __init__(self, m, accuracy=1e-14, mu=0.0, most_steps=1, kinds=TYPES):
        self.tree = pinocchio_model(m)
        self.constraints = pin.StdVec_RigidConstraintModel()
        self.constraint_data = pin.StdVec_RigidConstraintData()
        for virtual in m.virtual_links:
            self.constraints.append(self._constraint(m, virtual, kinds[virtual.joint.kind]))
            self.constraint_data.append(self.constraints[-1].createData())
        self.data = self.tree.model.createData()
        pin.initConstraintDynamics(self.tree.model, self.data, self.constraints, self.constraint_data)
        self.settings = pin.ProximalSettings(accuracy, mu, most_steps)

    def _constraint(self, m, virtual, kind):
        joint_A, X_A = self._frame(m, virtual.real, virtual.on_real)
        joint_B, X_B = self._frame(m, virtual.parent, virtual.at)
        model = self.tree.model
        constraint = pin.RigidConstraintModel(kind, model, joint_A, X_A, joint_B, X_B, pin.ReferenceFrame.LOCAL)
        constraint.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(0.0, 0.0))
        return constraint

    def _frame(self, m, link, on_link):
        X = pin.SE3(np.array(on_link.R), np.array(on_link.p))
        if link.is_ground:
            return 0, X
        frame = self.tree.model.frames[self.tree.frame_ids[m.links.index(link)]]
        return frame.parentJoint, frame.placement * X

    def run(self, q, v, tau):
        """Accelerations in Pinocchio's order from its own q, v, tau."""
        return pin.constraintDynamics(
            self.tree.model, self.data, q, v, tau, self.constraints, self.constraint_data, self.settings
        )

    def forward_dynamics(self, s, tau):
        """Accelerations in our order."""
        twin = self.tree
        return twin.v_to(np.array(self.run(twin.q_from(s.q), twin.v_from(s.v), twin.v_from(tau))))
