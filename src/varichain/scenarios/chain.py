"""A chain that falls, is caught by its end, and let go."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le

import varichain as vc
from varichain.mechanism import Inertia, Mechanism, Spherical
from varichain.scenarios.parameters import NonNegative, Positive, checked
from varichain.scenarios.scenario import Scenario


@checked
def chain(
    *,
    links: Annotated[int, Ge(1), Le(1000)] = 10,
    length: Positive = 2.0,
    mass: Positive = 2.0,
    pinned: NonNegative = 0.4,
    released: NonNegative = 2.0,
) -> Scenario:
    """A chain, fixed at one end and stretched out sideways, is dropped; its tip is pinned in mid-fall, later released.

    With n links on ball joints N_J = N_F = 3 n; pinned, N_J = 3 n + 3, and N_F = 3 n - 3.

    Args:
        links: Number of links, at most 1000.
        length: Of the whole chain [m].
        mass: Of the whole chain [kg].
        pinned: When the tip is connected to the ground [s].
        released: When it is let go [s].
    """
    m = Mechanism("chain")
    each = length / links
    rod = Inertia.capsule(mass / links, 0.05 * each, 0.9 * each, "x", com=(0.5 * each, 0.0, 0.0))
    parent, place = "ground", (0.0, 0.0, length)
    for i in range(1, links + 1):
        m.add_link(f"link {i}", parent, Spherical(damping=0.002), place, rod)
        parent, place = f"link {i}", (each, 0.0, 0.0)
    m.add_frame("tip", parent, place)
    s = m.state()
    s["link 1"].orientation = (0.0, 0.0, 0.1)
    events = (
        vc.at(pinned, vc.connect("tip", "ground", Spherical(), name="pin"), name="the tip is caught"),
        vc.at(released, vc.cut("pin"), name="the tip is let go"),
    )
    return Scenario("chain", m, s, 4.0, events, settings={"method": "rk45", "step": 1e-2, "tolerance": 1e-8})
