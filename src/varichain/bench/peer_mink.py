"""mink's inverse kinematics, on MuJoCo's twin of a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mink
import numpy as np

from varichain.bench.aims import DAMPING, POSTURE, Aim
from varichain.bench.contenders import Contender
from varichain.bench.twin_mujoco import MujocoTwin
from varichain.spatial.arrays import Array

TWIST = "error of a frame is a twist"


class Mink:
    """Tasks of an aim: frames, and centre of mass and posture if they are wanted too.

    Attributes:
        twin: The mechanism in MuJoCo.
        configuration: mink's, at the start.
        tasks: mink's.
        limits: mink's; none if ranges do not count.
    """

    def __init__(self, aim: Aim, has_posture: bool = True, lm_damping: float = 0.0) -> None:
        """Build the tasks."""
        self.twin = twin = MujocoTwin(aim.m)
        self.limits: list[Any] = []
        self.configuration, self._goal = mink.Configuration(twin.model), mink.Configuration(twin.model)
        self.configuration.update(twin.q_from(aim.s.q))
        self.tasks: list[Any] = [mink.FrameTask(name, "body", 1.0, 1.0, lm_damping=lm_damping) for name in aim.frames]
        if has_posture:
            self.tasks += [mink.ComTask(1.0), mink.PostureTask(twin.model, POSTURE)]
        if aim.has_ranges:
            self._keep_ranges(aim)
        self.aim_at(aim)

    def aim_at(self, aim: Aim) -> None:
        """Set the targets."""
        self._goal.update(self.twin.q_from(aim.goal.q))
        for task in self.tasks:
            task.set_target_from_configuration(self._goal)

    def _keep_ranges(self, aim: Aim) -> None:
        """Joints of one freedom stay in their ranges."""
        for joint in aim.m.joints:
            if joint.limits is not None and joint.n_q == 1:
                place = self.twin.model.joint(str(joint.name)).id
                self.twin.model.jnt_limited[place] = 1
                self.twin.model.jnt_range[place] = joint.limits[0][0], joint.limits[1][0]
        self.limits = [mink.ConfigurationLimit(self.twin.model, gain=1.0)]

    def solve(self, q: Array, tolerance: float, most: int) -> tuple[Array, int]:
        """Steps from a configuration of ours until all frames are there; the last one, and the number of steps."""
        self.configuration.update(self.twin.q_from(q))
        for count in range(most):
            if max(np.abs(task.compute_error(self.configuration)).max() for task in self.tasks) < tolerance:
                return self.twin.q_to(self.configuration.q), count
            v = mink.solve_ik(self.configuration, self.tasks, 1.0, "daqp", limits=self.limits)
            self.configuration.integrate_inplace(v, 1.0)
        return self.twin.q_to(self.configuration.q), most


def mink_contenders(aim: Aim) -> list[Contender]:
    """Its own call, and its problem solved by numpy: without limits that is quicker than any solver of programmes."""
    made = Mink(aim)
    configuration, tasks, found = made.configuration, made.tasks, np.zeros(aim.m.n_v)
    q = made.twin.q_from(aim.s.q)

    def own() -> None:
        configuration.update(q)
        found[:] = mink.solve_ik(configuration, tasks, 1.0, "daqp", damping=DAMPING**2, limits=[])

    def by_numpy() -> None:
        configuration.update(q)
        problem = mink.build_ik(configuration, tasks, 1.0, damping=DAMPING**2, limits=[])
        found[:] = np.linalg.solve(problem.P, -problem.q)

    ways: dict[str, Callable[[], None]] = {"solve_ik, daqp": own, "build_ik, numpy.linalg.solve": by_numpy}
    return [Contender("mink", calls, run, lambda: made.twin.v_to(found, aim.s.q), TWIST) for calls, run in ways.items()]
