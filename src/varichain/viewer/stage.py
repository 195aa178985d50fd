"""What is drawn: parts of links, joints, loop joints, virtual links, forces, trails, cuts, the ground."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.scene import Part, Poses, Scene, Surface, palette
from varichain.scene.palette import bytes_of
from varichain.scene.supports import Support
from varichain.spatial.arrays import Array
from varichain.viewer.marks import SHOWN, draw_marks, draw_supports
from varichain.viewer.nodes import WORLD, add_mesh, node_of

_NO_ARROW = np.zeros((1, 2, 3), np.float32)

_GROUND = "ground"
_KEPT = 4  # structures that stay drawn, most of them hidden: a cut is often undone

Look = tuple[str, tuple[int, int, int], int]  # link, colour, digest of the corners
Clicked = Callable[[str, Any], None]  # name of the link, viser's event


@dataclass
class _Drawn:
    """What is drawn of one structure; it is hidden while another structure is shown.

    Attributes:
        scene: The structure.
        parts: What its links look like, by name.
        looks: Keys of the surfaces of its links.
        marks: Its marks by kind.
        arrows: Forces by the names of loop joints.
        lines: Its force elements, None if it has none.
        links: Names of its links whose nodes are moved.
    """

    scene: Scene
    parts: dict[str, Part]
    looks: list[Look]
    marks: dict[str, list[Any]]
    arrows: dict[str, Any]
    lines: Any
    links: frozenset[str]

    @property
    def handles(self) -> list[Any]:
        """All that no other structure shares."""
        of_marks = [handle for handles in self.marks.values() for handle in handles]
        return [*of_marks, *self.arrows.values(), *([] if self.lines is None else [self.lines])]


class Stage:
    """The scene in the browser. Nodes of links are moved; what is fixed to a link hangs on its node.

    A structure is drawn hidden (`prepare`), then shown in place of the one before (`present`): a browser hides, shows
    and moves at once, but draws new things and other colours a frame later.
    """

    def __init__(self, server: Any, clicked: Clicked | None = None) -> None:
        """Draw on a server; `clicked` is called with the name of a link that somebody has clicked."""
        self._server, self._scene = server, server.scene
        self._clicked = clicked
        self._nodes: dict[str, Any] = {}
        self._looks: dict[Look, Any] = {}
        self._structures: dict[int, _Drawn] = {}  # the one that was shown last is last
        self._now: _Drawn | None = None
        self._n_names = 0
        self._shown = dict(SHOWN)
        self._poses: Poses | None = None
        self._opacity = 1.0

    # Structure

    def set_ground(self, height: float, size: float) -> None:
        """Draw the ground [m] with lines that suit the size of what stands on it [m]."""
        cell = 10.0 ** np.floor(np.log10(max(size, 1e-6)))
        self._scene.add_grid(
            f"{WORLD}/ground",
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

    def is_prepared(self, number: int) -> bool:
        """Whether a structure is drawn, shown or hidden."""
        return number in self._structures

    def prepare(
        self, number: int, scene: Scene, parts: Sequence[Part] | None = None, supports: Sequence[Support] = ()
    ) -> None:
        """Draw a structure and the signs of its pivots, hidden; `parts` replaces the scene's own, for a whole trace."""
        shown = {part.name: part for part in (scene.parts if parts is None else parts)}
        for name in (*_links(scene), *shown):
            if name not in self._nodes:
                self._nodes[name] = self._scene.add_frame(node_of(name), show_axes=False)
        looks = [self._draw_surface(scene, part, surface) for part in shown.values() for surface in part.surfaces]
        # a trace's playback has the poses of parts alone
        moved = _links(scene) if parts is None else (scene.mechanism.ground.name, *shown)
        marks = draw_marks(self._scene, scene, shown, moved, self._new_name)
        marks["joints"] += draw_supports(self._scene, supports, scene.mark, self._new_name)
        arrows = {
            loop.name: self._draw_arrow(loop.link if loop.link in moved else _GROUND, scene.mark)
            for loop in scene.loops
        }
        has_lines = any(loop.is_line for loop in scene.loops)
        lines = self._draw_lines(scene.mark) if has_lines else None
        self._structures[number] = _Drawn(scene, shown, looks, marks, arrows, lines, frozenset(moved))

    def present(self, number: int) -> None:
        """Show a structure that is drawn, and no other."""
        self._now = now = self._structures.pop(number)
        self._structures[number] = now
        for other in self._structures.values():
            if other is not now:
                for handle in other.handles:
                    handle.visible = False
        for look, mesh in self._looks.items():
            mesh.visible = look in now.looks
        for kind, handles in now.marks.items():
            for handle in handles:
                handle.visible = self._shown[kind]
        for name, node in self._nodes.items():
            node.visible = name in now.links or name in now.parts

    def forget(self) -> None:
        """Remove the structures that were shown longest ago; browsers have drawn since they were hidden."""
        for number in [*self._structures][:-_KEPT]:
            for handle in self._structures.pop(number).handles:
                handle.remove()
        used = {look for drawn in self._structures.values() for look in drawn.looks}
        for look in [look for look in self._looks if look not in used]:
            self._looks.pop(look).remove()
        named = {name for drawn in self._structures.values() for name in (*drawn.links, *drawn.parts)}
        for name in [name for name in self._nodes if name not in named]:
            self._nodes.pop(name).remove()

    def _draw_surface(self, scene: Scene, part: Part, surface: Surface) -> Look:
        color = scene.color(part.name, surface)
        look = (part.name, bytes_of(color), hash(surface.triangles.vertices.tobytes()))
        if look not in self._looks:
            path = f"{node_of(part.name)}/{self._new_name('surface')}"
            mesh = add_mesh(self._scene, path, surface.triangles, color, self._opacity, is_visible=False)
            self._looks[look] = mesh
            if self._clicked is not None and part.name != _GROUND:
                self._hear(mesh, part.name)
        return look

    def _hear(self, mesh: Any, name: str) -> None:
        clicked = self._clicked
        assert clicked is not None
        for modifier in (None, "shift"):
            mesh.on_click(modifier=modifier)(lambda event: clicked(name, event))

    def _draw_arrow(self, link: str, mark: float) -> Any:
        arrow = self._scene.add_arrows(
            f"{node_of(link)}/{self._new_name('force')}",
            _NO_ARROW,
            bytes_of(palette.FORCE),
            shaft_radius=0.3 * mark,
            head_radius=0.8 * mark,
            head_length=2.0 * mark,
            visible=False,
        )
        return arrow

    def _draw_lines(self, mark: float) -> Any:
        color = bytes_of(palette.ELEMENT)
        path = f"{WORLD}/{self._new_name('elements')}"
        return self._scene.add_line_segments(path, _NO_ARROW, color, thickness=0.24 * mark, visible=False)

    def _new_name(self, of: str) -> str:
        self._n_names += 1
        return f"{of} {self._n_names}"

    # Motion

    def place(self, poses: Poses) -> None:
        """Move the links."""
        quaternions, self._poses = poses.quaternions, poses
        for i, name in enumerate(poses.names):
            node = self._nodes.get(name)
            if node is not None:
                node.position, node.wxyz = poses.p[i], quaternions[i]

    def hide_links(self, names: Iterable[str]) -> None:
        """Hide the links of these names, show the others."""
        hidden = {*names}
        for name, node in self._nodes.items():
            node.visible = name not in hidden

    def set_forces(self, names: Sequence[str], places: Array, forces: Array, scale: float) -> None:
        """Draw forces (n, 3) [N] of loop joints at places (n, 3) [m] as arrows of `scale` metres per newton.

        Arrows hang on links: if a browser draws the newest force later than the newest pose, it is at the right place.
        """
        assert self._now is not None and self._poses is not None
        ends = places + scale * forces
        for name, start, end in zip(names, places, ends, strict=True):
            arrow = self._now.arrows[name]
            is_seen = bool(np.linalg.norm(end - start) > self.mark) and self._shown["forces"]
            if is_seen:
                link = next(loop.link for loop in self._now.scene.loops if loop.name == name)
                p, R = self._poses.of(link if link in self._now.links else _GROUND)
                arrow.points = ((np.stack([start, end]) - p) @ R)[None].astype(np.float32)
            if arrow.visible != is_seen:
                arrow.visible = is_seen

    def set_lines(self, ends: Array) -> None:
        """Draw force elements (n, 2, 3) [m] as lines."""
        assert self._now is not None
        if self._now.lines is not None:
            self._now.lines.visible = bool(len(ends))
            if len(ends):
                self._now.lines.points = ends.astype(np.float32)

    # What is shown

    def show(self, kind: str, is_shown: bool) -> None:
        """Show or hide "joints", "frames", "loops", "virtual" or "forces"; forces follow with the next picture."""
        self._shown[kind] = is_shown
        if self._now is not None:
            for handle in self._now.marks.get(kind, ()):
                handle.visible = is_shown

    def is_shown(self, kind: str) -> bool:
        """Whether "joints", "frames", "loops", "virtual" or "forces" are shown."""
        return self._shown[kind]

    def set_opacity(self, opacity: float) -> None:
        """Let bodies be seen through, from 0 to 1 for not at all."""
        self._opacity = opacity
        for mesh in self._looks.values():
            mesh.opacity = None if opacity >= 1.0 else opacity

    @property
    def mark(self) -> float:
        """Radius of marks [m]."""
        return 0.02 if self._now is None else self._now.scene.mark

    def part(self, name: str) -> Part | None:
        """What a link looks like."""
        return None if self._now is None else self._now.parts.get(name)


def _links(scene: Scene) -> tuple[str, ...]:
    return scene.mechanism.ground.name, *(link.name for link in scene.mechanism.links)
