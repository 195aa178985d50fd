"""Static equilibrium: postures in which gravity, springs, forces, torques and loops balance.

On the configurations that loops and joints to hold allow, dq = W dy. Balance is W^T (tau - tau_0(q)) = 0, with tau_0
the torques that keep the mechanism at rest. Its derivative along y, with the sign changed, is the stiffness of the
posture: the second derivative of the potential, where the forces have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import Table, joint_vector, opened
from varichain.dynamics.assembly import assembled, close_loops, columns_to_hold
from varichain.dynamics.forces import ExternalForce, applied, checked_forces
from varichain.dynamics.loops import constraint_matrix
from varichain.errors import EquilibriumError
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.kernels.manifold import difference, integrate
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.report import Listing, Report, Reported, numbers

_CLOSED = 1e-10  # [m or rad] of loops
_BALANCED = 1e-9  # part of the largest torque that may be missing: closing and differences leave less
_STEP = 1e-5  # [rad or m] of differences: truncation 1e-10, rounding 1e-11
_LONGEST = 0.2  # [rad or m] of a step of the search
_MOST_STEPS, _MOST_HALVINGS = 200, 30
_STIFF = 1e-7  # part of the largest stiffness below which a posture is indifferent: what differences leave


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(Reported):
    """Result of `equilibrium`.

    Attributes:
        state: State at rest in the posture.
        holding: Torques of joints to hold, by name [N m or N]: what their actuators must give.
        stiffness: Eigenvalues [N m/rad or N/m] of the stiffness of the posture, smallest first: along orthogonal
            directions of the freedoms that are left. A posture with a negative one is unstable.
        moved: Step (n_v,) on the manifold from the start to the posture.
        steps: Number of steps taken.
    """

    state: State
    holding: Mapping[str, Array]
    stiffness: Array
    moved: Array
    steps: int

    @property
    def stability(self) -> str:
        """What follows a small push: it comes back ("stable"), goes away ("unstable"), or stays ("indifferent")."""
        least = float(self.stiffness.min(initial=np.inf))
        none = _STIFF * float(np.abs(self.stiffness).max(initial=0.0))
        return "stable" if least > none else ("unstable" if least < -none else "indifferent")

    def report(self) -> Report:
        """Stability, how far it moved, torques of joints to hold."""
        moved = f"moved by {np.abs(self.moved).max(initial=0.0):.3g} rad or m at most"
        title = f"equilibrium of {self.state.layout.mechanism_name!r}: {self.stability}, {moved}, {self.steps} steps"
        rows = [(name, numbers(tau)) for name, tau in self.holding.items()]
        return title, (Listing(("joint to hold", "tau [N m or N]"), rows),)


def equilibrium(
    m: Mechanism, s: State, tau: Any = None, forces: Iterable[ExternalForce] = (), *, hold: Iterable[str] = ()
) -> Equilibrium:
    """Posture near a given one in which gravity, springs, forces and torques balance, with all loops closed.

    A stable posture, if giving way to the forces leads to one; else any, and the result says of which kind it is.
    Limits and dry friction are left out.

    Args:
        m: Mechanism.
        s: Rough start; not changed. Its velocities play no part.
        tau: Torques of actuators (n_v,), or {joint: value}; None for none.
        forces: External forces on links.
        hold: Names of joints that keep their coordinates, whatever torque that takes.

    Raises:
        EquilibriumError: None was found; it says what is out of balance in the best posture.
        AssemblyError: The loops cannot be closed from this start.
    """
    layout, table = opened(m, s)
    to_hold = columns_to_hold(layout, hold)
    search = _Search(layout, table, joint_vector(layout, tau, "tau"), checked_forces(forces), to_hold)
    state = assembled(layout, table, s, to_hold, _CLOSED).state
    state.v[:] = 0.0
    steps = search.find(state)
    moved = np.empty(layout.n_v)
    difference(table, s.q, state.q, moved)
    names = [slot.name for slot in layout.slots if to_hold[slot.v].any()]
    W = search.directions(state.q)
    stiffness: Array = np.asarray(np.linalg.eigvalsh(_symmetric(search.stiffness(state, W))), float)
    return Equilibrium(state, search.holding(state, names), stiffness, moved, steps)


class _Search:
    """What acts on a structure at rest, and along which freedoms it may give way."""

    def __init__(
        self, layout: Layout, table: Table, tau: Array, forces: tuple[ExternalForce, ...], to_hold: NDArray[np.bool_]
    ) -> None:
        self._layout, self._table, self._tau, self._forces = layout, table, tau, forces
        self._free = np.flatnonzero(~to_hold)
        self._kept = np.flatnonzero(to_hold)

    def find(self, state: State) -> int:
        """Move a state to balance; returns the number of steps.

        First it gives way to the forces, as the mechanism itself would, which leads to stable postures; if that leads
        nowhere, forces are made smaller whatever the way, which leads to unstable ones too.
        """
        start, taken = state.q.copy(), 0
        for stepped in (self._giving_way, self._made_smaller):
            state.q[:] = start
            damping = 1e-6
            for _ in range(_MOST_STEPS):
                W, missing = self.directions(state.q), self._missing(state)
                out = W.T @ missing
                size = 1.0 + float(np.abs(missing).max(initial=0.0))
                if np.abs(out).max(initial=0.0) <= _BALANCED * size:
                    return taken
                found, damping = stepped(state, W, out, damping)
                if found is None:
                    break
                state.q[:] = found.q
                taken += 1
        raise self._unbalanced(out, W)

    def _giving_way(self, state: State, W: Array, out: Array, damping: float) -> tuple[State | None, float]:
        """A step along the forces, shortened until they do not push back as hard."""
        step = _downhill(self.stiffness(state, W), out)
        pushed = float(out @ step)
        for _ in range(_MOST_HALVINGS):
            trial = self._moved(state, W @ step)
            left = self._carried(trial.q, W).T @ self._missing(trial)
            if -0.5 * pushed <= float(left @ step) and np.isfinite(left).all():
                return trial, damping
            step, pushed = 0.5 * step, 0.5 * pushed
        return None, damping

    def _made_smaller(self, state: State, W: Array, out: Array, damping: float) -> tuple[State | None, float]:
        """A step after which the forces are smaller [Levenberg and Marquardt], and the next damping."""
        stiffness = self.stiffness(state, W)
        while damping < 1e8:
            trial = self._moved(state, W @ _damped(stiffness, out, damping))
            left = self.directions(trial.q).T @ self._missing(trial)
            if left @ left < out @ out:
                return trial, 0.1 * damping
            damping = max(10.0 * damping, 1e-6)
        return None, damping

    def directions(self, q: Array) -> Array:
        """Orthonormal directions (n_v, n) in which no joint to hold moves and no loop opens."""
        K = constraint_matrix(self._layout, self._table, q)[:, self._free]
        _, sigma, Vt = np.linalg.svd(K) if K.size else (None, np.zeros(0), np.eye(len(self._free)))
        rank = int(np.count_nonzero(sigma > self._layout.rank_tolerance * sigma.max(initial=0.0)))
        W = np.zeros((self._layout.n_v, len(self._free) - rank))
        W[self._free] = Vt[rank:].T
        return W

    def stiffness(self, state: State, W: Array) -> Array:
        """Minus the derivative of the forces along W (n, n), by central differences on the loops' configurations."""
        columns = []
        for direction in W.T:
            ends = []
            for step in (_STEP, -_STEP):
                near = self._moved(state, step * direction)
                ends.append(self._carried(near.q, W).T @ self._missing(near))
            columns.append((ends[0] - ends[1]) / (-2.0 * _STEP))
        return np.array(columns).reshape(W.shape[1], W.shape[1]).T

    def holding(self, state: State, names: list[str]) -> dict[str, Array]:
        """Torques of joints to hold, of least norm with the loops' forces where loops hold them too."""
        K = constraint_matrix(self._layout, self._table, state.q)
        kept = np.eye(self._layout.n_v)[self._kept]
        both = np.vstack([K, kept])
        missing = -self._missing(state)
        x = np.linalg.lstsq(both.T, missing, rcond=self._layout.rank_tolerance)[0][len(K) :]
        whole = np.zeros(self._layout.n_v)
        whole[self._kept] = x
        return {name: whole[self._layout.slot(name).v] + self._tau[self._layout.slot(name).v] for name in names}

    def _missing(self, state: State) -> Array:
        """Torques that act beyond those that would keep the tree at rest (n_v,)."""
        needed = np.empty(self._layout.n_v)
        with applied(self._layout, self._table, state, self._forces):
            inverse_dynamics(self._table, state.q, state.v, np.zeros(self._layout.n_v), needed)
        missing: Array = self._tau - needed
        return missing

    def _moved(self, state: State, step: Array) -> State:
        """The state after a step, its loops closed again."""
        near = state.copy()
        integrate(self._table, state.q, step, 1.0, near.q)
        close_loops(self._layout, self._table, near.q, self._free)
        return near

    def _carried(self, q: Array, W: Array) -> Array:
        """Directions at a configuration nearby whose parts along W are those of W itself: dq/dy of the chart y."""
        here = self.directions(q)
        return here @ np.linalg.inv(W.T @ here) if W.shape == here.shape and W.size else here

    def _unbalanced(self, out: Array, W: Array) -> EquilibriumError:
        force = W @ out
        worst = np.argsort(-np.abs(force))[:5]
        names = {self._layout.freedom_name(int(k)): float(force[k]) for k in worst if abs(force[k]) > 0.0}
        said = ", ".join(f"{name!r} {x:.3g}" for name, x in names.items())
        return EquilibriumError(
            f"no posture near this one is in balance: the nearest that was found is pushed along {said} [N m or N]; "
            "hold a joint there, add what should carry the load, or start elsewhere",
            names,
        )


def _downhill(stiffness: Array, out: Array) -> Array:
    """Newton's step with all stiffnesses taken as positive, no longer than the longest."""
    values, V = np.linalg.eigh(_symmetric(stiffness))
    sizes = np.abs(values)
    step: Array = V @ ((V.T @ out) / np.maximum(sizes, 1e-3 * sizes.max(initial=0.0) + 1e-300))
    return _bounded(step)


def _bounded(step: Array) -> Array:
    longest = float(np.abs(step).max(initial=0.0))
    return step * (_LONGEST / longest) if longest > _LONGEST else step


def _damped(stiffness: Array, out: Array, damping: float) -> Array:
    """Step dy that takes forces away, stiffness dy = out, no longer than the longest."""
    U, sigma, Vt = np.linalg.svd(stiffness)
    floor = damping * float(sigma.max(initial=1.0)) ** 2 + 1e-300
    step: Array = Vt.T @ (sigma / (sigma**2 + floor) * (U.T @ out))
    return _bounded(step)


def _symmetric(matrix: Array) -> Array:
    half: Array = 0.5 * (matrix + matrix.T)
    return half
