"""A trace in a notebook: its structure over time as a small picture, and its epochs as a table."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from varichain.spatial.notebook import html_table
from varichain.trace.text import count, event_text

if TYPE_CHECKING:
    from varichain.trace.epoch import Epoch
    from varichain.trace.trace import Trace

_WIDTH, _HEIGHT, _BAR = 640, 54, 18  # [pixels]
_MOST_DRAWN = 500  # epochs


def trace_html(trace: Trace) -> str:
    """Picture and table."""
    name = f" of {trace.epochs[0].description['name']}" if trace.epochs else ""
    ended = trace.outcome + (f" ({trace.message})" if trace.message else "")
    title = f"Trace{name}: {count(len(trace), 'sample')} in {count(len(trace.epochs), 'epoch')}, {ended}"
    head = ("epoch", "from [s]", "to [s]", "samples", "freedoms", "loops", "ended by")
    table = html_table(title, head, [_row(epoch) for epoch in trace.epochs])
    damage = f"<p>damaged: {escape(trace.damage)}</p>" if trace.damage else ""
    return f"<div>{_picture(trace)}{table}{damage}</div>"


def _row(epoch: Epoch) -> tuple[str, ...]:
    span = (f"{epoch.start:.6g}", f"{epoch.end:.6g}") if len(epoch) else ("", "")
    slots = epoch.slots
    counts = (str(len(epoch)), str(slots.n_v), ", ".join(slots.loops) or "none")
    return str(epoch.index), *span, *counts, event_text(epoch.event)


def _picture(trace: Trace) -> str:
    """Epochs as bars on a line of time, the darker the more loops are closed; events as lines that tell themselves."""
    epochs = [epoch for epoch in trace.epochs if len(epoch)][:_MOST_DRAWN]
    if not epochs or not epochs[-1].end > epochs[0].start:
        return ""
    start, scale = epochs[0].start, _WIDTH / (epochs[-1].end - epochs[0].start)
    most = max(max(len(epoch.slots.loops) for epoch in epochs), 1)
    parts = []
    for epoch in epochs:
        x, width = (epoch.start - start) * scale, (epoch.end - epoch.start) * scale
        shade = 0.08 + 0.3 * len(epoch.slots.loops) / most
        label = count(len(epoch.slots.loops), "loop")
        note = f"<title>{epoch.start:g} to {epoch.end:g} s: {escape(', '.join(epoch.slots.loops) or 'no loop')}</title>"
        bar = f'x="{x:.1f}" y="8" width="{width:.1f}" height="{_BAR}" fill="currentColor" fill-opacity="{shade:.2f}"'
        parts.append(f"<rect {bar}>{note}</rect>")
        if width > 60:
            parts.append(f'<text x="{x + 4:.1f}" y="21" font-size="11" fill="currentColor">{label}</text>')
        if epoch.event is not None:
            end = x + width
            line = f'x1="{end:.1f}" x2="{end:.1f}" y1="2" y2="32" stroke="currentColor" stroke-width="2"'
            parts.append(f"<line {line}><title>{escape(event_text(epoch.event))}</title></line>")
    ends = ((0, "start", epochs[0].start), (_WIDTH, "end", epochs[-1].end))
    for x, anchor, time in ends:
        where = f'x="{x}" y="46" font-size="11" text-anchor="{anchor}" fill="currentColor"'
        parts.append(f"<text {where}>{time:.6g} s</text>")
    box = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(parts)}</svg>'
