"""Animation space: functions of the configuration, with exact gradients and Hessians, and motion in them [PFB].

A function is an expression over leaves: `point`, `direction`, `rotation`, `distance`, `center_of_mass`, `coordinate`,
`posture`, `closure_error`, `time`, `given`; rates without a position are `angular_velocity`, `momentum` and
`angular_momentum`. Functions name links and joints; an `AnimationSpace` joins them with a mechanism.
"""

from varichain.animation.closings import Closings, closings
from varichain.animation.closure import closure_error
from varichain.animation.dynamics import SpaceDynamics, least_torque, space_dynamics
from varichain.animation.function import Function
from varichain.animation.holding import argument_of
from varichain.animation.inverse import InverseMotion, Resolution, inverse_acceleration, inverse_velocity
from varichain.animation.planning import Plan, plan
from varichain.animation.prepared import PreparedSpace
from varichain.animation.program import Evaluation
from varichain.animation.quantities import (
    angular_momentum,
    angular_velocity,
    center_of_mass,
    coordinate,
    direction,
    distance,
    given,
    momentum,
    point,
    posture,
    rotation,
    stack,
    time,
)
from varichain.animation.reaching import Reached, reach
from varichain.animation.reduced import Reduced
from varichain.animation.space import AnimationSpace
from varichain.animation.tracking import Track, Tracker, Watch

__all__ = [
    "AnimationSpace",
    "Closings",
    "Evaluation",
    "Function",
    "InverseMotion",
    "Plan",
    "PreparedSpace",
    "Reached",
    "Reduced",
    "Resolution",
    "SpaceDynamics",
    "Track",
    "Tracker",
    "Watch",
    "angular_momentum",
    "angular_velocity",
    "argument_of",
    "center_of_mass",
    "closings",
    "closure_error",
    "coordinate",
    "direction",
    "distance",
    "given",
    "inverse_acceleration",
    "inverse_velocity",
    "least_torque",
    "momentum",
    "plan",
    "point",
    "posture",
    "reach",
    "rotation",
    "space_dynamics",
    "stack",
    "time",
]
