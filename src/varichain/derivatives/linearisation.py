"""A step of a controlled simulation, linearised: A and B."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.derivatives.closure import is_nearly_singular
from varichain.derivatives.equations import Equations
from varichain.derivatives.modes import modes_of
from varichain.derivatives.named import Derivative, freedom_places, sizes
from varichain.derivatives.restrained import checked_stops, free_directions, start_columns
from varichain.derivatives.step import METHODS, Point, Stepper
from varichain.dynamics.arguments import joint_vector, opened, require_mass
from varichain.dynamics.forces import Force
from varichain.dynamics.loop_forces import require_closed
from varichain.errors import InputError, quoted
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import count_number, time_step
from varichain.spatial.report import Report, Reported, names


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Linearisation(Reported):
    """A step of a mechanism: x_1 = A x_0 + B tau to first order, x the changes of independent q, then of v.

    Attributes:
        A: (2 n_f, 2 n_f), B: (2 n_f, n_v); tau is constant during the step.
        state: The state after the step.
        independent: Names of the freedoms whose positions, then velocities, are x.
        by_q, by_v: Columns of A by positions and by velocities, `by_tau` those of B; rows named "q" and "v".
        is_nearly_singular: Whether rows of loops were nearly dependent in the step: the numbers may then be huge, and
            mean nothing but that.
    """

    A: Array
    B: Array
    state: State
    independent: tuple[str, ...]
    by_q: Derivative
    by_v: Derivative
    by_tau: Derivative
    is_nearly_singular: bool
    name: str

    def report(self) -> Report:
        """Sizes, and the largest entries."""
        matrices = {"by q": self.by_q, "by v": self.by_v, "by tau": self.by_tau}
        note = ": nearly singular" if self.is_nearly_singular else ""
        return f"a step of {self.name!r}, linearised{note}, by {names(self.independent)}", (sizes(matrices),)


def linearise(
    m: Mechanism,
    s: State,
    step: float,
    tau: Any = None,
    forces: Iterable[Force] = (),
    *,
    method: str = "rk4",
    steps: int = 1,
    limits: str = "off",
    prefer: Iterable[str] = (),
) -> Linearisation:
    """Derivatives of a step of integration under constant torques: A and B of a discrete controller's model.

    They are those of the step as `vc.simulate` computes it, loops closed at every step, not of the motion that it
    approximates. A feedback tau = tau_0 - F x makes A - B F of it. Events are no part of it.

    Args:
        m: Mechanism.
        s: State at the start, its loops closed; not changed.
        step: Length of a step [s].
        tau: Torques (n_v,), or {joint: value}; None for none.
        forces: External forces on links, constant.
        method: "euler", "rk4", "rk45", whose step is as long as it is given, or "implicit".
        steps: Number of steps.
        limits: "hard" if stops act by their present mode, one that is closed stays closed; "off" if there are none.
        prefer: Joints or freedoms that must be independent.

    Raises:
        AssemblyError: The loops are open.
        SingularMassError: A link that can move has no mass.
    """
    layout, table = opened(m, s)
    require_mass(layout)
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, not {quoted(method)}")
    if not layout.is_tree:
        require_closed(layout, table, s)
    h, count = time_step(step, "step"), count_number(steps, "steps", 10**6, 1)
    torque, equations = joint_vector(layout, tau, "tau"), Equations(m, s, forces=forces, limits=checked_stops(limits))
    equations.restraining.set(modes_of(m, s, torque, forces, limits))
    directions = free_directions(layout, equations, s.q, s.v, prefer)
    n, n_f = layout.n_v, directions.W.shape[1]
    unit = np.hstack([np.zeros((n, 2 * n_f)), np.eye(n)])
    stepper = Stepper(equations, lambda t, at: (torque, unit), method)
    X = np.hstack([start_columns(directions), np.zeros((2 * n, n))])
    at, end = Point(s.q.copy(), s.v.copy(), X[:n], X[n:]), s.copy()
    for i in range(count):
        at = stepper.step(s.time + i * h, at, h)
    end.q, end.v, end.time = at.q, at.v, s.time + count * h
    changes = np.vstack([at.dq[directions.independent], at.dv[directions.independent]])
    A, B = changes[:, : 2 * n_f], changes[:, 2 * n_f :]
    columns, ends = freedom_places(layout, directions.independent), {"q": [*range(n_f)], "v": [*range(n_f, 2 * n_f)]}
    return Linearisation(
        A,
        B,
        end,
        tuple(layout.freedom_name(int(k)) for k in directions.independent),
        Derivative(A[:, :n_f], ends, columns),
        Derivative(A[:, n_f:], ends, columns),
        Derivative(B, ends, freedom_places(layout, range(n))),
        equations.is_nearly_singular or is_nearly_singular(m, s),
        layout.mechanism_name,
    )
