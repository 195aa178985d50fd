"""Aims of inverse kinematics: frames, centre of mass and posture of a goal, asked of every library alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import varichain as vc
from varichain import animation as an
from varichain.bench.mechanisms import Question
from varichain.errors import InputError
from varichain.spatial.arrays import Array

FIGURE = ("left hand", "right hand", "left foot", "right foot", "head", "pelvis")
"""Links of the figure whose poses are wanted."""

POSTURE = 0.1  # cost of a radian of posture, that of a metre or a radian of a frame being 1
DAMPING = 1e-6  # of velocities: that of the others is its square
_NEAR = (
    2e-4  # [rad or m] per freedom from a configuration to its goal: errors of all libraries are the same to first order
)


@dataclass(frozen=True, eq=False)
class Aim:
    """A configuration, a goal, and what is wanted of it.

    Attributes:
        m, s, goal: Mechanism, start and goal.
        frames: Links whose poses are wanted.
        has_ranges: Whether joints of one freedom must stay in their ranges.
    """

    m: vc.Mechanism
    s: vc.State
    goal: vc.State
    frames: tuple[str, ...]
    has_ranges: bool = False

    def pose(self, link: str) -> vc.Pose:
        """Pose of a link at the goal."""
        return vc.pose(self.m, self.goal, link)

    def space(self, has_posture: bool = True) -> vc.AnimationSpace:
        """Frames, and centre of mass and posture if they are wanted too: rotations are zero at the goal."""
        functions = {f"{name} position": an.point(name) for name in self.frames}
        for name in self.frames:
            functions[f"{name} rotation"] = an.rotation(name, seen_from=vc.Frame("ground", self.pose(name)))
        if has_posture:
            functions["center"] = an.center_of_mass()
            joints = [str(joint.name) for joint in self.m.joints if joint.n_v and joint.kind != "free"]
            functions["posture"] = an.posture(self.m, joints)
        return vc.AnimationSpace(self.m, functions)

    @property
    def is_posture(self) -> Array:
        """Which freedoms a posture has (n_v,): all but those of free joints."""
        return np.concatenate([np.full(joint.n_v, float(joint.kind != "free")) for joint in self.m.joints])


def near_aim(given: Question) -> Aim:
    """A goal that one step of control leads to, from the configuration of a question.

    Raises:
        InputError: The mechanism is not the figure.
    """
    if not all(any(link.name == name for link in given.m.links) for name in FIGURE):
        raise InputError(f"inverse kinematics is measured on a figure with the links {', '.join(FIGURE)}")
    step = np.random.default_rng(1).standard_normal(given.m.n_v)
    return Aim(given.m, given.s, given.s.integrate(_NEAR * step), FIGURE)
