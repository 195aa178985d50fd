"""Motions of least cost: spacetime constraints by direct collocation [Witkin and Kass 1988]."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from varichain.animation.space import AnimationSpace
from varichain.errors import InputError, OptimisationError, OptimisationInterrupted, quoted
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.optimise import ipopt, small
from varichain.optimise.elastic import Elastic
from varichain.optimise.interrupts import Interrupts
from varichain.optimise.legs import Leg
from varichain.optimise.pattern import Indices
from varichain.optimise.phase import Phase
from varichain.optimise.preparing import prepare
from varichain.optimise.problem import Problem
from varichain.optimise.result import OptimisedMotion, result_of
from varichain.optimise.showing import Showing
from varichain.optimise.solving import Solution
from varichain.spatial.arrays import Array
from varichain.spatial.checks import count_number, positive_scalar

_SOLVERS = {"ipopt": ipopt.solve, "slsqp": small.solve}
_MISSED = 1e-6  # of a wish, in units of the mechanism: less is met
_MOST_ITERATIONS = 10**6
_MOST_NAMED = 5


def optimise_motion(
    m: Mechanism,
    s: State,
    phases: Phase | Iterable[Phase],
    functions: Mapping[str, Any] | AnimationSpace | None = None,
    *,
    cost: Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    torque_limits: Any = None,
    fastest: Any = None,
    start: str = "fixed",
    periodic: Iterable[str] = (),
    guess: Any = None,
    solver: str | None = None,
    tolerance: float = 1e-8,
    iterations: int = 500,
    progress: bool | Callable[[int, float, float], Any] = False,
) -> OptimisedMotion:
    """Motion of least cost through phases, with the torques that drive it; neither mechanism nor state is changed.

    Equations of motion hold at three points of each interval, in all freedoms of the tree, with multipliers of the
    loops as unknowns; derivatives are exact. Joints stay in their ranges. Everything is scaled by the mechanism's own
    length, mass and time.

    Args:
        m: Mechanism; `actuated` of its joints says which are driven.
        s: Start.
        phases: One or several, one after the other.
        functions: Functions of the configuration that phases and cost name; of an animation space, or by name.
        cost: Factors by name: "effort", the integral of squared torques; "time", the whole duration; a function, its
            value at the end. {"effort": 1} by default.
        weights: Of the squared torques of joints in the effort, 1 by default.
        torque_limits: A number or (lower, upper) for all actuated joints, or by joint [N m or N].
        fastest: Largest speeds, for all joints or by joint [rad/s or m/s].
        start: "fixed", as in `s`; "at rest", anywhere; or "free".
        periodic: Joints that end where they began, and as fast; in a closed chain, independent ones.
        guess: A motion to begin with: a `vc.Motion`, an `animation.Plan`, an earlier result, or a list with one of
            these for each phase. Straight to the goals by default.
        solver: "ipopt" (extra `optimise`) or "slsqp" (SciPy, for small problems); the first if it is installed.
        tolerance: Of the solver, in units of the mechanism.
        iterations: The most.
        progress: True for a line on standard error; or a function of iteration, cost and what equations are off.

    Raises:
        OptimisationError: Goals, bounds or connections cannot all be met; it names them, and has the nearest motion.
        OptimisationInterrupted: Ctrl-C; a KeyboardInterrupt that has the best motion so far.
        MissingExtraError: casadi is not installed, and the problem is too large to do without.
    """
    begun = time.perf_counter()
    limits = torque_limits, fastest
    problem, legs = prepare(m, s, phases, functions, cost, weights, limits, start, periodic, guess)
    search = _Search(_solver(solver), positive_scalar(tolerance, "tolerance"), _count(iterations), progress)

    def result(solution: Solution) -> OptimisedMotion:
        x = problem.unit * solution.x
        found = solution.is_solved, solution.message, search.n, time.perf_counter() - begun
        return result_of(legs, s, x, problem.cost(solution.x) * problem.cost_unit, found)

    return search.best(problem, legs, result)


class _Search:
    """Solver, what it may take, and what to do when it fails."""

    def __init__(self, solve: Any, tolerance: float, most: int, progress: Any) -> None:
        self._solve, self._tolerance, self._most, self._progress = solve, tolerance, most, progress
        self.n = 0

    def best(self, problem: Problem, legs: list[Leg], result: Callable[[Solution], OptimisedMotion]) -> OptimisedMotion:
        """The best motion; if there is none, an error that says why."""
        with Interrupts() as interrupts, Showing(self._progress) as showing:

            def watch(iteration: int, cost: float, off: float) -> bool:
                showing.at(iteration, cost, off)
                return not interrupts.came

            def run(programme: Any) -> Solution:
                solution: Solution = self._solve(programme, self._tolerance, self._most, watch)
                self.n += solution.iterations
                if interrupts.came:
                    x = solution.x[: problem.n]
                    raise OptimisationInterrupted(
                        result(Solution(x, False, "interrupted", 0)), "optimisation interrupted; `motion` has the best"
                    )
                return solution

            solution = run(problem)
            if solution.is_solved:
                return result(solution)
            elastic = Elastic(problem, problem.guess)
            nearest = run(elastic)
            x = nearest.x[: problem.n]
            missing = elastic.missing(x)
            if np.abs(missing).max(initial=0.0) > _MISSED and nearest.is_solved:
                weak = _weak(problem, legs, x)
                motion = result(Solution(x, False, nearest.message, 0))
                raise _too_much(problem, elastic.wishes, missing, weak, motion)
            problem.guess = x
            solution = run(problem)
        if not solution.is_solved and problem.excess(solution.x).max(initial=0.0) > _MISSED:
            raise OptimisationError(
                f"the solver found no motion after {self.n} iterations ({solution.message}); begin with a better "
                "guess, or ask for more intervals or iterations",
                {},
                result(solution),
            )
        return result(solution)


def _too_much(
    problem: Problem, wishes: Indices, missing: Array, weak: list[str], motion: OptimisedMotion
) -> OptimisationError:
    """The error that names what cannot be met."""
    short: dict[str, float] = {}
    for i in np.argsort(-np.abs(missing)):
        if abs(missing[i]) > _MISSED:
            row = int(wishes[i])
            short.setdefault(problem.wishes[row], abs(float(missing[i] * problem.row_unit[row])))
    said = ", ".join(f"{name} by {left:.3g}" for name, left in list(short.items())[:_MOST_NAMED])
    reached = f"; torque limits of {', '.join(map(repr, weak))} are reached" if weak else ""
    return OptimisationError(
        f"no motion meets all that is asked: the nearest one misses {said}{reached}", short, motion
    )


def _weak(problem: Problem, legs: list[Leg], x: Array) -> list[str]:
    """Joints whose torques are at their limits, at one time at least."""
    found: list[str] = []
    for leg in legs:
        layout, drives = leg.structure.layout, leg.structure.actuated
        at_limit = np.minimum(x - problem.low, problem.high - x)[leg.tau] < _MISSED
        found += [layout.freedom_name(int(drives[k])) for k in np.flatnonzero(at_limit.any(axis=(0, 1)))]
    return list(dict.fromkeys(found))


def _solver(name: Any) -> Any:
    """The solver of a name; the best that is installed if there is none."""
    if name is None:
        try:
            ipopt.imported()
        except ImportError:
            return small.solve
        return ipopt.solve
    if not isinstance(name, str) or name not in _SOLVERS:
        raise InputError(f"solver must be one of {', '.join(map(repr, _SOLVERS))}, not {quoted(name)}")
    return _SOLVERS[name]


def _count(iterations: Any) -> int:
    return count_number(iterations, "iterations", _MOST_ITERATIONS)
