"""Present modes of stops and dry friction: which are closed, and which stick, in a state under torques."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from varichain.derivatives.restraining import Modes, Restraining
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
    """Modes under torques by name of a restraint; none with limits "off".

    Raises:
        InputError: A joint moves into its stop.
    """
    if limits == "off":
        return {}
    engine = _settled(s, tau, forces, limits)
    if np.abs(engine.v - s.v).max(initial=0.0) > _SAME:
        raise InputError("a joint moves into its stop: that is an impact, which has no acceleration")
    return engine.modes()


def modes_in_motion(s: State, a: Array, restraining: Restraining) -> Modes:
    """Modes of a motion with given accelerations: what is at a stop, or has friction, and stays at rest, is locked."""
    engine, found = _settled(s, np.zeros(len(a)), (), "hard"), {}
    for name, record in zip(engine.restraint_names, engine.restraints, strict=True):
        at = -1 if record["x"] <= record["lower"] + _SAME else (1 if record["x"] >= record["upper"] - _SAME else 0)
        rows = restraining.rows_of(name, s.q)
        push = rows @ a + restraining.slope_of(name, s.q, s.v) @ s.v
        rests = np.abs(rows @ s.v).max() <= _SAME and np.abs(push).max() <= _SAME * (1.0 + np.abs(a).max())
        if rests and (at != 0 or record["friction"] > 0.0):
            found[name] = {"locked": 1, "at": at, "slide": 0, "direction": [0.0] * 3}
    return found


def _settled(s: State, tau: Array, forces: Iterable[Force], limits: str) -> Engine:
    """An engine in the state, with modes of its restraints."""
    state, controls = s.copy(), Controls(None, None, tuple(forces))
    restraints = restraints_of(state.layout, limits)
    engine = Engine(state, restraints, controls.table(state.layout, ()), new_record(s.time, RK4, 1e-3, 1, 1e-9))
    controls.load_forces(engine)
    engine.set_torques(np.asarray(tau))
    engine.settle()
    check_status(engine)
    return engine
