"""Guesses: a motion to begin with, from a plan, from another motion, or straight to the goals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.animation.reaching import reach
from varichain.animation.space import AnimationSpace
from varichain.dynamics.assembly import assemble
from varichain.errors import AssemblyError, InputError, quoted
from varichain.layout.layout import Layout, layout_of
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.motion import Motion
from varichain.optimise.charts import Chart
from varichain.optimise.gauss import MIDDLE, POINTS
from varichain.optimise.phase import Phase
from varichain.optimise.structure import Structure
from varichain.optimise.units import Units
from varichain.spatial.arrays import Array

Course = Callable[[Array], tuple[Array, Array, Array]]
"""q, v and a (n, ...) at times (n,) [s] from the beginning of a phase."""


@dataclass(frozen=True, eq=False)
class Guess:
    """Values of the unknowns of a phase: see `Leg`."""

    duration: float
    nodes: tuple[Array, Array]
    stages: tuple[Array, Array, Array]
    multipliers: Array
    tau: Array


def duration_of(phase: Phase) -> float:
    """The duration to begin with [s]: the given one, or the geometric mean of its bounds."""
    shortest, longest = phase.duration
    return math.sqrt(shortest * longest)


def courses_of(guess: Any, phases: Sequence[Phase], layout: Layout, s: State) -> list[Course | None]:
    """A course for each phase from what was given: a motion or plan of all of it, or one for each phase."""
    if guess is None:
        return [None] * len(phases)
    if isinstance(guess, Sequence):
        if len(guess) != len(phases):
            raise InputError(f"guess must be one motion, or one for each of {len(phases)} phases, not {len(guess)}")
        return [
            _course(_motion(one), layout, s, 0.0, 1.0, duration_of(p)) for one, p in zip(guess, phases, strict=True)
        ]
    ends = np.cumsum([0.0, *(duration_of(phase) for phase in phases)])
    parts = zip(phases, ends[:-1] / ends[-1], ends[1:] / ends[-1], strict=True)
    return [_course(_motion(guess), layout, s, a, b, duration_of(phase)) for phase, a, b in parts]


def _motion(guess: Any) -> Motion:
    """The motion of a plan, of another result, or itself."""
    motion = getattr(guess, "motion", guess)
    if not isinstance(motion, Motion):
        raise InputError(f"guess must be a vc.Motion, or have one, as a plan has, not {quoted(guess)}")
    return motion


def _course(motion: Motion, layout: Layout, s: State, a: float, b: float, duration: float) -> Course:
    """The part of a motion from a to b, of 1, in the duration of a phase; joints that it does not move stay."""
    first, length = motion.start, motion.end - motion.start
    slower = (b - a) * length / duration
    slots = [slot for slot in layout.slots if slot.name in motion.joints]

    def course(t: Array) -> tuple[Array, Array, Array]:
        times = first + a * length + slower * t
        q, (v, acc) = np.tile(s.q, (len(t), 1)), np.zeros((2, len(t), layout.n_v))
        found = motion.q(times), motion.v(times), motion.a(times)
        for slot in slots:
            q[:, slot.q] = np.reshape(found[0][slot.name], (len(t), -1))
            v[:, slot.v] = slower * np.reshape(found[1][slot.name], (len(t), -1))
            acc[:, slot.v] = slower**2 * np.reshape(found[2][slot.name], (len(t), -1))
        return q, v, acc

    return course


def straight(m: Mechanism, s: State, phase: Phase, functions: Mapping[str, Any], chart: Chart) -> Course:
    """A smooth course to the goals of a phase, or staying where it is."""
    start, duration = s.q.copy(), duration_of(phase)
    way = _goal(m, s, phase, functions).q - start

    def course(t: Array) -> tuple[Array, Array, Array]:
        x = (t / duration)[:, None]
        q = chart.unit(start + (3.0 - 2.0 * x) * x**2 * way)
        rates, further = 6.0 * (1.0 - x) * x * way / duration, 6.0 * (1.0 - 2.0 * x) * way / duration**2
        T = chart.turns(q)
        return q, np.einsum("pij,pj->pi", T, rates), np.einsum("pij,pj->pi", T, further)

    return course


def _goal(m: Mechanism, s: State, phase: Phase, functions: Mapping[str, Any]) -> State:
    """A configuration with the wanted functions and joints, or near it."""
    goal, layout = s.copy(), layout_of(m)
    joints = [name for name in phase.end if name not in functions]
    for name in joints:
        layout.slot(name)
        goal[name].q = phase.end[name]
    wanted = {name: phase.end[name] for name in phase.end if name in functions}
    if not wanted:
        return goal if layout.is_tree else _closed(m, goal, joints)
    space = AnimationSpace(m, {name: functions[name] for name in wanted})
    found = reach(space, goal, wanted, hold=joints).state
    for slot in layout.slots:  # of two quaternions of one orientation, the nearer
        if slot.has_quaternion:
            part = slice(slot.q.start, slot.q.start + 4)
            found.q[part] *= 1.0 if found.q[part] @ s.q[part] >= 0.0 else -1.0
    return found


def _closed(m: Mechanism, goal: State, joints: list[str]) -> State:
    """The state with its loops closed, those joints where they are; open, if that cannot be."""
    try:
        return assemble(m, goal, hold=joints).state
    except AssemblyError:
        return goal


def guess_of(course: Course, phase: Phase, structure: Structure, units: Units, near: Array) -> Guess:
    """Values of unknowns along a course, from coordinates `near` its start; loads that bear it best."""
    n, duration = phase.intervals, duration_of(phase)
    times = (np.arange(n)[:, None] + np.r_[0.0, POINTS]).ravel() * duration / n
    q, v, a = course(np.r_[times, duration])
    if len(structure.loops):
        q, v, _ = structure.batch.project(structure.chart.unit(q), v)
    found = q, v, a
    _turn_steadily(found[0], structure.chart, near)
    nodes = found[0][::4], found[1][::4]
    stages = [one[:-1].reshape(n, 4, -1)[:, 1:] for one in found]
    q, v, a = (one.reshape(3 * n, -1) for one in stages)
    needed = structure.batch.inverse_dynamics(structure.chart.unit(q), v, a)
    K = structure.loops.at(q).gradient
    by = np.concatenate([np.broadcast_to(structure.drive, (3 * n, *structure.drive.shape)), K.transpose(0, 2, 1)], 2)
    scale = np.r_[units.force[structure.actuated], units.energy / structure.loop_units]
    weighted = zip(by * scale / units.force[:, None], needed / units.force, strict=True)
    loads = scale * np.array([np.linalg.lstsq(A, b)[0] for A, b in weighted]).reshape(3 * n, -1)
    k = len(structure.actuated)
    tau = loads[:, :k].reshape(n, 3, k)[:, MIDDLE]
    return Guess(duration, nodes, (stages[0], stages[1], stages[2]), loads[:, k:].reshape(n, 3, -1), tau)


def _turn_steadily(q: Array, chart: Chart, near: Array) -> None:
    """Of two quaternions of one orientation, take those nearer to the ones before, in place."""
    for slot in chart.turning:
        part = slice(slot.q.start, slot.q.start + 4)
        before = np.vstack([near[None, part], q[:-1, part]])
        q[:, part] *= np.cumprod(np.where((before * q[:, part]).sum(axis=1) < 0.0, -1.0, 1.0))[:, None]
