"""Inverse kinematics at the level of position: a configuration in which functions have wanted values, near a start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.animation.bounds import bounds_of
from varichain.animation.descent import Descent, Look
from varichain.animation.holding import argument_of
from varichain.animation.space import AnimationSpace
from varichain.dynamics.arguments import opened
from varichain.errors import InputError
from varichain.layout.state import State
from varichain.spatial.arrays import Array
from varichain.spatial.checks import count_number, finite_array, finite_scalar, flag, instance, mapping, positive_scalar
from varichain.spatial.report import Listing, Report, Reported, numbers


@dataclass(frozen=True, eq=False, repr=False)
class Reached(Reported):
    """Result of `reach`.

    Attributes:
        state: The configuration; time as it was, at rest.
        is_reached: Whether all functions have their values to the tolerance.
        errors: By function: its value minus the wanted one; of lengths and squares that shall be zero, their arguments.
        distance: Largest entry of all errors.
        excess: How far the worst limit is left [rad, m, or the function's unit].
        steps: Number of steps taken, of all tries.
        tries: Number of starts.
    """

    state: State
    is_reached: bool
    errors: dict[str, Array]
    distance: float
    excess: float
    steps: int
    tries: int

    def report(self) -> Report:
        """What is left of each function."""
        how = "reached" if self.is_reached else "not reached: nearest configuration that was found"
        rows = [(name, numbers(error, 1e-3)) for name, error in self.errors.items()]
        return f"{how}, {self.distance:.3g} left after {self.steps} steps", (Listing(("function", "error"), rows),)


def reach(
    space: AnimationSpace,
    s: State,
    targets: Mapping[str, Any],
    importance: Mapping[str, float] | None = None,
    weights: Any = None,
    limits: bool = True,
    at_least: Mapping[str, Any] | None = None,
    at_most: Mapping[str, Any] | None = None,
    hold: Iterable[str] = (),
    tolerance: float = 1e-8,
    most_steps: int = 200,
    tries: int = 1,
) -> Reached:
    """Configuration near a start in which functions have wanted values, or the nearest one where none has them.

    Damped least squares on the manifold; loops stay closed, joints stay in their ranges. A step that would make the
    errors grow is not taken, so that they fall monotonously.

    Args:
        space: Functions.
        s: Start; open loops are closed first, joints that are outside of their ranges are led back.
        targets: Wanted values by function; functions that are not named are free.
        importance: Factors of errors by function, 1 by default: what counts where not all can be reached.
        weights: Cost of each freedom's motion, an array (n_v,) or by joint.
        limits: Whether joints stay in their ranges.
        at_least: Lower bounds of functions by name.
        at_most: Upper bounds of functions by name.
        hold: Joints that keep their coordinates.
        tolerance: Largest error that counts as reached.
        most_steps: Of one try.
        tries: Starts, the given one first, then random ones about it, until one reaches; each is left as soon as it is
            slow, and the best is followed to its end. Ten starts take little longer than one.

    Raises:
        InputError: Targets of the wrong shape, or of rates; bounds that contradict each other.
        AssemblyError: The loops cannot be closed from the start.
    """
    m = instance(space, AnimationSpace, "space").mechanism
    layout, _ = opened(m, s)
    errors, wanted = _errors(space, mapping(targets, "targets"))
    bounds = bounds_of(space, layout, flag(limits, "limits"), at_least, at_most)
    descent = Descent(errors, wanted, s, importance, weights, bounds, hold)
    enough = positive_scalar(tolerance, "tolerance")
    most, starts = count_number(most_steps, "most_steps", 10**6), count_number(tries, "tries", 10**6)
    best, total, count = _searched(descent, enough, most, starts) if starts > 1 else (descent.start, 0, 1)
    if not descent.is_reached(best, enough):
        best, steps = descent.descend(best, enough, most)
        total += steps
    return _answer(errors, best, descent.is_reached(best, enough), total, count)


def _searched(descent: Descent, enough: float, most: int, starts: int) -> tuple[Look, int, int]:
    """Best end of rough descents from several starts, the number of steps, and that of starts until one reached."""
    rng = np.random.default_rng(0)  # same start, same result
    best, total = descent.start, 0
    for count in range(1, starts + 1):
        start = descent.start if count == 1 else descent.elsewhere(rng)
        found, steps = descent.descend(start, enough, most, is_rough=True)
        best, total = min(found, best, key=descent.rank), total + steps
        if descent.is_reached(found, enough):
            return found, total, count
    return best, total, starts


def _errors(space: AnimationSpace, targets: Mapping[str, Any]) -> tuple[AnimationSpace, Array]:
    """Functions whose values are wanted, and these values; of squares and lengths that shall be zero, the arguments."""
    if not targets:
        raise InputError("reach needs at least one target")
    wanted: dict[str, Array] = {}
    for name, target in targets.items():
        function, what = space.function(name), f"target of {name!r}"
        if function.is_rate:
            raise InputError(f"{name!r} is a rate: it has no position that could be reached")
        wanted[name] = (
            finite_array(target, function.shape, what) if function.shape else np.asarray(finite_scalar(target, what))
        )
    key = tuple((name, bool(value.any())) for name, value in wanted.items())
    if key not in space._aims:
        functions = {name: space.function(name) if away else argument_of(space.function(name)) for name, away in key}
        space._aims[key] = type(space)(space.mechanism, functions)
    errors = space._aims[key]
    parts = [wanted[name].ravel() if away else np.zeros(errors.functions[name].size) for name, away in key]
    return errors, np.concatenate(parts)


def _answer(errors: AnimationSpace, found: Look, is_reached: bool, steps: int, tries: int) -> Reached:
    parts = {name: found.error[where] for name, where in errors.slices.items()}
    distance = float(np.abs(found.error).max())
    return Reached(found.state, is_reached, parts, distance, found.excess, steps, tries)
