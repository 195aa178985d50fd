"""Who wears an exoskeleton: a mechanism, the joint that is moved, and what hangs on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from varichain.dynamics.inertia import bias_force, mass_matrix
from varichain.errors import InputError, quoted
from varichain.figures.anthropometry import Body
from varichain.layout.state import State
from varichain.mechanism import Fixed, Inertia, Mechanism, Revolute
from varichain.mechanism.shapes import Capsule
from varichain.motion import Motion
from varichain.spatial.checks import is_sign, non_negative_scalar, positive_scalar
from varichain.spatial.pose import Pose

_G = 9.81
# Shank and foot of [WINTER 2009], table 4.1: parts of the body's mass, and of its height; knee to ankle.
_MASS, _LENGTH, _CENTER, _GYRATION = 0.061, 0.246, 0.606, 0.735
_TILT = 1e-3  # [rad] by which a link is turned to find the moment of its weight
_SLANTED = 0.1  # part of the gravity moment that may be left at hanging: a foot points forward


@dataclass(frozen=True)
class Leg:
    """What hangs on the joint, as its owner knows it.

    Attributes:
        inertia: About the joint [kg m^2].
        gravity: Moment of the weight when it is horizontal [N m].
    """

    inertia: float
    gravity: float

    def __post_init__(self) -> None:
        """Check the numbers."""
        object.__setattr__(self, "inertia", positive_scalar(self.inertia, "inertia of Leg"))
        object.__setattr__(self, "gravity", non_negative_scalar(self.gravity, "gravity of Leg"))


@dataclass(frozen=True, eq=False)
class Wearer:
    """A mechanism with a joint that an exoskeleton moves; all else is fixed, or driven along a motion.

    Attributes:
        m: Mechanism.
        s: State in which the link hangs straight down.
        joint: Name of a revolute joint of the tree.
        sign: 1 if its angle grows with extension, -1 if with flexion.
        motion: Motion of all other joints; None if there are none.
        leg: What hangs on the joint; found from the mechanism, as long as the other joints stand still.
    """

    m: Mechanism
    s: State
    joint: str = "knee"
    sign: int = 1
    motion: Motion | None = None
    leg: Leg = field(init=False)

    def __post_init__(self) -> None:
        """Find the leg."""
        if not isinstance(self.m, Mechanism) or not isinstance(self.s, State):
            raise InputError("a wearer needs a Mechanism and a State")
        if not is_sign(self.sign):
            raise InputError(f"sign of Wearer must be 1 or -1, not {quoted(self.sign)}")
        if self.motion is not None and not isinstance(self.motion, Motion):
            raise InputError(f"motion of Wearer must be a vc.Motion, not {quoted(self.motion)}")
        found = self.m.joint(self.joint)
        if not isinstance(found, Revolute) or self.m.link_of_joint(self.joint).is_virtual:
            raise InputError(f"joint {self.joint!r} must be a revolute joint of the tree, not {found!r}")
        object.__setattr__(self, "leg", _hanging(self.m, self.s, self.joint))


def seated(height: float = 1.72, mass: float = 65.0) -> Wearer:
    """A seated person's lower leg with the thigh fixed: shank and foot of [WINTER 2009], table 4.1.

    Args:
        height: Of the person [m].
        mass: Of the person [kg].
    """
    person = Body(height=height, mass=mass)
    tall, heavy = person.height, person.mass
    length, part = _LENGTH * tall, _MASS * heavy
    center, gyration = _CENTER * length, _GYRATION * length
    about_com = part * (gyration**2 - center**2)
    m = Mechanism("lower leg", gravity=(0.0, 0.0, -_G))
    inertia = Inertia(part, (0.0, 0.0, -center), (about_com, about_com, 0.1 * about_com))
    along = Pose((-0.5 * length, 0.0, 0.0), rotation_vector=(0.0, 0.5 * math.pi, 0.0))
    m.add_link("thigh", "ground", Fixed(name="seat"), (0.0, 0.0, 0.55), shapes=Capsule(0.07, length, at=along))
    shank = Capsule(0.05, length, at=(0.0, 0.0, -0.5 * length))
    m.add_link("shank", "thigh", Revolute("-y", name="knee"), (0.0, 0.0, 0.0), inertia, shank)
    return Wearer(m, m.state())


def _hanging(m: Mechanism, s: State, joint: str) -> Leg:
    """Inertia and gravity moment of what hangs on a joint; the state must have it straight down."""
    still = s.copy()
    still.v = np.zeros(len(still.v))
    freedom = still.layout.slot(joint).v.start
    coordinate = still.layout.slot(joint).q.start
    inertia = float(mass_matrix(m, still)[freedom, freedom])
    moments = []
    for tilt in (-_TILT, 0.0, _TILT):
        tilted = still.copy()
        tilted.q[coordinate] += tilt
        moments.append(float(bias_force(m, tilted)[freedom]))
    gravity = (moments[2] - moments[0]) / (2.0 * math.sin(_TILT))
    if gravity <= 0.0 or abs(moments[1]) > _SLANTED * gravity:
        raise InputError(
            f"the link of joint {joint!r} must hang straight down in the wearer's state: its weight has a moment of "
            f"{moments[1]:.3g} N m there"
        )
    return Leg(inertia, gravity)
