"""Inverse kinematics at the level of position: a configuration in which functions have wanted values, near a start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.animation.bounds import Bounds, function_bounds, joint_bounds
from varichain.animation.function import Function
from varichain.animation.holding import argument_of
from varichain.animation.inverse import weights_of
from varichain.animation.reduced import Following, follow, reduce
from varichain.animation.resolution import Inequalities, null_space, programme
from varichain.animation.space import AnimationSpace
from varichain.dynamics.arguments import opened
from varichain.dynamics.assembly import CLOSED, assembled, close_loops, columns_to_hold
from varichain.errors import FunctionError, InputError
from varichain.kernels.function_records import HESSIANS
from varichain.layout.state import State
from varichain.spatial.arrays import Array
from varichain.spatial.checks import count_number, finite_array, finite_scalar, flag, instance, mapping, positive_scalar
from varichain.spatial.report import Listing, Report, Reported, numbers

_LONGEST_STEP = 0.5  # [rad or m] per freedom: what is linear in a step is true for steps of this size
_MOST_CORRECTIONS = 30  # that lead back within limits
_STUCK = 1e-13  # of the cost: a smaller gain is rounding
_MOST_DAMPING = 1e8
_KEPT = 1e-9  # [rad or m] beyond a limit that counts as inside


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
    errors grow is not taken, so that they fall monotonously. The extra `qp` is needed where a limit is met.

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
        tries: Starts, the given one first, then random ones about it, until one reaches; the best is the result.

    Raises:
        InputError: Targets of the wrong shape, or of rates; bounds that contradict each other.
        AssemblyError: The loops cannot be closed from the start.
    """
    problem = _Problem(space, s, targets, importance, weights, flag(limits, "limits"), (at_least, at_most), hold)
    enough = positive_scalar(tolerance, "tolerance")
    most = count_number(most_steps, "most_steps", 10**6)
    rng = np.random.default_rng(0)  # same start, same result
    best, total, count = None, 0, 0
    for count in range(1, count_number(tries, "tries", 10**6) + 1):
        start = problem.start if count == 1 else problem.elsewhere(rng)
        state, steps = problem.descend(start, enough, most)
        total += steps
        found = problem.rank(state)
        if best is None or found < best[0]:
            best = found, state
        if problem.is_reached(state, enough):
            best = found, state
            break
    assert best is not None
    return problem.answer(best[1], enough, total, count)


class _Problem:
    """Errors of functions over configurations, their bounds, and steps that reduce them."""

    def __init__(
        self,
        space: AnimationSpace,
        s: State,
        targets: Mapping[str, Any],
        importance: Mapping[str, float] | None,
        weights: Any,
        has_limits: bool,
        between: tuple[Any, Any],
        hold: Iterable[str],
    ) -> None:
        m = instance(space, AnimationSpace, "space").mechanism
        self.layout, self.table = opened(m, s)
        functions = {name: _error(space, name, value) for name, value in mapping(targets, "targets").items()}
        self.errors = AnimationSpace(m, functions)
        factors = mapping(importance, "importance")
        for name in factors:
            if name not in functions:
                raise InputError(f"importance names {name!r}, which has no target; targets: {sorted(functions)}")
        self.factors = np.concatenate(
            [
                np.full(f.size, positive_scalar(factors.get(n, 1.0), f"importance of {n!r}"))
                for n, f in functions.items()
            ]
        )
        joints = joint_bounds(m, self.layout) if has_limits else ({}, [], [])
        others = function_bounds(space, *between)
        self.bounds = Bounds(m, joints[0] | others[0], joints[1] + others[1], joints[2] + others[2])
        self.cost = weights_of(self.layout, weights)
        self.to_hold = columns_to_hold(self.layout, hold)
        self.start = assembled(self.layout, self.table, s, self.to_hold, 1e-9).state
        self.start.v[:] = 0.0
        inside = self._sound(self.start)
        if inside is None:
            raise InputError(
                f"the limits cannot be kept from this start: {self.bounds.excess(self.start):.3g} beyond the worst; "
                "start elsewhere, hold fewer joints, or set limits=False"
            )
        self.start = inside

    def size(self, s: State) -> float:
        """Half the sum of all squares of errors."""
        e = self.factors * self.errors.value(s)
        return 0.5 * float(e @ e)

    def rank(self, s: State) -> tuple[bool, float]:
        """What makes one configuration better than another: first that it keeps the limits."""
        return self.bounds.excess(s) > _KEPT, self.size(s)

    def is_reached(self, s: State, tolerance: float) -> bool:
        """Whether all functions are where they shall be, within all limits."""
        return float(np.abs(self.errors.value(s)).max()) <= tolerance and self.bounds.excess(s) <= _KEPT

    def elsewhere(self, rng: np.random.Generator) -> State:
        """Another start: about half a radian away in each freedom."""
        step = 0.5 * rng.standard_normal(self.layout.n_v)
        step[self.to_hold] = 0.0
        return self._sound(self.start.integrate(step)) or self.start

    def descend(self, s: State, tolerance: float, most: int) -> tuple[State, int]:
        """Steps of damped least squares, with curvature where these are slow, until nothing improves."""
        damping, size, is_slow = 1e-3, self.size(s), False
        for count in range(most):
            if self.is_reached(s, tolerance):
                return s, count
            trial = self._step(s, damping, is_slow)
            gained = size - self.size(trial) if trial is not None else -1.0
            if trial is not None and gained > 0.0:
                is_slow = gained < 0.1 * size
                s, size = trial, size - gained
                damping = max(0.1 * damping, 1e-12)
                if gained < _STUCK * size:
                    return s, count + 1
            else:
                damping *= 10.0
                if damping > _MOST_DAMPING:
                    return s, count + 1
        return s, most

    def _step(self, s: State, damping: float, is_curved: bool) -> State | None:
        """Configuration after a damped step; None if the loops cannot be closed there."""
        following, W = self._free(s, is_curved)
        if not W.shape[1]:
            return None
        try:
            found = self.errors.at(s)
            curvature = self._curvature(s, following, W, found.value) if is_curved else None
        except FunctionError:  # a length that is zero but shall not be: any step leads away
            return self._sound(s.integrate(1e-3 * W[:, 0]))
        J, e = self.factors[:, None] * (found.gradient @ W), self.factors * found.value
        floor = np.sqrt(damping * min(1.0, float(np.abs(e).max())) + 1e-18) * (float(np.linalg.norm(J, 2)) or 1.0)
        step = W @ self._solved(J, e, floor, curvature, self.bounds.rows(s, W))
        return self._sound(s.integrate(_shortened(step)))

    def _free(self, s: State, has_change: bool = False) -> tuple[Following, Array]:
        """How velocities follow, and the ways that joints to hold leave open, each of cost 1."""
        closures = self.errors._closures_of(self.layout)
        following = follow(closures, self.layout, self.table, s, has_change=has_change)
        W = following.W @ null_space(following.W[self.to_hold], 1e-10)
        return following, W / np.linalg.norm(np.sqrt(self.cost)[:, None] * W, axis=0)

    def _curvature(self, s: State, following: Following, W: Array, value: Array) -> Array:
        """Sum of the errors' Hessians over y, each times its error: what least squares leave out."""
        reduced = reduce(self.errors, self.layout, self.errors._at(s, HESSIANS), following, True)
        assert reduced.hessian is not None
        H = np.einsum("i,iba->ba", self.factors**2 * value, reduced.hessian)
        T = W[following.independent]
        return np.asarray(0.5 * (T.T @ (H + H.T) @ T), dtype=np.float64)

    @staticmethod
    def _solved(J: Array, e: Array, floor: float, curvature: Array | None, rows: Inequalities | None) -> Array:
        """Step y of least |J y + e|^2 + floor^2 |y|^2, plus curvature as far as it is positive, within bounds."""
        n = J.shape[1]
        if curvature is None:
            H = J.T @ J + floor**2 * np.eye(n)
            y = np.linalg.lstsq(np.vstack([J, floor * np.eye(n)]), np.r_[-e, np.zeros(n)], rcond=None)[0]
        else:
            eigenvalues, V = np.linalg.eigh(J.T @ J + curvature)
            eigenvalues = np.maximum(np.abs(eigenvalues), floor**2)
            H = (V * eigenvalues) @ V.T
            y = -V @ ((V.T @ (J.T @ e)) / eigenvalues)
        if rows is not None and rows.excess(y).max(initial=0.0) > 0.0:
            H += 1e-12 * float(np.trace(H)) * np.eye(n)
            y = programme(H, J.T @ e, rows.C, rows, np.zeros(len(rows.names)))
        return np.asarray(y, dtype=np.float64)

    def _sound(self, s: State) -> State | None:
        """The configuration with its loops closed and within all limits, by least steps; None if there is none near."""
        for _ in range(_MOST_CORRECTIONS):
            if not self.layout.is_tree:
                left = close_loops(self.layout, self.table, s.q, np.flatnonzero(~self.to_hold))
                if left > 1e3 * CLOSED:
                    return None
            if self.bounds.excess(s) <= _KEPT:
                return s
            _, W = self._free(s)
            rows = self.bounds.rows(s, W)
            assert rows is not None
            n = W.shape[1]
            try:
                y = programme(np.eye(n), np.zeros(n), rows.C, rows, np.zeros(len(rows.names)))
            except InputError:  # no step keeps all limits at once
                return None
            s = s.integrate(_shortened(W @ y))
        return None

    def answer(self, s: State, tolerance: float, steps: int, tries: int) -> Reached:
        """The result at a configuration."""
        value = self.errors.value(s)
        errors = {name: value[where] for name, where in self.errors.slices.items()}
        distance = float(np.abs(value).max())
        return Reached(s, self.is_reached(s, tolerance), errors, distance, self.bounds.excess(s), steps, tries)


def _error(space: AnimationSpace, name: str, target: Any) -> Function:
    """Function minus its target; of a square or a length that shall be zero, its arguments."""
    function, what = space.function(name), f"target of {name!r}"
    if function.is_rate:
        raise InputError(f"{name!r} is a rate: it has no position that could be reached")
    value = finite_array(target, function.shape, what) if function.shape else np.asarray(finite_scalar(target, what))
    return function - value if value.any() else argument_of(function)


def _shortened(step: Array) -> Array:
    """The step, or as much of it as no freedom is moved too far by."""
    longest = float(np.abs(step).max(initial=0.0))
    return step * min(1.0, _LONGEST_STEP / longest) if longest > 0.0 else step
