"""Events in plots: a line through all panels, and labels above them that do not overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varichain.scene import palette
from varichain.trace.text import event_name, event_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from varichain.trace import Trace

_ROWS = 5  # of labels
_ROW = 0.17  # [inch]
_LONGEST = 60  # letters of a label


def mark_events(figure: Figure, axes: list[Axes], trace: Trace, title: str) -> None:
    """Mark the trace's events in the panels, write what happened above them, and the title above that."""
    events = _event_texts(trace)
    for time, (_, kind) in events.items():
        for ax in axes:
            ax.axvline(time, color=_color(kind), linewidth=1.0, alpha=0.75, zorder=1.5)
    n_rows = _label(figure, axes[0], events)
    height = figure.get_figheight()
    figure.subplots_adjust(top=1.0 - (0.42 + _ROW * n_rows) / height, bottom=0.5 / height)
    figure.text(
        axes[0].get_position().x0,
        1.0 - 0.1 / height,
        title,
        va="top",
        fontsize=12,
        weight="bold",
        color=_text(),
        parse_math=False,
    )


def _event_texts(trace: Trace) -> dict[float, tuple[str, str]]:
    """What happened and of what kind it was, by time; events of one instant together."""
    found: dict[float, tuple[str, str]] = {}
    for epoch in trace.epochs:
        if epoch.event is not None and len(epoch):
            edits = epoch.event.get("edits") or []
            verbs = [f"{str(edit['kind']).split()[0]} {edit['joint']}" for edit in edits]
            kind = verbs[0].split()[0] if edits else "event"
            name = event_name(epoch.event)
            words = [name] if name else verbs or [event_text(epoch.event)]
            before, first = found.get(epoch.end, ("", kind))
            found[epoch.end] = (", ".join([before, *words] if before else words), first)
    return found


def _label(figure: Figure, ax: Axes, events: dict[float, tuple[str, str]]) -> int:
    """Write labels above the first panel, each in the lowest row where it has room; returns the number of rows."""
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    low, high = ax.get_xlim()
    inches = figure.get_figwidth() * ax.get_position().width
    right = figure.get_figwidth() * (1.0 - ax.get_position().x0) - 0.05
    ends = [-1.0] * _ROWS
    used = n_left_out = 0
    for time, (text, kind) in sorted(events.items()):
        short = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
        label = ax.text(
            time,
            1.0,
            short,
            color=_color(kind),
            fontsize=7.5,
            va="bottom",
            transform=ax.get_xaxis_transform(),
            parse_math=False,
        )
        width = label.get_window_extent(renderer).width / figure.dpi
        x = min((time - low) / (high - low) * inches, right - width)
        row = next((row for row in range(_ROWS) if ends[row] <= x), None)
        if row is None:
            label.remove()
            n_left_out += 1
            continue
        ends[row], used = x + width + 0.1, max(used, row + 1)
        label.set_position((low + x / inches * (high - low), 1.0))
        label.set_transform(ax.get_xaxis_transform() + _raised(figure, 0.04 + _ROW * row))
    if n_left_out:
        where = ax.get_xaxis_transform() + _raised(figure, 0.04 + _ROW * used)
        ax.text(low, 1.0, f"{n_left_out} more events have no label", fontsize=7.5, color=_text(), transform=where)
        used += 1
    return used


def _raised(figure: Figure, inches: float) -> Any:
    from matplotlib.transforms import ScaledTranslation

    return ScaledTranslation(0.0, inches, figure.dpi_scale_trans)


def _color(kind: str) -> str:
    colors = {"cut": palette.CUT, "uncouple": palette.CUT, "connect": palette.CONNECT, "couple": palette.CONNECT}
    return palette.hex_color(colors.get(kind, palette.EVENT))


def _text() -> str:
    return palette.hex_color(palette.TEXT)
