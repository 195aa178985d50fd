"""A glTF 2.0 document in the making, packed into one binary file (GLB)."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np

from varichain.mechanism.materials import material_name
from varichain.scene import palette
from varichain.scene.palette import RGBA
from varichain.scene.triangles import Triangles, joined

_MARKS = ("link", "loop", "force", "footprint", "surface")  # of the palette, which are materials by these names
_FLOAT, _UINT, _USHORT, _UBYTE = 5126, 5125, 5123, 5121
_ARRAY, _ELEMENTS = 34962, 34963
_UNTURNED = (0.0, 0.0, 0.0, 1.0)


class Document:
    """A document: nodes with meshes of their own, and armatures whose bones move skins."""

    def __init__(self) -> None:
        """Begin without anything."""
        self._binary = bytearray()
        self._views: list[dict[str, Any]] = []
        self._accessors: list[dict[str, Any]] = []
        self._meshes: list[dict[str, Any]] = []
        self._nodes: list[dict[str, Any]] = []
        self._materials: dict[RGBA, int] = {}
        self._samplers: list[dict[str, Any]] = []
        self._channels: list[dict[str, Any]] = []
        self._skins: list[dict[str, Any]] = []
        self._cameras: list[dict[str, Any]] = []
        self._carried: set[int] = set()  # nodes on nodes

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

    def bone(self, name: str, p: Any, quaternion: Any = _UNTURNED, parent: int | None = None) -> int:
        """Add a node without a mesh, on another one or on none: an armature, or a bone of it."""
        return self._node({"name": name}, p, quaternion, parent)

    def skin(self, name: str, bones: list[int], inverses: Any, pieces: Iterable[tuple[RGBA, int, Triangles]]) -> None:
        """Add surfaces, each with its colour and the bone that it follows, as one mesh: a primitive for each colour.

        Args:
            name: Name of the mesh.
            bones: The armature's node, then those of its bones.
            inverses: Matrices (bones, 4, 4) that take a point of the skin to the frame of each bone.
            pieces: Colour, place among the bones, and surface where the skin is bound to the bones.
        """
        colors: dict[RGBA, list[tuple[int, Triangles]]] = {}
        for color, bone, surface in pieces:
            colors.setdefault(color, []).append((bone, surface))
        self._meshes.append({"name": name, "primitives": [self._bound(*color) for color in colors.items()]})
        columns = inverses.transpose(0, 2, 1).reshape(len(inverses), 16)  # column by column
        armature, *joints = bones
        skin = {"skeleton": armature, "joints": joints, "inverseBindMatrices": self.accessor(columns, "MAT4")}
        self._skins.append({"name": self._nodes[armature]["name"], **skin})
        # a skin's own node would be moved by nothing: it stands beside the armature
        self._nodes.append({"name": name, "mesh": len(self._meshes) - 1, "skin": len(self._skins) - 1})

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

    def node(self, name: str, primitives: list[dict[str, Any]], p: Any, quaternion: Any = _UNTURNED) -> int:
        """Add a node with a mesh of its own."""
        self._meshes.append({"name": name, "primitives": primitives})
        return self._node({"name": name, "mesh": len(self._meshes) - 1}, p, quaternion)

    def camera(self, p: Any, quaternion: Any, angle: float, aspect: float, distance: float) -> int:
        """Add a camera that looks against its z, with a field of view [rad] and a distance [m] to what it shows."""
        view = {"yfov": angle, "aspectRatio": aspect, "znear": 0.01 * distance, "zfar": 100.0 * distance}
        self._cameras.append({"name": "camera", "type": "perspective", "perspective": view})
        return self._node({"name": "camera", "camera": len(self._cameras) - 1}, p, quaternion)

    def _node(self, content: dict[str, Any], p: Any, quaternion: Any, parent: int | None = None) -> int:
        place = {"translation": [float(x) for x in p], "rotation": [float(x) for x in quaternion]}
        self._nodes.append({**content, **place})
        number = len(self._nodes) - 1
        if parent is not None:
            self._nodes[parent].setdefault("children", []).append(number)
            self._carried.add(number)
        return number

    def key(self, node: int, path: str, times: int, values: Any, interpolation: str = "LINEAR") -> None:
        """Move a node; one that never moves needs no keys."""
        if interpolation == "LINEAR" and np.ptp(values, axis=0).max() == 0.0:
            return
        output = self.accessor(values, "VEC4" if path == "rotation" else "VEC3")
        self._samplers.append({"input": times, "output": output, "interpolation": interpolation})
        self._channels.append({"sampler": len(self._samplers) - 1, "target": {"node": node, "path": path}})

    def packed(self, name: str, events: list[dict[str, Any]]) -> bytes:
        """The document as bytes."""
        content: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "varichain"},
            "scene": 0,
            "scenes": [{"name": name, "nodes": [k for k in range(len(self._nodes)) if k not in self._carried]}],
            "nodes": self._nodes,
            "meshes": self._meshes,
            "materials": [
                _material(color, name) for color, name in zip(self._materials, _names(self._materials), strict=True)
            ],
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self._binary)}],
        }
        if self._skins:
            content["skins"] = self._skins
        if self._cameras:
            content["cameras"] = self._cameras
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


def _names(colors: Iterable[RGBA]) -> list[str]:
    """Words for colours, each different from the others."""
    marks = {getattr(palette, name.upper().replace(" ", "_")): name for name in _MARKS}
    words = [marks.get(color) or material_name(*color[:3]) for color in colors]
    return [word if words.index(word) == k else f"{word} {words[: k + 1].count(word)}" for k, word in enumerate(words)]


def _material(color: RGBA, name: str) -> dict[str, Any]:
    """A matt surface; glTF wants linear colours."""
    linear = [((x + 0.055) / 1.055) ** 2.4 if x > 0.04045 else x / 12.92 for x in color[:3]]
    look = {"baseColorFactor": [*linear, color[3]], "metallicFactor": 0.0, "roughnessFactor": 0.6}
    return {"name": name, "pbrMetallicRoughness": look} | ({"alphaMode": "BLEND"} if color[3] < 1.0 else {})
