"""Friction cones: the force of a contact that sticks is inside of its cone, that of one that slips on its edge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from varichain.scene import palette
from varichain.scene.contacts import Spots
from varichain.scene.palette import RGBA
from varichain.scene.triangles import Triangles, turned_profile
from varichain.spatial.arrays import Array
from varichain.spatial.rotation import matrix_with_z_along

_ROOM = 1.1  # height of a cone, in lengths of its force's arrow along the normal
_LEAST = 3.0  # height of a cone whose force is small, in marks
_NOWHERE = np.zeros((0, 0, 3))
NO_SPOTS = Spots((), _NOWHERE, _NOWHERE, _NOWHERE, np.zeros((0, 0), dtype=bool), np.zeros(0))
"""No points."""


class Cones(NamedTuple):
    """Cones of c points in n frames.

    Attributes:
        normals: Their axes, out of the surfaces (n, c, 3).
        slips: Which points slip (n, c).
        friction: Tangents of half their angles (c,).
    """

    normals: Array
    slips: NDArray[np.bool_]
    friction: Array


def united_spots(names: Sequence[str], lengths: Sequence[int], spots: Sequence[Spots]) -> Cones:
    """Cones of points by name, from those of each epoch and the numbers of its frames; a point keeps its friction."""
    shape = (sum(lengths), len(names))
    normals, slips, friction = np.zeros((*shape, 3)), np.zeros(shape, dtype=bool), np.zeros(len(names))
    row = 0
    for n, of in zip(lengths, spots, strict=True):
        for k, name in enumerate(of.names):
            column = names.index(name)
            normals[row : row + n, column], slips[row : row + n, column] = of.normals[:, k], of.slips[:, k]
            friction[column] = of.friction[k]
        row += n
    return Cones(normals, slips, friction)


def cone_axes(force: Array, normal: Array, friction: float, scale: float, mark: float) -> Array:
    """Matrix (3, 3) that makes the unit cone of `cone_triangles` the cone around a force (3,) [N].

    It is as high as the arrow of the force, of `scale` metres per newton, reaches along the normal, and some more.
    """
    height = max(_ROOM * scale * float(force @ normal), _LEAST * mark)
    found: Array = matrix_with_z_along(normal) * [friction * height, friction * height, height]
    return found


def cone_color(slips: bool) -> RGBA:
    """Colour of a cone."""
    return palette.SLIPS if slips else palette.STICKS


def cone_triangles() -> Triangles:
    """A cone without a lid: its tip at the origin, its edge at z = 1 with the radius one."""
    half = 0.5**0.5
    return turned_profile(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([half, half]), np.array([-half, -half]))
