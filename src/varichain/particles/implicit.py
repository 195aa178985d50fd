"""Linearly implicit Euler steps for stiff links and joints.

(M + h C + h^2 K) dv = h (f - h K v), x' = x + h (v + dv), with K = J^T k J and C = J^T c J of braces and restrictions,
whose gradients J are. Steps do not depend on the stiffness; vibrations are damped, and the error is of order 1 in h. In
each link the unknowns are the rates of its centre and its arms, 12 numbers with the link's mass each. Everything else,
such as the ground and what acts in freedoms, is explicit.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix, diags
from scipy.sparse.linalg import splu

from varichain.errors import InputError
from varichain.kernels.particle_records import ALONG, APART, CROSSED, REACHED
from varichain.particles.arms import SIGNS
from varichain.particles.linked import LinkedSystem
from varichain.spatial.arrays import Array

_AXES = np.arange(3)


class Implicit:
    """Implicit steps of one structure: the pattern of its equations, and the factor of every step."""

    def __init__(self, system: LinkedSystem) -> None:
        """Lay out the rows: six braces for each link that moves, then the restrictions."""
        if system.particles:
            raise InputError("implicit steps are for links: particles that were added by hand have none")
        self._system, links = system, system.links.array
        self._moving = np.flatnonzero(links["fixed"] == 0)
        self._column = np.full(len(links), -1)
        self._column[self._moving] = 12 * np.arange(len(self._moving))
        self._mass = np.repeat(4.0 / system.inverse_mass[links["first"][self._moving]], 12)
        rows = system.restrictions.array
        self._stiffness = np.concatenate([np.repeat(links["stiffness"][self._moving], 6), rows["stiffness"]])
        self._damping = np.concatenate([np.repeat(links["damping"][self._moving], 6), rows["damping"]])

    def advance(self, n_steps: int, step: float) -> int:
        """Advance by steps of equal length [s]; the status."""
        system = self._system
        for _ in range(n_steps):
            status = self._step(step)
            system.run["time"] += step
            system.run["steps"] += 1
            if status != REACHED:
                return status
        return REACHED

    def _step(self, h: float) -> int:
        system, run = self._system, self._system.run
        system.evaluate(h)
        if run["status"][0] != REACHED:
            return int(run["status"][0])
        run["work"] += h * run["power"]
        run["impulse"] += h * run["outside"]
        J = self._gradients()
        K = (J.T @ diags(h * self._damping + h * h * self._stiffness) @ J).tocsc()
        v, force = self._in_links(system.v, 0.25), self._in_links(system.force, 1.0)
        right = h * (force - h * (J.T @ (self._stiffness * (J @ v))))
        dv = splu(csc_matrix(K + diags(self._mass))).solve(right)
        change = dv.reshape(-1, 4, 3)
        first = system.links.array["first"][self._moving]
        for i in range(4):
            system.v[first + i] += change[:, 0] + np.einsum("a,nax->nx", SIGNS[i], change[:, 1:])
        system.x += h * system.v
        run["is_evaluated"] = 0
        return REACHED

    def _in_links(self, x: Array, part: float) -> Array:
        """Rates of centres and arms from those of particles (part 1/4), or forces on them (part 1)."""
        first = self._system.links.array["first"][self._moving]
        four = x[first[:, None] + np.arange(4)]
        arms = np.einsum("ia,nix->nax", SIGNS, four)
        return part * np.concatenate([four.sum(axis=1)[:, None], arms], axis=1).ravel()

    def _gradients(self) -> csr_matrix:
        """Gradients of braces and restrictions by the rates of centres and arms."""
        n = len(self._moving)
        parts = [self._brace_gradients(), self._restriction_gradients(6 * n)]
        i, j, values = (np.concatenate([part[k] for part in parts]) for k in range(3))
        return csr_matrix((values, (i, j)), shape=(6 * n + len(self._system.restrictions), 12 * n))

    def _brace_gradients(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        links, n = self._system.links.array, len(self._moving)
        A, s = np.asarray(links["A"])[self._moving].reshape(-1, 3, 3), np.asarray(links["s"])[self._moving]
        rows, columns, values = [], [], []
        for a in range(3):
            b = (a + 1) % 3
            diagonal = np.hypot(s[:, a], s[:, b])[:, None]
            unit = A[:, a] / np.linalg.norm(A[:, a], axis=1)[:, None]
            for row, arm, value in ((a, a, unit), (3 + a, a, A[:, b] / diagonal), (3 + a, b, A[:, a] / diagonal)):
                rows.append(np.repeat(6 * np.arange(n) + row, 3))
                columns.append((12 * np.arange(n)[:, None] + 3 + 3 * arm + _AXES).ravel())
                values.append(value.ravel())
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)

    def _restriction_gradients(self, first: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        rows, links = self._system.restrictions.array, self._system.links.array
        A, o = np.asarray(links["A"]).reshape(-1, 3, 3), np.asarray(links["o"])
        a, b = np.asarray(rows["a"]), np.asarray(rows["b"])
        p_a, p_b, d_a, d_b = (np.asarray(rows[name]) for name in ("p_a", "p_b", "d_a", "d_b"))
        x, y = _combined(d_a, A[a]), _combined(d_b, A[b])
        e = o[a] + _combined(p_a, A[a]) - o[b] - _combined(p_b, A[b])
        kind, on_a, arm = np.asarray(rows["kind"]), np.asarray(rows["on_a"]) > 0, np.asarray(rows["arm"])[:, None]
        is_point = (kind != CROSSED)[:, None]
        along = np.where(on_a[:, None], x, y)
        distance = np.linalg.norm(e, axis=1)[:, None]
        n = np.where((kind == APART)[:, None], e / np.where(distance > 0.0, distance, 1.0), along)
        is_along, is_crossed = (kind == ALONG)[:, None, None], (kind == CROSSED)[:, None, None]
        turns_a, turns_b = is_along & on_a[:, None, None], is_along & ~on_a[:, None, None]
        arms_a = np.where(is_crossed, _outer(d_a, arm * y), _outer(p_a, n) + np.where(turns_a, _outer(d_a, e), 0.0))
        arms_b = np.where(is_crossed, _outer(d_b, arm * x), -_outer(p_b, n) + np.where(turns_b, _outer(d_b, e), 0.0))
        center = np.where(is_point, n, 0.0)
        found = [self._block(first, a, center, arms_a), self._block(first, b, -center, arms_b)]
        i, j, values = (np.concatenate([part[k] for part in found]) for k in range(3))
        return i, j, values

    def _block(
        self, first: int, link: NDArray[np.int64], center: Array, arms: Array
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """Entries of the restrictions' gradients by one of their links; links that are fixed have none."""
        moving = np.flatnonzero(self._column[link] >= 0)
        values = np.concatenate([center[:, None], arms], axis=1).reshape(-1, 12)[moving]
        columns = self._column[link[moving]][:, None] + np.arange(12)
        return np.repeat(first + moving, 12), columns.ravel(), values.ravel()


def _combined(numbers: Array, A: Array) -> Array:
    vectors: Array = np.einsum("na,nax->nx", numbers, A)
    return vectors


def _outer(numbers: Array, vectors: Array) -> Array:
    products: Array = np.einsum("na,nx->nax", numbers, vectors)
    return products


def default_step(system: LinkedSystem) -> float:
    """Step of the implicit method that is taken by default [s]: a hundredth of the time a longest arm needs to fall."""
    size = max((float(arms.lengths.max()) for arms in system.arms[1:]), default=1.0)
    gravity = float(np.linalg.norm(system.run["gravity"]))
    return 0.005 * math.sqrt(size / gravity) if gravity > 0.0 else 5e-4
