"""The law that renders a virtual impedance: the motor makes up for the difference to the exoskeleton's own."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from varichain.blocks import DERIVATIVE, delay, delay_length, derivative, quantised, saturated
from varichain.errors import InputError, quoted
from varichain.exo.exoskeleton import Exoskeleton
from varichain.exo.impedance import MOST_TICKS, Impedance
from varichain.simulation.discrete import Discrete
from varichain.spatial.checks import count_number, instance, is_sign

BAND = 0.05
"""[rad/s] below which the compensation of Coulomb friction grows with speed instead of jumping."""


def compensate(t, q, v, tau, state, parameters, stream):  # type: ignore[no-untyped-def]
    """Torque of the motor: (own - virtual) of inertia, viscosity, Coulomb friction and gravity, from sampled angles.

        tau = dI a + dB w + dC sat(w / BAND) + dG sin(th)

    a and w are filtered differences of th; the torque comes `exo_lag` ticks late and is bounded.
    """
    tick = parameters.exo_tick
    angle = quantised(parameters.exo_sign * q[int(parameters.exo_q)], parameters.exo_resolution)
    speed = derivative(state.speed, angle, parameters.exo_cutoff, tick)
    rate = 0.0 if state.begun == 0.0 else (angle - state.before) / tick
    state.begun, state.before = 1.0, angle
    acceleration = derivative(state.acceleration, rate, parameters.exo_cutoff, tick)
    torque = parameters.inertia_made_up * acceleration + parameters.viscosity_made_up * speed
    torque += parameters.coulomb_made_up * saturated(speed / BAND, 1.0) + parameters.gravity_made_up * math.sin(angle)
    late = delay(state.line[: int(parameters.exo_lag) + 2], torque)
    tau[int(parameters.exo_v)] = parameters.exo_sign * saturated(late, parameters.exo_largest)


_MOST_PLACES = 10**6  # in the coordinates of a state
PLACES = ("exo_q", "exo_v", "exo_sign")
_NAMES = ("inertia_made_up", "viscosity_made_up", "gravity_made_up", "coulomb_made_up")
_CHAIN = ("exo_tick", "exo_cutoff", "exo_lag", "exo_largest", "exo_resolution")


@lru_cache(maxsize=8)
def law(tick: float) -> Discrete:
    """The compensation as a controller, compiled once for each sampling time; see `numbers` for its parameters."""
    state = {
        "speed": np.zeros(DERIVATIVE),
        "acceleration": np.zeros(DERIVATIVE),
        "begun": 0.0,
        "before": 0.0,
        "line": np.zeros(delay_length(MOST_TICKS)),
    }
    return Discrete(compensate, tick, state, dict.fromkeys((*PLACES, *_NAMES, *_CHAIN), 0.0), name="compensation")


def numbers(exoskeleton: Exoskeleton, virtual: Impedance) -> dict[str, Any]:
    """Parameters of the law, but for the places of the joint."""
    chain = exoskeleton.chain
    found: dict[str, Any] = dict(zip(_NAMES, exoskeleton.own.minus(virtual), strict=True))
    settings = (chain.tick, chain.cutoff, float(chain.lag), chain.largest, chain.resolution)
    return found | dict(zip(_CHAIN, settings, strict=True))


def compensation(exoskeleton: Exoskeleton, virtual: Impedance, q: int, v: int, sign: int = 1) -> Discrete:
    """Controller that renders a virtual impedance at a joint, as `vc.simulate` takes it.

    Args:
        exoskeleton: The exoskeleton.
        virtual: The impedance to feel.
        q: Place of the motor's joint in `State.q`.
        v: And in `State.v`.
        sign: 1 if the angle grows with extension, -1 if with flexion.
    """
    instance(exoskeleton, Exoskeleton, "exoskeleton")
    instance(virtual, Impedance, "virtual")
    at = [float(count_number(place, name, _MOST_PLACES, least=0)) for place, name in ((q, "q"), (v, "v"))]
    if not is_sign(sign):
        raise InputError(f"sign must be 1 or -1, not {quoted(sign)}")
    places: dict[str, Any] = dict(zip(PLACES, (*at, float(sign)), strict=True))
    return law(exoskeleton.chain.tick).varied(**numbers(exoskeleton, virtual), **places)
