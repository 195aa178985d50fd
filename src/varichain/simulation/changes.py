"""What the actions of an instant do: structure, impulses, and the engine of the next epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.actions import Connect, Couple, Cut, apply_connections, apply_couplings, on_links
from varichain.dynamics.arguments import link_row, require_mass
from varichain.dynamics.gaps import close_gaps
from varichain.kernels.wrenches import add_wrench
from varichain.layout.state import State, layout_for
from varichain.mechanism.connections import connection_edit, cut_joint
from varichain.mechanism.coupling import coupling_edit
from varichain.mechanism.log import LogEntry
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.transaction import transaction
from varichain.simulation.engine import Engine
from varichain.simulation.events import Action, Push, SetGravity, Use

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Changed:
    """What an instant brought.

    Attributes:
        engine: Engine of what follows.
        entry: Entry of the structure log; None if the structure stayed.
        energy_lost: Kinetic energy that impacts took; negative where an impulse gave some [J].
    """

    engine: Engine
    entry: LogEntry | None
    energy_lost: float


def apply_actions(
    m: Mechanism, engine: Engine, actions: list[Action], new_engine: Callable[[State], Engine]
) -> Changed:
    """Cuts first, then all connections, couplings and impulses as one simultaneous impact; all of it or nothing.

    Stops that are touched and drives take part in the impact; drives that begin are one.
    """
    new = {name for action in actions if isinstance(action, Use) for name in action.changes}
    cuts = [action for action in actions if isinstance(action, Cut)]
    connections = on_links(m, [action for action in actions if isinstance(action, Connect)])
    pushes = [action for action in actions if isinstance(action, Push)]
    before = engine.energy_lost
    with transaction(m):
        edits = [edit for action in cuts for edit in cut_joint(m, action.joint)]
        for action in actions:
            if isinstance(action, SetGravity):
                m.gravity = action.gravity
        links = apply_connections(m, engine.state, connections)
        made = apply_couplings(m, engine.state, [action for action in actions if isinstance(action, Couple)])
        after = engine.state.copy()
        layout = layout_for(m, after)
        require_mass(layout)
        close_gaps(layout, after, connections)
        following = new_engine(after)
        following.take_over(engine, with_torques="controller" not in new)
        for action in pushes:
            force = action.force
            row = link_row(layout, force.link)
            add_wrench(following.table, following.q, row, force._point, force._wrench, force._local)
        impulses = following.settle(is_impact=bool(connections or made or pushes or "motion" in new))
        at_loops, at_ties = impulses[: len(layout.connections)], impulses[len(layout.connections) :, 0]
        newest = at_loops[len(at_loops) - len(links) :].tolist()
        edits += [connection_edit(link, tuple(impulse)) for link, impulse in zip(links, newest, strict=True)]
        blows = {tie.name: float(blow) for tie, blow in zip(layout.ties, at_ties, strict=True)}
        edits += [coupling_edit(m, tie, impulse=blows[tie.name]) for tie in made]
    lost = following.energy_lost - before
    entry = m.log.write(following.time, tuple(edits), lost) if edits else None
    return Changed(following, entry, lost)
