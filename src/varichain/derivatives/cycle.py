"""Periodic motions and their Floquet multipliers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.derivatives.carrying import ENDED
from varichain.derivatives.feedback import checked_controller, size_of, slope
from varichain.derivatives.run import settings_of, started
from varichain.dynamics.arguments import joint_vector, opened, require_mass
from varichain.errors import InputError, quoted
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.controllers import Compiled
from varichain.simulation.events import Event, Stop, When, checked_events
from varichain.simulation.settings import Settings
from varichain.spatial.arrays import Array
from varichain.spatial.checks import array_of, count_number, finite_array, instance, is_sequence, positive_scalar, shown
from varichain.spatial.report import Listing, Report, Reported


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
        is_nearly_singular: Whether rows of loops were nearly dependent in the period: `jacobian` may then be huge, and
            mean nothing but that.
    """

    x: Array
    period: float
    multipliers: NDArray[np.complex128]
    jacobian: Array
    residual: float
    iterations: int
    is_nearly_singular: bool

    @property
    def is_stable(self) -> bool:
        """Whether all small disturbances die out."""
        return bool((np.abs(self.multipliers) < 1.0).all())

    def report(self) -> Report:
        """Multipliers and their sizes."""
        rows = [(f"{x:.6g}", f"{abs(x):.6g}") for x in self.multipliers]
        kind = "stable" if self.is_stable else "unstable"
        note = ", nearly singular" if self.is_nearly_singular else ""
        return f"{kind} cycle of {self.period:.6g} s{note}", (Listing(("multiplier", "size"), rows),)


def periodic(
    start: Callable[[Array], tuple[Mechanism, State]],
    until: When,
    finish: Callable[[Mechanism, State], Any],
    guess: Any,
    *,
    events: Iterable[Event] = (),
    step: float = 1e-3,
    method: str = "rk4",
    tau: Any = None,
    controller: Compiled | None = None,
    limits: str = "hard",
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
        events: What happens on the way, as of `sensitivity`: a period may be several strides.
        step: Length of steps [s].
        method: Of the steps, as of `sensitivity`.
        tau: Torques, or {joint: value}, constant; None for none.
        controller: A `vc.Compiled(...)` beside them.
        limits: "hard" if joints have stops, "off" if they have none.
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
    settings, wait = settings_of(method, step, 1e-9, limits, longest, "longest")
    given = checked_events(events)
    bound, law = positive_scalar(tolerance, "tolerance"), checked_controller(controller)
    for iteration in range(count_number(most, "most", 10**6, 0) + 1):
        end, jacobian, period, flag = stride(start, [*given, until], finish, x, settings, tau, law, wait)
        residual = float(np.abs(end - x).max(initial=0.0))
        if residual <= bound:
            found = np.asarray(np.linalg.eigvals(jacobian), np.complex128)
            return Cycle(x, period, found[np.argsort(-np.abs(found))], jacobian, residual, iteration, flag)
        x = x + np.linalg.solve(np.eye(len(x)) - jacobian, end - x)
    raise InputError(f"no cycle near this guess: after {most} steps a period misses its start by {residual:.3g}")


def stride(
    start: Callable[[Array], tuple[Mechanism, State]],
    events: list[Event],
    finish: Callable[[Mechanism, State], Any],
    x: Array,
    settings: Settings,
    tau: Any,
    controller: Compiled | None,
    longest: float,
) -> tuple[Array, Array, float, bool]:
    """Numbers after a period, their derivative by those at its start, the period, whether it was nearly singular.

    The last of the events ends the period.
    """
    m, s = start(x)
    layout = opened(m, s)[0]
    require_mass(layout)
    vector = joint_vector(layout, tau, "tau")
    torques = {slot.name: vector[slot.v] for slot in layout.slots if vector[slot.v].any()}

    def from_start(column: Array, h: float) -> Array:
        near = start(x + h * column)[1]
        return np.concatenate([s.difference(near), near.v])

    X = np.column_stack([slope(partial(from_start, e), 1.0) for e in np.eye(len(x))])
    last = replace(events[-1], actions=(*events[-1].actions, Stop(ENDED)))
    run = started(m, s, settings, [*events[:-1], last], torques, controller, ())
    carrier = run.follow(X, {}, torques, controller, ())
    run.go(s.time + longest)
    if run.stopped is None:
        raise InputError(f"the event that ends a period did not come before {s.time + longest:g} s")
    after = run.m, run.engine.state

    def to_numbers(column: Array, h: float) -> Array:
        return _numbers(finish(*carrier.moved(after, column, 0, h)), len(x))

    columns = [slope(partial(to_numbers, column), size_of(column)) for column in carrier.X.T]
    end = _numbers(finish(*after), len(x))
    return end, np.column_stack(columns), run.time - s.time, carrier.is_nearly_singular


def _numbers(found: Any, n: int) -> Array:
    """What `finish` returned, as many numbers as `start` takes."""
    numbers = array_of(found)
    if numbers is None or numbers.shape != (n,):
        raise InputError(f"finish must return as many numbers as start takes, {n}, not {shown(found)}")
    return numbers.astype(np.float64)
