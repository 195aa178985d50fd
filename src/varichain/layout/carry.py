"""Coordinates carried over from one structure to the next, by name.

A joint that both structures have, on the same link, keeps its coordinates. A link that a cut has set free keeps its
world pose and velocity, worked out in the old structure.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from varichain.errors import StructureError
from varichain.kernels.links import link_poses, link_velocities
from varichain.layout.layout import Layout
from varichain.spatial.rotation import quaternion_from_matrix

Array = NDArray[np.float64]


def carried(old: Layout, new: Layout, q: Array, v: Array) -> tuple[Array, Array]:
    """Coordinates and velocities in the new structure.

    Raises:
        StructureError: The two have different links, or the new one has a joint that is neither in the old one nor the
            free joint of a link.
    """
    if old.link_index.keys() != new.link_index.keys():
        raise StructureError(
            f"the state has joints {[joint.name for joint in old.joints]}, the mechanism {new.mechanism_name!r} now "
            f"has {[joint.name for joint in new.joints]}: make a new state with m.state()"
        )
    q_new, v_new = np.empty(new.n_q), np.empty(new.n_v)
    place = {key: i for i, key in enumerate(old.joint_keys())}
    q_at, v_at = _starts(old)
    world: _World | None = None
    i_q = i_v = 0
    for joint, key, link in zip(new.joints, new.joint_keys(), list(new.link_index)[1:], strict=True):
        i = place.get(key)
        if i is not None:
            q_new[i_q : i_q + joint.n_q] = q[q_at[i] : q_at[i] + joint.n_q]
            v_new[i_v : i_v + joint.n_v] = v[v_at[i] : v_at[i] + joint.n_v]
        elif joint.kind == "free":
            world = world or _World(old, q, v)
            q_new[i_q : i_q + 7], v_new[i_v : i_v + 6] = world.free_coordinates(old.link_index[link])
        else:
            raise StructureError(
                f"the state knows nothing of joint {joint.name!r} ({joint.kind}): make a new state with m.state()"
            )
        i_q, i_v = i_q + joint.n_q, i_v + joint.n_v
    return q_new, v_new


def _starts(layout: Layout) -> tuple[list[int], list[int]]:
    """First coordinate and first freedom of every joint."""
    q_at, v_at = [0], [0]
    for joint in layout.joints:
        q_at.append(q_at[-1] + joint.n_q)
        v_at.append(v_at[-1] + joint.n_v)
    return q_at, v_at


class _World:
    """World poses and velocities of all links in a state of the old structure."""

    def __init__(self, layout: Layout, q: Array, v: Array) -> None:
        n = len(layout.link_index)
        self.R, self.p, self.V = np.empty((n, 9)), np.empty((n, 3)), np.empty((n, 6))
        table = layout.workspaces.mine.table
        link_poses(table, q, self.R, self.p)
        link_velocities(table, q, v, self.V)

    def free_coordinates(self, row: int) -> tuple[Array, Array]:
        """Coordinates of a free joint between the ground and the link in that row; velocities in the link's axes."""
        R = self.R[row].reshape(3, 3)
        q = np.concatenate([quaternion_from_matrix(R), self.p[row]])
        return q, np.concatenate([R.T @ self.V[row, :3], R.T @ self.V[row, 3:]])
