"""Distances of links from surfaces, and states whose links are in none."""

from __future__ import annotations

from varichain.dynamics.arguments import opened_with_mass
from varichain.errors import InputError, PenetrationError
from varichain.instants.contacts import contacts_of, require_contacts
from varichain.instants.restraints import checked_limits, restraints_of
from varichain.kernels.contact_run import contact_gaps
from varichain.kernels.run_records import STEPPING
from varichain.kernels.tables import as_records
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.controls import Controls
from varichain.simulation.engine import Engine, new_record

APART = 1e-6  # [m] that a link may be in a surface where a run begins
_STEP = 1e-3  # [s] within which what moves must be apart


def clearances(m: Mechanism, s: State) -> dict[tuple[str, str], float]:
    """Distance [m] of every link from every surface that it may touch, by their names; negative where it is inside."""
    layout, _ = opened_with_mass(m, s)
    workspace = layout.new_workspace()
    contacts = contacts_of(m, workspace)
    records = as_records(contacts.records)
    contact_gaps(workspace.table, s.q, records)
    found: dict[tuple[str, str], float] = {}
    for pair, gap in zip(contacts.pairs, records["gap"].tolist(), strict=True):
        found[pair] = min(gap, found.get(pair, gap))
    return found


def require_apart(m: Mechanism, s: State) -> None:
    """Raise PenetrationError if a link is in a surface; InputError if there is no surface, or nothing touches one."""
    if not m.surfaces:
        raise InputError("contacts need a surface: add one with m.add_floor() or m.add_surface(...)")
    require_contacts(m, contacts_of(m, s.layout.new_workspace()))
    depths = {pair: -gap for pair, gap in clearances(m, s).items() if gap < -APART}
    if depths:
        raise PenetrationError(depths)


def separate(m: Mechanism, s: State, limits: str = "hard") -> State:
    """State near `s` in which no link is in a surface; loops stay closed, and joints within their limits.

    Links are moved by the least step in the mass metric, again and again until all are out. Velocities stay.

    Args:
        m: Mechanism.
        s: State, which is left as it is.
        limits: "hard" if joints must stay within their limits, "off" if not.

    Raises:
        PenetrationError: No such state was found.
    """
    opened_with_mass(m, s)
    given = checked_limits(limits)
    after = s.copy().follow(m)
    restraints = restraints_of(after.layout, given)
    record = new_record(s.time, STEPPING, _STEP, 1, 1.0)
    table = Controls(None, None, ()).table(after.layout, ())
    engine = Engine(after, restraints, table, record, contacts_of(m, restraints.workspace))
    engine.separate()
    depths = {pair: -gap for pair, gap in clearances(m, after).items() if gap < -APART}
    if depths:
        raise PenetrationError(depths)
    return after
