"""Motions of least cost: trajectory optimisation by direct collocation, through changes of structure."""

from varichain.optimise.optimising import optimise_motion
from varichain.optimise.phase import Phase
from varichain.optimise.result import OptimisedMotion

__all__ = ["OptimisedMotion", "Phase", "optimise_motion"]
