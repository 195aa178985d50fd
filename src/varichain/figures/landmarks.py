"""Where the joints of a standing person are.

Frame: origin midway between the hip centres, x forward, y to the left, z up. The person stands upright with the arms
hanging and the palms forward (the anatomical position); all joints lie in the frontal plane x = 0.

Heights follow from the segment lengths of [DELEVA, Table 4]. What the table lacks is taken as a share of stature:

- ankle (lateral malleolus) above the sole: 0.039 [DRILLIS];
- shoulder centre from the midline: half the biacromial breadth, 0.118 for men and 0.112 for women [ANSUR];
- hip centre from the midline 0.05, sternoclavicular joint from the midline 0.015, ankle ahead of the heel 0.25 of the
  foot's length: rounded anatomical proportions.

The table's lengths were measured lying and do not add up to stature; the remainder falls between the neck joint and
the vertex, so that the figure is exactly `height` tall.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from varichain.figures.anthropometry import Body

Point = NDArray[np.float64]

ANKLE_HEIGHT: Final = 0.039
HALF_SHOULDERS: Final = {"male": 0.118, "female": 0.112}
HALF_HIPS: Final = 0.05
HALF_STERNUM: Final = 0.015
HEEL_BEHIND_ANKLE: Final = 0.25


def hip_height(body: Body) -> float:
    """Height of the hip centres above the soles when standing [m]."""
    return body.segment_length("thigh") + body.segment_length("shank") + ANKLE_HEIGHT * body.height


def landmarks(body: Body) -> dict[str, Point]:
    """Landmarks of a standing person by name, (3,) each [m]; of paired ones the left.

    "heel" and "toe" are the ends of the foot's long axis, half way between ankle and sole.
    """
    return {name: np.array(p) for name, p in (_trunk(body) | _arm(body) | _leg(body)).items()}


def mirrored(points: dict[str, Point]) -> dict[str, Point]:
    """The same landmarks on the right side."""
    return {name: p * np.array([1.0, -1.0, 1.0]) for name, p in points.items()}


def _trunk(body: Body) -> dict[str, tuple[float, float, float]]:
    omphalion = body.segment_length("lower trunk")
    xiphion = omphalion + body.segment_length("mid trunk")
    suprasternale = xiphion + body.segment_length("upper trunk")
    cervicale = xiphion + body.sample.cervicale_to_xiphion * body.scale
    return {
        "mid-hip": (0.0, 0.0, 0.0),
        "omphalion": (0.0, 0.0, omphalion),
        "xiphion": (0.0, 0.0, xiphion),
        "suprasternale": (0.0, 0.0, suprasternale),
        "cervicale": (0.0, 0.0, cervicale),
        "vertex": (0.0, 0.0, body.height - hip_height(body)),
        "sternoclavicular": (0.0, HALF_STERNUM * body.height, suprasternale),
    }


def _arm(body: Body) -> dict[str, tuple[float, float, float]]:
    y = HALF_SHOULDERS[body.sex] * body.height
    shoulder = body.sample.shoulder_to_hip * body.scale
    elbow = shoulder - body.segment_length("upper arm")
    wrist = elbow - body.segment_length("forearm")
    return {
        "shoulder": (0.0, y, shoulder),
        "elbow": (0.0, y, elbow),
        "wrist": (0.0, y, wrist),
        "knuckle": (0.0, y, wrist - body.segment_length("hand")),
    }


def _leg(body: Body) -> dict[str, tuple[float, float, float]]:
    y = HALF_HIPS * body.height
    ankle_height, foot = ANKLE_HEIGHT * body.height, body.segment_length("foot")
    sole = -hip_height(body)
    heel = -HEEL_BEHIND_ANKLE * foot
    return {
        "hip": (0.0, y, 0.0),
        "knee": (0.0, y, -body.segment_length("thigh")),
        "ankle": (0.0, y, sole + ankle_height),
        "heel": (heel, y, sole + 0.5 * ankle_height),
        "toe": (heel + foot, y, sole + 0.5 * ankle_height),
        "sole": (0.0, y, sole),
    }
