"""The same mechanism in Pinocchio, and its algorithms in our order of numbers.

The model and the maps are those of the benchmarks; `oracles_check` holds them against `oracles.tree`, which has
transforms, subspaces and rotations of its own. Pinocchio's rnea and aba know armature, but no damping, friction or
springs.
"""

import numpy as np
import pinocchio as pin

from varichain.bench.twin_pinocchio import PinocchioTwin

_FLIP = [3, 4, 5, 0, 1, 2]  # [angular; linear] <-> [linear; angular]


class PinocchioOracle(PinocchioTwin):
    """Pinocchio's model with a frame for each link; every joint type is expressible.

    frame_ids: the frame of each link, in the order of m.links.
    """

    def __init__(self, m):
        super().__init__(m)
        self.frame_ids = []
        for i, link in enumerate(m.links):
            joint, X = self.home[link.id]
            frame = pin.Frame(f"link {i}", joint, 0, X, pin.FrameType.BODY)
            self.frame_ids.append(int(self.model.addFrame(frame, False)))
        self.data = self.model.createData()

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
