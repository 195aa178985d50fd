"""Holding a posture: the controller that keeps joints where they are."""

from __future__ import annotations

import numpy as np

from varichain.dynamics.inertia import mass_matrix
from varichain.errors import InputError
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.controllers import PD, ComputedTorque, as_motion

_FREQUENCY = 20.0  # [rad/s], critically damped: back within half a second


def hold_posture(m: Mechanism, s: State) -> PD | ComputedTorque:
    """Controller that holds the present posture by torques of all actuated joints.

    Computed torques, without error, where the mechanism is carried. Where a link floats no torque carries its weight:
    there joints are springs with dampers, of the frequency that each would have were all others free, which no step of
    a simulation makes unstable: M^-1 K has no eigenvalue above n_v times the square of that.

    Raises:
        InputError: No joint has an actuator.
    """
    names = [name for name in s.joints if m.joint(name).actuated is not False and 0 < m.joint(name).n_v < 6]
    if not names:
        raise InputError("no joint has an actuator: there is nothing that could hold the posture")
    target = as_motion(s.copy(), names)
    if not any(m.joint(name).n_v == 6 for name in s.joints):
        return ComputedTorque(target, stiffness=_FREQUENCY**2)
    felt = 1.0 / np.diag(np.linalg.inv(mass_matrix(m, s)))
    inertias = {slot.name: float(felt[slot.v].min()) for slot in s.layout.slots if slot.name in names}
    stiffness = {name: _FREQUENCY**2 * inertia for name, inertia in inertias.items()}
    return PD(target, stiffness, {name: 2.0 * _FREQUENCY * inertia for name, inertia in inertias.items()})
