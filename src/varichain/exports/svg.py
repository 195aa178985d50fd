"""Stills as SVG: outlines of shapes laid over each other from far to near, with the symbols of mechanism drawings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import numpy as np

from varichain.exports.ground import grid_pitch
from varichain.exports.labels import spread
from varichain.exports.look import Look
from varichain.mechanism.height_field import HeightField
from varichain.mechanism.joints import Prismatic, Revolute
from varichain.mechanism.shapes import Mesh
from varichain.scene import JointMark, Playback, Poses, ball_of, box_around, palette
from varichain.scene.camera import MARGIN, axes_of
from varichain.scene.cones import cone_axes, cone_color, cone_triangles
from varichain.scene.palette import RGBA, hex_color
from varichain.scene.poses import frame_on
from varichain.scene.scene import drawn_shapes
from varichain.scene.stand_ins import bone_radius
from varichain.scene.supports import HALF, HEIGHT
from varichain.spatial.arrays import Array

_LETTER = 0.6  # width of a letter, in heights


def svg_of(playback: Playback, size: tuple[int, int], look: Look) -> str:
    """The first frame of a playback, seen from so far away that parallel lines stay parallel."""
    look.check(playback.parts)
    sheet = _Sheet(playback, size, look)
    content = [*(sheet.ground() if look.ground else ()), *sheet.footprints(), *sheet.links()]
    content += [
        *sheet.elements(),
        *(sheet.joints() if look.joints else ()),
        *sheet.cones(),
        *(sheet.forces() if look.forces else ()),
    ]
    content += [*sheet.aims()]
    content += [*(sheet.labels() if look.labels else ()), *(sheet.title() if look.title else ())]
    box = f'width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}"'
    paper = f'<rect width="100%" height="100%" fill="{hex_color(look.background)}"/>'
    font = 'font-family="system-ui, sans-serif" stroke-linejoin="round" stroke-linecap="round"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} {font}>{paper}{"".join(content)}</svg>\n'


@dataclass(frozen=True)
class _Outline:
    depth: float
    points: Array
    color: RGBA


class _Sheet:
    """A sheet of paper: where points of the world are on it [pixels], and what is drawn."""

    def __init__(self, playback: Playback, size: tuple[int, int], look: Look) -> None:
        self.playback, self.look, self.scene, self.poses = playback, look, playback.scenes[0], playback.first_poses[0]
        self._axes = axes_of(look.view)
        self._supports = playback.framing.supports[0] if look.joints else ()
        feet = [support.place - 4.5 * self.scene.mark * support.R @ self._axes[1] for support in self._supports]
        ends = np.array(feet).reshape(-1, 3)
        flat = np.concatenate([playback.framing.outline, ends]) @ self._axes.T
        low, high = flat.min(axis=0)[:2], flat.max(axis=0)[:2]
        room = np.maximum(high - low, 1e-9)
        self._scale = float(min(size[0] / room[0], size[1] / room[1])) / MARGIN**2 * look.zoom
        self._middle, self._center = 0.5 * (low + high), 0.5 * np.array(size)
        self._size, self._letters = size, max(9, round(size[1] / 44))
        self._mark = max(self._scale * self.scene.mark, 0.004 * size[1])

    def on(self, points: Array) -> Array:
        """Places (..., 2) [pixels] of points (..., 3) [m]; y goes down on paper."""
        flat = points @ self._axes[:2].T - self._middle
        placed: Array = self._center + self._scale * flat * (1.0, -1.0)
        return placed

    def links(self) -> Iterator[str]:
        """Outlines of all shapes, those far away first."""
        width = max(1.0, 0.0015 * self._size[1])
        for outline in sorted(self._outlines(), key=lambda outline: outline.depth):
            red, green, blue, _ = outline.color
            edge = hex_color((0.62 * red, 0.62 * green, 0.62 * blue, 1.0))
            yield _polygon(outline.points, hex_color(outline.color), edge, width)

    def _outlines(self) -> Iterator[_Outline]:
        m = self.scene.mechanism
        radius, has_shapes = bone_radius(m), any(link.shapes for link in m.links)
        surfaces = {part.name: part.surfaces for part in self.scene.parts}
        for link in (m.ground, *m.links):
            for shape, triangles in drawn_shapes(m, link, radius, has_shapes, [])[0]:
                own = next(surface for surface in surfaces[link.name] if surface.color == shape.color)
                color = self.look.color(self.scene, link.name, own)
                p, R = self.poses.of(link.name)
                world = p + triangles.vertices @ R.T
                depth = world @ self._axes[2]
                if isinstance(shape, Mesh | HeightField):  # not convex: triangle by triangle
                    for face in triangles.faces:
                        yield _Outline(float(depth[face].mean()), self.on(world[face]), color)
                else:
                    yield _Outline(float(depth.mean()), _hull(self.on(world)), color)

    def ground(self) -> Iterator[str]:
        """The floor: a line if seen from the side, a grid else."""
        seen = self.playback.framing.outline
        (x, y, _), reach = ball_of(seen.min(axis=0), seen.max(axis=0))
        z, color = self.playback.framing.floor, hex_color(palette.GRID)
        if abs(self._axes[2, 2]) < 0.02:
            (_, height), *_ = self.on(np.array([[x, y, z]]))
            yield _line([0.0, height], [self._size[0], height], color, 1.5)
            return
        pitch = grid_pitch(self.playback.framing.size)
        n = math.ceil(reach / pitch)
        for k in range(-n, n + 1):
            for ends in (((k, -n), (k, n)), ((-n, k), (n, k))):
                corners = [(pitch * (round(x / pitch) + i), pitch * (round(y / pitch) + j), z) for i, j in ends]
                a, b = self.on(np.array(corners))
                yield _line(a, b, color, 0.8)

    def joints(self) -> Iterator[str]:
        """Circles for what turns, blocks for what slides, a foot where the ground bears it; loops in their colour."""
        for support in self._supports:
            x, y = self.on(np.array(support.place))
            yield from self._foot(float(x), float(y), -1.0 if support.is_above else 1.0)
        for joint in (*self.scene.joints, *self.scene.loops):
            if not joint.is_guide:
                continue
            place, R = frame_on(self.poses, joint.parent, joint.at)
            x, y = self.on(place)
            yield self._symbol(joint, float(x), float(y), R)

    def _symbol(self, joint: JointMark, x: float, y: float, R: Array) -> str:
        color, r = hex_color(palette.LOOP if joint.is_loop else palette.JOINT), self._mark
        look = f'fill="#ffffff" stroke="{color}" stroke-width="{0.45 * r:.2f}"'
        if joint.axes and all(kind == "linear" for kind, _ in joint.model.freedoms):
            along = self._axes[:2] @ (R @ np.array(joint.axes[0]))
            turn = math.degrees(math.atan2(-along[1], along[0]))
            at = f'x="{x - 1.6 * r:.2f}" y="{y - r:.2f}" width="{3.2 * r:.2f}" height="{2 * r:.2f}"'
            return f'<rect {at} transform="rotate({turn:.2f} {x:.2f} {y:.2f})" {look}/>'
        return f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{0.85 * r:.2f}" {look}/>'

    def _foot(self, x: float, y: float, down: float) -> Iterator[str]:
        """The sign of a fixed support, a triangle on a hatched line: below if `down` is 1, above if it is -1."""
        r, color = HALF * self._mark, hex_color(palette.JOINT)
        base = y + down * HEIGHT * self._mark
        yield _polygon(np.array([[x, y], [x - r, base], [x + r, base]]), "none", color, 0.2 * self._mark + 0.6)
        for k in np.linspace(-1.3, 1.3, 6):
            end = [x + (k - 0.4 * down) * r, base + 0.5 * down * r]
            yield _line([x + k * r, base], end, color, 0.15 * self._mark + 0.4)
        yield _line([x - 1.5 * r, base], [x + 1.5 * r, base], color, 0.2 * self._mark + 0.6)

    def footprints(self) -> Iterator[str]:
        """What the ground has kept, as one path of squares for each group."""
        for k, part in enumerate(self.playback.parts):
            if part.name in self.playback.footprints and self.playback.is_shown[0, k]:
                for surface in part.surfaces:
                    squares = self.on(surface.triangles.vertices).reshape(-1, 4, 2)
                    path = "".join("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in square) + "Z" for square in squares)
                    color = hex_color(surface.color or palette.FOOTPRINT)  # around too, so that squares meet
                    yield f'<path d="{path}" fill="{color}" stroke="{color}" stroke-width="0.6"/>'

    def elements(self) -> Iterator[str]:
        """Lines along force elements."""
        for a, b in self.playback.lines(0):
            start, end = self.on(np.array([a, b]))
            yield _line(start, end, hex_color(palette.ELEMENT), 0.6 * self._mark)

    def forces(self) -> Iterator[str]:
        """Arrows of the forces of loops and contacts."""
        playback, color = self.playback, hex_color(palette.FORCE)
        for place, force in zip(playback.force_places[0], playback.forces[0], strict=True):
            a, b = self.on(np.array([place, place + playback.framing.arrow_scale * force]))
            length = float(np.linalg.norm(b - a))
            if length > 2.0 * self._mark:
                along = (b - a) / length
                across, tip = np.array([-along[1], along[0]]), min(3.0 * self._mark, 0.5 * length)
                yield _line(a, b - tip * along, color, 0.6 * self._mark)
                head = np.array([b, b - tip * along + 0.45 * tip * across, b - tip * along - 0.45 * tip * across])
                yield _polygon(head, color, color, 1.0)

    def cones(self) -> Iterator[str]:
        """Friction cones at the points of contacts."""
        playback, cones, rim = self.playback, self.playback.cones, cone_triangles().vertices
        for k, force in enumerate(playback.contact_forces[0] if cones is not None else ()):
            if force.any() and cones is not None:
                friction, scale = float(cones.friction[k]), playback.framing.arrow_scale
                R = cone_axes(force, cones.normals[0, k], friction, scale, self.scene.mark)
                outline = _hull(self.on(playback.contact_places[0, k] + rim @ R.T))
                color = cone_color(bool(cones.slips[0, k]))
                cone = _polygon(outline, hex_color(color), hex_color(color), 1.0)
                yield cone.replace("<polygon", f'<polygon fill-opacity="{color[3]:g}"')

    def aims(self) -> Iterator[str]:
        """Tracked points, and rings where they shall be."""
        for aim in self.playback.aims.values():
            for place, factor, look in zip(aim[:, 0], (0.7, 1.3), self._aim_looks(), strict=True):
                if np.isfinite(place).all():
                    x, y = self.on(place)
                    yield f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{factor * self._mark:.2f}" {look}/>'

    def _aim_looks(self) -> tuple[str, str]:
        ring = f'fill="none" stroke="{hex_color(palette.TARGET)}" stroke-width="{0.5 * self._mark:.2f}"'
        return f'fill="{hex_color(palette.TRACKED)}"', ring

    def labels(self) -> Iterator[str]:
        """Names of links beside their middles, none over another."""
        names, height = [part.name for part in self.scene.parts], 0.8 * self._letters
        middles = [np.mean(box_around([part], self.poses), axis=0) for part in self.scene.parts]
        places = self.on(np.array(middles).reshape(-1, 3)) + np.array([1.5 * self._mark, 0.0])
        widths = np.array([_LETTER * height * len(name) for name in names])
        for name, (x, y) in zip(names, spread(places, widths, 1.15 * height, self._size[1]), strict=True):
            yield self._text(name, float(x), float(y), height)

    def title(self) -> Iterator[str]:
        """The mechanism's name."""
        yield self._text(str(self.scene.mechanism.name), self._letters, 2.0 * self._letters, 1.3 * self._letters)

    def _text(self, text: str, x: float, y: float, height: float) -> str:
        place = f'x="{x:.1f}" y="{y:.1f}" font-size="{height:.1f}" fill="{hex_color(self.look.text)}"'
        halo = f'paint-order="stroke" stroke="{hex_color(self.look.background)}" stroke-width="3"'
        return f"<text {place} {halo}>{escape(text)}</text>"


def planar_view(playback: Playback) -> tuple[float, float] | None:
    """Turn and lift [rad] of the camera that looks along the axes of a planar mechanism; None if it is not planar."""
    scene, poses = playback.scenes[0], playback.first_poses[0]
    normal = _normal(scene.joints + scene.loops, poses)
    if normal is None:
        return None
    x, y, z = normal if normal[np.argmax(np.abs(normal))] * (-1.0 if abs(normal[2]) < 0.9 else 1.0) > 0 else -normal
    return (-0.5 * math.pi if abs(z) > 0.999 else math.atan2(y, x)), math.asin(max(-1.0, min(1.0, z)))


def _normal(joints: tuple[JointMark, ...], poses: Poses) -> Array | None:
    """Unit vector that all hinges are parallel to and all slides across; None if there is none."""
    moving = [(joint, frame_on(poses, joint.parent, joint.at)[1]) for joint in joints if joint.model.n_v]
    turns = [R @ np.array(joint.axes[0]) for joint, R in moving if isinstance(joint.model, Revolute)]
    slides = [R @ np.array(joint.axes[0]) for joint, R in moving if isinstance(joint.model, Prismatic)]
    if len(turns) + len(slides) < len(moving) or not turns:
        return None
    is_flat = all(abs(abs(axis @ turns[0]) - 1.0) < 1e-9 for axis in turns)
    found: Array = turns[0]
    return found if is_flat and all(abs(axis @ found) < 1e-9 for axis in slides) else None


def _hull(points: Array) -> Array:
    """Corners of the convex outline of points (n, 2) [pixels]."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found: Array = points[ConvexHull(points).vertices]
    except QhullError:  # all on one line
        k = int(np.argmax(np.ptp(points, axis=0)))
        found = points[[np.argmin(points[:, k]), np.argmax(points[:, k])]]
    return found


def _polygon(points: Array, fill: str, stroke: str, width: float) -> str:
    corners = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
    return f'<polygon points="{corners}" fill="{fill}" stroke="{stroke}" stroke-width="{width:.2f}"/>'


def _line(a: Array | list[float], b: Array | list[float], color: str, width: float) -> str:
    ends = f'x1="{a[0]:.2f}" y1="{a[1]:.2f}" x2="{b[0]:.2f}" y2="{b[1]:.2f}"'
    return f'<line {ends} stroke="{color}" stroke-width="{width:.2f}"/>'
