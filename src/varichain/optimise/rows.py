"""Functions of the configuration at many points, with gradients and Hessians, and slopes of weighted sums of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from varichain.animation.space import AnimationSpace
from varichain.errors import InputError
from varichain.kernels.function_evaluation import evaluate_functions
from varichain.kernels.function_records import HESSIANS
from varichain.layout.layout import layout_of
from varichain.mechanism.mechanism import Mechanism
from varichain.optimise.charts import Chart
from varichain.spatial.arrays import Array

_STEP = 1e-5  # of a quaternion's numbers, for differences: half the digits of a double are left


class Jets(NamedTuple):
    """Functions at points: values (n, m), gradients (n, m, n_v), Hessians (n, m, n_v, n_v)."""

    value: Array
    gradient: Array
    hessian: Array


class Rows:
    """Functions of one structure.

    Attributes:
        chart: Coordinates.
        names: Of the dimensions.
        slices: Places of each function among them.
    """

    def __init__(self, m: Mechanism, functions: Mapping[str, Any], chart: Chart) -> None:
        """Look up all names."""
        layout = layout_of(m)
        self.chart = chart
        self.names: tuple[str, ...] = ()
        self.slices: dict[str, slice] = {}
        self._workspace = layout.new_workspace()  # kept: its table has addresses of its memory
        self._program: Any = None
        if functions:
            space = AnimationSpace(m, functions)
            space._require_positions()
            self.names, self.slices = space.names, dict(space.slices)
            self._program = space._program_of(layout)
            self._given, self._work = self._program.given(0.0), self._program.work()
            if len(self._given):
                raise InputError("functions of an optimised motion read the configuration alone, not the time")

    def __len__(self) -> int:
        """Number of dimensions."""
        return len(self.names)

    def at(self, q: Array) -> Jets:
        """All functions at coordinates (n, n_q).

        Raises:
            FunctionError: A function has no value, or no derivative, at one of them.
        """
        n, m, n_v = len(q), len(self), self.chart.n_v
        jets = Jets(np.zeros((n, m)), np.zeros((n, m, n_v)), np.zeros((n, m, n_v, n_v)))
        if not m:
            return jets
        still, spare = np.zeros(n_v), np.zeros((2, m))
        for one, value, G, H in zip(self.chart.unit(q), *jets, strict=True):
            fault = evaluate_functions(  # type: ignore[call-arg]
                self._workspace.table,
                one,
                still,
                self._given,
                *self._program.tables,
                HESSIANS,
                value,
                *spare,
                G,
                H,
                *self._work,
            )
            if fault:
                raise self._program.fault(fault, HESSIANS)
        return jets

    def slopes(self, q: Array, v: Array, of_values: Array, of_rates: Array) -> tuple[Array, Array, Array]:
        """Slopes of sum(of_values u + of_rates G v) by q (n, n_q), by v (n, n_v) and by the weights of rates (n, m)."""
        jets = self.at(q)
        by_turn = np.einsum("pr,prk->pk", of_values, jets.gradient)
        by_turn += np.einsum("pr,prjk,pk->pj", of_rates, jets.hessian, v)
        by_q = np.einsum("pj,pji->pi", by_turn, self.chart.turns(q))
        return by_q, np.einsum("pr,prk->pk", of_rates, jets.gradient), np.einsum("prk,pk->pr", jets.gradient, v)

    def value_curves(self, q: Array, weights: Array) -> Array:
        """Second derivative (n, n_q, n_q) of sum(weights u) by q, exact but for that of turns by quaternions."""
        jets, T = self.at(q), self.chart.turns(q)
        H = np.einsum("pr,prjk->pjk", weights, jets.hessian)
        curves = np.asarray(T.transpose(0, 2, 1) @ H @ T)
        by_turn = np.einsum("pr,prk->pk", weights, jets.gradient)
        for slot in self.chart.turning:
            for i in range(slot.q.start, slot.q.start + 4):
                step = np.zeros(q.shape[1])
                step[i] = _STEP
                change = (self.chart.turns(q + step) - self.chart.turns(q - step)) / (2.0 * _STEP)
                curves[:, i] += np.einsum("pj,pjk->pk", by_turn, change)
        return curves
