"""Figures: people with the masses, limits and damping of real ones [NY, Fig. 16 and 19], a passive walker, and props.

What the numbers are from is said where they are: segments in `anthropometry`, lengths in `landmarks`, ranges and
damping of joints in `joint_table`. `docs/figures.md` has them in tables.
"""

from varichain.figures.anthropometry import Body
from varichain.figures.human import human16, human40, standing_height
from varichain.figures.postures import POSTURES, place, take_posture
from varichain.figures.props import bar, chair, ground, swing
from varichain.figures.walker import COMPASS_CYCLE, COMPASS_SLOPE, compass_start, compass_walker
from varichain.figures.worm import arch, arch_up, inchworm

__all__ = [
    "COMPASS_CYCLE",
    "COMPASS_SLOPE",
    "POSTURES",
    "Body",
    "arch",
    "arch_up",
    "bar",
    "chair",
    "compass_start",
    "compass_walker",
    "ground",
    "human16",
    "human40",
    "inchworm",
    "place",
    "standing_height",
    "swing",
    "take_posture",
]
