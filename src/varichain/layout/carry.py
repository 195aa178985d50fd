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
    if old.link_index is not new.link_index and list(old.link_index) != list(new.link_index):
        raise StructureError(
            f"the state has joints {[joint.name for joint in old.joints]}, the mechanism {new.mechanism_name!r} now "
            f"has {[joint.name for joint in new.joints]}: make a new state with m.state()"
        )
    q_new, v_new = np.empty(new.n_q), np.empty(new.n_v)
    world: _World | None = None
    i_q = i_v = j_q = j_v = 0  # places in the old and in the new vectors
    # the links are the same, in the same order: joint by joint, in runs of unchanged ones
    run_q = run_v = 0
    for row, (was, now) in enumerate(zip(old.joints, new.joints, strict=True), start=1):
        if new.has_same_joint(old, row - 1):
            run_q, run_v = run_q + now.n_q, run_v + now.n_v
            continue
        q_new[j_q : j_q + run_q], v_new[j_v : j_v + run_v] = q[i_q : i_q + run_q], v[i_v : i_v + run_v]
        i_q, i_v, j_q, j_v = i_q + run_q, i_v + run_v, j_q + run_q, j_v + run_v
        if now.kind != "free":
            raise StructureError(
                f"the state knows nothing of joint {now.name!r} ({now.kind}): make a new state with m.state()"
            )
        world = world or _World(old, q, v)
        q_new[j_q : j_q + 7], v_new[j_v : j_v + 6] = world.free_coordinates(row)
        i_q, i_v, j_q, j_v = i_q + was.n_q, i_v + was.n_v, j_q + 7, j_v + 6
        run_q = run_v = 0
    q_new[j_q:], v_new[j_v:] = q[i_q:], v[i_v:]
    return q_new, v_new


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
