"""pink's inverse kinematics [pin-pink], on Pinocchio's twin of a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pink
import pinocchio as pin

from varichain.bench.aims import DAMPING, POSTURE, Aim
from varichain.bench.contenders import Contender
from varichain.bench.twin_pinocchio import PinocchioTwin
from varichain.spatial.arrays import Array

TWIST = "error of a frame is a twist"


class Pink:
    """Tasks of an aim: frames, and centre of mass and posture if they are wanted too.

    Attributes:
        twin: The mechanism in Pinocchio.
        configuration: pink's, at the start.
        tasks: pink's.
        limits: pink's; none if ranges do not count.
    """

    def __init__(self, aim: Aim, has_posture: bool = True, lm_damping: float = 0.0) -> None:
        """Build the tasks."""
        self.twin = twin = PinocchioTwin(aim.m)
        for name in aim.frames:
            joint, X = twin.home[aim.m.link(name).id]
            twin.model.addFrame(pin.Frame(_frame(name), joint, X, pin.FrameType.OP_FRAME))
        self.data = twin.model.createData()
        self.limits: list[Any] = []
        self.configuration = pink.Configuration(twin.model, self.data, twin.q_from(aim.s.q))
        self.tasks: list[Any] = [pink.tasks.FrameTask(_frame(name), 1.0, 1.0, lm_damping) for name in aim.frames]
        if has_posture:
            # cost of each freedom; its own way to leave out a free joint goes by a name
            self.tasks += [pink.tasks.ComTask(1.0), pink.tasks.PostureTask(POSTURE * twin.v_from(aim.is_posture))]
        if aim.has_ranges:
            self._keep_ranges(aim)
        self.aim_at(aim)

    def aim_at(self, aim: Aim) -> None:
        """Set the targets."""
        for name, task in zip(aim.frames, self.tasks, strict=False):
            pose = aim.pose(name)
            task.set_target(pin.SE3(np.array(pose.R), np.array(pose.p)))
        q = self.twin.q_from(aim.goal.q)
        for task in self.tasks[len(aim.frames) :]:
            is_center = isinstance(task, pink.tasks.ComTask)
            task.set_target(pin.centerOfMass(self.twin.model, self.data, q).copy() if is_center else q)

    def _keep_ranges(self, aim: Aim) -> None:
        """Joints of one freedom stay in their ranges."""
        lower, upper = self.twin.model.lowerPositionLimit.copy(), self.twin.model.upperPositionLimit.copy()
        for joint, i in zip(aim.m.joints, np.cumsum([0, *(j.n_q for j in aim.m.joints)]), strict=False):
            if joint.limits is not None and joint.n_q == 1:
                place = self.twin.q_from(np.arange(float(aim.m.n_q))).tolist().index(float(i))
                lower[place], upper[place] = joint.limits[0][0], joint.limits[1][0]
        self.twin.model.lowerPositionLimit, self.twin.model.upperPositionLimit = lower, upper
        self.limits = [pink.limits.ConfigurationLimit(self.twin.model, config_limit_gain=1.0)]

    def solve(self, q: Array, tolerance: float, most: int) -> tuple[Array, int]:
        """Steps from a configuration of ours until all frames are there; the last one, and the number of steps."""
        self.configuration.update(self.twin.q_from(q))
        for count in range(most):
            if max(np.abs(task.compute_error(self.configuration)).max() for task in self.tasks) < tolerance:
                return self.twin.q_to(self.configuration.q), count
            v = pink.solve_ik(self.configuration, self.tasks, 1.0, "daqp", limits=self.limits, safety_break=False)
            self.configuration.integrate_inplace(v, 1.0)
        return self.twin.q_to(self.configuration.q), most


def pink_contenders(aim: Aim) -> list[Contender]:
    """Its own call, and its problem solved by numpy: without limits that is quicker than any solver of programmes."""
    made = Pink(aim)
    configuration, tasks, found = made.configuration, made.tasks, np.zeros(aim.m.n_v)
    q = made.twin.q_from(aim.s.q)

    def own() -> None:
        configuration.update(q)
        found[:] = pink.solve_ik(configuration, tasks, 1.0, "daqp", damping=DAMPING**2, limits=[])

    def by_numpy() -> None:
        configuration.update(q)
        problem = pink.build_ik(configuration, tasks, 1.0, damping=DAMPING**2, limits=[])
        found[:] = np.linalg.solve(problem.P, -problem.q)

    ways: dict[str, Callable[[], None]] = {"solve_ik, daqp": own, "build_ik, numpy.linalg.solve": by_numpy}
    return [Contender("pink", calls, run, lambda: made.twin.v_to(found), TWIST) for calls, run in ways.items()]


def _frame(name: str) -> str:
    return f"frame of {name}"
