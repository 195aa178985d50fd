"""Checks of a start state."""

from __future__ import annotations

import numpy as np

from varichain.dynamics.arguments import opened_with_mass
from varichain.dynamics.limits import limit_excess
from varichain.dynamics.projection import project
from varichain.dynamics.rank import counting, kept_rows
from varichain.errors import InputError, LimitError
from varichain.instants.contacts import contacts_of, require_smooth
from varichain.kernels.closure import row_velocities
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.separating import require_apart
from varichain.simulation.settings import Settings

INSIDE = 1e-9  # [rad or m] beyond a limit that counts as at it
OPEN = 1e-6  # [m or rad] that loops may be open by; smaller errors are closed silently
OPENING = 1e-8  # [m/s or rad/s] that loops may open with, relative to the fastest velocity


def checked_start(m: Mechanism, s: State, settings: Settings) -> State:
    """Copy of the state with its loops closed to rounding, and with the mechanism's layout.

    Raises:
        LimitError: A joint is outside its limits.
        PenetrationError: A link is in a surface.
        InputError: A loop or coupling is open, or is opening.
    """
    layout, table = opened_with_mass(m, s)
    if settings.contacts != "off":
        require_apart(m, s)
    if settings.contacts == "exact":
        workspace = layout.new_workspace()
        require_smooth(contacts_of(m, workspace))
        if workspace.array("bodies")["borrows"][0]:
            raise InputError(
                "contacts='exact' needs mass: the last link of a chain weighs nothing, and only loops tell how it moves"
                "; give it a mass, or use contacts='stepping'"
            )
    if settings.limits == "hard":
        excess = {name: beyond for name, beyond in limit_excess(m, s).items() if beyond > INSIDE}
        if excess:
            raise LimitError(excess)
    if layout.is_tree:
        return s.copy().follow(m)
    closed = project(m, s).follow(m)
    if np.abs(s.difference(closed)).max(initial=0.0) > OPEN:
        raise InputError("the state's loops or couplings are open; begin with vc.project(m, s) or vc.assemble(m, s)")
    rates = np.empty(layout.n_rows)
    row_velocities(table, s.q, s.v, rates)
    fastest = np.abs(s.v).max(initial=0.0)
    if np.abs(rates).max(initial=0.0) > OPENING * (1.0 + fastest):
        rates = counting(layout, rates, kept_rows(layout, table, s.q), 1.0 + fastest)
    worst = int(np.abs(rates).argmax()) if len(rates) else 0
    if len(rates) and abs(rates[worst]) > OPENING * (1.0 + fastest):
        name = next(one.name for one in layout.constraints if one.rows.start <= worst < one.rows.stop)
        raise InputError(
            f"the state's velocities open loop or coupling {name!r} with {abs(rates[worst]):.3g} m/s or rad/s; "
            "begin with vc.project(m, s), which finds the nearest velocities that do not"
        )
    return closed
