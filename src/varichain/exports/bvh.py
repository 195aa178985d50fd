"""Animations as BVH: one hierarchy of joints that turn, as motion capture has it.

Lengths are metres, y is up (our z), rotations are Z, Y, X in degrees. In the rest pose, where all rotations are zero,
the figure is in its zero configuration and all axes are those of the world.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from varichain.errors import InputError
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.scene import Playback, link_poses
from varichain.spatial.arrays import Array
from varichain.trace import Trace

Placed = Callable[[str], tuple[Array, Array]]  # origin and axes of a link by its name

_TURNING = ("revolute", "spherical")  # elementary freedoms
_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # our z along y
_DIGITS = 8


def bvh_of(trace: Trace, fps: float, speed: float) -> tuple[str, int, Sequence[str]]:
    """The text of the file, the number of frames, and notes on what is left out.

    The hierarchy is the largest tree of links that hangs on the ground.

    Raises:
        InputError: The tree changes, a joint in it slides, or there is no tree at all.
    """
    playback = Playback(trace, fps, speed)
    m = playback.scenes[0].mechanism
    links = _figure(m)
    for scene in playback.scenes[1:]:
        _check_same(links, scene.mechanism)
    others = [link.name for link in m.links if link not in links]
    notes = [f"left out, since BVH has one hierarchy: {', '.join(others)}"] if others else []
    children = {link.name: [child for child in links[1:] if child.parent is link] for link in links}
    zero = link_poses(m, np.concatenate([np.zeros(0), *[link.joint.zero_q() for link in m.links if link.joint]]))
    text = [*_hierarchy(links[0], children, zero.of, _unique(links)), *_motion(playback, links, children, zero.of)]
    return "\n".join(text) + "\n", len(playback), (*notes, *playback.notes)


def _figure(m: Mechanism) -> list[Link]:
    """Links of the largest tree, each before those that it carries, depth first as BVH lists them."""
    trees = [list(_descendants(root)) for root in m.ground.children if not root.is_virtual]
    moving = [tree for tree in trees if any(link.joint is not None and link.joint.n_v for link in tree)]
    if not moving:
        raise InputError("BVH needs a figure that moves; this mechanism has none: choose .glb or .html")
    largest = max(moving, key=len)
    for link in largest[1:]:
        if link.joint is not None and any(part.kind not in _TURNING for part in link.joint.primitives()):
            raise InputError(
                f"BVH has joints that turn; {link.joint.name!r} in the tree of {largest[0].name!r} is "
                f"{link.joint.kind}: choose .glb or .html"
            )
    return largest


def _descendants(link: Link) -> Iterator[Link]:
    waiting = [link]
    while waiting:
        here = waiting.pop()
        yield here
        waiting += reversed([child for child in here.children if not child.is_virtual])


def _check_same(links: Sequence[Link], m: Mechanism) -> None:
    """Refuse a tree that came apart or grew."""
    names = {link.name for link in links}
    for link in links[1:]:
        assert link.parent is not None
        parent = m.link(link.name).parent
        if parent is None or parent.name != link.parent.name:
            raise InputError(
                f"BVH has one hierarchy for the whole run, but {link.name!r} comes off {link.parent.name!r}: "
                "choose .glb or .html"
            )
    grown = [link.name for link in m.links if link.parent is not None and link.parent.name in names - {link.name}]
    if len(grown) != len(links) - 1:
        raise InputError("BVH has one hierarchy for the whole run, but links come to the figure: choose .glb or .html")


def _hierarchy(root: Link, children: dict[str, list[Link]], zero: Placed, names: dict[str, str]) -> Iterator[str]:
    yield "HIERARCHY"
    waiting: list[tuple[str, Link | None, int]] = [("ROOT", root, 0)]
    while waiting:
        kind, link, depth = waiting.pop()
        pad = "  " * depth
        if link is None:
            yield f"{pad}}}"
            continue
        offset = np.zeros(3) if kind == "ROOT" else _offset(link, zero)
        channels = "Zrotation Yrotation Xrotation"
        yield f"{pad}{kind} {names[link.name]}"
        yield f"{pad}{{"
        yield f"{pad}  OFFSET {_row(offset)}"
        places = "6 Xposition Yposition Zposition" if kind == "ROOT" else "3"
        yield f"{pad}  CHANNELS {places} {channels}"
        if not children[link.name]:
            yield from (f"{pad}  End Site", f"{pad}  {{", f"{pad}    OFFSET {_row(_end(link, zero))}", f"{pad}  }}")
        waiting.append(("", None, depth))
        waiting += [("JOINT", child, depth + 1) for child in reversed(children[link.name])]


def _offset(link: Link, zero: Placed) -> Array:
    """From the parent's joint to the link's in the zero configuration, y up."""
    assert link.parent is not None
    difference: Array = _UP @ (zero(link.name)[0] - zero(link.parent.name)[0])
    return difference


def _end(link: Link, zero: Placed) -> Array:
    """From the joint of a link that carries no other to its far end: as far beyond its centre of mass again."""
    end: Array = _UP @ zero(link.name)[1] @ (2.0 * link.inertia.com)
    return end


def _motion(playback: Playback, links: Sequence[Link], children: dict[str, list[Link]], zero: Placed) -> Iterator[str]:
    turned = {link.name: _UP @ playback.link_path(link.name)[1] @ zero(link.name)[1].T @ _UP.T for link in links}
    root = links[0]
    columns = [playback.link_path(root.name)[0] @ _UP.T, _angles(turned[root.name])]
    for link in links[1:]:
        assert link.parent is not None
        columns.append(_angles(np.swapaxes(turned[link.parent.name], -1, -2) @ turned[link.name]))
    yield "MOTION"
    yield f"Frames: {len(playback)}"
    yield f"Frame Time: {1.0 / playback.fps:.{_DIGITS}f}"
    for row in np.concatenate(columns, axis=1):
        yield _row(row)


def _angles(R: Array) -> Array:
    """Angles (n, 3) [deg] about Z, Y and X with R = Rz Ry Rx, without jumps by whole turns."""
    level = np.hypot(R[:, 0, 0], R[:, 1, 0])
    is_upright = level < 1e-9  # Z and X are one then, and X is taken for zero
    z = np.where(is_upright, np.arctan2(-R[:, 0, 1], R[:, 1, 1]), np.arctan2(R[:, 1, 0], R[:, 0, 0]))
    y = np.arctan2(-R[:, 2, 0], level)
    x = np.where(is_upright, 0.0, np.arctan2(R[:, 2, 1], R[:, 2, 2]))
    return np.degrees(np.unwrap(np.stack([z, y, x], axis=1), axis=0))


def _unique(links: Sequence[Link]) -> dict[str, str]:
    """Names without blanks, which readers of BVH split at."""
    found: dict[str, str] = {}
    for link in links:
        plain = re.sub(r"\W+", "_", link.name) or "link"
        while plain in found.values():
            plain += "_"
        found[link.name] = plain
    return found


def _row(numbers: Array) -> str:
    return " ".join(f"{number + 0.0:.{_DIGITS}f}" for number in numbers)
