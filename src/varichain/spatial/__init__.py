"""Units of the house: poses, rotations and the checks of numbers that come from outside. numpy only."""

from varichain.spatial.pose import Pose

__all__ = ["Pose"]
