"""Texts of the side panel, as HTML; names come from files, so everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from varichain.scene import palette
from varichain.scene.palette import hex_color
from varichain.spatial.report import numbers
from varichain.viewer import words
from varichain.viewer.source import Counts, Frame, Report

_SHORTEST = 1.0  # [s] of a timeline
_BOX = "margin:0.25em 0.9em;font-size:0.82em;line-height:1.35"
_PRE = "margin:0.4em 0;overflow-x:auto;white-space:pre;font-family:monospace;font-size:0.92em;max-height:15em"


def numbers_html(counts: Counts | None, before: Counts | None = None) -> str:
    """The mobility numbers as a small table; those that have changed, with what they were."""
    heads, cells = ("N<sub>J</sub> joint freedoms", "rank of the loops", "N<sub>F</sub> degrees of freedom"), []
    hints = (words.N_J, words.RANK, words.N_F)
    for i, key in enumerate(("n_all", "rank", "n_independent")):
        text = "?" if counts is None else str(counts[i])
        if counts is not None and before is not None and before[i] != counts[i]:
            text = f"{before[i]} &rarr; {text}"
        cells.append(f'<td id="{key}" style="font-size:1.5em;padding:0 0.6em 0 0"><b>{text}</b></td>')
    labels = "".join(
        f'<td title="{hint}" style="padding:0 0.6em 0 0;opacity:0.75;cursor:help">{head}</td>'
        for head, hint in zip(heads, hints, strict=True)
    )
    return f"<table><tr>{''.join(cells)}</tr><tr>{labels}</tr></table>"


def structure_html(counts: Counts | None, drawing: str, log: Sequence[str], notes: Sequence[str] = ()) -> str:
    """Mobility numbers, tree and log; `notes` say what could not be drawn."""
    left_out = "\n".join(escape(note) for note in notes)
    missing = (
        f'<div style="opacity:0.75">Not drawn</div><pre id="notes" style="{_PRE}">{left_out}</pre>' if notes else ""
    )
    lines = "\n".join(escape(line) for line in log) or "(no structure changes)"
    return (
        f'<div style="{_BOX}">{numbers_html(counts)}<pre id="tree" style="{_PRE}">{escape(drawing)}</pre>'
        f'<div style="opacity:0.75">Structure log</div><pre id="log" style="{_PRE}">{lines}</pre>{missing}</div>'
    )


def clock_html(time: float, lines: Iterable[str], warning: str = "", note: str = "") -> str:
    """The time, large, and lines below it; a warning in the colour of cuts, a note in bold."""
    below = "".join(f"<div>{escape(line)}</div>" for line in lines)
    below += f"<div><b>{escape(note)}</b></div>" if note else ""
    alert = f'<div style="color:{hex_color(palette.CUT)}">{escape(warning)}</div>' if warning else ""
    return f'<div style="{_BOX}"><b id="time" style="font-size:1.5em">{time:.3f} s</b>{below}{alert}</div>'


def frame_html(frame: Frame) -> str:
    """Time, pace and energy of a run."""
    if frame.is_paused:
        pace = "paused"
    else:
        pace = f"{frame.rate:.2f} x real time"
        if frame.rate < 0.95 * frame.speed:
            pace += f", {frame.speed:g} x asked for"
    kinetic, gravity, springs = frame.energy
    largest = max(map(abs, frame.energy))
    parts = {"kinetic": kinetic, "potential": gravity + springs, "sum": kinetic + gravity + springs}
    energy = ", ".join(f"{name} {numbers(value, largest)} J" for name, value in parts.items())
    is_fault = any(report.error == frame.message for report in frame.reports[-1:])
    message = {"warning" if is_fault else "note": frame.message}
    return clock_html(frame.time, [pace, f"energy: {energy}"], **message)


def timeline_html(time: float, first: float, last: float, reports: Sequence[Report]) -> str:
    """A bar from the first to the last time [s], filled up to now, with a mark at each change; the mouse shows what."""
    whole = max(last - first, time - first, _SHORTEST)
    marks = []
    for report in reports:
        if report.error is None and report.before is not None and first <= report.time <= time:
            text = escape(f"{report.time:.3f} s: {report.what}")
            left = 100.0 * (report.time - first) / whole
            style = f"left:{left:.2f}%;width:3px;background:{hex_color(palette.CUT)}"
            marks.append(f'<i class="change" title="{text}" style="position:absolute;top:0;bottom:0;{style}"></i>')
    done = f"width:{100.0 * (time - first) / whole:.2f}%;background:{hex_color(palette.LINK)}"
    return (
        f'<div id="timeline" style="{_BOX}"><div style="position:relative;height:0.9em;background:'
        f'{hex_color(palette.GROUND)}"><div style="position:absolute;top:0;bottom:0;{done}"></div>'
        f"{''.join(marks)}</div>"
        f'<div style="display:flex;justify-content:space-between;opacity:0.75"><span>{first:g} s</span>'
        f"<span>{first + whole:.4g} s</span></div></div>"
    )


def reports_html(reports: Sequence[Report], most: int = 4) -> str:
    """What the latest commands and events did, newest first."""
    entries = "".join(_report_html(report) for report in reversed(reports[-most:]))
    return f'<div id="reports" style="{_BOX};max-height:16em;overflow-y:auto">{entries or "nothing yet"}</div>'


def _report_html(report: Report) -> str:
    lines = [f"<b>{report.time:.3f} s</b> {escape(report.what)}"]
    if report.error is not None:
        lines.append(f'<span style="color:{hex_color(palette.CUT)}">not done: {escape(report.error)}</span>')
    lines += [escape(entry) for entry in report.entries]
    if report.before is not None and report.after is not None:
        names = ("N<sub>J</sub>", "rank", "N<sub>F</sub>")
        pairs = zip(names, report.before, report.after, strict=True)
        lines.append(", ".join(f"{name} {was} &rarr; {now}" for name, was, now in pairs))
    if report.impulse:
        lines.append(f"impulse {report.impulse:.4g} N s")
    if report.before is not None and report.error is None:
        lines.append(f"energy lost {report.energy_lost:.4g} J")
    return f'<div class="report" style="margin-bottom:0.5em">{"<br/>".join(lines)}</div>'
