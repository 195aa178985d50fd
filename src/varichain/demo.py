"""The 40-DoF human figure in free fall: `python -m varichain.demo`.

Nothing holds the figure, so whatever its limbs do, its energy and its angular momentum must stay, its linear momentum
must grow with its weight, and its centre of mass must run along a parabola. The demo integrates a second of the fall
and says how closely that came true.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from varichain.dynamics import Prepared
from varichain.figures import human40
from varichain.layout import State
from varichain.mechanism import Mechanism
from varichain.spatial.rotation import matrix_from_rotation_vector

Array = NDArray[np.float64]

SECONDS, STEP = 1.0, 1e-3  # [s]
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


class RungeKutta4:
    """The classical method of order four, on the manifold of configurations.

    A step moves in a chart around its start, q = q_0 (+) u. There the rate of a rotation vector u under the angular
    velocity w, in the link's axes, is u' = w + u x w / 2 + u x (u x w) / 12 + O(u^4), and that of a floating link's
    position is R(u) v. (H. Munthe-Kaas, Runge-Kutta methods on Lie groups, BIT 38, 92-111, 1998.)
    """

    def __init__(self, handle: Prepared, state: State) -> None:
        """Start from a copy of the state's q and v."""
        self.handle, self.q, self.v = handle, state.q.copy(), state.v.copy()
        slots = state.layout.slots
        turns = [range(slot.v.start, slot.v.start + 3) for slot in slots if slot.has_quaternion]
        self._turns = np.array(turns, dtype=int).reshape(-1, 3)
        self._free = [slot.v.start for slot in slots if slot.kind == "free"]
        self._q, self._a, self._tau = np.empty(handle.n_q), np.zeros(handle.n_v), np.zeros(handle.n_v)

    def advance(self, dt: float) -> None:
        """Move q and v by a time dt [s], without joint torques."""
        a, rate = self._a, np.zeros_like(self.v)
        a_sum, rate_sum = np.zeros_like(self.v), np.zeros_like(self.v)
        for part, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
            u, v = part * dt * rate, self.v + part * dt * a
            self.handle.integrate(self.q, u, 1.0, self._q)
            self.handle.forward_dynamics(self._q, v, self._tau, a)
            rate = self._rate(u, v)
            rate_sum += weight * rate
            a_sum += weight * a
        self.handle.integrate(self.q, rate_sum, dt / 6.0, self.q)
        self.v += dt / 6.0 * a_sum

    def _rate(self, u: Array, v: Array) -> Array:
        rate = v.copy()
        turn, w = u[self._turns], v[self._turns]
        across = _cross(turn, w)
        rate[self._turns] = w + across / 2.0 + _cross(turn, across) / 12.0
        for k in self._free:
            rate[k + 3 : k + 6] = matrix_from_rotation_vector(u[k : k + 3]) @ v[k + 3 : k + 6]
        return rate


def bent_figure() -> tuple[Mechanism, State]:
    """The figure high above the ground, limbs bent, turning as a whole."""
    m = human40(at=(0.0, 0.0, HEIGHT))
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
    handle = m.prepare()
    method = RungeKutta4(handle, s)
    steps = max(1, round(seconds / dt))
    energy, h, center = np.empty((steps + 1, 3)), np.empty((steps + 1, 6)), np.empty((steps + 1, 3))
    fastest, wall = 0.0, 0.0
    for i in range(steps + 1):
        handle.energy(method.q, method.v, energy[i])
        handle.momentum(method.q, method.v, h[i], center[i])
        fastest = max(fastest, float(np.abs(method.v[6:]).max()))
        if i < steps:
            start = time.perf_counter()
            method.advance(dt)
            wall += time.perf_counter() - start
    t = dt * np.arange(steps + 1)[:, None]
    mass = sum(link.inertia.mass for link in m.links)
    momentum = h[0, 3:] + mass * t * m.gravity
    parabola = center[0] + t * h[0, 3:] / mass + t**2 / 2.0 * m.gravity
    return Fall(
        seconds=steps * dt,
        steps=steps,
        wall_seconds=wall,
        energy_drift=float(np.abs(energy.sum(axis=1) - energy[0].sum()).max() / energy[0, 0]),
        angular_drift=_largest(h[:, :3] - h[0, :3]) / _largest(h[:1, :3]),
        linear_drift=_largest(h[:, 3:] - momentum) / _largest(mass * t * m.gravity),
        off_parabola=_largest(center - parabola),
        fastest=fastest,
    )


def main(seconds: float = SECONDS) -> None:
    """Build the figure, let it fall, and print what came of it."""
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
    console.print("\nWhere to go next: README.md has a first mechanism, examples/ has short programs to copy from.")


def _lines(found: Fall) -> list[tuple[str, str]]:
    return [
        ("simulated time", f"{found.seconds:g} s"),
        ("steps (Runge-Kutta 4, from Python)", f"{found.steps}"),
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


def _cross(a: Array, b: Array) -> Array:
    """Cross products of rows (n, 3); in half the time of np.cross."""
    ax, ay, az, bx, by, bz = *a.T, *b.T
    return np.stack((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), axis=1)


if __name__ == "__main__":
    main()
