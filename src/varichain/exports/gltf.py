"""Animations as glTF 2.0 in one binary file (GLB): an armature with a bone for each link, and a skin that it moves."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.exports.armature import local_poses, parents_of
from varichain.exports.look import Look
from varichain.scene import Playback, palette
from varichain.scene import triangles as solids
from varichain.scene.palette import RGBA
from varichain.scene.poses import matrices_from_quaternions
from varichain.scene.triangles import Triangles, joined

_FLOAT, _UINT, _USHORT, _UBYTE = 5126, 5125, 5123, 5121
_ARRAY, _ELEMENTS = 34962, 34963
_HALF = 0.5**0.5
_UPRIGHT = [-_HALF, 0.0, 0.0, _HALF]
"""Quaternion (x, y, z, w) that lays our z, which is up, along glTF's y."""
_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""The same as a matrix."""


def glb_of(playback: Playback, look: Look) -> bytes:
    """The file: links as bones "link name" in one skin, loop joints as balls that vanish while their loop is open."""
    look.check(playback.parts)
    document = _Document()
    times = document.accessor((playback.time - playback.time[0]) / playback.speed, "SCALAR", has_range=True)
    parents = parents_of(playback)
    for k, part in enumerate(playback.parts):
        p, quaternions = local_poses(playback, k, parents[k])
        turns = quaternions[:, [1, 2, 3, 0]]
        first = int(np.argmax(playback.is_shown[:, k]))  # where the skin is bound to the bones
        node = document.bone(part.name, p[first], turns[first], parents[k])
        document.key(node, "translation", times, p)
        document.key(node, "rotation", times, turns)
        if not playback.is_shown[:, k].all():
            document.key(node, "scale", times, _switched(playback.is_shown[:, k]), "STEP")
    document.skin(playback, look)
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
        self._skins: list[dict[str, Any]] = []
        self._carried: set[int] = set()  # bones on bones

    def accessor(self, numbers: Any, kind: str, target: int | None = None, has_range: bool = False) -> int:
        """Add numbers; whole ones are indices."""
        array = np.ascontiguousarray(numbers)
        code = {"u1": _UBYTE, "u2": _USHORT}.get(array.dtype.str[1:], _UINT if array.dtype.kind in "iu" else _FLOAT)
        array = array.astype({_UINT: "<u4", _FLOAT: "<f4", _UBYTE: "u1", _USHORT: "<u2"}[code])
        view = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": array.nbytes}
        self._views.append(view if target is None else view | {"target": target})
        self._binary += array.tobytes()
        n = array.size if kind == "SCALAR" else len(array)
        accessor = {
            "bufferView": len(self._views) - 1,
            "componentType": code,
            "count": n,
            "type": kind,
        }
        if code == _UBYTE:  # parts of 255: weights
            accessor["normalized"] = True
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

    def bone(self, name: str, p: Any, quaternion: Any, parent: int | None) -> int:
        """Add a bone, on another one or on the root."""
        place = {"translation": [float(x) for x in p], "rotation": [float(x) for x in quaternion]}
        self._nodes.append({"name": name, **place})
        number = len(self._nodes) - 1
        if parent is not None:
            self._nodes[parent].setdefault("children", []).append(number)
            self._carried.add(number)
        return number

    def skin(self, playback: Playback, look: Look) -> None:
        """Add the surfaces of all parts as one mesh, a primitive for each colour, that follows the bones before it."""
        n, inverses = len(playback.parts), np.zeros((len(playback.parts), 4, 4))
        colors: dict[RGBA, list[tuple[int, Triangles]]] = {}
        for k, part in enumerate(playback.parts):
            first = int(np.argmax(playback.is_shown[:, k]))
            R = _UP @ matrices_from_quaternions(playback.quaternions[first, k])
            p = _UP @ playback.p[first, k]
            inverses[k, :3, :3], inverses[k, :3, 3], inverses[k, 3, 3] = R.T, -R.T @ p, 1.0
            for surface in part.surfaces:
                color = look.colors.get(part.name) or surface.color or palette.LINK
                bound = Triangles(
                    surface.triangles.vertices @ R.T + p, surface.triangles.normals @ R.T, surface.triangles.faces
                )
                colors.setdefault(color, []).append((k, bound))
        primitives = [self._bound(color, pieces) for color, pieces in colors.items()]
        if not primitives:
            return
        self._meshes.append({"name": "skin", "primitives": primitives})
        self._skinned = len(self._meshes) - 1
        columns = inverses.transpose(0, 2, 1).reshape(n, 16)  # column by column
        self._skins.append({"joints": list(range(n)), "inverseBindMatrices": self.accessor(columns, "MAT4")})

    def _bound(self, color: RGBA, pieces: list[tuple[int, Triangles]]) -> dict[str, Any]:
        """A primitive of pieces that each follow one bone."""
        surface = joined([piece for _, piece in pieces])
        bones = np.repeat([k for k, _ in pieces], [len(piece.vertices) for _, piece in pieces])
        joints, weights = np.zeros((len(bones), 4), np.uint16), np.zeros((len(bones), 4), np.uint8)
        joints[:, 0], weights[:, 0] = bones, 255
        primitive = self.primitive(surface, color)
        primitive["attributes"] |= {
            "JOINTS_0": self.accessor(joints, "VEC4", _ARRAY),
            "WEIGHTS_0": self.accessor(weights, "VEC4", _ARRAY),
        }
        return primitive

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
        children = [k for k in range(len(self._nodes)) if k not in self._carried]
        root = {"name": name, "rotation": _UPRIGHT, "children": children}
        n = len(self._nodes)
        # a skin's own node would be moved by nothing: it stands beside the armature
        mesh = [{"name": "skin", "mesh": self._skinned, "skin": 0}] if self._skins else []
        content: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "varichain"},
            "scene": 0,
            "scenes": [{"name": name, "nodes": [n, *range(n + 1, n + 1 + len(mesh))]}],
            "nodes": [*self._nodes, root, *mesh],
            "meshes": self._meshes,
            "materials": [_material(color) for color in self._materials],
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self._binary)}],
        }
        if self._skins:
            content["skins"] = [{"name": "armature", "skeleton": n, **self._skins[0]}]
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
