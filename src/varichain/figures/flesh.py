"""What people look like: trunk, head with a face, hands and feet of simple shapes, dressed; for the eye alone.

Sizes are those of a man of 1.75 m and 70 kg. Lengths follow the landmarks, thickness the mass over the height. A limb
is as thick as its mass wants, see `limb_radius`. Inertia comes from tables and not from here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final
from zlib import crc32

import numpy as np

from varichain.figures.anthropometry import Body
from varichain.figures.landmarks import Point
from varichain.figures.segments import limb
from varichain.mechanism.materials import MATERIALS
from varichain.mechanism.shapes import Capsule, Ellipsoid
from varichain.spatial.pose import Pose

Points = dict[str, Point]
Shape = Capsule | Ellipsoid

SHIRTS: Final = tuple(color for name, color in MATERIALS.items() if name.endswith("shirt"))
_SKIN, _HAIR, _EYES, _SHOES, _TROUSERS = (MATERIALS[name] for name in ("skin", "hair", "eyes", "shoes", "trousers"))
_HEIGHT, _WEIGHT = 1.75, 70.0  # [m], [kg] of whom the sizes are


@dataclass(frozen=True)
class Flesh:
    """Shapes of one person, in the frame of `landmarks`.

    Attributes:
        body: Whose.
        prefix: Of the figure's names: people in one mechanism wear different shirts.
        is_dressed: Whether sleeves and trousers are long; else the person is dressed for gymnastics.
    """

    body: Body
    prefix: str
    is_dressed: bool

    @property
    def shirt(self) -> str:
        """Colour of the shirt."""
        return SHIRTS[crc32(self.prefix.encode()) % len(SHIRTS)] if self.prefix else SHIRTS[0]

    @property
    def sleeves(self) -> str:
        """Colour of the arms."""
        return self.shirt if self.is_dressed else _SKIN

    @property
    def legs(self) -> str:
        """Colour of the shanks; thighs are in trousers always."""
        return _TROUSERS if self.is_dressed else _SKIN

    def pelvis(self, points: Points) -> tuple[Shape, ...]:
        """Seat and hips."""
        hip, top = float(points["hip"][1]), float(points["omphalion"][2])
        return (
            self._across((-0.012, -0.005), 0.096, hip - 0.022, _TROUSERS),
            self._across((0.0, 0.5 * top), 0.092, hip - 0.024, _TROUSERS),
        )

    def chest(self, points: Points) -> tuple[Shape, ...]:
        """Waist, ribs, chest and shoulders."""
        navel, ribs, top = (float(points[name][2]) for name in ("omphalion", "xiphion", "suprasternale"))
        y, shoulder, k = float(points["shoulder"][1]), float(points["shoulder"][2]), self._thick
        middle, half = 0.5 * (navel + top), 0.62 * (top - navel)
        return (
            self._across((0.0, navel + 0.01), 0.092, 0.052, self.shirt),
            _ball(np.array([0.004, 0.0, middle]), (0.106 * k, 0.152 * k, half), self.shirt),
            self._across((0.012, 0.6 * ribs + 0.4 * top), 0.096, 0.078, self.shirt),
            self._across((-0.004, shoulder - 0.018), 0.058, y - 0.045, self.shirt),
        )

    def head(self, points: Points) -> tuple[Shape, ...]:
        """Neck, head, hair, and a face that shows which side is the front."""
        k, top, nape = self.body.height / _HEIGHT, points["vertex"], points["cervicale"]
        neck = limb(_from(nape, k, -0.012, 0.0, -0.035), _from(top, k, 0.005, 0.0, -0.17), 0.052 * k)
        eyes = [_ball(_from(top, k, 0.094, y, -0.108), (0.01 * k,) * 3, _EYES) for y in (-0.032, 0.032)]
        return (
            _colored(neck, _SKIN),
            _ball(_from(top, k, 0.014, 0.0, -0.123), (0.095 * k, 0.074 * k, 0.113 * k), _SKIN),
            _ball(_from(top, k, 0.002, 0.0, -0.078), (0.098 * k, 0.082 * k, 0.078 * k), _HAIR),
            _ball(_from(top, k, 0.108, 0.0, -0.132), (0.017 * k, 0.013 * k, 0.022 * k), _SKIN),
            *eyes,
        )

    def clavicle(self, points: Points) -> tuple[Shape, ...]:
        """The shoulder girdle."""
        return (_colored(limb(points["shoulder"], points["sternoclavicular"], 0.047 * self._thick), self.shirt),)

    def upper_arm(self, points: Points, radius: float) -> tuple[Shape, ...]:
        """Shoulder and arm."""
        return self._tapered(points["shoulder"], points["elbow"], radius, (1.06, 0.9), self.shirt, self.sleeves)

    def forearm(self, points: Points, radius: float) -> tuple[Shape, ...]:
        """From the elbow to the wrist."""
        return self._tapered(points["elbow"], points["wrist"], radius, (1.1, 0.8), self.sleeves, _SKIN)

    def hand(self, points: Points) -> tuple[Shape, ...]:
        """Palm, fingers and thumb."""
        k, wrist, knuckle = self.body.height / _HEIGHT, points["wrist"], points["knuckle"]
        out = math.copysign(1.0, float(wrist[1]))
        thumb = limb(_from(wrist, k, 0.012, 0.03 * out, -0.03), _from(wrist, k, 0.026, 0.055 * out, -0.085), 0.0115 * k)
        return (
            _ball(0.5 * (wrist + knuckle), (0.018 * k, 0.042 * k, 0.056 * k), _SKIN),
            _ball(_from(knuckle, k, 0.004, 0.0, -0.034), (0.013 * k, 0.036 * k, 0.046 * k), _SKIN),
            _colored(thumb, _SKIN),
        )

    def thigh(self, points: Points, radius: float) -> tuple[Shape, ...]:
        """From the hip to the knee."""
        return self._tapered(points["hip"], points["knee"], radius, (1.0, 0.74), _TROUSERS, _TROUSERS)

    def shank(self, points: Points, radius: float) -> tuple[Shape, ...]:
        """Calf and ankle."""
        return self._tapered(points["knee"], points["ankle"], radius, (1.0, 0.72), self.legs, self.legs)

    def foot(self, points: Points) -> tuple[Shape, ...]:
        """A shoe in two parts, heel and toes, and the instep; its sole is flat on the floor."""
        k, ankle = self.body.height / _HEIGHT, points["ankle"]
        (heel, y, _), (toe, _, _), floor = points["heel"], points["toe"], float(points["sole"][2])
        back, front = 0.036 * k, 0.024 * k
        ball = np.array([toe - 3.2 * front, y, floor + front])
        toes = [
            limb(_from(ball, k, 0.0, side * 0.022, 0.0), _from(ball, k, 0.053, side * 0.012, 0.0), front)
            for side in (-1.0, 1.0)
        ]
        sole = limb(np.array([heel + back, y, floor + back]), _from(ball, k, 0.0, 0.0, 0.012), back)
        instep = limb(_from(ankle, k, 0.0, 0.0, -0.008), _from(ball, k, -0.05, 0.0, 0.016), 0.034 * k)
        return tuple(_colored(part, _SHOES) for part in (sole, instep, *toes))

    @property
    def _thick(self) -> float:
        """Thickness beside that of the man whose sizes are given."""
        return math.sqrt(self.body.mass / _WEIGHT * _HEIGHT / self.body.height)

    def _across(self, place: tuple[float, float], radius: float, half: float, color: str) -> Capsule:
        """A capsule from side to side, at x and z of the middle plane [m]."""
        x, z = place
        ends = np.array([(x, -half * self._thick, z), (x, half * self._thick, z)])
        return _colored(limb(ends[0], ends[1], radius * self._thick), color)

    def _tapered(
        self, start: Point, end: Point, radius: float, shares: tuple[float, float], upper: str, lower: str
    ) -> tuple[Shape, ...]:
        """Two capsules one in the other, so that a limb is thinner at its end; shares are of the radius."""
        middle, before = start + 0.5 * (end - start), start + 0.38 * (end - start)
        return (
            _colored(limb(start, middle, shares[0] * radius), upper),
            _colored(limb(before, end, shares[1] * radius), lower),
        )


def _from(point: Point, k: float, x: float, y: float, z: float) -> Point:
    """A place seen from a point, in sizes that are k times those given [m]."""
    found: Point = point + k * np.array([x, y, z])
    return found


def _colored(shape: Capsule, color: str) -> Capsule:
    return Capsule(shape.radius, shape.length, at=shape.at, color=color)


def _ball(middle: Point, radii: tuple[float, ...], color: str) -> Ellipsoid:
    a, b, c = radii
    return Ellipsoid((a, b, c), at=Pose(p=middle), color=color)
