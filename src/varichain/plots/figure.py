"""Plots of a trace over time, with its events marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varichain.errors import InputError, MissingExtraError, UnknownNameError
from varichain.motion import TimeFunctions
from varichain.plots.events import mark_events
from varichain.plots.over_time import lines_of
from varichain.plots.panels import PANELS, USUAL, Panel, chosen_lines, most_varied
from varichain.plots.series import Series
from varichain.scene import palette
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance, listed
from varichain.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 9.0, 2.1  # [inch] of the picture, and of each panel
_HEAD = 0.9  # [inch] for the title and the events' labels
_USUAL = 0.99  # quantile of values that a panel is made for
_PEAK, _ROOM = 4.0, 1.5  # times that, from which on a peak is cut off, and what is shown
_LEFT = 0.115  # of the width, for labels


def plot(
    trace: Trace | TimeFunctions,
    what: str | Sequence[str] | None = None,
    joints: Sequence[str] | None = None,
    title: str | None = None,
) -> Figure:
    """Plot a trace over time, as a matplotlib figure: one panel below the other, with events marked in all of them.

    Save it with `figure.savefig("run.png")`; a notebook shows it by itself.

    Args:
        trace: The trace; or functions of time, such as torques of a plan, which have one panel.
        what: Panels, one or several of "energy" (kinetic, gravitational, elastic, and their sum), "freedoms" (N_J, rank
            and N_F), "closure" (how far the worst loop is open, logarithmic), "forces" (in joints that close loops),
            "contacts" (forces of surfaces on links), "joint_forces" (in joints of the tree), "angles", "displacements",
            "torques" (of actuators), "holding" (of drives and locks); of trackers
            "functions" (u, and dotted what is wanted); of particles "strain" (of links) and "sinkage" (of contacts). By
            default, the first five as far as there are any.
        joints: Names of joints whose angles, displacements and torques are wanted; by default those that vary most.
        title: Title; by default the mechanism's name.

    Raises:
        InputError: No samples, or none of what was asked for in them.
        UnknownNameError: No such panel or joint.
        MissingExtraError: The package matplotlib is not installed.
    """
    _figure_class()
    if joints is not None:
        joints = listed(joints, str, "joints")
    if title is not None:
        instance(title, str, "title")
    if isinstance(trace, TimeFunctions):
        return _plot_functions(trace, what, joints, title)
    if not isinstance(trace, Trace):
        raise InputError(f"expected a Trace, not {type(trace).__name__}; Trace.load reads one from a file")
    if not len(trace):
        raise InputError("the trace has no samples: there is nothing to plot")
    names = [what] if isinstance(what, str) else list(USUAL if what is None else listed(what, str, "what"))
    for name in names:
        if name not in PANELS:
            raise UnknownNameError("panel", name, PANELS)
    lines = {name: chosen_lines(PANELS[name], trace, joints) for name in names}
    empty = [name for name in lines if not lines[name][0]]
    if len(empty) == len(names) or (what is not None and empty):
        raise InputError(f"the trace has nothing for {', '.join(empty)}; what can be plotted: {', '.join(PANELS)}")
    shown = [name for name in names if name not in empty]
    figure, axes = _panels({PANELS[name]: lines[name] for name in shown}, trace.time)
    mark_events(figure, axes, trace, _said(trace, title))
    return figure


def _plot_functions(functions: TimeFunctions, what: Any, joints: Sequence[str] | None, title: str | None) -> Figure:
    """Functions of time in one panel; of many, those that vary most."""
    if what is not None:
        raise InputError(f"functions of time have one panel: leave out what={what!r}")
    if not len(functions):
        raise InputError("there are no functions of time to plot")
    panel = Panel("functions of time", "N m or N", lambda *_: lines_of(functions, joints))
    found = most_varied(lines_of(functions, joints), joints)
    figure, axes = _panels({panel: found}, found[0][0].time)
    axes[0].set_title("torques" if title is None else title, fontsize=10, loc="left")
    return figure


def _panels(lines: dict[Panel, tuple[list[Series], int]], times: Array) -> tuple[Figure, list[Axes]]:
    """Panels below each other over the same time."""
    figure = _figure_class()(figsize=(_WIDTH, _HEAD + _HEIGHT * len(lines)), dpi=120, facecolor="white")
    axes = list(figure.subplots(len(lines), 1, sharex=True, squeeze=False)[:, 0])
    figure.subplots_adjust(left=_LEFT, right=0.76, hspace=0.16)
    for ax, (panel, own) in zip(axes, lines.items(), strict=True):
        _draw(ax, panel, *own)
    figure.align_ylabels(axes)
    axes[-1].set_xlabel("time [s]", fontsize=9)
    axes[0].set_xlim(float(times[0]), float(times[-1]) if times[-1] > times[0] else float(times[0]) + 1.0)
    return figure, axes


def _draw(ax: Axes, panel: Panel, lines: list[Series], n_more: int) -> None:
    n_before = -1
    for k, line in enumerate(lines):
        n_before += not line.is_wanted
        color = palette.hex_color(palette.SERIES[n_before % len(palette.SERIES)])
        is_sum = line.name == "sum"
        style: dict[str, Any] = (
            {"color": palette.hex_color(palette.TEXT), "linestyle": "--"} if is_sum else {"color": color}
        )
        if line.is_wanted:
            style = {"color": palette.hex_color(palette.TEXT), "linestyle": ":", "zorder": 3}
        width = (
            1.1 if is_sum or len(lines) == 1 else 3.2 - 2.0 * k / (len(lines) - 1)
        )  # one behind another is seen on both sides
        ax.plot(line.time, line.value, label=line.name, linewidth=width, **style)
    if panel.is_log:
        ax.set_yscale("log")
    if panel.is_step:
        from matplotlib.ticker import MaxNLocator

        ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        ax.set_ylim(bottom=0.0)
        ax.margins(y=0.12)
    if not panel.is_log and not panel.is_step:
        _clip(ax, panel, lines)
    ax.set_ylabel(f"{panel.title}\n[{panel.unit}]", fontsize=9)
    ax.tick_params(labelsize=8)
    ax.grid(True, color=palette.hex_color(palette.GRID), linewidth=0.5, alpha=0.7)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    note = {"title": f"{n_more} more vary less"} if n_more else {}
    legend = ax.legend(
        loc="upper left",
        bbox_to_anchor=(1.01, 1.02),
        frameon=False,
        fontsize=8,
        title_fontsize=7,
        borderaxespad=0,
        **note,
    )
    legend.set_in_layout(False)
    for text in legend.get_texts():
        text.set_parse_math(False)  # names may have dollars in them


def _clip(ax: Axes, panel: Panel, lines: list[Series]) -> None:
    """Let a short peak leave the panel, so that the rest can be read, and write into the panel what it was."""
    values = np.concatenate([line.value for line in lines])
    usual = float(np.nanquantile(np.abs(values), _USUAL)) if np.isfinite(values).any() else 0.0
    most = float(np.nanmax(np.abs(values), initial=0.0))
    if not 0.0 < _PEAK * usual < most:
        return
    border = _ROOM * usual
    low, high = max(float(np.nanmin(values)), -border), min(float(np.nanmax(values)), border)
    ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    peak = max(lines, key=lambda line: float(np.nanmax(np.abs(line.value), initial=0.0)))
    k = int(np.nanargmax(np.abs(peak.value)))
    shown, largest = (float(f"{number:.3g}") for number in (border, peak.value[k]))
    said = f"cut off at {shown:g} {panel.unit}; the peak is {largest:g} {panel.unit}, at {peak.time[k]:.4g} s"
    style: dict[str, Any] = {"fontsize": 7, "color": palette.hex_color(palette.TEXT), "style": "italic"}
    ax.text(0.01, 0.97, said, transform=ax.transAxes, va="top", parse_math=False, **style)


def _said(trace: Trace, title: str | None) -> str:
    if title is not None:
        return title
    name = str(trace.epochs[0].description["name"])
    return f"{name} (part of the trace is lost)" if trace.damage else name


def _figure_class() -> Any:
    """A matplotlib figure that notebooks show without pyplot; made here, where matplotlib is imported first."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("plots need the package matplotlib: pip install 'varichain[plot]'") from None

    class Plot(Figure):
        """Figure of a trace."""

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            FigureCanvasAgg(self)  # measures texts

        def _repr_png_(self) -> bytes:
            import io

            buffer = io.BytesIO()
            self.savefig(buffer, format="png")
            return buffer.getvalue()

    return Plot
