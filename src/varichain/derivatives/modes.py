"""Present modes of stops and dry friction: which are closed, and which stick, in a state under torques."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from varichain.derivatives.restraining import Modes
from varichain.dynamics.forces import Force
from varichain.errors import InputError
from varichain.instants.restraints import restraints_of
from varichain.kernels.run_records import RK4
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.controls import Controls
from varichain.simulation.engine import Engine, new_record
from varichain.simulation.failures import check_status
from varichain.spatial.arrays import Array

_SAME = 1e-9  # [rad/s or m/s] of velocities: what differs more has had an impact


def modes_of(m: Mechanism, s: State, tau: Array, forces: Iterable[Force], limits: str) -> Modes:
    """Modes by name of a restraint; none with limits "off".

    Raises:
        InputError: A joint moves into its stop.
    """
    if limits == "off":
        return {}
    state, controls = s.copy(), Controls(None, None, tuple(forces))
    restraints = restraints_of(state.layout, limits)
    engine = Engine(state, restraints, controls.table(state.layout, ()), new_record(s.time, RK4, 1e-3, 1, 1e-9))
    controls.load_forces(engine)
    engine.set_torques(np.asarray(tau))
    engine.settle()
    check_status(engine)
    if np.abs(engine.v - s.v).max(initial=0.0) > _SAME:
        raise InputError("a joint moves into its stop: that is an impact, which has no acceleration")
    return engine.modes()


def locked_names(modes: Any) -> list[str]:
    """Names of restraints that are locked."""
    return [name for name, mode in modes.items() if mode["locked"]]
