"""Assembly: a configuration in which all loops close, near a rough start."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import Table, opened
from varichain.dynamics.loops import closure_errors, constraint_matrix
from varichain.dynamics.rank import counting, kept_rows
from varichain.errors import AssemblyError, InputError
from varichain.kernels.manifold import difference, integrate
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import listed, positive_scalar
from varichain.spatial.report import Listing, Report, Reported, numbers

CLOSED = 1e-12
"""Largest error [m or rad] at which loops count as closed: rounding of poses a few metres away."""

_LONGEST_STEP = 0.2  # [rad or m] per freedom: short steps stay on the branch that the start is on
_MOST_STEPS = 1000
_MOST_CORRECTIONS = 20
_ENOUGH = 1e-15  # errors below this cannot be improved


@dataclass(frozen=True, eq=False, repr=False)
class Assembly(Reported):
    """Result of `assemble`.

    Attributes:
        state: State with all loops closed; time and velocities as they were. With joints to hold, the
            others have velocities with which the loops stay closed.
        moved: Step (n_v,) on the manifold from the start to the result.
        distance: Largest entry of `moved` [rad or m].
        residual: Largest error of any loop [m or rad].
        steps: Number of steps taken.
    """

    state: State
    moved: Array
    distance: float
    residual: float
    steps: int

    def report(self) -> Report:
        """How far it moved, and by which joints most."""
        slots = [slot for slot in self.state.layout.slots if slot.coordinates]
        size = {slot.name: float(np.abs(self.moved[slot.v]).max()) for slot in slots}
        most = sorted((slot for slot in slots if size[slot.name] > 1e-12), key=lambda slot: -size[slot.name])
        rows = [(slot.name, slot.kind, numbers(self.moved[slot.v], self.distance)) for slot in most]
        return str(self), (Listing(("joint", "kind", "moved by [rad or m]"), rows),)

    def __str__(self) -> str:
        """How far it moved, in a sentence."""
        joint = self.state.layout.freedom_name(int(np.argmax(np.abs(self.moved)))) if len(self.moved) else "nothing"
        return (
            f"loops closed to {self.residual:.1e} in {self.steps} steps; moved by {self.distance:.3g} at most ({joint})"
        )


def assemble(m: Mechanism, s: State, hold: Iterable[str] = (), tolerance: float = 1e-10) -> Assembly:
    """Configuration near s in which all loops close.

    Damped least squares with short steps of least norm: the result lies on the branch that the start is closest to.

    Args:
        m: Mechanism.
        s: Rough start; not changed.
        hold: Names of joints that keep their coordinates and, if there are any, their velocities: the others follow.
        tolerance: Largest error [m or rad] that counts as closed.

    Raises:
        AssemblyError: The loops cannot be closed from here, what is left open of each is in `residuals`; or they cannot
            stay closed with the velocities of joints to hold.
    """
    layout, table = opened(m, s)
    return assembled(layout, table, s, columns_to_hold(layout, hold), positive_scalar(tolerance, "tolerance"))


def assembled(layout: Layout, table: Table, s: State, to_hold: NDArray[np.bool_], limit: float) -> Assembly:
    """Assembly near a state, with these freedoms (n_v,) kept."""
    free = ~to_hold
    q, steps = _descend(layout, table, s.q.copy(), np.flatnonzero(free))
    close_loops(layout, table, q, np.flatnonzero(free))
    errors = counting(layout, closure_errors(layout, table, q), kept_rows(layout, table, q))
    residual = float(np.abs(errors).max(initial=0.0))
    if not residual <= limit:
        raise _cannot_close(layout, errors, residual, limit, is_holding=not free.all())
    moved = np.empty(layout.n_v)
    difference(table, s.q, q, moved)
    state = s.copy()
    state.q[:] = q
    if not free.all() and state.v.any():
        state.v[:] = following_velocities(layout, table, state, ~free)
    return Assembly(state, moved, float(np.abs(moved).max(initial=0.0)), residual, steps)


def columns_to_hold(layout: Layout, hold: Iterable[str]) -> NDArray[np.bool_]:
    """Which freedoms (n_v,) belong to joints to hold."""
    if isinstance(hold, str):
        raise InputError(f"hold must be a list of joint names, such as [{hold!r}]")
    kept = np.zeros(layout.n_v, dtype=bool)
    for name in listed(hold, str, "hold"):
        kept[layout.slot(name).v] = True
    return kept


def following_velocities(
    layout: Layout, table: Table, s: State, to_hold: NDArray[np.bool_], M: Array | None = None
) -> Array:
    """Velocities (n_v,) with which loops stay closed: those to hold as they are, the others nearest to theirs.

    Nearest in the metric of the mass matrix M; without one, each freedom counts alike.

    Raises:
        AssemblyError: The velocities of the joints to hold contradict the loops.
    """
    K, v, free = constraint_matrix(layout, table, s.q), s.v.copy(), np.flatnonzero(~to_hold)
    root = np.eye(len(free)) if M is None else np.linalg.cholesky(M[np.ix_(free, free)])
    rows = np.linalg.solve(root, K[:, free].T).T  # in the metric
    kept = kept_rows(layout, table, s.q)
    step = np.linalg.lstsq(rows[kept], -K[kept] @ v, rcond=layout.rank_tolerance)[0]
    v[free] += np.linalg.solve(root.T, step)
    opening = np.abs(counting(layout, K @ v, kept, 1.0 + float(np.abs(v).max(initial=0.0))))
    if not opening.max(initial=0.0) <= 1e-9 * (1.0 + np.abs(v).max(initial=0.0)):
        residuals = {one.name: float(opening[one.rows].max(initial=0.0)) for one in layout.constraints}
        worst = max(residuals, key=lambda name: residuals[name])
        raise AssemblyError(
            f"with the velocities of the joints to hold the loops cannot stay closed: {worst!r} opens with "
            f"{residuals[worst]:.3g} m/s or rad/s; hold fewer joints, or others",
            residuals,
        )
    return v


def close_loops(layout: Layout, table: Table, q: Array, free: NDArray[np.intp] | None = None) -> float:
    """Close small gaps in place by Newton steps of least norm; returns the largest error left that counts.

    Joints move alike, whatever they carry, so that massless mechanisms have a mobility too.
    """
    errors = closure_errors(layout, table, q)
    largest = float(np.abs(errors).max(initial=0.0))
    columns = np.arange(layout.n_v) if free is None else free
    for _ in range(_MOST_CORRECTIONS):
        if largest <= CLOSED:
            break
        kept = kept_rows(layout, table, q)
        largest = float(np.abs(counting(layout, errors, kept)).max())
        K = constraint_matrix(layout, table, q)[np.ix_(kept, columns)]
        step = np.asarray(-np.linalg.lstsq(K, errors[kept], rcond=layout.rank_tolerance)[0], dtype=np.float64)
        trial, errors = _step(layout, table, q, columns, step)
        left = float(np.abs(counting(layout, errors, kept)).max())
        if not left < largest:
            break
        q[:] = trial
        largest = left
    return largest


def _descend(layout: Layout, table: Table, q: Array, free: NDArray[np.intp]) -> tuple[Array, int]:
    """Levenberg-Marquardt on the loops' errors, over the free joints alone."""
    errors = closure_errors(layout, table, q)
    damping = 1e-3
    rng = np.random.default_rng(0)  # same start, same result
    shaken = 0
    for count in range(_MOST_STEPS):
        size = float(errors @ errors)
        if np.abs(errors).max(initial=0.0) <= _ENOUGH:
            return q, count
        K = constraint_matrix(layout, table, q)[:, free]
        trial, trial_errors = _step(layout, table, q, free, _damped(K, errors, damping))
        trial_size = float(trial_errors @ trial_errors)
        if trial_size < size:
            q, errors = trial, trial_errors
            damping *= 0.1 if trial_size < 0.25 * size else 0.5
        elif np.abs(errors).max() <= CLOSED or damping > 1e6:
            if np.abs(errors).max() <= CLOSED or shaken == 5:
                return q, count
            # stuck where the errors' slope is zero, such as a chain stretched towards its target: leave the spot
            q, errors = _step(layout, table, q, free, 0.01 * rng.standard_normal(len(free)))
            damping, shaken = 1e-3, shaken + 1
        else:
            damping *= 10.0
    return q, _MOST_STEPS


def _damped(K: Array, errors: Array, damping: float) -> Array:
    """Step of least norm that reduces the errors, no freedom more than the longest step."""
    U, sigma, Vt = np.linalg.svd(K, full_matrices=False)
    largest = sigma.max(initial=0.0)
    # damping relative to the errors: full Newton steps, quadratic convergence, once they are small
    floor = damping * min(1.0, float(np.abs(errors).max())) * largest**2 + 1e-18 * largest**2
    step: Array = -Vt.T @ (sigma / (sigma**2 + floor) * (U.T @ errors)) if largest > 0.0 else np.zeros(K.shape[1])
    longest = float(np.abs(step).max(initial=0.0))
    return step * (_LONGEST_STEP / longest) if longest > _LONGEST_STEP else step


def _step(layout: Layout, table: Table, q: Array, free: NDArray[np.intp], step: Array) -> tuple[Array, Array]:
    """Configuration after a step of the free joints, and the errors there."""
    whole = np.zeros(layout.n_v)
    whole[free] = step
    moved = np.empty(layout.n_q)
    integrate(table, q, whole, 1.0, moved)
    return moved, closure_errors(layout, table, moved)


def _cannot_close(layout: Layout, errors: Array, residual: float, limit: float, is_holding: bool) -> AssemblyError:
    residuals = {one.name: float(np.abs(errors[one.rows]).max(initial=0.0)) for one in layout.constraints}
    open_loops = ", ".join(f"{name!r} {gap:.3g}" for name, gap in residuals.items() if gap > limit)
    return AssemblyError(
        f"the loops cannot be closed from this start: {residual:.3g} is left, {limit:g} allowed; open [m or rad]: "
        f"{open_loops}. {'Start closer, or hold fewer joints' if is_holding else 'Start closer'}",
        residuals,
    )
