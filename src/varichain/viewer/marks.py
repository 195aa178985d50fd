"""Marks of a structure: joints, their axes and frames, loop joints, virtual links. They hang on the links' nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from varichain.scene import JointMark, Part, Scene, palette
from varichain.scene.triangles import Triangles, cylinder, joined, sphere
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import quaternion_from_matrix
from varichain.viewer.nodes import add_mesh, node_of

SHOWN = {"joints": True, "frames": False, "loops": True, "virtual": True, "forces": True}
"""What is shown at first; forces are no marks, but are chosen in the same place."""

_TREE = 0.6  # size of a tree joint's mark, relative to that of a loop joint
_SHELL = 0.6  # how far a virtual link is drawn outside of its real one, in radii of marks


class Marks:
    """Marks of one structure, drawn anew for the next."""

    def __init__(self, scene: Any) -> None:
        """Draw into viser's scene."""
        self._scene = scene
        self._shown = dict(SHOWN)
        self._handles: dict[str, list[Any]] = {kind: [] for kind in SHOWN}

    def show(self, kind: str, is_shown: bool) -> None:
        """Show or hide "joints", "frames", "loops" or "virtual"."""
        self._shown[kind] = is_shown
        for handle in self._handles[kind]:
            handle.visible = is_shown

    def draw(self, scene: Scene, parts: Mapping[str, Part], moved: Collection[str]) -> None:
        """Draw the marks of a structure whose links look like `parts`, on those links alone whose nodes are moved."""
        for handles in self._handles.values():
            for handle in handles:
                handle.remove()
            handles.clear()
        for i, joint in enumerate(scene.joints):
            if joint.is_guide and joint.parent in moved:
                self._draw_joint(joint, i, scene.mark)
        for i, loop in enumerate(scene.loops):
            if loop.is_line or loop.parent not in moved:
                continue
            path = f"{node_of(loop.parent)}/loop {i}"
            self._add("loops", add_mesh(self._scene, path, sphere(scene.mark), palette.LOOP, at=loop.at))
            self._draw_axes("loops", path, loop, palette.LOOP, scene.mark)
        for name in sorted(scene.in_loops & parts.keys()):
            for i, surface in enumerate(parts[name].surfaces):
                shell = _swollen(surface.triangles, _SHELL * scene.mark)
                path = f"{node_of(name)}/virtual {i}"
                self._add("virtual", add_mesh(self._scene, path, shell, palette.VIRTUAL, palette.VIRTUAL[3]))

    def _draw_joint(self, joint: JointMark, i: int, mark: float) -> None:
        path = f"{node_of(joint.parent)}/joint {i}"
        self._add("joints", add_mesh(self._scene, path, sphere(_TREE * mark), palette.JOINT, at=joint.at))
        self._draw_axes("joints", path, joint, palette.JOINT, _TREE * mark)
        axes = {"axes_length": 5.0 * mark, "axes_radius": 0.25 * mark}
        place = {"position": joint.at.p, "wxyz": quaternion_from_matrix(joint.at.R)}
        self._add("frames", self._scene.add_frame(f"{path} frame", **axes, **place))

    def _draw_axes(self, kind: str, path: str, joint: JointMark, color: palette.RGBA, mark: float) -> None:
        """Draw pins along the axes of a joint, long enough to be seen outside of the links."""
        pins = [cylinder(0.35 * mark, 6.0 * mark).moved(_along(axis)) for axis in joint.axes]
        if pins:
            self._add(kind, add_mesh(self._scene, f"{path} axes", joined(pins), color, at=joint.at))

    def _add(self, kind: str, handle: Any) -> None:
        handle.visible = self._shown[kind]
        self._handles[kind].append(handle)


def _swollen(triangles: Triangles, by: float) -> Triangles:
    return Triangles(triangles.vertices + by * triangles.normals, triangles.normals, triangles.faces)


def _along(axis: Sequence[float]) -> Pose:
    """A frame whose z is along an axis."""
    z = np.asarray(axis, dtype=float)
    x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    return Pose(R=np.column_stack([x, np.cross(z, x), z]))
