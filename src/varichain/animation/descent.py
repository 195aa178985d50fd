"""Descent to wanted values: damped least squares on the manifold, with loops closed and limits kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from varichain.animation.bounds import Bounds
from varichain.animation.inverse import weights_of
from varichain.animation.prepared import PreparedSpace, importance_of
from varichain.animation.reduced import Following, follow
from varichain.animation.resolution import Inequalities, null_space, programme
from varichain.animation.space import AnimationSpace
from varichain.dynamics.arguments import opened
from varichain.dynamics.assembly import CLOSED, assembled, close_loops, columns_to_hold
from varichain.errors import FunctionError, InputError
from varichain.kernels.function_records import HESSIANS
from varichain.layout.state import State
from varichain.spatial.arrays import Array

_LONGEST_STEP = 0.5  # [rad or m] per freedom: what is linear in a step is true for steps of this size
_MOST_CORRECTIONS = 30  # that lead back within limits
_STUCK = 1e-13  # of the cost: a smaller gain is rounding
_MOST_DAMPING = 1e8
_KEPT = 1e-9  # [rad or m] beyond a limit that counts as inside


class Look(NamedTuple):
    """A configuration, and how good it is.

    Attributes:
        state: The configuration.
        error: Values minus wanted ones (m,).
        excess: How far the worst limit is left.
        size: Half the sum of the squares of errors, each times its importance.
    """

    state: State
    error: Array
    excess: float
    size: float


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
        self._handle = PreparedSpace(errors, importance, weights)
        self._handle.target[:] = wanted
        self._handle.scale[self._to_hold] = 0.0
        start = assembled(self._layout, self._table, s, self._to_hold, 1e-9).state
        start.v[:] = 0.0
        inside = self._sound(start)
        if inside is None:
            raise InputError(
                f"the limits cannot be kept from this start: {bounds.excess(start):.3g} beyond the worst; "
                "start elsewhere, hold fewer joints, or set limits=False"
            )
        self.start = inside
        self._length = 1.0  # of all gradients, in the last step

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
        return self._sound(self.start.state.integrate(step)) or self.start

    def descend(self, at: Look, tolerance: float, most: int) -> tuple[Look, int]:
        """Steps of damped least squares, with curvature where these are slow, until nothing improves."""
        damping, is_slow = 1e-3, False
        for count in range(most):
            if self.is_reached(at, tolerance):
                return at, count
            trial = self._step(at, damping, is_slow)
            if trial is not None and trial.size < at.size:
                gained = at.size - trial.size
                is_slow, is_stuck = gained < 0.1 * at.size, gained < _STUCK * trial.size
                at, damping = trial, max(0.1 * damping, 1e-12)
                if is_stuck:
                    return at, count + 1
            else:
                damping *= 10.0
                if damping > _MOST_DAMPING:
                    return at, count + 1
        return at, most

    def _step(self, at: Look, damping: float, is_curved: bool) -> Look | None:
        """Configuration after a damped step; None if the loops cannot be closed there."""
        s, far = at.state, min(1.0, float(np.abs(self._factors * at.error).max()))
        try:
            part = math.sqrt(damping * far + 1e-18)
            step = self._curved_step(at, part) if is_curved else self._plain_step(at, part)
        except FunctionError:  # a length that is zero but shall not be: any step leads away
            step = 1e-3 * self._free(s)[1][:, 0]
        return self._sound(s.integrate(_shortened(step)))

    def _plain_step(self, at: Look, damping: float) -> Array:
        """Step of least squares, damped by a part of the gradients' length; a programme where it would leave limits."""
        handle, s = self._handle, at.state
        handle.damping = damping * self._length
        step = handle.approach(s.q, s.time)
        J = self._factors[:, None] * handle.gradient
        self._length = float(np.linalg.norm(J)) or 1.0
        rows = self._bounds.rows(s)
        if rows is None or rows.excess(step).max() <= 0.0:
            return step
        W = self._free(s)[1]
        J = J @ W
        return self._bounded(at, W, J.T @ J + handle.damping**2 * np.eye(W.shape[1]), J, rows)

    def _curved_step(self, at: Look, damping: float) -> Array:
        """Step of Newton, with all curvature taken as positive."""
        s, (following, W) = at.state, self._free(at.state, has_change=True)
        found, factors = self._errors._at(s, HESSIANS), self._factors**2 * at.error
        H = W.T @ np.tensordot(factors, found.hessian, 1) @ W
        if following.dW is not None and not following.is_free:
            T = W[following.independent]
            H = H + T.T @ np.tensordot(factors @ found.gradient, following.dW, 1) @ T
        J = self._factors[:, None] * (found.gradient @ W)
        eigenvalues, V = np.linalg.eigh(J.T @ J + 0.5 * (H + H.T))
        eigenvalues = np.maximum(np.abs(eigenvalues), (damping * (float(np.linalg.norm(J)) or 1.0)) ** 2)
        step: Array = W @ (-V @ ((V.T @ (J.T @ (self._factors * at.error))) / eigenvalues))
        rows = self._bounds.rows(s)
        if rows is None or rows.excess(step).max() <= 0.0:
            return step
        return self._bounded(at, W, (V * eigenvalues) @ V.T, J, rows)

    def _bounded(self, at: Look, W: Array, H: Array, J: Array, rows: Inequalities) -> Array:
        """Step of least cost within limits."""
        H = H + 1e-12 * float(np.trace(H)) * np.eye(len(H))
        y = programme(H, J.T @ (self._factors * at.error), rows.C @ W, rows, np.zeros(len(rows.names)))
        return np.asarray(W @ y, dtype=np.float64)

    def _free(self, s: State, has_change: bool = False) -> tuple[Following, Array]:
        """How velocities follow, and the ways that joints to hold leave open, each of cost 1."""
        closures = self._errors._closures_of(self._layout)
        following = follow(closures, self._layout, self._table, s, has_change=has_change)
        W = following.W @ null_space(following.W[self._to_hold], 1e-10)
        return following, W / np.linalg.norm(np.sqrt(self._cost)[:, None] * W, axis=0)

    def _sound(self, s: State) -> Look | None:
        """The configuration with its loops closed and within all limits, by least steps; None if there is none near."""
        for _ in range(_MOST_CORRECTIONS):
            if not self._layout.is_tree:
                left = close_loops(self._layout, self._table, s.q, np.flatnonzero(~self._to_hold))
                if left > 1e3 * CLOSED:
                    return None
            excess = self._bounds.excess(s)
            if excess <= _KEPT:
                error = self._errors.value(s) - self._wanted
                weighted = self._factors * error
                return Look(s, error, excess, 0.5 * float(weighted @ weighted))
            W = self._free(s)[1]
            rows, n = self._bounds.rows(s, W), W.shape[1]
            assert rows is not None
            try:
                y = programme(np.eye(n), np.zeros(n), rows.C, rows, np.zeros(len(rows.names)))
            except InputError:  # no step keeps all limits at once
                return None
            s = s.integrate(_shortened(W @ y))
        return None


def _shortened(step: Array) -> Array:
    """The step, or as much of it as no freedom is moved too far by."""
    longest = float(np.abs(step).max(initial=0.0))
    return step * min(1.0, _LONGEST_STEP / longest) if longest > 0.0 else step
