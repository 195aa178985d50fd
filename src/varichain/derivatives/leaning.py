"""How rows push freedoms, in a metric of the masses: what closes loops after a step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from varichain.spatial.arrays import Array

# Singular values below this part of the largest, as in `mobility`, and above rounding: derivatives may mean nothing.
_SINGULAR, _DEPENDENT = 1e-4, 1e-9


def is_nearly_dependent(K: Array) -> bool:
    """Whether rows (n, n_v) nearly depend on each other, and not quite."""
    if not K.size:
        return False
    sigma = np.linalg.svd(K, compute_uv=False)
    return bool(((sigma > _DEPENDENT * sigma[0]) & (sigma < _SINGULAR * sigma[0])).any())


class Leaning:
    """How rows push freedoms in a configuration: B (n_v, n) with M_FF B_F = K_F^T, and zero of locked freedoms.

    Attributes:
        B, kept: The matrix, and the rows that are independent of each other; columns of others are zero.
    """

    def __init__(self, M: Array, K: Array, free: NDArray[np.bool_], kept: NDArray[np.bool_]) -> None:
        """Solve for B; `free` are the freedoms that are not locked."""
        self.kept, self._F = kept, free
        self._M = M[np.ix_(self._F, self._F)]
        self.B = self.pushed((K * kept[:, None]).T)

    def pushed(self, forces: Array) -> Array:
        """M^-1 forces (n_v, k) in the free freedoms."""
        moved = np.zeros_like(forces)
        moved[self._F] = np.linalg.solve(self._M, forces[self._F])
        return moved

    def solved(self, K: Array, opening: Array) -> Array:
        """x (n, ...) with K B x = opening, of the rows that are kept."""
        x, kept = np.zeros_like(opening), self.kept
        x[kept] = np.linalg.solve(K[kept] @ self.B[:, kept], opening[kept])
        return x

    def steps(self, K: Array) -> Array:
        """N (n_v, n): steps that open the rows K by one each."""
        return self.B @ self.solved(K, np.eye(len(K)))

    def multipliers(self, K: Array, v: Array) -> Array:
        """y with which v + B y opens no row of K."""
        return self.solved(K, -(K @ v))
