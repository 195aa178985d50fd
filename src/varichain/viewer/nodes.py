"""Nodes of viser's scene: their names, and surfaces as nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.scene.palette import RGBA, bytes_of
from varichain.scene.triangles import Triangles
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import quaternion_from_matrix

_ORIGIN = Pose()

WORLD = "/world"
"""Path of the node that everything hangs on."""


def node_of(link: str) -> str:
    """Path of a link's node; names may contain anything, also the character that separates the parts of a path."""
    return f"{WORLD}/links/" + link.replace("%", "%25").replace("/", "%2F")


def add_mesh(
    scene: Any,
    path: str,
    triangles: Triangles,
    color: RGBA,
    opacity: float = 1.0,
    at: Pose = _ORIGIN,
    is_visible: bool = True,
) -> Any:
    """Add a surface to viser's scene; its handle."""
    return scene.add_mesh_simple(
        path,
        triangles.vertices.astype(np.float32),
        triangles.faces,
        color=bytes_of(color),
        opacity=None if opacity >= 1.0 else opacity,
        cast_shadow=opacity >= 1.0,
        position=at.p,
        wxyz=quaternion_from_matrix(at.R),
        visible=is_visible,
    )
