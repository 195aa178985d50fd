"""Options of pictures, shared by `varichain draw` and `varichain export`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from varichain.cli.failures import UsageError, usage
from varichain.errors import quoted

_OPTIONS = (
    click.option(
        "--camera",
        metavar="NAME|TURN,LIFT",
        help="corner, front, back, left, right, top; or turn about the vertical and height above the horizon [deg].",
    ),
    click.option("--zoom", metavar="NUMBER", type=float, help="How much larger than what just fits."),
    click.option("--background", metavar="#RRGGBB", help="Colour behind everything."),
    click.option("--color", "colors", metavar="LINK=#RRGGBB", multiple=True, help="Colour of a link; may be repeated."),
    click.option("--labels/--no-labels", default=None, help="Names of links."),
    click.option("--forces/--no-forces", default=None, help="Arrows of forces."),
    click.option("--cones/--no-cones", default=None, help="Friction cones of contacts."),
    click.option("--joints/--no-joints", default=None, help="Marks of joints and supports."),
    click.option("--ground/--no-ground", default=None, help="The ground."),
    click.option("--title/--no-title", default=None, help="Name, time and events."),
)


def look_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how pictures look; `checked_look` takes their values."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def checked_look(
    camera: str | None,
    zoom: float | None,
    background: str | None,
    colors: tuple[str, ...],
    **flags: bool | None,
) -> dict[str, Any]:
    """Options that were given, checked.

    Raises:
        UsageError: No such camera or colour.
    """
    from varichain.exports.look import Look

    named = dict(map(_colored, colors)) or None
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
