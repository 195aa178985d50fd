"""Descent to wanted values: damped least squares on the manifold, with loops closed and limits kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from varichain.animation.approach import Approach
from varichain.animation.bounds import Bounds
from varichain.animation.inverse import weights_of
from varichain.animation.prepared import importance_of
from varichain.animation.reduced import Following, follow
from varichain.animation.resolution import Inequalities, null_space
from varichain.animation.space import AnimationSpace
from varichain.dynamics.arguments import opened
from varichain.dynamics.assembly import CLOSED, assembled, close_loops, columns_to_hold
from varichain.errors import FunctionError, InputError
from varichain.kernels.function_records import HESSIANS
from varichain.layout.state import State
from varichain.spatial.arrays import Array

_LONGEST_STEP = 0.5  # [rad or m] per freedom: what is linear in a step is true for steps of this size
_MOST_CORRECTIONS = 30  # that lead back within limits
_SLOW = 0.1  # of the cost: a smaller gain is a slow step
_PATIENCE = 3  # slow steps one after the other
_STUCK = 1e-13  # of the cost: a smaller gain is rounding
_START, _LEAST, _MOST = 1e-3, 1e-10, 1e8  # damping, as a part of the gradients' squares and of what is missing
_DAMPING = 1e-9  # of all steps: where functions depend on each other
_KEPT = 1e-9  # [rad or m] beyond a limit that counts as inside


class Look(NamedTuple):
    """A configuration, how good it is, and where to go on from there.

    Attributes:
        state: The configuration.
        error: Values minus wanted ones (m,).
        excess: How far the worst limit is left.
        size: Half the sum of the squares of errors, each times its importance.
        step: Damped step (n_v,) of least squares within limits.
    """

    state: State
    error: Array
    excess: float
    size: float
    step: Array


class Descent:
    """Errors of functions over configurations, their bounds, and steps that reduce them.

    Attributes:
        start: The start, with its loops closed and within all limits.
    """

    def __init__(
        self,
        errors: AnimationSpace,
        wanted: Array,
        s: State,
        importance: Mapping[str, float] | None,
        weights: Any,
        bounds: Bounds,
        hold: Iterable[str],
    ) -> None:
        """Close the loops of the start, and lead it within limits."""
        self._layout, self._table = opened(errors.mechanism, s)
        self._errors, self._wanted, self._bounds = errors, wanted, bounds
        self._factors = importance_of(errors.functions, importance)
        self._cost = weights_of(self._layout, weights)
        self._to_hold = columns_to_hold(self._layout, hold)
        scale = np.where(self._to_hold, 0.0, 1.0 / np.sqrt(self._cost))
        self._handle = Approach(errors, self._layout, self._factors, scale, bounds=bounds)
        self._handle.target[:] = wanted
        start = s.copy()
        if not self._layout.is_tree:
            start = assembled(self._layout, self._table, s, self._to_hold, 1e-9).state
        start.v[:] = 0.0
        inside = self._sound(start, _START)
        if inside is None:
            raise InputError(
                f"the limits cannot be kept from this start: {bounds.excess(start):.3g} beyond the worst; "
                "start elsewhere, hold fewer joints, or set limits=False"
            )
        self.start = inside

    def rank(self, at: Look) -> tuple[bool, float]:
        """What makes one configuration better than another: first that it keeps the limits."""
        return at.excess > _KEPT, at.size

    def is_reached(self, at: Look, tolerance: float) -> bool:
        """Whether all functions are where they shall be, within all limits."""
        return float(np.abs(at.error).max()) <= tolerance and at.excess <= _KEPT

    def elsewhere(self, rng: np.random.Generator) -> Look:
        """Another start: about half a radian away in each freedom."""
        step = 0.5 * rng.standard_normal(self._layout.n_v)
        step[self._to_hold] = 0.0
        return self._sound(self.start.state.integrate(step), _START) or self.start

    def descend(self, at: Look, tolerance: float, most: int, is_rough: bool = False) -> tuple[Look, int]:
        """Steps of damped least squares, until nothing improves; returns the last configuration and how many.

        Where steps are slow they have curvature; a rough descent ends there.
        """
        damping, n_slow, is_curved = _START, 0, False
        for count in range(most):
            if self.is_reached(at, tolerance) or (is_rough and n_slow == _PATIENCE):
                return at, count
            step = self._curved_step(at, damping) if is_curved else at.step
            milder = max(0.1 * damping, _LEAST)
            trial = self._sound(at.state.integrate(_shortened(step)), milder)
            if trial is not None and trial.size < at.size:
                gained = at.size - trial.size
                n_slow, is_stuck = n_slow + 1 if gained < _SLOW * at.size else 0, gained < _STUCK * trial.size
                at, damping, is_curved = trial, milder, n_slow > 0 and not is_rough
            else:
                damping, is_curved = 10.0 * damping, False
                is_stuck = damping > _MOST
                at = self._look(at.state, damping)
            if is_stuck:
                return at, count + 1
        return at, most

    def _look(self, s: State, damping: float) -> Look:
        """A configuration, with the step that a damping gives there."""
        handle = self._handle
        handle.damping, handle.relaxation = _DAMPING, damping
        try:
            step = handle.approach(s.q, s.time).copy()
            error, excess = handle.value - self._wanted, handle.excess
        except FunctionError:  # a length that is zero but shall not be: any step leads away
            step = 1e-3 * self._free(s)[1][:, 0]
            error, excess = self._errors.value(s) - self._wanted, self._bounds.excess(s)
        except InputError:  # no step leads within all limits
            step = np.zeros(self._layout.n_v)
            error, excess = handle.value - self._wanted, handle.excess
        weighted = self._factors * error
        return Look(s, error, excess, 0.5 * float(weighted @ weighted), step)

    def _curved_step(self, at: Look, damping: float) -> Array:
        """Step of Newton, with all curvature taken as positive, along the limits that the plain step keeps to."""
        s, rows = at.state, self._bounds.rows(at.state)
        following, W = self._free(s, has_change=True)
        try:
            found = self._errors._at(s, HESSIANS)
        except FunctionError:
            return at.step
        factors, J = self._factors**2 * at.error, self._factors[:, None] * (found.gradient @ W)
        H = J.T @ J + W.T @ np.tensordot(factors, found.hessian, 1) @ W
        if following.dW is not None and not following.is_free:
            Y = W[following.independent]
            H = H + Y.T @ np.tensordot(factors @ found.gradient, following.dW, 1) @ Y
        far = min(1.0, float(np.abs(self._factors * at.error).max()))
        least = (damping * far + 1e-18) * (float(np.linalg.norm(J)) or 1.0) ** 2
        H, gradient = _positive(0.5 * (H + H.T), least), J.T @ (self._factors * at.error)
        step: Array = W @ (-np.linalg.solve(H, gradient) if rows is None else _bounded(H, gradient, W, rows, at.step))
        return step

    def _free(self, s: State, has_change: bool = False) -> tuple[Following, Array]:
        """How velocities follow, and the ways that joints to hold leave open, each of cost 1."""
        closures = self._errors._closures_of(self._layout)
        following = follow(closures, self._layout, self._table, s, has_change=has_change)
        W = following.W @ null_space(following.W[self._to_hold], 1e-10)
        return following, W / np.linalg.norm(np.sqrt(self._cost)[:, None] * W, axis=0)

    def _sound(self, s: State, damping: float) -> Look | None:
        """The configuration with its loops closed and within all limits, by least steps; None if there is none near."""
        for _ in range(_MOST_CORRECTIONS):
            if not self._layout.is_tree:
                left = close_loops(self._layout, self._table, s.q, np.flatnonzero(~self._to_hold))
                if left > 1e3 * CLOSED:
                    return None
            at = self._look(s, damping)
            if at.excess <= _KEPT:
                return at
            step = self._step_inside(s)
            if step is None:
                return None
            s = s.integrate(_shortened(step))
        return None

    def _step_inside(self, s: State) -> Array | None:
        """Least step that leads within all limits, to first order; None if there is none."""
        handle = self._handle
        handle.importance[:], handle.damping = 0.0, 1.0
        try:
            return handle.approach(s.q, s.time).copy()
        except (FunctionError, InputError):
            return None
        finally:
            handle.importance[:] = self._factors


def _shortened(step: Array) -> Array:
    """The step, or as much of it as no freedom is moved too far by."""
    longest = float(np.abs(step).max(initial=0.0))
    return step * min(1.0, _LONGEST_STEP / longest) if longest > 0.0 else step


def _positive(H: Array, least: float) -> Array:
    """Matrix with all curvature taken as positive, and no less than a number."""
    eigenvalues, V = np.linalg.eigh(H)
    return np.asarray((V * np.maximum(np.abs(eigenvalues), least)) @ V.T, dtype=np.float64)


def _bounded(H: Array, gradient: Array, W: Array, rows: Inequalities, plain: Array) -> Array:
    """Step y of Newton along the limits that a plain step keeps to, and along those that y meets on its way."""
    C, rate = rows.C @ W, rows.C @ plain
    is_met = (rate < rows.lower + _KEPT) | (rate > rows.upper - _KEPT)
    y: Array = np.zeros(len(H))
    for _ in range(len(C)):
        T = null_space(C[is_met], 1e-10)
        way = T @ np.linalg.solve(T.T @ H @ T, -T.T @ (gradient + H @ y))
        rate = C @ way
        room = np.where(rate > 0.0, rows.upper, rows.lower) - C @ y
        is_near = ~is_met & (np.abs(rate) > 1e-12) & (room / np.where(rate == 0.0, 1.0, rate) < 1.0)
        if not is_near.any():
            return y + way
        share = np.where(is_near, room / np.where(is_near, rate, 1.0), 1.0)
        y = y + max(0.0, float(share.min())) * way
        is_met[int(np.argmin(share))] = True
    return y
