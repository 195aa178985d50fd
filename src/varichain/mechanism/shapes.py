"""Shapes of links, for drawing: sizes in metres, the long axis along z, centred at `at` in the link's frame."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import Any, Self

from varichain.errors import InputError, quoted
from varichain.spatial.checks import finite_numbers, listed, non_negative_scalar, positive_scalar
from varichain.spatial.frozen import Frozen
from varichain.spatial.pose import Pose

Color = Any  # takes None, 3 or 4 numbers from 0 to 1, or "#rrggbb"; holds None or (red, green, blue, alpha)
Path = Any  # takes a str or a path; holds a str
Placement = Any  # takes a Pose or a position; holds a Pose
Size = Any  # takes three numbers; holds a tuple of 3 floats

_CENTRED = Pose()
_HEX_COLOR = re.compile(r"#[0-9a-fA-F]{6}")


class Shape(Frozen):
    """Base of all shapes: `at` (Pose of the shape in the link's frame) and `color`."""

    at: Placement
    color: Color

    def moved(self, pose: Pose) -> Self:
        """The same shape seen from frame A, for X_AB = `pose` and this shape given in frame B."""
        return replace(self, at=pose @ self.at)  # type: ignore[type-var]

    def _set_common(self) -> None:
        self._set("at", Pose.coerce(self.at, "at"))
        self._set("color", None if self.color is None else rgba(self.color))


@dataclass(frozen=True)
class Capsule(Shape):
    """Cylinder of `radius` and `length` [m] between two half balls; `length` is of the cylindrical part."""

    radius: float
    length: float
    at: Placement = _CENTRED
    color: Color = None

    def __post_init__(self) -> None:
        """Check the sizes."""
        self._set("radius", positive_scalar(self.radius, "radius"))
        self._set("length", non_negative_scalar(self.length, "length"))
        self._set_common()


@dataclass(frozen=True)
class Box(Shape):
    """Box with full edge lengths `size` (x, y, z) [m]."""

    size: Size
    at: Placement = _CENTRED
    color: Color = None

    def __post_init__(self) -> None:
        """Check the sizes."""
        self._set("size", _positive_triple(self.size, "size"))
        self._set_common()


@dataclass(frozen=True)
class Sphere(Shape):
    """Ball of `radius` [m]."""

    radius: float
    at: Placement = _CENTRED
    color: Color = None

    def __post_init__(self) -> None:
        """Check the sizes."""
        self._set("radius", positive_scalar(self.radius, "radius"))
        self._set_common()


@dataclass(frozen=True)
class Cylinder(Shape):
    """Cylinder of `radius` and `length` [m]."""

    radius: float
    length: float
    at: Placement = _CENTRED
    color: Color = None

    def __post_init__(self) -> None:
        """Check the sizes."""
        self._set("radius", positive_scalar(self.radius, "radius"))
        self._set("length", positive_scalar(self.length, "length"))
        self._set_common()


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """Ellipsoid with half axes `radii` (x, y, z) [m]."""

    radii: Size
    at: Placement = _CENTRED
    color: Color = None

    def __post_init__(self) -> None:
        """Check the sizes."""
        self._set("radii", _positive_triple(self.radii, "radii"))
        self._set_common()


@dataclass(frozen=True)
class Mesh(Shape):
    """Triangles in the file `path`, stretched by `scale` (a number or three; negative mirrors).

    `folders` are those that the file is opened from, None for all: a loaded trace, which may name any file of this
    machine, has those that `Trace.load` was given.
    """

    path: Path
    scale: Any = 1.0
    at: Placement = _CENTRED
    color: Color = None
    folders: Any = field(default=None, repr=False)  # takes None or names; holds None or a tuple of names

    def __post_init__(self) -> None:
        """Check path, scale and folders; whether the file exists is the viewer's business."""
        if not isinstance(self.path, (str, os.PathLike)) or not os.fspath(self.path):
            raise InputError(f"path of a mesh must be a file name, not {quoted(self.path)}")
        scale = self.scale if isinstance(self.scale, (tuple, list)) else [self.scale] * 3
        scale = finite_numbers(scale, 3, "scale")
        if 0.0 in scale:
            raise InputError(f"scale must not be zero, found {scale}")
        self._set("path", os.fspath(self.path))
        self._set("scale", scale)
        if self.folders is not None:
            self._set("folders", tuple(listed(self.folders, str, "folders of a mesh")))
        self._set_common()

    def refusal(self) -> str:
        """Why the file is not opened; empty if it is."""
        try:
            real = os.path.realpath(self.path)
            if self.folders is not None and not any(_is_within(real, folder) for folder in self.folders):
                return "its folder is not among those that are allowed (Trace.load(..., meshes=[folder]), --meshes)"
            return "" if os.path.isfile(real) else "there is no such file"
        except (OSError, ValueError) as error:  # a name with a NUL character, too long, or on another drive
            return str(error)


def _is_within(real: str, folder: str) -> bool:
    inside = os.path.realpath(folder)
    return os.path.commonpath((real, inside)) == inside


def _positive_triple(value: Any, what: str) -> tuple[float, ...]:
    return tuple(positive_scalar(number, f"{what}[{i}]") for i, number in enumerate(finite_numbers(value, 3, what)))


def rgba(color: Any) -> tuple[float, ...]:
    """(red, green, blue, alpha), each from 0 to 1."""
    if isinstance(color, str) and _HEX_COLOR.fullmatch(color):
        return (*(int(color[i : i + 2], 16) / 255.0 for i in (1, 3, 5)), 1.0)
    if not isinstance(color, (tuple, list)) or len(color) not in (3, 4):
        raise InputError(f"color must be 3 or 4 numbers from 0 to 1 or '#rrggbb', not {quoted(color)}")
    numbers = finite_numbers(color, len(color), "color")
    if not all(0.0 <= number <= 1.0 for number in numbers):
        raise InputError(f"color must be 3 or 4 numbers from 0 to 1 or '#rrggbb', not {quoted(color)}")
    return numbers if len(numbers) == 4 else (*numbers, 1.0)
