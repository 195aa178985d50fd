"""The same closed chain in Pinocchio: loops of ball joints and welds as its 3-D and 6-D rigid constraints."""

import numpy as np
import pinocchio as pin

from varichain.bench.twin_pinocchio import PinocchioTwin


class PinocchioLoopOracle(PinocchioTwin):
    """Pinocchio's model with the loops as rigid constraints between frames on two joints."""

    def __init__(self, m, accuracy=1e-14, mu=0.0, most_steps=1):
        super().__init__(m)
        self.close_loops(m)
        self.settings = pin.ProximalSettings(accuracy, mu, most_steps)

    def forward_dynamics(self, s, tau):
        """Accelerations in our order."""
        q, v, tau = self.q_from(s.q), self.v_from(s.v), self.v_from(tau)
        loops = self.constraints, self.constraint_data, self.settings
        return self.v_to(np.array(pin.constraintDynamics(self.model, self.data, q, v, tau, *loops)))
