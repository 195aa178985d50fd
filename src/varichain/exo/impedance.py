"""Impedances of a joint, and the chain of sensors, filter and motor that renders a virtual one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from varichain.errors import InputError
from varichain.spatial.checks import finite_scalar, non_negative_scalar, positive_scalar

MOST_TICKS = 250
"""Ticks that a delay may be long."""


@dataclass(frozen=True)
class Impedance:
    """What a joint feels like: inertia th'' + viscosity th' + coulomb sign(th') + gravity sin(th) [LS].

    Attributes:
        inertia: [kg m^2]; a virtual one may be negative.
        viscosity: Of viscous friction [N m s/rad]; a virtual one may be negative.
        gravity: Moment of the weight when the link is horizontal [N m].
        coulomb: Dry friction [N m], not negative.
    """

    inertia: float = 0.0
    viscosity: float = 0.0
    gravity: float = 0.0
    coulomb: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("inertia", "viscosity", "gravity"):
            object.__setattr__(self, name, finite_scalar(getattr(self, name), f"{name} of Impedance"))
        object.__setattr__(self, "coulomb", non_negative_scalar(self.coulomb, "coulomb of Impedance"))

    def minus(self, other: Impedance) -> tuple[float, float, float, float]:
        """Differences of inertia, viscosity, gravity and Coulomb friction: what a motor must make up for."""
        return (
            self.inertia - other.inertia,
            self.viscosity - other.viscosity,
            self.gravity - other.gravity,
            self.coulomb - other.coulomb,
        )


@dataclass(frozen=True)
class Chain:
    """Sensors, computer and motor of an exoskeleton.

    Velocity and acceleration are differences of the measured angle, each through a first-order low-pass filter.

    Attributes:
        tick: Sampling time [s].
        cutoff: Of both filters [Hz].
        delay: From the sensor to the motor, rounded to ticks [s].
        largest: Torque of the motor [N m].
        resolution: Of the encoder [rad]; 0 for a perfect one.
    """

    tick: float = 1e-3
    cutoff: float = 30.0
    delay: float = 0.0
    largest: float = 100.0
    resolution: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("tick", "cutoff", "largest"):
            object.__setattr__(self, name, positive_scalar(getattr(self, name), f"{name} of Chain"))
        for name in ("delay", "resolution"):
            object.__setattr__(self, name, non_negative_scalar(getattr(self, name), f"{name} of Chain"))
        if not self.delay < (MOST_TICKS + 0.5) * self.tick:
            raise InputError(
                f"delay of Chain must be at most {MOST_TICKS} ticks of {self.tick:g} s, not {self.delay:g} s"
            )

    @property
    def lag(self) -> int:
        """Delay in ticks."""
        return math.floor(self.delay / self.tick + 0.5)

    @property
    def gain(self) -> float:
        """Part of the way that a filter goes in a tick: 1 - exp(-2 pi f T)."""
        return 1.0 - math.exp(-2.0 * math.pi * self.cutoff * self.tick)
