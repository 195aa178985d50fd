"""Pictures of frames: shaded, with ground, marks and labels, drawn by VTK without a screen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.exports.ground import Ground
from varichain.exports.labels import spread
from varichain.exports.look import Look
from varichain.exports.vtk import require_pyvista, without_warnings
from varichain.scene import Part, Playback, Poses, box_around, palette
from varichain.scene import triangles as solids
from varichain.scene.camera import ANGLE, axes_of, fitted
from varichain.scene.cones import cone_axes, cone_color, cone_triangles
from varichain.scene.palette import RGBA
from varichain.scene.poses import matrices_from_quaternions
from varichain.scene.supports import support_triangles
from varichain.scene.triangles import Triangles
from varichain.spatial.arrays import Array
from varichain.spatial.rotation import matrix_with_z_along

Image = NDArray[np.uint8]

_LETTER, _LINE = 1.0, 1.9  # width of a letter and height of a line, in sizes of the font, which is in points
_PAPER = 0.65  # how solid the background of names and events is, so that they can be read on links
_EVENT_SHOWN = 0.8  # [s] of simulated time for which an event is shown


class Painter:
    """Draws frames of a playback; one picture size, one camera."""

    def __init__(
        self,
        playback: Playback,
        size: tuple[int, int],
        look: Look = Look(),  # noqa: B008  it never changes
        seen: Array | None = None,
    ) -> None:
        """Put all parts on the stage.

        Args:
            playback: The frames.
            size: Width and height [pixels].
            look: Camera, colours and so on.
            seen: Points (n, 3) [m] that must be seen; by default the playback's outline.

        Raises:
            MissingExtraError: The package pyvista is not installed.
            UnknownNameError: The look has a colour for a link that there is not.
        """
        look.check(playback.parts)
        self.playback, self.look = playback, look
        self._pv = require_pyvista()
        with without_warnings():
            self._stage = self._pv.Plotter(off_screen=True, window_size=list(size), lighting="light kit")
            self._stage.enable_anti_aliasing("msaa", multi_samples=8)
        self._stage.set_background(palette.hex_color(look.background))
        self._actors = [
            [(self._add(surface.triangles, palette.LINK), surface) for surface in part.surfaces]
            for part in playback.parts
        ]
        red, green, blue = (0.89 * x * y for x, y in zip(palette.GROUND[:3], look.background[:3], strict=True))
        self._shadow: RGBA = (red, green, blue, 1.0)
        self._shadows = [
            [self._add(surface.triangles, self._shadow, is_lit=False) for surface in part.surfaces]
            for part in playback.parts
        ]
        self._joints = [
            self._add(solids.sphere(0.8 * playback.scenes[0].mark), palette.JOINT)
            for _ in range(max(len(scene.joints) for scene in playback.scenes) if look.joints else 0)
        ]
        mark = playback.scenes[0].mark
        most = max(map(len, playback.framing.supports)) if look.joints else 0
        self._supports = [self._add(support_triangles(mark), palette.JOINT) for _ in range(most)]
        self._loops = [self._add(solids.sphere(mark), palette.LOOP) for _ in playback.loops]
        self._halos = [self._add(solids.sphere(1.6 * mark), palette.VIRTUAL) for _ in playback.loops]
        # a surface pushes into the link that it bears: such an arrow would be hidden
        adds = [self._add] * len(playback.loops) + [self._add_in_front] * len(playback.contacts)
        self._shafts = [add(solids.cylinder(1.0, 1.0), palette.FORCE) for add in adds]
        self._tips = [add(solids.cylinder(1.0, 1.0, 0.0), palette.FORCE) for add in adds]
        self._cones = [
            self._add_in_front(cone_triangles(), palette.STICKS) for _ in playback.contacts if playback.cones
        ]
        self._lines = [self._add(solids.cylinder(1.0, 1.0), palette.ELEMENT) for _ in range(playback.is_line.sum())]
        sizes = ((0.7 * mark, palette.TRACKED), (1.1 * mark, palette.TARGET))
        self._aims = [[self._add_in_front(solids.sphere(r), color) for r, color in sizes] for _ in playback.aims]
        self._letters = max(6, round(size[1] / 75))
        self._passing: list[Any] = []  # actors of this frame alone
        self._title = self._add_title(size) if look.title else None
        framing, self._follows = playback.framing, seen is None and playback.framing.follows
        points = framing.figure if self._follows else framing.outline if seen is None else seen
        center, distance = fitted(points, look.view, size[0] / size[1])
        self._center, self._distance = center, distance / look.zoom
        self._ground = Ground(self._pv, self._stage, framing, points, look) if look.ground else None

    def close(self) -> None:
        """Free the memory."""
        self._stage.close()

    def image(self, i: int) -> Image:
        """Picture (height, width, 3) of frame i."""
        framing = self.playback.framing
        self._place_parts(i)
        self._place_marks(i)
        self._place_passing(i)
        if self._ground is not None:
            self._ground.place(*(framing.path[i, :2] if self._follows else (0.0, 0.0)))
        self._look(self._middle(i))
        if self._title is not None:
            self._write(i, *self._title)
        self._stage.render()  # a picture is taken of what was rendered last
        image: Image = np.ascontiguousarray(self._stage.screenshot(return_img=True)[..., :3])
        return image

    # Setting up

    def _add(self, surface: Triangles, color: RGBA, is_lit: bool = True) -> Any:
        mesh = self._pv.PolyData.from_regular_faces(surface.vertices, surface.faces)
        mesh.point_data["Normals"] = surface.normals
        mesh.point_data.active_normals_name = "Normals"
        look = (
            {"specular": 0.25, "specular_power": 25, "ambient": 0.25, "diffuse": 0.85}
            if is_lit
            else {"lighting": False}
        )
        return self._stage.add_mesh(mesh, color=color[:3], opacity=color[3], smooth_shading=is_lit, **look)

    def _add_in_front(self, surface: Triangles, color: RGBA) -> Any:
        """Add a surface that is seen through all others: tracked points may be inside of links."""
        actor = self._add(surface, color, is_lit=False)
        actor.mapper.SetResolveCoincidentTopologyToPolygonOffset()
        actor.mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(0.0, -66000.0)
        return actor

    def _add_title(self, size: tuple[int, int]) -> tuple[Any, Any]:
        """Write the name, and make room for time and events below it."""
        height, color = max(9, round(size[1] / 44)), palette.hex_color(self.look.text)
        lines = [
            self._stage.add_text(
                text, position=(height, size[1] - (3.0 + 2.0 * k) * height), font_size=height - 2 * (k > 0), color=color
            )
            for k, text in enumerate((str(self.playback.scenes[0].mechanism.name), " ", " "))
        ]
        return lines[1], lines[2]

    def _look(self, center: Array) -> None:
        """Point the camera at a place."""
        camera = self._stage.camera
        _, up, back = axes_of(self.look.view)
        camera.focal_point, camera.up, camera.position = center, up, center + self._distance * back
        camera.view_angle = math.degrees(ANGLE)
        camera.clipping_range = (0.01 * self._distance, 30.0 * self._distance)

    # Each frame

    def _place_parts(self, i: int) -> None:
        playback = self.playback
        scene, framing = playback.scenes[playback.epoch[i]], playback.framing
        R = matrices_from_quaternions(playback.quaternions[i])
        flat = _flattening(framing.floor + 2e-3 * framing.size)  # above what lies on the ground
        for k, part in enumerate(playback.parts):
            X, is_shown = _matrix(playback.p[i, k], R[k]), bool(playback.is_shown[i, k])
            for (actor, surface), shadow in zip(self._actors[k], self._shadows[k], strict=True):
                actor.SetVisibility(is_shown)
                shadow.SetVisibility(is_shown and self.look.ground and float(playback.p[i, k, 2]) > framing.floor)
                actor.user_matrix, shadow.user_matrix = X, flat @ X
                actor.prop.color = self.look.color(scene, part.name, surface)[:3]

    def _place_marks(self, i: int) -> None:
        playback = self.playback
        scene, poses = playback.scenes[playback.epoch[i]], playback.poses(i)
        for k, actor in enumerate(self._joints):
            joint = scene.joints[k] if k < len(scene.joints) else None
            is_shown = joint is not None and joint.is_guide
            actor.SetVisibility(is_shown)
            if joint is not None and is_shown:
                p, R = poses.of(joint.holder) if joint.holder in poses.names else (np.zeros(3), np.eye(3))
                actor.position = p + R @ joint.place
        supports = playback.framing.supports[playback.epoch[i]]
        for k, actor in enumerate(self._supports):
            actor.SetVisibility(k < len(supports))
            if k < len(supports):
                actor.user_matrix = _matrix(np.array(supports[k].place), supports[k].R)
        for aim, actors in zip(playback.aims.values(), self._aims, strict=True):
            for place, actor in zip(aim[:, i], actors, strict=True):
                actor.SetVisibility(bool(np.isfinite(place).all()))
                if np.isfinite(place).all():
                    actor.position = place
        width = 0.3 * scene.mark
        self._place_lines(i, 0.8 * width)
        for k in range(len(playback.loops)):
            for actor in (self._loops[k], self._halos[k]):
                actor.SetVisibility(bool(playback.is_closed[i, k]) and self.look.joints and not playback.is_line[k])
                actor.position = playback.loop_places[i, k]
        self._place_forces(i, width)
        self._place_cones(i)

    def _place_cones(self, i: int) -> None:
        """Friction cones at the points of contacts."""
        playback, cones = self.playback, self.playback.cones
        for k, actor in enumerate(self._cones):
            assert cones is not None
            force = playback.contact_forces[i, k]
            actor.SetVisibility(bool(force.any()))
            if force.any():
                scale, mark = playback.framing.arrow_scale, playback.scenes[0].mark
                R = cone_axes(force, cones.normals[i, k], float(cones.friction[k]), scale, mark)
                actor.user_matrix = _matrix(playback.contact_places[i, k], R)
                actor.prop.color = cone_color(bool(cones.slips[i, k]))[:3]

    def _place_forces(self, i: int, width: float) -> None:
        """Arrows along the forces of loops and contacts."""
        playback = self.playback
        for k, (shaft, head) in enumerate(zip(self._shafts, self._tips, strict=True)):
            place, vector = playback.force_places[i, k], playback.framing.arrow_scale * playback.forces[i, k]
            length = float(np.linalg.norm(vector))
            for actor in (shaft, head):
                actor.SetVisibility(bool(playback.acts[i, k]) and length > width and self.look.forces)
            if length > width:
                along = vector / length
                R, tip = matrix_with_z_along(along), min(4.0 * width, 0.5 * length)
                body = length - tip
                shaft.user_matrix = _matrix(place + 0.5 * body * along, R * [width, width, body])
                head.user_matrix = _matrix(place + (body + 0.5 * tip) * along, R * [2.2 * width, 2.2 * width, tip])

    def _place_lines(self, i: int, width: float) -> None:
        """Rods along force elements."""
        ends = self.playback.lines(i)
        for k, actor in enumerate(self._lines):
            vector = ends[k, 0] - ends[k, 1] if k < len(ends) else np.zeros(3)
            length = float(np.linalg.norm(vector))
            actor.SetVisibility(length > 0.0)
            if length > 0.0:
                R = matrix_with_z_along(vector / length)
                actor.user_matrix = _matrix(ends[k].mean(axis=0), R * [width, width, length])

    def _place_passing(self, i: int) -> None:
        """Trails and names, made anew for each frame."""
        for actor in self._passing:
            self._stage.remove_actor(actor)
        self._passing = []
        for path in self.playback.trails.values():
            points = path[: i + 1]
            points = points[np.isfinite(points).all(axis=1)]
            if len(points) > 1:
                line = self._pv.lines_from_points(points)
                self._passing.append(self._stage.add_mesh(line, color=palette.TRAIL[:3], line_width=3, lighting=False))
        if self.look.labels:
            self._label(i)

    def _label(self, i: int) -> None:
        """Write the names of links at their middles, none over another."""
        poses = self.playback.poses(i)
        named = self._named(poses)
        names = [part.name for part in named]
        middles = np.array([np.mean(box_around([part], poses), axis=0) for part in named]).reshape(-1, 3)
        right, up, back = axes_of(self.look.view)
        eye, (width, height) = self._eye(i), self._stage.window_size
        size = 0.5 * height / math.tan(0.5 * ANGLE) / np.maximum((eye - middles) @ back, 1e-9)  # [pixels/m]
        on = size[:, None] * ((middles - eye) @ np.array([right, up]).T) + (0.5 * width, 0.5 * height)
        widths = np.array([_LETTER * self._letters * len(name) for name in names], dtype=float)
        on[:, 0] -= 0.5 * widths
        look = {"font_size": self._letters, "color": palette.hex_color(self.look.text)}
        for name, (x, y) in zip(names, spread(on, widths, _LINE * self._letters, height), strict=True):
            text = self._stage.add_text(name, position=(float(x), float(y)), **look)
            text.prop.background_color, text.prop.background_opacity = self.look.background[:3], _PAPER
            self._passing.append(text)

    def _eye(self, i: int) -> Array:
        """Where the camera stands (3,) [m] in frame i."""
        found: Array = self._middle(i) + self._distance * axes_of(self.look.view)[2]
        return found

    def _middle(self, i: int) -> Array:
        """What the camera looks at (3,) [m] in frame i."""
        return self._center + self.playback.framing.path[i] if self._follows else self._center

    def _named(self, poses: Poses) -> list[Part]:
        unnamed = self.playback.footprints
        return [part for part in self.playback.parts if part.name in poses.names and part.name not in unnamed]

    def _write(self, i: int, clock: Any, event: Any) -> None:
        time = float(self.playback.time[i])
        shown = [marker for marker in self.playback.markers if marker.time <= time < marker.time + _EVENT_SHOWN]
        clock.input = f"{time:.2f} s" if len(self.playback) > 1 else " "
        shown = [marker for marker in shown if marker.time == shown[-1].time]
        event.input = ", ".join(dict.fromkeys(marker.event for marker in shown)) or " "
        event.prop.background_opacity = _PAPER if shown else 0.0
        if shown:
            event.prop.background_color = self.look.background[:3]
            event.prop.color = getattr(palette, shown[-1].kind.upper())[:3]


def _matrix(p: Array, R: Array) -> Array:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def _flattening(floor: float) -> Array:
    """Matrix (4, 4) that throws shadows onto the ground along a steep ray."""
    return np.array(
        [[1.0, 0.0, -0.3, 0.3 * floor], [0.0, 1.0, 0.4, -0.4 * floor], [0.0, 0.0, 0.0, floor], [0.0, 0.0, 0.0, 1.0]]
    )
