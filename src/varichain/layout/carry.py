"""Coordinates carried over from one structure to the next, by name.

A joint that both structures have, on the same link, keeps its coordinates. A link that a cut has set free keeps its
world pose and velocity, worked out in the old structure.
"""

from __future__ import annotations

import numpy as np

from varichain.errors import StructureError
from varichain.kernels.links import free_coordinates
from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array


def carried(old: Layout, new: Layout, q: Array, v: Array) -> tuple[Array, Array]:
    """Coordinates and velocities in the new structure: q and v themselves where they mean the same there.

    Raises:
        StructureError: The two have different links, or the new one has a joint that is neither in the old one nor the
            free joint of a link.
    """
    if old.tree is new.tree:
        return q, v
    if len(old.joints) != len(new.joints):
        raise _strange(old, new)
    changed = new.tree.changed_joints(old.tree)
    if not changed:
        return q, v
    if old.link_index is not new.link_index and list(old.link_index) != list(new.link_index):
        raise _strange(old, new)
    # the links are the same, in the same order: runs of unchanged joints, and freed links between them
    q_parts, v_parts, end_q, end_v = [], [], 0, 0
    for i in changed:
        was, now = old.joints[i], new.joints[i]
        if now.kind != "free":
            raise StructureError(
                f"the state knows nothing of joint {now.name!r} ({now.kind}): make a new state with m.state()"
            )
        freed = np.empty(13)
        free_coordinates(old.tree.workspaces.mine.table, q, v, i + 1, freed)
        first_q = sum([joint.n_q for joint in old.joints[:i]])
        first_v = sum([joint.n_v for joint in old.joints[:i]])
        q_parts += [q[end_q:first_q], freed[:7]]
        v_parts += [v[end_v:first_v], freed[7:]]
        end_q, end_v = first_q + was.n_q, first_v + was.n_v
    return np.concatenate([*q_parts, q[end_q:]]), np.concatenate([*v_parts, v[end_v:]])


def _strange(old: Layout, new: Layout) -> StructureError:
    return StructureError(
        f"the state has joints {[joint.name for joint in old.joints]}, the mechanism {new.mechanism_name!r} now "
        f"has {[joint.name for joint in new.joints]}: make a new state with m.state()"
    )
