"""Planar loops of four joints: their points, lengths and senses, taken from a mechanism in a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from varichain.dynamics.kinematics import pose
from varichain.errors import StructureError
from varichain.layout.state import State
from varichain.mechanism.joints import Prismatic, Revolute
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance
from varichain.spatial.pose import Pose

_PARALLEL = 1e-9  # axes that differ by more are not parallel
_FLAT = 1e-9  # [m] that a prismatic axis may lean out of the plane, relative


@dataclass(frozen=True)
class Corner:
    """One joint of a planar loop, seen along the loop's way round.

    Attributes:
        name: Name of the joint.
        is_hinge: Whether it is revolute, not prismatic.
        point: A point of its axis in the plane (2,) [m].
        direction: Of a prismatic joint: its axis in the plane (2,), along which the next link slides.
        sense: +1 if its coordinate turns (or shifts) the next link positively against the one before, else -1.
        is_loop: Whether it closes the loop, and has no coordinate of its own.
        q: Its coordinate in the state; 0 if it has none.
    """

    name: str
    is_hinge: bool
    point: Array
    direction: Array
    sense: float
    is_loop: bool
    q: float


def corners(m: Mechanism, s: State, loop: str) -> list[Corner]:
    """The four joints of a planar loop, in order round it, beginning at the way to its real link.

    Raises:
        StructureError: The loop has not four joints, or they are not hinges and sliders in one plane.
    """
    virtual = instance(m, Mechanism, "m").link_of_joint(instance(loop, str, "loop"))
    instance(s, State, "s")
    if virtual.real is None or virtual.parent is None or virtual.joint is None:
        raise StructureError(
            f"joint {loop!r} closes no loop; loops: {[str(one.joint.name) for one in m.virtual_links if one.joint]}"
        )
    way_A, way_B = _ways(virtual.real, virtual.parent)
    # round the loop: out to the real link, across the loop's joint, and back
    steps = [(link, 1.0) for link in reversed(way_A)] + [(virtual, -1.0)] + [(link, -1.0) for link in way_B]
    if len(steps) != 4:
        raise StructureError(f"loop {loop!r} has {len(steps)} joints; closed forms are known for four")
    for link, _ in steps:
        if not isinstance(link.joint, Revolute | Prismatic):
            raise StructureError(f"joint {link.joint!r} of loop {loop!r} is neither revolute nor prismatic")
    frames = [_frame(m, s, link) for link, _ in steps]
    axes = [X.R @ np.array(link.joint.axis) for (link, _), X in zip(steps, frames, strict=True)]  # type: ignore[union-attr]
    hinges = [axis for (link, _), axis in zip(steps, axes, strict=True) if isinstance(link.joint, Revolute)]
    if len(hinges) < 3:
        raise StructureError(f"loop {loop!r} has {len(hinges)} hinges; closed forms are known for three and four")
    normal = hinges[0]
    across = np.linalg.svd(normal[None, :])[2][1:]
    if np.dot(np.cross(across[0], across[1]), normal) < 0.0:
        across = across[::-1]
    found = []
    for (link, way), X, axis in zip(steps, frames, axes, strict=True):
        joint = link.joint
        assert joint is not None
        is_hinge = isinstance(joint, Revolute)
        lean = np.linalg.norm(np.cross(axis, normal)) if is_hinge else abs(float(axis @ normal))
        if lean > (_PARALLEL if is_hinge else _FLAT):
            raise StructureError(
                f"loop {loop!r} is not planar: joint {joint.name!r} leans out of the plane by {lean:.2g} rad"
            )
        sense = way * (float(np.sign(axis @ normal)) if is_hinge else 1.0)
        q = 0.0 if link.is_virtual else float(s[str(joint.name)].q)
        direction = np.zeros(2) if is_hinge else across @ axis
        found.append(Corner(str(joint.name), is_hinge, across @ X.p, direction, sense, link.is_virtual, q))
    return found


def _ways(a: Link, b: Link) -> tuple[list[Link], list[Link]]:
    """Moving links from a and from b up to (not including) their first common ancestor."""
    above_a = [a, *a.ancestors]
    common = next(link for link in [b, *b.ancestors] if link in above_a)
    way_A = above_a[: above_a.index(common)]
    above_b = [b, *b.ancestors]
    way_B = above_b[: above_b.index(common)]
    return [link for link in way_A if _moves(link)], [link for link in way_B if _moves(link)]


def _moves(link: Link) -> bool:
    return link.joint is not None and link.joint.n_v > 0


def _frame(m: Mechanism, s: State, link: Link) -> Pose:
    """Joint frame in the world; of a virtual link, the one on its real link."""
    if link.real is not None:
        return pose(m, s, link.real) @ link.on_real
    return pose(m, s, link)
