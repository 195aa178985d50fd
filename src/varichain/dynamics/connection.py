"""Connecting links of a mechanism in motion."""

from __future__ import annotations

import numpy as np

from varichain.dynamics.arguments import opened_with_mass
from varichain.dynamics.kinematics import pose
from varichain.dynamics.loops import closure_errors
from varichain.errors import InputError
from varichain.kernels.constrained import velocity_jump
from varichain.layout.state import State, layout_for
from varichain.mechanism.connections import Place, add_virtual_link
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.pose import Pose

_MEET = 1e-6  # [m or rad]: frames further apart do not coincide


def connect_in_motion(
    m: Mechanism,
    s: State,
    a: Link,
    b: Link,
    joint: Joint,
    at: Place | None,
    at_other: Place | None,
    name: str | None,
) -> Link:
    """Connect two links where they are in state s, and give s the velocities after the impact [NY, V-C]."""
    layout_for(m, s)
    if at_other is None:
        on_a = Pose() if at is None else Pose.coerce(at, "at")
        at_other = pose(m, s, b).inverse() @ pose(m, s, a) @ on_a
    link = add_virtual_link(m, a, b, joint, at, at_other, name)
    try:
        layout, table = opened_with_mass(m, s)
        gap = float(np.abs(closure_errors(layout, table, s.q)[layout.loops[-1].rows]).max(initial=0.0))
        if gap > _MEET:
            raise InputError(
                f"the joint frames on {a.name!r} and {b.name!r} are {gap:.3g} [m or rad] apart in this state, "
                f"{_MEET:g} allowed; leave out at_other to connect where they are, or assemble first"
            )
        jump = np.empty(layout.n_v)
        velocity_jump(table, s.q, s.v, jump)
    except BaseException:
        m._take_off(link)
        raise
    s.v[:] += jump
    return link
