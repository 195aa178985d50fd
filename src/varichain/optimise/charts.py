"""Coordinates as plain vectors: qdot = E(q) v, and turns of a quaternion that is not quite of unit length.

Numbers of a quaternion are unknowns like others. Collocation at Gauss's points keeps their squares' sum; functions of
them are those of the unit quaternion in their direction.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from varichain.layout.tree import JointSlot
from varichain.optimise.pattern import Indices
from varichain.spatial.arrays import Array


class Chart:
    """Coordinates of the joints of one tree, in rows (n, n_q).

    Attributes:
        n_q, n_v: Lengths.
        turning: Slots with quaternions.
    """

    def __init__(self, slots: Iterable[JointSlot]) -> None:
        """Take the joints."""
        slots = list(slots)
        self.n_q, self.n_v = max(slot.q.stop for slot in slots), max(slot.v.stop for slot in slots)
        self.turning = [slot for slot in slots if slot.has_quaternion]
        self._plain = [(slot.q, slot.v) for slot in slots if not slot.has_quaternion]

    def unit(self, q: Array) -> Array:
        """Coordinates with quaternions of unit length."""
        q = q.copy()
        for slot in self.turning:
            part = q[:, slot.q.start : slot.q.start + 4]
            part /= np.linalg.norm(part, axis=1, keepdims=True)
        return q

    def rates(self, q: Array, v: Array) -> Array:
        """Rates qdot (n, n_q) = E(q) v."""
        return np.asarray(np.einsum("pij,pj->pi", self.to_rates(q), v))

    def to_rates(self, q: Array) -> Array:
        """E (n, n_q, n_v)."""
        E = np.zeros((len(q), self.n_q, self.n_v))
        for qs, vs in self._plain:
            E[:, qs, vs] = np.eye(qs.stop - qs.start)
        for slot in self.turning:
            i, k = slot.q.start, slot.v.start
            E[:, i : i + 4, k : k + 3] = 0.5 * _products(q[:, i : i + 4])
            if slot.kind == "free":
                E[:, i + 4 : i + 7, k + 3 : k + 6] = _rotation(q[:, i : i + 4])
        return E

    def entries(self) -> list[tuple[Indices, Indices]]:
        """Places where the derivatives of E(q) v by q and by v can be other than zero."""
        q = np.full((1, self.n_q), 0.3) + 0.1 * np.arange(self.n_q)
        v = np.full((1, self.n_v), 0.7) + 0.1 * np.arange(self.n_v)
        found = [np.nonzero(block[0]) for block in (self.rates_by_q(q, v), self.to_rates(q))]
        return [(i.astype(np.int64), j.astype(np.int64)) for i, j in found]

    def turns(self, q: Array) -> Array:
        """T (n, n_v, n_q): steps along the freedoms that belong to changes of coordinates."""
        T = np.zeros((len(q), self.n_v, self.n_q))
        for qs, vs in self._plain:
            T[:, vs, qs] = np.eye(qs.stop - qs.start)
        for slot in self.turning:
            i, k = slot.q.start, slot.v.start
            part = q[:, i : i + 4]
            T[:, k : k + 3, i : i + 4] = 2.0 * _products(part).transpose(0, 2, 1) / (part**2).sum(axis=1)[:, None, None]
            if slot.kind == "free":
                T[:, k + 3 : k + 6, i + 4 : i + 7] = _rotation(part).transpose(0, 2, 1)
        return T

    def rates_by_q(self, q: Array, v: Array) -> Array:
        """Derivative (n, n_q, n_q) of E(q) v by q."""
        D = np.zeros((len(q), self.n_q, self.n_q))
        if not self.turning:
            return D
        T = self.turns(q)
        for slot in self.turning:
            i, k = slot.q.start, slot.v.start
            D[:, i : i + 4, i : i + 4] = 0.5 * _products_by_first(v[:, k : k + 3])
            if slot.kind == "free":
                shifted = -_rotation(q[:, i : i + 4]) @ _cross(v[:, k + 3 : k + 6])
                D[:, i + 4 : i + 7, i : i + 4] = shifted @ T[:, k : k + 3, i : i + 4]
        return D


def _products(q: Array) -> Array:
    """(n, 4, 3): products of quaternions with the three units, as columns."""
    w, x, y, z = q.T
    return np.stack([-x, -y, -z, w, -z, y, z, w, -x, -y, x, w], axis=1).reshape(-1, 4, 3)


def _products_by_first(v: Array) -> Array:
    """(n, 4, 4): the product q v of quaternions, as a matrix on q."""
    x, y, z = v.T
    o = np.zeros_like(x)
    return np.stack([o, -x, -y, -z, x, o, z, -y, y, -z, o, x, z, y, -x, o], axis=1).reshape(-1, 4, 4)


def _rotation(q: Array) -> Array:
    """Rotation matrices (n, 3, 3) of quaternions, whatever their length."""
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)


def _cross(v: Array) -> Array:
    """(n, 3, 3): the vector product with v from the left."""
    x, y, z = v.T
    o = np.zeros_like(x)
    return np.stack([o, -z, y, z, o, -x, -y, x, o], axis=1).reshape(-1, 3, 3)
