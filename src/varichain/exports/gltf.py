"""Animations as glTF 2.0: armatures with a bone for each link, skins, loops, forces, and the camera."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.exports.armature import local_poses, parents_of, trees_of
from varichain.exports.gltf_document import Document
from varichain.exports.look import Look
from varichain.scene import Part, Playback, palette
from varichain.scene import triangles as solids
from varichain.scene.camera import ANGLE, axes_of, fitted
from varichain.scene.palette import RGBA
from varichain.scene.poses import matrices_from_quaternions, quaternions_from_matrices
from varichain.scene.scene import Surface
from varichain.scene.triangles import Triangles, joined
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import matrix_with_z_along

_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""Matrix that lays our z, which is up, along glTF's y."""
_XYZW = [1, 2, 3, 0]
"""Order of glTF's quaternions in ours."""
_HALF = 0.5**0.5


def glb_of(playback: Playback, look: Look, size: tuple[int, int]) -> bytes:
    """The file: links as bones "link name", loop joints as balls that vanish while their loop is open.

    What hangs together at all times is an armature with a skin; a link by itself is a node with a mesh. Forces are
    arrows "force of joint name". The camera is that of a film of the size [pixels].
    """
    look.check(playback.parts)
    document = Document()
    times = document.accessor((playback.time - playback.time[0]) / playback.speed, "SCALAR", has_range=True)
    parents = parents_of(playback)
    for tree in trees_of(parents):
        if len(tree) > 1:
            _add_armature(document, playback, look, times, parents, tree)
        else:
            _add_body(document, playback, look, times, tree[0])
    if look.joints:
        _add_loops(document, playback, times)
    if look.forces:
        _add_forces(document, playback, times)
    _add_camera(document, playback, look, size[0] / size[1], times)
    events = [{"time": marker.time, "kind": marker.kind, "text": marker.text} for marker in playback.markers]
    return document.packed(str(playback.scenes[0].mechanism.name), events)


def _add_body(document: Document, playback: Playback, look: Look, times: int, k: int) -> None:
    """Add a link that hangs on the ground, or does not always hang on the same link."""
    part, is_shown = playback.parts[k], playback.is_shown[:, k]
    p, turns = playback.p[:, k] @ _UP.T, _upright(playback.quaternions[:, k])[:, _XYZW]
    first = int(np.argmax(is_shown))
    pieces = [document.primitive(surface.triangles, _color(look, part, surface)) for surface in part.surfaces]
    node = document.node(part.name, pieces, p[first], turns[first])
    document.key(node, "translation", times, p)
    document.key(node, "rotation", times, turns)
    if not is_shown.all():
        document.key(node, "scale", times, _switched(is_shown), "STEP")


def _add_armature(
    document: Document, playback: Playback, look: Look, times: int, parents: list[int | None], tree: list[int]
) -> None:
    """Add a tree of links: the armature goes where its root goes, and bones are local to it.

    Readers multiply in single precision from bone to bone. Far from the origin every product would lose digits; here
    the last one alone is far away.
    """
    root = playback.parts[tree[0]].name
    way = (playback.p[:, tree[0]] @ _UP.T).astype(np.float32).astype(float)  # as the file has it
    armature = document.bone(f"armature of {root}", way[0])
    document.key(armature, "translation", times, way)
    nodes: dict[int, int] = {}
    for k in tree:
        parent = parents[k]
        p, quaternions = local_poses(playback, k, parent)
        if parent is None:
            p, quaternions = p @ _UP.T - way, _upright(quaternions)
        turns = quaternions[:, _XYZW]
        on = armature if parent is None else nodes[parent]
        nodes[k] = document.bone(playback.parts[k].name, p[0], turns[0], on)
        document.key(nodes[k], "translation", times, p)
        document.key(nodes[k], "rotation", times, turns)
    document.skin(f"skin of {root}", [armature, *nodes.values()], *_bound(playback, look, tree, way[0]))


def _bound(playback: Playback, look: Look, tree: list[int], origin: Array) -> tuple[Array, list[Any]]:
    """Where bones are bound to their skin, as inverse matrices (bones, 4, 4), and the surfaces there.

    Both are seen from the armature's place (3,) at the start, as skins are.
    """
    inverses, pieces = np.zeros((len(tree), 4, 4)), []
    for i, k in enumerate(tree):
        R = _UP @ matrices_from_quaternions(playback.quaternions[0, k])
        p = _UP @ playback.p[0, k] - origin
        inverses[i, :3, :3], inverses[i, :3, 3], inverses[i, 3, 3] = R.T, -R.T @ p, 1.0
        for surface in playback.parts[k].surfaces:
            own = surface.triangles
            placed = Triangles(own.vertices @ R.T + p, own.normals @ R.T, own.faces)
            pieces.append((_color(look, playback.parts[k], surface), i, placed))
    return inverses, pieces


def _color(look: Look, part: Part, surface: Surface) -> RGBA:
    found: RGBA = look.colors.get(part.name) or surface.color or palette.LINK
    return found


def _add_loops(document: Document, playback: Playback, times: int) -> None:
    ball = [document.primitive(solids.sphere(playback.scenes[0].mark), palette.LOOP)] if playback.loops else []
    places = playback.loop_places @ _UP.T
    for k, name in enumerate(playback.loops):
        node = document.node(f"loop {name}", ball, places[0, k])
        document.key(node, "translation", times, places[:, k], "STEP")  # an open loop is nowhere
        document.key(node, "scale", times, _switched(playback.is_closed[:, k]), "STEP")


def _add_forces(document: Document, playback: Playback, times: int) -> None:
    """Add an arrow for each loop and contact that has a force in any frame; it is as long as in films."""
    arrows = playback.framing.arrow_scale * playback.forces
    lengths, places = np.linalg.norm(arrows, axis=-1), playback.force_places @ _UP.T
    width = 0.3 * playback.scenes[0].mark
    shape = [document.primitive(_arrow(), palette.FORCE)] if lengths.any() else []
    for k, name in enumerate((*playback.loops, *playback.contacts)):
        is_seen = playback.acts[:, k] & (lengths[:, k] > width)
        if not is_seen.any():
            continue
        turns = _directions(np.where(is_seen[:, None], arrows[:, k], (0.0, 0.0, 1.0)))
        scales = np.stack([np.full(len(turns), width), np.full(len(turns), width), lengths[:, k]], axis=1)
        node = document.node(f"force of {name}", shape, places[0, k])
        document.key(node, "translation", times, places[:, k], "STEP")
        document.key(node, "rotation", times, turns, "STEP")
        document.key(node, "scale", times, np.where(is_seen[:, None], scales, 1e-6), "STEP")


def _add_camera(document: Document, playback: Playback, look: Look, aspect: float, times: int) -> None:
    framing = playback.framing
    center, distance = fitted(framing.figure if framing.follows else framing.outline, look.view, aspect)
    axes = axes_of(look.view)
    turn = _upright(quaternions_from_matrices(axes.T)[None])[0, _XYZW]
    gone = framing.path if framing.follows else np.zeros((len(playback), 3))
    places = (center + gone + distance / look.zoom * axes[2]) @ _UP.T
    node = document.camera(places[0], turn, ANGLE, aspect, distance)
    document.key(node, "translation", times, places)


def _arrow() -> Triangles:
    """An arrow of length one along z, whose shaft has the radius one."""
    shaft = solids.cylinder(1.0, 0.8).moved(Pose((0.0, 0.0, 0.4)))
    return joined([shaft, solids.cylinder(2.2, 0.2, 0.0).moved(Pose((0.0, 0.0, 0.9)))])


def _directions(vectors: Array) -> Array:
    """Quaternions (n, 4), in glTF's order, that turn z to vectors (n, 3)."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Array = _upright(quaternions_from_matrices(np.array([matrix_with_z_along(unit) for unit in units])))
    return found[:, _XYZW]


def _upright(quaternions: Array) -> Array:
    """Orientations (w, x, y, z) (n, 4) seen from glTF's axes: turned by a quarter about x, against the clock's way.

    They are turned here, in double precision, and not by a node above: readers that multiply in single precision would
    lose digits far from the origin.
    """
    w, x, y, z = quaternions.T
    return _HALF * np.stack([w + x, x - w, y + z, z - y], axis=1)


def _switched(is_shown: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Scales (n, 3): 1 where something is shown, and next to nothing where it is not; zero would be no rotation."""
    return np.repeat(np.where(is_shown, 1.0, 1e-6)[:, None], 3, axis=1)
