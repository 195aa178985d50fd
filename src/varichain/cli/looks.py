"""Options of pictures, shared by `varichain draw` and `varichain export`."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from varichain.cli.failures import UsageError, usage
from varichain.errors import quoted

_PANEL = "How it looks"

Camera = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|TURN,LIFT",
        help="corner, front, back, left, right, top; or turn about the vertical and height above the horizon \\[deg].",
        rich_help_panel=_PANEL,
    ),
]
Zoom = Annotated[
    float | None,
    typer.Option(metavar="NUMBER", help="How much larger than what just fits.", rich_help_panel=_PANEL),
]
Background = Annotated[
    str | None, typer.Option(metavar="#RRGGBB", help="Colour behind everything.", rich_help_panel=_PANEL)
]
Colors = Annotated[
    list[str] | None,
    typer.Option("--color", metavar="LINK=#RRGGBB", help="Colour of a link; may be repeated.", rich_help_panel=_PANEL),
]
Labels = Annotated[bool | None, typer.Option("--labels/--no-labels", help="Names of links.", rich_help_panel=_PANEL)]
Forces = Annotated[bool | None, typer.Option("--forces/--no-forces", help="Arrows of forces.", rich_help_panel=_PANEL)]
Joints = Annotated[
    bool | None, typer.Option("--joints/--no-joints", help="Marks of joints and supports.", rich_help_panel=_PANEL)
]
Ground = Annotated[bool | None, typer.Option("--ground/--no-ground", help="The ground.", rich_help_panel=_PANEL)]
Title = Annotated[
    bool | None, typer.Option("--title/--no-title", help="Name, time and events.", rich_help_panel=_PANEL)
]


def look_options(
    camera: str | None,
    zoom: float | None,
    background: str | None,
    colors: list[str] | None,
    **flags: bool | None,
) -> dict[str, Any]:
    """Options that were given, checked.

    Raises:
        UsageError: No such camera or colour.
    """
    from varichain.exports.look import Look

    named = None if colors is None else dict(map(_colored, colors))
    where = None if camera is None else _camera(camera)
    given = {"camera": where, "zoom": zoom, "background": background, "colors": named, **flags}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with usage():
        Look(**options)
    return options


def picture_size(text: str) -> tuple[int, int]:
    """Width and height from a text such as "1280x720".

    Raises:
        UsageError: Another text.
    """
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdecimal() and len(part) <= 9 for part in parts):
        raise UsageError(f"--size must be width and height in pixels, such as 1280x720, not {quoted(text)}")
    return int(parts[0]), int(parts[1])


def _camera(text: str) -> str | tuple[float, ...]:
    turns = text.split(",")
    try:
        return text if len(turns) != 2 else tuple(math.radians(float(turn)) for turn in turns)
    except ValueError:
        raise UsageError(f"--camera must be a name, or two angles such as 30,10 [deg], not {quoted(text)}") from None


def _colored(text: str) -> tuple[str, str]:
    link, sign, color = text.rpartition("=")
    if not sign or not link:
        raise UsageError(f"--color must be a link and a colour, such as 'left hand=#ff8800', not {quoted(text)}")
    return link, color
