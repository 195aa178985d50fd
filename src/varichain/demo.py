"""A human figure in free fall, and one on the high bar: `python -m varichain.demo`.

Nothing holds the falling figure, so whatever its limbs do, its energy and its angular momentum must stay, its linear
momentum must grow with its weight, and its centre of mass must run along a parabola. The figure on the bar changes its
structure in motion: both hands, one, none, and a grasp in flight. The demo says how closely all that came true.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from varichain.dynamics import Connect, change, connect, cut, energy, loop_states, mobility, pose, project
from varichain.figures import human16, human40
from varichain.layout import State
from varichain.mechanism import Mechanism, Revolute
from varichain.spatial import Pose

Array = NDArray[np.float64]

SECONDS, STEP = 1.0, 1e-3  # [s]
SPAN = 0.25  # of constant structure on the high bar [s]
HEIGHT = 8.0  # where the figure's soles would be if it stood upright [m]
SPIN = (0.3, 1.8, 0.4)  # of the whole figure: sideways, head over heels, about its length [rad/s]
BENT: dict[str, float | tuple[float, float, float]] = {
    "chest": (0.0, 0.3, 0.1),
    "left shoulder": (-0.9, -0.3, 0.0),
    "right shoulder": (0.7, -0.9, 0.0),
    "left elbow": 1.2,
    "right elbow": 0.9,
    "left hip": (-0.2, -1.0, 0.0),
    "right hip": (0.2, -1.3, 0.0),
    "left knee": 1.0,
    "right knee": 1.4,
}
"""Angles, and rotation vectors of the spherical joints [rad]; the joints that are not named are straight."""


@dataclass(frozen=True)
class Fall:
    """What came of a fall; drifts are the largest over all steps.

    Attributes:
        seconds: Simulated time [s].
        steps: Number of steps.
        wall_seconds: What the steps took [s].
        energy_drift: Change of the energy, relative to the kinetic energy at the start.
        angular_drift: Change of the angular momentum about the centre of mass, relative to its length.
        linear_drift: Linear momentum beside p_0 + m g t, relative to the largest m g t.
        off_parabola: Distance of the centre of mass from its parabola [m].
        fastest: Highest speed of a joint freedom [rad/s].
    """

    seconds: float
    steps: int
    wall_seconds: float
    energy_drift: float
    angular_drift: float
    linear_drift: float
    off_parabola: float
    fastest: float


@dataclass(frozen=True)
class Scene:
    """A span of constant structure on the high bar, and the change that ended it.

    Attributes:
        start, end: Time [s].
        n_all, n_independent: N_J and N_F.
        energy_drift: Change of the energy over the span, relative to the largest kinetic energy.
        closure_error: How far the grips are open at the end of the span [m or rad].
        change: What ended it, in words; empty for the last.
        energy_lost: Kinetic energy that the change took [J].
    """

    start: float
    end: float
    n_all: int
    n_independent: int
    energy_drift: float
    closure_error: float
    change: str
    energy_lost: float


def bent_figure() -> tuple[Mechanism, State]:
    """The figure high above the ground, limbs bent, turning as a whole; undamped, for its energy must stay."""
    m = human40(at=(0.0, 0.0, HEIGHT), damping=False)
    s = m.state()
    for joint, bend in BENT.items():
        if isinstance(bend, tuple):
            s[joint].orientation = bend
        else:
            s[joint].q = bend
    s["pelvis"].v = (*SPIN, 0.0, 0.0, 0.0)
    return m, s


def fall(m: Mechanism, s: State, seconds: float = SECONDS, dt: float = STEP) -> Fall:
    """Let a floating mechanism go from the state, and compare every step with what must hold."""
    handle, q, v, tau = m.prepare(), s.q.copy(), s.v.copy(), np.zeros(m.n_v)
    steps = max(1, round(seconds / dt))
    parts, h, center = np.empty((steps + 1, 3)), np.empty((steps + 1, 6)), np.empty((steps + 1, 3))
    fastest, wall = 0.0, 0.0
    for i in range(steps + 1):
        handle.energy(q, v, parts[i])
        handle.momentum(q, v, h[i], center[i])
        fastest = max(fastest, float(np.abs(v[6:]).max()))
        if i < steps:
            start = time.perf_counter()
            handle.advance(q, v, tau, dt)
            wall += time.perf_counter() - start
    t = dt * np.arange(steps + 1)[:, None]
    mass = sum(link.inertia.mass for link in m.links)
    momentum = h[0, 3:] + mass * t * m.gravity
    parabola = center[0] + t * h[0, 3:] / mass + t**2 / 2.0 * m.gravity
    return Fall(
        seconds=steps * dt,
        steps=steps,
        wall_seconds=wall,
        energy_drift=float(np.abs(parts.sum(axis=1) - parts[0].sum()).max() / parts[0, 0]),
        angular_drift=_largest(h[:, :3] - h[0, :3]) / _largest(h[:1, :3]),
        linear_drift=_largest(h[:, 3:] - momentum) / _largest(mass * t * m.gravity),
        off_parabola=_largest(center - parabola),
        fastest=fastest,
    )


def hanging_figure() -> tuple[Mechanism, State]:
    """The 16-DoF figure with both hands on a bar at the origin's height, swinging, undamped."""
    m = human16(at=(0.0, 0.0, -2.0), damping=False)
    s = m.state()
    for side, out in (("left", 0.2), ("right", -0.2)):
        s[f"{side} shoulder"].orientation = (out, -2.9, 0.0)
        s[f"{side} elbow"].q = 0.3
    change(m, s, [_grasp(m, s, "left"), _grasp(m, s, "right")])
    s["torso"].v = (0.0, -2.5, 0.0, 2.0, 0.0, 0.0)
    return m, project(m, s)


def high_bar(m: Mechanism, s: State, span: float = SPAN, dt: float = STEP) -> list[Scene]:
    """Swing, let go with the right hand, then with the left, fly, and grasp again with the left [NY, Fig. 20]."""
    scenes = []
    for end in ("right hand lets go", "left hand lets go", "left hand grasps", ""):
        counts = mobility(m, s, probe=False)
        energy_drift, closure_error = _swing(m, s, span, dt)
        start, lost = s.time - span, 0.0
        if end:
            side, _, verb = end.split(" ", 2)
            action = cut(f"{side} grip") if verb == "lets go" else _grasp(m, s, side)
            lost = change(m, s, [action]).energy_lost
        drifts = (energy_drift, closure_error)
        scenes.append(Scene(start, start + span, counts.n_all, counts.n_independent, *drifts, end, lost))
    return scenes


def _grasp(m: Mechanism, s: State, side: str) -> Connect:
    """A hinge along y through the palm, where the hand is now."""
    turn = pose(m, s, f"{side} hand").R.T
    return connect(f"{side} hand", "ground", Revolute("y"), Pose((0.0, 0.0, -0.08), R=turn), name=f"{side} grip")


def _swing(m: Mechanism, s: State, span: float, dt: float) -> tuple[float, float]:
    """Move a state by a span; returns the energy's drift and the largest gap of a loop."""
    before = energy(m, s)
    m.prepare().advance(s.q, s.v, np.zeros(m.n_v), dt, max(1, round(span / dt)))
    s.time += span
    after = energy(m, s)
    drift = abs(after.total - before.total) / max(before.kinetic, after.kinetic)
    return drift, max((loop.gap for loop in loop_states(m, s).values()), default=0.0)


def main(seconds: float = SECONDS, span: float = SPAN) -> None:
    """Let a figure fall, swing another on the high bar, and print what came of it."""
    console = Console(highlight=False)
    m, s = bent_figure()
    console.print("[bold]A human figure with 40 joint freedoms in free fall[/]: limbs bent, turning as a whole.\n")
    console.print(str(m), markup=False)
    found = fall(m, s, seconds)
    table = Table("measured in this run", "value")
    table.columns[1].justify = "right"
    for what, value in _lines(found):
        table.add_row(what, value)
    console.print()
    console.print(table)
    console.print("\n[bold]A figure with 16 joint freedoms on the high bar[/]: it lets go, flies, and grasps again.\n")
    m, s = hanging_figure()
    console.print(_scenes(high_bar(m, s, span)))
    console.print("\nThe mechanism's own log:\n")
    console.print(str(m.log), markup=False)
    console.print("\nWhere to go next: README.md has a first mechanism, examples/ has short programs to copy from.")


def _scenes(scenes: list[Scene]) -> Table:
    table = Table("time", "N_J", "N_F", "energy drift", "grips open", "then", "energy lost")
    for scene in scenes:
        table.add_row(
            f"{scene.start:.2f}-{scene.end:.2f} s",
            f"{scene.n_all}",
            f"{scene.n_independent}",
            f"{scene.energy_drift:.1e}",
            f"{scene.closure_error:.1e}",
            scene.change,
            f"{scene.energy_lost:.3g} J" if scene.change else "",
        )
    return table


def _lines(found: Fall) -> list[tuple[str, str]]:
    return [
        ("simulated time", f"{found.seconds:g} s"),
        ("steps (Runge-Kutta 4)", f"{found.steps}"),
        ("wall time", f"{found.wall_seconds:.3f} s"),
        ("real-time factor", f"{found.seconds / found.wall_seconds:.1f}"),
        ("fastest joint", f"{found.fastest:.1f} rad/s"),
        ("energy drift, relative", f"{found.energy_drift:.1e}"),
        ("angular momentum drift, relative", f"{found.angular_drift:.1e}"),
        ("linear momentum beside p0 + m g t, relative", f"{found.linear_drift:.1e}"),
        ("centre of mass off its parabola", f"{found.off_parabola:.1e} m"),
    ]


def _largest(vectors: Array) -> float:
    """Length of the longest row."""
    return float(np.linalg.norm(vectors, axis=1).max())


if __name__ == "__main__":
    main()
