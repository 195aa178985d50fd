"""Motions of joints over time: splines, samples and functions, brought to one form that kernels evaluate.

`motion.motion` and `motion.time_functions` are what users see; `motion.trajectories`, `motion.fitting` and
`motion.following` make tracks of what users have; `motion.packing` makes tables of tracks.
"""

from varichain.motion.motion import JointMotion, Motion
from varichain.motion.time_functions import TimeFunctions

__all__ = ["JointMotion", "Motion", "TimeFunctions"]
