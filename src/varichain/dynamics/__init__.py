"""The friendly functions over the kernels: they take a mechanism and a state, check both, and answer with names."""

from varichain.dynamics.forces import Force
from varichain.dynamics.forward import ForwardDynamics, forward_dynamics
from varichain.dynamics.inertia import bias_force, center_of_mass, center_of_mass_jacobian, mass_matrix
from varichain.dynamics.inverse import InverseDynamics, inverse_dynamics
from varichain.dynamics.kinematics import bias_acceleration, jacobian, pose, velocity
from varichain.dynamics.limits import limit_excess
from varichain.dynamics.prepare import Prepared
from varichain.dynamics.totals import Energy, Momentum, energy, momentum

__all__ = [
    "Energy",
    "Force",
    "ForwardDynamics",
    "InverseDynamics",
    "Momentum",
    "Prepared",
    "bias_acceleration",
    "bias_force",
    "center_of_mass",
    "center_of_mass_jacobian",
    "energy",
    "forward_dynamics",
    "inverse_dynamics",
    "jacobian",
    "limit_excess",
    "mass_matrix",
    "momentum",
    "pose",
    "velocity",
]
