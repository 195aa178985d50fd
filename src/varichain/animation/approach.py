"""Steps to targets: arrays of one structure for the kernel that evaluates functions and solves for velocities."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from varichain.animation.bounds import Bounds
from varichain.animation.space import AnimationSpace
from varichain.errors import ArrayError, InputError
from varichain.kernels import jit
from varichain.kernels.function_records import GRADIENTS
from varichain.kernels.function_velocity import function_velocity
from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array
from varichain.spatial.checks import shown


class Approach:
    """Joint velocities that lead functions to targets, loops closed and bounds kept; see `PreparedSpace`.

    Attributes:
        target, rate, importance, scale, gain, damping, within: What is wanted, and how.
        relaxation: Part of the gradients' squares, times what is missing, that is added to the damping's square.
        value, gradient, velocity: Of the last call.
        speeds: Lower and upper bounds of velocities (2, n_v), or (2, 0).
    """

    def __init__(
        self,
        space: AnimationSpace,
        layout: Layout,
        importance: Array,
        scale: Array,
        holding: AnimationSpace | None = None,
        bounds: Bounds | None = None,
        has_speeds: bool = False,
    ) -> None:
        """Make arrays ready, and compile or load the kernel."""
        _seal()
        firm = [part for part in (holding, space._closures_of(layout)) if part is not None]
        limited = [bounds.space] if bounds is not None and bounds.space is not None else []
        self._program = program = space._program_with(layout, (*firm, *limited))
        self._layout, self._workspace = layout, layout.new_workspace()  # owns the memory that addresses mean
        self.gain, self.damping, self.relaxation, self.within, self.scale = 1.0, 0.0, 0.0, 1.0, scale
        n, soft, hard, m = layout.n_v, len(space), sum(map(len, firm)), len(program.names)
        self._first, padded = soft + hard, n + -n % 4
        self._limits = np.stack([bounds.lower, bounds.upper]) if bounds is not None and limited else np.zeros((2, 0))
        self.speeds = np.full((2, n), [[-np.inf], [np.inf]]) if has_speeds else np.zeros((2, 0))
        numbers, gradients, moments, _, jets, _ = program.work()
        n_bounds = m - self._first + self.speeds.shape[1]
        n_rows = (6 + hard) * padded + (3 * padded**2 + 6 * padded + n_bounds if n_bounds else 0)
        value, gradient, rate, target, factors = np.zeros(m), np.zeros((m, n)), np.zeros(m), np.zeros(m), np.ones(m)
        factors[:soft] = importance
        self.value, self.gradient, self.velocity = value[:soft], gradient[:soft], np.zeros(n)
        self.rate, self.target, self.importance = rate[:soft], target[:soft], factors[:soft]
        self._limited, self._given, self._still = value[self._first :], program.given(0.0), np.zeros(n)
        work = numbers, gradients, moments, jets, np.zeros(m), np.zeros_like(self._limits), np.zeros(padded**2)
        self._tables: tuple[Any, ...] = *program.tables, soft, hard, rate, target
        self._bounded: tuple[Any, ...] = factors, scale, self._limits, self.speeds
        self._after: tuple[Any, ...] = self.velocity, value, np.zeros(m), gradient, *work, np.zeros(n_rows)
        self._q: Array | None = None

    @property
    def excess(self) -> float:
        """How far the worst function was beyond its bounds in the last call; zero if all were inside."""
        beyond = np.maximum(self._limits[0] - self._limited, self._limited - self._limits[1])
        return float(beyond.max(initial=0.0))

    def approach(self, q: Array, time: float = 0.0) -> Array:
        """Joint velocities (n_v,) at coordinates q (n_q,) and a time [s]; the array is that of the next call too.

        Raises:
            FunctionError: A function has no value, or no derivative, in this configuration.
            InputError: Limits contradict each other.
        """
        if q is not self._q:
            self._fit(q)
        if len(self._given):
            self._given = self._program.given(time)
        before = self._workspace.table, q, self._still, self._given
        numbers = self.gain, self.damping, self.relaxation
        arguments: tuple[Any, ...] = (*before, *self._tables, *numbers, *self._bounded, self.within, *self._after)
        fault = function_velocity(*arguments)
        if fault > 0:
            raise self._program.fault(fault, GRADIENTS)
        if fault < 0:
            raise InputError(f"no motion keeps the limit of {self._bound(-fault - 1)!r} together with all others")
        return self.velocity

    def _bound(self, i: int) -> str:
        """Name of a bound."""
        names = self._program.names[self._first :]
        return names[i] if i < len(names) else self._layout.freedom_name(i - len(names))

    def _fit(self, q: Array) -> None:
        """Look at the shape of an array that comes for the first time."""
        shape = (self._layout.n_q,)
        if not isinstance(q, np.ndarray):
            raise ArrayError(f"q must be an array of float64 of shape {shape}, not {shown(q)}")
        if q.shape != shape:
            raise ArrayError(f"q must have the shape {shape}, not {q.shape}")
        self._q = q


@cache
def _seal() -> None:
    """Compile or load the kernel, once."""
    jit.seal((function_velocity,))
