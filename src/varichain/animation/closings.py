"""Three ways to close a loop, side by side on one mechanism [PFB, 4.5]: extended coordinates, springs, hard loops."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from varichain.animation.dynamics import space_dynamics
from varichain.animation.function import Function
from varichain.animation.quantities import point
from varichain.animation.space import AnimationSpace
from varichain.dynamics.arguments import opened
from varichain.dynamics.forward import forward_dynamics
from varichain.dynamics.kinematics import pose
from varichain.dynamics.rank import kept_rows
from varichain.errors import InputError, UnknownNameError
from varichain.layout.layout import LoopSlot, layout_of
from varichain.layout.state import State
from varichain.mechanism.frames import Frame
from varichain.mechanism.joints import Free, Revolute, Spherical
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation import simulate
from varichain.spatial.arrays import Array
from varichain.spatial.checks import count_number, finite_scalar, instance, positive_scalar
from varichain.spatial.pose import Pose
from varichain.spatial.report import Listing, Report, Reported

WAYS = ("extended", "soft", "hard")
Run = tuple[Array, Array, Array]

_STEP = 2e-3  # [s] of the open chain
_LONGEST = 100.0  # [s]
_STIFFEST = 1e9  # [N/m, N s/m]


@dataclass(frozen=True, eq=False, repr=False)
class Closings(Reported):
    """One motion, with a loop closed in three ways.

    Attributes:
        times: (n,) [s].
        q: By way: coordinates (n, n_q).
        gap: By way: how far the loop is open (n,) [m].
        force: By way: force (n, 3) [N] of the loop on its real link, world axes.
        cost: By way: time of the processor [s].
    """

    times: Array
    q: dict[str, Array]
    gap: dict[str, Array]
    force: dict[str, Array]
    cost: dict[str, float]

    def difference(self, way: str) -> float:
        """Largest difference of coordinates from those of the hard loop [rad or m]."""
        if way not in self.q:
            raise UnknownNameError("way", way, WAYS)
        return float(np.abs(self.q[way] - self.q["hard"]).max())

    def report(self) -> Report:
        """Motion, gap, force and cost of each way."""
        rows = []
        for way in WAYS:
            off = float(np.abs(self.force[way] - self.force["hard"]).max())
            numbers = self.difference(way), float(self.gap[way].max()), off, self.cost[way]
            rows.append((way, *(f"{x:.3g}" for x in numbers)))
        head = ("way", "motion differs by", "gap [m]", "force differs by [N]", "time [s]")
        return f"a loop closed in three ways, {self.times[-1]:g} s", (Listing(head, rows),)


def closings(
    m: Mechanism, s: State, loop: str, until: float, stiffness: float = 1e5, damping: float = 1e2, samples: int = 20
) -> Closings:
    """Run a mechanism with one loop closed in three ways, and compare motion, forces and cost.

    "extended": the closure errors are dimensions of an animation space that stay at zero; their tau_u is the reaction,
    and is applied to the open chain. "soft": springs and dampers at the point. "hard": the loop of the library.

    Args:
        m: Mechanism; not changed.
        s: Start, the loop closed.
        loop: Name of the loop's joint, a ball or, in a planar mechanism, a hinge.
        until: End [s].
        stiffness: Of the springs [N/m].
        damping: Of the dampers [N s/m].
        samples: Number of times at which the three are compared.
    """
    layout = layout_of(instance(m, Mechanism, "mechanism"))
    opened(m, s)
    found = {one.name: one for one in layout.loops}
    if not isinstance(loop, str) or loop not in found:
        raise UnknownNameError("loop", loop, found)
    slot = found[loop]
    if not isinstance(slot.joint, Spherical | Revolute):
        raise InputError(f"springs at a point stand for a ball or a hinge, not for a {slot.joint.kind} joint")
    k, d = positive_scalar(stiffness, "stiffness"), positive_scalar(damping, "damping")
    if max(k, d) > _STIFFEST:
        raise InputError(
            f"springs and dampers of {max(k, d):g} are too stiff to be simulated; {_STIFFEST:g} is the most"
        )
    n = count_number(samples, "samples", 10**5)
    length = finite_scalar(until, "until") - s.time
    if not 0.0 < length <= _LONGEST:
        raise InputError(f"until must be later than {s.time:g} s, by {_LONGEST:g} s at most, not {until:g} s")
    times = s.time + np.linspace(0.0, length, n + 1)
    ways = {"hard": lambda: _hard(m, s, slot, times), "soft": lambda: _soft(m, s, slot, times, k, d)}
    ways["extended"] = lambda: _extended(m, s, slot, times)
    q, gap, force, cost = {}, {}, {}, {}
    for way in WAYS:
        start = time.process_time()
        q[way], gap[way], force[way] = ways[way]()
        cost[way] = time.process_time() - start
    return Closings(times, q, gap, force, cost)


def _hard(m: Mechanism, s: State, loop: LoopSlot, times: Array) -> Run:
    states = _simulated(m, s, times)
    force = [forward_dynamics(m, one).loop_forces[loop.name][3:] for one in states]
    return _answer(m, loop, states, force)


def _soft(m: Mechanism, s: State, loop: LoopSlot, times: Array, k: float, d: float) -> Run:
    """Springs and dampers between the two frames: a joint without rows."""
    chain = _cut_open(m, loop)
    springs = Free(stiffness=(0, 0, 0, k, k, k), damping=(0, 0, 0, d, d, d), name="springs")
    chain.connect(loop.link_A, loop.link_B, springs, loop.on_A, loop.on_B)
    states = _simulated(chain, s, times)
    gap = AnimationSpace(m, {"gap": _gap(loop)})
    force = []
    for one in states:
        found = gap.at(one)
        force.append(_axes(m, one, loop) @ (-k * found.value - d * found.rate))
    return _answer(m, loop, states, force)


def _extended(m: Mechanism, s: State, loop: LoopSlot, times: Array) -> Run:
    """The open chain under the forces tau_u of dimensions that stay at zero, by Runge-Kutta steps of order four."""
    layout, table = opened(m, s)
    kept = kept_rows(layout, table, s.q)[loop.rows]
    linear = [
        axis for (word, axis), is_kept in zip(loop.joint.rows or (), kept, strict=True) if is_kept and word == "linear"
    ]
    if len(linear) < kept.sum():
        raise InputError(f"loop {loop.name!r} holds directions too, which springs at a point do not: use a ball")
    error = _gap(loop)[linear]
    chain = _cut_open(m, loop)
    space = AnimationSpace(chain, {"closed": error})

    def reaction(one: State) -> Array:
        return space_dynamics(space, one).force(np.zeros(len(space)))

    def acceleration(one: State) -> Array:
        return forward_dynamics(chain, one, space.gradient(one).T @ reaction(one)).a

    state = _belonging(chain, s)
    states, force = [], []
    n_steps = max(1, int(np.ceil((times[-1] - times[0]) / (len(times) - 1) / _STEP)))
    for i, t in enumerate(times):
        state.time = float(t)
        states.append(state)
        force.append(_axes(m, state, loop)[:, linear] @ reaction(state))
        if i + 1 < len(times):
            for _ in range(n_steps):
                state = _stepped(state, acceleration, float(times[i + 1] - t) / n_steps)
    return _answer(m, loop, states, force)


def _cut_open(m: Mechanism, loop: LoopSlot) -> Mechanism:
    """A copy of the mechanism without the loop."""
    chain = m.copy()
    chain.cut(loop.name)
    return chain


def _simulated(m: Mechanism, s: State, times: Array) -> list[State]:
    """States at the times, by an adaptive method."""
    sample = float(times[1] - times[0])
    trace = simulate(m, _belonging(m, s), float(times[-1]), method="rk45", tolerance=1e-10, sample=sample)
    return [trace.at(float(t)) for t in times]


def _belonging(m: Mechanism, s: State) -> State:
    """The state in another mechanism with the same joints."""
    other = m.state()
    other.q, other.v, other.time = s.q, s.v, s.time
    return other


def _stepped(s: State, acceleration: Callable[[State], Array], h: float) -> State:
    """State after a Runge-Kutta step; of order four where velocities are rates of coordinates."""

    def moved(v: Array, a: Array, dt: float) -> State:
        one = s.integrate(dt * v)
        one.v = s.v + dt * a
        return one

    v1, a1 = s.v.copy(), acceleration(s)
    two = moved(v1, a1, 0.5 * h)
    v2, a2 = two.v.copy(), acceleration(two)
    three = moved(v2, a2, 0.5 * h)
    v3, a3 = three.v.copy(), acceleration(three)
    four = moved(v3, a3, h)
    v4, a4 = four.v.copy(), acceleration(four)
    return moved((v1 + 2.0 * v2 + 2.0 * v3 + v4) / 6.0, (a1 + 2.0 * a2 + 2.0 * a3 + a4) / 6.0, h)


def _gap(loop: LoopSlot) -> Function:
    """Origin of the loop's frame A seen from frame B, in the axes of its rows (3,) [m]."""
    axes = loop.joint.loop_geometry().axes
    return point(loop.link_A, loop.on_A, seen_from=Frame(loop.link_B, loop.on_B @ Pose(R=axes)))


def _axes(m: Mechanism, s: State, loop: LoopSlot) -> Array:
    """Axes of the loop's rows in the world, as columns (3, 3)."""
    result: Array = pose(m, s, loop.link_B, loop.on_B).R @ loop.joint.loop_geometry().axes
    return result


def _answer(m: Mechanism, loop: LoopSlot, states: list[State], force: list[Array]) -> Run:
    space = AnimationSpace(m, {"gap": _gap(loop)})
    gap = [float(np.linalg.norm(space.value(one))) for one in states]
    return np.array([one.q for one in states]), np.array(gap), np.array(force)
