"""Frames, structures and reports that a live run publishes: plain data that never changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.mobility import mobility
from varichain.mechanism.describe import description
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.engine import Engine

Array = NDArray[np.float64]
Counts = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class LiveStructure:
    """A structure of a live run.

    Attributes:
        number: Counts the structures of the run; a reset counts too.
        description: The mechanism as plain values, see `mechanism.description`.
        drawing: Its tree, drawn in text.
        counts: N_J, rank of the loops, N_F.
        log: Lines of the structure log, oldest first.
        contacts: Names of the contacts, in the order of `LiveFrame.contact_forces`; none if contacts are off.
    """

    number: int
    description: dict[str, Any]
    drawing: str
    counts: Counts
    log: tuple[str, ...]
    contacts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """Report of a command, or of an event of the run.

    Attributes:
        number: Counts the reports of the run.
        time: Simulated time [s].
        what: The command or event in words.
        error: Why nothing was done; None if the command succeeded.
        entries: Entry of the structure log in words, one line an edit.
        impulse: Largest impulse at a new connection [N s]; 0 without one.
        energy_lost: Kinetic energy that impacts took [J].
        before, after: N_J, rank and N_F.
    """

    number: int
    time: float
    what: str
    error: str | None = None
    entries: tuple[str, ...] = ()
    impulse: float = 0.0
    energy_lost: float = 0.0
    before: Counts | None = None
    after: Counts | None = None


@dataclass(frozen=True, eq=False)
class LiveFrame:
    """A live run at an instant.

    Attributes:
        time: Simulated time [s].
        q, v: Coordinates (n_q,) and velocities (n_v,).
        loop_forces: Wrenches [moment; force] (n_loops, 6) on the real links, at the joints, world axes.
        contact_forces: Forces (contacts, 3) [N] of surfaces on links, world axes.
        contact_modes: Modes of the contacts (contacts,): 0 apart, 1 sticks, 2 slips.
        energy: Kinetic energy, that of gravity and that of springs [J].
        structure: The structure.
        speed: Simulated seconds that a second of wall time should take.
        rate: Simulated seconds per second of wall time, measured over the last second.
        is_paused: Whether the run waits.
        message: Why the run waits; empty if there is no reason to give.
        until: When the run pauses [s]; None if it does not.
        is_kept: Whether torques hold a posture.
        drag: Link, point in its frame and target in the world, while one is dragged.
        reports: The latest reports, oldest first.
        aims: Tracked points and their targets (2, 3) [m], by name; NaN where there is none.
    """

    time: float
    q: Array
    v: Array
    loop_forces: Array
    contact_forces: Array
    contact_modes: Array
    energy: tuple[float, float, float]
    structure: LiveStructure
    speed: float
    rate: float
    is_paused: bool
    message: str
    until: float | None
    is_kept: bool
    drag: tuple[str, Array, Array] | None
    reports: tuple[Report, ...]
    aims: dict[str, Array]


def structure_of(m: Mechanism, engine: Engine, number: int) -> LiveStructure:
    """The structure that an engine moves."""
    found = mobility(m, engine.state, probe=False)
    counts = (found.n_all, found.rank, found.n_independent)
    contacts = () if engine.touching is None else tuple(engine.touching.names)
    return LiveStructure(number, description(m), str(m), counts, tuple(map(str, m.log)), contacts)
