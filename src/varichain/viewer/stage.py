"""What is drawn: parts of links, joints, loop joints, virtual links, forces, trails, cuts, the ground."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varichain.scene import Part, Poses, Scene, palette
from varichain.scene.palette import bytes_of
from varichain.scene.triangles import sphere
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose
from varichain.viewer.marks import Marks
from varichain.viewer.nodes import add_mesh, node_of

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
        self._marks = Marks(server.scene)
        self._arrows: Any = None
        self._trail: Any = None
        self._pick: Any = None
        self._spring: Any = None
        self._lines: Any = None
        self._cuts: list[Any] = []
        self._aims: dict[str, list[Any]] = {}
        self._mark = 0.02
        self._has_forces = True
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
            shown = {part.name: part for part in (scene.parts if parts is None else parts)}
            for name in [name for name in self._nodes if name not in shown and name not in _links(scene)]:
                self._nodes.pop(name).remove()
                self._meshes.pop(name, None)
                self._parts.pop(name, None)
            for name in (*_links(scene), *shown):
                if name not in self._nodes:
                    self._nodes[name] = self._scene.add_frame(node_of(name), show_axes=False)
            for name, part in shown.items():
                if not _looks_alike(self._parts.get(name), part):
                    self._draw_part(part)
                for mesh, surface in zip(self._meshes[name], part.surfaces, strict=True):
                    mesh.color = bytes_of(scene.color(name, surface))
            # a trace's playback has the poses of parts alone
            moved = _links(scene) if parts is None else (scene.mechanism.ground.name, *shown)
            self._marks.draw(scene, self._parts, moved)

    def _draw_part(self, part: Part) -> None:
        for mesh in self._meshes.get(part.name, ()):
            mesh.remove()
        self._parts[part.name] = part
        self._meshes[part.name] = []
        for i, surface in enumerate(part.surfaces):
            path = f"{node_of(part.name)}/surface {i}"
            mesh = add_mesh(self._scene, path, surface.triangles, palette.LINK, self._opacity)
            self._meshes[part.name].append(mesh)
            if self._clicked is not None and part.name != "ground":
                self._hear(mesh, part.name)

    def _hear(self, mesh: Any, name: str) -> None:
        clicked = self._clicked
        assert clicked is not None
        for modifier in (None, "shift"):
            mesh.on_click(modifier=modifier)(lambda event: clicked(name, event))

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
        self._arrows.visible = bool(len(points)) and self._has_forces

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

    def set_aims(self, aims: Mapping[str, Array]) -> None:
        """Draw tracked points and their targets (2, 3) [m] by name; those that are not finite are hidden."""
        for name, balls in self._aims.items():
            for ball in balls if name not in aims else ():
                ball.visible = False
        for name, places in aims.items():
            if name not in self._aims:
                sizes = ((0.7, palette.TRACKED), (1.1, palette.TARGET))
                paths = (f"/tracked/{len(self._aims)}", f"/target/{len(self._aims)}")
                self._aims[name] = [
                    add_mesh(self._scene, path, sphere(size * self._mark), color)
                    for path, (size, color) in zip(paths, sizes, strict=True)
                ]
            for ball, place in zip(self._aims[name], places, strict=True):
                ball.visible = bool(np.isfinite(place).all())
                if ball.visible:
                    ball.position = place

    def set_cuts(self, cuts: Sequence[tuple[str, ArrayLike]]) -> None:
        """Mark cuts: what was cut, and where (3,) [m]."""
        for handle in self._cuts:
            handle.remove()
        self._cuts = []
        for i, (text, at) in enumerate(cuts):
            ball = sphere(1.3 * self._mark)
            self._cuts.append(add_mesh(self._scene, f"/cut {i}", ball, palette.CUT, 0.8, Pose(at)))
            above = np.add(at, (0.0, 0.0, 3.0 * self._mark))
            self._cuts.append(self._scene.add_label(f"/cut text {i}", text, position=above, anchor="bottom-center"))

    def set_pick(self, link: str, point: Array) -> None:
        """Mark the point of a link (3,) [m], in its frame, that somebody has pointed at."""
        if self._pick is not None:
            self._pick.remove()
        self._pick = add_mesh(
            self._scene, f"{node_of(link)}/pick", sphere(0.6 * self._mark), palette.FORCE, at=Pose(point)
        )

    def set_lines(self, ends: Array) -> None:
        """Draw force elements (n, 2, 3) [m] as lines."""
        points = ends.astype(np.float32)
        if self._lines is None and len(points):
            self._lines = self._scene.add_line_segments(
                "/elements", points, bytes_of(palette.ELEMENT), thickness=0.24 * self._mark
            )
        if self._lines is not None:
            self._lines.visible = bool(len(points))
            if len(points):
                self._lines.points = points

    def set_spring(self, ends: Array | None) -> None:
        """Draw the spring (2, 3) [m] that pulls a link; None for none."""
        if ends is not None and self._spring is None:
            self._spring = self._scene.add_line_segments(
                "/spring", ends[None].astype(np.float32), bytes_of(palette.FORCE), thickness=0.3 * self._mark
            )
        if self._spring is not None:
            self._spring.visible = ends is not None
            if ends is not None:
                self._spring.points = ends[None].astype(np.float32)

    # What is shown

    def show(self, kind: str, is_shown: bool) -> None:
        """Show or hide "joints", "frames", "loops", "virtual" or "forces"."""
        if kind != "forces":
            self._marks.show(kind, is_shown)
        else:
            self._has_forces = is_shown
            if self._arrows is not None and not is_shown:
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


def _links(scene: Scene) -> tuple[str, ...]:
    return scene.mechanism.ground.name, *(link.name for link in scene.mechanism.links)


def _looks_alike(one: Part | None, other: Part) -> bool:
    if one is other:
        return True
    if one is None or len(one.surfaces) != len(other.surfaces):
        return False
    pairs = [(a.triangles.vertices, b.triangles.vertices) for a, b in zip(one.surfaces, other.surfaces, strict=True)]
    return all(np.array_equal(a, b) for a, b in pairs)
