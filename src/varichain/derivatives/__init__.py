"""Derivatives of the dynamics: exact, of open and closed chains, named by joints."""

from varichain.derivatives.forward import (
    ByTorque,
    ForwardDynamicsDerivatives,
    forward_dynamics_derivatives,
)
from varichain.derivatives.inverse import (
    ByMotion,
    InverseDynamicsDerivatives,
    inverse_dynamics_derivatives,
)
from varichain.derivatives.named import Derivative

__all__ = [
    "ByMotion",
    "ByTorque",
    "Derivative",
    "ForwardDynamicsDerivatives",
    "InverseDynamicsDerivatives",
    "forward_dynamics_derivatives",
    "inverse_dynamics_derivatives",
]
