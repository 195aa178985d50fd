"""Panels: what can be plotted, with titles and units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from varichain.plots import series
from varichain.plots.series import Series

if TYPE_CHECKING:
    from varichain.trace import Trace

_MOST_LINES = 8


@dataclass(frozen=True)
class Panel:
    """One kind of plot.

    Attributes:
        title: What it shows.
        unit: Label of its vertical axis.
        lines: Its lines, given the trace and the names of joints or None.
        is_log: Whether the vertical axis is logarithmic.
        is_step: Whether values are whole numbers that jump.
    """

    title: str
    unit: str
    lines: Callable[[Trace, Sequence[str] | None], list[Series]]
    is_log: bool = False
    is_step: bool = False


PANELS: dict[str, Panel] = {
    "energy": Panel("energy", "J", lambda trace, _: series.energies(trace)),
    "freedoms": Panel("freedoms", "number", lambda trace, _: series.freedoms(trace), is_step=True),
    "closure": Panel("closure error", "m or rad", lambda trace, _: series.closure_errors(trace), is_log=True),
    "forces": Panel("loop forces", "N", lambda trace, _: series.loop_forces(trace)),
    "contacts": Panel("contact forces", "N", lambda trace, _: _busy(series.contact_forces(trace))),
    "joint_forces": Panel("joint forces", "N", series.joint_forces),
    "angles": Panel("joint angles", "deg", lambda trace, joints: series.joint_lines(trace, joints, series.angles)),
    "displacements": Panel(
        "displacements", "m", lambda trace, joints: series.joint_lines(trace, joints, series.displacements)
    ),
    "torques": Panel(
        "actuators", "N m or N", lambda trace, joints: _busy(series.joint_lines(trace, joints, series.torques))
    ),
    "holding": Panel(
        "locks and drives", "N m or N", lambda trace, joints: _busy(series.joint_lines(trace, joints, series.holding))
    ),
    "functions": Panel("functions", "m, rad or 1", lambda trace, _: series.functions(trace)),
    "strain": Panel("strain of links", "1", lambda trace, _: series.labelled(trace, "strain")),
    "sinkage": Panel("sinkage", "m", lambda trace, _: series.labelled(trace, "sinkage")),
}
USUAL = ("energy", "freedoms", "closure", "forces", "contacts")


def chosen_lines(panel: Panel, trace: Trace, joints: Sequence[str] | None) -> tuple[list[Series], int]:
    """Lines of a panel, and how many more there were: if nobody named joints, those that vary most are shown."""
    return most_varied(panel.lines(trace, joints), joints)


def most_varied(lines: list[Series], joints: Sequence[str] | None) -> tuple[list[Series], int]:
    """Lines of the joints that are named, or those that vary most, and how many more there were."""
    if joints is not None or len(lines) <= _MOST_LINES:
        return lines, 0
    own = [line for line in lines if not line.is_wanted]
    most = sorted(own, key=lambda line: -line.span)[: _MOST_LINES if len(own) == len(lines) else _MOST_LINES // 2]
    names = {line.name for line in most} | {f"{line.name} wanted" for line in most}
    return [line for line in lines if line.name in names], len(own) - len(most)


def _busy(lines: list[Series]) -> list[Series]:
    """Lines that are not zero all the time."""
    return [line for line in lines if np.nanmax(np.abs(line.value)) > 0.0]
