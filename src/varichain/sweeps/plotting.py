"""Sweeps as pictures: measures over a parameter, points for trials, lines for means [LS, Fig. 6-9]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varichain.errors import InputError, MissingExtraError
from varichain.exo.minimum import minimum

if TYPE_CHECKING:
    from varichain.sweeps.result import Sweep

_MOST_PANELS = 6
_DEFAULT = ("moment", "flexor", "extensor")  # as in the paper, where a sweep has them


def plot_sweep(
    sweep: Sweep,
    measures: Sequence[str] | None = None,
    by: str | None = None,
    columns: str | None = None,
    baseline: Sweep | None = None,
) -> Any:
    """A matplotlib Figure: a row for each measure, a column for each value of another parameter.

    Args:
        sweep: The sweep.
        measures: Results to draw; moment, flexor and extensor if it has them, else the first three.
        by: Parameter along the horizontal axis; the first that has several numbers by default.
        columns: Parameter of the columns; the next that has several values by default.
        baseline: Another sweep over the same parameter, drawn as a shaded line.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: pip install 'varichain[plot]'") from error
    varied = [name for name, values in sweep.plan.grid.items() if len(values) > 1]
    numeric = [name for name in varied if all(isinstance(x, int | float) for x in sweep.plan.grid[name])]
    if not numeric and by is None:
        raise InputError("no parameter of the sweep has several numbers: there is nothing to draw over")
    by = numeric[0] if by is None else by
    sweep.column(by)
    others = [name for name in varied if name != by]
    columns = (others or [None])[0] if columns is None else columns  # type: ignore[list-item]
    cases = [None] if columns is None else list(dict.fromkeys(sweep.column(columns)))
    shown = list(measures) if measures else _chosen(sweep)
    width, height = 3.2 * len(cases) + 1.0, 2.0 * len(shown) + 0.8
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(len(shown), len(cases), squeeze=False, sharex=True, sharey="row")
    for j, case in enumerate(cases):
        where = {} if columns is None else {columns: case}
        lowest = _lowest(sweep, shown[0], by, where)
        for i, measure in enumerate(shown):
            _panel(axes[i][j], sweep, measure, by, where, baseline)
            if lowest is not None:
                axes[i][j].axvline(lowest, color="0.3", linewidth=0.8, linestyle="--")
            if j == 0:
                axes[i][j].set_ylabel(measure)
        if columns is not None:
            axes[0][j].set_title(f"{columns} {case}")
        axes[-1][j].set_xlabel(by)
    return figure


def _chosen(sweep: Sweep) -> list[str]:
    names = sweep._measures()
    return [name for name in _DEFAULT if name in names] or names[:3] or _none()


def _none() -> list[str]:
    raise InputError("the sweep has no results to draw")


def _lowest(sweep: Sweep, measure: str, by: str, where: dict[str, Any]) -> float | None:
    """Where a fit of the measure is least; None if it cannot be fitted, or is least at an end."""
    levels, values = sweep.values(measure, by, **where)
    try:
        at = minimum(levels, values).at
    except InputError:
        return None
    return at if min(levels) < at < max(levels) else None


def _panel(axis: Any, sweep: Sweep, measure: str, by: str, where: dict[str, Any], baseline: Sweep | None) -> None:
    levels, values = sweep.values(measure, by, **where)
    if baseline is not None:
        earlier = baseline.mean(measure, by, **where)
        axis.plot(list(earlier), list(earlier.values()), color="0.8", linewidth=5.0, zorder=1)
    axis.plot(np.repeat(levels, values.shape[1]), values.ravel(), ".", color="0.5", markersize=2.5, zorder=2)
    means = sweep.mean(measure, by, **where)
    axis.plot(list(means), list(means.values()), color="C0", linewidth=1.4, zorder=3)
    axis.spines[["top", "right"]].set_visible(False)
