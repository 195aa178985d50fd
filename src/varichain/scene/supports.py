"""Supports: the signs of mechanism drawings for pivots that are fixed to the ground, a triangle on a plate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from varichain.scene import triangles
from varichain.scene.poses import Poses, frame_on
from varichain.scene.scene import JointMark, Scene
from varichain.scene.triangles import Triangles, joined
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

HEIGHT, HALF = 3.2, 1.9  # of the triangle: its height, and half of its base, in marks
PLATE = 2.7  # half of the plate's edge, in marks
_THICKNESS = 0.5  # of the plate, in marks
_TURNED = np.diag([1.0, -1.0, -1.0])


@dataclass(frozen=True)
class Support:
    """The sign of one pivot.

    Attributes:
        joint: Name of the pivot.
        place: Where it is (3,) [m].
        is_above: Whether the plate is above the pivot, since all that moves hangs from it; else it is below.
    """

    joint: str
    place: tuple[float, float, float]
    is_above: bool

    @property
    def R(self) -> Array:
        """Axes (3, 3) of the sign: `support_triangles` has its plate below."""
        return _TURNED if self.is_above else np.eye(3)


def supports_of(scene: Scene, poses: Poses) -> tuple[Support, ...]:
    """Signs of the joints that hold links to the ground in one configuration.

    A connection of a figure that would float without it is no pivot: it is a grasp, or a foot that stands.
    """
    joints = [*scene.joints, *(loop for loop in scene.loops if not floats(scene, loop.link))]
    pivots = [joint for joint in joints if joint.is_guide and not _is_loose(joint) and joint.holder == _ground(scene)]
    places = [frame_on(poses, joint.parent, joint.at)[0].tolist() for joint in pivots]
    hangs = all(_height(scene, poses) < z - scene.mark for _, _, z in places)  # what stands on one hangs from none
    return tuple(Support(joint.name, (x, y, z), hangs) for joint, (x, y, z) in zip(pivots, places, strict=True))


def support_triangles(mark: float) -> Triangles:
    """The sign with its tip at the origin and its plate below, for marks of a radius [m]."""
    cone = triangles.cylinder(HALF * mark, HEIGHT * mark, 0.0).moved(Pose((0.0, 0.0, -0.5 * HEIGHT * mark)))
    edge, thickness = 2.0 * PLATE * mark, _THICKNESS * mark
    plate = triangles.box((edge, edge, thickness)).moved(Pose((0.0, 0.0, -HEIGHT * mark - 0.5 * thickness)))
    return joined([cone, plate])


def support_corners(support: Support, mark: float) -> Array:
    """Corners (4, 3) [m] of the sign's plate, on its far side from the pivot."""
    far = -(HEIGHT + _THICKNESS)
    corners = mark * np.array([(x, y, far) for x in (-PLATE, PLATE) for y in (-PLATE, PLATE)])
    found: Array = np.array(support.place) + corners @ support.R.T
    return found


def _height(scene: Scene, poses: Poses) -> float:
    """Height of the centre of mass [m] of all that moves."""
    moving = [link for link in scene.mechanism.links if link.name not in scene.welded and link.inertia.mass > 0.0]
    heights = [frame_on(poses, link.name, Pose(link.inertia.com))[0][2] for link in moving]
    return float(np.average(heights, weights=[link.inertia.mass for link in moving])) if moving else np.inf


def floats(scene: Scene, link: str) -> bool:
    """Whether the tree that a link belongs to could leave its place, but for its loops."""
    parents = {joint.link: joint for joint in scene.joints}
    joint = parents[link]
    while joint.parent in parents:
        joint = parents[joint.parent]
    return joint.model.n_v == 6 or _is_loose(joint)


def _is_loose(joint: JointMark) -> bool:
    """Whether a joint lets its link go to any place of a plane."""
    return [kind for kind, _ in joint.model.freedoms].count("linear") > 1


def _ground(scene: Scene) -> str:
    return str(scene.mechanism.ground.name)
