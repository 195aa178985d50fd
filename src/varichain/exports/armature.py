"""Bones of an animation: hierarchies of links that hold at all times, and poses within them."""

from __future__ import annotations

import numpy as np

from varichain.scene import Playback
from varichain.scene.poses import matrices_from_quaternions
from varichain.spatial.arrays import Array


def parents_of(playback: Playback) -> list[int | None]:
    """The part that each part hangs on at all times; None for one that hangs on the ground, comes off or vanishes."""
    names = [part.name for part in playback.parts]
    always: list[bool] = np.all(playback.is_shown, axis=0).tolist()
    found: list[int | None] = []
    for k, name in enumerate(names):
        carriers = {_carrier(playback, i, name, names) for i in range(len(playback.scenes))} if always[k] else {None}
        carrier = carriers.pop() if len(carriers) == 1 else None
        place = None if carrier is None else names.index(carrier)
        found.append(place if place is not None and always[place] else None)
    return found


def trees_of(parents: list[int | None]) -> list[list[int]]:
    """Parts of each tree, its root first, by the part that each hangs on; those come before what they carry."""
    trees: dict[int, list[int]] = {}
    root_of: list[int] = []
    for k, parent in enumerate(parents):
        root_of.append(k if parent is None else root_of[parent])
        trees.setdefault(root_of[k], []).append(k)
    return [*trees.values()]


def _carrier(playback: Playback, i: int, name: str, names: list[str]) -> str | None:
    """The nearest link below in the tree that is drawn, in one structure; None if that is the ground."""
    links = {link.name: link for link in playback.scenes[i].mechanism.links}
    link = links[name].parent if name in links else None
    while link is not None and not link.is_ground:
        if link.name in names:
            return str(link.name)
        link = link.parent
    return None


def local_poses(playback: Playback, k: int, parent: int | None) -> tuple[Array, Array]:
    """Places (n, 3) [m] and quaternions (w, x, y, z) (n, 4) of a part in its parent's frame, or in the world."""
    p, turns = playback.p[:, k], playback.quaternions[:, k]
    if parent is None:
        return p, turns
    R = matrices_from_quaternions(playback.quaternions[:, parent])
    inside = np.einsum("nji,nj->ni", R, p - playback.p[:, parent])
    w, v = playback.quaternions[:, parent, :1], -playback.quaternions[:, parent, 1:]
    scalar = w * turns[:, :1] - np.sum(v * turns[:, 1:], axis=1, keepdims=True)
    vector = w * turns[:, 1:] + turns[:, :1] * v + np.cross(v, turns[:, 1:])
    product = np.concatenate([scalar, vector], axis=1)
    signs = np.where(np.sum(product[1:] * product[:-1], axis=1) < 0.0, -1.0, 1.0)
    product[1:] *= np.cumprod(signs)[:, None]  # the short way from key to key
    return inside, np.clip(product / np.linalg.norm(product, axis=1, keepdims=True), -1.0, 1.0)
