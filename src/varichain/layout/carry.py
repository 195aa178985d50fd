"""Coordinates carried over from one structure to the next, by name.

A joint that both structures have, on the same link, keeps its coordinates. A link that a cut has set free keeps its
world pose and velocity, worked out in the old structure.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from varichain.errors import StaleStateError, listed
from varichain.kernels.links import free_coordinates
from varichain.layout.layout import Layout
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import Free
from varichain.spatial.arrays import Array


def carried(old: Layout, new: Layout, q: Array, v: Array) -> tuple[Array, Array]:
    """Coordinates and velocities in the new structure: q and v themselves where they mean the same there.

    Raises:
        StaleStateError: The two have different links, or the new one has a joint that is neither in the old one nor
            made by a cut.
    """
    if old.tree is new.tree:
        return q, v
    freed_joints = _freed(old, new)
    if freed_joints is None:
        raise stale(old, new)
    if not freed_joints:
        return q, v
    # the links are the same, in the same order: runs of unchanged joints, and freed links between them
    q_parts, v_parts, end_q, end_v = [], [], 0, 0
    for i in freed_joints:
        was = old.joints[i]
        freed = np.empty(13)
        free_coordinates(old.tree.workspaces.of_thread.table, q, v, i + 1, freed)
        first_q = sum([joint.n_q for joint in old.joints[:i]])
        first_v = sum([joint.n_v for joint in old.joints[:i]])
        q_parts += [q[end_q:first_q], freed[:7]]
        v_parts += [v[end_v:first_v], freed[7:]]
        end_q, end_v = first_q + was.n_q, first_v + was.n_v
    return np.concatenate([*q_parts, q[end_q:]]), np.concatenate([*v_parts, v[end_v:]])


def stale(old: Layout, new: Layout) -> StaleStateError:
    """The error that says which joints a state of the old structure lacks in the new one, and which it has too many."""
    had, has = ({_described(*joint): joint[0].name for joint in _hung(layout)} for layout in (old, new))
    appeared, vanished = ([text for text in one if text not in other] for one, other in ((has, had), (had, has)))
    found = [f"the mechanism has {listed(appeared)}"] if appeared else []
    found += [f"the state has {listed(vanished)}"] if vanished else []
    can_follow = _freed(old, new) is not None
    cure = "call s.follow(m), or give the state to the cut: m.cut(..., state=s)"
    of = "" if old.mechanism_name == new.mechanism_name else f" of {old.mechanism_name!r}"
    return StaleStateError(
        f"the state{of} does not fit mechanism {new.mechanism_name!r} as it is now: "
        f"{'; '.join(found) or 'the joints are in another order'}; "
        f"{cure if can_follow else 'make a new state with m.state()'}",
        [str(has[text]) for text in appeared],
        [str(had[text]) for text in vanished],
        can_follow,
    )


def _hung(layout: Layout) -> Iterable[tuple[Joint, str]]:
    return zip(layout.joints, layout.tree.parents, strict=True)


def _described(joint: Joint, parent: str) -> str:
    return f"{joint.kind} joint {joint.name!r} on {parent!r}"


def _freed(old: Layout, new: Layout) -> list[int] | None:
    """Indices of joints that cuts have replaced by free ones; None if anything else has changed."""
    if len(old.joints) != len(new.joints):
        return None
    changed = new.tree.changed_joints(old.tree)
    if changed and old.link_index is not new.link_index and list(old.link_index) != list(new.link_index):
        return None
    return changed if all(_floats(new, i) and not _floats(old, i) for i in changed) else None


def _floats(layout: Layout, i: int) -> bool:
    """Whether a link hangs on the ground by a free joint, as cuts leave it; one that did so before was renamed."""
    return isinstance(layout.joints[i], Free) and layout.tree.parents[i] == "ground"
