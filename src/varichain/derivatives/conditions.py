"""How conditions of events change: loads of joints by exact accelerations, functions of the user by differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from varichain.derivatives.design_parameters import redesigned
from varichain.derivatives.equations import Equations
from varichain.derivatives.feedback import slope
from varichain.derivatives.step import Point
from varichain.dynamics.joint_forces import carried_wrenches
from varichain.errors import InputError
from varichain.kernels.loop_wrenches import loop_wrenches
from varichain.kernels.manifold import integrate
from varichain.layout.layout import Layout, layout_of
from varichain.simulation.events import When, WhenForce
from varichain.spatial.arrays import Array

if TYPE_CHECKING:
    from varichain.derivatives.carrying import Carrier


def gradient_along(event: When | WhenForce, carrier: Carrier, at: Point) -> Array:
    """Derivatives of an event's condition along changes (k,), the first of them the rates, the others the carrier's."""
    if isinstance(event, WhenForce):
        return _of_load(event, carrier, at)
    own, (m, s) = carrier.equations.own, (carrier.m, carrier.s)
    found = []
    for j, column in enumerate(np.vstack([at.dq[own], at.dv[own]]).T):

        def value(h: float, j: int = j, column: Array = column) -> Array:
            there, near = carrier.moved((m, s), column, j - 1, h)
            if j == 0:  # along the motion time goes on
                near.time = s.time + h
            return np.array([float(event.condition(there, near))])

        found.append(float(carrier.slope_along(value, column, j - 1)[0]))
    return np.array(found)


def _of_load(event: WhenForce, carrier: Carrier, at: Point) -> Array:
    """Of the load of a joint: accelerations and multipliers change exactly, the wrench with them by differences."""
    equations, t = carrier.equations, carrier.s.time
    tau, dtau = carrier.stepper.torques(t, at)
    still = Point(at.q, at.v, at.dq[:, :0], at.dv[:, :0])
    dtau[:, 0] += slope(lambda h: carrier.stepper.torques(t + h, still)[0], 1.0)  # along the motion time goes on
    found, added = equations.solve(at.q, at.v, tau), np.zeros_like(at.dq)
    if n := len(equations.parameters):
        added[:, -n:] = equations.added(at.q, at.v, found.a)
    da, dx, _ = found.change(at.dq, at.dv, dtau, added)
    slopes = []
    for j in range(at.dq.shape[1]):

        def value(h: float, j: int = j) -> Array:
            layout = _redesigned(carrier, carrier.parameter_at(j - 1), h)
            q = np.empty_like(at.q)
            integrate(equations.table, at.q, np.ascontiguousarray(at.dq[:, j]), h, q)
            parts = (at.v + h * at.dv[:, j], found.a + h * da[:, j], found.x + h * dx[:, j])
            return np.array([_excess(event, equations, layout, t, q, *parts)])

        column = np.concatenate([at.dq[:, j], at.dv[:, j], da[:, j], dx[:, j]])
        slopes.append(float(carrier.slope_along(value, column, j - 1)[0]))
    return np.array(slopes)


def _redesigned(carrier: Carrier, name: str | None, h: float) -> Layout:
    """The structure with masses or gravity changed: they are part of what joints carry."""
    one, m = carrier.parameters.get(name or ""), carrier.equations.places.mechanism
    if name is not None and one in ("link", "gravity"):
        return layout_of(redesigned(m, name, one, h))
    return carrier.equations.layout


def _excess(
    event: WhenForce, equations: Equations, layout: Layout, t: float, q: Array, v: Array, a: Array, x: Array
) -> float:
    """Largest excess of a load over a threshold, as a fraction of it, as `ForceWatch` has it."""
    table = equations.table
    equations.rows(q, v)  # places the rows
    wrenches = np.zeros((len(layout.connections), 6))
    if len(wrenches):
        multipliers = np.zeros(equations.restraining.n_rows)
        multipliers[: layout.n_rows] = x[: layout.n_rows]
        loop_wrenches(table, multipliers, wrenches)
    names = [str(one.joint.name) for one in layout.connections]
    if event.joint in names:
        wrench = wrenches[names.index(event.joint)]
    elif event.joint in layout.tree.slot_by_name:
        rows = (np.array([t]), q[None], v[None], a[None], wrenches.reshape(1, -1))
        slots = [slot.name for slot in layout.slots]
        wrench = carried_wrenches(layout, layout.workspaces.of_thread.table, rows, equations.forces)[0][
            slots.index(event.joint)
        ]
    else:
        raise InputError(f"the joint {event.joint!r} of an event is not there")
    bounds = ((event.force, wrench[3:]), (event.moment, wrench[:3]))
    return max(float(np.linalg.norm(part)) / bound - 1.0 for bound, part in bounds if bound is not None)
