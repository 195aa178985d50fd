"""Derivatives of the dynamics: exact, of open and closed chains, named by joints."""

from varichain.derivatives.cycle import Cycle, periodic
from varichain.derivatives.design import ByDesign, DesignDerivatives, design_derivatives
from varichain.derivatives.designs import Designs, designs
from varichain.derivatives.driven import ByDrive, DrivenDynamicsDerivatives, driven_dynamics_derivatives
from varichain.derivatives.forward import ByTorque, ForwardDynamicsDerivatives, forward_dynamics_derivatives
from varichain.derivatives.impact import ImpactDerivatives, impact_derivatives
from varichain.derivatives.inverse import ByMotion, InverseDynamicsDerivatives, inverse_dynamics_derivatives
from varichain.derivatives.joint_forces import joint_force_derivatives
from varichain.derivatives.linearisation import Linearisation, linearise
from varichain.derivatives.named import Derivative
from varichain.derivatives.parameters import (
    BaseParameters,
    Regressor,
    base_parameters,
    identify,
    inertial_regressor,
)
from varichain.derivatives.run import Sensitivity, sensitivity
from varichain.derivatives.totals import ByState, TotalDerivatives, total_derivatives

__all__ = [
    "BaseParameters",
    "ByDesign",
    "ByDrive",
    "ByMotion",
    "ByState",
    "ByTorque",
    "Cycle",
    "Derivative",
    "DesignDerivatives",
    "Designs",
    "DrivenDynamicsDerivatives",
    "ForwardDynamicsDerivatives",
    "ImpactDerivatives",
    "InverseDynamicsDerivatives",
    "Linearisation",
    "Regressor",
    "Sensitivity",
    "TotalDerivatives",
    "base_parameters",
    "design_derivatives",
    "designs",
    "driven_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "identify",
    "impact_derivatives",
    "inertial_regressor",
    "inverse_dynamics_derivatives",
    "joint_force_derivatives",
    "linearise",
    "periodic",
    "sensitivity",
    "total_derivatives",
]
