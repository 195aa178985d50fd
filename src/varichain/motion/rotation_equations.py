"""The equations of a smooth rotation: angular velocities at the knots for which accelerations are continuous.

With h the length of a piece, r its rotation vector, J of `motion.rotation_rates`, the angular velocities w_i at its
beginning and w_(i+1) at its end, and x = J^-1 w_(i+1), the angular acceleration of the cubic piece is

    w' = 6 r / h^2 - 4 w_i / h - 2 x / h                               at its beginning,
    w' = -6 r / h^2 + 2 J w_i / h + 4 w_(i+1) / h + N(x)               at its end.

The knots' equations are the differences: blocks of three beside the diagonal, and N on it, for Newton's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.motion.rotation_rates import RotationRates
from varichain.spatial.arrays import Array

Indices = NDArray[np.intp]
Entry = tuple[Indices, Indices, Array]  # block rows (n,), block columns (n,), blocks (n, 3, 3)

_MOST_STEPS = 50
# Newton's method squares the relative error: after a step of this size nothing but rounding is left.
_LAST_STEP = 1e-9
_IDENTITY = np.eye(3)


@dataclass(frozen=True, eq=False)
class Passed:
    """An orientation that a piece passes on its way.

    Attributes:
        piece: Index of the piece.
        part: Part of its time that has gone, 0 to 1.
        turn: Rotation vector (3,) [rad] from its beginning.
    """

    piece: int
    part: float
    turn: Array


def angular_velocities(h: Array, r: Array, rates: RotationRates, ends: str, passed: Sequence[Passed]) -> Array | None:
    """Angular velocities (n + 1, 3) at the knots of n pieces, each in the axes there; None if none were found.

    Args:
        h: Lengths of the pieces (n, 1) [s].
        r: Their rotation vectors (n, 3) [rad].
        rates: Rates of r.
        ends: "natural", "clamped", "periodic", or "passing": what the first and the last piece pass sets the ends.
        passed: What they pass, if they do.
    """
    from scipy.sparse.linalg import spsolve

    n = len(h)
    knots = np.arange(n + 1) % n if ends == "periodic" else np.arange(n + 1)
    last = knots[1:]
    M, rhs, balanced = _equations(h, r, rates, knots, ends, passed)
    w = np.zeros_like(rhs)
    w[knots[:-1]] = r / h
    for _ in range(_MOST_STEPS):
        x = np.einsum("ijk,ik->ij", rates.J_inverse, w[last])
        residual = (M @ w.ravel()).reshape(w.shape) - rhs
        np.add.at(residual, last, balanced[last, None] * rates.products(x))
        slopes = balanced[last, None, None] * (rates.product_slopes(x) @ rates.J_inverse)
        step = spsolve(M + _sparse([(last, last, slopes)], len(w)), residual.ravel()).reshape(w.shape)
        w -= step
        if np.abs(step).max() <= _LAST_STEP * np.abs(w).max():
            return w[knots]
    return None


def _equations(
    h: Array, r: Array, rates: RotationRates, knots: Indices, ends: str, passed: Sequence[Passed]
) -> tuple[Any, Array, Array]:
    """Linear part: a sparse matrix, its right-hand side (m, 3), and 1 for rows that balance accelerations (m,)."""
    edges = knots[[0, -1]]
    entries, rhs = _balance(h, r, rates, knots)
    balanced = np.ones(len(rhs))
    if ends in ("clamped", "passing"):
        balanced[edges], rhs[edges] = 0.0, 0.0
        entries = [(row, column, balanced[row, None, None] * block) for row, column, block in entries]
    if ends == "clamped":
        entries.append((edges, edges, np.stack([_IDENTITY, _IDENTITY])))
    for row, item in zip(edges, passed, strict=False):
        entries += _passing(item, row, h, rates)
        rhs[row] = item.turn - item.part**2 * (3.0 - 2.0 * item.part) * r[item.piece]
    return _sparse(entries, len(rhs)), rhs, balanced


def _balance(h: Array, r: Array, rates: RotationRates, knots: Indices) -> tuple[list[Entry], Array]:
    """Each piece counts in the rows of both of its knots; a knot without a neighbour then has no acceleration."""
    first, last = knots[:-1], knots[1:]
    k, I = 1.0 / h[:, :, None], np.broadcast_to(_IDENTITY, (len(h), 3, 3))
    entries = [
        (first, first, 4.0 * k * I),
        (first, last, 2.0 * k * rates.J_inverse),
        (last, first, 2.0 * k * rates.J),
        (last, last, 4.0 * k * I),
    ]
    rhs = np.zeros((knots.max() + 1, 3))
    np.add.at(rhs, first, 6.0 * r / h**2)
    np.add.at(rhs, last, 6.0 * r / h**2)
    return entries, rhs


def _passing(item: Passed, row: int, h: Array, rates: RotationRates) -> list[Entry]:
    """Equation of a cubic piece that passes an orientation."""
    i, u, here = item.piece, item.part, np.array([row])
    begin, end = h[i] * u * (u - 1.0) ** 2, h[i] * u * u * (u - 1.0)
    return [
        (here, np.array([i]), (begin * _IDENTITY)[None]),
        (here, np.array([i + 1]), (end * rates.J_inverse[i])[None]),
    ]


def _sparse(entries: list[Entry], n: int) -> Any:
    """Sparse matrix (3 n, 3 n); blocks in the same place add."""
    from scipy.sparse import coo_matrix

    three = np.arange(3)
    rows = [np.broadcast_to((3 * row)[:, None, None] + three[:, None], block.shape) for row, _, block in entries]
    columns = [np.broadcast_to((3 * column)[:, None, None] + three, block.shape) for _, column, block in entries]
    values, i, j = (np.concatenate([x.ravel() for x in part]) for part in ([e[2] for e in entries], rows, columns))
    return coo_matrix((values, (i, j)), shape=(3 * n, 3 * n)).tocsc()
