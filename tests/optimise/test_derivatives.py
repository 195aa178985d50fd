"""Derivatives of whole problems beside differences of order two, in directions that move all unknowns."""

import numpy as np
import pytest

import lane
import varichain as vc
from optimise.problems import arm, crank, floating, problem, tip

STEP = 1e-5  # numbers are near 1: truncation 1e-10 times the third derivatives, rounding 1e-11
TOLERANCE = 2e-8


def reaching():
    """An arm of free duration, free at its start, with goals, bounds, periodicity and all costs."""
    m = arm()
    s = m.state()
    s.q = (0.3, 0.4)
    goals = {"end": {"tip": (1.2, 0.8)}, "end_rates": {"tip": 0.0, "elbow": 0.1}, "at_least": {"tip": -3.0}}
    cost = {"effort": 1.0, "time": 2.0, "tip": 0.3}
    phase = vc.Phase((0.5, 2.0), **goals, intervals=2)
    return problem(m, s, phase, {"tip": tip()}, cost, "free", ["shoulder"])


def closed():
    """A closed chain."""
    m, s = crank()
    return problem(m, s, vc.Phase((0.5, 2.0), end={"crank": 0.5}, intervals=2), start="free")


def coupled():
    """An arm whose joints are coupled on the way."""
    m = arm()
    s = m.state()
    s.q = (0.3, 0.4)
    gear = vc.couple("elbow", "shoulder", 0.5, name="gear")
    return problem(m, s, [vc.Phase(0.5, intervals=1), vc.Phase(0.5, change=[gear], intervals=1)])


def landing():
    """Quaternions, an impact, a cut and a weld."""
    m, s = floating()
    hold = vc.connect("hand", "ground", vc.Spherical(), at=(1, 0, 0), name="hold")
    weld = vc.connect("base", "ground", vc.Fixed(), name="weld")
    phases = [
        vc.Phase((0.5, 2.0), intervals=1, end={"p": (1, 0, 1)}),
        vc.Phase(1.0, change=[hold], intervals=1),
        vc.Phase(1.0, change=[vc.cut("hold"), weld], intervals=1),
    ]
    return problem(m, s, phases, {"p": vc.animation.point("hand", (1, 0, 0))}, start="free", periodic=["ball"])


@pytest.mark.parametrize("make", [reaching, closed, coupled, pytest.param(landing, marks=lane.long_run)])
def test_derivatives_are_those_of_the_equations(make):
    """Slopes are differences of the equations and of the cost, curves differences of slopes."""
    p = make()
    rng = np.random.default_rng(0)
    x, d, y = p.guess + 0.05 * rng.normal(size=p.n), rng.normal(size=p.n), rng.normal(size=len(p.row_low))

    def change(function):
        return (function(x + STEP * d) - function(x - STEP * d)) / (2.0 * STEP)

    def lagrangian_slopes(x):
        return 0.7 * p.cost_slopes(x) + p.slopes_pattern.matrix(p.slopes(x)).T @ y

    H = p.curves_pattern.matrix(p.curves(x, 0.7, y))
    upper = H.toarray()
    found = {
        "equations": (p.slopes_pattern.matrix(p.slopes(x)) @ d, change(p.equations)),
        "cost": (p.cost_slopes(x) @ d, change(p.cost)),
        "slopes": ((upper + np.triu(upper, 1).T) @ d, change(lagrangian_slopes)),
    }
    for what, (exact, differences) in found.items():
        assert np.abs(exact - differences).max() < TOLERANCE * np.abs(differences).max(), what


@lane.long_run
def test_a_jump_of_velocities_is_that_of_the_library():
    """Where equations of an impact hold, velocities after it are those of `vc.change`."""
    m, s = floating()
    s.v = np.linspace(-0.5, 0.5, m.n_v)
    hold = vc.connect("hand", "ground", vc.Spherical(), at=(1, 0, 0), name="hold")
    phases = [vc.Phase(0.01, intervals=1), vc.Phase(0.01, change=[hold], intervals=1)]
    found = vc.optimise_motion(m, s, phases, cost={"effort": 1.0})
    before, after = found.states[1], found.states[2]
    assert before.time == after.time
    moved = before.copy()
    place = vc.pose(m, found.states[0], "hand") @ (1.0, 0.0, 0.0)
    there = vc.connect("hand", "ground", vc.Spherical(), at=(1, 0, 0), at_other=place, name="hold", snap=1.0)
    vc.change(m.copy(), moved, [there])
    assert np.abs(moved.v - after.v).max() < 1e-6  # the gap of 1e-8 that is snapped first moves velocities as much
