"""The prepared space: inverse kinematics of one structure on plain arrays, a kernel call a step, for control loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from varichain.animation.inverse import holding_space, weights_of
from varichain.animation.program import Program
from varichain.animation.space import AnimationSpace
from varichain.errors import ArrayError, InputError
from varichain.kernels import jit
from varichain.kernels.function_records import GRADIENTS
from varichain.kernels.function_velocity import function_velocity
from varichain.layout.layout import layout_of
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance, listed, mapping, non_negative_scalar, positive_scalar, shown


class PreparedSpace:
    """Joint velocities that lead functions to targets: udot = rate + gain (target - u), in one call of one kernel.

    What cannot be had is had at best: the squares of importance times what is missing, plus those of damping times
    velocities, are least. Loops stay closed, and what is to hold is kept exactly; where two of these depend on each
    other, the earlier one counts.

    A handle belongs to the structure that it was prepared from, as that of `m.prepare()`, and to one thread at a time.
    Write targets into its arrays between calls. Values are not checked: numbers are to be finite, quaternions of unit
    length.

    Attributes:
        target: Wanted values (m,) of the dimensions; places of a function are `space.slices[name]`.
        rate: Wanted rates (m,), of functions whose targets move; zero at first.
        gain: How fast targets are approached [1/s].
        damping: Of velocities.
        scale: Roots of the reciprocal costs of freedoms (n_v,); a freedom of 0 does not move.
        value: u (m,) of the last call.
        gradient: G (m, n_v) of the last call.
        velocity: v (n_v,) of the last call.
        revision: Revision of the mechanism that was prepared.
    """

    def __init__(
        self,
        space: AnimationSpace,
        importance: Mapping[str, float] | None = None,
        weights: Any = None,
        damping: float = 1e-3,
        gain: float = 1.0,
        hold: Iterable[str] = (),
    ) -> None:
        """Make arrays ready, and compile or load the kernel.

        Args:
            space: Functions; those to hold have targets too, which do not count.
            importance: Factors of what is missing by function, 1 by default.
            weights: Cost of each freedom's motion, an array (n_v,) or by joint; 1 by default.
            damping: Bounds velocities where functions depend on each other.
            gain: How fast targets are approached [1/s].
            hold: Functions that stay at zero, before all others; squares by their arguments.
        """
        m = instance(space, AnimationSpace, "space").mechanism
        layout = layout_of(m)
        self._n_q, self._n = layout.n_q, len(space)
        factors, cost = importance_of(space.functions, importance), weights_of(layout, weights)
        to_hold = list(listed(hold, str, "hold"))
        parts = [holding_space(space, to_hold)] if to_hold else []
        for name in to_hold:
            factors[space.slices[name]] = 0.0
        closures = space._closures_of(layout)
        parts += [closures] if closures else []
        program, names = space._program_of(layout), space.names + tuple(name for part in parts for name in part.names)
        if parts:
            program = Program(m, layout, names, space._nodes + [node for part in parts for node in part._nodes])
        self.gain, self.revision = positive_scalar(gain, "gain"), layout.revision
        self.damping = non_negative_scalar(damping, "damping")
        _seal()
        self._program, self._given = program, program.given(0.0)
        self._workspace = layout.new_workspace()  # owns the memory that the table's addresses mean
        self.scale = 1.0 / np.sqrt(cost)
        self._make_arrays(layout.n_v, len(names), factors, self.scale)

    def _make_arrays(self, n: int, m: int, importance: Array, scale: Array) -> None:
        """Arrays of all that comes and goes, in the order of the kernel."""
        padded = n + -n % 4
        self._rate, self._target = np.zeros(m), np.zeros(m)
        value, gradient, self.velocity = np.zeros(m), np.zeros((m, n)), np.zeros(n)
        self.rate, self.target = self._rate[: self._n], self._target[: self._n]
        self.value, self.gradient = value[: self._n], gradient[: self._n]
        factors = np.concatenate([importance, np.ones(m - self._n)])
        numbers, gradients, moments, _, jets, _ = self._program.work()
        square, rows = np.zeros(padded * padded), np.zeros((6 + m - self._n) * padded)
        work = numbers, gradients, moments, jets, np.zeros(m), square, rows
        self._still = np.zeros(n)
        self._tables: tuple[Any, ...] = *self._program.tables, self._n, self._rate, self._target
        self._after: tuple[Any, ...] = factors, scale, self.velocity, value, np.zeros(m), gradient, *work
        self._q: Array | None = None

    def approach(self, q: Array, time: float = 0.0) -> Array:
        """Joint velocities (n_v,) at coordinates q (n_q,) and a time [s]; the array is that of the next call too.

        Raises:
            FunctionError: A function has no value, or no derivative, in this configuration.
        """
        if q is not self._q:
            self._fit(q)
        if len(self._given):
            self._given = self._program.given(time)
        before = self._workspace.table, q, self._still, self._given
        arguments: tuple[Any, ...] = (*before, *self._tables, self.gain, self.damping, *self._after)
        fault = function_velocity(*arguments)
        if fault:
            raise self._program.fault(fault, GRADIENTS)
        return self.velocity

    def _fit(self, q: Array) -> None:
        """Look at the shape of an array that comes for the first time."""
        if not isinstance(q, np.ndarray):
            raise ArrayError(f"q must be an array of float64 of shape ({self._n_q},), not {shown(q)}")
        if q.shape != (self._n_q,):
            raise ArrayError(f"q must have the shape ({self._n_q},), not {q.shape}")
        self._q = q


@cache
def _seal() -> None:
    """Compile or load the kernel, once."""
    jit.seal((function_velocity,))


def importance_of(functions: Mapping[str, Any], importance: Mapping[str, float] | None) -> Array:
    """Factors (m,) of dimensions, from factors by function; 1 by default."""
    factors = mapping(importance, "importance")
    for name in factors:
        if name not in functions:
            raise InputError(f"importance names {name!r}, which has no target; targets: {sorted(functions)}")
    sizes = [f.size for f in functions.values()]
    return np.repeat([positive_scalar(factors.get(name, 1.0), f"importance of {name!r}") for name in functions], sizes)
