"""A limp figure that falls, and lies."""

from __future__ import annotations

import numpy as np

from varichain import figures
from varichain.scenarios.parameters import NonNegative, Positive, checked
from varichain.scenarios.scenario import Scenario
from varichain.spatial.pose import Pose


@checked
def fall(
    *,
    height: Positive = 1.75,
    mass: Positive = 70.0,
    drop: NonNegative = 0.5,
    tilt: float = 0.3,
    friction: NonNegative = 0.8,
) -> Scenario:
    """A limp figure of 40 joint freedoms falls on the floor and comes to rest; N_J = N_F = 46.

    Nothing but limits, damping and friction holds its joints.

    Args:
        height: Of the figure [m].
        mass: Of the figure [kg].
        drop: Of its soles above the floor, if it were upright [m].
        tilt: Forward, at the start [rad].
        friction: Coefficient of friction of the floor.
    """
    m = figures.human40(height, mass, name="fall")
    m.add_floor(friction=friction)
    s = m.state()
    raised = s["pelvis"].pose.p + np.array([0.0, 0.0, drop])
    s["pelvis"].pose = Pose(p=raised, rpy=(0.1, tilt, 0.2))
    return Scenario("fall", m, s, 6.0, settings={"contacts": "stepping", "step": 1e-3, "sample": 1e-2})
