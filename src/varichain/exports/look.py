"""How pictures, films and pages look: camera, colours, what is written and marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from math import pi
from typing import Any

from varichain.errors import InputError, UnknownNameError
from varichain.mechanism.shapes import Sphere
from varichain.scene import Part, Scene, Surface, palette
from varichain.scene.palette import RGBA
from varichain.spatial.checks import finite_numbers, flag, instance, positive_scalar

CAMERAS = {
    "corner": (-1.05, 0.16),
    "front": (0.0, 0.08),
    "back": (pi, 0.08),
    "left": (0.5 * pi, 0.08),
    "right": (-0.5 * pi, 0.08),
    "top": (-0.5 * pi, 0.5 * pi),
}
"""Turn about z and lift above the horizon [rad] of cameras by name; figures look along x."""


@dataclass(frozen=True)
class Look:
    """How a picture, a film or a page looks.

    Attributes:
        camera: A name of `CAMERAS`, or turn about z and lift above the horizon [rad].
        zoom: How much larger everything is than what just fits.
        background: Colour behind all, three numbers from 0 to 1 or "#rrggbb".
        colors: Colours of links by name, instead of their own and of those that tell loops.
        labels: Whether the names of links are written on them.
        forces: Whether arrows show the forces of loops and contacts.
        cones: Whether contacts have friction cones, each at its point, with the force of that point.
        joints: Whether joints and loops are marked.
        ground: Whether there is a ground with lines.
        title: Whether name, time and events are written on the picture.
    """

    camera: Any = "corner"
    zoom: float = 1.0
    background: Any = palette.BACKGROUND
    colors: Mapping[str, Any] = field(default_factory=dict)
    labels: bool = False
    forces: bool = True
    joints: bool = True
    ground: bool = True
    title: bool = True
    cones: bool = False

    def __post_init__(self) -> None:
        """Check all of it; colours become four numbers."""
        if isinstance(self.camera, str) and self.camera not in CAMERAS:
            raise UnknownNameError("camera", self.camera, CAMERAS)
        positive_scalar(self.zoom, "zoom")
        object.__setattr__(self, "background", _color(self.background))
        colors = instance(self.colors, Mapping, "colors")
        object.__setattr__(self, "colors", {name: _color(color) for name, color in colors.items()})
        for choice in ("labels", "forces", "joints", "ground", "title", "cones"):
            flag(getattr(self, choice), choice)
        _ = self.view

    @property
    def view(self) -> tuple[float, float]:
        """Turn about z and lift of the camera [rad]."""
        if isinstance(self.camera, str):
            return CAMERAS[self.camera]
        turn, lift = finite_numbers(self.camera, 2, "camera")
        return turn, lift

    @property
    def text(self) -> RGBA:
        """Colour of letters that can be read on the background."""
        return palette.TEXT if sum(self.background[:3]) > 1.5 else palette.BACKGROUND

    def color(self, scene: Scene, part: str, surface: Surface) -> RGBA:
        """Colour of a part's surface in a structure."""
        found: RGBA = self.colors[part] if part in self.colors else scene.color(part, surface)
        return found

    def check(self, parts: Iterable[Part]) -> None:
        """Refuse colours of links that there are not."""
        known = [part.name for part in parts]
        for name in self.colors:
            if name not in known:
                raise UnknownNameError("drawn link", name, known)


def look_from(options: Mapping[str, Any]) -> Look:
    """The look that keyword arguments describe.

    Raises:
        InputError: There is no such option.
    """
    known = [item.name for item in fields(Look)]
    for name in options:
        if name not in known:
            raise InputError(f"pictures have no option {name!r}; options: {', '.join(known)}")
    return Look(**options)


def _color(color: Any) -> RGBA:
    red, green, blue, alpha = (*(Sphere(1.0, color=color).color or palette.LINK), 1.0)[:4]
    return red, green, blue, alpha
