"""Gaps between the joint frames of connections that are about to be made."""

from __future__ import annotations

import numpy as np

from varichain.dynamics.assembly import CLOSED
from varichain.errors import GapError
from varichain.instants.actions import MEET, Connect
from varichain.kernels.closure import loop_gaps
from varichain.kernels.projection import project_position
from varichain.layout.layout import Layout
from varichain.layout.state import State

_MOST_STEPS = 50


def refuse_gaps(layout: Layout, s: State, connections: list[Connect]) -> bool:
    """Raise GapError if the frames of the layout's newest loops are apart; returns whether any has a gap to close."""
    whole = np.empty(len(layout.connections) + len(layout.ties))
    loop_gaps(layout.workspaces.of_thread.table, s.q, whole)
    gaps = whole[: len(layout.connections)]
    first = len(gaps) - len(connections)
    has_gap = False
    for connection, gap, new in zip(connections, gaps[first:].tolist(), layout.connections[first:], strict=True):
        allowed = connection.snap if connection.snap is not None else MEET
        if not gap <= allowed:
            raise GapError(
                f"connecting {new.link_A!r} to {new.link_B!r}: the joint frames are {gap:.3g} [m or rad] apart in "
                f"this state, {allowed:g} allowed; leave out at_other to connect where they are, or give "
                f"{'snap' if connection.snap is None else 'a larger snap'}",
                gap,
            )
        has_gap = has_gap or (connection.snap is not None and gap > CLOSED)
    return has_gap


def close_gaps(layout: Layout, s: State, connections: list[Connect], may_move: bool = True) -> None:
    """Refuse connections whose frames are apart, and close the gaps of those that may snap by moving the links."""
    if refuse_gaps(layout, s, connections) and may_move:
        table = layout.workspaces.of_thread.table
        left = project_position(table, s.q, CLOSED, _MOST_STEPS, np.empty(layout.n_v))
        if not left <= 1e-9:
            raise GapError(f"the gaps cannot be closed: {left:.3g} [m or rad] is left", left)
