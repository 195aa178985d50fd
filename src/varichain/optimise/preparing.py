"""A problem from what a user gives: structures and guesses of all phases, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from varichain.animation.space import AnimationSpace
from varichain.dynamics.arguments import sound_layout
from varichain.errors import InputError, quoted
from varichain.layout.layout import layout_of
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.optimise.charts import Chart
from varichain.optimise.guess import courses_of, duration_of, guess_of, straight
from varichain.optimise.ledger import Unknowns
from varichain.optimise.legs import Leg, leg_of
from varichain.optimise.limits import limits_of
from varichain.optimise.phase import Phase
from varichain.optimise.problem import Asked, Problem, problem_of
from varichain.optimise.structure import changed, structure_of
from varichain.optimise.units import Units, units_of
from varichain.spatial.checks import finite_scalar, instance, listed, mapping, non_negative_scalar, positive_scalar

_STARTS = ("fixed", "at rest", "free")


def prepare(
    m: Mechanism, s: State, phases: Any, functions: Any, cost: Any, weights: Any, limits: tuple[Any, Any], start: Any,
    periodic: Any, guess: Any,
) -> tuple[Problem, list[Leg]]:  # fmt: skip
    """Check all arguments of `optimise_motion`, and make a problem of them; limits are those of torques and speeds."""
    instance(m, Mechanism, "mechanism")
    sound_layout(m, instance(s, State, "s"))
    given = [phases] if isinstance(phases, Phase) else list(listed(phases, Phase, "phases"))
    if not given:
        raise InputError("a motion needs at least one phase")
    named = functions.functions if isinstance(functions, AnimationSpace) else mapping(functions, "functions")
    asked = _asked(cost, weights, start, periodic, named)
    units, legs, unknowns = _legs(m, s.copy().follow(m), given, named, guess, limits)
    return problem_of(legs, s, asked, units, unknowns), legs


def _legs(
    m: Mechanism, s: State, phases: list[Phase], functions: Mapping[str, Any], guess: Any, limits: tuple[Any, Any]
) -> tuple[Units, list[Leg], Unknowns]:
    """Structures and unknowns of all phases, along the guess."""
    layout = layout_of(m)
    chart, bounds = Chart(layout.slots), limits_of(m, layout, *limits)
    given = courses_of(guess, phases, layout, s)
    here, own, courses, mechanisms, states = s, m, [], [], []
    for phase, course in zip(phases, given, strict=True):
        own = changed(own, here, phase.change)
        courses.append(course or straight(own, here, phase, functions, chart))
        mechanisms.append(own)
        states.append(here)
        here = here.copy()
        here.q = chart.unit(courses[-1](np.array([duration_of(phase)]))[0])[0]
    units = units_of(m, s, here.q - s.q, sum(duration_of(phase) for phase in phases))
    legs, unknowns, near = [], Unknowns(), s.q
    for phase, course, one, state in zip(phases, courses, mechanisms, states, strict=True):
        structure = structure_of(one, state, functions, units)
        values = guess_of(course, phase, structure, units, near)
        legs.append(leg_of(phase, structure, values, bounds, units, unknowns))
        near = values.nodes[0][-1]
    return units, legs, unknowns


def _asked(cost: Any, weights: Any, start: Any, periodic: Any, functions: Mapping[str, Any]) -> Asked:
    """Check what is asked of the whole motion."""
    factors = dict(mapping({"effort": 1.0} if cost is None else cost, "cost"))
    for name, value in factors.items():
        if name not in ("effort", "time") and name not in functions:
            raise InputError(f"cost names {quoted(name)}; valid: 'effort', 'time', {', '.join(map(repr, functions))}")
        finite_scalar(value, f"cost of {name!r}")
    if not isinstance(start, str) or start not in _STARTS:
        raise InputError(f"start must be one of {', '.join(map(repr, _STARTS))}, not {quoted(start)}")
    effort, duration = (non_negative_scalar(factors.pop(name, 0.0), f"cost of {name!r}") for name in ("effort", "time"))
    checked = {name: positive_scalar(x, f"weight of {name!r}") for name, x in mapping(weights, "weights").items()}
    return Asked(start, tuple(listed(periodic, str, "periodic")), checked, effort, duration, factors)
