"""Sensitivity of a whole run to its start, through events; periodic motions and their multipliers.

Between events changes are carried by steps (`step`). At an event they jump, for a run from another start meets it at
another time [Burden 2016]. With f the rates of the state, g the condition and D the derivative of the instant:

    S = D (1 - f g' / (g' f)) + f_after g' / (g' f)

g' and D are central differences of order four of the condition and of the instant itself, whatever happens in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from varichain.derivatives.closure import closed_directions
from varichain.derivatives.loads import loads_of
from varichain.derivatives.step import Stepper, start_columns
from varichain.dynamics.arguments import joint_vector, opened, require_mass
from varichain.dynamics.forces import Force, constant_forces
from varichain.errors import InputError, quoted
from varichain.instants.change import change
from varichain.kernels.manifold import integrate
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.events import At, Event, Stop, Use, When, WhenForce, checked_events, planned_actions
from varichain.spatial.arrays import Array
from varichain.spatial.checks import count_number, finite_array, instance, is_sequence, positive_scalar
from varichain.spatial.report import Listing, Report, Reported, names

_NEAR = 1e-4  # largest change of a number in a difference: of order four, 1e-16 is its error, 1e-12 that of rounding
_GRAZING = 1e-9  # rates of conditions below this part of their change: the time of the event is undetermined
_INSTANT = 1e-12  # [s]: shorter steps are none
_MOST_STEPS = 1_000_000  # of a run: more take hours


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sensitivity(Reported):
    """The end of a run, and how it changes with the start: x_1 = A x_0, x changes of independent q, then of v.

    Attributes:
        A: (2 n_f at the end, 2 n_f at the start).
        state, mechanism: At the end, after all events.
        start, end: Names of the independent freedoms at the start and at the end.
        changes: Changes of all q, then all v, at the end (2 n_v, 2 n_f at the start).
        events: Time and name of every event.
    """

    A: Array
    state: State
    mechanism: Mechanism
    start: tuple[str, ...]
    end: tuple[str, ...]
    changes: Array
    events: tuple[tuple[float, str], ...]

    def report(self) -> Report:
        """Events, and the largest growth."""
        growth = float(np.linalg.norm(self.A, 2)) if self.A.size else 0.0
        title = (
            f"sensitivity of a run of {self.mechanism.name!r} by {names(self.start)}: grows up to {growth:.4g} times"
        )
        return title, (Listing(("time [s]", "event"), [(f"{time:.6g}", name) for time, name in self.events]),)


def sensitivity(
    m: Mechanism,
    s: State,
    duration: float,
    events: Iterable[Event] = (),
    *,
    step: float = 1e-3,
    tau: Any = None,
    forces: Iterable[Force] = (),
    prefer: Iterable[str] = (),
) -> Sensitivity:
    """Sensitivity of the end of a run to its start, through events: connections, cuts and impacts included.

    Steps are of Runge and Kutta's method of order four. Limits of joints play no part: where stops are touched, make
    events of them.

    Args:
        m: Mechanism; not changed.
        s: Start, its loops closed; not changed.
        duration: Of the run [s].
        events: `vc.at(...)` and `vc.when(...)`, with connections, cuts, couplings and pushes.
        step: Length of steps [s].
        tau: Torques (n_v,), or {joint: value}, constant; None for none.
        forces: External forces on links, constant.
        prefer: Joints or freedoms of the start that must be independent.

    Raises:
        InputError: A condition is grazed: its rate is zero at the event, and no first derivative exists.
    """
    layout, table = opened(m, s)
    require_mass(layout)
    directions = closed_directions(layout, table, s, prefer)
    length, whole = _lengths(step, duration, "duration")
    run = _Run(m, s, start_columns(directions), tau, forces, length)
    run.go(s.time + whole, _checked(events))
    layout_end, table_end = opened(run.m, run.s)
    ends = closed_directions(layout_end, table_end, run.s).independent
    rows = [*ends, *(layout_end.n_v + ends)]
    of_start = tuple(layout.freedom_name(int(k)) for k in directions.independent)
    of_end = tuple(layout_end.freedom_name(int(k)) for k in ends)
    return Sensitivity(run.X[rows], run.s, run.m, of_start, of_end, run.X, tuple(run.happened))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cycle(Reported):
    """A periodic motion.

    Attributes:
        x: Numbers of its start (n,).
        period: [s].
        multipliers: Floquet multipliers, the eigenvalues of `jacobian`, largest first: by these factors small
            disturbances grow in a period.
        jacobian: Derivative of the numbers after a period by those at its start (n, n).
        residual: Largest difference of the numbers after a period from those at its start.
        iterations: Steps of Newton's method.
    """

    x: Array
    period: float
    multipliers: NDArray[np.complex128]
    jacobian: Array
    residual: float
    iterations: int

    @property
    def is_stable(self) -> bool:
        """Whether all small disturbances die out."""
        return bool((np.abs(self.multipliers) < 1.0).all())

    def report(self) -> Report:
        """Multipliers and their sizes."""
        rows = [(f"{x:.6g}", f"{abs(x):.6g}") for x in self.multipliers]
        kind = "stable" if self.is_stable else "unstable"
        return f"{kind} cycle of {self.period:.6g} s", (Listing(("multiplier", "size"), rows),)


def periodic(
    start: Callable[[Array], tuple[Mechanism, State]],
    until: When,
    finish: Callable[[Mechanism, State], Any],
    guess: Any,
    *,
    step: float = 1e-3,
    tau: Any = None,
    tolerance: float = 1e-10,
    most: int = 30,
    longest: float = 10.0,
) -> Cycle:
    """Periodic motion near a guess, by Newton's method with exact derivatives, and its Floquet multipliers.

    A period leads from start(x) to the first passage of `until`, whose actions are done, and finish(m, s) says which
    numbers x the motion has then. The multipliers are those of the map from x to x.

    Args:
        start: Returns a mechanism and a state for numbers x (n,); a new mechanism each time.
        until: `vc.when(...)`, the event that ends a period.
        finish: Numbers (n,) of the mechanism and state after the event.
        guess: Numbers (n,) to begin with.
        step: Length of steps [s].
        tau: Torques, or {joint: value}, constant; None for none.
        tolerance: Largest residual.
        most: Most steps of Newton's method.
        longest: Longest period [s] that is waited for.

    Raises:
        InputError: No cycle was found from this guess.
    """
    instance(until, When, "until")
    for name, function in (("start", start), ("finish", finish)):
        if not callable(function):
            raise InputError(f"{name} must be a function, not {quoted(function)}")
    x = finite_array(guess, (max(1, len(guess)) if is_sequence(guess) else 1,), "guess").copy()
    (length, wait), bound = _lengths(step, longest, "longest"), positive_scalar(tolerance, "tolerance")
    for iteration in range(count_number(most, "most", 10**6, 0) + 1):
        end, jacobian, period = _stride(start, until, finish, x, length, tau, wait)
        residual = float(np.abs(end - x).max(initial=0.0))
        if residual <= bound:
            found = np.asarray(np.linalg.eigvals(jacobian), np.complex128)
            return Cycle(x, period, found[np.argsort(-np.abs(found))], jacobian, residual, iteration)
        x = x + np.linalg.solve(np.eye(len(x)) - jacobian, end - x)
    raise InputError(f"no cycle near this guess: after {most} steps a period misses its start by {residual:.3g}")


def _stride(
    start: Callable[[Array], tuple[Mechanism, State]],
    until: When,
    finish: Callable[[Mechanism, State], Any],
    x: Array,
    step: float,
    tau: Any,
    longest: float,
) -> tuple[Array, Array, float]:
    """Numbers after a period, their derivative by those at its start, and the period."""
    m, s = start(x)

    def from_start(column: Array, h: float) -> Array:
        near = start(x + h * column)[1]
        return np.concatenate([s.difference(near), near.v])

    def to_numbers(column: Array, h: float) -> Array:
        return np.asarray(finish(run.m, run.moved(column, h)), np.float64)

    X = np.column_stack([_slope(partial(from_start, e), 1.0) for e in np.eye(len(x))])
    run = _Run(m, s, X, tau, (), step)
    run.go(s.time + longest, [], until)
    columns = [_slope(partial(to_numbers, column), _size(column)) for column in run.X.T]
    return np.asarray(finish(run.m, run.s), np.float64), np.column_stack(columns), run.s.time - s.time


class _Run:
    """A run with changes X (2 n_v, n) of its state, that are carried along."""

    def __init__(self, m: Mechanism, s: State, X: Array, tau: Any, forces: Iterable[Force], step: float) -> None:
        self.m, self.s, self.X = m.copy(), s.copy(), X
        self.happened: list[tuple[float, str]] = []
        self._tau, self._forces, self._step = tau, constant_forces(forces), step
        self._open()

    def _open(self) -> None:
        self._layout, self._table = opened(self.m, self.s)
        require_mass(self._layout)
        torque, loads = joint_vector(self._layout, self._tau, "tau"), loads_of(self._layout, self._forces)
        self._stepper = Stepper(self.m, self._layout, self._table, torque, loads)
        # a connection joins links where they are: elsewhere after another start
        self._offsets = self._stepper.opening(self.s, self.X[: self._layout.n_v])

    def go(self, end: float, events: list[At | When], until: When | None = None) -> None:
        """Run to a time, or until an event, through others."""
        timed = sorted((event for event in events if isinstance(event, At)), key=lambda event: event.time)
        awaited = [event for event in events if isinstance(event, When)] + ([until] if until else [])
        while self.s.time < end - _INSTANT:
            while timed and timed[0].time <= self.s.time + _INSTANT:
                self._happen(timed.pop(0), None)
            limit = min([end, *(event.time for event in timed[:1])])
            passed = self._advance(min(self._step, limit - self.s.time), awaited)
            if passed is not None:
                self._happen(passed, passed.condition, is_last=passed is until)
                if passed is until:
                    return
                awaited = [event for event in awaited if event is not passed or not event.once]
        for event in timed:
            if event.time <= end + _INSTANT:
                self._happen(event, None)
        if until is not None:
            raise InputError(f"the event that ends a period did not come before {end:g} s")

    def _advance(self, h: float, awaited: list[When]) -> When | None:
        """Step, or step to the first passage of a condition, which is returned."""
        before = [float(event.condition(self.m, self.s)) for event in awaited]
        whole = self._stepped(h)
        after = [float(event.condition(self.m, whole)) for event in awaited]
        first, time = None, h
        for event, low, high in zip(awaited, before, after, strict=True):
            if _passes(low, high, event.direction):
                when = self._passage(event, h)
                if when <= time:
                    first, time = event, when
        self.s, self.X = self._stepper.step(self.s, self.X, time, self.X.shape[1], self._offsets)
        return first

    def _passage(self, event: When, h: float) -> float:
        """Time after which a condition is zero, within a step of length h."""
        return float(brentq(lambda x: event.condition(self.m, self._stepped(x)), 0.0, h, xtol=1e-14, maxiter=1000))

    def _stepped(self, h: float) -> State:
        return self._stepper.step(self.s, np.zeros((2 * self._layout.n_v, 0)), h, 0)[0] if h > 0.0 else self.s

    def moved(self, change_: Array, h: float) -> State:
        """The state after a small change along a column (2 n_v,); loops open with its square."""
        n, near = self._layout.n_v, self.s.copy()
        integrate(self._table, self.s.q, h * change_[:n], 1.0, near.q)
        near.v[:] = self.s.v + h * change_[n:]
        return near

    def _rates(self) -> Array:
        a, _ = self._stepper.accelerations(self.s.q, self.s.v)
        return np.concatenate([self.s.v, a])

    def _happen(self, event: At | When, condition: Any, is_last: bool = False) -> None:
        """Do the actions of an event; changes jump."""
        rates, early = self._rates(), np.zeros(self.X.shape[1])
        if condition is not None:
            m = self.m

            def slope(column: Array) -> float:
                return float(_slope(lambda h: np.array([condition(m, self.moved(column, h))]), _size(column))[0])

            speed, by = slope(rates), np.array([slope(column) for column in self.X.T])
            if not abs(speed) > _GRAZING * max(1.0, float(np.abs(by).max(initial=0.0))):
                raise InputError(
                    f"condition of event {event.name!r} is grazed at {self.s.time:.9g} s: its rate is {speed:.3g}"
                )
            early = by / speed
        met = self.X - np.outer(rates, early)
        actions = planned_actions(event.actions, self.m, self.s)
        for action in actions:
            if isinstance(action, Use | Stop):
                kind = type(action).__name__
                raise InputError(
                    f"runs with changes end at their duration and have constant torques: no {kind} at an event"
                )
        after_m, after = self._changed(self.s, actions)
        columns = []
        for column in met.T:

            def end(h: float, column: Array = column) -> Array:
                near = self._changed(self.moved(column, h), actions)[1]
                return np.concatenate([after.difference(near), near.v])

            columns.append(_slope(end, _size(column)))
        self.m, self.s = after_m, after
        self.X = np.column_stack(columns) if columns else np.zeros((2 * after.layout.n_v, 0))
        self.happened.append((self.s.time, event.name or type(event).__name__.lower()))
        self._open()
        if not is_last:
            self.X = self.X + np.outer(self._rates(), early)

    def _changed(self, s: State, actions: list[Any]) -> tuple[Mechanism, State]:
        m, near = self.m.copy(), s.copy()
        if actions:
            change(m, near, actions, limits="off")
        return m, near


def _lengths(step: Any, whole: Any, what: str) -> tuple[float, float]:
    """Lengths of steps and of a run, that are not too many."""
    h, duration = positive_scalar(step, "step"), positive_scalar(whole, what)
    if not duration <= _MOST_STEPS * h:
        raise InputError(f"{what} {duration:g} s is more than {_MOST_STEPS} steps of {h:g} s")
    return h, duration


def _checked(events: Iterable[Event]) -> list[At | When]:
    given = checked_events(events)
    for event in given:
        if isinstance(event, WhenForce):
            raise InputError("events by force are not known here: give a condition, vc.when(...)")
    return [event for event in given if isinstance(event, At | When)]


def _passes(low: float, high: float, direction: int) -> bool:
    down, up = low > 0.0 >= high, low < 0.0 <= high
    return (down and direction <= 0) or (up and direction >= 0)


def _size(column: Array) -> float:
    return max(float(np.abs(column).max(initial=0.0)), 1e-12)


def _slope(function: Callable[[float], Array], size: float) -> Array:
    """Derivative at zero of a function of a number, by central differences of order four."""
    h = _NEAR / size
    near, far = (function(x) - function(-x) for x in (h, 2 * h))
    slope: Array = (8.0 * near - far) / (12.0 * h)
    return slope
