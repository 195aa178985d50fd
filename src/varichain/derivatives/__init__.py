"""Derivatives of the dynamics: exact, of open and closed chains, named by joints."""

from varichain.derivatives.forward import ByTorque, ForwardDynamicsDerivatives, forward_dynamics_derivatives
from varichain.derivatives.inverse import ByMotion, InverseDynamicsDerivatives, inverse_dynamics_derivatives
from varichain.derivatives.named import Derivative
from varichain.derivatives.parameters import (
    BaseParameters,
    Regressor,
    base_parameters,
    identify,
    inertial_regressor,
)
from varichain.derivatives.totals import ByState, TotalDerivatives, total_derivatives

__all__ = [
    "BaseParameters",
    "ByMotion",
    "ByState",
    "ByTorque",
    "Derivative",
    "ForwardDynamicsDerivatives",
    "InverseDynamicsDerivatives",
    "Regressor",
    "TotalDerivatives",
    "base_parameters",
    "forward_dynamics_derivatives",
    "identify",
    "inertial_regressor",
    "inverse_dynamics_derivatives",
    "total_derivatives",
]
