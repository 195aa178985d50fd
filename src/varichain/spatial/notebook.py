"""Small pieces of HTML for notebooks: everything escaped, nothing that needs a script or a style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_MOST_LINES = 200
_MOST_ROWS = 60


def html_text(text: str) -> str:
    """Text as it is, in letters of one width; a very long one is cut, with the number of lines left out."""
    lines = text.splitlines()
    more = [f"... {len(lines) - _MOST_LINES} lines more ..."] if len(lines) > _MOST_LINES else []
    shown = "\n".join([*lines[:_MOST_LINES], *more])
    return f'<pre style="line-height: 1.25; font-family: monospace">{escape(shown)}</pre>'


def html_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; a very long one is cut, with the number of rows left out."""
    lines = ["<table>", f'<caption style="text-align: left"><b>{escape(caption)}</b></caption>']
    if any(head):
        lines.append("<tr>" + "".join(f'<th style="text-align: left">{escape(name)}</th>' for name in head) + "</tr>")
    for row in rows[:_MOST_ROWS]:
        lines.append("<tr>" + "".join(f'<td style="text-align: left">{escape(cell)}</td>' for cell in row) + "</tr>")
    if len(rows) > _MOST_ROWS:
        lines.append(f'<tr><td colspan="{len(head)}">... {len(rows) - _MOST_ROWS} more ...</td></tr>')
    return "".join([*lines, "</table>"])
