"""Closed contacts as loops: what mobility, inverse dynamics and equilibria need to know of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from varichain.dynamics.arguments import opened_with_mass
from varichain.dynamics.kinematics import pose, velocity
from varichain.dynamics.loop_limits import FrictionCone
from varichain.errors import InputError
from varichain.instants.contacts import contacts_of
from varichain.kernels.contact_run import contact_gaps
from varichain.kernels.tables import as_records
from varichain.layout.state import State
from varichain.mechanism.joints import Spherical
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import non_negative_scalar
from varichain.spatial.report import Listing, Report, Reported

CLOSED = 1e-6  # [m] of a gap, as large as penetration may be where a run begins
_STILL = 1e-6  # [m/s] below which a contact rests


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClosedContacts(Reported):
    """Contacts that are closed in a state, as loops with cones.

    Attributes:
        mechanism: A copy of the mechanism with a ball joint at every closed contact, named as the contact is.
        loop_limits: What each of these joints can bear, by name: it pushes, and holds by friction. For
            `vc.inverse_dynamics`.
        points: Where each contact is (3,) [m], world axes, by name.
    """

    mechanism: Mechanism
    loop_limits: dict[str, FrictionCone]
    points: dict[str, Array]

    def report(self) -> Report:
        """Names, friction and places."""
        rows = [
            (name, f"{cone.friction:g}", ", ".join(f"{x:.4g}" for x in self.points[name]))
            for name, cone in self.loop_limits.items()
        ]
        title = f"{len(rows)} closed contacts of {self.mechanism.name!r}"
        return title, (Listing(("contact", "friction", "place [m]"), rows),)


def closed_contacts(m: Mechanism, s: State, within: float = CLOSED) -> ClosedContacts:
    """Contacts that are closed and at rest in a state, as loops: a ball joint each, with its cone of friction.

    `vc.mobility(closed.mechanism, s)` tells the freedoms that are left while they stick; `vc.inverse_dynamics(
    closed.mechanism, s, a, loop_limits=closed.loop_limits)` finds torques and forces within the cones, or raises
    `ActuationError` if there are none. A contact that opens is none of them.

    Args:
        m: Mechanism with surfaces; it is left as it is.
        s: State.
        within: Gap [m] up to which a contact counts as closed.

    Raises:
        InputError: A contact slips, rolls or is about to collide; or the mechanism has no surface.
    """
    layout, _ = opened_with_mass(m, s)
    within = non_negative_scalar(within, "within")
    if not m.surfaces:
        raise InputError("contacts need a surface: add one with m.add_floor() or m.add_surface(...)")
    workspace = layout.new_workspace()
    contacts = contacts_of(m, workspace)
    records, bodies = as_records(contacts.records), workspace.array("bodies")
    contact_gaps(workspace.table, s.q, records)
    found, loop_limits, points = m.copy(), {}, {}
    for name, (link, surface), record in zip(contacts.names, contacts.pairs, records, strict=True):
        if not record["gap"] <= within:
            continue
        x = bodies[bodies[record["body_A"]]["root"]]["reference"] + record["x_A"]
        carrier, n = m.surfaces[surface].link, record["sign"] * record["n"]
        ends = [(pose(m, s, end).inverse() @ x) for end in (link, carrier)]
        if _opens(m, s, name, (link, carrier), ends, n, float(record["radius"])):
            continue
        found.connect(link, carrier, Spherical(actuated=False), ends[0], ends[1], name=name)
        normal = tuple((pose(m, s, carrier).R.T @ n).tolist())
        loop_limits[name] = FrictionCone(float(record["friction"]), normal)
        points[name] = x
    return ClosedContacts(found, loop_limits, points)


def _opens(
    m: Mechanism, s: State, name: str, links: tuple[str, str], ends: list[Array], n: Array, radius: float
) -> bool:
    """Whether a closed contact opens; InputError if it moves otherwise."""
    twist = velocity(m, s, links[0], ends[0]) - velocity(m, s, links[1], ends[1])
    opening = float(twist[3:] @ n)
    if opening > _STILL:
        return True
    rolling = twist[:3] - (twist[:3] @ n) * n
    for motion, speed in (
        ("is about to collide", -opening),
        ("slips", float(np.linalg.norm(twist[3:] - opening * n))),
        ("rolls", radius * float(np.linalg.norm(rolling))),
    ):
        if speed > _STILL:
            raise InputError(f"contact {name!r} {motion} at {speed:.3g} m/s; closed contacts are at rest")
    return False
