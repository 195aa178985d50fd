"""Legs: unknowns and equations of one phase."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from varichain.optimise.collocation import Collocation
from varichain.optimise.dynamics import Motion
from varichain.optimise.gauss import MIDDLE, POINTS
from varichain.optimise.guess import Guess
from varichain.optimise.ledger import Equations, Unknowns
from varichain.optimise.limits import Limits
from varichain.optimise.pattern import Indices
from varichain.optimise.phase import Phase
from varichain.optimise.structure import Structure
from varichain.optimise.terms import Functions, Linear, Term
from varichain.optimise.units import Units
from varichain.spatial.arrays import Array

_STEP = 1e-5  # of differences of exact derivatives, in units of the mechanism: half the digits of a double are left


@dataclass(frozen=True, eq=False)
class Leg:
    """Numbers of the unknowns of one phase.

    Attributes:
        phase: What was asked for.
        structure: Its structure.
        duration: (1,).
        q, v: At the ends of intervals (n + 1, ...).
        stages: q, v, a (n, 3, ...).
        multipliers: Of the rows of loops at stages (n, 3, ...).
        gaps: By which loops are open all the while (n_rows,): zero, unless a connection cannot be made.
        tau: At the start and the end of each interval (n, 2, n_tau).
    """

    phase: Phase
    structure: Structure
    duration: Indices
    q: Indices
    v: Indices
    stages: tuple[Indices, Indices, Indices]
    multipliers: Indices
    gaps: Indices
    tau: Indices


def leg_of(phase: Phase, structure: Structure, guess: Guess, limits: Limits, units: Units, unknowns: Unknowns) -> Leg:
    """Add the unknowns of a phase."""
    T = units.time
    duration = unknowns.add([guess.duration], T, *phase.duration)
    drives = structure.actuated
    q = unknowns.add(guess.nodes[0], units.q, *limits.q)
    v = unknowns.add(guess.nodes[1], units.v / T, -limits.v, limits.v)
    stages = (
        unknowns.add(guess.stages[0], units.q, *limits.q),
        unknowns.add(guess.stages[1], units.v / T, -limits.v, limits.v),
        unknowns.add(guess.stages[2], units.v / T**2),
    )
    multipliers = unknowns.add(guess.multipliers, units.energy / structure.loop_units)
    gaps = unknowns.add(np.zeros(len(structure.loops)), structure.loop_units)
    low, high = limits.tau
    tau = unknowns.add(np.repeat(guess.tau[:, None], 2, axis=1), units.force[drives], low[drives], high[drives])
    return Leg(phase, structure, duration, q, v, stages, multipliers, gaps, tau)


def motion_terms(leg: Leg, units: Units, equations: Equations) -> list[Term]:
    """Equations of motion, collocation, and loops that stay closed."""
    n, of, T = leg.phase.intervals, leg.structure, units.time
    q_steps, v_steps = _STEP * units.q, units.v / T
    rows = equations.add((n, 3, of.chart.n_v), units.force)
    flat = [one.reshape(3 * n, one.shape[-1]) for one in (rows, *leg.stages, leg.multipliers)]
    ends = np.repeat(leg.tau[:, 0], 3, axis=0), np.repeat(leg.tau[:, 1], 3, axis=0)
    motion = Motion(
        of.batch,
        of.loops,
        of.drive,
        flat[0],
        tuple(flat[1:]),
        ends,
        np.tile(POINTS, n),
        (q_steps, v_steps),
    )
    links = equations.add((n, 4, of.chart.n_q), units.q), equations.add((n, 4, of.chart.n_v), units.v / T)
    collocation = Collocation(of.chart, leg.duration, (leg.q, leg.v), leg.stages, links, q_steps)
    return [motion, collocation, *_closed(leg, units, equations)]


def _closed(leg: Leg, units: Units, equations: Equations) -> list[Term]:
    """Loops closed in the middle and at the end of each interval, and not opening at its end.

    As many equations as multipliers: three stages, three equations. What is at rest does not open.
    """
    if not len(leg.structure.loops):
        return []
    terms = closure(leg, leg.stages[0][:, MIDDLE], leg.stages[1][:, MIDDLE], units, equations, rates=False)
    last = len(leg.q) - leg.phase.rest
    terms += closure(leg, leg.q[1:last], leg.v[1:last], units, equations)
    if leg.phase.rest:
        terms += closure(leg, leg.q[-1:], leg.v[-1:], units, equations, rates=False)
    return terms


def closure(
    leg: Leg, q: Indices, v: Indices, units: Units, equations: Equations, values: bool = True, rates: bool = True
) -> list[Term]:
    """Loops that are closed, but for their gaps, and do not open, at points."""
    of, n = leg.structure, len(q)
    rows = list(range(len(of.loops)))
    value_rows = equations.add((n, len(rows) if values else 0), of.loop_units if values else 1.0)
    rate_rows = equations.add((n, len(rows) if rates else 0), of.loop_units / units.time if rates else 1.0)
    closed = Functions(
        of.loops, q, v, rows if values else [], rows if rates else [], value_rows, rate_rows, _STEP * units.q
    )
    if not values:
        return [closed]
    return [closed, Linear(value_rows.ravel(), np.tile(leg.gaps, n)[:, None], np.array([-1.0]))]


def steps_of(units: Units) -> Array:
    """Steps of q for differences."""
    return np.asarray(_STEP * units.q)
