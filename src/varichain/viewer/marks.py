"""Marks of a structure: joints, their axes and frames, loop joints, virtual links. They hang on the links' nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from varichain.scene import JointMark, Part, Scene, palette
from varichain.scene.supports import Support, support_triangles
from varichain.scene.triangles import Triangles, cylinder, joined, sphere
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import quaternion_from_matrix
from varichain.viewer.nodes import WORLD, add_mesh, node_of

SHOWN = {"joints": True, "frames": False, "loops": True, "virtual": True, "forces": True, "cones": False}
"""What is shown at first; forces and friction cones are no marks, but are chosen in the same place."""

_TREE = 0.6  # size of a tree joint's mark, relative to that of a loop joint
_ORIGIN = Pose()
_SHELL = 0.6  # how far a virtual link is drawn outside of its real one, in radii of marks


def draw_marks(
    scene: Any, of: Scene, parts: Mapping[str, Part], moved: Collection[str], new_name: Callable[[str], str]
) -> dict[str, list[Any]]:
    """Draw the marks of a structure into viser's scene, hidden.

    Args:
        scene: viser's scene.
        of: The structure.
        parts: What its links look like.
        moved: Links whose nodes are moved: marks hang on those alone.
        new_name: Function that makes a name unique.

    Returns:
        Handles by kind: "joints", "frames", "loops" and "virtual".
    """
    return _Drawing(scene, of.mark, new_name).of_structure(of, parts, moved)


def draw_supports(scene: Any, supports: Sequence[Support], mark: float, new_name: Callable[[str], str]) -> list[Any]:
    """Draw the signs of fixed pivots into viser's scene, hidden; their handles."""
    sign = support_triangles(mark)
    return [
        add_mesh(
            scene,
            f"{WORLD}/{new_name('support')}",
            sign,
            palette.JOINT,
            at=Pose(support.place, R=support.R),
            is_visible=False,
        )
        for support in supports
    ]


class _Drawing:
    """Marks of one structure as they are drawn."""

    def __init__(self, scene: Any, mark: float, new_name: Callable[[str], str]) -> None:
        self._scene, self._mark, self._new_name = scene, mark, new_name
        self._handles: dict[str, list[Any]] = {kind: [] for kind in SHOWN}

    def of_structure(self, of: Scene, parts: Mapping[str, Part], moved: Collection[str]) -> dict[str, list[Any]]:
        for joint in of.joints:
            if joint.is_guide and joint.parent in moved:
                self._draw_joint(joint)
        for loop in of.loops:
            if loop.is_line or loop.parent not in moved:
                continue
            path = f"{node_of(loop.parent)}/{self._new_name('loop')}"
            self._mesh("loops", path, sphere(self._mark), palette.LOOP, at=loop.at)
            self._draw_axes("loops", path, loop, palette.LOOP, self._mark)
        for name in sorted(of.in_loops & parts.keys()):
            for surface in parts[name].surfaces:
                shell = _swollen(surface.triangles, _SHELL * self._mark)
                path = f"{node_of(name)}/{self._new_name('virtual')}"
                self._mesh("virtual", path, shell, palette.VIRTUAL, palette.VIRTUAL[3])
        return self._handles

    def _draw_joint(self, joint: JointMark) -> None:
        path = f"{node_of(joint.parent)}/{self._new_name('joint')}"
        self._mesh("joints", path, sphere(_TREE * self._mark), palette.JOINT, at=joint.at)
        self._draw_axes("joints", path, joint, palette.JOINT, _TREE * self._mark)
        axes = {"axes_length": 5.0 * self._mark, "axes_radius": 0.25 * self._mark, "visible": False}
        place = {"position": joint.at.p, "wxyz": quaternion_from_matrix(joint.at.R)}
        self._handles["frames"].append(self._scene.add_frame(f"{path} frame", **axes, **place))

    def _draw_axes(self, kind: str, path: str, joint: JointMark, color: palette.RGBA, mark: float) -> None:
        """Draw pins along the axes of a joint, long enough to be seen outside of the links."""
        pins = [cylinder(0.35 * mark, 6.0 * mark).moved(_along(axis)) for axis in joint.axes]
        if pins:
            self._mesh(kind, f"{path} axes", joined(pins), color, at=joint.at)

    def _mesh(
        self, kind: str, path: str, shape: Triangles, color: palette.RGBA, opacity: float = 1.0, at: Pose = _ORIGIN
    ) -> None:
        self._handles[kind].append(add_mesh(self._scene, path, shape, color, opacity, at, is_visible=False))


def _swollen(triangles: Triangles, by: float) -> Triangles:
    return Triangles(triangles.vertices + by * triangles.normals, triangles.normals, triangles.faces)


def _along(axis: Sequence[float]) -> Pose:
    """A frame whose z is along an axis."""
    z = np.asarray(axis, dtype=float)
    x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    return Pose(R=np.column_stack([x, np.cross(z, x), z]))
