"""The friendly functions over the kernels: they take a mechanism and a state, check both, and answer with names."""

from varichain.dynamics.actuation import Actuation
from varichain.dynamics.assembly import Assembly, assemble
from varichain.dynamics.batch import Batch
from varichain.dynamics.coupling_matrix import CouplingMatrix, coupling_matrix
from varichain.dynamics.equilibrium import Equilibrium, equilibrium
from varichain.dynamics.forces import Force, LinkForces
from varichain.dynamics.forward import ForwardDynamics, forward_dynamics
from varichain.dynamics.inertia import bias_force, center_of_mass, center_of_mass_jacobian, mass_matrix
from varichain.dynamics.inverse import InverseDynamics, inverse_dynamics
from varichain.dynamics.joint_force_traces import with_joint_forces
from varichain.dynamics.joint_forces import joint_forces
from varichain.dynamics.kinematics import acceleration, bias_acceleration, jacobian, pose, set_pose, velocity
from varichain.dynamics.limits import limit_excess
from varichain.dynamics.loop_forces import LoopForces
from varichain.dynamics.loop_limits import FrictionCone, WrenchLimits
from varichain.dynamics.loops import LoopState, loop_states
from varichain.dynamics.mobility import Mobility, mobility
from varichain.dynamics.prepare import Prepared
from varichain.dynamics.projection import project
from varichain.dynamics.totals import Energy, Momentum, energy, momentum

__all__ = [
    "Actuation",
    "Assembly",
    "Batch",
    "CouplingMatrix",
    "Energy",
    "Equilibrium",
    "Force",
    "ForwardDynamics",
    "FrictionCone",
    "InverseDynamics",
    "LinkForces",
    "LoopForces",
    "LoopState",
    "Mobility",
    "Momentum",
    "Prepared",
    "WrenchLimits",
    "acceleration",
    "assemble",
    "bias_acceleration",
    "bias_force",
    "center_of_mass",
    "center_of_mass_jacobian",
    "coupling_matrix",
    "energy",
    "equilibrium",
    "forward_dynamics",
    "inverse_dynamics",
    "jacobian",
    "joint_forces",
    "limit_excess",
    "loop_states",
    "mass_matrix",
    "mobility",
    "momentum",
    "pose",
    "project",
    "set_pose",
    "velocity",
    "with_joint_forces",
]
