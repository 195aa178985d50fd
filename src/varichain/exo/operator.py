"""An operator: tracks a swing with a learned model, delayed feedback, antagonistic muscles and co-contraction."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

import numpy as np

from varichain.blocks import delay, delay_length, normal
from varichain.errors import InputError
from varichain.exo.impedance import MOST_TICKS, Impedance
from varichain.exo.swing import Swing, swing_at
from varichain.exo.wearer import Leg
from varichain.simulation.discrete import Discrete
from varichain.spatial.checks import non_negative_scalar

TICK = 1e-3
"""[s] from one evaluation of an operator to the next."""

_SMOOTH = 0.05  # [rad/s] over which the expected Coulomb friction changes its sign
_POSITIVE = ("activation", "stiffening_time", "window", "extensor", "flexor", "noise_time")


def _number(value: float, unit: str, source: str) -> Any:
    return field(default=value, metadata={"unit": unit, "source": source})


@dataclass(frozen=True)
class Operator:
    """What an operator does with his joint; numbers are from literature, calibrated to [LS], or assumed, as said.

    Attributes:
        sensitivity: Of feedback and of stiffening, g.
        stiffening: Co-contraction for each rad/s of velocity error, s.
        feedback_stiffness: Of the delayed feedback, k_r.
        feedback_damping: b_r.
        delay: Of the feedback, T_d.
        stiffness: Of the joint without co-contraction, k_0.
        stiffness_gain: And for each unit of it, k_c.
        damping: Of the joint towards the motion that is wanted, b_0.
        damping_gain: And for each unit of co-contraction, b_c.
        passive_damping: Of the joint at rest, b_h.
        activation: Time in which muscles follow, t_a.
        stiffening_time: In which co-contraction follows, t_c.
        window: Over which velocity errors are averaged.
        least: Co-contraction that is always there, c_min.
        extensor: Largest moment of the extensor, T_e.
        flexor: And of the flexor, T_f.
        noise: Standard deviation of the moment's noise for each N m of muscle moment.
        noise_time: Correlation time of the noise.
    """

    sensitivity: float = _number(1.0, "", "calibrated: 1.02, 1.00, 0.98 for A, B, C")
    stiffening: float = _number(0.06, "s/rad", "calibrated: 0.068, 0.06, 0.055 for A, B, C")
    feedback_stiffness: float = _number(30.0, "N m/rad", "calibrated: the moment's minimum at 1.56 N m s/rad")
    feedback_damping: float = _number(1.5, "N m s/rad", "assumed")
    delay: float = _number(0.1, "s", "literature: 0.05 to 0.12")
    stiffness: float = _number(5.0, "N m/rad", "assumed")
    stiffness_gain: float = _number(40.0, "N m/rad", "assumed")
    damping: float = _number(1.0, "N m s/rad", "assumed")
    damping_gain: float = _number(6.0, "N m s/rad", "assumed")
    passive_damping: float = _number(0.2, "N m s/rad", "literature: 0.1 to 0.3")
    activation: float = _number(0.04, "s", "literature: 0.01 to 0.06")
    stiffening_time: float = _number(0.5, "s", "assumed")
    window: float = _number(1.0, "s", "assumed")
    least: float = _number(0.02, "", "assumed")
    extensor: float = _number(200.0, "N m", "literature")
    flexor: float = _number(100.0, "N m", "literature")
    noise: float = _number(0.12, "", "assumed: isometric 0.02 to 0.05, moving muscles more")
    noise_time: float = _number(0.02, "s", "assumed")

    def __post_init__(self) -> None:
        """Check the numbers."""
        for each in fields(self):
            value = non_negative_scalar(getattr(self, each.name), f"{each.name} of Operator")
            if each.name in _POSITIVE and value == 0.0:
                raise InputError(f"{each.name} of Operator must be greater than zero")
            object.__setattr__(self, each.name, value)
        if self.delay > MOST_TICKS * TICK:
            raise InputError(f"delay of Operator must be at most {MOST_TICKS * TICK:g} s, not {self.delay:g} s")


OPERATORS = {
    "A": Operator(sensitivity=1.02, stiffening=0.068),
    "B": Operator(),
    "C": Operator(sensitivity=0.98, stiffening=0.055),
}
"""Three operators, of whom A is the most sensitive [LS]."""


def operate(t, q, v, tau, state, parameters, stream):  # type: ignore[no-untyped-def]
    """The operator's moment at a tick: the model of ARCHITECTURE's exoskeleton, with forward Euler for the muscles.

    u  = ID(r) + t_a d/dt ID(r) + g k_r e(t - T_d) + g b_r e'(t - T_d),  e = r - th
    M  = T_e a_e - T_f a_f + noise + (k_0 + k_c c) e + (b_0 + b_c c) e' - b_h th'
    """
    p, s = parameters, state
    angle, speed = p.sign * q[int(p.place_q)], p.sign * v[int(p.place_v)]
    r, rate, acceleration, jerk = swing_at(t, p.amplitude, p.pace, p.dwell)
    e, e_rate = r - angle, rate - speed
    e_late = delay(s.errors[: int(p.lag) + 2], e)
    e_rate_late = delay(s.rates[: int(p.lag) + 2], e_rate)
    # what the joint takes that is expected to feel like this, and its rate
    friction = p.felt_viscosity + p.passive_damping
    u = p.felt_inertia * acceleration + friction * rate + p.felt_gravity * math.sin(r)
    u += p.felt_coulomb * math.tanh(rate / _SMOOTH)
    ahead = p.felt_inertia * jerk + friction * acceleration + p.felt_gravity * math.cos(r) * rate
    u += p.activation * ahead + p.sensitivity * (p.feedback_stiffness * e_late + p.feedback_damping * e_rate_late)
    # muscles, co-contraction, noise
    part = TICK / p.activation
    s.extensor += part * (max(u, 0.0) / p.extensor + s.stiffened - s.extensor)
    s.flexor += part * (max(-u, 0.0) / p.flexor + s.stiffened * p.extensor / p.flexor - s.flexor)
    s.mean_square += TICK / p.window * (e_rate * e_rate - s.mean_square)
    wanted = p.least + p.sensitivity * p.stiffening * math.sqrt(s.mean_square)
    s.stiffened += TICK / p.stiffening_time * (wanted - s.stiffened)
    kept = math.exp(-TICK / p.noise_time)
    s.noise = kept * s.noise + math.sqrt(1.0 - kept * kept) * normal(stream)
    pull, push = p.extensor * s.extensor, p.flexor * s.flexor
    moment = pull - push + p.noise * (pull + push) * s.noise - p.passive_damping * speed
    moment += (p.stiffness + p.stiffness_gain * s.stiffened) * e + (p.damping + p.damping_gain * s.stiffened) * e_rate
    tau[int(p.place_v)] = p.sign * moment
    # measures
    s.largest_angle = max(s.largest_angle, abs(angle))
    if t >= p.settled:
        s.ticks += 1.0
        s.sum_moment += abs(moment)
        s.sum_extensor += s.extensor
        s.sum_flexor += s.flexor
        s.sum_stiffened += s.stiffened
        s.sum_error += e * e
        s.sum_friction += p.felt_viscosity * speed * speed + p.felt_coulomb * abs(speed)
    if len(s.moments) > 1 and s.logged < len(s.moments):
        i = int(s.logged)
        s.moments[i], s.extensors[i], s.flexors[i], s.wanted[i] = moment, s.extensor, s.flexor, r
        s.logged += 1.0


PLACES = ("place_q", "place_v", "sign")
_TASK = ("amplitude", "pace", "dwell", "settled", "lag")
_FELT = ("felt_inertia", "felt_viscosity", "felt_gravity", "felt_coulomb")
_OWN = tuple(each.name for each in fields(Operator) if each.name != "delay")
_STATE = ("extensor", "flexor", "stiffened", "mean_square", "noise", "largest_angle", "logged")
SUMS = ("ticks", "sum_moment", "sum_extensor", "sum_flexor", "sum_stiffened", "sum_error", "sum_friction")
LOGS = ("moments", "extensors", "flexors", "wanted")


@lru_cache(maxsize=8)
def law(log: int = 1) -> Discrete:
    """The operator as a controller that logs so many ticks, compiled once for each number; see `numbers`."""
    lines = {name: np.zeros(delay_length(MOST_TICKS)) for name in ("errors", "rates")}
    state = dict.fromkeys((*_STATE, *SUMS), 0.0) | lines | {name: np.zeros(max(log, 1)) for name in LOGS}
    return Discrete(operate, TICK, state, dict.fromkeys((*PLACES, *_TASK, *_FELT, *_OWN), 0.0), name="operator")


def numbers(operator: Operator, leg: Leg, virtual: Impedance, swing: Swing, settled: float) -> dict[str, Any]:
    """Parameters of the law, but for the places of the joint: what he feels is his leg and the virtual impedance."""
    felt = (leg.inertia + virtual.inertia, virtual.viscosity, leg.gravity + virtual.gravity, virtual.coulomb)
    task = (swing.amplitude, swing.pace, swing.dwell, settled, float(round(operator.delay / TICK)))
    own: dict[str, Any] = {name: getattr(operator, name) for name in _OWN}
    return own | dict(zip(_FELT, felt, strict=True)) | dict(zip(_TASK, task, strict=True))
