"""Projection of a state onto its loops, in the metric of the masses."""

from __future__ import annotations

import numpy as np

from varichain.dynamics.arguments import opened_with_mass, require_inertia
from varichain.dynamics.assembly import CLOSED
from varichain.dynamics.loops import closure_errors
from varichain.errors import AssemblyError
from varichain.kernels.projection import project_position
from varichain.kernels.velocity_jump import velocity_jump
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism

_MOST_STEPS = 30


def project(m: Mechanism, s: State) -> State:
    """Nearest state with all loops closed, positions first, then velocities; no momentum is created.

    For small errors; `assemble` finds a configuration from far away.

    Raises:
        AssemblyError: Newton's method does not close the loops from here.
        SingularMassError: Something that can move has no inertia in that direction.
    """
    layout, table = opened_with_mass(m, s)
    closed = s.copy()
    if layout.is_tree:
        return closed
    jump = np.empty(layout.n_v)
    left = project_position(table, closed.q, CLOSED, _MOST_STEPS, jump)
    if not left <= 1e-9:
        require_inertia(layout, table)
        errors = closure_errors(layout, table, closed.q)
        residuals = {one.name: float(np.abs(errors[one.rows]).max(initial=0.0)) for one in layout.constraints}
        raise AssemblyError(f"the loops stay open by {left:.3g} [m or rad]; call assemble(m, s) first", residuals)
    velocity_jump(table, closed.q, closed.v, jump)
    require_inertia(layout, table)
    closed.v[:] += jump
    return closed
