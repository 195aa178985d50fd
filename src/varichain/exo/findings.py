"""The findings of [LS] over again: basic sweeps, the adjusted one, and what changes of the operator do to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, UnknownNameError, quoted
from varichain.exo.impedance import Impedance
from varichain.exo.minimum import Minimum, minimum
from varichain.exo.operator import Operator
from varichain.exo.trial import Setting, trials
from varichain.spatial.checks import count_number, finite_scalar, listed
from varichain.spatial.report import Listing, Report, Reported

Array = NDArray[np.float64]

_HIGHEST = {"inertia": 2.0, "gravity": 2.0, "coulomb": 2.0}  # times the exoskeleton's own
_VISCOSITY = 6.0  # [N m s/rad]


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Reported):
    """Where moment and activity are least, for each operator and each virtual value.

    Attributes:
        moment, activity: Minima by operator and by what was varied: "inertia", "gravity", "coulomb", with all else the
            exoskeleton's own; "viscosity" likewise, and "adjusted", viscosity without inertia and Coulomb friction.
    """

    moment: dict[str, dict[str, Minimum]]
    activity: dict[str, dict[str, Minimum]]

    def report(self) -> Report:
        """A row for each operator and value."""
        rows = []
        for name, minima in self.moment.items():
            for what, found in minima.items():
                rows.append((name, what, _text(found), _text(self.activity[name][what])))
        return "least moment and least activity, with 95 % confidence", (
            Listing(("operator", "over", "moment", "activity"), rows),
        )


def findings(
    operators: Iterable[str] = ("A", "B", "C"),
    *,
    levels: int = 22,
    repeats: int = 10,
    seed: int = 0,
    setting: Setting | None = None,
    threads: int | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Findings:
    """Minima of moment and activity over every virtual value, from trials with common noise.

    Args:
        operators: Names of operators.
        levels: Of each value.
        repeats: Trials at each level.
        seed: Of the noise.
        setting: Exoskeleton, wearer, swing and duration.
        threads: Number of threads; all cores if None.
        progress: Function of the number of curves that are done, of all, and of what comes next; called before each.
    """
    base = _base(setting)
    n = count_number(levels, "levels", 10**4, least=3)
    own = base.exoskeleton.own
    found: list[dict[str, dict[str, Minimum]]] = [{}, {}]
    names, varied_values = listed(operators, str, "operators"), (*_HIGHEST, "viscosity", "adjusted")
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a function, not {quoted(progress)}")
    for i, name in enumerate(names):
        part = replace(base, operator=name)
        for j, what in enumerate(varied_values):
            if progress is not None:
                done, all_curves = i * len(varied_values) + j, len(names) * len(varied_values)
                progress(done, all_curves, f"operator {name}, {what}")
            start = Impedance(0.0, 0.0, own.gravity, 0.0) if what == "adjusted" else own
            varied = "viscosity" if what == "adjusted" else what
            top = _VISCOSITY if varied == "viscosity" else _HIGHEST[varied] * getattr(own, varied)
            x = np.linspace(0.0, top, n)
            curves = measured(part, start, varied, x, repeats, seed, threads)
            for minima, values in zip(found, curves, strict=True):
                minima.setdefault(name, {})[what] = minimum(x, values, 4 if varied == "viscosity" else 2)
    return Findings(*found)


def sensitivity(
    names: Iterable[str] | None = None,
    part: float = 0.25,
    *,
    operator: str = "B",
    levels: int = 13,
    repeats: int = 6,
    seed: int = 0,
    setting: Setting | None = None,
    threads: int | None = None,
) -> dict[tuple[str, float], tuple[float, float]]:
    """Viscosities of least moment and least activity, with one number of the operator smaller or larger by a part.

    Args:
        names: Fields of the operator; all by default.
        part: By which each is changed.
        operator: Name of the operator.
        levels: Of viscosity, from 0 to 6 N m s/rad.
        repeats: Trials at each level.
        seed: Of the noise.
        setting: Exoskeleton, wearer, swing and duration.
        threads: Number of threads; all cores if None.

    Returns:
        {(field, factor): (viscosity of least moment, of least activity)}.
    """
    base = replace(_base(setting), operator=operator)
    assert isinstance(base.operator, Operator)
    known = [each.name for each in fields(Operator)]
    chosen = known if names is None else listed(names, str, "names")
    for name in chosen:
        if name not in known:
            raise UnknownNameError("number of an operator", name, known)
    part = finite_scalar(part, "part")
    x = np.linspace(0.0, _VISCOSITY, count_number(levels, "levels", 10**4, least=3))
    start = Impedance(0.0, 0.0, base.exoskeleton.own.gravity, 0.0)
    found = {}
    for name in chosen:
        for factor in (1.0 - part, 1.0 + part):
            other = replace(base.operator, **{name: factor * getattr(base.operator, name)})
            curves = measured(replace(base, operator=other), start, "viscosity", x, repeats, seed, threads)
            moment, activity = (minimum(x, values).at for values in curves)
            found[name, factor] = (moment, activity)
    return found


def _base(setting: Setting | None) -> Setting:
    base = Setting() if setting is None else setting
    if not isinstance(base, Setting):
        raise InputError(f"setting must be a vc.exo.Setting, not {quoted(setting)}")
    return base


def measured(
    setting: Setting, start: Impedance, name: str, levels: Any, repeats: int, seed: int, threads: int | None
) -> tuple[Array, Array]:
    """Moments and activities (levels, repeats) over one virtual value, with common noise; NaN if unstable or lost."""
    n = count_number(repeats, "repeats", 10**5)
    first = count_number(seed, "seed", 2**63, least=0)
    settings = [replace(setting, virtual=replace(start, **{name: float(x)})) for x in levels for _ in range(n)]
    seeds: Sequence[int] = [first + k for _ in levels for k in range(n)]
    found = trials(settings, seeds, threads)
    moment, activity = (
        np.array([getattr(each, what) if each.stable else np.nan for each in found]).reshape(len(levels), n)
        for what in ("moment", "activity")
    )
    return moment, activity


def _text(found: Minimum) -> str:
    return f"{found.at:.3g} ({found.low:.3g} to {found.high:.3g})"
