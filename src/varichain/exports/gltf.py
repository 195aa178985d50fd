"""Animations as glTF 2.0 in one binary file (GLB): a rigid node for each link, moved by keys."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.exports.look import Look
from varichain.scene import Playback, palette
from varichain.scene import triangles as solids
from varichain.scene.palette import RGBA
from varichain.scene.triangles import Triangles

_FLOAT, _UINT = 5126, 5125
_ARRAY, _ELEMENTS = 34962, 34963
_HALF = 0.5**0.5
_UPRIGHT = [-_HALF, 0.0, 0.0, _HALF]
"""Quaternion (x, y, z, w) that lays our z, which is up, along glTF's y."""


def glb_of(playback: Playback, look: Look) -> bytes:
    """The file: links as nodes "link name", joints that close loops as balls that vanish while their loop is open."""
    look.check(playback.parts)
    document = _Document()
    times = document.accessor((playback.time - playback.time[0]) / playback.speed, "SCALAR", has_range=True)
    for k, part in enumerate(playback.parts):
        own = look.colors.get(part.name)
        primitives = [document.primitive(s.triangles, own or s.color or palette.LINK) for s in part.surfaces]
        turns = playback.quaternions[:, k, [1, 2, 3, 0]]
        node = document.node(part.name, primitives, playback.p[0, k], turns[0])
        document.key(node, "translation", times, playback.p[:, k])
        document.key(node, "rotation", times, turns)
        if not playback.is_shown[:, k].all():
            document.key(node, "scale", times, _switched(playback.is_shown[:, k]), "STEP")
    ball = [document.primitive(solids.sphere(playback.scenes[0].mark), palette.LOOP)] if playback.loops else []
    for k, name in enumerate(playback.loops):
        node = document.node(f"loop {name}", ball, playback.loop_places[0, k])
        document.key(node, "translation", times, playback.loop_places[:, k], "STEP")  # an open loop is nowhere
        document.key(node, "scale", times, _switched(playback.is_closed[:, k]), "STEP")
    events = [{"time": marker.time, "kind": marker.kind, "text": marker.text} for marker in playback.markers]
    return document.packed(str(playback.scenes[0].mechanism.name), events)


def _switched(is_shown: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Scales (n, 3): 1 where something is shown, and next to nothing where it is not; zero would be no rotation."""
    return np.repeat(np.where(is_shown, 1.0, 1e-6)[:, None], 3, axis=1)


class _Document:
    """A glTF document in the making."""

    def __init__(self) -> None:
        self._binary = bytearray()
        self._views: list[dict[str, Any]] = []
        self._accessors: list[dict[str, Any]] = []
        self._meshes: list[dict[str, Any]] = []
        self._nodes: list[dict[str, Any]] = []
        self._materials: dict[RGBA, int] = {}
        self._samplers: list[dict[str, Any]] = []
        self._channels: list[dict[str, Any]] = []

    def accessor(self, numbers: Any, kind: str, target: int | None = None, has_range: bool = False) -> int:
        """Add numbers; whole ones are indices."""
        array = np.ascontiguousarray(numbers)
        is_index = array.dtype.kind in "iu"
        array = array.astype("<u4" if is_index else "<f4")
        view = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": array.nbytes}
        self._views.append(view if target is None else view | {"target": target})
        self._binary += array.tobytes()
        n = array.size if kind == "SCALAR" else len(array)
        accessor = {
            "bufferView": len(self._views) - 1,
            "componentType": _UINT if is_index else _FLOAT,
            "count": n,
            "type": kind,
        }
        if has_range:
            columns = array.reshape(n, -1)
            accessor |= {"min": columns.min(axis=0).tolist(), "max": columns.max(axis=0).tolist()}
        self._accessors.append(accessor)
        return len(self._accessors) - 1

    def primitive(self, surface: Triangles, color: RGBA) -> dict[str, Any]:
        """Add a surface."""
        attributes = {
            "POSITION": self.accessor(surface.vertices, "VEC3", _ARRAY, has_range=True),
            "NORMAL": self.accessor(surface.normals, "VEC3", _ARRAY),
        }
        indices = self.accessor(surface.faces.ravel(), "SCALAR", _ELEMENTS)
        return {"attributes": attributes, "indices": indices, "material": self._material(color)}

    def node(self, name: str, primitives: list[dict[str, Any]], p: Any, quaternion: Any = (0.0, 0.0, 0.0, 1.0)) -> int:
        """Add a node with a mesh of its own."""
        self._meshes.append({"name": name, "primitives": primitives})
        place = {"translation": [float(x) for x in p], "rotation": [float(x) for x in quaternion]}
        self._nodes.append({"name": name, "mesh": len(self._meshes) - 1, **place})
        return len(self._nodes) - 1

    def key(self, node: int, path: str, times: int, values: Any, interpolation: str = "LINEAR") -> None:
        """Move a node; one that never moves needs no keys."""
        if interpolation == "LINEAR" and np.ptp(values, axis=0).max() == 0.0:
            return
        output = self.accessor(values, "VEC4" if path == "rotation" else "VEC3")
        self._samplers.append({"input": times, "output": output, "interpolation": interpolation})
        self._channels.append({"sampler": len(self._samplers) - 1, "target": {"node": node, "path": path}})

    def packed(self, name: str, events: list[dict[str, Any]]) -> bytes:
        """The document as bytes."""
        root = {"name": name, "rotation": _UPRIGHT, "children": list(range(len(self._nodes)))}
        content: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "varichain"},
            "scene": 0,
            "scenes": [{"name": name, "nodes": [len(self._nodes)]}],
            "nodes": [*self._nodes, root],
            "meshes": self._meshes,
            "materials": [_material(color) for color in self._materials],
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self._binary)}],
        }
        if self._channels:
            motion = {
                "name": name,
                "samplers": self._samplers,
                "channels": self._channels,
                "extras": {"events": events},
            }
            content["animations"] = [motion]
        text = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
        chunks = [(b"JSON", text + b" " * (-len(text) % 4)), (b"BIN\0", bytes(self._binary))]
        body = b"".join(struct.pack("<I", len(chunk)) + kind + chunk for kind, chunk in chunks)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body

    def _material(self, color: RGBA) -> int:
        return self._materials.setdefault(color, len(self._materials))


def _material(color: RGBA) -> dict[str, Any]:
    """A matt surface; glTF wants linear colours."""
    linear = [((x + 0.055) / 1.055) ** 2.4 if x > 0.04045 else x / 12.92 for x in color[:3]]
    look = {"baseColorFactor": [*linear, color[3]], "metallicFactor": 0.0, "roughnessFactor": 0.6}
    return {"name": palette.hex_color(color), "pbrMetallicRoughness": look} | (
        {"alphaMode": "BLEND"} if color[3] < 1.0 else {}
    )
