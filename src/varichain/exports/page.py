"""Replays as one HTML file: geometry, frames and a player in it; no other file, no network."""

from __future__ import annotations

import base64
import html
import json
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.exports.ground import grid_pitch
from varichain.exports.look import Look
from varichain.scene import Part, Playback, palette
from varichain.scene import triangles as solids
from varichain.scene.camera import ANGLE, MARGIN
from varichain.scene.cones import Cones, cone_triangles
from varichain.scene.palette import RGBA
from varichain.scene.scene import Surface
from varichain.scene.supports import support_triangles
from varichain.scene.triangles import Triangles
from varichain.spatial.arrays import Array
from varichain.trace.text import count


def page_of(playback: Playback, look: Look) -> str:
    """The page: it plays from a file, without a network."""
    data = json.dumps(_content(playback, look), separators=(",", ":"), allow_nan=False)
    template = resources.files("varichain.exports").joinpath("page.html").read_text(encoding="utf-8")
    # "</script>" in a name would end the block of data; "<" can be written otherwise in JSON
    filled = {"title": html.escape(_name(playback)), "data": data.replace("<", "\\u003c")}
    for key, value in filled.items():
        template = template.replace("{{" + key + "}}", value)
    return template


def _content(playback: Playback, look: Look) -> dict[str, Any]:
    look.check(playback.parts)
    gathered, framing = _Gathered(), playback.framing
    parts = [
        [gathered.surface(surface, look.colors.get(part.name)) for surface in part.surfaces] for part in playback.parts
    ]
    shapes = {
        "ball": solids.sphere(1.0),
        "cylinder": solids.cylinder(1.0, 1.0),
        "cone": solids.cylinder(1.0, 1.0, 0.0),
        "support": support_triangles(1.0),
        "funnel": cone_triangles(),
    }
    marks = {name: gathered.add(surface) for name, surface in shapes.items()}
    names = {part.name: k for k, part in enumerate(playback.parts)}
    colors = {name: getattr(palette, name.upper()) for name in _COLORS} | {"background": look.background}
    for name in ("ground", "grid"):  # tinted by the background, as in films
        colors[name] = tuple(part * tint for part, tint in zip(colors[name], (*look.background[:3], 1.0), strict=True))
    return {
        "name": _name(playback),
        "speed": playback.speed,
        "time": _packed(playback.time, "<f8"),
        "epoch": _packed(playback.epoch, "<u4"),
        "poses": _packed(np.concatenate([playback.p, playback.quaternions], axis=-1), "<f4"),
        "shown": _packed(playback.is_shown, "<u1"),
        "closed": _packed(playback.is_closed, "<u1"),
        "places": _packed(playback.loop_places, "<f4"),
        "forces": _packed(playback.loop_forces, "<f4"),
        "pressures": _packed(np.concatenate([playback.contact_places, playback.contact_forces], axis=-1), "<f4"),
        "cones": None if playback.cones is None else _packed(_cones(playback.cones), "<f4"),
        "ends": _packed(playback.loop_ends[:, playback.is_line], "<f4"),
        "lines": np.flatnonzero(playback.is_line).tolist(),
        "trails": [_packed(path, "<f4") for path in playback.trails.values()],
        "aims": [[_packed(path, "<f4") for path in aim] for aim in playback.aims.values()],
        "vertices": _packed(gathered.vertices(), "<f4"),
        "normals": _packed(np.round(127.0 * gathered.normals()), "i1"),
        "faces": _packed(gathered.faces(), "<u4" if gathered.is_large else "<u2"),
        "isLarge": gathered.is_large,
        "parts": parts,
        "names": [None if part.name in playback.footprints else part.name for part in playback.parts],
        "middles": [_middle(part) for part in playback.parts],
        "solids": marks,
        "loops": list(playback.loops),
        "epochs": [_epoch(playback, k, names, look) for k in range(len(playback.scenes))],
        "markers": [vars(marker) for marker in playback.markers],
        "outline": framing.outline.tolist(),
        "figure": framing.figure.tolist(),
        "path": _packed(framing.path, "<f4"),
        "angle": ANGLE,
        "margin": MARGIN,
        "floor": framing.floor,
        "pitch": grid_pitch(framing.size),
        "mark": playback.scenes[0].mark,
        "arrow": framing.arrow_scale,
        "camera": look.view,
        "zoom": look.zoom,
        "shows": {name: getattr(look, name) for name in ("forces", "joints", "labels", "ground", "title")},
        "follows": framing.follows,
        "palette": colors,
    }


def _cones(cones: Cones) -> Array:
    """Normals, friction, and 1 where a point slips (n, c, 5)."""
    friction = np.broadcast_to(cones.friction, cones.slips.shape)
    return np.concatenate([cones.normals, friction[..., None], cones.slips[..., None]], axis=-1)


_COLORS = (
    "background",
    "connect",
    "cut",
    "element",
    "event",
    "force",
    "grid",
    "ground",
    "in_loops",
    "joint",
    "loop",
    "slips",
    "sticks",
    "target",
    "tracked",
    "trail",
    "virtual",
)


class _Gathered:
    """All triangles behind each other, and where each surface begins."""

    def __init__(self) -> None:
        self._parts: list[Triangles] = []
        self._n_vertices = self._n_indices = 0
        self._starts: list[int] = []

    def add(self, surface: Triangles) -> tuple[int, int]:
        """First index and number of indices of a surface."""
        place = (self._n_indices, surface.faces.size)
        self._parts.append(surface)
        self._starts.append(self._n_vertices)
        self._n_vertices += len(surface.vertices)
        self._n_indices += surface.faces.size
        return place

    def surface(self, surface: Surface, color: RGBA | None) -> dict[str, Any]:
        return {"range": self.add(surface.triangles), "color": color or surface.color or palette.LINK}

    @property
    def is_large(self) -> bool:
        """Whether indices of vertices need more than two bytes."""
        return self._n_vertices > 65_535

    def vertices(self) -> NDArray[np.float64]:
        return np.concatenate([part.vertices for part in self._parts])

    def normals(self) -> NDArray[np.float64]:
        return np.concatenate([part.normals for part in self._parts])

    def faces(self) -> NDArray[np.int64]:
        both = zip(self._parts, self._starts, strict=True)
        return np.concatenate([part.faces.astype(np.int64) + start for part, start in both])


def _epoch(playback: Playback, k: int, names: dict[str, int], look: Look) -> dict[str, Any]:
    """What the structure of epoch k is; joints are placed in parts, -1 for ground without shapes."""
    scene = playback.scenes[k]
    m = scene.mechanism
    marked = [joint for joint in scene.joints if joint.is_guide]
    return {
        "in_loops": [names[name] for name in scene.in_loops if name in names and name not in look.colors],
        "supports": [(support.place, support.is_above) for support in playback.framing.supports[k]],
        "joints": [(names.get(joint.holder, -1), joint.place) for joint in marked],
        "text": f"{count(len(m), 'link')}, {count(m.n_v, 'freedom')} in the tree, {count(len(scene.loops), 'loop')}",
    }


def _middle(part: Part) -> list[float]:
    """Middle of the box around a part, in its own frame [m]."""
    corners = np.concatenate([surface.triangles.vertices for surface in part.surfaces])
    found: list[float] = (0.5 * (corners.min(axis=0) + corners.max(axis=0))).tolist()
    return found


def _name(playback: Playback) -> str:
    return str(playback.scenes[0].mechanism.name)


def _packed(numbers: Any, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers).astype(kind).tobytes()).decode("ascii")
