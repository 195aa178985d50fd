"""Stability and passivity of a rendered impedance, with its sampling, filters and delay.

The exoskeleton, alone or with a relaxed leg, is J th'' + beta th' + K th = tau, or two such equations with the cuff's
spring between them; the torque is constant from tick to tick. The chain is linear too: state and chain from one tick to
the next are one matrix, whose largest eigenvalue decides. Coulomb friction and the torque's bound are left out: the
first only helps, the second only where it is reached.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

from varichain.errors import InputError, quoted
from varichain.exo.exoskeleton import Exoskeleton
from varichain.exo.impedance import Chain, Impedance
from varichain.exo.wearer import Leg, seated
from varichain.spatial.checks import finite_scalar, listed
from varichain.spatial.report import Listing, Report, Reported

Array = NDArray[np.float64]

RELAXED_DAMPING = 0.2
"""[N m s/rad] of a relaxed leg, from literature."""
_STABLE = 1.0 - 1e-12  # largest eigenvalue, by magnitude, of a stable loop
_MOST_GAIN = 100.0
_FREQUENCIES = 2000


@dataclass(frozen=True, repr=False)
class Stability(Reported):
    """Whether a rendered impedance is stable and passive, and by how much.

    Attributes:
        on_leg: Stable on this leg, while its owner is relaxed.
        alone: Stable with nobody in the exoskeleton.
        passive: Stable with any passive leg [Colgate and Schenkel 1997].
        decay: Rate at which a small motion dies away on the leg [1/s]; negative if it grows.
        gain_margin: Factor of the motor's torque that is just stable on the leg; below 1 if it is unstable.
        delay_margin: Further delay that is just stable on the leg [s]; 0 if it is unstable.
        passivity_margin: Friction of the exoskeleton beyond that which passivity takes [N m s/rad].
    """

    on_leg: bool
    alone: bool
    passive: bool
    decay: float
    gain_margin: float
    delay_margin: float
    passivity_margin: float

    def report(self) -> Report:
        """Three answers and their margins."""
        words = [f"{'' if value else 'not '}{what}" for what, value in self._answers()]
        rows = [
            ("decay on the leg [1/s]", f"{self.decay:.3g}"),
            ("gain margin", f"{self.gain_margin:.3g}"),
            ("delay margin [s]", f"{self.delay_margin:.3g}"),
            ("passivity margin [N m s/rad]", f"{self.passivity_margin:.3g}"),
        ]
        return ", ".join(words), (Listing(("", ""), rows),)

    def _answers(self) -> tuple[tuple[str, bool], ...]:
        return ("stable on the leg", self.on_leg), ("stable alone", self.alone), ("passive", self.passive)


def stability(exoskeleton: Exoskeleton, virtual: Impedance, leg: Leg | None = None) -> Stability:
    """Stability and passivity of a virtual impedance, as the chain renders it.

    Args:
        exoskeleton: The exoskeleton.
        virtual: The impedance to feel.
        leg: What hangs on the joint; that of `seated()` by default.
    """
    for value, kind, what in ((exoskeleton, Exoskeleton, "exoskeleton"), (virtual, Impedance, "virtual")):
        if not isinstance(value, kind):
            raise InputError(f"{what} must be a vc.exo.{kind.__name__}, not {quoted(value)}")
    worn = _leg(leg)
    chain = exoskeleton.chain
    plant = _plant(exoskeleton, worn)
    made_up = exoskeleton.own.minus(virtual)
    radius = _radius(plant, chain, made_up)
    margin = passivity_margin(exoskeleton, virtual)
    alone = _radius(_plant(exoskeleton, None), chain, made_up) < _STABLE
    return Stability(
        on_leg=radius < _STABLE,
        alone=alone,
        passive=alone and margin >= 0.0,
        decay=-math.log(max(radius, 1e-300)) / chain.tick,
        gain_margin=_gain_margin(plant, chain, made_up),
        delay_margin=_delay_margin(plant, chain, made_up) if radius < _STABLE else 0.0,
        passivity_margin=margin,
    )


@dataclass(frozen=True, eq=False)
class StabilityMap:
    """Stability over virtual viscosities and inertias.

    Attributes:
        viscosity: (n,) [N m s/rad].
        inertia: (k,) [kg m^2].
        on_leg, alone, passive: (n, k), as in `Stability`.
    """

    viscosity: Array
    inertia: Array
    on_leg: NDArray[np.bool_]
    alone: NDArray[np.bool_]
    passive: NDArray[np.bool_]


def stability_map(
    exoskeleton: Exoskeleton,
    viscosity: Any,
    inertia: Any,
    leg: Leg | None = None,
    virtual: Impedance | None = None,
) -> StabilityMap:
    """Stability for every pair of a virtual viscosity and a virtual inertia.

    Args:
        exoskeleton: The exoskeleton.
        viscosity: Values (n,) [N m s/rad].
        inertia: Values (k,) [kg m^2].
        leg: As of `stability`.
        virtual: The other two values; the exoskeleton's own by default.
    """
    if not isinstance(exoskeleton, Exoskeleton):
        raise InputError(f"exoskeleton must be a vc.exo.Exoskeleton, not {quoted(exoskeleton)}")
    base = exoskeleton.own if virtual is None else virtual
    if not isinstance(base, Impedance):
        raise InputError(f"virtual must be a vc.exo.Impedance, not {quoted(virtual)}")
    axes = []
    for name, given in (("viscosity", viscosity), ("inertia", inertia)):
        values = given.tolist() if isinstance(given, np.ndarray) else given
        axes.append(np.array([finite_scalar(x, name) for x in listed(values, object, name)]))
    found = np.zeros((3, len(axes[0]), len(axes[1])), dtype=bool)
    worn = _leg(leg)
    for i, B in enumerate(axes[0].tolist()):
        for j, I in enumerate(axes[1].tolist()):
            each = replace(base, viscosity=B, inertia=I)
            made_up = exoskeleton.own.minus(each)
            for k, there in enumerate((worn, None)):
                found[k, i, j] = _radius(_plant(exoskeleton, there), exoskeleton.chain, made_up) < _STABLE
            found[2, i, j] = found[1, i, j] and passivity_margin(exoskeleton, each) >= 0.0
    return StabilityMap(axes[0], axes[1], *found)


def is_stable_on(exoskeleton: Exoskeleton, virtual: Impedance, leg: Leg) -> bool:
    """Whether a virtual impedance is stable on a leg whose owner is relaxed."""
    made_up = exoskeleton.own.minus(virtual)
    return _radius(_plant(exoskeleton, leg), exoskeleton.chain, made_up) < _STABLE


def passivity_margin(exoskeleton: Exoskeleton, virtual: Impedance) -> float:
    """Friction of the exoskeleton beyond what the sampled chain needs to be passive [N m s/rad].

    b > max over w of T / 2 Re((1 - exp(-jwT)) H(exp(jwT))) / (1 - cos wT), with H the force against the angle
    [Colgate and Schenkel 1997]. For T = 0 and no delay it is max(dB, 2 pi f dI).
    """
    chain, (dI, dB, dG, _) = exoskeleton.chain, exoskeleton.own.minus(virtual)
    w = np.geomspace(1e-2, math.pi / chain.tick, _FREQUENCIES)
    back = np.exp(-1j * w * chain.tick)
    difference = (1.0 - back) / chain.tick
    low_pass = chain.gain / (1.0 - (1.0 - chain.gain) * back)
    H = -(low_pass * difference * (dB + dI * difference) + dG) * back**chain.lag
    needed = 0.5 * chain.tick * ((1.0 - back) * H).real / (1.0 - np.cos(w * chain.tick))
    return exoskeleton.own.viscosity - float(needed.max())


def _leg(leg: Any) -> Leg:
    if leg is not None and not isinstance(leg, Leg):
        raise InputError(f"leg must be a vc.exo.Leg or None, not {quoted(leg)}")
    return seated().leg if leg is None else leg


Plant = tuple[tuple[float, ...], ...]
"""Rows of the matrix that gives the rate of (angle, velocity, ...); the last column is of the motor's torque."""
MadeUp = tuple[float, float, float, float]


def _plant(exoskeleton: Exoskeleton, leg: Leg | None) -> Plant:
    """The exoskeleton about hanging: alone, or on a leg, rigidly or through its cuff."""
    own, cuff = exoskeleton.own, exoskeleton.cuff
    J, beta, K = own.inertia, own.viscosity, own.gravity
    if leg is not None and cuff is None:
        J, beta, K = J + leg.inertia, beta + RELAXED_DAMPING, K + leg.gravity
    if leg is None or cuff is None:
        return (0.0, 1.0, 0.0), (-K / J, -beta / J, 1.0 / J)
    k, d, L = cuff.stiffness, cuff.damping, leg.inertia
    return (
        (0.0, 1.0, 0.0, 0.0, 0.0),
        (-(K + k) / J, -(beta + d) / J, k / J, d / J, 1.0 / J),
        (0.0, 0.0, 0.0, 1.0, 0.0),
        (k / L, d / L, -(leg.gravity + k) / L, -(RELAXED_DAMPING + d) / L, 0.0),
    )


@lru_cache(maxsize=4096)
def _radius(plant: Plant, chain: Chain, made_up: MadeUp) -> float:
    """Largest magnitude of an eigenvalue of one tick to the next."""
    return float(np.abs(np.linalg.eigvals(_one_tick(plant, chain, made_up))).max())


def _one_tick(plant: Plant, chain: Chain, made_up: MadeUp) -> Array:
    """Matrix from one tick to the next, of the plant, angle and rate before, w, a, and torques on their way."""
    T, g, lag, n = chain.tick, chain.gain, chain.lag, len(plant)
    dI, dB, dG, _ = made_up
    whole = expm(np.vstack([np.array(plant), np.zeros(n + 1)]) * T)
    unit = np.eye(n + 4 + lag)
    angle, before, rate_before, w, a = unit[0], *unit[n : n + 4]
    rate = (angle - before) / T
    w_now = w + g * (rate - w)
    a_now = a + g * ((rate - rate_before) / T - a)
    torque = dI * a_now + dB * w_now + dG * angle
    line = [*unit[n + 4 :], torque]
    moved = whole[:n, :n] @ unit[:n] + np.outer(whole[:n, n], line[0])
    found: Array = np.vstack([moved, angle, rate, w_now, a_now, *line[1:]])
    return found


def _gain_margin(plant: Plant, chain: Chain, made_up: MadeUp) -> float:
    """Least factor of the motor's torque at which the loop ceases to be stable, up to a hundred."""

    def is_stable(factor: float) -> bool:
        dI, dB, dG, dC = (factor * x for x in made_up)
        return _radius(plant, chain, (dI, dB, dG, dC)) < _STABLE

    factors = np.geomspace(1e-2, _MOST_GAIN, 41).tolist()
    unstable = next((i for i, factor in enumerate(factors) if not is_stable(factor)), None)
    if unstable is None:
        return math.inf
    low, high = factors[unstable - 1] if unstable else 0.0, factors[unstable]
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_stable(middle) else (low, middle)
    return float(low)


def _delay_margin(plant: Plant, chain: Chain, made_up: MadeUp) -> float:
    """Further delay after which a stable loop ceases to be stable [s]; infinite if no delay does that.

    With L(z) the loop's transfer, a delay d turns its phase back by w d: the loop is just stable where L is 1.
    """
    n, T, (dI, dB, dG, _) = len(plant), chain.tick, made_up
    whole = expm(np.vstack([np.array(plant), np.zeros(n + 1)]) * T)
    w = np.geomspace(1e-2, math.pi / T, _FREQUENCIES)
    z = np.exp(1j * w * T)
    moved = np.linalg.solve(
        z[:, None, None] * np.eye(n) - whole[:n, :n], np.broadcast_to(whole[:n, n:], (len(w), n, 1))
    )
    difference = (1.0 - 1.0 / z) / T
    low_pass = chain.gain / (1.0 - (1.0 - chain.gain) / z)
    loop = moved[:, 0, 0] * (low_pass * difference * (dB + dI * difference) + dG) * z ** -float(chain.lag)
    size, phase = np.log(np.abs(loop) + 1e-300), np.unwrap(np.angle(loop))
    found = math.inf
    for i in np.flatnonzero(size[:-1] * size[1:] < 0.0).tolist():
        part = size[i] / (size[i] - size[i + 1])
        there = math.exp(math.log(w[i]) + part * math.log(w[i + 1] / w[i]))
        found = min(found, (phase[i] + part * (phase[i + 1] - phase[i])) % (2.0 * math.pi) / there)
    return found
