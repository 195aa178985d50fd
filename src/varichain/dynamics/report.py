"""Mobility in words, and values joint by joint as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array
from varichain.spatial.report import Listing, numbers

if TYPE_CHECKING:
    from varichain.dynamics.mobility import Mobility


Facts = list[tuple[str, str]]


def joint_listing(layout: Layout, values: Array, title: str) -> Listing:
    """Values (n_v,) of the tree's freedoms, a row for each joint that has some."""
    largest = float(np.abs(values).max(initial=0.0))
    slots = [slot for slot in layout.slots if slot.coordinates]
    return Listing(
        ("joint", "kind", title), [(slot.name, slot.kind, numbers(values[slot.v], largest)) for slot in slots]
    )


def mobility_facts(mobility: Mobility) -> Facts:
    """Counts, coordinates, redundancy, joints and actuation: facts, and what is so."""
    facts = [*_counts(mobility), *_coordinates(mobility), *_loops(mobility)]
    for title in ("locked", "resting", "idle", "passive"):
        if names := getattr(mobility, title):
            facts.append(("at rest, for now" if title == "resting" else title, _listed(names)))
    actuators = "1 actuator" if mobility.n_actuated == 1 else f"{mobility.n_actuated} actuators"
    facts.append(("actuation", f"{mobility.actuation} ({actuators})"))
    return [*facts, *_decision(mobility)]


def _counts(mobility: Mobility) -> Facts:
    facts = [
        ("joint freedoms", f"{mobility.n_all} (N_J), of them {mobility.n_tree} in the tree (N_O)"),
        *([("couplings", f"{mobility.n_couplings}, a row each")] if mobility.n_couplings else []),
        ("loops", f"{mobility.n_loops}, {6 * mobility.n_loops} rows, rank {mobility.rank}{_with(mobility)}"),
        ("degrees of freedom", f"{mobility.n_independent} (N_F)"),
    ]
    if mobility.is_instantaneous:
        last = f"only {mobility.n_lasting} of them last: the others vanish with the smallest motion"
        facts.append(("", f"{last} (singular configuration)"))
    return facts


def _with(mobility: Mobility) -> str:
    return " with the couplings" if mobility.n_couplings else ""


def _coordinates(mobility: Mobility) -> Facts:
    facts = [("independent", _listed(mobility.independent))]
    if mobility.switched:
        facts.append(("", f"switched: {mobility.switched}"))
    if mobility.dependent:
        facts.append(("dependent", _listed(mobility.dependent)))
    return facts


def _loops(mobility: Mobility) -> Facts:
    excess = 6 * mobility.n_loops + mobility.n_couplings - mobility.rank
    if excess == 0:
        return []
    shared = ", ".join(f"{name} {rows}" for name, rows in mobility.redundant_rows.items() if rows)
    if mobility.n_loops + mobility.n_couplings == 1:
        return [("redundant rows", str(excess))]
    said = f"{excess} in all; of one loop, implied by its other rows and loops: {shared or 'none'}"
    return [("redundant rows", said)]


def _decision(mobility: Mobility) -> Facts:
    sigma = mobility.singular_values
    if not len(sigma):
        return []
    kept = sigma[mobility.rank - 1] / sigma[0] if mobility.rank else 0.0
    dropped = sigma[mobility.rank] / sigma[0] if len(sigma) > mobility.rank else 0.0
    said = (
        f"smallest singular value kept {kept:.1e}, largest dropped {dropped:.1e}, border "
        f"{mobility.rank_tolerance:.0e}; loops closed to {mobility.residual:.1e}"
    )
    return [("rank decision", said + (": a close decision" if mobility.is_nearly_singular else ""))]


def _listed(names: tuple[str, ...], most: int = 24) -> str:
    if not names:
        return "none"
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
