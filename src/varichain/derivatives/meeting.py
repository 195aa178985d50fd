"""Stops that are struck and friction that comes to rest, as events of a run with changes.

At a stop that is struck the condition is its gap, and velocities jump by an impact; where sliding comes to rest the
condition is its velocity. Where a stop is left, or friction lets go, forces and accelerations are continuous, and
nothing jumps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.derivatives.equations import Equations
from varichain.derivatives.restraining import Modes
from varichain.derivatives.step import Point
from varichain.errors import InputError
from varichain.simulation.engine import Engine
from varichain.spatial.arrays import Array

_GRAZING = 1e-9  # rates of conditions below this part of their change: the time of the event is undetermined
_AT_STOP = 1e-9  # [rad or m]
_TOGETHER = 1e-7  # part by which times of two events at one instant may change differently
_CLOSED = {"locked": 1, "at": 1, "slide": 0, "direction": [0.0] * 3}


def met(
    equations: Equations, engine: Engine, end: Point, rates: Array, before: Modes, struck: set[str]
) -> tuple[Point, Array | None, list[str]]:
    """State and changes after restraints have changed their modes at the end of a step.

    Args:
        equations: In the modes before.
        engine: After the step, with the modes from now on.
        end: The end of the step, before impacts.
        rates: Of the state there (2 n_v,).
        before: Modes before.
        struck: Names of the stops that had an impulse.

    Returns:
        The state with its changes; how much earlier these let it happen, None if nothing jumps; names of what happened.
    """
    touched, rested = _conditions(equations, engine, end, before)
    if touched:
        earlies = [early_by(name, (rows @ end.dq)[0], rate, engine.time) for name, rows, rate in touched]
    else:
        earlies = [_early_at_rest(equations, name, rows, end, rates, engine.time) for name, rows in rested]
    if not earlies:
        return end, None, []
    early, n = common(earlies, engine.time), len(rates) // 2
    changes = np.vstack([end.dq, end.dv]) - np.outer(rates, early)
    dq, dv, v = changes[:n], changes[n:], end.v
    if touched:  # friction gives no impulse
        equations.restraining.set(dict.fromkeys(struck, _CLOSED))
        v, dv = equations.jump(end.q, end.v, dq, dv)
    kind = "stop" if touched else "rest"
    return Point(end.q, v, dq, dv), early, [f"{kind} of {name}" for name, *_ in touched or rested]


def _conditions(equations: Equations, engine: Engine, end: Point, before: Modes) -> tuple[list[Any], list[Any]]:
    """Stops that are touched, with rows and rates; friction that came to rest, with rows."""
    touched, rested = [], []
    for name, record in zip(engine.restraint_names, engine.restraints, strict=True):
        if before[name]["locked"]:
            continue
        rows = equations.restraining.rows_of(name, end.q)
        x, rate = float(record["x"]), float((rows @ end.v)[0])
        outward = rate if x >= record["upper"] - _AT_STOP else (-rate if x <= record["lower"] + _AT_STOP else 0.0)
        if outward > 0.0:
            touched.append((name, rows, rate))
        elif before[name]["slide"] and (record["locked"] or record["slide"] != before[name]["slide"]):
            rested.append((name, rows))
    return touched, rested


def _early_at_rest(equations: Equations, name: str, rows: Array, end: Point, rates: Array, time: float) -> Array:
    """Changes of the time at which sliding comes to rest, in the direction of its last velocity."""
    along, n = rows @ end.v, len(rates) // 2
    weights = along / np.linalg.norm(along) if len(rows) > 1 else np.ones(1)
    by_q, by_v = weights @ equations.restraining.slope_of(name, end.q, end.v), weights @ rows
    return early_by(name, by_q @ end.dq + by_v @ end.dv, float(by_q @ rates[:n] + by_v @ rates[n:]), time)


def early_by(name: str, by: Array, speed: float, time: float) -> Array:
    """How much earlier changes let a condition pass, from its changes and its rate."""
    if not abs(speed) > _GRAZING * max(1.0, float(np.abs(by).max(initial=0.0))):
        raise InputError(f"condition of {name!r} is grazed at {time:.9g} s: its rate is {speed:.3g}")
    return np.asarray(by / speed, dtype=np.float64)


def common(earlies: list[Array], time: float) -> Array:
    """The change of an instant at which several things happen, if it is that of all of them."""
    size = max(float(np.abs(early).max(initial=0.0)) for early in earlies)
    for early in earlies[1:]:
        if np.abs(early - earlies[0]).max(initial=0.0) > _TOGETHER * max(1.0, size):
            raise InputError(
                f"several conditions pass at {time:.9g} s, and after another start one after the other: there is no "
                "first derivative"
            )
    return earlies[0]
