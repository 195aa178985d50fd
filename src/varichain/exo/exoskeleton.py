"""An exoskeleton: its own impedance, its chain of sensors and motor, and how it is worn."""

from __future__ import annotations

from dataclasses import dataclass, field

from varichain.errors import InputError, quoted
from varichain.exo.impedance import Chain, Impedance
from varichain.exo.wearer import Wearer
from varichain.mechanism import Fixed, Inertia, Mechanism, Revolute
from varichain.mechanism.shapes import Capsule
from varichain.spatial.checks import non_negative_scalar, positive_scalar

_G = 9.81
_LINK, _JOINT, _CUFF = "exoskeleton", "exoskeleton", "cuff"


@dataclass(frozen=True)
class Cuff:
    """What ties the exoskeleton to the leg, if it gives way.

    Attributes:
        stiffness: Against a turn of the exoskeleton about the joint, seen from the leg [N m/rad].
        damping: [N m s/rad].
    """

    stiffness: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        object.__setattr__(self, "stiffness", positive_scalar(self.stiffness, "stiffness of Cuff"))
        object.__setattr__(self, "damping", non_negative_scalar(self.damping, "damping of Cuff"))


@dataclass(frozen=True)
class Exoskeleton:
    """An exoskeleton of one joint.

    Attributes:
        own: Its own impedance. The values by default are assumed: those of HAL-3 are not published in [LS].
        chain: Sensors, filter, delay and motor.
        cuff: How it is tied to the leg; None if rigidly.
    """

    own: Impedance = field(default_factory=lambda: Impedance(0.15, 4.5, 5.4, 1.0))
    chain: Chain = field(default_factory=Chain)
    cuff: Cuff | None = None

    def __post_init__(self) -> None:
        """Check the parts."""
        for name, kind in (("own", Impedance), ("chain", Chain)):
            if not isinstance(getattr(self, name), kind):
                raise InputError(
                    f"{name} of Exoskeleton must be a vc.exo.{kind.__name__}, not {quoted(getattr(self, name))}"
                )
        if self.cuff is not None and not isinstance(self.cuff, Cuff):
            raise InputError(f"cuff of Exoskeleton must be a vc.exo.Cuff or None, not {quoted(self.cuff)}")
        if self.own.inertia <= 0.0 or self.own.viscosity < 0.0 or self.own.gravity < 0.0:
            raise InputError(f"an exoskeleton has an inertia of its own and no negative friction or weight: {self.own}")

    def put_on(self, wearer: Wearer) -> tuple[Mechanism, str]:
        """The wearer's mechanism with the exoskeleton on it, and the name of the joint that the motor drives.

        Rigidly tied, the exoskeleton is fixed to the leg, and its friction is in the wearer's joint. With a cuff it
        hangs on the thigh by a joint of its own about the same axis, and is connected to the leg by a joint with a
        spring: a closed chain.
        """
        m = wearer.m.copy()
        leg, joint = m.link_of_joint(wearer.joint), m.joint(wearer.joint)
        assert isinstance(joint, Revolute)
        body = _body(self.own)
        shape = Capsule(0.03, 0.25, at=(0.0, -0.08, -0.15), color=(0.9, 0.5, 0.2))
        if self.cuff is None:
            m.add_link(_LINK, leg, Fixed(name=_JOINT), inertia=body, shapes=shape)
            damping, friction = joint.damping[0] + self.own.viscosity, joint.friction[0] + self.own.coulomb
            m.edit_joint(wearer.joint, damping=damping, friction=friction)
            return m, wearer.joint
        hinge = Revolute(joint.axis, name=_JOINT, damping=self.own.viscosity, friction=self.own.coulomb)
        m.add_link(_LINK, leg.parent, hinge, leg.at, body, shape)
        tie = Revolute(joint.axis, name=_CUFF, stiffness=self.cuff.stiffness, damping=self.cuff.damping)
        m.connect(_LINK, leg.name, tie, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        return m, _JOINT


def _body(own: Impedance) -> Inertia:
    """A body with the inertia and the gravity moment about its origin, hanging along -z."""
    if own.gravity == 0.0:
        return Inertia(1.0, (0.0, 0.0, 0.0), (own.inertia,) * 3)
    arm = 0.5 * own.inertia * _G / own.gravity
    mass = own.gravity / (_G * arm)
    return Inertia(mass, (0.0, 0.0, -arm), (own.inertia - mass * arm**2,) * 3)
