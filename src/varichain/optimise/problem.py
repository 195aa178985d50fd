"""Problem: the unknowns, equations and cost of a whole motion, in the mechanism's own units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.layout.state import State
from varichain.optimise.dynamics import Impact
from varichain.optimise.effort import Effort
from varichain.optimise.goals import Goals
from varichain.optimise.ledger import Equations, Unknowns
from varichain.optimise.legs import Leg, closure, motion_terms, steps_of
from varichain.optimise.pattern import Indices, Pattern
from varichain.optimise.terms import Functions, Linear, Squares, Term
from varichain.optimise.units import Units
from varichain.spatial.arrays import Array


class Problem:
    """Minimise a cost under equations and bounds, all of it without units: numbers near 1.

    Attributes:
        n: Number of unknowns.
        guess: Unknowns to begin with.
        low, high: Bounds of the unknowns.
        row_low, row_high: Bounds of the equations.
        wishes: Names of the equations that can be too much.
        slopes_pattern, curves_pattern: Of the derivative of the equations, and of the Lagrangian's second one.
    """

    def __init__(self, unknowns: Unknowns, equations: Equations, terms: Sequence[Term], effort: Effort) -> None:
        """Take all parts."""
        self._terms, self._effort = list(terms), effort
        self.n, n_rows = unknowns.n, equations.n
        self.unit, self.row_unit, self.wishes = unknowns.unit, equations.unit, equations.wishes
        self.low, self.high, self.guess = (x / self.unit for x in (unknowns.low, unknowns.high, unknowns.guess))
        self.row_low, self.row_high = (x / self.row_unit for x in (equations.low, equations.high))
        effort.measure(unknowns.guess)
        self.cost_unit = effort.unit
        places = [place for term in terms for place in term.slope_places]
        self.slopes_pattern = Pattern(places, (n_rows, self.n))
        curves = [*effort.curve_places, *(place for term in terms for place in term.curve_places)]
        self.curves_pattern = Pattern(curves, (self.n, self.n), upper=True)
        rows, columns = self.slopes_pattern.rows, self.slopes_pattern.columns
        self._slope_scale = self.unit[columns] / self.row_unit[rows]
        self._curve_scale = self.unit[self.curves_pattern.rows] * self.unit[self.curves_pattern.columns]

    def cost(self, x: Array) -> float:
        """The cost."""
        return self._effort.value(self.unit * x)

    def cost_slopes(self, x: Array) -> Array:
        """Its gradient (n,)."""
        return np.asarray(self.unit * self._effort.slopes(self.unit * x))

    def equations(self, x: Array) -> Array:
        """Values of all equations."""
        x, found = self.unit * x, np.zeros(len(self.row_unit))
        for term in self._terms:
            for rows, values in term.values(x):
                found[rows] += values
        return found / self.row_unit

    def slopes(self, x: Array) -> Array:
        """Entries of their derivative."""
        x = self.unit * x
        data = self.slopes_pattern.data([one for term in self._terms for one in term.slopes(x)])
        return np.asarray(self._slope_scale * data)

    def curves(self, x: Array, of_cost: float, multipliers: Array) -> Array:
        """Entries of the second derivative of of_cost cost + sum(multipliers equations)."""
        x, y = self.unit * x, multipliers / self.row_unit
        blocks = [of_cost * one for one in self._effort.curves(x)]
        blocks += [one for term in self._terms for one in term.curves(x, y)]
        return np.asarray(self._curve_scale * self.curves_pattern.data(blocks))

    def excess(self, x: Array) -> Array:
        """How far each equation is outside its bounds."""
        values = self.equations(x)
        return np.maximum(np.maximum(self.row_low - values, values - self.row_high), 0.0)


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of the whole motion.

    Attributes:
        start: "fixed", "at rest" or "free".
        periodic: Joints that end as they began.
        weights: Cost of squared torques by joint.
        effort, time: Factors in the cost.
        end_cost: Factors of functions at the end.
    """

    start: str
    periodic: tuple[str, ...]
    weights: Mapping[str, float]
    effort: float
    time: float
    end_cost: Mapping[str, Any]


def problem_of(legs: Sequence[Leg], s: State, asked: Asked, units: Units, unknowns: Unknowns) -> Problem:
    """The problem of a motion through all phases."""
    equations, terms = Equations(), []
    for i, leg in enumerate(legs):
        name = f"phase {i + 1}" if leg.phase.name is None else f"phase {leg.phase.name!r}"
        terms += _start(leg, s, asked.start, units, equations) if i == 0 else []
        terms += _junction(legs[i - 1], leg, name, units, unknowns, equations) if i else []
        terms += motion_terms(leg, units, equations)
        terms += Goals(leg, name, units, equations).terms()
    terms += _periodic(legs, asked.periodic, units, equations)
    further, linear = _end_cost(legs[-1], asked.end_cost, units, unknowns, equations)
    return Problem(unknowns, equations, [*terms, *further], Effort(legs, asked, linear, units, unknowns.n))


def _start(leg: Leg, s: State, start: str, units: Units, equations: Equations) -> list[Term]:
    """The given state, or one that is closed, with quaternions of unit length."""
    q, v, of = leg.q[0], leg.v[0], leg.structure
    terms: list[Term] = [_zero(leg.gaps, of.loop_units, equations)]
    if start != "free":
        wanted = s.v if start == "fixed" else np.zeros(len(v))
        rows = equations.add((len(v),), units.v / units.time, wanted, wanted)
        terms.append(Linear(rows, v[:, None], np.ones(1)))
    if start == "fixed":
        rows = equations.add((len(q),), units.q, s.q, s.q)
        return [*terms, Linear(rows, q[:, None], np.ones(1))]
    if len(of.loops):
        terms += closure(leg, q[None], v[None], units, equations, rates=start == "free")
    if of.chart.turning:
        columns = np.array([q[slot.q.start : slot.q.start + 4] for slot in of.chart.turning])
        terms.append(Squares(equations.add((len(columns),), 1.0, 1.0, 1.0), columns))
    return terms


def _junction(before: Leg, after: Leg, name: str, units: Units, unknowns: Unknowns, equations: Equations) -> list[Term]:
    """Positions go on, and velocities after the impact of new connections."""
    of, old = after.structure, before.structure
    terms: list[Term] = [_equal(after.q[0], before.q[-1], units.q, equations)]
    new = [loop for loop in of.loops.slices if loop not in old.loops.slices]
    for loop, where in of.loops.slices.items():
        was, own, sizes = old.loops.slices.get(loop, slice(0, 0)), after.gaps[where], of.loop_units[where]
        if was.stop - was.start == len(own):
            terms.append(_equal(own, before.gaps[was], sizes, equations))
        elif loop not in new:
            terms.append(_zero(own, sizes, equations))
    if not new:
        return [*terms, _equal(after.v[0], before.v[-1], units.v / units.time, equations)]
    dims = [k for loop in new for k in range(of.loops.slices[loop].start, of.loops.slices[loop].stop)]
    sizes, none = of.loop_units[dims], np.zeros((1, 0), np.int64)
    rows = equations.add((len(dims),), sizes)
    terms.append(Functions(of.loops, after.q[:1], after.v[:1], dims, [], rows[None], none, steps_of(units)))
    terms.append(Linear(rows, after.gaps[dims][:, None], np.array([-1.0])))
    wishes = equations.wish([f"connection {of.loops.names[k]!r} at the start of {name}" for k in dims], sizes)
    terms.append(Linear(wishes, after.gaps[dims][:, None], np.ones(1)))
    impulses = unknowns.add(np.zeros((1, len(of.loops))), units.energy * units.time / of.loop_units)
    rows = equations.add((1, of.chart.n_v), units.force * units.time)
    unknown = after.q[:1], before.v[-1:], after.v[:1], impulses
    terms.append(Impact(of.batch, of.loops, rows, unknown, steps_of(units)))
    return [*terms, *closure(after, after.q[:1], after.v[:1], units, equations, values=False)]


def _zero(unknowns: Indices, unit: Array, equations: Equations) -> Linear:
    """Unknowns that are zero."""
    return Linear(equations.add((len(unknowns),), unit), unknowns[:, None], np.ones(1))


def _equal(a: Indices, b: Indices, unit: Array, equations: Equations) -> Linear:
    """Unknowns that are equal."""
    return Linear(equations.add((len(a),), unit), np.stack([a, b], axis=1), np.array([1.0, -1.0]))


def _periodic(legs: Sequence[Leg], joints: Sequence[str], units: Units, equations: Equations) -> list[Term]:
    """Joints that end as they began."""
    first, last, terms = legs[0], legs[-1], []
    for name in joints:
        slot = first.structure.layout.slot(name)
        q = np.arange(slot.q.start + slot.has_quaternion, slot.q.stop)  # the fourth number follows from the length
        v = np.arange(slot.v.start, slot.v.stop)
        for where, at, unit, what in ((q, "q", units.q, "place"), (v, "v", units.v / units.time, "velocity")):
            a, b = getattr(last, at)[-1][where], getattr(first, at)[0][where]
            rows = equations.wish([f"return of the {what} of joint {name!r}"] * len(where), unit[where])
            terms.append(Linear(rows, np.stack([a, b], axis=1), np.array([1.0, -1.0])))
    return list(terms)


def _end_cost(
    leg: Leg, weights: Mapping[str, Any], units: Units, unknowns: Unknowns, equations: Equations
) -> tuple[list[Term], list[tuple[Indices, float, Array]]]:
    """Functions at the end as unknowns of their own, in which the cost is linear."""
    of, linear = leg.structure, []
    terms: list[Term] = []
    for name, weight in weights.items():
        where = of.functions.slices[name]
        dims = list(range(where.start, where.stop))
        size = of.function_units[dims]
        values = unknowns.add(of.functions.at(unknowns.guess[leg.q[-1]][None]).value[0, dims], size)
        rows = equations.add((len(dims),), size)
        none = np.zeros((1, 0), np.int64)
        terms.append(Functions(of.functions, leg.q[-1:], leg.v[-1:], dims, [], rows[None], none, steps_of(units)))
        linear.append((values, float(weight), size))
        terms.append(Linear(rows, values[:, None], np.array([-1.0])))
    return terms, linear
