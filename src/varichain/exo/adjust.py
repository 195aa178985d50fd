"""The criteria of [LS] as a function: the impedance that an exoskeleton should be given for an operator."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, quoted
from varichain.exo.exoskeleton import Exoskeleton
from varichain.exo.impedance import Impedance
from varichain.exo.minimum import Minimum, fitted, minimum
from varichain.exo.operator import Operator
from varichain.exo.stability import Stability, is_stable_on, stability
from varichain.exo.trial import Setting, trials
from varichain.spatial.checks import count_number, finite_scalar
from varichain.spatial.report import Listing, Report, Reported

Array = NDArray[np.float64]
Rule = float | Callable[[Array, Array], float]

_LEVELS = 22
_HIGHEST = 6.0  # [N m s/rad]


@dataclass(frozen=True, eq=False, repr=False)
class Adjusted(Reported):
    """An adjusted impedance.

    Attributes:
        virtual: The impedance.
        reasons: Why each of its values is as it is.
        moment: Where the operator's moment is least over the viscosity.
        activity: Where his activity is.
        stability: Of the adjusted impedance on his leg.
        viscosity: Levels that were tried (n,) [N m s/rad].
        moments: (n, repeats) [N m]; NaN where a trial was lost or the impedance is unstable on the leg.
    """

    virtual: Impedance
    reasons: tuple[str, ...]
    moment: Minimum
    activity: Minimum
    stability: Stability
    viscosity: Array
    moments: Array

    def report(self) -> Report:
        """The impedance, and its reasons."""
        v = self.virtual
        title = f"inertia {v.inertia:.3g} kg m^2, viscosity {v.viscosity:.3g} N m s/rad, gravity {v.gravity:.3g} N m, "
        return title + f"Coulomb friction {v.coulomb:.3g} N m", (Listing(("",), [(text,) for text in self.reasons]),)


def adjust(
    exoskeleton: Exoskeleton | None = None,
    operator: Operator | str = "B",
    *,
    setting: Setting | None = None,
    viscosity: Any = None,
    repeats: int = 10,
    seed: int = 0,
    rule: Rule = 0.03,
    threads: int | None = None,
) -> Adjusted:
    """Adjust the virtual impedance by the criteria (i) to (iii) of [LS], from trials with common noise.

    (i) Inertia and Coulomb friction to zero, or the least inertia that is stable on the leg. (ii) The gravity moment of
    the exoskeleton is kept. (iii) Viscosity a little above the one that makes the operator's moment least.

    Args:
        exoskeleton: The exoskeleton.
        operator: The operator.
        setting: Wearer, swing and duration of the trials.
        viscosity: Levels to try (n,) [N m s/rad]; 22 from 0 to 6 by default.
        repeats: Trials at each level.
        seed: Of their noise, the same at all levels.
        rule: What "a little above" is: the part by which the moment may exceed its minimum, or a function (levels,
            moments on the fitted curve) that returns a viscosity.
        threads: Number of threads; all cores if None.
    """
    base = _base(exoskeleton, operator, setting)
    own = base.exoskeleton.own
    levels = np.linspace(0.0, _HIGHEST, _LEVELS) if viscosity is None else np.array(_levels(viscosity))
    n = count_number(repeats, "repeats", 10**5)
    first = count_number(seed, "seed", 2**63, least=0)
    rule = _checked_rule(rule)  # before the trials, which take their time
    inertia, why = _least_inertia(base)
    start = Impedance(inertia, 0.0, own.gravity, 0.0)
    points = [replace(base, virtual=replace(start, viscosity=float(x))) for x in levels for _ in range(n)]
    found = trials(points, [first + k for _ in levels for k in range(n)], threads)
    shape = (len(levels), n)
    moments, activity = (
        np.array([getattr(each, name) if each.stable else math.nan for each in found]).reshape(shape)
        for name in ("moment", "activity")
    )
    lowest, least = minimum(levels, moments), minimum(levels, activity)
    chosen, above = _a_little_above(rule, *fitted(levels, moments), lowest)
    virtual = replace(start, viscosity=chosen)
    reasons = (
        f"(i) {why}, Coulomb friction 0: least moment",
        f"(ii) gravity moment {own.gravity:.3g} N m: that of the exoskeleton is kept",
        f"(iii) viscosity {chosen:.3g}: {above} the moment's minimum, {lowest.value:.3g} N m at {lowest.at:.3g} "
        f"({lowest.low:.3g} to {lowest.high:.3g}) N m s/rad; activity is least at {least.at:.3g}",
    )
    answers = stability(base.exoskeleton, virtual, base.wearer.leg)
    return Adjusted(virtual, reasons, lowest, least, answers, levels, moments)


def _base(exoskeleton: Any, operator: Any, setting: Any) -> Setting:
    if setting is not None and not isinstance(setting, Setting):
        raise InputError(f"setting must be a vc.exo.Setting, not {quoted(setting)}")
    parts = {"operator": operator} | ({} if exoskeleton is None else {"exoskeleton": exoskeleton, "virtual": None})
    return replace(Setting() if setting is None else setting, **parts)


def _levels(viscosity: Any) -> list[float]:
    values = viscosity.tolist() if isinstance(viscosity, np.ndarray) else viscosity
    if not isinstance(values, list | tuple) or len(values) < 3:
        raise InputError(f"viscosity must be three levels or more, not {quoted(viscosity)}")
    return [finite_scalar(x, "viscosity") for x in values]


def _least_inertia(base: Setting) -> tuple[float, str]:
    """Zero, or the least inertia that is stable on the leg without friction, and why."""
    own, leg = base.exoskeleton.own, base.wearer.leg
    low, high = 0.0, own.inertia

    def is_stable(inertia: float) -> bool:
        return is_stable_on(base.exoskeleton, Impedance(inertia, own.viscosity, own.gravity, 0.0), leg)

    if is_stable(0.0):
        return 0.0, "inertia 0: least moment, stable on this leg"
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_stable(middle) else (middle, high)
    return high, f"inertia {high:.3g} kg m^2: the least that this chain renders stably on this leg"


def _checked_rule(rule: Any) -> Rule:
    if callable(rule):
        return cast(Rule, rule)
    part = finite_scalar(rule, "rule")
    if not 0.0 <= part <= 1.0:
        raise InputError(f"rule must be a part from 0 to 1, or a function, not {part:g}")
    return part


def _a_little_above(rule: Rule, grid: Array, curve: Array, lowest: Minimum) -> tuple[float, str]:
    """The viscosity that a rule chooses, and what the rule is."""
    if not isinstance(rule, float):
        return finite_scalar(rule(grid, curve), "viscosity that the rule returned"), "by the rule given, from"
    near = np.flatnonzero(curve <= (1.0 + rule) * lowest.value)
    return float(grid[near[-1]]), f"the largest whose moment is within {100.0 * rule:g} % of"
