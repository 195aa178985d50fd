"""The mobility report in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from varichain.dynamics.mobility import Mobility


def mobility_report(mobility: Mobility) -> str:
    """Counts, coordinates, redundancy, joints and actuation, one fact a line."""
    lines = [f"mobility of {mobility.name!r}", *_counts(mobility), *_coordinates(mobility), *_loops(mobility)]
    for title, names in (("locked", mobility.locked), ("idle", mobility.idle), ("passive", mobility.passive)):
        if names:
            lines.append(f"  {title:<22}{_listed(names)}")
    actuators = "1 actuator" if mobility.n_actuated == 1 else f"{mobility.n_actuated} actuators"
    lines.append(f"  {'actuation':<22}{mobility.actuation} ({actuators})")
    return "\n".join([*lines, *_decision(mobility)])


def _counts(mobility: Mobility) -> list[str]:
    lines = [
        f"  {'joint freedoms':<22}{mobility.n_all} (N_J), of them {mobility.n_tree} in the tree (N_O)",
        *([f"  {'couplings':<22}{mobility.n_couplings}, a row each"] if mobility.n_couplings else []),
        f"  {'loops':<22}{mobility.n_loops}, {6 * mobility.n_loops} rows, rank {mobility.rank}{_with(mobility)}",
        f"  {'degrees of freedom':<22}{mobility.n_independent} (N_F)",
    ]
    if mobility.is_instantaneous:
        lines.append(
            f"  {'':<22}only {mobility.n_lasting} of them last: the others vanish with the smallest motion (singular "
            "configuration)"
        )
    return lines


def _with(mobility: Mobility) -> str:
    return " with the couplings" if mobility.n_couplings else ""


def _coordinates(mobility: Mobility) -> list[str]:
    lines = [f"  {'independent':<22}{_listed(mobility.independent)}"]
    if mobility.switched:
        lines.append(f"  {'':<22}switched: {mobility.switched}")
    if mobility.dependent:
        lines.append(f"  {'dependent':<22}{_listed(mobility.dependent)}")
    return lines


def _loops(mobility: Mobility) -> list[str]:
    excess = 6 * mobility.n_loops + mobility.n_couplings - mobility.rank
    if excess == 0:
        return []
    shared = ", ".join(f"{name} {rows}" for name, rows in mobility.redundant_rows.items() if rows)
    if mobility.n_loops + mobility.n_couplings == 1:
        return [f"  {'redundant rows':<22}{excess}"]
    return [
        f"  {'redundant rows':<22}{excess} in all; of one loop, implied by its other rows and loops: {shared or 'none'}"
    ]


def _decision(mobility: Mobility) -> list[str]:
    sigma = mobility.singular_values
    if not len(sigma):
        return []
    kept = sigma[mobility.rank - 1] / sigma[0] if mobility.rank else 0.0
    dropped = sigma[mobility.rank] / sigma[0] if len(sigma) > mobility.rank else 0.0
    line = (
        f"  {'rank decision':<22}smallest singular value kept {kept:.1e}, largest dropped {dropped:.1e}, border "
        f"{mobility.rank_tolerance:.0e}; loops closed to {mobility.residual:.1e}"
    )
    return [line + (": a close decision" if mobility.is_nearly_singular else "")]


def _listed(names: tuple[str, ...], most: int = 24) -> str:
    if not names:
        return "none"
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
