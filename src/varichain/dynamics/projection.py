"""Projection of a state onto its loops, in the metric of the masses."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from varichain.dynamics.arguments import opened_with_mass, require_inertia
from varichain.dynamics.assembly import CLOSED, assembled, columns_to_hold, following_velocities
from varichain.dynamics.loops import closure_errors
from varichain.errors import AssemblyError
from varichain.kernels.mass_matrix import mass_matrix
from varichain.kernels.projection import project_position
from varichain.kernels.velocity_jump import velocity_jump
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism

_MOST_STEPS = 30
_ASSEMBLED = 1e-10  # [m or rad] to which loops close while joints are to hold


def project(m: Mechanism, s: State, hold: Iterable[str] = ()) -> State:
    """Nearest state with all loops closed, positions first, then velocities; no momentum is created.

    For small errors; `assemble` finds a configuration from far away. With joints to hold, "this one moves so, and the
    others follow": `s["crank"].v = 2.0; s = vc.project(m, s, hold=["crank"])`.

    Args:
        m: Mechanism.
        s: State; not changed.
        hold: Names of joints that keep their coordinates and velocities.

    Raises:
        AssemblyError: Newton's method does not close the loops from here, or the joints to hold contradict them.
        SingularMassError: Something that can move has no inertia in that direction.
    """
    layout, table = opened_with_mass(m, s)
    closed = s.copy()
    to_hold = columns_to_hold(layout, hold)
    if layout.is_tree:
        return closed
    if to_hold.any():
        closed.v[:] = 0.0
        found = assembled(layout, table, closed, to_hold, _ASSEMBLED).state
        found.v[:] = s.v
        M = np.empty((layout.n_v, layout.n_v))
        mass_matrix(table, found.q, M)
        dofs = layout.arrays["dofs"]
        M += np.diag(dofs["inertia"] - dofs["armature"])  # which massless links have borrowed
        found.v[:] = following_velocities(layout, table, found, to_hold, M)
        return found
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
