"""What loops can bear: friction cones, centres of pressure, limits of wrenches; torques that keep within."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.dynamics.actuator_solve import ActuatorSolve
from varichain.dynamics.arguments import Table
from varichain.dynamics.kinematics import poses
from varichain.dynamics.loops import constraint_matrix
from varichain.dynamics.quadratic_programme import independent_equations, solve_programme
from varichain.errors import ActuationError, InputError, UnknownNameError
from varichain.kernels.loop_wrenches import loop_wrenches
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.joint import Axis
from varichain.spatial.arrays import Array
from varichain.spatial.checks import (
    count_number,
    finite_numbers,
    instance,
    is_sequence,
    mapping,
    non_negative_scalar,
    shown,
    unit_axis,
)
from varichain.spatial.frozen import Frozen
from varichain.spatial.rotation import matrix_with_z_along

_WHAT = "limits of torques and loop forces"
_LEAST_COST, _DEAR = 1e-9, 1e6  # of multipliers and of residuals, beside the cost of a torque
_TANGENTS, _MOST_CUTS, _ROUND = 8, 60, 1e-9  # planes about a round cone at first; more are added until it is met
_NAMED = 1e-3  # excesses below this part of the largest are not named


@dataclass(frozen=True, eq=False)
class FrictionCone(Frozen):
    """A loop that only pushes its link, and holds it by friction: |tangential force| <= friction x normal force.

    Attributes:
        friction: Coefficient of friction.
        normal: Direction, in the axes of the other link, in which the loop pushes its link.
        size: Half lengths (2,) [m] of the sole along the first two axes of `matrix_with_z_along(normal)`: the centre of
            pressure stays within; None if moments are not limited so.
        torsion: Largest moment about the normal, as a multiple of the normal force [m]; None for any.
        facets: Number of planes of a pyramid within the cone; None for the round cone itself.
    """

    friction: float
    normal: Axis = "z"
    size: Any = None
    torsion: float | None = None
    facets: int | None = None

    def __post_init__(self) -> None:
        """Check all numbers."""
        self._set("friction", non_negative_scalar(self.friction, "friction of FrictionCone"))
        self._set("normal", unit_axis(self.normal, "normal of FrictionCone"))
        if self.size is not None:
            half = finite_numbers(self.size, 2, "size of FrictionCone")
            self._set("size", tuple(non_negative_scalar(x, "size of FrictionCone") for x in half))
        if self.torsion is not None:
            self._set("torsion", non_negative_scalar(self.torsion, "torsion of FrictionCone"))
        if self.facets is not None:
            self._set("facets", count_number(self.facets, "facets of FrictionCone", 1000, 3))

    def planes(self) -> Array:
        """Rows (n, 6) with row . [moment; force] <= 0, in the axes of the other link."""
        x, y, n = matrix_with_z_along(self.normal).T
        rows = [_row(np.zeros(3), -n)]
        narrow = math.cos(math.pi / self.facets) if self.facets is not None else 1.0
        for angle in 2.0 * math.pi * np.arange(self.facets or _TANGENTS) / (self.facets or _TANGENTS):
            rows.append(self._tangent(math.cos(angle) * x + math.sin(angle) * y, narrow))
        for axis, arm in zip((y, x), self.size or (), strict=False):
            rows += [_row(sign * axis, -arm * n) for sign in (1.0, -1.0)]
        if self.torsion is not None:
            rows += [_row(sign * n, -self.torsion * n) for sign in (1.0, -1.0)]
        return np.vstack(rows)

    def cut(self, wrench: Array, scale: float = 1.0) -> Array | None:
        """The plane (6,) at the cone that a wrench, in those axes, is beyond; None if it is within.

        `scale` is the size of the forces [N] that the wrench is one of: what is small beside it is rounding.
        """
        normal = np.asarray(self.normal)
        push = float(wrench[3:] @ normal)
        across = wrench[3:] - push * normal
        size = float(np.linalg.norm(across))
        if self.facets is not None or size <= self.friction * push + _ROUND * (scale + abs(push)):
            return None
        return self._tangent(across / size, 1.0)

    def _tangent(self, direction: Array, narrow: float) -> Array:
        return _row(np.zeros(3), direction - narrow * self.friction * np.asarray(self.normal))


def _row(moment: Array, force: Array) -> Array:
    return np.concatenate([moment, force])


@dataclass(frozen=True, eq=False)
class WrenchLimits(Frozen):
    """Bounds of a loop's [moment; force], at the loop's joint, in the axes of the link that exerts it.

    Attributes:
        lower, upper: Six numbers each [N m, N]; None for an open one.
    """

    lower: Any = (None,) * 6
    upper: Any = (None,) * 6

    def __post_init__(self) -> None:
        """Check all numbers."""
        for name, open_end in (("lower", -math.inf), ("upper", math.inf)):
            given = getattr(self, name)
            if not is_sequence(given) or len(given) != 6:
                raise InputError(f"{name} of WrenchLimits must be 6 numbers or None, not {shown(given)}")
            closed = finite_numbers([0.0 if x is None else x for x in given], 6, f"{name} of WrenchLimits")
            self._set(name, tuple(open_end if x is None else y for x, y in zip(given, closed, strict=True)))
        for low, high in zip(self.lower, self.upper, strict=True):
            if low > high:
                raise InputError(f"WrenchLimits must have lower <= upper, not {low:g} and {high:g}")


LoopLimits = Mapping[str, FrictionCone | WrenchLimits]


class Programme:
    """Torques, residuals and multipliers z = [tau; rest; x] of least cost with E tau + C rest + K^T x = tau_O."""

    def __init__(self, found: ActuatorSolve, table: Table, s: State, carried: list[int]) -> None:
        """Set up the equations of a state."""
        layout, columns = found.layout, found.actuators.columns
        self._n_tau, self._n_rest = len(columns), len(carried)
        E = np.zeros((layout.n_v, len(columns)))
        for i, k in enumerate(columns):
            unit = np.zeros(layout.n_all)
            unit[k] = 1.0
            E[:, i] = found.given(unit)
        C = np.eye(layout.n_v)[:, carried]
        K = constraint_matrix(layout, table, s.q)
        tau_O = found.given(found.tau) + found.unmet
        self._size = max(1.0, float(np.abs(tau_O).max(initial=0.0)))
        self._A, self._b = independent_equations(np.hstack([E, C, K.T]), tau_O / self._size)
        dear = np.full(len(carried), _DEAR * float((found.actuators.root_cost**2).max(initial=1.0)))
        self._cost = np.concatenate([found.actuators.root_cost**2, dear, np.full(len(K), _LEAST_COST)])
        self._layout, self._names = layout, found.actuators.names
        self._rows: list[Array] = []
        self._ends: list[tuple[float, float]] = []
        self._whose: list[str] = []
        self._maps: dict[str, tuple[Array, Array]] = {}
        self._table, self._s = table, s

    def bound(self, row: Array, low: float, high: float, whose: str) -> None:
        """Keep row . z within bounds."""
        self._rows.append(row)
        self._ends.append((low / self._size, high / self._size))
        self._whose.append(whose)

    def bound_torques(self, bounds: tuple[Array, Array]) -> None:
        """Keep torques within bounds."""
        for i, (low, high) in enumerate(zip(*bounds, strict=True)):
            if np.isfinite(low) or np.isfinite(high):
                row = np.zeros(len(self._cost))
                row[i] = 1.0
                self.bound(row, low, high, f"the torque of {self._names[i]!r}")

    def wrench_of(self, name: str) -> tuple[Array, Array]:
        """Wrench of a loop in the axes of the link that exerts it: matrix (6, n) over z, and what its springs add."""
        if name not in self._maps:
            loops = {loop.name: i for i, loop in enumerate(self._layout.loops)}
            if name not in loops:
                raise UnknownNameError("loop", name, loops)
            i = loops[name]
            row = self._layout.link_index[self._layout.loops[i].link_B]
            turn = np.kron(np.eye(2), poses(self._layout, self._table, self._s)[0][row].reshape(3, 3).T)
            wrenches = np.empty((len(loops), 6))
            own = self._wrench(np.zeros(self._layout.n_rows), wrenches)[i].copy()
            matrix = np.zeros((6, len(self._cost)))
            first = self._n_tau + self._n_rest
            for r in range(*self._layout.loops[i].rows.indices(self._layout.n_rows)):
                unit = np.zeros(self._layout.n_rows)
                unit[r] = 1.0
                matrix[:, first + r] = turn @ (self._wrench(unit, wrenches)[i] - own)
            self._maps[name] = matrix, turn @ own
        return self._maps[name]

    def _wrench(self, multipliers: Array, out: Array) -> Array:
        loop_wrenches(self._table, multipliers, out)
        return out

    def bound_loop(self, name: str, limits: FrictionCone | WrenchLimits) -> None:
        """Keep the wrench of a loop within limits."""
        matrix, own = self.wrench_of(name)
        if isinstance(limits, WrenchLimits):
            for k, (low, high) in enumerate(zip(limits.lower, limits.upper, strict=True)):
                if np.isfinite(low) or np.isfinite(high):
                    self.bound(matrix[k], low - own[k], high - own[k], f"the wrench of {name!r}")
        else:
            for plane in limits.planes():
                self.bound(plane @ matrix, -np.inf, -float(plane @ own), f"the friction cone of {name!r}")

    def solve(self, loop_limits: LoopLimits) -> tuple[Array, Array, Array]:
        """Torques, residuals and multipliers; round cones are met by planes that are added where they are left.

        Raises:
            ActuationError: There are none; it says by how much which limits are too narrow.
        """
        z = None
        for _ in range(_MOST_CUTS):
            z = self._solved(z)
            if z is None:
                raise self._too_narrow()
            is_met = True
            for name, cone in loop_limits.items():
                matrix, own = self.wrench_of(name)
                plane = cone.cut(matrix @ z * self._size + own, self._size) if isinstance(cone, FrictionCone) else None
                if plane is not None:
                    self.bound(plane @ matrix, -np.inf, -float(plane @ own), f"the friction cone of {name!r}")
                    is_met = False
            if is_met:
                break
        else:
            raise ActuationError(f"friction cones were not met after {_MOST_CUTS} planes", 0.0, list(loop_limits))
        assert z is not None
        tau, rest, x = np.split(self._size * z, [self._n_tau, self._n_tau + self._n_rest])
        return tau, rest, x

    def _solved(self, start: Array | None) -> Array | None:
        A, ends = np.vstack([self._A, *self._rows]), np.array(self._ends).reshape(-1, 2)
        rows = (np.concatenate([self._b, ends[:, 0]]), np.concatenate([self._b, ends[:, 1]]))
        zero = np.zeros(len(self._cost))
        return solve_programme(np.diag(self._cost), zero, A, rows, _WHAT, n_equalities=len(self._b), start=start)

    def _too_narrow(self) -> ActuationError:
        """By how much limits would have to be wider, at least."""
        n, m = len(self._cost), len(self._rows)
        top = np.hstack([self._A, np.zeros((len(self._A), m))])
        A = np.vstack([top, np.hstack([np.vstack([np.zeros((0, n)), *self._rows]), -np.eye(m)])])
        ends = np.array(self._ends).reshape(-1, 2)
        rows = (np.concatenate([self._b, ends[:, 0]]), np.concatenate([self._b, ends[:, 1]]))
        H = np.diag(np.concatenate([np.full(n, _LEAST_COST), np.ones(m)]))
        z = solve_programme(H, np.zeros(n + m), A, rows, _WHAT, n_equalities=len(self._b))
        excess: dict[str, float] = {}
        for whose, e in zip(self._whose, [] if z is None else self._size * z[n:], strict=z is not None):
            excess[whose] = max(excess.get(whose, 0.0), abs(float(e)))
        largest = max(excess.values(), default=0.0)
        said = ", ".join(f"{whose} by {e:.3g}" for whose, e in excess.items() if e > _NAMED * largest)
        return ActuationError(
            f"no torques within the limits drive this motion; those nearest to them exceed {said} [N m or N]; widen "
            "the limits or change the motion",
            largest,
            [whose for whose, e in excess.items() if e > _NAMED * largest],
        )


def checked_loop_limits(layout: Layout, limits: Any) -> LoopLimits:
    """Limits by the name of a loop."""
    names = [loop.name for loop in layout.loops]
    for name, one in mapping(limits, "loop_limits").items():
        if name not in names:
            raise UnknownNameError("loop", name, names)
        instance(one, (FrictionCone, WrenchLimits), f"limits of loop {name!r}")
    return dict(mapping(limits, "loop_limits"))
