"""Checks of many start states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.batch import Batch
from varichain.errors import InputError, VarichainError
from varichain.layout.layout import Layout, layout_of
from varichain.layout.state import State, require_fit
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.settings import Settings
from varichain.simulation.start import INSIDE, OPEN, OPENING, checked_start

Array = NDArray[np.float64]


def states_from(m: Mechanism, given: Any) -> tuple[Array, Array, float]:
    """q (n, n_q), v (n, n_v) and the time [s], of State objects or of a pair of such arrays."""
    layout = layout_of(m)
    is_sequence = isinstance(given, Sequence) and not isinstance(given, str)
    if is_sequence and len(given) == 2 and not any(isinstance(part, State) for part in given):
        q, v = (np.array(part, dtype=np.float64) for part in given)
        if q.ndim != 2 or q.shape != (len(q), layout.n_q) or v.shape != (len(q), layout.n_v):
            raise InputError(
                f"states must be q (n, {layout.n_q}) and v (n, {layout.n_v}), not arrays of shapes {q.shape} and "
                f"{v.shape}"
            )
        return q, v, 0.0
    states = list(given) if is_sequence else [given]
    for state in states:
        if not isinstance(state, State):
            raise InputError(f"states must be State objects or a pair of arrays (q, v), not {type(state).__name__}")
    times = {state.time for state in states}
    if len(times) > 1:
        raise InputError(f"states must have the same time; found {min(times):g} s and {max(times):g} s")
    for state in states:
        require_fit(layout, state)
    q = np.array([state.q for state in states]).reshape(-1, layout.n_q)
    v = np.array([state.v for state in states]).reshape(-1, layout.n_v)
    return q, v, times.pop() if times else 0.0


def checked_starts(
    m: Mechanism, batch: Batch, q: Array, v: Array, time: float, settings: Settings
) -> tuple[Array, Array]:
    """Copies of the states with their loops closed to rounding, the same bits as `checked_start` of each.

    Raises:
        InputError: A run cannot begin in one of the states; the message names the first.
    """
    layout = layout_of(m)
    suspects = batch.faults(q, v) != 0
    _refuse(m, layout, q, v, time, settings, suspects)
    if settings.limits == "hard":
        suspects |= _excess(m, layout, q) > INSIDE
    q_closed, v_closed, left = batch.project(q, v)
    if not layout.is_tree:
        rates = np.abs(batch.row_velocities(q, v)).max(axis=1, initial=0.0)
        fastest = np.abs(v).max(axis=1, initial=0.0)
        moved = np.abs(batch.difference(q, np.where(np.isfinite(q_closed), q_closed, q))).max(axis=1, initial=0.0)
        suspects |= ~(left <= 1e-9) | ~(moved <= OPEN) | ~(rates <= OPENING * (1.0 + fastest))
        suspects |= ~np.isfinite(v_closed).all(axis=1)
    _refuse(m, layout, q, v, time, settings, suspects)
    return q_closed, v_closed


def _refuse(
    m: Mechanism, layout: Layout, q: Array, v: Array, time: float, settings: Settings, suspects: NDArray[np.bool_]
) -> None:
    """Raise the error of the first of the suspect states, if there is one."""
    for i in np.flatnonzero(suspects).tolist():
        try:
            checked_start(m, State(layout, q[i].copy(), v[i].copy(), time), settings)
        except VarichainError as error:
            raise InputError(f"state {i} of {len(q)}: {error}") from error


def _excess(m: Mechanism, layout: Layout, q: Array) -> Array:
    """How far every state is beyond its limits (n,) [rad or m]."""
    excess = np.full(len(q), -np.inf)
    for joint, slot in zip(m.joints, layout.slots, strict=True):
        if joint.limits is None:
            continue
        part = q[:, slot.q]
        excess = np.maximum(excess, [joint.excess(row) for row in part.tolist()])
    return excess
