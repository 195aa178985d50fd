"""Segment masses, lengths and inertias of men and women [DELEVA, Table 4].

The table is de Leva's adjustment of Zatsiorsky and Seluyanov's gamma-ray measurements of 100 men and 15 women,
referred to joint centres. For each segment it gives the mass [% of body mass], the centre of mass [% of segment
length, from the proximal or cranial end, along the line between the two ends] and the radii of gyration about
the centre of mass [% of segment length] for the sagittal (front to back), transverse (side to side) and longitudinal
axis. In the foot, whose long axis points forward, the sagittal axis is the one that stands upright.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from varichain.errors import InputError, UnknownNameError, quoted
from varichain.spatial.checks import finite_scalar, positive_scalar

SHORTEST, TALLEST = 0.5, 2.5
"""Accepted stature [m]: beyond these the table's adults say nothing about the body."""

LIGHTEST, HEAVIEST = 1e-3, 1e6
"""Accepted mass [kg]: beyond these the inertias of segments leave the range in which they can be computed with."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One row of the table for one sex.

    mass [% of body mass], com [% of length], gyration (sagittal, transverse, longitudinal) [% of length], length [m].
    """

    mass: float
    com: float
    gyration: tuple[float, float, float]
    length: float


@dataclass(frozen=True, slots=True)
class Sample:
    """The people of one sex behind the table: mean stature [m], mean mass [kg], their rows, and more mean lengths [m].

    cervicale_to_xiphion and shoulder_to_hip (mid-shoulder to mid-hip) are lengths of the table's alternative rows.
    """

    stature: float
    mass: float
    segments: dict[str, Segment]
    cervicale_to_xiphion: float
    shoulder_to_hip: float


PAIRED: Final = frozenset({"upper arm", "forearm", "hand", "thigh", "shank", "foot"})
"""Segments that a body has twice."""

MEN: Final = Sample(
    stature=1.741,
    mass=73.0,
    segments={
        "head": Segment(6.94, 59.76, (36.2, 37.6, 31.2), 0.2033),  # vertex to mid-gonion
        "upper trunk": Segment(15.96, 29.99, (71.6, 45.4, 65.9), 0.1707),  # suprasternale to xiphion
        "mid trunk": Segment(16.33, 45.02, (48.2, 38.3, 46.8), 0.2155),  # xiphion to omphalion
        "lower trunk": Segment(11.17, 61.15, (61.5, 55.1, 58.7), 0.1457),  # omphalion to mid-hip
        "upper arm": Segment(2.71, 57.72, (28.5, 26.9, 15.8), 0.2817),  # shoulder centre to elbow centre
        "forearm": Segment(1.62, 45.74, (27.6, 26.5, 12.1), 0.2689),  # elbow centre to wrist centre
        "hand": Segment(0.61, 79.00, (62.8, 51.3, 40.1), 0.0862),  # wrist centre to third knuckle
        "thigh": Segment(14.16, 40.95, (32.9, 32.9, 14.9), 0.4222),  # hip centre to knee centre
        "shank": Segment(4.33, 44.59, (25.5, 24.9, 10.3), 0.4340),  # knee centre to lateral malleolus
        "foot": Segment(1.37, 44.15, (25.7, 24.5, 12.4), 0.2581),  # heel to tip of the longest toe
    },
    cervicale_to_xiphion=0.2421,
    shoulder_to_hip=0.5155,
)

WOMEN: Final = Sample(
    stature=1.735,
    mass=61.9,
    segments={
        "head": Segment(6.68, 58.94, (33.0, 35.9, 31.8), 0.2002),
        "upper trunk": Segment(15.45, 20.77, (74.6, 50.2, 71.8), 0.1425),
        "mid trunk": Segment(14.65, 45.12, (43.3, 35.4, 41.5), 0.2053),
        "lower trunk": Segment(12.47, 49.20, (43.3, 40.2, 44.4), 0.1815),
        "upper arm": Segment(2.55, 57.54, (27.8, 26.0, 14.8), 0.2751),
        "forearm": Segment(1.38, 45.59, (26.1, 25.7, 9.4), 0.2643),
        "hand": Segment(0.56, 74.74, (53.1, 45.4, 33.5), 0.0780),
        "thigh": Segment(14.78, 36.12, (36.9, 36.4, 16.2), 0.3685),
        "shank": Segment(4.81, 44.16, (27.1, 26.7, 9.3), 0.4323),
        "foot": Segment(1.29, 40.14, (29.9, 27.9, 13.9), 0.2283),
    },
    cervicale_to_xiphion=0.2280,
    shoulder_to_hip=0.4979,
)

SAMPLES: Final = {"male": MEN, "female": WOMEN}


@dataclass(frozen=True, slots=True)
class Body:
    """A person of the given height [m], mass [kg] and sex, with the table's proportions.

    Lengths grow with height, masses with mass, moments of inertia with mass * height^2. The table's percentages add
    up to 100.00 for men and 99.99 for women; they are divided by their sum, so that the segments weigh `mass`.
    Raises InputError for a height outside 0.5..2.5 m, a mass outside 1 g..1000 t, or an unknown sex.
    """

    height: float = 1.75
    mass: float = 70.0
    sex: str = "male"

    def __post_init__(self) -> None:
        """Check the numbers."""
        height = finite_scalar(self.height, "height")
        mass = positive_scalar(self.mass, "mass")
        if not SHORTEST <= height <= TALLEST:
            raise InputError(f"height must lie in {SHORTEST}..{TALLEST} m, not {height:g}")
        if not LIGHTEST <= mass <= HEAVIEST:
            raise InputError(f"mass must lie in {LIGHTEST:g}..{HEAVIEST:g} kg, not {mass:g}")
        if not isinstance(self.sex, str) or self.sex not in SAMPLES:
            raise InputError(f"sex must be one of {', '.join(map(repr, SAMPLES))}, not {quoted(self.sex)}")
        object.__setattr__(self, "height", height)
        object.__setattr__(self, "mass", mass)

    @property
    def sample(self) -> Sample:
        """The people whose proportions this body has."""
        return SAMPLES[self.sex]

    @property
    def scale(self) -> float:
        """Height over the sample's mean stature."""
        return self.height / self.sample.stature

    def row(self, segment: str) -> Segment:
        """The table's row of a segment. Raises UnknownNameError that lists the segments."""
        try:
            return self.sample.segments[segment]
        except (KeyError, TypeError):
            raise UnknownNameError("segment", segment, list(self.sample.segments)) from None

    def segment_length(self, segment: str) -> float:
        """Distance between the segment's two ends [m]."""
        return self.row(segment).length * self.scale

    def segment_mass(self, segment: str) -> float:
        """Mass of one such segment [kg]."""
        return self.mass * self.row(segment).mass / _table_total(self.sample)

    def segment_com(self, segment: str) -> float:
        """Distance of the centre of mass from the proximal or cranial end [m]."""
        return self.row(segment).com / 100.0 * self.segment_length(segment)

    def segment_moments(self, segment: str) -> tuple[float, float, float]:
        """Central moments of inertia about the sagittal, transverse and longitudinal axis [kg m^2]: m (k L / 100)^2."""
        mass, length = self.segment_mass(segment), self.segment_length(segment)
        sagittal, transverse, longitudinal = (mass * (k / 100.0 * length) ** 2 for k in self.row(segment).gyration)
        return sagittal, transverse, longitudinal


def _table_total(sample: Sample) -> float:
    """Sum of the table's mass percentages, paired segments counted twice."""
    return sum(row.mass * (2.0 if name in PAIRED else 1.0) for name, row in sample.segments.items())
