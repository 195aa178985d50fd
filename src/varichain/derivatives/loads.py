"""What derivative kernels take: external forces as rows of numbers, and memory to work in."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from varichain.dynamics.arguments import link_row
from varichain.dynamics.forces import Force, constant_forces
from varichain.kernels.derivative_forward import derivative_memory
from varichain.kernels.derivative_loads import LOAD
from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array


def loads_of(layout: Layout, forces: Iterable[Force]) -> Array:
    """Forces as kernels take them (n, LOAD)."""
    given = constant_forces(forces)
    loads = np.zeros((len(given), LOAD))
    for row, force in zip(loads, given, strict=True):
        row[:] = [link_row(layout, force.link), force._local, *force._point, *force._wrench]
    return loads


def memory_of(layout: Layout) -> tuple[Array, ...]:
    """Arrays that kernels work in, for this structure."""
    return tuple(derivative_memory(layout.workspaces.of_thread.length("bodies"), layout.n_v, layout.n_rows))
