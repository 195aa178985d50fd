"""Forces of surfaces on links, each at its centre of pressure: where a foot stands, and how hard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from varichain.mechanism.contact import HalfSpace, Surface
from varichain.mechanism.height_field import HeightField
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Capsule, Cylinder
from varichain.scene.contact_points import POINTS_OF_BOXES, Meeting, Pairs, Touch, meetings_of
from varichain.scene.hulls import Hull, hull_of
from varichain.scene.poses import Poses, frame_on
from varichain.spatial.arrays import Array

_LEVEL = 1e-9  # of a rim: every point of it is as low
_SLIPS = 2  # mode of a contact
_STEPS = 65  # places on the axis of a capsule that are compared
_NEAR = 1e-4  # [m] at which a corner counts as at another box or hull


class _Contact(NamedTuple):
    """One contact: a point, box or hull of a link, one shape of another, one of which is a surface, and friction."""

    link: str
    touch: Touch | Box | Hull
    carrier: str
    shape: Any
    friction: float
    is_swapped: bool


class Spots(NamedTuple):
    """Where surfaces bear links in n samples: at c points, each with a force of its own.

    Attributes:
        names: Names of the contacts (c,), such as "left foot on floor 2"; of two boxes, that of the first of eight.
        places: Where they are (n, c, 3) [m].
        normals: Directions out of the surfaces (n, c, 3).
        forces: Forces on the links (n, c, 3) [N].
        slips: Which of them slip (n, c).
        friction: Coefficients of friction (c,).
    """

    names: tuple[str, ...]
    places: Array
    normals: Array
    forces: Array
    slips: NDArray[np.bool_]
    friction: Array


class Contacts:
    """Contacts of a structure, by the names that a run gives them, such as "left foot on floor 2".

    Attributes:
        pairs: Names of all pairs of a link and a surface (c,), such as "left foot on floor".
    """

    def __init__(self, m: Mechanism, names: Sequence[str]) -> None:
        """Find the points of contacts with these names."""
        self._names = tuple(names)
        of = [name.rpartition(" ")[0] for name in names]
        self.pairs = tuple(dict.fromkeys(of))
        self._pair = np.array([self.pairs.index(pair) for pair in of], dtype=int)
        known = {
            f"{link.name} on {surface.name}": (link, surface) for surface in m.surfaces.values() for link in m.links
        }
        pairs_found: Pairs = set()
        self._contacts = [
            contact
            for link, surface in (known[pair] for pair in self.pairs)
            for meeting in meetings_of(m, link, surface, pairs_found)
            for contact in [_contact(link.name, surface, meeting)] * _width(meeting.touch)
        ]

    def pressures(self, poses: Poses, forces: Array) -> tuple[Array, Array]:
        """Centres of pressure (n, c, 3) [m] and forces (n, c, 3) [N] of all pairs.

        The centre is the mean of the points, each weighted by its normal force: on a plane it is where the sum of the
        forces has no moment about axes in the plane. Where there is no force it is at the origin.

        Args:
            poses: Poses of the links in n samples.
            forces: Forces (n, contacts, 3) [N] on the links, world axes.
        """
        shape = (len(forces), len(self.pairs))
        sums, places, weights = np.zeros((*shape, 3)), np.zeros((*shape, 3)), np.zeros((*shape, 1))
        for k, (pair, contact) in enumerate(zip(self._pair, self._contacts, strict=True)):
            bears = forces[:, k].any(axis=-1)
            if bears.any():
                force = forces[bears, k]
                place, normal = _met(contact, Poses(poses.names, poses.p[bears], poses.R[bears]))
                weight = np.maximum(np.sum(force * normal, axis=-1, keepdims=True), 0.0)
                sums[bears, pair] += force
                places[bears, pair] += weight * place
                weights[bears, pair] += weight
        return np.divide(places, weights, out=np.zeros_like(places), where=weights > 0.0), sums

    def spots(self, poses: Poses, forces: Array, modes: Array) -> Spots:
        """Points that bear in any of n samples, with their forces; the eight contacts of two boxes or hulls are one.

        Args:
            poses: Poses of the links in the samples.
            forces: Forces (n, contacts, 3) [N] on the links, world axes.
            modes: Modes of the contacts (n, contacts): 0 apart, 1 sticks, 2 slips.
        """
        spots = [slice(k, k + _width(self._contacts[k].touch)) for k in self._firsts()]
        spots = [own for own in spots if forces[:, own].any()]
        n, c = len(forces), len(spots)
        places, normals, pushes = np.zeros((3, n, c, 3))
        slips = np.zeros((n, c), dtype=bool)
        for k, own in enumerate(spots):
            places[:, k], normals[:, k] = _met(self._contacts[own.start], poses)
            pushes[:, k] = forces[:, own].sum(axis=1)
            slips[:, k] = (forces[:, own].any(axis=-1) & (modes[:, own] == _SLIPS)).any(axis=1)
        names = tuple(self._names[own.start] for own in spots)
        friction = np.array([self._contacts[own.start].friction for own in spots])
        return Spots(names, places, normals, pushes, slips, friction)

    def _firsts(self) -> Iterator[int]:
        """The first contact of each point."""
        k = 0
        while k < len(self._contacts):
            yield k
            k += _width(self._contacts[k].touch)


def _contact(link: str, surface: Surface, meeting: Meeting) -> _Contact:
    touch, shape, is_swapped = meeting
    a, b = (surface.link, link) if is_swapped else (link, surface.link)
    return _Contact(a, touch, b, shape, surface.friction, is_swapped)


def _width(touch: Touch | Box | Hull) -> int:
    """Number of contacts that are one point in pictures."""
    return 1 if isinstance(touch, Touch) else POINTS_OF_BOXES


def _met(contact: _Contact, poses: Poses) -> tuple[Array, Array]:
    """Where a contact is (n, 3) [m], and the direction (n, 3) out of the surface."""
    place, normal = _touched(contact, poses)
    return place, -normal if contact.is_swapped else normal


def _touched(contact: _Contact, poses: Poses) -> tuple[Array, Array]:
    """Where a contact is (n, 3) [m], which is the point that is lowest on the other shape, and its normal (n, 3).

    The contacts of two boxes or hulls are all put in the middle of where these meet.
    """
    touch = contact.touch
    p, R = frame_on(poses, contact.link, touch.at)
    p_S, R_S = frame_on(poses, contact.carrier, contact.shape.at)
    if not isinstance(touch, Touch):
        return _between(touch, p, R, contact.shape, p_S, R_S)
    if touch.kind in ("edge", "cap"):
        return _across(touch, p, R, contact.shape, p_S, R_S)
    if touch.kind == "side":
        return _beside(touch, p, R, contact.shape, p_S, R_S)
    normal = np.einsum("nij,nj->ni", R_S, _normal(contact.shape, np.einsum("nji,nj->ni", R_S, p - p_S)))
    if touch.kind == "ball":
        return p - touch.radius * normal, normal
    if touch.kind == "rim":
        return p + _on_rim(touch, R, normal), normal
    scaled = np.einsum("nji,nj->ni", R, normal) * touch.radii
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    return p - np.einsum("nij,nj->ni", R, touch.radii * scaled), normal


def _beside(touch: Touch, p: Array, R: Array, shape: Any, p_S: Array, R_S: Array) -> tuple[Array, Array]:
    """Place (n, 3) on the side of a capsule that meets an end of a sphere or capsule, or crosses it; and the normal."""
    middle, d = np.einsum("nji,nj->ni", R_S, p - p_S), np.einsum("nji,nj->ni", R_S, R[:, :, 2])
    half = 0.5 * shape.length if isinstance(shape, Capsule) else 0.0
    reached = np.sum(d * middle, axis=1)
    if touch.end:
        along = np.full(len(p), touch.end * half)
        s = d[:, 2] * along - reached
    else:
        s = (d[:, 2] * middle[:, 2] - reached) / np.maximum(1.0 - d[:, 2] ** 2, _LEVEL)
        along = middle[:, 2] + s * d[:, 2]
    away = middle + s[:, None] * d - along[:, None] * [0.0, 0.0, 1.0]
    away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), _LEVEL)
    normal = np.einsum("nij,nj->ni", R_S, away)
    return p + s[:, None] * R[:, :, 2] - touch.radius * normal, normal


def _across(touch: Touch, p: Array, R: Array, box: Box | Hull, p_S: Array, R_S: Array) -> tuple[Array, Array]:
    """Place (n, 3) of a box or hull that is nearest to the axis of a capsule or cylinder, and the direction from it.

    Where a stretch of the axis is as near, it is the middle of the places.
    """
    along = np.linspace(-touch.radii[0], touch.radii[0], _STEPS)
    axis = p[:, None] + along[:, None] * R[:, None, :, 2]
    places = _nearest(axis, box, p_S, R_S)
    away = axis - places
    distance = np.linalg.norm(away, axis=2, keepdims=True)
    near = distance < distance.min(axis=1, keepdims=True) + _NEAR
    place, away = ((part * near).sum(axis=1) / near.sum(axis=1) for part in (places, away))
    return place, away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), _LEVEL)


def _between(own: Box | Hull, p: Array, R: Array, other: Box | Hull, p_S: Array, R_S: Array) -> tuple[Array, Array]:
    """Middle (n, 3) of the corners of either solid that are at the other one, and the direction (n, 3) from the other.

    Where no corner is, as of crossed ones, it is the place of the other that is nearest to the first one's middle.
    """
    corners, others = _corners(own, p, R), _corners(other, p_S, R_S)
    at_other, at_own = _nearest(corners, other, p_S, R_S), _nearest(others, own, p, R)
    points = np.concatenate([corners, others], axis=1)
    near = np.linalg.norm(points - np.concatenate([at_other, at_own], axis=1), axis=2, keepdims=True) < _NEAR
    nearest = _nearest(p[:, None], other, p_S, R_S)[:, 0]
    count = near.sum(axis=1)
    place = np.where(count > 0, (points * near).sum(axis=1) / np.maximum(count, 1), nearest)
    away = p - nearest
    away = np.where((away == 0.0).all(axis=1, keepdims=True), p - p_S, away)
    return place, away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), _LEVEL)


def _corners(solid: Box | Hull, p: Array, R: Array) -> Array:
    """Corners (n, c, 3) of a box or hull."""
    found: Array = p[:, None] + np.einsum("nij,cj->nci", R, _hull(solid).vertices)
    return found


def _hull(solid: Box | Hull) -> Hull:
    return hull_of(solid, "") if isinstance(solid, Box) else solid


def _nearest(points: Array, solid: Box | Hull, p: Array, R: Array) -> Array:
    """Places of a box or hull that are nearest to points (n, c, 3)."""
    own = np.einsum("nji,ncj->nci", R, points - p[:, None])
    if isinstance(solid, Hull):
        inside = solid.nearest(own)
    else:
        half = 0.5 * np.array(solid.size)
        inside = np.clip(own, -half, half)
    found: Array = p[:, None] + np.einsum("nij,ncj->nci", R, inside)
    return found


def _normal(shape: Any, p: Array) -> Array:
    """Directions (n, 3) out of a surface's shape at the places of it that are nearest to points p (n, 3), its frame.

    Of a height field: at the places below the points.
    """
    up = np.broadcast_to([0.0, 0.0, 1.0], p.shape)
    if isinstance(shape, HalfSpace):
        return up
    if isinstance(shape, HeightField):
        return shape.normals_at(p[:, :2])
    if isinstance(shape, Box):
        half = 0.5 * np.array(shape.size)
        away = p - np.clip(p, -half, half)
        depth = np.abs(p) - half  # inside: out by the nearest face
        face = np.sign(p) * (depth == depth.max(axis=1, keepdims=True))
        away = np.where((away == 0.0).all(axis=1, keepdims=True), face, away)
    elif isinstance(shape, Hull):
        away = p - shape.nearest(p)
        face = shape.normals[np.argmax(p @ shape.normals.T - shape.distances, axis=1)]
        away = np.where((away == 0.0).all(axis=1, keepdims=True), face, away)
    elif isinstance(shape, Cylinder):
        across = np.linalg.norm(p[:, :2], axis=1, keepdims=True)
        ends = np.clip(p[:, 2:], -0.5 * shape.length, 0.5 * shape.length)
        inside = np.concatenate([p[:, :2] * np.minimum(1.0, shape.radius / np.maximum(across, _LEVEL)), ends], axis=1)
        away = p - inside
        is_end = np.abs(p[:, 2:]) - 0.5 * shape.length > across - shape.radius
        face = np.where(is_end, np.sign(p) * [0.0, 0.0, 1.0], p * [1.0, 1.0, 0.0])
        away = np.where((away == 0.0).all(axis=1, keepdims=True), face, away)
    else:
        middle = np.zeros_like(p)
        if isinstance(shape, Capsule):
            middle[:, 2] = np.clip(p[:, 2], -0.5 * shape.length, 0.5 * shape.length)
        away = p - middle
    length = np.linalg.norm(away, axis=1, keepdims=True)
    return np.where(length > 0.0, away / np.where(length > 0.0, length, 1.0), up)


def _on_rim(touch: Touch, R: Array, normal: Array) -> Array:
    """Place (n, 3) of a rim's point from its middle, turned from the lowest."""
    axis = R[:, :, 2]
    down = np.sum(normal * axis, axis=1, keepdims=True) * axis - normal
    length = np.linalg.norm(down, axis=1, keepdims=True)
    lowest = np.where(length > _LEVEL, down / np.maximum(length, _LEVEL), R[:, :, 0])
    cosine, sine, _ = touch.radii
    found: Array = touch.radius * (cosine * lowest + sine * np.cross(axis, lowest))
    return found
