"""Massless links whose motion loops determine: a slider in a slot, a ring between two rods."""

from __future__ import annotations

import numpy as np

from varichain.dynamics.loops import constraint_matrix
from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array

_DETERMINED = 1e-6  # part of the rows that must act on a motion of massless links


def undetermined_freedom(layout: Layout, q: Array) -> int | None:
    """A freedom of massless links that may move while all others stand still, loops closed; None if there is none."""
    dofs = layout.arrays["dofs"]
    massless = np.flatnonzero(dofs["inertia"] > dofs["armature"])
    K = constraint_matrix(layout, layout.workspaces.of_thread.table, q)[:, massless]
    _, sigma, Vt = np.linalg.svd(K, full_matrices=True)
    rank = int(np.count_nonzero(sigma > _DETERMINED * sigma.max(initial=0.0)))
    if rank == len(massless):
        return None
    return int(massless[np.argmax(np.abs(Vt[-1]))])
