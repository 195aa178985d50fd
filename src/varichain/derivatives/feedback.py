"""Torques along a run: constant ones, and those of a compiled controller, with their changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from varichain.derivatives.equations import Equations
from varichain.derivatives.step import Point
from varichain.errors import InputError, quoted
from varichain.kernels.manifold import integrate
from varichain.simulation.controllers import Compiled
from varichain.spatial.arrays import Array

NEAR = 1e-4  # largest change of a number in a difference: of order four, 1e-16 is its error, 1e-12 that of rounding


def slope(function: Callable[[float], Array], size: float, is_bounded: bool = False) -> Array:
    """Derivative at zero of a function of a number, by differences of order four: central, or ahead if bounded."""
    h = NEAR / size
    if is_bounded:
        weights = enumerate((-25.0, 48.0, -36.0, 16.0, -3.0))
        return sum((weight * function(i * h) for i, weight in weights), 0.0 * function(0.0)) / (12.0 * h)
    near, far = (function(x) - function(-x) for x in (h, 2 * h))
    found: Array = (8.0 * near - far) / (12.0 * h)
    return found


def size_of(column: Array, is_parameter: bool = False) -> float:
    """Size of a change, for the step of its difference."""
    return max(float(np.abs(column).max(initial=0.0)), 1.0 if is_parameter else 1e-12)


def checked_controller(controller: Any) -> Compiled | None:
    """The controller, if its torques can be differentiated."""
    if controller is not None and not isinstance(controller, Compiled):
        raise InputError(
            f"runs are differentiated with constant torques and a vc.Compiled(...) controller, not {quoted(controller)}"
        )
    return controller


def controller_parameters(controller: Compiled | None) -> dict[str, tuple[str, int | None]]:
    """Names of the numbers of a controller, "gain" or "gains[1]", with the parameter and the place in it."""
    found: dict[str, tuple[str, int | None]] = {}
    for name, value in ({} if controller is None else controller.parameters).items():
        if np.ndim(value):
            found |= {f"{name}[{i}]": (name, i) for i in range(len(value))}
        else:
            found[name] = (name, None)
    return found


class Feedback:
    """Torques of a structure, as `Stepper` takes them."""

    def __init__(self, equations: Equations, tau: Array, controller: Compiled | None) -> None:
        """Take constant torques (n_v,) of the mechanism's own freedoms, and a controller."""
        self._equations, self._controller = equations, controller
        self._tau = np.zeros(equations.n)
        self._tau[equations.own] = tau
        known = controller_parameters(controller)
        self._numbers = [known.get(name) if one == "controller" else None for name, one in equations.parameters.items()]

    def __call__(self, t: float, at: Point) -> tuple[Array, Array]:
        """Torques (n_v,), and their changes (n_v, k): of a controller by differences of order four."""
        tau, dtau = self._tau, np.zeros_like(at.dq)
        if self._controller is None:
            return tau, dtau
        tau, own = tau.copy(), self._equations.own
        tau[own] += self._asked(t, at, np.zeros(len(own)), np.zeros(len(own)), None, 0.0)
        first = at.dq.shape[1] - len(self._numbers)
        for j in range(at.dq.shape[1]):
            number = self._numbers[j - first] if j >= first else None
            dq, dv = at.dq[:, j], at.dv[:, j]
            size = size_of(np.concatenate([dq, dv]), number is not None)
            dtau[own, j] = slope(lambda h, dq=dq, dv=dv, number=number: self._asked(t, at, dq, dv, number, h), size)  # type: ignore[misc]
        return tau, dtau

    def _asked(
        self, t: float, at: Point, dq: Array, dv: Array, number: tuple[str, int | None] | None, h: float
    ) -> Array:
        """Torques of the controller after a change."""
        assert self._controller is not None
        q, changes = at.q.copy(), {}
        if h != 0.0:
            integrate(self._equations.table, at.q, np.ascontiguousarray(dq), h, q)
        if number is not None:
            change = np.zeros(np.shape(self._controller.parameters[number[0]]))
            change[() if number[1] is None else number[1]] = h
            changes[number[0]] = change
        places = self._equations.places
        v = at.v[places.own] + (h * dv[places.own] if h != 0.0 else 0.0)
        return self._controller.torques(t, q[places.own_q], v, changes)
