"""Muscles that hold a posture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import varichain as vc
from varichain.mechanism import Mechanism

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.simulation.controllers import PD


def muscles(m: Mechanism, s: State, stiffness: float, damping: float, without: Iterable[str] = ()) -> PD:
    """Springs and dampers that hold all actuated joints, but for those `without`, where they are in the state.

    Stiffness [N m/rad] and damping [N m s/rad] are the same in every freedom.
    """
    left_out = set(without)
    names = [str(joint.name) for joint in m.joints if joint.actuated and joint.n_v and joint.name not in left_out]
    return vc.PD(s, stiffness, damping, joints=names)
