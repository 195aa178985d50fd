"""Trials: an operator swings his leg in an exoskeleton, and his moment and muscles are measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, quoted
from varichain.exo import compensation, operator
from varichain.exo.exoskeleton import Exoskeleton
from varichain.exo.impedance import Impedance
from varichain.exo.operator import LOGS, OPERATORS, TICK, Operator
from varichain.exo.stability import is_stable_on
from varichain.exo.swing import Swing
from varichain.exo.wearer import Wearer, seated
from varichain.layout.state import State
from varichain.mechanism import Mechanism
from varichain.simulation.discrete import Discrete
from varichain.simulation.rollouts import rollout
from varichain.simulation.runs import simulate
from varichain.spatial.checks import count_number, flag, is_sequence, listed, non_negative_scalar, positive_scalar
from varichain.trace import Trace

Array = NDArray[np.float64]

_MEASURES = ("moment", "extensor", "flexor", "cocontraction", "error", "operability", "stress")
_LOST = math.pi  # [rad] from hanging, where the leg has turned over
# Marks from -3 to 3, as [LS] asks for: zero where the error and the power are those of operator B near 1.56 N m s/rad.
_MEDIUM_ERROR, _MEDIUM_POWER = 0.1, 11.8  # [rad], [W]


@lru_cache(maxsize=1)
def _default_wearer() -> Wearer:
    return seated()


@dataclass(frozen=True, eq=False)
class Setting:
    """All that a trial is made of.

    Attributes:
        virtual: Impedance that the exoskeleton renders; its own by default.
        operator: Operator, or the name of one of `OPERATORS`.
        exoskeleton: The exoskeleton.
        wearer: Mechanism and joint; `seated()` by default.
        swing: The motion that is asked for.
        duration: Of the trial [s].
        settle: Time at its start that is not measured [s].
    """

    virtual: Impedance | None = None
    operator: Operator | str = "B"
    exoskeleton: Exoskeleton = field(default_factory=Exoskeleton)
    wearer: Wearer = field(default_factory=_default_wearer)
    swing: Swing = field(default_factory=Swing)
    duration: float = 12.0
    settle: float = 2.0

    def __post_init__(self) -> None:
        """Check the parts."""
        if isinstance(self.operator, str) and self.operator in OPERATORS:
            object.__setattr__(self, "operator", OPERATORS[self.operator])
        if self.virtual is None and isinstance(self.exoskeleton, Exoskeleton):
            object.__setattr__(self, "virtual", self.exoskeleton.own)
        kinds = {
            "virtual": Impedance,
            "operator": Operator,
            "exoskeleton": Exoskeleton,
            "wearer": Wearer,
            "swing": Swing,
        }
        for name, kind in kinds.items():
            if not isinstance(getattr(self, name), kind):
                also = f" or one of {', '.join(OPERATORS)}" if name == "operator" else ""
                found = quoted(getattr(self, name))
                raise InputError(f"{name} of a trial must be a vc.exo.{kind.__name__}{also}, not {found}")
        object.__setattr__(self, "duration", positive_scalar(self.duration, "duration of a trial"))
        object.__setattr__(self, "settle", non_negative_scalar(self.settle, "settle of a trial"))
        if not self.settle < self.duration <= 1e4:
            raise InputError(f"a trial must last longer than it settles, and at most 1e4 s: {self.duration:g} s")

    def varied(self, **changes: Any) -> Setting:
        """The setting with other parts, or with other fields of its virtual impedance, operator, swing and chain."""
        own = {each.name for each in fields(self)}
        parts: dict[str, Any] = {name: changes[name] for name in changes if name in own}
        base = replace(self, **parts)
        left = {name: value for name, value in changes.items() if name not in own}
        for place in ("virtual", "operator", "swing"):
            part = getattr(base, place)
            found = {name: left.pop(name) for name in [each.name for each in fields(part)] if name in left}
            base = replace(base, **{place: replace(part, **found)}) if found else base
        chain = base.exoskeleton.chain
        found = {name: left.pop(name) for name in ("tick", "cutoff", "largest", "resolution") if name in left}
        if found:
            base = replace(base, exoskeleton=replace(base.exoskeleton, chain=replace(chain, **found)))
        if left:
            raise InputError(f"a trial has no field {', '.join(sorted(left))}")
        return base


@dataclass(frozen=True)
class Trial:
    """What was measured, as means over a trial without its start; NaN if the leg turned over.

    Attributes:
        moment: Mean of abs(M), the operator's musculoskeletal moment [N m].
        extensor, flexor: Mean activities of the muscles, 1 for all that they can.
        cocontraction: Mean of c.
        error: Root mean square of the tracking error [rad].
        operability, stress: Marks from -3 to 3: less error is better, more power lost to friction is heavier; assumed.
        stable: Whether the rendered impedance is stable on the relaxed leg.
        outcome: "complete", or "lost" if the leg turned over or the motion diverged.
        trace, log: Trace of the run; moment, activities and wanted angle at every tick; None unless recorded.
    """

    moment: float
    extensor: float
    flexor: float
    cocontraction: float
    error: float
    operability: float
    stress: float
    stable: bool
    outcome: str
    trace: Trace | None = field(default=None, repr=False, compare=False)
    log: dict[str, Array] | None = field(default=None, repr=False, compare=False)

    @property
    def activity(self) -> float:
        """Mean of both muscles' activities."""
        return 0.5 * (self.extensor + self.flexor)

    def measures(self) -> dict[str, float]:
        """All numbers by name, for tables."""
        return {name: float(getattr(self, name)) for name in (*_MEASURES, "activity", "stable")}


def trial(setting: Setting | None = None, *, seed: int = 0, record: bool = False, **changes: Any) -> Trial:
    """One trial: `trial(viscosity=1.5, operator="A", seed=3)`.

    Args:
        setting: What the trial is made of; the default Setting if None.
        seed: Of the operator's noise.
        record: Whether the trace of the run, and moment and activities at every tick, are kept.
        changes: As of `Setting.varied`: parts of the setting, or fields of its parts.
    """
    chosen = _setting(setting).varied(**changes)
    if not flag(record, "record"):
        return trials([chosen], [seed])[0]
    n = round(chosen.duration / TICK)
    m, s, laws = staged(chosen, seed, n)
    trace = simulate(m, s, n * TICK, controller=laws, **_options(chosen) | {"sample": TICK})
    state = trace.memory["operator"]
    log = {name: state[name] for name in LOGS}
    return replace(
        _measured(chosen, {name: float(x) for name, x in state.items() if x.ndim == 0}), trace=trace, log=log
    )


def staged(setting: Setting, seed: int = 0, log: int = 1) -> tuple[Mechanism, State, list[Discrete]]:
    """Mechanism, start and controllers of a trial, as `vc.simulate` and live runs take them.

    Args:
        setting: What the trial is made of.
        seed: Of the operator's noise.
        log: Number of ticks whose moments and activities are kept in the operator's state.
    """
    chosen, first = _setting(setting), count_number(seed, "seed", 2**63, least=0)
    places, m, s = _worn(chosen)
    motor, person = _numbers(chosen)
    laws = [
        compensation.law(chosen.exoskeleton.chain.tick).varied(**places[0], **motor),
        operator.law(count_number(log, "log", 10**7)).varied(first, **places[1], **person),
    ]
    return m, s, laws


def trials(settings: Sequence[Setting], seeds: Sequence[int], threads: int | None = None) -> list[Trial]:
    """Many trials at once, compiled throughout and on all cores; each has the bits of `trial`.

    Args:
        settings: What each trial is made of.
        seeds: Seed of each.
        threads: Number of threads; all cores if None.
    """
    given = listed(settings, Setting, "settings")
    if not is_sequence(seeds) or len(seeds) != len(given):
        raise InputError(f"seeds must be an integer for each of the {len(given)} trials, not {quoted(seeds)}")
    groups: dict[Any, list[int]] = {}
    for i, each in enumerate(given):
        exoskeleton = each.exoskeleton
        key = (exoskeleton.own, exoskeleton.cuff, exoskeleton.chain.tick, id(each.wearer), each.duration)
        groups.setdefault(key, []).append(i)
    found: dict[int, Trial] = {}
    for members in groups.values():
        chosen = [given[i] for i in members]
        found |= zip(members, _rolled_out(chosen, [seeds[i] for i in members], threads), strict=True)
    return [found[i] for i in range(len(given))]


def _together(parameters: Sequence[dict[str, Any]], seeds: Sequence[int]) -> list[Trial]:
    """Trials of a sweep at once: fields of settings, and a seed for each."""
    base = Setting()
    return trials([base.varied(**each) for each in parameters], seeds)


trial.together = _together  # type: ignore[attr-defined]


def _setting(setting: Any) -> Setting:
    if setting is None:
        return Setting()
    if not isinstance(setting, Setting):
        raise InputError(f"setting must be a vc.exo.Setting, not {quoted(setting)}")
    return setting


def _rolled_out(settings: list[Setting], seeds: list[int], threads: int | None) -> list[Trial]:
    """Trials of one mechanism."""
    places, m, _ = _worn(settings[0])
    starts = [_worn(each)[2] for each in settings]
    laws = [
        compensation.law(settings[0].exoskeleton.chain.tick).varied(**places[0]),
        operator.law().varied(**places[1]),
    ]
    rows = [_numbers(each)[0] | _numbers(each)[1] for each in settings]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    duration = round(settings[0].duration / TICK) * TICK
    runs = rollout(
        m, starts, duration, controller=laws, parameters=columns, seeds=seeds, threads=threads, **_options(settings[0])
    )
    states = {name: x for name, x in runs.memory["operator"].items() if x.ndim == 1}
    return [
        _measured(each, {name: float(x[i]) for name, x in states.items()}, outcome)
        for i, (each, outcome) in enumerate(zip(settings, runs.outcomes, strict=True))
    ]


def _options(setting: Setting) -> dict[str, Any]:
    duration = round(setting.duration / TICK) * TICK
    return {"method": "rk4", "step": TICK, "sample": duration, "limits": "off", "motion": setting.wearer.motion}


def _worn(setting: Setting) -> tuple[list[dict[str, Any]], Any, Any]:
    """Places of the motor's joint and of the wearer's, mechanism and start, at the end where the swing begins."""
    wearer = setting.wearer
    m, motor = setting.exoskeleton.put_on(wearer)
    s = m.state()
    for slot in wearer.s.layout.slots:
        if slot.q.stop > slot.q.start:
            s[slot.name].q = wearer.s[slot.name].q
    s.time = wearer.s.time
    for name in dict.fromkeys((wearer.joint, motor)):
        s[name].q = -wearer.sign * setting.swing.amplitude
    if wearer.motion is not None:
        wearer.motion.set_state(m, s)
    places: list[dict[str, Any]] = []
    for name, names in ((motor, compensation.PLACES), (wearer.joint, operator.PLACES)):
        slot = s.layout.slot(name)
        places.append(dict(zip(names, (float(slot.q.start), float(slot.v.start), float(wearer.sign)), strict=True)))
    return places, m, s


def _numbers(setting: Setting) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of compensation and operator, but for places."""
    assert isinstance(setting.virtual, Impedance) and isinstance(setting.operator, Operator)
    felt = operator.numbers(setting.operator, setting.wearer.leg, setting.virtual, setting.swing, setting.settle)
    return compensation.numbers(setting.exoskeleton, setting.virtual), felt


def _measured(setting: Setting, state: dict[str, float], outcome: str = "complete") -> Trial:
    """Means of the sums that the operator's state holds."""
    assert isinstance(setting.virtual, Impedance)
    n, is_lost = state["ticks"], outcome != "complete" or not state["largest_angle"] < _LOST
    stable = is_stable_on(setting.exoskeleton, setting.virtual, setting.wearer.leg)
    if is_lost or n == 0.0:
        nothing: dict[str, Any] = dict.fromkeys(_MEASURES, math.nan)
        return Trial(**nothing, stable=stable, outcome="lost")
    error, power = math.sqrt(state["sum_error"] / n), state["sum_friction"] / n
    heavy = (power - _MEDIUM_POWER) / (power + _MEDIUM_POWER) if power > 0.0 else -1.0
    return Trial(
        moment=state["sum_moment"] / n,
        extensor=state["sum_extensor"] / n,
        flexor=state["sum_flexor"] / n,
        cocontraction=state["sum_stiffened"] / n,
        error=error,
        operability=3.0 * (_MEDIUM_ERROR - error) / (_MEDIUM_ERROR + error),
        stress=3.0 * heavy,
        stable=stable,
        outcome="complete",
    )
