"""What there is to be seen of a mechanism and of a trace, as plain numbers; drawn by others."""

from varichain.scene.framing import Framing
from varichain.scene.markers import Marker
from varichain.scene.playback import Playback
from varichain.scene.poses import Poses, frame_on, link_poses
from varichain.scene.scene import JointMark, Part, Scene, Surface, ball_of, box_around, loop_places, scene_of
from varichain.scene.triangles import Triangles

__all__ = [
    "Framing",
    "JointMark",
    "Marker",
    "Part",
    "Playback",
    "Poses",
    "Scene",
    "Surface",
    "Triangles",
    "ball_of",
    "box_around",
    "frame_on",
    "link_poses",
    "loop_places",
    "scene_of",
]
