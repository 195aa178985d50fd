"""Sensitivity of a whole run to its start and to parameters, through events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from varichain.derivatives.carrying import Carrier
from varichain.derivatives.closure import is_nearly_singular
from varichain.derivatives.design_parameters import Parameter, checked_parameters
from varichain.derivatives.directions import Directions
from varichain.derivatives.equations import Equations
from varichain.derivatives.feedback import checked_controller, controller_parameters
from varichain.derivatives.named import Derivative, freedom_places
from varichain.derivatives.restrained import checked_stops, free_directions, start_columns
from varichain.derivatives.step import METHODS
from varichain.dynamics.arguments import joint_vector, opened, require_mass
from varichain.dynamics.forces import Force, constant_forces
from varichain.errors import EventError, InputError, quoted
from varichain.kernels.derivative_closure import K_ROWS, SPEEDS_BY_Q
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.controllers import Compiled
from varichain.simulation.controls import Controls
from varichain.simulation.events import Event, check_times, checked_events
from varichain.simulation.settings import LONGEST, Settings, checked_settings
from varichain.simulation.simulation import Simulation
from varichain.simulation.start import checked_start
from varichain.spatial.arrays import Array
from varichain.spatial.checks import positive_scalar, time_step
from varichain.spatial.report import Listing, Report, Reported, names

_MOST_STEPS = 1_000_000  # of a run: more take hours
_SAME = 1e-9  # [rad/s or m/s] of velocities: what differs more has had an impact


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sensitivity(Reported):
    """The end of a run, and how it changes with the start: x_1 = A x_0, x changes of independent q, then of v.

    Attributes:
        A: (2 n_f at the end, 2 n_f at the start).
        by_parameters: Changes of all q, then all v, with the parameters (2 n_v, n); rows "q", "v", "knee.q", "knee.v".
        state, mechanism: At the end, after all events.
        start, end: Names of the independent freedoms at the start and at the end.
        changes: Changes of all q, then all v, at the end (2 n_v, 2 n_f at the start).
        events: Time and name of every event, stops that are struck among them.
        is_nearly_singular: Whether rows of loops were nearly dependent on the way: the numbers may then be huge, and
            mean nothing but that.
    """

    A: Array
    by_parameters: Derivative
    state: State
    mechanism: Mechanism
    start: tuple[str, ...]
    end: tuple[str, ...]
    changes: Array
    events: tuple[tuple[float, str], ...]
    is_nearly_singular: bool

    def report(self) -> Report:
        """Events, and the largest growth."""
        growth = float(np.linalg.norm(self.A, 2)) if self.A.size else 0.0
        note = ", nearly singular" if self.is_nearly_singular else ""
        title = (
            f"sensitivity of a run of {self.mechanism.name!r} by {names(self.start)}: grows up to {growth:.4g} times"
        )
        return title + note, (Listing(("time [s]", "event"), [(f"{time:.6g}", name) for time, name in self.events]),)


def sensitivity(
    m: Mechanism,
    s: State,
    duration: float,
    events: Iterable[Event] = (),
    *,
    by: Iterable[str] = (),
    step: float = 1e-3,
    method: str = "rk4",
    tolerance: float = 1e-9,
    tau: Any = None,
    controller: Compiled | None = None,
    forces: Iterable[Force] = (),
    limits: str = "hard",
    prefer: Iterable[str] = (),
) -> Sensitivity:
    """Sensitivity of the end of a run to its start and to parameters, through events, stops and dry friction.

    The run is that of `vc.simulate`. Between events changes are exactly those of its steps, adaptive ones with the
    lengths that they have. Parameters change with the independent positions and velocities of the start as they are.

    Args:
        m: Mechanism; not changed.
        s: Start, its loops closed; not changed.
        duration: Of the run [s].
        events: `vc.at(...)`, `vc.when(...)` and `vc.when_force(...)`, with connections, cuts, couplings and pushes.
        by: Names of parameters: those of `design_derivatives`, and those of the controller, "gain" or "gains[1]".
        step: Length of steps [s], or the grid of time of "rk45".
        method: "euler", "rk4", "rk45" or "implicit"; see `simulate`.
        tolerance: Error allowed in a step of "rk45".
        tau: Torques (n_v,), or {joint: value}, constant; None for none.
        controller: A `vc.Compiled(...)` beside them; its own derivatives are differences of order four.
        forces: External forces on links, constant.
        limits: "hard" if joints have stops, "off" if they have none.
        prefer: Joints or freedoms of the start that must be independent.

    Raises:
        InputError: A condition is grazed: its rate is zero at the event, and no first derivative exists; or two events
            at one instant that come one after the other after another start.
    """
    layout = opened(m, s)[0]
    require_mass(layout)
    given, law = constant_forces(forces), checked_controller(controller)
    parameters = checked_parameters(layout, by, controller_parameters(law))
    settings, whole = settings_of(method, step, tolerance, limits, duration, "duration")
    torques = {slot.name: part for slot, part in zip(layout.slots, _parts(layout, tau), strict=True) if part.any()}
    run = started(m, s, settings, checked_events(events), torques, law, given)
    equations = Equations(run.m, run.engine.state, parameters, given, settings.limits)
    equations.restraining.set(run.engine.modes())
    directions = free_directions(layout, equations, *_there(equations, run.engine.state), prefer)
    n_p = len(parameters)
    X = np.hstack([start_columns(directions), _followed(equations, directions, run.engine.state)])
    carrier = run.follow(X, parameters, torques, law, given)
    run.go(s.time + whole)
    carrier.catch_up()
    m_end, s_end = run.m, run.engine.state.copy()
    layout_end = opened(m_end, s_end)[0]
    ends = free_directions(layout_end, carrier.equations, *_there(carrier.equations, s_end)).independent
    X = carrier.X
    changes = X[:, : X.shape[1] - n_p]
    by_parameters = Derivative(
        X[:, X.shape[1] - n_p :], _row_places(s_end), {name: [i] for i, name in enumerate(parameters)}
    )
    return Sensitivity(
        changes[[*ends, *(layout_end.n_v + ends)]],
        by_parameters,
        s_end,
        m_end,
        tuple(layout.freedom_name(int(k)) for k in directions.independent),
        tuple(layout_end.freedom_name(int(k)) for k in ends),
        changes,
        tuple(carrier.happened),
        carrier.is_nearly_singular or is_nearly_singular(m, s) or is_nearly_singular(m_end, s_end),
    )


class Stepwise(Simulation):
    """A simulation that takes one step at a time, with changes of its state that are carried along."""

    _named: dict[str, Event]
    _carrier: Carrier

    def _run(self, stop: float) -> None:
        self.engine.advance(stop, 1)

    def follow(
        self,
        X: Array,
        parameters: Mapping[str, Parameter],
        tau: Mapping[str, Array],
        controller: Compiled | None,
        forces: Iterable[Force],
    ) -> Carrier:
        """Carry changes X (2 n_v, k) along from now on."""
        self._most_steps = 1
        self._carrier = Carrier(self, self._named, X, parameters, tau, controller, forces)
        return self._carrier

    def go(self, end: float) -> None:
        """Run to a time, or to an event that stops the run."""
        try:
            for _ in self.spans(end, self._carrier):
                pass
        except EventError:
            if self._carrier.failed is not None:  # the event itself is sound
                raise self._carrier.failed from None
            raise


def started(
    m: Mechanism,
    s: State,
    settings: Settings,
    events: list[Event],
    tau: Mapping[str, Array],
    controller: Compiled | None,
    forces: tuple[Force, ...],
) -> Stepwise:
    """A simulation of a copy of the mechanism, begun.

    Raises:
        InputError: The start is an impact at a stop.
    """
    own = m.copy()
    start = checked_start(own, s.copy(), settings)
    check_times(events, s.time)
    controllers: list[Any] = [] if controller is None else [controller]
    if tau:
        controllers.append(lambda m, s: {name: part for name, part in tau.items() if name in s.joints})
    named: dict[str, Event] = {}
    for event in events:
        name = event.name or type(event).__name__.lower()
        name = name if name not in named else f"{name} {len(named) + 1}"
        named[name] = replace(event, name=name)
    run = Stepwise(own, start, settings, [*named.values()], Controls(controllers, None, forces))
    run._named = named
    v = run.engine.v.copy()
    run.begin()
    if np.abs(run.engine.v - v).max(initial=0.0) > _SAME:
        raise InputError("the run begins with an impact at a stop: begin it before or after")
    return run


def settings_of(method: Any, step: Any, tolerance: Any, limits: Any, whole: Any, what: str) -> tuple[Settings, float]:
    """Settings of a run with changes, and its length."""
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, not {quoted(method)}")
    settings = checked_settings(method, time_step(step, "step"), None, tolerance, LONGEST, checked_stops(limits))
    length = positive_scalar(whole, what)
    if not length <= _MOST_STEPS * settings.step:
        raise InputError(f"{what} {length:g} s is more than {_MOST_STEPS} steps of {settings.step:g} s")
    return settings, length


def _parts(layout: Any, tau: Any) -> list[Array]:
    vector = joint_vector(layout, tau, "tau")
    return [vector[slot.v].copy() for slot in layout.slots]


def _there(equations: Equations, s: State) -> tuple[Array, Array]:
    """q and v of a state with those of places."""
    places = equations.places
    q, v = places.state.q.copy(), np.zeros(equations.n)
    q[places.own_q], v[places.own] = s.q, s.v
    return q, v


def _followed(equations: Equations, directions: Directions, s: State) -> Array:
    """Changes (2 n_v, n_parameters) of the start with parameters, independent positions and velocities as they are."""
    q, v = _there(equations, s)
    own, n_rows = equations.own, equations.layout.n_rows + equations.restraining.n_closed
    layers = equations.rows(q, v, np.zeros(equations.n), np.zeros(n_rows)).layers
    locked = np.zeros((len(directions.kept) - n_rows, equations.dq.shape[1]))
    dq = equations.dq.copy()
    dq[own] += directions.following(np.vstack([-layers[K_ROWS] @ dq, locked]))
    return np.vstack([dq[own], directions.following(np.vstack([-layers[SPEEDS_BY_Q] @ dq, locked]))])


def _row_places(s: State) -> dict[str, list[int]]:
    """Places of positions and velocities in changes of all q, then all v."""
    n, joints = len(s.v), freedom_places(s.layout, range(len(s.v)))
    places = {"q": [*range(n)], "v": [*range(n, 2 * n)]}
    places |= {f"{name}.q": at for name, at in joints.items()}
    return places | {f"{name}.v": [n + k for k in at] for name, at in joints.items()}
