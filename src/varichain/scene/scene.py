"""Scenes: what there is to be seen of one structure. Poses are not part of it; see `poses` and `playback`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from varichain.mechanism.height_field import HeightField
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import Fixed
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Shape
from varichain.scene import palette
from varichain.scene.meshes import shape_triangles
from varichain.scene.palette import RGBA
from varichain.scene.poses import Poses, frame_on
from varichain.scene.stand_ins import bone_radius, stand_in
from varichain.scene.surfaces import ground_shapes
from varichain.scene.triangles import Triangles, joined
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance
from varichain.spatial.pose import Pose

_LINKS = 20.0  # length of a usual link, in radii of bones


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles of one colour, in the link's frame; `color` is None where the shape has none of its own."""

    triangles: Triangles
    color: RGBA | None


@dataclass(frozen=True, eq=False)
class Part:
    """What a link looks like, in its own frame.

    Attributes:
        name: The link's name; "ground" too is one.
        surfaces: Its surfaces, one for each colour.
        is_stand_in: Whether the link had no shapes of its own.
    """

    name: str
    surfaces: tuple[Surface, ...]
    is_stand_in: bool = False

    @property
    def reach(self) -> float:
        """Distance of the farthest corner from the link's origin [m]."""
        far = [np.linalg.norm(s.triangles.vertices, axis=1).max(initial=0.0) for s in self.surfaces]
        return float(max(far, default=0.0))


@dataclass(frozen=True)
class JointMark:
    """A joint, to be marked.

    Attributes:
        model: The joint.
        link, parent: Names of the links that it ties; of a loop, the real link and the one that its copy hangs on.
        at: The joint frame in the parent's frame.
        on_link: The same frame in the link's frame while the joint is in its zero configuration.
        axes: Directions of its freedoms in the joint frame; empty where it has no special ones.
        is_loop: Whether it closes a loop.
        virtual: Name of the virtual link, if it does.
        holder: The link with a part, or ground, that the joint frame is fixed to; the parent, if that can be seen.
        place: Origin of the joint frame in the holder's frame [m].
    """

    model: Joint
    link: str
    parent: str
    at: Pose
    on_link: Pose
    axes: tuple[tuple[float, float, float], ...] = ()
    is_loop: bool = False
    virtual: str | None = None
    holder: str = "ground"
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def name(self) -> str:
        """Name of the joint, such as "left elbow"."""
        return str(self.model.name)

    @property
    def is_line(self) -> bool:
        """Whether it is a force element between two points: a spring, a cable, a muscle."""
        return self.model.law == "line"

    @property
    def is_guide(self) -> bool:
        """Whether it lets its link move in some ways and not in others: neither fixed nor free."""
        return 0 < self.model.n_v < 6


@dataclass(frozen=True, eq=False)
class Scene:
    """What there is to be seen of one structure.

    Attributes:
        mechanism: The structure.
        parts: What each link looks like, ground first if it has shapes; virtual links have no part of their own.
        joints: Joints of the tree, in the order of q.
        loops: Joints that close loops, in the order of `loop_forces`.
        in_loops: Names of the links that have a virtual copy.
        mark: Radius of marks at joints that suits the sizes [m].
        notes: What could not be drawn, in sentences.
    """

    mechanism: Mechanism
    parts: tuple[Part, ...]
    joints: tuple[JointMark, ...]
    loops: tuple[JointMark, ...]
    in_loops: frozenset[str]
    mark: float
    notes: tuple[str, ...] = field(default=())

    def color(self, part: str, surface: Surface) -> RGBA:
        """Colour of a part's surface in this structure: links in loops have their own."""
        if part in self.in_loops:
            return palette.IN_LOOPS
        return palette.LINK if surface.color is None else surface.color

    @cached_property
    def welded(self) -> frozenset[str]:
        """Names of the ground and of all links that joints without freedoms fix to it."""
        found = {self.mechanism.ground.name}
        for joint in self.joints:  # parents come first
            if joint.model.n_v == 0 and joint.parent in found:
                found.add(joint.link)
        return frozenset(found)

    def bounding_sphere(self, poses: Poses) -> tuple[Array, float]:
        """Centre (3,) [m] and radius [m] of a ball around all parts in one configuration."""
        return ball_of(*box_around((part for part in self.parts if part.name in poses.names), poses))


def scene_of(mechanism: Mechanism) -> Scene:
    """The scene of a mechanism as it is now."""
    instance(mechanism, Mechanism, "mechanism")
    radius, notes = bone_radius(mechanism), list[str]()
    has_shapes = any(link.shapes for link in mechanism.links)
    links = (mechanism.ground, *mechanism.links)
    parts = [_part(mechanism, link, radius, has_shapes, notes) for link in links]
    shown = tuple(part for part in parts if part.surfaces)
    reaches = sorted(part.reach for part in shown)
    mark = 0.08 * reaches[len(reaches) // 2] if reaches else radius
    if all(part.is_stand_in for part in shown):
        mark = 1.4 * radius
    virtual, seen = mechanism.virtual_links, {part.name for part in shown}
    return Scene(
        mechanism,
        shown,
        tuple(_tree_joint(link, seen) for link in mechanism.links),
        tuple(_loop_joint(link, seen) for link in virtual),
        frozenset(link.real.name for link in virtual if link.real is not None and _closes(link)),
        mark,
        tuple(notes),
    )


def box_around(parts: Iterable[Part], poses: Poses) -> tuple[Array, Array]:
    """Lowest and highest corner (3,) [m] of a box around the parts, over all samples of the poses; infinite if none."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for part in parts:
        corners = np.concatenate([corners_of(surface.triangles.vertices) for surface in part.surfaces])
        p, R = poses.of(part.name)
        placed = p.reshape(-1, 1, 3) + corners @ np.swapaxes(R.reshape(-1, 3, 3), -1, -2)
        low = np.minimum(low, placed.min(axis=(0, 1), initial=np.inf))
        high = np.maximum(high, placed.max(axis=(0, 1), initial=-np.inf))
    return low, high


def ball_of(low: Array, high: Array) -> tuple[Array, float]:
    """Centre (3,) [m] and radius [m] of the ball around a box; of one metre about the origin if there is no box."""
    if not np.isfinite(low).all():
        return np.zeros(3), 1.0
    return 0.5 * (low + high), max(0.5 * float(np.linalg.norm(high - low)), 1e-3)


def loop_places(scene: Scene, poses: Poses) -> tuple[Array, Array]:
    """Origins (..., n_loops, 3) [m] of the loop joints' frames: on the real links, and on those of the copies."""
    shape = (*poses.p.shape[:-2], len(scene.loops), 3)
    on_real, on_other = np.empty(shape), np.empty(shape)
    for i, loop in enumerate(scene.loops):
        on_real[..., i, :], _ = frame_on(poses, loop.link, loop.on_link)
        on_other[..., i, :], _ = frame_on(poses, loop.parent, loop.at)
    return on_real, on_other


def drawn_shapes(
    mechanism: Mechanism, link: Link, radius: float, has_shapes: bool, notes: list[str]
) -> tuple[list[tuple[Shape | HeightField, Triangles]], bool]:
    """Shapes that show a link, with their triangles, and whether they are stand-ins, of bones of the radius given [m].

    Beside links with shapes, one without that is welded on is a frame, and not drawn.
    """
    shapes: list[Shape | HeightField] = list(link.shapes)
    if link.is_ground:
        shapes += ground_shapes(mechanism, _LINKS * radius)
    drawn = [(shape, shape_triangles(shape, notes)) for shape in shapes]
    is_frame = link.is_ground or (has_shapes and isinstance(link.joint, Fixed) and not link.shapes)
    is_stand_in = not is_frame and all(surface is None for _, surface in drawn)
    if is_stand_in:
        drawn = [(shape, shape_triangles(shape)) for shape in stand_in(mechanism, link, radius)]
    return [(shape, surface) for shape, surface in drawn if surface is not None], is_stand_in


def _part(mechanism: Mechanism, link: Link, radius: float, has_shapes: bool, notes: list[str]) -> Part:
    """What a link looks like: a surface for each colour."""
    drawn, is_stand_in = drawn_shapes(mechanism, link, radius, has_shapes, notes)
    colors: dict[RGBA | None, list[Triangles]] = {}
    for shape, surface in drawn:
        colors.setdefault(shape.color, []).append(surface)
    return Part(link.name, tuple(Surface(joined(of), color) for color, of in colors.items()), is_stand_in)


def _anchor(link: Link, seen: set[str]) -> tuple[str, tuple[float, float, float]]:
    """Holder and place of a joint frame: links that cannot be seen are welded to their parents."""
    holder, at = link.parent, link.at
    while holder is not None and holder.parent is not None and holder.name not in seen:
        holder, at = holder.parent, holder.at @ at
    assert holder is not None
    x, y, z = at.p.tolist()
    return holder.name, (x, y, z)


def _closes(link: Link) -> bool:
    """Whether a virtual link closes a loop; a force element ties nothing."""
    return link.joint is not None and not link.joint.law


def _tree_joint(link: Link, seen: set[str]) -> JointMark:
    assert link.parent is not None and link.joint is not None
    return JointMark(
        link.joint,
        link.name,
        link.parent.name,
        link.at,
        Pose(),
        _axes(link),
        False,
        None,
        *_anchor(link, seen),
    )


def _loop_joint(link: Link, seen: set[str]) -> JointMark:
    assert link.parent is not None and link.joint is not None and link.real is not None
    real, parent = link.real.name, link.parent.name
    placed = _anchor(link, seen)
    return JointMark(link.joint, real, parent, link.at, link.on_real, _axes(link), True, link.name, *placed)


def _axes(link: Link) -> tuple[tuple[float, float, float], ...]:
    assert link.joint is not None
    if link.joint.has_quaternion:
        return ()
    found = dict.fromkeys(tuple(primitive.R[:, 2].tolist()) for primitive in link.joint.primitives())
    return tuple((x, y, z) for x, y, z in found)


def corners_of(vertices: Array) -> Array:
    """Corners (8, 3) of the box around points (n, 3)."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
