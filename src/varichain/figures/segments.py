"""The segments of a standing person: inertia and shape of each, in the frame of `landmarks`."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from varichain.figures.anthropometry import Body
from varichain.figures.landmarks import Point
from varichain.mechanism import Capsule, Inertia
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import matrix_with_z_along

DENSITY: Final = 1000.0
"""Of the limbs that are drawn [kg/m^3]: a heavier person is drawn thicker, never longer."""

CLAVICLE_SHARE: Final = 0.075
"""Mass of one shoulder girdle (clavicle and scapula) as a share of the upper trunk's, about 0.87 kg in a man of 73 kg
[HELM: clavicle 0.16 kg, scapula 0.70 kg]."""

CLAVICLE_RADIUS: Final = 0.2
"""Radius of a shoulder girdle over its length, for its inertia."""

CRANIAL_END: Final = {
    "head": "vertex",
    "upper trunk": "suprasternale",
    "mid trunk": "xiphion",
    "lower trunk": "omphalion",
    "upper arm": "shoulder",
    "forearm": "elbow",
    "hand": "wrist",
    "thigh": "hip",
    "shank": "knee",
}
"""Landmark from which the table measures the centre of mass of a segment that hangs straight down."""


def segment_inertia(body: Body, segment: str, points: dict[str, Point]) -> Inertia:
    """Inertia of one segment of the table, in the frame of `points` and on their side."""
    sagittal, transverse, longitudinal = body.segment_moments(segment)
    mass, distance = body.segment_mass(segment), body.segment_com(segment)
    if segment == "foot":  # its long axis points forward
        com = points["heel"] + np.array([distance, 0.0, 0.0])
        return Inertia(mass, com=com, about_com=np.diag([longitudinal, transverse, sagittal]))
    com = points[CRANIAL_END[segment]] - np.array([0.0, 0.0, distance])
    return Inertia(mass, com=com, about_com=np.diag([sagittal, transverse, longitudinal]))


def clavicle_inertia(body: Body, points: dict[str, Point]) -> Inertia:
    """Inertia of one shoulder girdle: a uniform capsule from the sternum to the shoulder."""
    mass = CLAVICLE_SHARE * body.segment_mass("upper trunk")
    start, end = points["sternoclavicular"], points["shoulder"]
    length = float(np.linalg.norm(end - start))
    return Inertia.capsule(mass, CLAVICLE_RADIUS * length, length, axis=end - start, com=0.5 * (start + end))


def without(whole: Inertia, *parts: Inertia) -> Inertia:
    """What is left of a rigid body when parts are taken out; the parts and the rest add up to the whole."""
    mass = whole.mass - sum(part.mass for part in parts)
    com = (whole.mass * whole.com - sum(part.mass * part.com for part in parts)) / mass
    matrix: NDArray[np.float64] = whole.about(com) - sum(part.about(com) for part in parts)
    return Inertia(mass, com=com, about_com=matrix)


def limb(start: Point, end: Point, radius: float) -> Capsule:
    """Capsule whose axis runs from `start` to `end`; its round ends reach beyond them."""
    length = float(np.linalg.norm(end - start))
    return Capsule(radius, length, at=Pose(p=0.5 * (start + end), R=matrix_with_z_along((end - start) / length)))


def limb_radius(mass: float, length: float) -> float:
    """Radius [m] of the capsule of DENSITY that weighs `mass`: the root of pi r^2 length + 4/3 pi r^3 = mass / DENSITY.

    Newton's method from the sphere of that mass: the cubic is convex for r > 0 and the sphere is too thick.
    """
    volume = mass / (DENSITY * math.pi)
    radius = math.cbrt(0.75 * volume)
    for _ in range(60):
        step = (radius**2 * (length + 4.0 / 3.0 * radius) - volume) / (2.0 * radius * (length + 2.0 * radius))
        radius -= step
        if step <= 1e-15 * radius:
            break
    return radius
