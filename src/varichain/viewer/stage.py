"""What is drawn: parts of links, joints, loop joints, virtual links, forces, trails, cuts, the ground."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.scene import JointMark, Part, Poses, Scene, palette
from varichain.scene.palette import bytes_of
from varichain.scene.triangles import Triangles, cylinder, joined, sphere
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import quaternion_from_matrix

Array = NDArray[np.float64]

_SHELL = 0.6  # how far a virtual link is drawn outside of its real one, in radii of marks
_ORIGIN = Pose()
_NO_ARROW = np.zeros((1, 2, 3), np.float32)

Clicked = Callable[[str, Any], None]  # name of the link, viser's event


class Stage:
    """The scene in the browser. Nodes of links are moved; what is fixed to a link hangs on its node."""

    def __init__(self, server: Any, clicked: Clicked | None = None) -> None:
        """Draw on a server; `clicked` is called with the name of a link that somebody has clicked."""
        self._server, self._scene = server, server.scene
        self._clicked = clicked
        self._nodes: dict[str, Any] = {}
        self._meshes: dict[str, list[Any]] = {}
        self._parts: dict[str, Part] = {}
        self._marks: dict[str, list[Any]] = {"joints": [], "frames": [], "loops": [], "virtual": []}
        self._arrows: Any = None
        self._trail: Any = None
        self._pick: Any = None
        self._cuts: list[Any] = []
        self._mark = 0.02
        self.shown = {"joints": True, "frames": False, "loops": True, "virtual": True, "forces": True}
        self._opacity = 1.0

    # Structure

    def set_ground(self, height: float, size: float) -> None:
        """Draw the ground [m] with lines that suit the size of what stands on it [m]."""
        cell = 10.0 ** np.floor(np.log10(max(size, 1e-6)))
        self._scene.add_grid(
            "/ground",
            infinite_grid=True,
            cell_size=0.5 * cell,
            section_size=cell,
            cell_color=bytes_of(palette.GROUND),
            section_color=bytes_of(palette.GRID),
            plane_color=bytes_of(palette.GROUND),
            plane_opacity=0.35,
            fade_distance=40.0 * size,
            shadow_opacity=0.2,
            position=(0.0, 0.0, height),
        )

    def set_scene(self, scene: Scene, parts: Sequence[Part] | None = None) -> None:
        """Draw a structure; parts that look as before stay. `parts` replaces the scene's own, for all of a trace."""
        with self._server.atomic():
            self._mark = scene.mark
            wanted = {part.name: part for part in (scene.parts if parts is None else parts)}
            for name in [name for name in self._nodes if name not in wanted and name not in _links(scene)]:
                self._nodes.pop(name).remove()
                self._meshes.pop(name, None)
                self._parts.pop(name, None)
            for name in (*_links(scene), *wanted):
                if name not in self._nodes:
                    self._nodes[name] = self._scene.add_frame(f"/links/{name_of_node(name)}", show_axes=False)
            for name, part in wanted.items():
                if not _looks_alike(self._parts.get(name), part):
                    self._draw_part(part)
                for mesh, surface in zip(self._meshes[name], part.surfaces, strict=True):
                    mesh.color = bytes_of(scene.color(name, surface))
            self._draw_marks(scene)

    def _draw_part(self, part: Part) -> None:
        for mesh in self._meshes.get(part.name, ()):
            mesh.remove()
        self._parts[part.name] = part
        self._meshes[part.name] = []
        for i, surface in enumerate(part.surfaces):
            path = f"/links/{name_of_node(part.name)}/surface {i}"
            mesh = self._mesh(path, surface.triangles, palette.LINK, self._opacity)
            self._meshes[part.name].append(mesh)
            if self._clicked is not None and part.name != "ground":
                self._hear(mesh, part.name)

    def _hear(self, mesh: Any, name: str) -> None:
        clicked = self._clicked
        assert clicked is not None
        for modifier in (None, "shift"):
            mesh.on_click(modifier=modifier)(lambda event: clicked(name, event))

    def _draw_marks(self, scene: Scene) -> None:
        for marks in self._marks.values():
            for mark in marks:
                mark.remove()
            marks.clear()
        for i, joint in enumerate(scene.joints):
            if joint.kind not in ("free", "fixed"):
                self._draw_joint(joint, i)
        for i, loop in enumerate(scene.loops):
            path = f"{self._on(loop.parent)}/loop {i}"
            self._add("loops", self._mesh(path, sphere(self._mark), palette.LOOP, at=loop.at))
            self._add("loops", self._axes(f"{path} axes", loop, palette.LOOP, self._mark))
        for name in sorted(scene.holding & self._parts.keys()):
            for i, surface in enumerate(self._parts[name].surfaces):
                shell = _swollen(surface.triangles, _SHELL * self._mark)
                path = f"{self._on(name)}/virtual {i}"
                self._add("virtual", self._mesh(path, shell, palette.VIRTUAL, palette.VIRTUAL[3]))

    def _draw_joint(self, joint: JointMark, i: int) -> None:
        path = f"{self._on(joint.parent)}/joint {i}"
        place = {"position": joint.at.p, "wxyz": quaternion_from_matrix(joint.at.R)}
        self._add("joints", self._mesh(path, sphere(0.6 * self._mark), palette.JOINT, at=joint.at))
        self._add("joints", self._axes(f"{path} axes", joint, palette.JOINT, 0.6 * self._mark))
        frame = self._scene.add_frame(
            f"{path} frame", axes_length=5.0 * self._mark, axes_radius=0.25 * self._mark, **place
        )
        self._add("frames", frame)

    def _axes(self, path: str, joint: JointMark, color: palette.RGBA, mark: float) -> Any:
        """Pins along the axes of a joint, long enough to be seen outside of the links."""
        pins = [cylinder(0.35 * mark, 6.0 * mark).moved(_along(axis)) for axis in joint.axes]
        if not pins:
            return None
        return self._mesh(path, joined(pins), color, at=joint.at)

    def _add(self, kind: str, handle: Any) -> None:
        if handle is not None:
            handle.visible = self.shown[kind]
            self._marks[kind].append(handle)

    def _on(self, link: str) -> str:
        return f"/links/{name_of_node(link)}"

    def _mesh(
        self, path: str, triangles: Triangles, color: palette.RGBA, opacity: float = 1.0, at: Pose = _ORIGIN
    ) -> Any:
        return self._scene.add_mesh_simple(
            path,
            triangles.vertices.astype(np.float32),
            triangles.faces,
            color=bytes_of(color),
            opacity=None if opacity >= 1.0 else opacity,
            cast_shadow=opacity >= 1.0,
            position=at.p,
            wxyz=quaternion_from_matrix(at.R),
        )

    # Motion

    def place(self, poses: Poses) -> None:
        """Move the links."""
        quaternions = poses.quaternions
        for i, name in enumerate(poses.names):
            node = self._nodes.get(name)
            if node is not None:
                node.position, node.wxyz = poses.p[i], quaternions[i]

    def hide_links(self, names: Iterable[str]) -> None:
        """Hide the links of these names, show the others."""
        hidden = {*names}
        for name, node in self._nodes.items():
            node.visible = name not in hidden

    def set_forces(self, places: Array, forces: Array, scale: float) -> None:
        """Draw forces (n, 3) [N] at places (n, 3) [m] as arrows of `scale` metres per newton."""
        ends = places + scale * forces
        is_long = np.linalg.norm(ends - places, axis=-1) > self._mark
        points = np.stack([places[is_long], ends[is_long]], axis=1).astype(np.float32)
        if self._arrows is None:
            self._arrows = self._scene.add_arrows(
                "/forces",
                _NO_ARROW,
                bytes_of(palette.FORCE),
                shaft_radius=0.3 * self._mark,
                head_radius=0.8 * self._mark,
                head_length=2.0 * self._mark,
            )
        if len(points):
            self._arrows.points = points
        self._arrows.visible = bool(len(points)) and self.shown["forces"]

    def set_trail(self, path: Array) -> None:
        """Draw the path of a point (n, 3) [m]; places that are not finite are gaps, fewer than two end it."""
        pairs = np.stack([path[:-1], path[1:]], axis=1) if len(path) > 1 else np.empty((0, 2, 3))
        pairs = pairs[np.isfinite(pairs).all(axis=(1, 2))].astype(np.float32)
        if not len(pairs):
            if self._trail is not None:
                self._trail.visible = False
            return
        if self._trail is None:
            self._trail = self._scene.add_line_segments(
                "/trail", pairs, bytes_of(palette.TRAIL), thickness=0.3 * self._mark
            )
        self._trail.points, self._trail.visible = pairs, True

    def set_cuts(self, cuts: Sequence[tuple[str, ArrayLike]]) -> None:
        """Mark cuts: what was cut, and where (3,) [m]."""
        for handle in self._cuts:
            handle.remove()
        self._cuts = []
        for i, (text, at) in enumerate(cuts):
            ball = sphere(1.3 * self._mark)
            self._cuts.append(self._mesh(f"/cut {i}", ball, palette.CUT, 0.8, Pose(at)))
            above = np.add(at, (0.0, 0.0, 3.0 * self._mark))
            self._cuts.append(self._scene.add_label(f"/cut text {i}", text, position=above, anchor="bottom-center"))

    def set_pick(self, link: str, point: Array) -> None:
        """Mark the point of a link (3,) [m], in its frame, that somebody has pointed at."""
        if self._pick is not None:
            self._pick.remove()
        self._pick = self._mesh(f"{self._on(link)}/pick", sphere(0.8 * self._mark), palette.FORCE, at=Pose(point))

    # What is shown

    def show(self, kind: str, is_shown: bool) -> None:
        """Show or hide "joints", "frames", "loops", "virtual" or "forces"."""
        self.shown[kind] = is_shown
        for mark in self._marks.get(kind, ()):
            mark.visible = is_shown
        if kind == "forces" and self._arrows is not None and not is_shown:
            self._arrows.visible = False

    def set_opacity(self, opacity: float) -> None:
        """Let bodies be seen through, from 0 to 1 for not at all."""
        self._opacity = opacity
        for meshes in self._meshes.values():
            for mesh in meshes:
                mesh.opacity = None if opacity >= 1.0 else opacity

    @property
    def mark(self) -> float:
        """Radius of marks [m]."""
        return self._mark

    def part(self, name: str) -> Part | None:
        """What a link looks like."""
        return self._parts.get(name)


def name_of_node(link: str) -> str:
    """A link's name as part of a path of nodes."""
    return link.replace("%", "%25").replace("/", "%2F")


def _links(scene: Scene) -> tuple[str, ...]:
    return scene.mechanism.ground.name, *(link.name for link in scene.mechanism.links)


def _looks_alike(one: Part | None, other: Part) -> bool:
    if one is other:
        return True
    if one is None or len(one.surfaces) != len(other.surfaces):
        return False
    pairs = [(a.triangles.vertices, b.triangles.vertices) for a, b in zip(one.surfaces, other.surfaces, strict=True)]
    return all(np.array_equal(a, b) for a, b in pairs)


def _swollen(triangles: Triangles, by: float) -> Triangles:
    return Triangles(triangles.vertices + by * triangles.normals, triangles.normals, triangles.faces)


def _along(axis: Sequence[float]) -> Pose:
    """A frame whose z is along an axis."""
    z = np.asarray(axis, dtype=float)
    x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    return Pose(R=np.column_stack([x, np.cross(z, x), z]))
