"""How far the joints of people go, and how much they resist motion when the muscles are at rest.

Ranges [deg] are counted from the zero configuration: upright, arms hanging, palms forward. A motion is a turn of the
link about an axis of its joint frame; axes are those of the left side. [AAOS] counts pronation and supination from the
middle, 80 either way; palms forward is the end of supination, so that pronation is 160 here. The shoulder has the range
of the whole shoulder, girdle included, in both figures.

Damping [N m s/rad] is that of an adult of 70 kg and 1.75 m, per freedom: about the link's x (front to back), y (side to
side) and z (upright in the zero configuration).

- Shoulder, elbow, wrist: [SAUL, Table 2], 0.001745 N m s/deg, and 0.0004363 for deviation of the wrist.
- Hip, ankle: [DAVY]. Its value for the knee, 3.17, is not used: with it a relaxed leg could not swing.
- Knee: from the pendulum test, in which the relaxed leg swings from the edge of a table. [DROP, Fig. 1] has successive
  peaks of 0.94, 0.60, 0.38 and 0.26 rad at 1.1 s: a decay of 0.39 1/s, times twice the inertia of shank and foot.
- Chest, neck, clavicle: no measurement of the relaxed joint is known to us; they have the values of hip, knee and
  shoulder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ExtremeMotion:
    """A motion of a joint: its name, the axis of the turn in the joint frame, on the left side, and how far [deg]."""

    name: str
    turn: str
    degrees: float


@dataclass(frozen=True, slots=True)
class Ball:
    """A spherical joint: long axis of its link on the left side, extreme motions, damping about x, y and z, sources."""

    axis: str
    motions: tuple[ExtremeMotion, ...]
    damping: tuple[float, float, float]
    source: str
    damping_source: str


@dataclass(frozen=True, slots=True)
class Hinge:
    """A revolute joint: axis of flexion on both sides, flexion [deg], damping, sources; extension ends at zero."""

    axis: str
    flexion: float
    damping: float
    source: str
    damping_source: str


MARGIN: Final = 5.0
"""What is added to every end of every range [deg]: the standard deviation among healthy men is 4 to 8 [BOONE]. A figure
that stands upright or hangs by straight arms is then inside its limits, not at their edge."""

BALLS: Final = {
    "chest": Ball(
        axis="z",
        motions=(
            ExtremeMotion("flexion", "y", 80.0),
            ExtremeMotion("extension", "-y", 25.0),
            ExtremeMotion("left bending", "-x", 35.0),
            ExtremeMotion("right bending", "x", 35.0),
            ExtremeMotion("left rotation", "z", 45.0),
            ExtremeMotion("right rotation", "-z", 45.0),
        ),
        damping=(1.09, 1.09, 1.09),
        source="[AAOS]",
        damping_source="as the hip",
    ),
    "neck": Ball(
        axis="z",
        motions=(
            ExtremeMotion("flexion", "y", 45.0),
            ExtremeMotion("extension", "-y", 45.0),
            ExtremeMotion("left bending", "-x", 45.0),
            ExtremeMotion("right bending", "x", 45.0),
            ExtremeMotion("left rotation", "z", 60.0),
            ExtremeMotion("right rotation", "-z", 60.0),
        ),
        damping=(0.29, 0.29, 0.29),
        source="[AAOS]",
        damping_source="as the knee",
    ),
    "clavicle": Ball(
        axis="y",
        motions=(
            ExtremeMotion("elevation", "x", 48.0),
            ExtremeMotion("depression", "-x", 15.0),
            ExtremeMotion("protraction", "-z", 20.0),
            ExtremeMotion("retraction", "z", 30.0),
            ExtremeMotion("backward rotation", "-y", 50.0),
            ExtremeMotion("forward rotation", "y", 10.0),
        ),
        damping=(0.1, 0.1, 0.1),
        source="[LEVANGIE]",
        damping_source="as the shoulder",
    ),
    "shoulder": Ball(
        axis="-z",
        motions=(
            ExtremeMotion("flexion", "-y", 180.0),
            ExtremeMotion("extension", "y", 60.0),
            ExtremeMotion("abduction", "x", 180.0),
            ExtremeMotion("adduction", "-x", 75.0),
            ExtremeMotion("medial rotation", "-z", 70.0),
            ExtremeMotion("lateral rotation", "z", 90.0),
        ),
        damping=(0.1, 0.1, 0.1),
        source="[AAOS]",
        damping_source="[SAUL]",
    ),
    "wrist": Ball(
        axis="-z",
        motions=(
            ExtremeMotion("flexion", "-y", 80.0),
            ExtremeMotion("extension", "y", 70.0),
            ExtremeMotion("radial deviation", "x", 20.0),
            ExtremeMotion("ulnar deviation", "-x", 30.0),
            ExtremeMotion("pronation", "-z", 160.0),
        ),
        damping=(0.025, 0.1, 0.1),
        source="[AAOS]",
        damping_source="[SAUL]",
    ),
    "hip": Ball(
        axis="-z",
        motions=(
            ExtremeMotion("flexion", "-y", 120.0),
            ExtremeMotion("extension", "y", 30.0),
            ExtremeMotion("abduction", "x", 45.0),
            ExtremeMotion("adduction", "-x", 30.0),
            ExtremeMotion("medial rotation", "-z", 45.0),
            ExtremeMotion("lateral rotation", "z", 45.0),
        ),
        damping=(1.09, 1.09, 1.09),
        source="[AAOS]",
        damping_source="[DAVY]",
    ),
    "ankle": Ball(
        axis="x",
        motions=(
            ExtremeMotion("dorsiflexion", "-y", 20.0),
            ExtremeMotion("plantar flexion", "y", 50.0),
            ExtremeMotion("inversion", "-x", 35.0),
            ExtremeMotion("eversion", "x", 15.0),
        ),
        damping=(0.943, 0.943, 0.943),
        source="[AAOS]",
        damping_source="[DAVY]",
    ),
}

HINGES: Final = {
    "elbow": Hinge(axis="-y", flexion=150.0, damping=0.1, source="[AAOS]", damping_source="[SAUL]"),
    "knee": Hinge(axis="y", flexion=135.0, damping=0.29, source="[AAOS]", damping_source="[DROP]"),
}
"""Turning about their axes, the forearm rises in front of the body and the shank behind it."""
