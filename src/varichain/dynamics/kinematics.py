"""Poses, velocities, Jacobians and their derivatives for any link, point or frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import joint_vector, link_row, opened
from varichain.errors import InputError, UnknownNameError, quoted
from varichain.kernels.links import link_bias_acceleration, link_jacobian, link_poses, link_velocity
from varichain.layout.layout import Layout
from varichain.layout.state import State, layout_for
from varichain.mechanism.frames import Frame
from varichain.mechanism.joints import Free
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

Place = Pose | Sequence[float] | Array
Carrier = str | Link | Frame

_ORIGIN = Pose()
_AXES = {"world": 0, "local": 1}


def pose(m: Mechanism, s: State, link: Carrier, at: Place = _ORIGIN) -> Pose:
    """World pose X_WL of a link's frame or of a named frame, or of the frame `at` in it."""
    layout, table = opened(m, s)
    row, frame = _placed(m, layout, link, at)
    R, p = poses(layout, table, s)
    found = Pose._trusted(p[row], R[row].reshape(3, 3))
    return found if frame is _ORIGIN else found @ frame


def set_pose(m: Mechanism, s: State, link: Carrier, to: Pose) -> None:
    """Put a free link, or a named frame on it, at a world pose: its joint's coordinates are set, velocities stay.

    `s[joint].pose` is the pose in the joint frame, which files put anywhere.

    Raises:
        InputError: The link does not hang on a free joint.
    """
    layout, _ = opened(m, s)
    row, frame = _placed(m, layout, link, _ORIGIN)
    moved = m.link(list(layout.link_index)[row])
    if not isinstance(moved.joint, Free) or moved.parent is None:
        free = [one.name for one in m.links if isinstance(one.joint, Free)]
        raise InputError(
            f"link {moved.name!r} does not hang on a free joint; links that do: {', '.join(free) or 'none'}"
        )
    X_WJ = pose(m, s, moved.parent, moved.at)
    s[str(moved.joint.name)].pose = X_WJ.inverse() @ Pose.coerce(to, "to") @ frame.inverse()


def poses(layout: Layout, table: NDArray[np.int64], s: State) -> tuple[Array, Array]:
    """World orientations (n_links, 9) and positions (n_links, 3) of all links, ground first."""
    n = len(layout.link_index)
    R, p = np.empty((n, 9)), np.empty((n, 3))
    link_poses(table, s.q, R, p)
    return R, p


def velocity(m: Mechanism, s: State, link: Carrier, at: Place = _ORIGIN, axes: str = "world") -> Array:
    """Velocity [angular; linear] (6,) [rad/s, m/s] of a link or of a named frame.

    Args:
        m: Mechanism.
        s: State.
        link: Name of the link or of a named frame.
        at: Point, or frame, in that frame, whose velocity is wanted; its origin by default.
        axes: "world", or "local" for the axes of the frame `at` that moves with the link.
    """
    layout, table = opened(m, s)
    (row, frame), local = _placed(m, layout, link, at), _local(axes)
    V = np.empty(6)
    link_velocity(table, s.q, s.v, row, frame.p.copy(), local, V)
    return _turned(V, frame) if local else V


def jacobian(m: Mechanism, s: State, link: Carrier, at: Place = _ORIGIN, axes: str = "world") -> Array:
    """Geometric Jacobian J (6, n_v) of a point or frame of a link: its velocity [angular; linear] is J v.

    Arguments as for `velocity`.
    """
    layout, table = opened(m, s)
    (row, frame), local = _placed(m, layout, link, at), _local(axes)
    J = np.empty((6, layout.n_v))
    link_jacobian(table, s.q, row, frame.p.copy(), local, J)
    return _turned(J, frame) if local else J


def bias_acceleration(m: Mechanism, s: State, link: Carrier, at: Place = _ORIGIN, axes: str = "world") -> Array:
    """Jdot v (6,) [rad/s^2, m/s^2]: acceleration of a point or frame of a link while joint accelerations are zero.

    The derivative is that of `jacobian` with the same arguments, so that d/dt (J v) = J a + Jdot v. Gravity plays no
    part. Arguments as for `velocity`.
    """
    layout, table = opened(m, s)
    (row, frame), local = _placed(m, layout, link, at), _local(axes)
    result = np.empty(6)
    link_bias_acceleration(table, s.q, s.v, row, frame.p.copy(), local, result)
    return _turned(result, frame) if local else result


def acceleration(m: Mechanism, s: State, a: Any, link: Carrier, at: Place = _ORIGIN, axes: str = "world") -> Array:
    """Acceleration [angular; linear] (6,) [rad/s^2, m/s^2] of a point or frame of a link.

    J a + Jdot v: the rate of `velocity` with the same arguments, which see. `a` are accelerations of the joints (n_v,),
    or {joint: value}, others zero, as `forward_dynamics` returns them. Gravity plays no part.
    """
    J = jacobian(m, s, link, at, axes)
    result: Array = J @ joint_vector(layout_for(m, s), a, "a") + bias_acceleration(m, s, link, at, axes)
    return result


def _placed(m: Mechanism, layout: Layout, link: Carrier, at: Place) -> tuple[int, Pose]:
    """Row of the link that is meant, and the frame in it; `at` is in the named frame if it is one."""
    frame = m.frames.get(link) if isinstance(link, str) else link
    if isinstance(frame, Frame):
        return layout.link_index[frame.link], frame.at if at is _ORIGIN else frame.at @ Pose.coerce(at, "at")
    if isinstance(link, str) and link not in layout.link_index and m.frames:
        raise UnknownNameError("link or frame", link, [*layout.link_index, *m.frames])
    return link_row(layout, link), Pose.coerce(at, "at")


def _local(axes: str) -> int:
    if not isinstance(axes, str) or axes not in _AXES:
        raise InputError(f"axes must be 'world' or 'local', not {quoted(axes)}")
    return _AXES[axes]


def _turned(spatial: Array, frame: Pose) -> Array:
    """Both halves of a spatial vector (6,) or matrix (6, n), given in the link's axes, in the axes of a frame on it."""
    if frame.R is _ORIGIN.R:
        return spatial
    return (frame.R.T @ spatial.reshape(2, 3, -1)).reshape(spatial.shape)
