"""Changes of a state that are carried along a simulation, step by step and through its events.

Between events changes are those of the steps (`step`). At an event they jump, for a run from another start meets it at
another time [Burden 2016]. With f the rates of the state, g the condition and D the derivative of the instant:

    S = D (1 - f g' / (g' f)) + f_after g' / (g' f)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from varichain.derivatives.conditions import gradient_along
from varichain.derivatives.design_parameters import Parameter, redesigned
from varichain.derivatives.equations import Equations
from varichain.derivatives.feedback import Feedback, size_of, slope
from varichain.derivatives.meeting import common, early_by, met
from varichain.derivatives.restraining import Modes
from varichain.derivatives.step import Point, Stepper
from varichain.dynamics.forces import Force
from varichain.errors import InputError
from varichain.instants.change import change
from varichain.kernels.manifold import integrate
from varichain.kernels.run_records import STRUCK
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.controllers import Compiled
from varichain.simulation.engine import Engine
from varichain.simulation.events import Event, Stop, Use, When, WhenForce
from varichain.simulation.simulation import Changed, Recorder, Simulation
from varichain.spatial.arrays import Array

_SAME = 1e-6  # by which the steps here and those of the simulation may differ, relative to velocities


class Carrier(Recorder):
    """Changes X (2 n_v, k) of a simulation's state; the last columns are those of parameters.

    Attributes:
        happened: Time and name of every event.
        failed: Why changes could not be carried through an event.
        is_nearly_singular: Whether rows of loops were nearly dependent in some state.
    """

    def __init__(
        self,
        simulation: Simulation,
        events: Mapping[str, Event],
        X: Array,
        parameters: Mapping[str, Parameter],
        tau: Mapping[str, Array],
        controller: Compiled | None,
        forces: Iterable[Force],
    ) -> None:
        """Begin where the simulation is; `events` are known by their names in it."""
        self._events, self.parameters = events, dict(parameters)
        self._tau, self._controller, self._forces = tau, controller, tuple(forces)
        self._settings = simulation.settings
        self.happened: list[tuple[float, str]] = []
        self.is_nearly_singular = False
        self.failed: InputError | None = None
        self._early: Array | None = None
        self._open(simulation.m, simulation.engine, X)

    # Structures

    def _open(self, m: Mechanism, engine: Engine, X: Array) -> None:
        """Begin with a structure."""
        self.m, self.s, self._modes = m, engine.state.copy(), engine.modes()
        self.parameters = {name: _present(m, name, one) for name, one in self.parameters.items()}
        limits = "off" if self._settings.limits == "off" else "hard"
        equations = self.equations = Equations(m, self.s, self.parameters, self._forces, limits)
        equations.restraining.set(self._modes)
        tau = np.zeros(m.n_v)
        for slot in self.s.layout.slots:
            if slot.name in self._tau and len(self._tau[slot.name]) == slot.v.stop - slot.v.start:
                tau[slot.v] = self._tau[slot.name]
        self.stepper = Stepper(equations, Feedback(equations, tau, self._controller), self._settings.method)
        dq, dv = np.zeros((equations.n, X.shape[1])), np.zeros((equations.n, X.shape[1]))
        if n := len(self.parameters):
            dq[:, -n:] = equations.dq
        dq[equations.own], dv[equations.own] = X[: m.n_v], X[m.n_v :]
        self._at = Point(*self._extended(self.s), dq, dv)
        # a connection joins links where they are: elsewhere after another start
        self._offsets = self.stepper.opening(self._at)

    def _extended(self, s: State) -> tuple[Array, Array]:
        """q and v of a state with those of places."""
        places = self.equations.places
        q, v = places.state.q.copy(), np.zeros(self.equations.n)
        q[places.own_q], v[places.own] = s.q, s.v
        return q, v

    @property
    def X(self) -> Array:
        """Changes (2 n_v, k) of the mechanism's own freedoms."""
        own = self.equations.own
        return np.vstack([self._at.dq[own], self._at.dv[own]])

    # Steps

    def samples(self, engine: Engine) -> None:
        """Carry the changes over a step of the simulation."""
        h = engine.time - self.s.time
        if h <= 0.0:
            return
        self.catch_up()
        end = self.stepper.step(self.s.time, self._at, h, self._offsets)
        modes, self._modes = self._modes, engine.modes()
        self.s = engine.state.copy()
        struck = {engine.restraint_names[one["source"]] for one in engine.new_transitions() if one["kind"] == STRUCK}
        is_event = bool(struck) or _differ(modes, self._modes)
        if is_event:
            rates = self._rates(self.s.time, end)
            end, self._early, happened = met(self.equations, engine, end, rates, modes, struck)
            self.happened += [(self.s.time, name) for name in happened]
        self._require_same(end)
        self._at = Point(*self._extended(self.s), end.dq, end.dv)
        if is_event:
            self.equations.restraining.set(self._modes)
        self._at.dv[self.equations.restraining.locked] = 0.0
        self.is_nearly_singular |= self.equations.is_nearly_singular

    def _require_same(self, end: Point) -> None:
        """Raise if the step of the simulation is another than the one that was differentiated."""
        q, v = self._extended(self.s)
        difference = max(np.abs(q - end.q).max(initial=0.0), np.abs(v - end.v).max(initial=0.0))
        if not difference <= _SAME * (1.0 + np.abs(v).max(initial=0.0)):
            raise InputError(
                f"at t = {self.s.time:.9g} s the run passes a singular configuration, or an impact of several stops: "
                f"its step cannot be differentiated (it differs by {difference:.3g})"
            )

    def catch_up(self) -> None:
        """Compare runs at one time again, after an event that they meet at different times."""
        if self._early is not None:
            rates = self._rates(self.s.time, self._at)
            dq, dv = np.split(np.vstack([self._at.dq, self._at.dv]) + np.outer(rates, self._early), 2)
            self._at, self._early = Point(self._at.q, self._at.v, dq, dv), None

    def _rates(self, t: float, at: Point) -> Array:
        tau = self.stepper.torques(t, Point(at.q, at.v, at.dq[:, :0], at.dv[:, :0]))[0]
        return np.concatenate([at.v, self.equations.solve(at.q, at.v, tau).a])

    # Events

    def before_change(self, simulation: Simulation, names: list[str], actions: list[Any]) -> None:
        """Find how the time of events changes; the structure is as it was before."""
        try:
            self._await(names, actions)
        except InputError as error:
            self.failed = error
            raise

    def _await(self, names: list[str], actions: list[Any]) -> None:
        for action in actions:
            if isinstance(action, Use) or (isinstance(action, Stop) and action.reason != ENDED):
                kind = type(action).__name__
                raise InputError(
                    f"runs with changes end at their duration and have one controller: no {kind} at an event"
                )
        known = [self._events[name] for name in names if name in self._events]
        waited = [event for event in known if isinstance(event, When | WhenForce)]
        if "break" in names:
            raise InputError("a joint breaks in the run: make an event of it, vc.when_force(..., vc.cut(...))")
        if waited and self._early is None:
            rates = self._rates(self.s.time, self._at)
            earlies = [self._early_of(event, rates) for event in waited]
            self._early = common(earlies, self.s.time)
            dq, dv = np.split(np.vstack([self._at.dq, self._at.dv]) - np.outer(rates, self._early), 2)
            self._at = Point(self._at.q, self._at.v, dq, dv)
        self._earlier = self.m.copy(), self.s.copy()
        self._edits = [action for action in actions if not isinstance(action, Use | Stop)]
        self.happened += [(self.s.time, name) for name in names]

    def _early_of(self, event: When | WhenForce, rates: Array) -> Array:
        """How much earlier the changes let an event happen."""
        n = len(rates) // 2
        columns = np.hstack([rates[:, None], np.vstack([self._at.dq, self._at.dv])])
        speed, *by = gradient_along(event, self, Point(self._at.q, self._at.v, columns[:n], columns[n:]))
        return early_by(str(event.name), np.array(by), speed, self.s.time)

    def after_change(self, simulation: Simulation, changed: Changed) -> None:
        """Find the changes after the instant."""
        try:
            self._pass(simulation)
        except InputError as error:
            self.failed = error
            raise

    def _pass(self, simulation: Simulation) -> None:
        """Changes after the instant: differences of order four of the instant itself."""
        X, after = self.X, simulation.engine.state
        nominal = self._changed(lambda m: (m, self._earlier[1]))
        if np.abs(nominal.v - after.v).max(initial=0.0) > _SAME * (1.0 + np.abs(after.v).max(initial=0.0)):
            raise InputError(f"a stop is struck at the instant of an event, at {self.s.time:.9g} s")
        columns = []
        for j, column in enumerate(X.T):

            def end(h: float, j: int = j, column: Array = column) -> Array:
                near = self._changed(lambda m: self.moved(self._earlier, column, j, h))
                return np.concatenate([nominal.difference(near), near.v])

            columns.append(self.slope_along(end, column, j))
        X = np.column_stack(columns) if columns else np.zeros((2 * simulation.m.n_v, 0))
        self._open(simulation.m, simulation.engine, X)

    def _changed(self, given: Callable[[Mechanism], tuple[Mechanism, State]]) -> State:
        m, s = given(self._earlier[0])
        m, near = m.copy(), s.copy()
        if self._edits:
            change(m, near, self._edits, limits="off" if self._settings.limits == "off" else "hard")
        return near

    def slope_along(self, function: Callable[[float], Array], column: Array, j: int) -> Array:
        """Derivative at zero of a function of how far column j is followed."""
        name = self.parameter_at(j)
        is_bounded = name is not None and self.parameters[name] == "joint"  # numbers of joints are not negative
        return slope(function, size_of(column, name is not None), is_bounded)

    def parameter_at(self, j: int) -> str | None:
        """Name of the parameter that a column belongs to; None of changes of the start."""
        first = self._at.dq.shape[1] - len(self.parameters)
        return [*self.parameters][j - first] if first <= j < self._at.dq.shape[1] else None

    def moved(self, at: tuple[Mechanism, State], column: Array, j: int, h: float) -> tuple[Mechanism, State]:
        """Mechanism and state after a small change along column j (2 n_v,); loops open with its square."""
        m, s = at
        name, near = self.parameter_at(j), s.copy()
        integrate(s.layout.workspaces.of_thread.table, s.q, np.ascontiguousarray(column[: m.n_v]), h, near.q)
        near.v[:] = s.v + h * column[m.n_v :]
        if name is None or self.parameters[name] in ("controller", "gone"):
            return m, near
        m = redesigned(m, name, self.parameters[name], h)
        moved = m.state()
        moved.q, moved.v, moved.time = near.q, near.v, near.time
        return m, moved


ENDED = "the period has ended"
"""Reason of the `Stop` with which a period ends."""


def _differ(before: Modes, now: Modes) -> bool:
    return any(before[name][what] != now[name][what] for name in now for what in ("locked", "at", "slide"))


def _present(m: Mechanism, name: str, one: Parameter) -> Parameter:
    """A parameter of the structure that there is now: "gone" if what it belongs to has been cut."""
    thing = one[0][0] if isinstance(one, tuple) else name.rpartition(".")[0]
    if isinstance(one, tuple) or one == "joint":
        joints = {str(link.joint.name): link for link in (*m.links, *m.virtual_links) if link.joint is not None}
        return one if thing in joints else "gone"
    return one
